/* Plans and threads: whatever is shared out, grouped or stopped, the results are those of the
 * nodes done one after the other. */
#include <string.h>

#include "backends/cpu/machine.h"
#include "backends/cpu/pace.h"
#include "rig.h"

enum
{
  WIDTH = 64,
  N_TOKENS = 300,
  N_PLACES = 7,
  N_NODES = 60
};

typedef struct
{
  KvasirTensor *places[N_PLACES]; /* memory that results reuse */
  KvasirTensor *weights[3];
  KvasirTensor *input;   /* of the last product, or NULL */
  KvasirTensor *made[2]; /* the last two products */
} Program;

/* Products of one token are cut into several pieces, and what follows element by element is made
 * with them. */
static int
get_width (int n_tokens)
{
  return n_tokens == 1 ? 512 : WIDTH;
}

static KvasirTensor *
pick (Program *program, GRand *rand, const KvasirTensor *except)
{
  KvasirTensor *place;

  do
    place = program->places[g_rand_int_range (rand, 0, N_PLACES)];
  while (place == except);
  return place;
}

static void
add_random_node (Program *program, Rig *rig, GRand *rand)
{
  static const KvasirOp ops[] = { KVASIR_OP_ADD,      KVASIR_OP_MUL,     KVASIR_OP_SCALE,
                                  KVASIR_OP_RMS_NORM, KVASIR_OP_MUL_MAT, KVASIR_OP_MUL_MAT,
                                  KVASIR_OP_MUL_MAT,  KVASIR_OP_MUL_MAT, KVASIR_OP_GLU,
                                  KVASIR_OP_UNARY };
  KvasirOp op = ops[g_rand_int_range (rand, 0, G_N_ELEMENTS (ops))];
  KvasirTensor *place = pick (program, rand, NULL);
  KvasirTensor *node = rig_view_node (rig, op, place);

  node->src[0] = pick (program, rand, NULL);
  node->src[1] = op == KVASIR_OP_ADD || op == KVASIR_OP_MUL ? pick (program, rand, NULL) : NULL;
  if (op == KVASIR_OP_GLU || op == KVASIR_OP_UNARY)
    {
      node->src[0] = program->made[0] ? program->made[0] : node->src[0];
      node->src[1] = op == KVASIR_OP_UNARY ? NULL : pick (program, rand, NULL);
      if (op == KVASIR_OP_GLU && program->made[1] != NULL && g_rand_boolean (rand))
        node->src[1] = program->made[1];
      program->input = g_rand_boolean (rand) ? node : NULL;
      return;
    }
  node->params.scale.scale = 0.5f;
  if (op == KVASIR_OP_RMS_NORM)
    node->params.norm.eps = 1e-5f;
  if (op == KVASIR_OP_MUL_MAT)
    {
      /* A product can't be done in place. Many have the input of the last one. */
      if (program->input == NULL || program->input->data == place->data || g_rand_boolean (rand))
        program->input = pick (program, rand, place);
      node->src[0] = program->weights[g_rand_int_range (rand, 0, 3)];
      node->src[1] = program->input;
      program->made[1] = program->made[0];
      program->made[0] = node;
    }
}

static Rig *
make_program (guint32 seed, int n_threads, int n_tokens)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  Rig *rig = rig_new (KVASIR_CPU_ISA_AUTO, n_threads);
  const int width = get_width (n_tokens);
  Program program = { 0 };

  for (int i = 0; i < N_PLACES; i++)
    program.places[i] = rig_random (rig, rand, KVASIR_TYPE_F32, width, n_tokens, 1);
  program.weights[0] = rig_random (rig, rand, KVASIR_TYPE_Q8_0, width, width, 1);
  program.weights[1] = rig_random (rig, rand, KVASIR_TYPE_Q4_1, width, width, 1);
  program.weights[2] = rig_random (rig, rand, KVASIR_TYPE_F32, width, width, 1);
  for (int i = 0; i < N_NODES; i++)
    add_random_node (&program, rig, rand);
  return rig;
}

/* Computes all nodes in segments of random lengths up to @max_segment. */
static void
compute_in_segments (Rig *rig, GRand *rand, int n_tokens, int max_segment)
{
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirTensor *const *nodes = (KvasirTensor *const *) rig->nodes->pdata;
  KvasirStep step = { .n_tokens = n_tokens };
  KvasirPlan *plan = vtable->plan_new (rig->device, nodes, N_NODES);
  int n;

  for (int first = 0; first < N_NODES; first += n)
    {
      n = g_rand_int_range (rand, 1, max_segment + 1);
      n = MIN (n, N_NODES - first);
      g_assert_cmpint (vtable->plan_compute (plan, (gsize) first, (gsize) n, &step), ==,
                       KVASIR_STATUS_OK);
    }
  vtable->plan_free (plan);
}

