/* Threads of a run, and one that visits it: every piece is done once, whoever comes and goes. */
#include <stdatomic.h>

#include "backends/cpu/isa.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/plan-private.h"
#include "rig.h"

enum
{
  MAX_THREADS = 4,
  N_PHASES = 300,
  N_SHORT = 40,
  N_PIECES = 12,
  PIECE_NS = 4000
};

typedef struct
{
  KvasirPool *pool;
  int n_kept;  /* threads of the run */
  int visitor; /* or 0 */
  int n_phases;
  int phase;
  atomic_int next;
  atomic_int n_done[N_PHASES][N_PIECES];
  atomic_int n_calls[MAX_THREADS];
  atomic_int n_strangers;
} Work;

static void
do_piece (Work *work, int phase, int piece)
{
  const gint64 end = kvasir_pool_get_now_ns () + PIECE_NS;

  while (kvasir_pool_get_now_ns () < end)
    ;
  atomic_fetch_add (&work->n_done[phase][piece], 1);
}

static void
enter_phase (void *data)
{
  Work *work = data;

  work->phase++;
  atomic_store (&work->next, 0);
}

static bool
be_idle (void *data)
{
  (void) data;
  return false;
}

static bool
has_to_leave (const Work *work, int thread)
{
  return thread > 0 && thread == work->visitor && kvasir_pool_is_turn_over (work->pool);
}

static void
run_phases (void *data, int thread)
{
  Work *work = data;
  int phase = work->phase;

  atomic_fetch_add (&work->n_calls[thread], 1);
  if (thread >= work->n_kept && thread != work->visitor)
    atomic_fetch_add (&work->n_strangers, 1);
  for (; phase < work->n_phases; phase++)
    {
      while (!has_to_leave (work, thread))
        {
          int piece = atomic_fetch_add (&work->next, 1);
          if (piece >= N_PIECES)
            break;
          do_piece (work, phase, piece);
        }
      if (has_to_leave (work, thread) && kvasir_pool_leave (work->pool))
        return;
      kvasir_pool_meet (work->pool, enter_phase, be_idle, work);
    }
}

/* Returns how often the visitor came. */
static int
run_work (Work *work, int n_phases, int n_kept, int visitor)
{
  work->n_phases = n_phases;
  work->n_kept = n_kept;
  work->visitor = visitor;
  work->phase = 0;
  work->next = 0;
  for (int i = 0; i < MAX_THREADS; i++)
    work->n_calls[i] = 0;
  for (int i = 0; i < N_PHASES * N_PIECES; i++)
    work->n_done[i / N_PIECES][i % N_PIECES] = 0;
  kvasir_pool_invite (work->pool, visitor);
  kvasir_pool_run (work->pool, n_kept, run_phases, work);
  for (int i = 0; i < n_phases * N_PIECES; i++)
    g_assert_cmpint (work->n_done[i / N_PIECES][i % N_PIECES], ==, 1);
  for (int i = 0; i < n_kept; i++)
    g_assert_cmpint (work->n_calls[i], ==, 1);
  g_assert_cmpint (work->n_strangers, ==, 0);
  return visitor > 0 ? work->n_calls[visitor] : 0;
}

static Work *
make_work (void)
{
  Work *work = g_new0 (Work, 1);

  work->pool = kvasir_pool_new (MAX_THREADS);
  g_assert_cmpint (kvasir_pool_reserve (work->pool, MAX_THREADS), ==, MAX_THREADS);
  return work;
}

static void
free_work (Work *work)
{
  kvasir_pool_free (work->pool);
  g_free (work);
}

/* A run of 14 ms has room for more than one turn of half a millisecond. Where the machine is busy
 * with other things, it takes some runs. */
static void
test_visitor_comes_again (void)
{
  Work *work = make_work ();
  int n_visits = 0;

  if (kvasir_machine_get_n_cpus () < 2)
    {
      g_test_skip ("only one processor");
      free_work (work);
      return;
    }
  for (int i = 0; i < 200 && n_visits < 3; i++)
    n_visits = run_work (work, N_PHASES, 1, 1);
  g_assert_cmpint (n_visits, >=, 3);
  free_work (work);
}

/* Who visits changes, and a visitor becomes one of the run's own threads, which are there once. */
static void
test_visitors_change (void)
{
  static const struct
  {
    int n_kept, visitor;
  } turns[] = { { 1, 1 }, { 2, 0 }, { 1, 1 }, { 1, 1 }, { 3, 3 },
                { 2, 2 }, { 3, 3 }, { 4, 0 }, { 1, 0 } };
  Work *work = make_work ();

  for (gsize i = 0; i < 5 * G_N_ELEMENTS (turns); i++)
    run_work (work, N_SHORT, turns[i % G_N_ELEMENTS (turns)].n_kept,
              turns[i % G_N_ELEMENTS (turns)].visitor);
  free_work (work);
}

static void
come_late (void *data, int thread)
{
  Work *work = data;

  atomic_fetch_add (&work->n_calls[thread], 1);
  if (thread == 0)
    g_usleep (10000);
}

