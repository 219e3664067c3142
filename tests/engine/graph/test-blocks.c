/* Mixtures of experts against their formula in double, with everything that a block may have. */
#include <math.h>

#include "backends/cpu/cpu.h"
#include "engine/graph/blocks.h"
#include "engine/graph/graph-plan.h"

#define N_EMBD 6
#define N_FF 5
#define N_EXPERTS 4
#define N_USED 2
#define N_TOKENS 7

typedef struct
{
  const char *name;
  KvasirGating gating;
  KvasirUnary kind;
  gboolean has_biases;
  gboolean has_choice;
  gboolean has_scales;
  gboolean sees_other; /* the router looks at something of its own */
  gboolean normalised;
  gboolean weighs_input;
  gboolean has_no_gate;
  float scale;
} Case;

static const Case cases[] = {
  { "softmax-of-all", KVASIR_GATING_SOFTMAX, KVASIR_UNARY_SILU },
  { "softmax-normalised", KVASIR_GATING_SOFTMAX, KVASIR_UNARY_SILU, .normalised = TRUE },
  { "softmax-of-chosen", KVASIR_GATING_SOFTMAX_CHOSEN, KVASIR_GLU_OAI, .has_biases = TRUE },
  { "scales-and-own-router-input", KVASIR_GATING_SOFTMAX, KVASIR_UNARY_GELU, .has_scales = TRUE,
    .sees_other = TRUE, .normalised = TRUE },
  { "sigmoid-with-choice", KVASIR_GATING_SIGMOID, KVASIR_UNARY_SILU, .has_choice = TRUE,
    .normalised = TRUE, .scale = 1.5f },
  { "weighs-input", KVASIR_GATING_SIGMOID, KVASIR_UNARY_SILU, .weighs_input = TRUE },
  { "scales-and-weighs-input", KVASIR_GATING_SIGMOID, KVASIR_UNARY_SILU, .has_scales = TRUE,
    .weighs_input = TRUE },
  { "without-gate", KVASIR_GATING_SIGMOID, KVASIR_UNARY_RELU_SQR, .has_no_gate = TRUE },
};

typedef struct
{
  KvasirGraph *graph; /* until the plan takes it */
  KvasirTensor *x, *seen, *out;
  KvasirMoeBlock block;
} Mixture;

/* [ne0, ne1, n] */
static KvasirTensor *
add_stack (KvasirGraph *g, gint64 ne0, gint64 ne1, gint64 n)
{
  return kvasir_graph_split (
      g, kvasir_graph_input (g, "stack", KVASIR_TYPE_F32, ne0 * ne1, n, KVASIR_DYN_NONE), ne0);
}

static KvasirTensor *
add_rows (KvasirGraph *g, gint64 ne0, gint64 n)
{
  return kvasir_graph_input (g, "rows", KVASIR_TYPE_F32, ne0, n, KVASIR_DYN_NONE);
}

static void
add_biases (KvasirGraph *g, KvasirMoeBlock *block)
{
  block->router_bias = add_rows (g, N_EXPERTS, 0);
  block->gate_bias = add_rows (g, N_FF, N_EXPERTS);
  block->up_bias = add_rows (g, N_FF, N_EXPERTS);
  block->down_bias = add_rows (g, N_EMBD, N_EXPERTS);
}

static void
add_scales (KvasirGraph *g, KvasirMoeBlock *block)
{
  block->gate->scale = add_rows (g, N_EXPERTS, 0);
  block->up->scale = add_rows (g, N_EXPERTS, 0);
  block->down->scale = add_rows (g, N_EXPERTS, 0);
}

static Mixture
make_mixture (const Case *c)
{
  Mixture m = { .graph = kvasir_graph_new (),
                .block = { .kind = c->kind,
                           .gating = c->gating,
                           .n_used = N_USED,
                           .normalised = c->normalised,
                           .scale = c->scale,
                           .weighs_input = c->weighs_input } };
  KvasirGraph *g = m.graph;

  m.x = kvasir_graph_input (g, "x", KVASIR_TYPE_F32, N_EMBD, N_TOKENS, KVASIR_DYN_TOKENS);
  m.seen = kvasir_graph_input (g, "seen", KVASIR_TYPE_F32, N_EMBD, N_TOKENS, KVASIR_DYN_TOKENS);
  m.block.router = add_rows (g, N_EMBD, N_EXPERTS);
  if (!c->has_no_gate)
    m.block.gate = add_stack (g, N_EMBD, N_FF, N_EXPERTS);
  m.block.up = add_stack (g, N_EMBD, N_FF, N_EXPERTS);
  m.block.down = add_stack (g, N_FF, N_EMBD, N_EXPERTS);
  if (c->has_biases)
    add_biases (g, &m.block);
  if (c->has_choice)
    m.block.choice_bias = add_rows (g, N_EXPERTS, 0);
  if (c->has_scales)
    add_scales (g, &m.block);
  m.out = kvasir_block_moe (g, &m.block, m.x, c->sees_other ? m.seen : NULL);
  return m;
}

static void
fill (KvasirGraph *graph)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (graph, &n);

  for (guint i = 0; i < n; i++)
    if (tensors[i]->op == KVASIR_OP_NONE)
      for (gint64 j = 0; j < tensors[i]->ne[0] * tensors[i]->ne[1]; j++)
        ((float *) tensors[i]->data)[j] = (float) g_rand_double_range (rand, -1.5, 1.5);
}

/* Element i of @t, 0 where there is no tensor. */
static double
get (const KvasirTensor *t, gint64 i)
{
  return t != NULL ? ((const float *) t->data)[i] : 0;
}

