/* The arithmetic of recorded traces, by cases whose results differ plainly from exact ones. Each is
 * also computed by a device of the usual kind. */
#include <string.h>

#include "backends/cpu/half.h"
#include "rig.h"

enum
{
  WIDTH = 16,
  N_CELLS = 4096
};

typedef struct
{
  KvasirTensor *q, *k, *v, *mask, *out;
} Attention;

/* One head, one token, no cell open yet, everything else 0. */
static Attention
make_attention (Rig *rig)
{
  Attention a;

  a.q = rig_tensor (rig, KVASIR_TYPE_F32, WIDTH, 1, 1);
  a.k = rig_tensor (rig, KVASIR_TYPE_F16, WIDTH, N_CELLS, 1);
  a.v = rig_tensor (rig, KVASIR_TYPE_F16, WIDTH, N_CELLS, 1);
  a.mask = rig_tensor (rig, KVASIR_TYPE_I64, N_CELLS / 64, 1, 1);
  a.out = rig_node (rig, KVASIR_OP_ATTENTION, (gint64[]){ WIDTH, 1, 1 }, a.q, a.k, a.v);
  a.out->src[3] = a.mask;
  a.out->params.attention = (KvasirAttentionParams){ WIDTH, WIDTH, 1, 1, 1, 0, 0, 0, 0 };
  return a;
}

static guint16 *
get_cell (const KvasirTensor *cache, int cell)
{
  return (guint16 *) cache->data + cell * WIDTH;
}

/* Halves above 2048 are two apart, so a sum of ones stops there: half of the cells count. */
static float
mean_ones (Rig *rig)
{
  Attention a = make_attention (rig);

  for (int i = 0; i < N_CELLS * WIDTH; i++)
    ((guint16 *) a.v->data)[i] = kvasir_f32_to_f16 (1);
  memset (a.mask->data, 0xff, N_CELLS / 8);
  g_assert_cmpint (rig_compute (rig, 1, N_CELLS), ==, KVASIR_STATUS_OK);
  return ((float *) a.out->data)[WIDTH - 1];
}

static void
test_sums (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) usual = rig_new (*isa, 2);
      g_autoptr (Rig) as_traces = rig_new_as_traces (*isa, 2);
      g_assert_cmpfloat_with_epsilon (mean_ones (usual), 1, 1e-5);
      g_assert_cmpfloat_with_epsilon (mean_ones (as_traces), 0.5, 1e-5);
    }
}

/* The weight of a cell whose key meets 1 + 2^-11, which lies half-way between two halves and is
 * rounded to the even one, beside a cell whose equal key meets 1. */
static float
weigh_tie (Rig *rig)
{
  Attention a = make_attention (rig);

  ((float *) a.q->data)[0] = 1 + 1.f / 2048;
  ((float *) a.q->data)[1] = 1;
  for (int i = 0; i < 2; i++)
    get_cell (a.k, i)[i] = kvasir_f32_to_f16 (60000);
  get_cell (a.v, 0)[0] = kvasir_f32_to_f16 (1);
  ((guint64 *) a.mask->data)[0] = 3;
  g_assert_cmpint (rig_compute (rig, 1, N_CELLS), ==, KVASIR_STATUS_OK);
  return ((float *) a.out->data)[0];
}

static void
test_queries (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) usual = rig_new (*isa, 1);
      g_autoptr (Rig) as_traces = rig_new_as_traces (*isa, 1);
      g_assert_cmpfloat_with_epsilon (weigh_tie (usual), 1, 1e-5);
      g_assert_cmpfloat_with_epsilon (weigh_tie (as_traces), 0.5, 1e-5);
    }
}

/* Sine of pair 6 of 64 at position 8190, base 10000. */
static float
turn_far (Rig *rig)
{
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 128, 1, 1);
  KvasirTensor *position = rig_tensor (rig, KVASIR_TYPE_I32, 1, 1, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_ROPE, (gint64[]){ 128, 1, 1 }, x, position, NULL);

  y->params.rope = (KvasirRopeParams){
    .n_rot = 128, .neox = 1, .freq_base = 10000, .freq_scale = 1, .attn_factor = 1
  };
  ((float *) x->data)[6] = 1;
  ((gint32 *) position->data)[0] = 8190;
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  return ((float *) y->data)[6 + 64];
}

/* Expected: numpy, once in double and once with the product 8190 * step * step ... in float32. */
static void
test_angles (void)
{
  g_autoptr (Rig) usual = rig_new (KVASIR_CPU_ISA_SCALAR, 1);
  g_autoptr (Rig) as_traces = rig_new_as_traces (KVASIR_CPU_ISA_SCALAR, 1);

  g_assert_cmpfloat_with_epsilon (turn_far (usual), -0.8838532669232, 2e-6);
  g_assert_cmpfloat_with_epsilon (turn_far (as_traces), -0.8842969536781311, 2e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/traces/sums-of-values-are-halves", test_sums);
  g_test_add_func ("/backends/traces/queries-are-halves", test_queries);
  g_test_add_func ("/backends/traces/angles-are-floats", test_angles);
  return g_test_run ();
}