/* At most once in each turn, and ten milliseconds are about ten of them. */
static void
test_run_is_over (void)
{
  Work *work = make_work ();

  kvasir_pool_invite (work->pool, 1);
  for (int i = 0; i < 5; i++)
    {
      work->n_calls[1] = 0;
      kvasir_pool_run (work->pool, 1, come_late, work);
      g_assert_cmpint (work->n_calls[1], <=, 30);
    }
  free_work (work);
}

/* ---- a plan whose second thread is left out */

enum
{
  WIDTH = 512,
  N_NODES = 40
};

static void
add_nodes (Rig *rig, GRand *rand)
{
  KvasirTensor *weights = rig_random (rig, rand, KVASIR_TYPE_Q4_1, WIDTH, WIDTH, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, WIDTH, 1, 1);

  for (int i = 0; i < N_NODES; i++)
    {
      KvasirOp op = i % 2 == 0 ? KVASIR_OP_MUL_MAT : KVASIR_OP_RMS_NORM;
      x = rig_node (rig, op, (gint64[]){ WIDTH, 1, 1 }, i % 2 == 0 ? weights : x,
                    i % 2 == 0 ? x : NULL, NULL);
      x->params.norm.eps = 1e-5f;
    }
}

/* Results as one thread makes them. */
static void
test_visited_plan (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirCpuSetup setup = {
    .kernels = kvasir_cpu_isa_get_kernels (KVASIR_CPU_ISA_AUTO),
    .pool = kvasir_pool_new (2),
    .max_threads = 2,
    .n_decode = 2,
    .n_prefill = 1,
    .decode_pace = { .n_left_out = 1, .retry_at = G_MAXINT64 },
  };
  const KvasirStep step = { .n_tokens = 1 };
  KvasirTensor *const *nodes;
  const KvasirTensor *last;
  KvasirPlan *plan;

  g_assert_cmpint (kvasir_pool_reserve (setup.pool, 2), ==, 2);
  add_nodes (rig, rand);
  nodes = (KvasirTensor *const *) rig->nodes->pdata;
  last = nodes[N_NODES - 1];
  plan = kvasir_cpu_plan_new (&setup, nodes, N_NODES);
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  g_autofree float *wanted = g_memdup2 (last->data, last->nb[1]);
  for (int i = 0; i < 300; i++)
    {
      memset (last->data, 0, last->nb[1]);
      /* Whoever borrows a processor sends the visitor away. */
      setup.n_lent = i % 5 == 4 ? 1 : 0;
      g_assert_cmpint (kvasir_cpu_plan_compute (plan, 0, N_NODES, &step), ==, KVASIR_STATUS_OK);
      g_assert_cmpmem (last->data, last->nb[1], wanted, last->nb[1]);
    }
  kvasir_cpu_plan_free (plan);
  kvasir_pool_free (setup.pool);
}

/* A feed-forward block's gate, up, activation and the rounding for the next product are one entry's
 * chain in a step of one token, and four entries in a step of two. */
static void
test_chain_forms (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirCpuSetup setup = {
    .kernels = kvasir_cpu_isa_get_kernels (KVASIR_CPU_ISA_AUTO),
    .pool = kvasir_pool_new (1),
    .max_threads = 1,
    .n_decode = 1,
    .n_prefill = 1,
  };
  const gint64 wide[] = { WIDTH, 2, 1 };
  KvasirTensor *weights = rig_random (rig, rand, KVASIR_TYPE_Q4_1, WIDTH, WIDTH, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, WIDTH, 2, 1);
  KvasirTensor *gate = rig_node (rig, KVASIR_OP_MUL_MAT, wide, weights, x, NULL);
  KvasirTensor *up = rig_node (rig, KVASIR_OP_MUL_MAT, wide, weights, x, NULL);
  KvasirTensor *both = rig_node (rig, KVASIR_OP_GLU, wide, gate, up, NULL);
  KvasirPlan *plan;

  rig_node (rig, KVASIR_OP_MUL_MAT, wide, weights, both, NULL);
  plan = kvasir_cpu_plan_new (&setup, (KvasirTensor *const *) rig->nodes->pdata, 4);
  for (int n = 2; n > 0; n--)
    {
      const KvasirStep step = { .n_tokens = n };
      int n_chained = 0;
      for (guint i = 0; i < rig->nodes->len; i++)
        ((KvasirTensor *) rig->nodes->pdata[i])->ne[1] = n;
      x->ne[1] = n;
      g_assert_cmpint (kvasir_cpu_plan_compute (plan, 0, 4, &step), ==, KVASIR_STATUS_OK);
      for (int e = 0; e < plan->n_entries; e++)
        n_chained += plan->entries[e].chain >= 0;
      g_assert_cmpint (n_chained, ==, n == 1 ? 3 : 0);
    }
  kvasir_cpu_plan_free (plan);
  kvasir_pool_free (setup.pool);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/pool/visitor-comes-again", test_visitor_comes_again);
  g_test_add_func ("/backends/pool/visitors-change", test_visitors_change);
  g_test_add_func ("/backends/pool/no-visits-when-the-run-is-over", test_run_is_over);
  g_test_add_func ("/backends/plan/chains-form", test_chain_forms);
  g_test_add_func ("/backends/plan/visitors-change-no-results", test_visited_plan);
  return g_test_run ();
}
