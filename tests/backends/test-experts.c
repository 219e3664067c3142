/* Choice of experts, their products and the sum of their results, against plain formulas. */
#include <math.h>
#include <string.h>

#include "backends/cpu/half.h"
#include "rig.h"

static const KvasirType types[] = {
  KVASIR_TYPE_F32,     KVASIR_TYPE_F16,    KVASIR_TYPE_BF16,  KVASIR_TYPE_Q4_0,
  KVASIR_TYPE_Q8_0,    KVASIR_TYPE_Q4_K,   KVASIR_TYPE_Q6_K,  KVASIR_TYPE_MXFP4,
  KVASIR_TYPE_IQ2_XXS, KVASIR_TYPE_IQ2_XS, KVASIR_TYPE_IQ2_S, KVASIR_TYPE_IQ3_XXS,
  KVASIR_TYPE_IQ3_S,   KVASIR_TYPE_IQ1_S,  KVASIR_TYPE_IQ1_M, KVASIR_TYPE_TQ1_0,
  KVASIR_TYPE_TQ2_0,   KVASIR_TYPE_NVFP4,  KVASIR_TYPE_Q1_0,  KVASIR_TYPE_Q2_0,
};

static float *
get_floats (const KvasirTensor *tensor, gint64 j, gint64 k)
{
  return (float *) (void *) ((char *) tensor->data + (gsize) j * tensor->nb[1] +
                             (gsize) k * tensor->nb[2]);
}

static gint32 *
get_ids (const KvasirTensor *tensor, gint64 j)
{
  return (gint32 *) (void *) get_floats (tensor, j, 0);
}

/* A result of whole numbers. */
static KvasirTensor *
id_node (Rig *rig, KvasirTensor *s0, gint64 u, gint64 n)
{
  KvasirTensor *node = rig_node (rig, KVASIR_OP_TOP_K, (gint64[]){ u, n, 1 }, s0, NULL, NULL);

  node->type = KVASIR_TYPE_I32;
  return node;
}

static double
get_best_two (const float *x, int n)
{
  double best = -INFINITY;

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i != j)
        best = MAX (best, (double) x[i] + x[j]);
  return n == 1 ? x[0] : best;
}

/* How many come before @i: larger ones, and equal ones in front. */
static int
get_rank (const double *x, int n, int i)
{
  int rank = 0;

  for (int j = 0; j < n; j++)
    rank += x[j] > x[i] || (x[j] == x[i] && j < i);
  return rank;
}

static void
check_top_k (KvasirCpuIsa isa, const int shape[3], int n_groups, int n_used)
{
  int n_experts = shape[0], u = shape[1], n = shape[2];
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) n_experts);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, n_experts + 3, n, 1);
  x->ne[0] = n_experts;
  KvasirTensor *y = id_node (rig, x, u, n);

  y->params.top_k.n_groups = n_groups;
  y->params.top_k.n_groups_used = n_used;
  /* Some ties. */
  for (int t = 0; t < n; t++)
    for (int i = 0; i < n_experts; i += 3)
      get_floats (x, t, 0)[i] = roundf (get_floats (x, t, 0)[i] * 4) / 4;
  g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
  for (int t = 0; t < n; t++)
    {
      double scores[64], masked[512];
      const float *row = get_floats (x, t, 0);
      int width = n_experts / MAX (n_groups, 1);
      for (int g = 0; g < n_groups; g++)
        scores[g] = get_best_two (row + g * width, width);
      for (int i = 0; i < n_experts; i++)
        {
          gboolean is_open = n_groups <= 1 || get_rank (scores, n_groups, i / width) < n_used;
          masked[i] = is_open ? row[i] : -INFINITY;
        }
      for (int i = 0; i < n_experts; i++)
        {
          int rank = get_rank (masked, n_experts, i);
          if (rank < u)
            g_assert_cmpint (get_ids (y, t)[rank], ==, i);
        }
    }
}

static void
test_top_k (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      check_top_k (*isa, (int[]){ 8, 2, 3 }, 0, 0);
      check_top_k (*isa, (int[]){ 8, 8, 1 }, 0, 0);
      check_top_k (*isa, (int[]){ 31, 5, 40 }, 1, 1);
      check_top_k (*isa, (int[]){ 512, 10, 33 }, 0, 0);
      check_top_k (*isa, (int[]){ 64, 6, 17 }, 8, 3);
      check_top_k (*isa, (int[]){ 6, 2, 17 }, 6, 3);
    }
}

/* A broken model may not lead outside. */
static void
test_top_k_nan (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 16, 3, 1);
  KvasirTensor *y = id_node (rig, x, 4, 3), *z = id_node (rig, x, 4, 3);

  z->params.top_k.n_groups = 4;
  z->params.top_k.n_groups_used = 1;
  for (int i = 0; i < 48; i++)
    ((float *) x->data)[i] = i < 16 || i % 3 == 0 ? NAN : (float) i;
  memset (y->data, 0xff, 48);
  memset (z->data, 0xff, 48);
  g_assert_cmpint (rig_compute (rig, 3, 0), ==, KVASIR_STATUS_OK);
  for (int t = 0; t < 3; t++)
    for (int j = 0; j < 4; j++)
      {
        g_assert_cmpint (get_ids (y, t)[j], >=, 0);
        g_assert_cmpint (get_ids (y, t)[j], <, 16);
        g_assert_cmpint (get_ids (z, t)[j], >=, 0);
        g_assert_cmpint (get_ids (z, t)[j], <, 16);
      }
}

