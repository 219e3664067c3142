/* OpenBLAS beside the own products, where the system has it. */
#include <string.h>

#include "backends/cpu/blas.h"
#include "rig.h"

static gboolean
has_blas (void)
{
  KvasirBlas *blas = kvasir_blas_new (&kvasir_scalar_kernels, true);
  gboolean found = blas != NULL;

  kvasir_blas_free (blas);
  return found;
}

static gboolean
says_blas (Rig *rig)
{
  return strstr (rig->device->description, "OpenBLAS") != NULL;
}

/* (transfer full) */
static float *
multiply (Rig *rig, KvasirType type, const gint64 shape[3], guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  KvasirTensor *w = rig_random (rig, rand, type, shape[0], shape[1], 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, shape[0], shape[2], 1);
  KvasirTensor *bias = rig_random (rig, rand, KVASIR_TYPE_F32, shape[1], 1, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ shape[1], shape[2], 1 }, w, x,
                              seed % 2 ? bias : NULL);

  g_assert_cmpint (rig_compute (rig, (int) shape[2], 0), ==, KVASIR_STATUS_OK);
  return g_memdup2 (y->data, (gsize) (shape[1] * shape[2]) * sizeof (float));
}

/* The weights' types that @isa multiplies as floats: in plain C all. */
static void
check_type (KvasirCpuIsa isa, KvasirType type)
{
  static const gint64 shapes[][2] = { { 5, 16 }, { 130, 33 }, { 257, 300 }, { 128, 256 } };
  gint64 block = kvasir_type_get_block_len ((int) type);

  for (guint32 i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      gint64 k = block == 1 ? 301 : block == 32 ? 352 : 512;
      gint64 shape[3] = { k, shapes[i][0], shapes[i][1] };
      g_autoptr (Rig) own = rig_new_with_blas (isa, 2, KVASIR_CPU_BLAS_NEVER);
      g_autoptr (Rig) other = rig_new_with_blas (isa, 2, KVASIR_CPU_BLAS_ALWAYS);
      g_autofree float *expected = multiply (own, type, shape, i);
      g_autofree float *y = multiply (other, type, shape, i);
      g_assert_true (says_blas (other) && !says_blas (own));
      g_assert_cmpfloat (rig_get_nmse (y, expected, (gsize) (shape[1] * shape[2])), <, 1e-11);
    }
}

static void
test_products (void)
{
  static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                      KVASIR_TYPE_Q4_1, KVASIR_TYPE_Q6_K, KVASIR_TYPE_IQ2_XS };

  if (!has_blas ())
    {
      g_test_skip ("no OpenBLAS");
      return;
    }
  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    check_type (KVASIR_CPU_ISA_SCALAR, types[t]);
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < 3; t++)
      check_type (*isa, types[t]);
}

/* Rows that lie apart, in the weights, the activations and the result. */
static void
test_strides (void)
{
  if (!has_blas ())
    {
      g_test_skip ("no OpenBLAS");
      return;
    }
  for (int with_blas = 0; with_blas < 2; with_blas++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (3);
      g_autoptr (Rig) rig = rig_new_with_blas (
          KVASIR_CPU_ISA_SCALAR, 1, with_blas ? KVASIR_CPU_BLAS_ALWAYS : KVASIR_CPU_BLAS_NEVER);
      KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_F32, 80, 40, 1);
      KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 96, 33, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 50, 33, 1 }, w, x, NULL);
      const float *ws = w->data, *xs = x->data, *ys = y->data;
      w->ne[0] = x->ne[0] = 64;
      y->ne[0] = 40;
      g_assert_cmpint (rig_compute (rig, 33, 0), ==, KVASIR_STATUS_OK);
      for (int t = 0; t < 33; t++)
        for (int r = 0; r < 50; r++)
          {
            double sum = 0;
            for (int i = 0; i < 64 && r < 40; i++)
              sum += (double) ws[r * 80 + i] * xs[t * 96 + i];
            g_assert_cmpfloat_with_epsilon (ys[t * 50 + r], sum, 1e-4);
          }
    }
}

static void
test_threads (void)
{
  const gint64 shape[3] = { 700, 300, 600 };
  g_autofree float *first = NULL;

  if (!has_blas ())
    {
      g_test_skip ("no OpenBLAS");
      return;
    }
  for (int n_threads = 1; n_threads <= 3; n_threads++)
    {
      g_autoptr (Rig) rig =
          rig_new_with_blas (KVASIR_CPU_ISA_SCALAR, n_threads, KVASIR_CPU_BLAS_ALWAYS);
      g_autofree float *y = multiply (rig, KVASIR_TYPE_F32, shape, 5);
      if (first == NULL)
        first = g_steal_pointer (&y);
      else
        g_assert_cmpmem (y, (gsize) (shape[1] * shape[2]) * sizeof (float), first,
                         (gsize) (shape[1] * shape[2]) * sizeof (float));
    }
}

static void
multiply_wrongly (const KvasirProduct *p,
                  const KvasirProductPart *part,
                  const KvasirRowToFloat *to_float,
                  uint8_t *scratch)
{
  kvasir_scalar_kernels.products[KVASIR_TYPE_F32].few (p, part, to_float, scratch);
  p->dst[17] += 0.01f;
}

static void
test_self_test (void)
{
  KvasirProductKernel products[KVASIR_N_TYPES] = { 0 };
  KvasirCpuKernels kernels = kvasir_scalar_kernels;

  products[KVASIR_TYPE_F32].few = multiply_wrongly;
  kernels.products = products;
  g_assert_null (kvasir_blas_new (&kernels, true));
}

static void
test_sizes (void)
{
  KvasirBlas *blas = kvasir_blas_new (&kvasir_scalar_kernels, false);

  g_assert_false (kvasir_blas_takes (NULL, 4096, 4096, 512));
  if (blas == NULL)
    {
      g_test_skip ("no OpenBLAS");
      return;
    }
  g_assert_true (kvasir_blas_takes (blas, 768, 3072, 32));
  g_assert_false (kvasir_blas_takes (blas, 768, 3072, 31));
  g_assert_false (kvasir_blas_takes (blas, 768, 768, 64));
  g_assert_false (kvasir_blas_takes (blas, 768, 3072, 0));
  g_assert_false (kvasir_blas_takes (blas, G_GINT64_CONSTANT (1) << 40, 2, 64));
  kvasir_blas_free (blas);
}

/* Who names an instruction set gets that one. */
static void
test_choice (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      g_assert_false (says_blas (rig));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/blas/products-as-own", test_products);
  g_test_add_func ("/backends/blas/rows-may-lie-apart", test_strides);
  g_test_add_func ("/backends/blas/threads-do-not-change-results", test_threads);
  g_test_add_func ("/backends/blas/refused-where-it-differs", test_self_test);
  g_test_add_func ("/backends/blas/only-large-products", test_sizes);
  g_test_add_func ("/backends/blas/not-beside-a-named-instruction-set", test_choice);
  return g_test_run ();
}