static void
test_random_programs (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  static const int n_tokens[] = { 1, 6, N_TOKENS };

  for (guint32 seed = 0; seed < 60; seed++)
    {
      int n = n_tokens[seed % G_N_ELEMENTS (n_tokens)];
      g_autoptr (Rig) one = make_program (seed, 1, n);
      g_autoptr (Rig) two = make_program (seed, 2, n);
      g_autoptr (Rig) cut = make_program (seed, 2, n);

      compute_in_segments (one, rand, n, 1);
      compute_in_segments (two, rand, n, N_NODES * 100);
      compute_in_segments (cut, rand, n, 6);
      for (guint i = 0; i < N_PLACES; i++)
        {
          const KvasirTensor *a = one->tensors->pdata[i];
          const KvasirTensor *b = two->tensors->pdata[i], *c = cut->tensors->pdata[i];
          g_assert_cmpmem (a->data, a->nb[2], b->data, b->nb[2]);
          g_assert_cmpmem (a->data, a->nb[2], c->data, c->nb[2]);
        }
    }
}

typedef struct
{
  KvasirDevice *device;
  gint quit; /* atomic */
} Borrower;

static gpointer
borrow (gpointer data)
{
  Borrower *borrower = data;

  for (int n = 0; !g_atomic_int_get (&borrower->quit); n = (n + 1) % 3)
    {
      borrower->device->vtable->lend_threads (borrower->device, n);
      g_usleep (20);
    }
  borrower->device->vtable->lend_threads (borrower->device, 0);
  return NULL;
}

/* Threads that leave in the middle of a step, and come back, leave no piece undone. */
static void
test_lent_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint32 seed = 0; seed < 40; seed++)
    {
      g_autoptr (Rig) alone = make_program (seed, 1, N_TOKENS);
      g_autoptr (Rig) lent = make_program (seed, 4, N_TOKENS);
      Borrower borrower = { .device = lent->device };
      GThread *thread = g_thread_new ("borrower", borrow, &borrower);

      for (int round = 0; round < 4; round++)
        {
          compute_in_segments (alone, rand, N_TOKENS, 1);
          compute_in_segments (lent, rand, N_TOKENS, N_NODES * 100);
        }
      g_atomic_int_set (&borrower.quit, TRUE);
      g_thread_join (thread);
      for (guint i = 0; i < N_PLACES; i++)
        {
          const KvasirTensor *a = alone->tensors->pdata[i], *b = lent->tensors->pdata[i];
          g_assert_cmpmem (a->data, a->nb[2], b->data, b->nb[2]);
        }
    }
}

/* Extents that are smaller than those planned for touch nothing behind them. */
static void
test_smaller_extents (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 2);
  KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_Q8_0, 64, 32, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 64, 40, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 32, 40, 1 }, w, x, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirPlan *plan = vtable->plan_new (rig->device, &y, 1);

  for (int n = 0; n <= 40; n += 5)
    {
      KvasirStep step = { .n_tokens = n };
      memset (y->data, 0, y->nb[2]);
      x->ne[1] = y->ne[1] = n;
      g_assert_cmpint (vtable->plan_compute (plan, 0, 1, &step), ==, KVASIR_STATUS_OK);
      for (int t = 0; t < 40; t++)
        {
          const float *row = (const float *) y->data + t * 32;
          g_assert_true (t < n ? row[0] != 0 : row[0] == 0 && row[31] == 0);
        }
    }
  vtable->plan_free (plan);
}

/* Two products share the rounding of their input inside a segment; between segments the input may
 * have changed. Then the rounding comes before the second product, even where that could begin
 * together with one that it does not depend on. */
static void
test_input_changes_between_segments (void)
{
  enum
  {
    N = 100
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 2);
  KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_Q8_0, 64, 64, 1);
  KvasirTensor *other_w = rig_random (rig, rand, KVASIR_TYPE_F32, 64, 64, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 64, N, 1);
  KvasirTensor *other_x = rig_random (rig, rand, KVASIR_TYPE_F32, 64, N, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 64, N, 1 }, w, x, NULL);
  rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 64, N, 1 }, other_w, other_x, NULL);
  KvasirTensor *z = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 64, N, 1 }, w, x, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirPlan *plan = vtable->plan_new (rig->device, (KvasirTensor *const *) rig->nodes->pdata, 3);
  KvasirStep step = { .n_tokens = N };

  g_assert_cmpint (vtable->plan_compute (plan, 0, 1, &step), ==, KVASIR_STATUS_OK);
  for (int i = 0; i < 64 * N; i++)
    ((float *) x->data)[i] *= 2;
  g_assert_cmpint (vtable->plan_compute (plan, 1, 2, &step), ==, KVASIR_STATUS_OK);
  for (int i = 0; i < 64 * N; i++)
    g_assert_cmpfloat (((float *) z->data)[i], ==, 2 * ((float *) y->data)[i]);
  vtable->plan_free (plan);
}

