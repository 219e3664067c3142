/* Rotary embedding and cache shifts against the formulas in double. */
#include <math.h>
#include <string.h>

#include "rig.h"

/* theta of pair i at position p, written down once more from the formula. */
static double
get_theta (const KvasirRopeParams *p, const float *factors, int i, double position)
{
  double theta = position * pow (p->freq_base, -2.0 * i / p->n_rot);

  if (factors)
    theta /= factors[i];
  if (p->ext_factor == 0)
    return theta * p->freq_scale;
  double span = 2 * log (p->freq_base);
  double low = floor (p->n_rot * log (p->n_ctx_orig / (2 * G_PI * p->beta_fast)) / span);
  double high = ceil (p->n_rot * log (p->n_ctx_orig / (2 * G_PI * p->beta_slow)) / span);
  low = CLAMP (low, 0, p->n_rot - 1);
  high = CLAMP (high, 0, p->n_rot - 1);
  double r = 1 - CLAMP ((i - low) / MAX (0.001, high - low), 0, 1);
  return theta * p->freq_scale * (1 - r * p->ext_factor) + theta * r * p->ext_factor;
}

static double
get_magnitude (const KvasirRopeParams *p)
{
  return p->attn_factor * (p->ext_factor != 0 ? 1 + 0.1 * log (1 / p->freq_scale) : 1);
}

static void
turn (const KvasirRopeParams *p, const float *factors, double position, double magnitude, double *x)
{
  for (int i = 0; i < p->n_rot / 2; i++)
    {
      double theta = get_theta (p, factors, i, position);
      int a = p->neox ? i : 2 * i, b = p->neox ? i + p->n_rot / 2 : 2 * i + 1;
      double x0 = x[a], x1 = x[b];
      x[a] = (x0 * cos (theta) - x1 * sin (theta)) * magnitude;
      x[b] = (x0 * sin (theta) + x1 * cos (theta)) * magnitude;
    }
}

typedef struct
{
  const char *name;
  KvasirRopeParams params;
  gboolean has_factors;
  int head_dim;
} Case;

static const Case cases[] = {
  { "plain", { 64, 0, 2048, 1e4f, 1, 0, 1, 32, 1, 0 }, FALSE, 64 },
  { "neox", { 64, 1, 2048, 1e4f, 1, 0, 1, 32, 1, 0 }, FALSE, 64 },
  { "linear", { 16, 0, 2048, 1e4f, 0.25f, 0, 1, 32, 1, 0 }, FALSE, 16 },
  { "partial", { 20, 1, 2048, 1e4f, 1, 0, 1, 32, 1, 36 }, FALSE, 36 },
  { "factors", { 32, 0, 8192, 5e5f, 1, 0, 1, 32, 1, 0 }, TRUE, 32 },
  { "longrope", { 32, 1, 4096, 1e4f, 1, 0, 1.19f, 32, 1, 0 }, TRUE, 32 },
  { "yarn", { 64, 0, 128, 1e4f, 0.25f, 1, 1, 32, 1, 0 }, FALSE, 64 },
  { "yarn-neox", { 128, 1, 4096, 1e6f, 1 / 32.0f, 1, 0.9f, 32, 1, 0 }, FALSE, 128 },
};

static KvasirTensor *
add_factors (Rig *rig, GRand *rand, const Case *c)
{
  KvasirTensor *factors = NULL;

  if (c->has_factors)
    {
      factors = rig_tensor (rig, KVASIR_TYPE_F32, c->params.n_rot / 2, 1, 1);
      for (int i = 0; i < c->params.n_rot / 2; i++)
        ((float *) factors->data)[i] = (float) g_rand_double_range (rand, 1, 8);
    }
  return factors;
}

