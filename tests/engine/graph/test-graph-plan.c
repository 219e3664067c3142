/* A plan computes what its graph says with any extents, measures what it takes, and says what it
 * can't have. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/graph/blocks.h"
#include "engine/graph/graph-plan.h"

#define N_IN 3
#define N_OUT 4
#define N_TOKENS 5

/* The CPU device, with memory that can be told to run out. */
typedef struct
{
  KvasirDevice *device;
  KvasirBufferType *real;
  KvasirBufferType type;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  self->device = kvasir_cpu_device_new (&options);
  self->real = self->device->buffer_type;
  self->type = *self->real;
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  self->device->buffer_type = self->real;
  self->device->vtable->free (self->device);
}

typedef struct
{
  KvasirGraph *graph;
  KvasirTensor *x, *ids, *w, *sum, *out;
} Small;

/* out = rows of (x + x) named by ids, times w; the rows and the product are the head. */
static Small
make_small (void)
{
  Small s;
  s.graph = kvasir_graph_new ();
  s.x = kvasir_graph_input (s.graph, "x", KVASIR_TYPE_F32, N_IN, N_TOKENS, KVASIR_DYN_TOKENS);
  s.ids = kvasir_graph_input (s.graph, "ids", KVASIR_TYPE_I32, N_TOKENS, 0, KVASIR_DYN_OUTPUTS);
  s.w = kvasir_graph_input (s.graph, "w", KVASIR_TYPE_F32, N_IN, N_OUT, KVASIR_DYN_NONE);
  s.sum = kvasir_graph_add (s.graph, "sum", s.x, s.x);
  kvasir_graph_begin_head (s.graph);
  s.out = kvasir_graph_get_rows (s.graph, "rows", s.sum, s.ids);
  s.out = kvasir_graph_mul_mat (s.graph, "out", s.w, s.out, NULL);
  return s;
}

static float
get_x (guint token, guint i)
{
  return (float) (token * 10 + i);
}

static void
fill (const Small *s)
{
  float *x = s->x->data, *w = s->w->data;
  for (guint t = 0; t < N_TOKENS; t++)
    for (guint i = 0; i < N_IN; i++)
      x[t * N_IN + i] = get_x (t, i);
  for (guint o = 0; o < N_OUT; o++)
    for (guint i = 0; i < N_IN; i++)
      w[o * N_IN + i] = (float) (o + 1);
}

static void
check_rows (KvasirGraphPlan *plan, const Small *s, guint n)
{
  float out[N_OUT * N_TOKENS];
  const gint32 *ids = s->ids->data;

  kvasir_graph_plan_read (plan, s->out, out, n * N_OUT * sizeof (float));
  for (guint r = 0; r < n; r++)
    for (guint o = 0; o < N_OUT; o++)
      {
        float sum = 0;
        for (guint i = 0; i < N_IN; i++)
          sum += 2 * get_x ((guint) ids[r], i) * (float) (o + 1);
        g_assert_cmpfloat_with_epsilon (out[r * N_OUT + o], sum, 1e-3);
      }
}

static void
test_head_runs_again (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  Small s = make_small ();
  g_autoptr (KvasirGraphPlan) plan = kvasir_graph_plan_new (self->device, s.graph, FALSE, &error);
  KvasirStep step = { .n_tokens = N_TOKENS, .n_outputs = 2, .n_kv = { 64 } };
  gint32 *ids;

  g_assert_no_error (error);
  fill (&s);
  ids = s.ids->data;
  g_assert_cmpint (kvasir_graph_plan_compute_body (plan, &step), ==, KVASIR_STATUS_OK);
  ids[0] = 4;
  ids[1] = 0;
  g_assert_cmpint (kvasir_graph_plan_compute_head (plan, &step), ==, KVASIR_STATUS_OK);
  check_rows (plan, &s, 2);
  ids[0] = 3;
  step.n_outputs = 1;
  g_assert_cmpint (kvasir_graph_plan_compute_head (plan, &step), ==, KVASIR_STATUS_OK);
  check_rows (plan, &s, 1);
}