static void
test_bytes_without_memory (void)
{
  g_autoptr (Rig) rig = make_program (3, 2, N_TOKENS);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirTensor *const *nodes = (KvasirTensor *const *) rig->nodes->pdata;
  gsize placed = vtable->plan_get_bytes (rig->device, nodes, N_NODES);

  for (guint i = 0; i < rig->tensors->len; i++)
    ((KvasirTensor *) rig->tensors->pdata[i])->data = NULL;
  g_assert_cmpuint (vtable->plan_get_bytes (rig->device, nodes, N_NODES), ==, placed);
  g_assert_cmpuint (placed, >, 0);
}

static gpointer
abort_soon (gpointer data)
{
  g_usleep (5000);
  __atomic_store_n ((int *) data, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void
test_abort (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_SCALAR, 2);
  KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_F32, 512, 512, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 512, 64, 1);

  for (int i = 0; i < 200; i++)
    x = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 512, 64, 1 }, w, x, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirPlan *plan = vtable->plan_new (rig->device, (KvasirTensor *const *) rig->nodes->pdata, 200);
  int flag = 0;
  KvasirStep step = { .n_tokens = 64, .abort_flag = &flag };
  g_autoptr (GThread) thread = g_thread_new ("abort", abort_soon, &flag);

  /* 200 products of 34 million operations each take seconds; the last one must not have begun. */
  g_assert_cmpint (vtable->plan_compute (plan, 0, 200, &step), ==, KVASIR_STATUS_ABORTED);
  g_thread_join (g_steal_pointer (&thread));
  for (gsize i = 0; i < x->nb[2] / sizeof (float); i++)
    g_assert_cmpfloat (((float *) x->data)[i], ==, 0);
  /* The plan is whole: with the flag still up nothing happens, without it all is computed. */
  g_assert_cmpint (vtable->plan_compute (plan, 0, 2, &step), ==, KVASIR_STATUS_ABORTED);
  flag = 0;
  g_assert_cmpint (vtable->plan_compute (plan, 0, 2, &step), ==, KVASIR_STATUS_OK);
  vtable->plan_free (plan);
}

static KvasirDeviceCounters
get_counters (const Rig *rig)
{
  KvasirDeviceCounters counters;

  rig->device->vtable->get_counters (rig->device, &counters);
  return counters;
}

/* Waits until the counters stand still. */
static KvasirDeviceCounters
settle (const Rig *rig)
{
  KvasirDeviceCounters before, now = get_counters (rig);

  for (int i = 0; i < 500; i++)
    {
      before = now;
      g_usleep (20000);
      now = get_counters (rig);
      if (memcmp (&before, &now, sizeof now) == 0)
        return now;
    }
  g_test_fail_printf ("a worker still waits awake after ten seconds");
  return now;
}

/* The counters behind a step in which the worker took part: where the machine is busy with other
 * things it is left out for some seconds. */
static KvasirDeviceCounters
compute_together (Rig *rig, GRand *rand, const KvasirDeviceCounters *before)
{
  KvasirDeviceCounters now = *before;

  for (int i = 0; i < 500 && now.n_spins == before->n_spins; i++)
    {
      compute_in_segments (rig, rand, N_TOKENS, N_NODES);
      now = settle (rig);
    }
  return now;
}

/* The one worker goes to sleep after a step, and asleep it neither spins nor yields. */
static void
test_pool_parks (void)
{
  g_autoptr (Rig) rig = make_program (5, 2, N_TOKENS);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  if (kvasir_machine_get_n_cpus () < 2)
    {
      g_test_skip ("only one processor");
      return;
    }
  for (int round = 0; round < 3; round++)
    {
      KvasirDeviceCounters before = settle (rig);
      KvasirDeviceCounters after = compute_together (rig, rand, &before);
      g_assert_cmpuint (after.n_parks, >, before.n_parks);
      g_assert_cmpuint (after.n_spins, >, before.n_spins);
    }
}