static void
check_rope (const Case *c, KvasirCpuIsa isa, int n_tokens)
{
  enum
  {
    N_HEADS = 5
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  gint64 d = c->head_dim;
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, d, N_HEADS, n_tokens);
  KvasirTensor *positions = rig_tensor (rig, KVASIR_TYPE_I32, n_tokens, 1, 1);
  KvasirTensor *factors = add_factors (rig, rand, c);
  KvasirTensor *y =
      rig_node (rig, KVASIR_OP_ROPE, (gint64[]){ d, N_HEADS, n_tokens }, x, positions, factors);
  /* A second node shares the angles of the first one. */
  KvasirTensor *z =
      rig_node (rig, KVASIR_OP_ROPE, (gint64[]){ d, N_HEADS, n_tokens }, y, positions, factors);
  gsize n = (gsize) (d * N_HEADS * n_tokens);
  g_autofree double *expected = g_new (double, n);
  const float *ff = factors ? factors->data : NULL;

  for (int t = 0; t < n_tokens; t++)
    ((gint32 *) positions->data)[t] = t == 0 ? 0 : g_rand_int_range (rand, 0, 100000);
  y->params.rope = z->params.rope = c->params;
  g_assert_cmpint (rig_compute (rig, n_tokens, 0), ==, KVASIR_STATUS_OK);
  for (int pass = 1; pass <= 2; pass++)
    {
      for (gsize i = 0; i < n; i++)
        expected[i] = ((float *) x->data)[i];
      for (int row = 0; row < N_HEADS * n_tokens; row++)
        for (int i = 0; i < pass; i++)
          turn (&c->params, ff, ((gint32 *) positions->data)[row / N_HEADS],
                get_magnitude (&c->params), expected + row * d);
      g_assert_cmpfloat (rig_get_nmse_double (pass == 1 ? y->data : z->data, expected, n), <,
                         1e-12);
    }
}

static void
test_rope (gconstpointer data)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      check_rope (data, *isa, 1);
      check_rope (data, *isa, 70);
    }
}

static double
get_cache_bound (KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_F32:
      return 1e-12;
    case KVASIR_TYPE_F16:
      return 1e-6;
    case KVASIR_TYPE_BF16:
      return 2e-5;
    case KVASIR_TYPE_Q8_0:
      return 1e-4;
    default:
      return 2e-2;
    }
}

/* Heads of a cache turn in place, without the magnitude; cells with 0 keep their bytes. */
static void
check_shift (const Case *c, KvasirCpuIsa isa, KvasirType type)
{
  enum
  {
    N_HEADS = 8,
    N_CELLS = 192
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  gint64 width = c->head_dim * N_HEADS;
  KvasirTensor *cache = rig_random (rig, rand, type, width, N_CELLS, 1);
  KvasirTensor *deltas = rig_tensor (rig, KVASIR_TYPE_I32, N_CELLS, 1, 1);
  KvasirTensor *factors = add_factors (rig, rand, c);
  KvasirTensor *node = rig_view_node (rig, KVASIR_OP_ROPE_SHIFT, cache);
  g_autofree float *before = rig_get_floats (cache);
  g_autofree guint8 *bytes = g_memdup2 (cache->data, cache->nb[2]);
  g_autofree double *expected = g_new (double, (gsize) (width * N_CELLS));
  gint32 *delta = deltas->data;

  node->src[0] = cache;
  node->src[1] = deltas;
  node->src[2] = factors;
  node->params.rope = c->params;
  for (int cell = 0; cell < N_CELLS; cell++)
    delta[cell] = cell % 5 == 0 ? 0 : cell < 100 ? -37 : g_rand_int_range (rand, -500, 500);
  for (gint64 i = 0; i < width * N_CELLS; i++)
    expected[i] = before[i];
  for (int i = 0; i < N_HEADS * N_CELLS; i++)
    turn (&c->params, factors ? factors->data : NULL, delta[i / N_HEADS], 1,
          expected + i * c->head_dim);
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  g_autofree float *after = rig_get_floats (cache);
  g_assert_cmpfloat (rig_get_nmse_double (after, expected, (gsize) (width * N_CELLS)), <,
                     get_cache_bound (type));
  for (int cell = 0; cell < N_CELLS; cell += 5)
    g_assert_cmpmem ((guint8 *) cache->data + (gsize) cell * cache->nb[1], cache->nb[1],
                     bytes + (gsize) cell * cache->nb[1], cache->nb[1]);
}

static void
test_shift (gconstpointer data)
{
  static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                      KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                      KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      check_shift (data, *isa, types[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *rope = g_strdup_printf ("/backends/rope/%s", cases[i].name);
      g_autofree char *shift = g_strdup_printf ("/backends/rope-shift/%s", cases[i].name);
      g_test_add_data_func (rope, &cases[i], test_rope);
      g_test_add_data_func (shift, &cases[i], test_shift);
    }
  return g_test_run ();
}
