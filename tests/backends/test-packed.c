/* Weights in the order of packed.h against the same weights as a file has them. The latter are
 * destroyed where the former must have been read. */
#include <pthread.h>
#include <string.h>

#include "rig.h"

static const KvasirType types[] = { KVASIR_TYPE_Q4_0,  KVASIR_TYPE_Q4_1, KVASIR_TYPE_Q5_0,
                                    KVASIR_TYPE_Q5_1,  KVASIR_TYPE_Q8_0, KVASIR_TYPE_IQ4_NL,
                                    KVASIR_TYPE_MXFP4, KVASIR_TYPE_Q4_K, KVASIR_TYPE_Q5_K,
                                    KVASIR_TYPE_Q6_K };

static const KvasirCpuIsa *
next_packing_isa (const KvasirCpuIsa *isa)
{
  for (; *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      if (rig->device->packed_buffer_type != NULL)
        break;
    }
  return isa;
}

/* For every instruction set whose device has an order of its own. */
#define FOR_PACKING_ISAS(isa)                                                                      \
  for (const KvasirCpuIsa *isa = next_packing_isa (rig_get_isas ()); *isa != KVASIR_CPU_ISA_AUTO;  \
       isa = next_packing_isa (isa + 1))

static void
free_buffer (KvasirBuffer *buffer)
{
  buffer->vtable->free (buffer);
}

/* The result as it is with @part of the rows (in percent) packed must be the one without. */
static void
check_same (Rig *rig, KvasirTensor *w, KvasirTensor *y, int n_tokens, int part)
{
  g_autofree float *native = NULL;

  g_assert_cmpint (rig_compute (rig, n_tokens, 0), ==, KVASIR_STATUS_OK);
  native = rig_get_floats (y);
  KvasirBuffer *buffer = rig_pack (rig, w, w->nb[3] * (gsize) part / 100);
  g_assert_cmpuint (w->n_packed, >=, w->nb[3] * (gsize) part / 100);
  if (w->n_packed == w->nb[3])
    memset (w->data, 0xa5, w->nb[3]);
  memset (y->data, 0, y->nb[3]);
  g_assert_cmpint (rig_compute (rig, n_tokens, 0), ==, KVASIR_STATUS_OK);
  g_assert_cmpmem (y->data, y->nb[3], native, y->nb[3]);
  free_buffer (buffer);
}

/* @k, or the next whole blocks. */
static gint64
get_width (KvasirType type, gint64 k)
{
  gint64 len = kvasir_type_get_block_len ((int) type);

  return (k + len - 1) / len * len;
}

static void
test_products (void)
{
  static const int n_tokens[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 33, 66 };
  static const int parts[] = { 0, 100, 30, 60, 100 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  guint n = 0;

  FOR_PACKING_ISAS (isa)
  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (n_tokens); i++, n++)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 1 + (int) n % 2);
        gint64 k = get_width (types[t], 32 * g_rand_int_range (rand, 1, 40));
        gint64 rows = 16 * g_rand_int_range (rand, 1, 20);
        KvasirTensor *w = rig_random (rig, rand, types[t], k, rows, 1);
        KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, k, n_tokens[i], 1);
        KvasirTensor *bias = n % 2 ? rig_random (rig, rand, KVASIR_TYPE_F32, rows, 1, 1) : NULL;
        KvasirTensor *y =
            rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ rows, n_tokens[i], 1 }, w, x, bias);
        check_same (rig, w, y, n_tokens[i], parts[n % G_N_ELEMENTS (parts)]);
      }
}

/* Rows [first, first + n) of @w as a matrix of its own. */
static KvasirTensor *
slice (Rig *rig, KvasirTensor *w, gint64 first, gint64 n)
{
  KvasirTensor *view = g_memdup2 (w, sizeof *w);

  view->view_src = w;
  view->view_offset = (gsize) first * w->nb[1];
  view->data = (guint8 *) w->data + view->view_offset;
  view->ne[1] = n;
  view->packed = NULL;
  g_ptr_array_add (rig->tensors, view);
  return view;
}

/* Rows from the middle: whole groups are read where they are packed, others where they were. */
static void
test_slices (void)
{
  static const gint64 ends[][2] = { { 16, 48 }, { 32, 27 }, { 8, 40 }, { 0, 96 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);

  FOR_PACKING_ISAS (isa)
  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
      for (int n = 1; n <= 9; n += 8)
        {
          g_autoptr (Rig) rig = rig_new (*isa, 1);
          gint64 k = get_width (types[t], 160);
          KvasirTensor *w = rig_random (rig, rand, types[t], k, 96, 1);
          KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, k, n, 1);
          KvasirTensor *part = slice (rig, w, ends[i][0], ends[i][1]);
          KvasirTensor *y =
              rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ part->ne[1], n, 1 }, part, x, NULL);
          g_assert_false (rig->device->vtable->can_pack (rig->device, part));
          check_same (rig, w, y, n, i == 2 ? 70 : 100);
        }
}