/* Row @row of @w . @x with the scale of the row's matrix + its bias */
static double
multiply (
    const KvasirTensor *w, gint64 row, const double *x, const KvasirTensor *bias, gint64 bias_at)
{
  double sum = 0;

  for (gint64 i = 0; i < w->ne[0]; i++)
    sum += get (w, row * w->ne[0] + i) * x[i];
  return sum * (w->scale != NULL ? get (w->scale, row / w->ne[1]) : 1) + get (bias, bias_at);
}

static double
activate (KvasirUnary kind, double g, double u)
{
  switch (kind)
    {
    case KVASIR_UNARY_SILU:
      return g / (1 + exp (-g)) * u;
    case KVASIR_UNARY_GELU:
      return 0.5 * g * (1 + tanh (sqrt (2 / G_PI) * (g + 0.044715 * g * g * g))) * u;
    default:
      g = MIN (g, 7);
      return g / (1 + exp (-1.702 * g)) * (CLAMP (u, -7, 7) + 1);
    }
}

static void
run_expert (const KvasirMoeBlock *b, gint64 e, const double *x, double weight, double *y)
{
  double in[N_EMBD], act[N_FF];

  for (gint64 i = 0; i < N_EMBD; i++)
    in[i] = b->weighs_input ? weight * x[i] : x[i];
  for (gint64 f = 0; f < N_FF; f++)
    {
      gint64 row = e * N_FF + f;
      double up = multiply (b->up, row, in, b->up_bias, row);
      if (b->gate != NULL)
        act[f] = activate (b->kind, multiply (b->gate, row, in, b->gate_bias, row), up);
      else
        act[f] = MAX (up, 0) * MAX (up, 0);
    }
  for (gint64 i = 0; i < N_EMBD; i++)
    y[i] += (b->weighs_input ? 1 : weight) *
            multiply (b->down, e * N_EMBD + i, act, b->down_bias, e * N_EMBD + i);
}

/* exp over the sum of those that @count counts */
static void
soften (double *scores, const gboolean *counts)
{
  double sum = 0;

  for (gint i = 0; i < N_EXPERTS; i++)
    sum += counts[i] ? exp (scores[i]) : 0;
  for (gint i = 0; i < N_EXPERTS; i++)
    scores[i] = exp (scores[i]) / sum;
}

static void
choose (const KvasirMoeBlock *b, const double *scores, gboolean *is_chosen)
{
  for (gint n = 0; n < N_USED; n++)
    {
      gint best = -1;
      for (gint e = 0; e < N_EXPERTS; e++)
        if (!is_chosen[e] && (best < 0 || scores[e] + get (b->choice_bias, e) >
                                              scores[best] + get (b->choice_bias, best)))
          best = e;
      is_chosen[best] = TRUE;
    }
}

/* How much of each expert a token takes; 0: not chosen. */
static void
route (const KvasirMoeBlock *b, const double *seen, double *weights)
{
  const gboolean all[N_EXPERTS] = { TRUE, TRUE, TRUE, TRUE };
  gboolean is_chosen[N_EXPERTS] = { FALSE };
  double sum = 0;

  for (gint e = 0; e < N_EXPERTS; e++)
    {
      weights[e] = multiply (b->router, e, seen, b->router_bias, e);
      if (b->gating == KVASIR_GATING_SIGMOID)
        weights[e] = 1 / (1 + exp (-weights[e]));
    }
  if (b->gating == KVASIR_GATING_SOFTMAX)
    soften (weights, all);
  choose (b, weights, is_chosen);
  if (b->gating == KVASIR_GATING_SOFTMAX_CHOSEN)
    soften (weights, is_chosen);
  for (gint e = 0; e < N_EXPERTS; e++)
    sum += is_chosen[e] ? weights[e] : 0;
  for (gint e = 0; e < N_EXPERTS; e++)
    {
      weights[e] *= is_chosen[e] ? 1 : 0;
      weights[e] /= b->normalised ? sum : 1;
      weights[e] *= b->scale != 0 ? b->scale : 1;
    }
}

static void
check (const Case *c, const Mixture *m, const float *out)
{
  for (gint64 t = 0; t < N_TOKENS; t++)
    {
      double x[N_EMBD], seen[N_EMBD], weights[N_EXPERTS], y[N_EMBD] = { 0 };
      for (gint64 i = 0; i < N_EMBD; i++)
        {
          x[i] = get (m->x, t * N_EMBD + i);
          seen[i] = get (c->sees_other ? m->seen : m->x, t * N_EMBD + i);
        }
      route (&m->block, seen, weights);
      for (gint e = 0; e < N_EXPERTS; e++)
        if (weights[e] != 0)
          run_expert (&m->block, e, x, weights[e], y);
      for (gint64 i = 0; i < N_EMBD; i++)
        g_assert_cmpfloat_with_epsilon (out[t * N_EMBD + i], y[i], 1e-5 * (1 + fabs (y[i])));
    }
}

static void
test_moe (gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  const KvasirStep step = { .n_tokens = N_TOKENS, .n_outputs = 1 };
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  Mixture m = make_mixture (data);
  g_autoptr (GError) error = NULL;
  KvasirGraphPlan *plan = kvasir_graph_plan_new (device, m.graph, FALSE, &error);
  float out[N_TOKENS * N_EMBD];

  g_assert_no_error (error);
  fill (m.graph);
  g_assert_cmpint (kvasir_graph_plan_compute_body (plan, &step), ==, KVASIR_STATUS_OK);
  kvasir_graph_plan_read (plan, m.out, out, sizeof out);
  check (data, &m, out);
  kvasir_graph_plan_free (plan);
  device->vtable->free (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/engine/graph/blocks/moe-%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_moe);
    }
  return g_test_run ();
}
