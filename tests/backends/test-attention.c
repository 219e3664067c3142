/* Attention against the plain formula in double: for each token and head a softmax over the open
 * cells. Masks have open and closed words, mixed ones, and rows that see nothing. */
#include <math.h>
#include <string.h>

#include "rig.h"

typedef struct
{
  const char *name;
  KvasirAttentionParams params;
  KvasirType type_k, type_v;
  gboolean has_sinks;
} Case;

static const Case cases[] = {
  { "f32", { 64, 64, 4, 4, 0.125f, 0, 0 }, KVASIR_TYPE_F32, KVASIR_TYPE_F32, FALSE },
  { "f16-grouped", { 64, 64, 9, 3, 0.125f, 0, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, FALSE },
  { "bf16", { 32, 32, 4, 2, 0.2f, 0, 0 }, KVASIR_TYPE_BF16, KVASIR_TYPE_BF16, FALSE },
  { "narrow", { 16, 16, 4, 2, 0.25f, 0, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, FALSE },
  { "wide", { 256, 256, 4, 1, 0.0625f, 0, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, FALSE },
  { "odd", { 80, 48, 6, 2, 0.1f, 0, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F32, FALSE },
  { "softcap", { 64, 64, 4, 2, 1, 2, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, FALSE },
  { "alibi", { 32, 32, 6, 6, 0.2f, 0, 8 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, FALSE },
  { "sinks", { 64, 64, 8, 2, 0.125f, 0, 0 }, KVASIR_TYPE_F16, KVASIR_TYPE_F16, TRUE },
  { "q8_0", { 64, 64, 9, 3, 0.125f, 0, 0 }, KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q8_0, FALSE },
  { "q8_0-narrow", { 16, 16, 4, 2, 0.25f, 0, 0 }, KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, FALSE },
  { "q4", { 64, 64, 4, 2, 0.125f, 0, 0 }, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1, FALSE },
  { "q5", { 64, 64, 4, 2, 0.125f, 0, 0 }, KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, FALSE },
  { "iq4", { 64, 64, 4, 2, 0.125f, 0, 0 }, KVASIR_TYPE_IQ4_NL, KVASIR_TYPE_IQ4_NL, FALSE },
};

enum
{
  N_CELLS = 1280
};

typedef struct
{
  KvasirTensor *q, *k, *v, *mask, *sinks, *positions, *out;
} Problem;

static void
fill_mask (GRand *rand, guint64 *row, int n_kv, int token)
{
  for (int word = 0; word < N_CELLS / 64; word++)
    {
      int kind = g_rand_int_range (rand, 0, 4);
      guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
      if (word >= n_kv / 64 || token % 7 == 3)
        row[word] = 0;
      else if (token % 7 == 5)
        row[word] = word == 1 ? (guint64) 1 << 63 : 0;
      else
        row[word] = kind == 0 ? 0 : kind == 1 ? ~(guint64) 0 : bits;
    }
}

static void
make_problem (Problem *p, Rig *rig, GRand *rand, const Case *c, int n, int n_kv)
{
  const KvasirAttentionParams *a = &c->params;

  p->q = rig_random (rig, rand, KVASIR_TYPE_F32, a->head_dim_k, a->n_heads, n);
  for (gsize i = 0; i < p->q->nb[3] / sizeof (float); i++)
    ((float *) p->q->data)[i] *= 4;
  p->k = rig_random (rig, rand, c->type_k, a->head_dim_k * a->n_kv_heads, N_CELLS, 1);
  p->v = rig_random (rig, rand, c->type_v, a->head_dim_v * a->n_kv_heads, N_CELLS, 1);
  p->mask = rig_tensor (rig, KVASIR_TYPE_I64, N_CELLS / 64, n, 1);
  for (int t = 0; t < n; t++)
    fill_mask (rand, (guint64 *) p->mask->data + t * (N_CELLS / 64), n_kv, t);
  p->sinks = c->has_sinks ? rig_random (rig, rand, KVASIR_TYPE_F32, a->n_heads, 1, 1) : NULL;
  p->positions = rig_tensor (rig, KVASIR_TYPE_I32, N_CELLS + n, 1, 1);
  for (int i = 0; i < N_CELLS + n; i++)
    ((gint32 *) p->positions->data)[i] = g_rand_int_range (rand, 0, 40);
  p->out = rig_node (rig, KVASIR_OP_ATTENTION,
                     (gint64[]){ (gint64) a->head_dim_v * a->n_heads, n, 1 }, p->q, p->k, p->v);
  p->out->src[3] = p->mask;
  p->out->src[4] = p->sinks;
  p->out->src[5] = a->max_bias != 0 ? p->positions : NULL;
  p->out->params.attention = *a;
}

static double
get_slope (const KvasirAttentionParams *a, int head)
{
  double n2 = exp2 (floor (log2 (a->n_heads)));
  double m0 = exp2 (-a->max_bias / n2), m1 = exp2 (-a->max_bias / (2 * n2));

  return head < n2 ? pow (m0, head + 1) : pow (m1, 2 * (head - n2) + 1);
}

static double
get_score (const Problem *p, const float *k, int head, int token, int cell)
{
  const KvasirAttentionParams *a = &p->out->params.attention;
  const gint32 *positions = p->positions->data;
  int kv_head = head / (a->n_heads / a->n_kv_heads);
  const float *q = (float *) p->q->data + (token * a->n_heads + head) * a->head_dim_k;
  double score = 0;

  for (int i = 0; i < a->head_dim_k; i++)
    score += (double) q[i] * k[cell * p->k->ne[0] + kv_head * a->head_dim_k + i];
  score *= a->scale;
  if (a->softcap != 0)
    score = a->softcap * tanh (score / a->softcap);
  if (a->max_bias != 0)
    score -= get_slope (a, head) * abs (positions[cell] - positions[N_CELLS + token]);
  return score;
}

static void
attend (const Problem *p, const float *k, const float *v, int head, int token, double *out)
{
  const KvasirAttentionParams *a = &p->out->params.attention;
  const guint64 *row = (guint64 *) p->mask->data + token * (N_CELLS / 64);
  int kv_head = head / (a->n_heads / a->n_kv_heads);
  double sum = p->sinks ? exp (((float *) p->sinks->data)[head]) : 0;

  memset (out, 0, (gsize) a->head_dim_v * sizeof *out);
  for (int cell = 0; cell < N_CELLS; cell++)
    if (row[cell / 64] >> (cell % 64) & 1)
      {
        double weight = exp (get_score (p, k, head, token, cell));
        sum += weight;
        for (int i = 0; i < a->head_dim_v; i++)
          out[i] += weight * v[cell * p->v->ne[0] + kv_head * a->head_dim_v + i];
      }
  for (int i = 0; i < a->head_dim_v; i++)
    out[i] = sum > 0 ? out[i] / sum : 0;
}

static void
check_attention (const Case *c, KvasirCpuIsa isa, int n, int n_kv)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) (n + n_kv));
  g_autoptr (Rig) rig = rig_new (isa, 2);
  gsize width = (gsize) (c->params.head_dim_v * c->params.n_heads);
  g_autofree double *expected = g_new (double, width *(gsize) n);
  Problem p;

  make_problem (&p, rig, rand, c, n, n_kv);
  g_autofree float *k = rig_get_floats (p.k);
  g_autofree float *v = rig_get_floats (p.v);
  for (int t = 0; t < n; t++)
    for (int head = 0; head < c->params.n_heads; head++)
      attend (&p, k, v, head, t,
              expected + (gsize) t * width + (gsize) (head * c->params.head_dim_v));
  g_assert_cmpint (rig_compute (rig, n, n_kv), ==, KVASIR_STATUS_OK);
  g_assert_cmpfloat (rig_get_nmse_double (p.out->data, expected, width * (gsize) n), <, 1e-9);
  for (int t = 3; t < n && !c->has_sinks; t += 7)
    for (gsize i = 0; i < width; i++)
      g_assert_cmpfloat (((float *) p.out->data)[(gsize) t * width + i], ==, 0);
}

static void
test_attention (gconstpointer data)
{
  static const int shapes[][2] = { { 1, 64 }, { 1, 256 }, { 1, 1280 }, { 6, 320 }, { 37, 192 } };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
      check_attention (data, *isa, shapes[i][0], shapes[i][1]);
}

static void
test_threads_agree (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 33; n += 16)
      {
        float *results[2];
        gsize n_bytes = 0;
        for (int i = 0; i < 2; i++)
          {
            g_autoptr (GRand) rand = g_rand_new_with_seed (5);
            g_autoptr (Rig) rig = rig_new (*isa, i + 1);
            Problem p;
            make_problem (&p, rig, rand, &cases[1], n, 1280);
            g_assert_cmpint (rig_compute (rig, n, 1280), ==, KVASIR_STATUS_OK);
            results[i] = rig_get_floats (p.out);
            n_bytes = p.out->nb[3];
          }
        g_assert_cmpmem (results[0], n_bytes, results[1], n_bytes);
        g_free (results[0]);
        g_free (results[1]);
      }
}

/* Closed words are skipped unread: what a cell holds that nobody sees must not matter. */
static void
test_closed_cells_are_not_read (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 20; n += 19)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (6);
        g_autoptr (Rig) rig = rig_new (*isa, 1);
        Problem p;
        make_problem (&p, rig, rand, &cases[0], n, 128);
        for (int t = 0; t < n; t++)
          {
            guint64 *row = (guint64 *) p.mask->data + t * (N_CELLS / 64);
            row[0] = 0;
            row[1] = ~(guint64) 0;
          }
        for (gsize i = 0; i < 64 * (gsize) p.k->ne[0]; i++)
          ((float *) p.k->data)[i] = ((float *) p.v->data)[i] = NAN;
        g_assert_cmpint (rig_compute (rig, n, 128), ==, KVASIR_STATUS_OK);
        for (gsize i = 0; i < p.out->nb[3] / sizeof (float); i++)
          g_assert_false (isnan (((float *) p.out->data)[i]));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/backends/attention/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_attention);
    }
  g_test_add_func ("/backends/attention/threads-do-not-change-results", test_threads_agree);
  g_test_add_func ("/backends/attention/closed-words-are-not-read", test_closed_cells_are_not_read);
  return g_test_run ();
}
