/* Random operations on a model of each kind of memory. Whatever happened, the next row of a
 * sequence is that of a cold run of what it has read: forks, cuts, restored states, refused batches
 * and prompts that were stopped leave no trace.
 *
 * 20 sequences of operations for each model; 1000 with -m slow. */
#include <string.h>

#include "tests/engine/session/runner.h"

#define N_OPERATIONS 14

typedef struct
{
  Runner runner;
  GRand *rand;
  GByteArray *blob;                 /* (owned) (nullable) the last state that was saved */
  gint blob_seq;                    /* -1: the whole */
  GArray *blob_read[RUNNER_N_SEQS]; /* (owned) what the sequences had read then */
} Run;

static gint
pick (Run *self, gint from, gint to)
{
  return g_rand_int_range (self->rand, from, to);
}

static gint
pick_seq (Run *self)
{
  return pick (self, 0, RUNNER_N_SEQS);
}

static void
set_read (Run *self, gint seq, const GArray *tokens)
{
  runner_forget (&self->runner, seq, 0);
  g_array_append_vals (self->runner.read[seq], tokens->data, tokens->len);
}

/* The memory reports what the runner remembers. */
static void
check_ranges (Run *self)
{
  for (gint seq = 0; seq < RUNNER_N_SEQS; seq++)
    g_assert_cmpint (kvasir_memory_seq_pos_max (self->runner.memory, seq) + 1, ==,
                     (gint) runner_get_n_read (&self->runner, seq));
}

static void
read_tokens (Run *self)
{
  gint seq = pick_seq (self);
  guint n = (guint) pick (self, 1, pick (self, 0, 2) == 0 ? 5 : 60);

  if (runner_get_n_read (&self->runner, seq) + n > 450)
    return;
  if (runner_read_some (&self->runner, seq, n, pick (self, 0, 300)) == KVASIR_DECODE_OK)
    runner_compare (&self->runner, seq);
}

/* The row after whatever happened. */
static void
ask (Run *self)
{
  gint seq = pick_seq (self);
  guint n = runner_get_n_read (&self->runner, seq);
  gint32 token = pick (self, 0, 300);

  if (n > 0 && n < 450 && runner_read (&self->runner, seq, &token, 1) == KVASIR_DECODE_OK)
    runner_compare (&self->runner, seq);
}

static void
fork_sequence (Run *self)
{
  gint src = pick_seq (self);
  gint dst = pick_seq (self);

  if (src == dst || !kvasir_memory_seq_rm (self->runner.memory, dst, -1, -1))
    return;
  runner_forget (&self->runner, dst, 0);
  g_assert_true (kvasir_memory_seq_cp (self->runner.memory, src, dst, -1, -1));
  runner_copy (&self->runner, src, dst);
}

static void
cut (Run *self)
{
  gint seq = pick_seq (self);
  guint n = runner_get_n_read (&self->runner, seq);
  guint back = (guint) pick (self, 0, pick (self, 0, 2) == 0 ? 8 : (gint) n + 1);
  guint p0 = n - MIN (n, back);
  guint to = (guint) kvasir_memory_get_rewind (self->runner.memory, seq, (gint32) p0);

  if (kvasir_memory_seq_rm (self->runner.memory, seq, (gint32) p0, -1))
    runner_forget (&self->runner, seq, p0);
  else
    {
      g_assert_cmpuint (to, <, p0);
      g_assert_true (kvasir_memory_seq_rm (self->runner.memory, seq, (gint32) to, -1));
      runner_forget (&self->runner, seq, to);
    }
}

static void
save (Run *self)
{
  kvasir_context_update (self->runner.context);
  g_clear_pointer (&self->blob, g_byte_array_unref);
  self->blob = g_byte_array_new ();
  self->blob_seq = pick (self, -1, RUNNER_N_SEQS);
  g_assert_true (
      kvasir_memory_state_write (self->runner.memory, self->blob_seq, FALSE, self->blob, NULL));
  for (guint s = 0; s < RUNNER_N_SEQS; s++)
    {
      g_array_set_size (self->blob_read[s], 0);
      g_array_append_vals (self->blob_read[s], self->runner.read[s]->data,
                           self->runner.read[s]->len);
    }
}

