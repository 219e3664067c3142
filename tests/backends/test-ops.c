/* Row operations against their formulas in double, with odd lengths, gaps between rows and
 * repeated operands. */
#include <math.h>
#include <string.h>

#include "backends/cpu/rows.h"
#include "lengths.h"

static void
check_rms_norm (Setup *setup)
{
  gint64 n = setup->n;
  KvasirTensor *x = random_floats (setup, n + 3, 5, 3);
  KvasirTensor *w = random_floats (setup, n, 1, 1);
  x->ne[0] = n;
  KvasirTensor *y = rig_node (setup->rig, KVASIR_OP_RMS_NORM, (gint64[]){ n, 5, 3 }, x, w, NULL);
  KvasirTensor *z = rig_node (setup->rig, KVASIR_OP_RMS_NORM, (gint64[]){ n, 5, 3 }, x, NULL, NULL);

  y->params.norm.eps = z->params.norm.eps = 1e-3f;
  compute_setup (setup);
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 5; j++)
      {
        double sum = 0;
        for (gint64 i = 0; i < n; i++)
          sum += (double) get_float (x, i, j, k) * get_float (x, i, j, k);
        for (gint64 i = 0; i < n; i++)
          {
            double expected = get_float (x, i, j, k) / sqrt (sum / (double) n + 1e-3f);
            assert_near (get_float (z, i, j, k), expected);
            assert_near (get_float (y, i, j, k), expected * get_float (w, i, 0, 0));
          }
      }
}

static void
test_rms_norm (void)
{
  for_each_isa_and_length (check_rms_norm);
}

/* ADD and MUL with an operand that is repeated along the extents in @repeat. */
static void
check_binary (Setup *setup, KvasirOp op, guint repeat)
{
  gint64 n = setup->n;
  gint64 ne[3] = { repeat & 1 ? 1 : n, repeat & 2 ? 1 : 4, repeat & 4 ? 1 : 3 };
  KvasirTensor *a = random_floats (setup, n, 4, 3);
  KvasirTensor *b = random_floats (setup, ne[0], ne[1], ne[2]);
  KvasirTensor *y = rig_node (setup->rig, op, (gint64[]){ n, 4, 3 }, a, b, NULL);

  compute_setup (setup);
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 4; j++)
      for (gint64 i = 0; i < n; i++)
        {
          float value = get_float (b, ne[0] == 1 ? 0 : i, ne[1] == 1 ? 0 : j, ne[2] == 1 ? 0 : k);
          float first = get_float (a, i, j, k);
          assert_near (get_float (y, i, j, k), op == KVASIR_OP_ADD ? first + value : first * value);
        }
}

static void
check_binaries (Setup *setup)
{
  for (guint repeat = 0; repeat < 8; repeat++)
    {
      check_binary (setup, KVASIR_OP_ADD, repeat);
      check_binary (setup, KVASIR_OP_MUL, repeat);
    }
}

static void
test_binary (void)
{
  for_each_isa_and_length (check_binaries);
}

static const KvasirType written[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                      KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                      KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };

/* Rows go out to scattered places of a table and come back equal to a rounding of their own. */
static void
check_table (KvasirCpuIsa isa, KvasirType type)
{
  static const int places[] = { 9, 0, 4, 7 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *rows = rig_random (rig, rand, KVASIR_TYPE_F32, 96, 4, 1);
  KvasirTensor *table = rig_tensor (rig, type, 96, 10, 1);
  KvasirTensor *to = rig_tensor (rig, KVASIR_TYPE_I64, 4, 1, 1);
  KvasirTensor *from = rig_tensor (rig, KVASIR_TYPE_I32, 10, 1, 1);
  KvasirTensor *set = rig_view_node (rig, KVASIR_OP_SET_ROWS, table);
  g_autofree guint8 *row = g_malloc (table->nb[1]);
  float expected[96];

  set->src[0] = rows;
  set->src[1] = to;
  set->src[2] = table;
  KvasirTensor *got =
      rig_node (rig, KVASIR_OP_GET_ROWS, (gint64[]){ 96, 10, 1 }, table, from, NULL);
  for (int i = 0; i < 4; i++)
    ((gint64 *) to->data)[i] = places[i];
  for (int i = 0; i < 10; i++)
    ((gint32 *) from->data)[i] = i;
  g_assert_cmpint (rig_compute (rig, 4, 0), ==, KVASIR_STATUS_OK);
  for (int i = 0; i < 4; i++)
    {
      kvasir_scalar_from_float[type]((float *) rows->data + i * 96, row, 96);
      g_assert_cmpmem ((guint8 *) table->data + (gsize) places[i] * table->nb[1], table->nb[1], row,
                       table->nb[1]);
      kvasir_scalar_to_float[type](row, expected, 96);
      for (int j = 0; j < 96; j++)
        g_assert_cmpfloat_with_epsilon (get_float (got, j, places[i], 0), expected[j], 1e-6f);
    }
  for (int j = 0; j < 96; j++)
    g_assert_cmpfloat (get_float (got, j, 5, 0), ==, 0);
}

static void
test_table (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (written); i++)
      check_table (*isa, written[i]);
}

