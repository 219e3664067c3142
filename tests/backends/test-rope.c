/* Rotary embedding against the formulas in double. */
#include <string.h>

#include "backends/cpu/plan-private.h"
#include "rig.h"
#include "turns.h"

enum
{
  N_HEADS = 5
};

typedef struct
{
  const TurnCase *c;
  int n_tokens, n_planes;
  KvasirTensor *x, *positions, *factors;
} Problem;

static void
make_problem (Problem *p, Rig *rig, GRand *rand, const TurnCase *c, int n_tokens)
{
  const gint32 *s = c->params.sections;

  p->c = c;
  p->n_tokens = n_tokens;
  p->n_planes = s[0] + s[1] + s[2] + s[3] > 0 ? 4 : 1;
  p->x = rig_random (rig, rand, KVASIR_TYPE_F32, c->head_dim, N_HEADS, n_tokens);
  p->positions = rig_tensor (rig, KVASIR_TYPE_I32, p->n_planes * n_tokens, 1, 1);
  for (int i = 0; i < p->n_planes * n_tokens; i++)
    ((gint32 *) p->positions->data)[i] = i == 0 ? 0 : g_rand_int_range (rand, 0, 100000);
  p->factors = NULL;
  if (c->has_factors)
    p->factors = rig_tensor (rig, KVASIR_TYPE_F32, c->params.n_rot / 2, 1, 1);
  for (int i = 0; p->factors != NULL && i < c->params.n_rot / 2; i++)
    ((float *) p->factors->data)[i] = (float) g_rand_double_range (rand, 1, 8);
}

/* Turns @heads, [head_dim, N_HEADS, n_tokens], by the formulas. */
static void
turn_all (const Problem *p, double *heads)
{
  const gint32 *positions = p->positions->data;
  const float *factors = p->factors ? p->factors->data : NULL;

  for (int row = 0; row < N_HEADS * p->n_tokens; row++)
    {
      double at[4];
      for (int i = 0; i < p->n_planes; i++)
        at[i] = positions[i * p->n_tokens + row / N_HEADS];
      turn_head (&p->c->params, factors, at, turn_get_magnitude (&p->c->params),
                 heads + row * p->c->head_dim);
    }
}

static KvasirTensor *
add_rope (Rig *rig, const Problem *p, KvasirTensor *x)
{
  KvasirTensor *y =
      rig_node (rig, KVASIR_OP_ROPE, (gint64[]){ p->c->head_dim, N_HEADS, p->n_tokens }, x,
                p->positions, p->factors);

  y->params.rope = p->c->params;
  return y;
}

static void
check_rope (const TurnCase *c, KvasirCpuIsa isa, int n_tokens)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  gsize n = (gsize) (c->head_dim * N_HEADS * n_tokens);
  g_autofree double *expected = g_new (double, n);
  Problem p;

  make_problem (&p, rig, rand, c, n_tokens);
  KvasirTensor *y = add_rope (rig, &p, p.x);
  /* A second node shares the angles of the first one, a third works in place. */
  KvasirTensor *z = add_rope (rig, &p, y);
  KvasirTensor *twice = rig_view_node (rig, KVASIR_OP_ROPE, z);
  memcpy (twice->src, z->src, sizeof z->src);
  twice->src[0] = z;
  twice->params.rope = c->params;
  g_autofree float *before = rig_get_floats (p.x);
  for (gsize i = 0; i < n; i++)
    expected[i] = before[i];
  g_assert_cmpint (rig_compute (rig, n_tokens, 0), ==, KVASIR_STATUS_OK);
  turn_all (&p, expected);
  g_assert_cmpfloat (rig_get_nmse_double (y->data, expected, n), <, 1e-12);
  turn_all (&p, expected);
  turn_all (&p, expected);
  g_assert_cmpfloat (rig_get_nmse_double (z->data, expected, n), <, 1e-12);
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

#define PLANES(width, ...)                                                                         \
  {                                                                                                \
    .n_rot = width, .neox = 1, .freq_base = 1e6f, .freq_scale = 1, .attn_factor = 1, __VA_ARGS__   \
  }

/* Sections that fill the pairs, that are gone through more than once, and that leave pairs to the
 * fourth plane. */
static const TurnCase planes[] = {
  { "planes", PLANES (16, .sections = { 2, 3, 3, 0 }), FALSE, 16 },
  { "planes-again", PLANES (64, .sections = { 2, 3, 4, 5 }), FALSE, 80 },
  { "planes-partial", PLANES (32, .sections = { 4, 6, 6, 0 }, .offset = 8), TRUE, 64 },
  { "planes-in-turn", PLANES (16, .sections = { 3, 3, 2, 0 }, .interleaved = 1), FALSE, 16 },
  { "planes-in-turn-qwen", PLANES (64, .sections = { 11, 11, 10, 0 }, .interleaved = 1), FALSE,
    256 },
  { "planes-in-turn-uneven", PLANES (128, .sections = { 24, 20, 20, 0 }, .interleaved = 1), FALSE,
    128 },
};