static void
load (Run *self, gboolean damaged)
{
  gint seq = self->blob_seq < 0 ? -1 : pick_seq (self);
  gsize at;
  gboolean ok;

  if (self->blob == NULL)
    return;
  at = (gsize) pick (self, 0, (gint) self->blob->len);
  self->blob->data[at] ^= damaged ? 16 : 0;
  ok = kvasir_memory_state_read (self->runner.memory, seq, FALSE, self->blob->data, self->blob->len,
                                 NULL);
  self->blob->data[at] ^= damaged ? 16 : 0;
  g_assert_false (ok && damaged);
  if (ok && seq >= 0)
    set_read (self, seq, self->blob_read[self->blob_seq]);
  for (gint s = 0; ok && seq < 0 && s < RUNNER_N_SEQS; s++)
    set_read (self, s, self->blob_read[s]);
}

static guint stop_at, n_calls;
static int stop_flag;
static const KvasirDeviceVtable *real_vtable;

static KvasirStatus
compute_and_stop (KvasirPlan *plan, size_t first, size_t n, const KvasirStep *step)
{
  if (++n_calls == stop_at)
    __atomic_store_n (&stop_flag, 1, __ATOMIC_RELAXED);
  return real_vtable->plan_compute (plan, first, n, step);
}

/* What was read before the stop stays. */
static void
stop (Run *self)
{
  gint seq = pick_seq (self);
  gint32 tokens[48];
  guint n;

  if (runner_get_n_read (&self->runner, seq) > 400)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++)
    tokens[i] = pick (self, 0, 300);
  stop_at = (guint) pick (self, 1, 7);
  n_calls = 0;
  if (runner_read (&self->runner, seq, tokens, G_N_ELEMENTS (tokens)) != KVASIR_DECODE_ABORTED)
    stop_at = 0;
  stop_flag = 0;
  if (stop_at == 0)
    return;
  stop_at = 0;
  n = (guint) kvasir_memory_seq_pos_max (self->runner.memory, seq) + 1;
  g_array_append_vals (self->runner.read[seq], tokens, n - runner_get_n_read (&self->runner, seq));
}

static void
operate (Run *self)
{
  gint kind = pick (self, 0, 16);

  if (kind < 6)
    read_tokens (self);
  else if (kind < 8)
    fork_sequence (self);
  else if (kind < 11)
    cut (self);
  else if (kind == 11)
    save (self);
  else if (kind == 12)
    load (self, FALSE);
  else if (kind == 13)
    load (self, TRUE);
  else if (kind == 14)
    stop (self);
  else if (kvasir_memory_seq_rm (self->runner.memory, kind = pick_seq (self), -1, -1))
    runner_forget (&self->runner, kind, 0);
}

static KvasirContextParams
pick_params (Run *self)
{
  KvasirContextParams params = runner_make_params ();

  params.n_ubatch = (guint) pick (self, 5, 40);
  params.kv_unified = pick (self, 0, 3) > 0;
  params.n_ctx = params.kv_unified ? 512 : 512 * RUNNER_N_SEQS;
  params.flash_attn = pick (self, 0, 3) > 0;
  params.n_rs_seq = (guint) pick (self, 0, 4);
  return params;
}

static void
run_operations (ContextFixture *fixture, guint32 seed)
{
  Run self = { .rand = g_rand_new_with_seed (seed) };
  const KvasirContextParams params = pick_params (&self);

  g_test_message ("seed %u", seed);
  runner_init (&self.runner, fixture->model, &params);
  kvasir_context_set_abort_flag (self.runner.context, &stop_flag);
  for (guint s = 0; s < RUNNER_N_SEQS; s++)
    self.blob_read[s] = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (guint i = 0; i < N_OPERATIONS; i++)
    {
      operate (&self);
      check_ranges (&self);
      if (pick (&self, 0, 2) == 0)
        ask (&self);
    }
  for (guint s = 0; s < RUNNER_N_SEQS; s++)
    g_array_unref (self.blob_read[s]);
  g_clear_pointer (&self.blob, g_byte_array_unref);
  runner_clear (&self.runner);
  g_rand_free (self.rand);
}

static void
test_random (ContextFixture *self, gconstpointer data)
{
  guint n_runs = g_test_slow () ? 1000 : 20;

  real_vtable = self->real_vtable;
  self->vtable.plan_compute = compute_and_stop;
  for (guint32 seed = 0; seed < n_runs; seed++)
    run_operations (self, seed);
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "tiny-llama.gguf",   "tiny-qwen2vl.gguf",
                                        "tiny-gemma3.gguf",  "tiny-mamba2.gguf",
                                        "tiny-lfm2.gguf",    "tiny-granitehybrid.gguf",
                                        "tiny-lfm2-swa.gguf" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/session/random-models/", models[i], NULL);

      g_test_add (path, ContextFixture, models[i], context_fixture_set_up, test_random,
                  context_fixture_tear_down);
    }
  return g_test_run ();
}