static void
test_thread_limits (void)
{
  g_autoptr (Rig) rig = make_program (6, 1000, N_TOKENS);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  static const int settings[][2] = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 1000, 1000 }, { 0, -3 } };

  for (gsize i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      rig->device->vtable->set_n_threads (rig->device, settings[i][0], settings[i][1]);
      compute_in_segments (rig, rand, N_TOKENS, N_NODES);
      compute_in_segments (rig, rand, 1, N_NODES);
    }
}

enum
{
  MS = 1000000
};

/* Steps of 10 ms in which all threads but one waited @wait_ms; returns the threads of the next one.
 */
static int
run_steps (KvasirPace *pace, int n, int n_wanted, int wait_ms, gint64 *now)
{
  for (int i = 0; i < n; i++)
    {
      int n_threads = kvasir_pace_begin (pace, n_wanted, *now);
      *now += 10 * MS;
      kvasir_pace_end (pace, n_threads, 10 * MS, (n_threads - 1) * wait_ms * MS, *now);
    }
  return kvasir_pace_begin (pace, n_wanted, *now);
}

static void
test_pace (void)
{
  KvasirPace pace = { 0 };
  gint64 now = 0;

  g_assert_cmpint (run_steps (&pace, 100, 2, 2, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 3, 2, 5, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 1, 2, 5, &now), ==, 1);
  /* Soon the thread is tried again, and left out three times as long after two bad steps. */
  for (int pause = 6; pause < 400; pause *= 3)
    {
      g_assert_cmpint (run_steps (&pace, pause - 1, 2, 5, &now), ==, 1);
      g_assert_cmpint (run_steps (&pace, 1, 2, 5, &now), ==, 2);
      g_assert_cmpint (run_steps (&pace, 2, 2, 5, &now), ==, 1);
    }
  /* Never longer than four seconds. A trial that passes by chance changes nothing. */
  g_assert_cmpint (run_steps (&pace, 399, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 3, 2, 0, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 4, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 399, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 1, 2, 5, &now), ==, 2);
  /* When the other program has gone, the thread stays, and all is forgiven after a while. */
  g_assert_cmpint (run_steps (&pace, 1002, 2, 0, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 4, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 6, 2, 5, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 1002, 2, 0, &now), ==, 2);
  /* Turns with a wait among turns without: what counts is their part of the time. */
  for (int i = 0; i < 40; i++)
    {
      run_steps (&pace, 1, 2, 5, &now);
      run_steps (&pace, 1, 2, 0, &now);
    }
  g_assert_cmpint (run_steps (&pace, 1, 2, 0, &now), ==, 2);
  for (int i = 0; i < 20; i++)
    {
      run_steps (&pace, 1, 2, 8, &now);
      run_steps (&pace, 1, 2, 0, &now);
    }
  g_assert_cmpint (run_steps (&pace, 1, 2, 0, &now), ==, 1);
  /* Nor does one where the pause is shorter than its most: 60, 180, and behind the trial 540 ms. */
  pace = (KvasirPace){ 0 };
  g_assert_cmpint (run_steps (&pace, 4, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 6, 2, 5, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 2, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 18, 2, 5, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 2, 2, 0, &now), ==, 2);
  g_assert_cmpint (run_steps (&pace, 4, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 53, 2, 5, &now), ==, 1);
  g_assert_cmpint (run_steps (&pace, 1, 2, 5, &now), ==, 2);
  /* One thread is always left, whatever was left out before. */
  pace = (KvasirPace){ 0 };
  g_assert_cmpint (run_steps (&pace, 12, 8, 9, &now), ==, 5);
  g_assert_cmpint (kvasir_pace_begin (&pace, 2, now), ==, 1);
  g_assert_cmpint (kvasir_pace_begin (&pace, 1, now), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/plan/random-programs-equal-node-by-node", test_random_programs);
  g_test_add_func ("/backends/plan/lent-threads-leave-nothing-undone", test_lent_threads);
  g_test_add_func ("/backends/plan/smaller-extents-touch-nothing-behind", test_smaller_extents);
  g_test_add_func ("/backends/plan/input-may-change-between-segments",
                   test_input_changes_between_segments);
  g_test_add_func ("/backends/plan/bytes-need-no-memory", test_bytes_without_memory);
  g_test_add_func ("/backends/plan/abort-stops-between-phases", test_abort);
  g_test_add_func ("/backends/pool/idle-threads-park", test_pool_parks);
  g_test_add_func ("/backends/pool/slow-threads-are-left-out-for-a-while", test_pace);
  g_test_add_func ("/backends/pool/thread-numbers-are-clamped", test_thread_limits);
  return g_test_run ();
}