/* The step is shorter than the one that was planned: planes then follow each other closer. */
static void
test_shorter_step (void)
{
  enum
  {
    MOST = 9,
    N = 4
  };
  const TurnCase *c = &planes[0];
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirStep step = { .n_tokens = N };
  gsize n = (gsize) (c->head_dim * N_HEADS * N);
  g_autofree double *expected = g_new (double, n);
  Problem p;

  make_problem (&p, rig, rand, c, MOST);
  KvasirTensor *y = add_rope (rig, &p, p.x);
  KvasirPlan *plan = vtable->plan_new (rig->device, &y, 1);
  p.n_tokens = N;
  p.x->ne[2] = y->ne[2] = N;
  p.positions->ne[0] = 4 * N;
  for (gsize i = 0; i < n; i++)
    expected[i] = ((float *) p.x->data)[i];
  turn_all (&p, expected);
  g_assert_cmpint (vtable->plan_compute (plan, 0, 1, &step), ==, KVASIR_STATUS_OK);
  g_assert_cmpfloat (rig_get_nmse_double (y->data, expected, n), <, 1e-12);
  vtable->plan_free (plan);
}

/* Every layer turns something new by the same angles: they are only computed by the first. */
static void
test_angles_are_shared (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  Problem p;
  int n = 0;

  make_problem (&p, rig, rand, &planes[0], 3);
  KvasirTensor *nodes[3] = { add_rope (rig, &p, p.x) };
  nodes[1] = rig_node (rig, KVASIR_OP_ADD, nodes[0]->ne, nodes[0], p.x, NULL);
  nodes[2] = add_rope (rig, &p, nodes[1]);
  KvasirPlan *plan = rig->device->vtable->plan_new (rig->device, nodes, 3);
  for (int i = 0; i < plan->n_items; i++)
    n += plan->items[i].stage->writes_slot && plan->items[i].same_as < 0;
  g_assert_cmpint (n, ==, 1);
  rig->device->vtable->plan_free (plan);
}

/* Layers that differ in their base or in which part of a head turns, in one plan. */
static void
test_different_turns (void)
{
  TurnCase kinds[4];
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 2);
  KvasirTensor *nodes[G_N_ELEMENTS (kinds)];
  Problem p;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    kinds[i] = (TurnCase){
      "kind", { .n_rot = 32, .freq_base = 1e4f, .freq_scale = 1, .attn_factor = 1 }, FALSE, 96
    };
  kinds[1].params.freq_base = 1e6f;
  kinds[2].params.offset = 64;
  kinds[3].params.neox = 1;
  make_problem (&p, rig, rand, &kinds[0], 70);
  gsize n = (gsize) (p.c->head_dim * N_HEADS * p.n_tokens);
  g_autofree double *expected = g_new (double, n);
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      p.c = &kinds[i];
      nodes[i] = add_rope (rig, &p, p.x);
    }
  g_assert_cmpint (rig_compute (rig, p.n_tokens, 0), ==, KVASIR_STATUS_OK);
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      p.c = &kinds[i];
      for (gsize j = 0; j < n; j++)
        expected[j] = ((float *) p.x->data)[j];
      turn_all (&p, expected);
      g_assert_cmpfloat (rig_get_nmse_double (nodes[i]->data, expected, n), <, 1e-12);
    }
}

static void
test_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  Problem p;

  make_problem (&p, rig, rand, &planes[2], 3);
  KvasirTensor *y = add_rope (rig, &p, p.x);
  g_assert_true (vtable->supports_op (rig->device, y));
  y->params.rope.offset = 33;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->params.rope.offset = -1;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->params.rope.offset = 0;
  y->params.rope.sections[3] = -1;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->params.rope.sections[3] = 0;
  p.positions->ne[0] = 3;
  g_assert_false (vtable->supports_op (rig->device, y));
}

static void
add_test (const TurnCase *c)
{
  g_autofree char *path = g_strdup_printf ("/backends/rope/%s", c->name);

  g_test_add_data_func (path, c, test_rope);
}

int
main (int argc, char **argv)
{
  gsize n;
  const TurnCase *cases = turn_get_cases (&n);

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < n; i++)
    add_test (&cases[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (planes); i++)
    add_test (&planes[i]);
  g_test_add_func ("/backends/rope/angles-are-computed-once", test_angles_are_shared);
  g_test_add_func ("/backends/rope/planes-of-a-shorter-step", test_shorter_step);
  g_test_add_func ("/backends/rope/layers-differ", test_different_turns);
  g_test_add_func ("/backends/rope/impossible-turns-are-refused", test_refused);
  return g_test_run ();
}