static void
fill_ids (KvasirTensor *ids, GRand *rand, int n_experts)
{
  for (gint64 i = 0; i < ids->ne[0] * ids->ne[1]; i++)
    ((gint32 *) ids->data)[i] = g_rand_int_range (rand, 0, n_experts);
}

static void
test_gather (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (3);
      g_autoptr (Rig) rig = rig_new (*isa, 2);
      KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 33, 9, 1);
      KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, 5, 9, 1);
      x->ne[0] = 31;
      KvasirTensor *y = rig_node (rig, KVASIR_OP_GATHER, (gint64[]){ 5, 9, 1 }, x, ids, NULL);
      fill_ids (ids, rand, 31);
      g_assert_cmpint (rig_compute (rig, 9, 0), ==, KVASIR_STATUS_OK);
      for (int t = 0; t < 9; t++)
        for (int j = 0; j < 5; j++)
          g_assert_cmpfloat (get_floats (y, t, 0)[j], ==,
                             get_floats (x, t, 0)[get_ids (ids, t)[j]]);
    }
}

static void
check_weighted_sum (KvasirCpuIsa isa, int n_rows, int u, int n, int step)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, n_rows + 2, u, n);
  KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_F32, u * step + 1, n, 1);
  x->ne[0] = n_rows;
  w->ne[0] = u;
  w->nb[0] = 4 * (gsize) step;
  KvasirTensor *y = rig_node (rig, KVASIR_OP_WEIGHTED_SUM, (gint64[]){ n_rows, n, 1 }, x, w, NULL);

  g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
  for (int t = 0; t < n; t++)
    for (int i = 0; i < n_rows; i++)
      {
        double sum = 0;
        for (int j = 0; j < u; j++)
          sum += (double) get_floats (w, t, 0)[j * step] * get_floats (x, j, t)[i];
        g_assert_cmpfloat_with_epsilon (get_floats (y, t, 0)[i], sum, 2e-6);
      }
}

static void
test_weighted_sum (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int step = 1; step <= 4; step += 3)
      {
        check_weighted_sum (*isa, 67, 1, 4, step);
        check_weighted_sum (*isa, 64, 4, 1, step);
        check_weighted_sum (*isa, 1003, 7, 21, step);
      }
}

typedef struct
{
  KvasirType type;
  int k, n_rows, n_experts, u, n;
  gboolean is_shared; /* one input row for all experts of a token */
  gboolean has_bias;
} Shape;

static double
get_expected (const KvasirTensor *y, const float *weights, const Shape *s, int i, int j, int t)
{
  gint32 id = get_ids (y->src[2], t)[j];
  const float *row = weights + ((gsize) id * (gsize) s->n_rows + (gsize) i) * (gsize) s->k;
  const float *x = get_floats (y->src[1], s->is_shared ? 0 : j, t);
  double sum = s->has_bias ? get_floats (y->src[3], id, 0)[i] : 0;

  for (int l = 0; l < s->k; l++)
    {
      gboolean is_half = s->type == KVASIR_TYPE_F16;
      float rounded = is_half ? kvasir_f16_to_f32 (kvasir_f32_to_f16 (x[l])) : x[l];
      sum += (double) row[l] * rounded;
    }
  return sum;
}

static KvasirTensor *
expert_node (Rig *rig, GRand *rand, const Shape *s)
{
  KvasirTensor *w = rig_random (rig, rand, s->type, s->k, s->n_rows, s->n_experts);
  KvasirTensor *x =
      rig_random (rig, rand, KVASIR_TYPE_F32, s->k + 4, s->is_shared ? 1 : s->u, s->n);
  KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, s->u, s->n, 1);
  gint64 ne[3] = { s->n_rows, s->u, s->n };

  x->ne[0] = s->k;
  fill_ids (ids, rand, s->n_experts);
  KvasirTensor *node = rig_node (rig, KVASIR_OP_MUL_MAT_ID, ne, w, x, ids);
  if (s->has_bias)
    node->src[3] = rig_random (rig, rand, KVASIR_TYPE_F32, s->n_rows, s->n_experts, 1);
  return node;
}

static void
check_experts (KvasirCpuIsa isa, int n_threads, const Shape *s)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) (s->k + s->n));
  g_autoptr (Rig) rig = rig_new (isa, n_threads);
  KvasirTensor *y = expert_node (rig, rand, s);
  g_autofree float *weights = rig_get_floats (y->src[0]);
  double error = 0, power = 0;

  g_assert_cmpint (rig_compute (rig, s->n, 0), ==, KVASIR_STATUS_OK);
  for (int t = 0; t < s->n; t++)
    for (int j = 0; j < s->u; j++)
      for (int i = 0; i < s->n_rows; i++)
        {
          double expected = get_expected (y, weights, s, i, j, t);
          double difference = get_floats (y, j, t)[i] - expected;
          error += difference * difference;
          power += expected * expected;
        }
  if (!(error <= 2e-4 * power))
    g_test_message ("%s %s k %d rows %d tokens %d", kvasir_cpu_isa_get_name (isa),
                    kvasir_type_get_name ((int) s->type), s->k, s->n_rows, s->n);
  g_assert_cmpfloat (error, <=, (s->n <= 4 ? 1e-7 : 2e-4) * power);
}