/* Rows of a table of weights, out of order and twice. */
static void
check_weights (KvasirCpuIsa isa, KvasirType type)
{
  static const gint32 wanted[] = { 6, 2, 2, 0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *table = rig_random (rig, rand, type, 512, 7, 1);
  KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, 4, 1, 1);
  KvasirTensor *got = rig_node (rig, KVASIR_OP_GET_ROWS, (gint64[]){ 512, 4, 1 }, table, ids, NULL);
  g_autofree float *floats = rig_get_floats (table);

  memcpy (ids->data, wanted, sizeof wanted);
  g_assert_cmpint (rig_compute (rig, 4, 0), ==, KVASIR_STATUS_OK);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 512; j++)
      {
        float expected = floats[wanted[i] * 512 + j];
        g_assert_cmpfloat_with_epsilon (get_float (got, j, i, 0), expected,
                                        1e-5f * fabsf (expected) + 1e-7f);
      }
}

/* Every type that weights may have. */
static void
test_weights (void)
{
  int n_types = 0;

  for (int type = 0; type < KVASIR_N_TYPES; type++)
    if (kvasir_scalar_to_float[type] != NULL)
      {
        n_types++;
        for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
          check_weights (*isa, (KvasirType) type);
      }
  g_assert_cmpint (n_types, ==, 28);
}

static void
check_cpy (KvasirCpuIsa isa, KvasirType from, KvasirType to)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *src = rig_random (rig, rand, from, 288, 3, 2);
  KvasirTensor *dst = rig_tensor (rig, to, 288, 3, 2);
  KvasirTensor *node = rig_view_node (rig, KVASIR_OP_CPY, dst);
  g_autofree float *floats = rig_get_floats (src);
  g_autofree guint8 *row = g_malloc (dst->nb[1]);

  node->src[0] = src;
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  for (gsize i = 0; i < 6; i++)
    {
      if (from == to)
        memcpy (row, (guint8 *) src->data + i * src->nb[1], dst->nb[1]);
      else
        kvasir_scalar_from_float[to](floats + i * 288, row, 288);
      g_assert_cmpmem ((guint8 *) dst->data + i * dst->nb[1], dst->nb[1], row, dst->nb[1]);
    }
}

static void
test_cpy (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (written); i++)
      {
        check_cpy (*isa, KVASIR_TYPE_F32, written[i]);
        check_cpy (*isa, KVASIR_TYPE_F16, written[i]);
        check_cpy (*isa, written[i], written[i]);
      }
}

static void
test_unsupported (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *a = rig_tensor (rig, KVASIR_TYPE_F32, 64, 4, 1);
  KvasirTensor *b = rig_tensor (rig, KVASIR_TYPE_F32, 64, 3, 1);
  KvasirTensor *half = rig_tensor (rig, KVASIR_TYPE_F16, 64, 4, 1);
  KvasirTensor *node = rig_node (rig, KVASIR_OP_ADD, (gint64[]){ 64, 4, 1 }, a, b, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  g_assert_false (vtable->supports_op (rig->device, node));
  node->src[1] = half;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->src[1] = NULL;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->src[1] = a;
  g_assert_true (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_UNARY;
  node->params.unary.kind = KVASIR_GLU_OAI;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->params.unary.kind = -1;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_GET_ROWS;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_ROPE;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_ATTENTION;
  g_assert_false (vtable->supports_op (rig->device, node));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/ops/rms-norm", test_rms_norm);
  g_test_add_func ("/backends/ops/add-and-mul-repeat-their-operand", test_binary);
  g_test_add_func ("/backends/ops/rows-go-to-tables-and-back", test_table);
  g_test_add_func ("/backends/ops/get-rows-reads-every-type-of-weights", test_weights);
  g_test_add_func ("/backends/ops/cpy-converts", test_cpy);
  g_test_add_func ("/backends/ops/impossible-operands-are-not-supported", test_unsupported);
  return g_test_run ();
}