static void
test_extents_are_patched (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  Small s = make_small ();
  g_autoptr (KvasirGraphPlan) plan = kvasir_graph_plan_new (self->device, s.graph, FALSE, &error);
  const gint counts[] = { 1, 5, 2 };

  g_assert_no_error (error);
  fill (&s);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      const KvasirStep step = { .n_tokens = counts[i], .n_outputs = 1, .n_kv = { 64 } };
      gint32 *ids = s.ids->data;
      ids[0] = counts[i] - 1;
      g_assert_cmpint (kvasir_graph_plan_compute_body (plan, &step), ==, KVASIR_STATUS_OK);
      g_assert_cmpint (kvasir_graph_plan_compute_head (plan, &step), ==, KVASIR_STATUS_OK);
      g_assert_cmpint (s.sum->ne[1], ==, counts[i]);
      g_assert_cmpint (s.out->ne[1], ==, 1);
      check_rows (plan, &s, 1);
    }
}

static void
test_measures_what_it_takes (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  Small s = make_small (), t = make_small ();
  g_autoptr (KvasirGraphPlan) real = kvasir_graph_plan_new (self->device, s.graph, FALSE, &error);
  g_autoptr (KvasirGraphPlan) dry = kvasir_graph_plan_new (self->device, t.graph, TRUE, &error);
  KvasirGraphPlanBytes a, b;

  g_assert_no_error (error);
  a = kvasir_graph_plan_get_bytes (real);
  b = kvasir_graph_plan_get_bytes (dry);
  g_assert_cmpuint (a.results, ==, b.results);
  g_assert_cmpuint (a.inputs, ==, b.inputs);
  g_assert_cmpuint (a.program, ==, b.program);
  g_assert_cmpuint (a.results, ==, s.out->buffer->n_bytes);
  g_assert_cmpuint (a.inputs, ==, s.x->buffer->n_bytes);
  g_assert_null (t.out->data);
}

static KvasirBuffer *
alloc_nothing (KvasirBufferType *type, size_t n_bytes)
{
  return NULL;
}

static void
test_no_memory (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  Small s = make_small ();
  g_autoptr (KvasirGraphPlan) plan = NULL;

  self->type.alloc = alloc_nothing;
  self->device->buffer_type = &self->type;
  plan = kvasir_graph_plan_new (self->device, s.graph, FALSE, &error);
  g_assert_null (plan);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "bytes of CPU memory"));
}

static void
test_unsupported (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  KvasirGraph *g = kvasir_graph_new ();
  KvasirTensor *w = kvasir_graph_input (g, "w", KVASIR_TYPE_Q8_K, 256, 4, KVASIR_DYN_NONE);
  KvasirTensor *x = kvasir_graph_input (g, "x", KVASIR_TYPE_F32, 256, 1, KVASIR_DYN_TOKENS);
  g_autoptr (KvasirGraphPlan) plan = NULL;

  kvasir_graph_set_layer (g, 7);
  kvasir_graph_mul_mat (g, "ffn_up", w, x, NULL);
  plan = kvasir_graph_plan_new (self->device, g, TRUE, &error);
  g_assert_null (plan);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "ffn_up-7"));
  g_assert_nonnull (strstr (error->message, "q8_K [256, 4]"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/engine/graph/plan/head-runs-again", Fixture, NULL, set_up, test_head_runs_again,
              tear_down);
  g_test_add ("/engine/graph/plan/extents-are-patched", Fixture, NULL, set_up,
              test_extents_are_patched, tear_down);
  g_test_add ("/engine/graph/plan/measures-what-it-takes", Fixture, NULL, set_up,
              test_measures_what_it_takes, tear_down);
  g_test_add ("/engine/graph/plan/no-memory", Fixture, NULL, set_up, test_no_memory, tear_down);
  g_test_add ("/engine/graph/plan/unsupported-type", Fixture, NULL, set_up, test_unsupported,
              tear_down);
  return g_test_run ();
}