static void
test_experts (void)
{
  static const int n_tokens[] = { 1, 2, 4, 5, 9, 150 };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      for (gsize i = 0; i < G_N_ELEMENTS (n_tokens); i++)
        {
          int block = (int) kvasir_type_get_block_len ((int) types[t]);
          int k = block == 1 ? 45 : block == 32 ? 96 : 256;
          gboolean odd = (i + t) % 2 == 1;
          Shape s = {
            types[t], k, odd ? 70 : 131, odd ? 8 : 3, odd ? 4 : 2, n_tokens[i], odd, !odd
          };
          check_experts (*isa, 1 + (int) i % 2, &s);
        }
}

/* Each of many experts with few tokens, or none. */
static void
test_many_experts (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 41; n += 20)
      {
        Shape s = { KVASIR_TYPE_Q4_0, 64, 66, 512, 10, n, TRUE, TRUE };
        check_experts (*isa, 2, &s);
      }
}

/* Two products of the same inputs, as of gate and up, share their rounding; a third has its own. */
static void
test_shared_inputs (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 2; n <= 12; n += 10)
      {
        Shape s = { KVASIR_TYPE_Q8_0, 64, 70, 8, 4, n, TRUE, FALSE };
        g_autoptr (GRand) rand = g_rand_new_with_seed (6);
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        KvasirTensor *y[3];
        for (int i = 0; i < 3; i++)
          y[i] = expert_node (rig, rand, &s);
        y[1]->src[1] = y[0]->src[1];
        g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
        for (int i = 0; i < 3; i++)
          {
            g_autofree float *weights = rig_get_floats (y[i]->src[0]);
            for (int t = 0; t < n; t++)
              for (int j = 0; j < 4; j++)
                g_assert_cmpfloat_with_epsilon (get_floats (y[i], j, t)[69],
                                                get_expected (y[i], weights, &s, 69, j, t), 0.2);
          }
      }
}

static void
test_threads_agree (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 41; n += 20)
      {
        Shape s = { KVASIR_TYPE_MXFP4, 96, 200, 5, 3, n, FALSE, TRUE };
        float *results[2];
        for (int i = 0; i < 2; i++)
          {
            g_autoptr (GRand) rand = g_rand_new_with_seed (9);
            g_autoptr (Rig) rig = rig_new (*isa, i + 1);
            KvasirTensor *y = expert_node (rig, rand, &s);
            g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
            results[i] = rig_get_floats (y);
          }
        gsize n_bytes = 600 * (gsize) n * sizeof (float);
        g_assert_cmpmem (results[0], n_bytes, results[1], n_bytes);
        g_free (results[0]);
        g_free (results[1]);
      }
}

static void
test_unsupported (void)
{
  Shape s = { KVASIR_TYPE_F32, 64, 8, 4, 2, 3, FALSE, TRUE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *y = expert_node (rig, rand, &s);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  g_assert_true (vtable->supports_op (rig->device, y));
  y->src[0]->type = KVASIR_TYPE_IQ2_XS;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->src[0]->type = KVASIR_TYPE_F32;
  y->src[3]->ne[1] = 3;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->src[3]->ne[1] = 4;
  y->src[2]->nb[1] = 64;
  g_assert_false (vtable->supports_op (rig->device, y));

  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 16, 3, 1);
  KvasirTensor *best = id_node (rig, x, 4, 3);
  g_assert_true (vtable->supports_op (rig->device, best));
  best->params.top_k.n_groups = 8;
  best->params.top_k.n_groups_used = 1;
  g_assert_false (vtable->supports_op (rig->device, best));
  best->params.top_k.n_groups_used = 2;
  g_assert_true (vtable->supports_op (rig->device, best));
  best->params.top_k.n_groups = 3;
  g_assert_false (vtable->supports_op (rig->device, best));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/experts/top-k-with-ties-and-groups", test_top_k);
  g_test_add_func ("/backends/experts/top-k-of-nan-stays-inside", test_top_k_nan);
  g_test_add_func ("/backends/experts/gather", test_gather);
  g_test_add_func ("/backends/experts/weighted-sum-of-strided-weights", test_weighted_sum);
  g_test_add_func ("/backends/experts/products-of-every-type-equal-double", test_experts);
  g_test_add_func ("/backends/experts/more-experts-than-tokens", test_many_experts);
  g_test_add_func ("/backends/experts/shared-inputs-are-rounded-once", test_shared_inputs);
  g_test_add_func ("/backends/experts/threads-do-not-change-results", test_threads_agree);
  g_test_add_func ("/backends/experts/impossible-shapes-are-not-supported", test_unsupported);
  return g_test_run ();
}