static void
test_experts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (23);

  FOR_PACKING_ISAS (isa)
  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    for (int n = 1; n <= 21; n += 10)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        gint64 k = get_width (types[t], 96);
        KvasirTensor *w = rig_random (rig, rand, types[t], k, 80, 5);
        KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, k, 1, n);
        KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, 2, n, 1);
        KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT_ID, (gint64[]){ 80, 2, n }, w, x, ids);
        for (int i = 0; i < 2 * n; i++)
          ((gint32 *) ids->data)[i] = (i / 2 * 3 + i % 2 * 2) % 5;
        check_same (rig, w, y, n, n == 11 ? 50 : 100);
      }
}

/* A row is put together again from its group, equal to what the format's own reader gives. */
static void
test_rows (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (24);

  FOR_PACKING_ISAS (isa)
  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      gint64 k = get_width (types[t], 224);
      KvasirTensor *w = rig_random (rig, rand, types[t], k, 48, 1);
      KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, 48, 1, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_GET_ROWS, (gint64[]){ k, 48, 1 }, w, ids, NULL);
      g_autofree float *expected = rig_get_floats (w);
      for (int i = 0; i < 48; i++)
        ((gint32 *) ids->data)[i] = i;
      check_same (rig, w, y, 1, 100);
      for (int i = 0; i < 48 * k; i++)
        g_assert_cmpfloat_with_epsilon (((float *) y->data)[i], expected[i], 1e-5);
    }
}

static void
test_impossible (void)
{
  FOR_PACKING_ISAS (isa)
  {
    g_autoptr (Rig) rig = rig_new (*isa, 1);
    const KvasirDeviceVtable *vtable = rig->device->vtable;
    g_assert_false (vtable->can_pack (rig->device, rig_tensor (rig, KVASIR_TYPE_Q4_1, 64, 40, 1)));
    g_assert_false (vtable->can_pack (rig->device, rig_tensor (rig, KVASIR_TYPE_Q3_K, 256, 48, 1)));
    g_assert_false (vtable->can_pack (rig->device, rig_tensor (rig, KVASIR_TYPE_F32, 64, 48, 1)));
    g_assert_true (vtable->can_pack (rig->device, rig_tensor (rig, KVASIR_TYPE_Q4_1, 64, 48, 1)));
  }
}

/* All sets with vectors do: the tests above would find nothing amiss where none did. */
static void
test_offer (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      g_assert_true ((rig->device->packed_buffer_type != NULL) == (*isa != KVASIR_CPU_ISA_SCALAR));
    }
}

static void
test_option (void)
{
  KvasirCpuOptions options = { .no_packing = true };
  KvasirDevice *device = kvasir_cpu_device_new (&options);

  g_assert_null (device->packed_buffer_type);
  device->vtable->free (device);
}

typedef struct
{
  KvasirDevice *device;
  KvasirTensor *w;
} Job;

static void *
pack_slowly (void *data)
{
  Job *job = data;

  while (job->device->vtable->pack (job->device, job->w, 1) > 0)
    g_thread_yield ();
  return NULL;
}

/* Packing beside products changes nothing. */
static void
test_beside_products (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (25);

  FOR_PACKING_ISAS (isa)
  {
    g_autoptr (Rig) rig = rig_new (*isa, 2);
    KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_Q5_1, 512, 2048, 1);
    KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 512, 1, 1);
    KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 2048, 1, 1 }, w, x, NULL);
    Job job = { rig->device, w };
    pthread_t thread;
    g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
    g_autofree float *expected = rig_get_floats (y);
    KvasirBuffer *buffer = rig_pack (rig, w, 0);
    g_assert_cmpint (pthread_create (&thread, NULL, pack_slowly, &job), ==, 0);
    do
      {
        memset (y->data, 0, y->nb[3]);
        g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
        g_assert_cmpmem (y->data, y->nb[3], expected, y->nb[3]);
      }
    while (__atomic_load_n (&w->n_packed, __ATOMIC_ACQUIRE) < w->nb[3]);
    pthread_join (thread, NULL);
    free_buffer (buffer);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/packed/beside-products", test_beside_products);
  g_test_add_func ("/backends/packed/can-be-turned-off", test_option);
  g_test_add_func ("/backends/packed/experts-stay-the-same", test_experts);
  g_test_add_func ("/backends/packed/other-shapes-and-types-are-refused", test_impossible);
  g_test_add_func ("/backends/packed/products-stay-the-same", test_products);
  g_test_add_func ("/backends/packed/rows-are-found-again", test_rows);
  g_test_add_func ("/backends/packed/sets-with-vectors-have-it", test_offer);
  g_test_add_func ("/backends/packed/slices-stay-the-same", test_slices);
  return g_test_run ();
}
