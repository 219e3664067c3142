/* Where the memory goes beyond the implementation that its rules were learnt from, told by what a
 * model computes: a test for each promise, against a cold run. Promises that can be told from the
 * books alone are in tests/engine/memory/test-better.c. */
#include <math.h>
#include <string.h>

#include "tests/engine/session/keys.h"
#include "tests/engine/session/runner.h"

#define N_GREEDY 12

/* ---- cuts */

/* What both halves of a hybrid can take back goes on like a cold run; what one can't take back is
 * refused, and going on is as if nothing had been asked. Tried for every length, after a decode of
 * many tokens and after single ones. */
static void
check_cut (Runner *runner, guint n_single, guint n_cut)
{
  guint n;

  kvasir_memory_clear (runner->memory, FALSE);
  runner_forget (runner, 0, 0);
  g_assert_cmpint (runner_read_some (runner, 0, 30, 1), ==, KVASIR_DECODE_OK);
  g_assert_cmpint (runner_read_some (runner, 0, 6, 2), ==, KVASIR_DECODE_OK);
  for (guint i = 0; i < n_single; i++)
    g_assert_cmpint (runner_read_some (runner, 0, 1, 3 + (gint32) i), ==, KVASIR_DECODE_OK);
  n = runner_get_n_read (runner, 0) - n_cut;
  if (kvasir_memory_seq_rm (runner->memory, 0, (gint32) n, -1))
    runner_forget (runner, 0, n);
  g_assert_cmpint (kvasir_memory_seq_pos_max (runner->memory, 0), ==,
                   (gint32) runner_get_n_read (runner, 0) - 1);
  runner_assert_like_cold (runner, 0, 5);
  runner_assert_like_cold (runner, 0, 6);
}

static void
test_cut_is_exact_or_refused (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  Runner runner;

  runner_init (&runner, self->model, &params);
  for (guint n_cut = 1; n_cut <= 9; n_cut++)
    check_cut (&runner, 0, n_cut);
  for (guint n_cut = 1; n_cut <= 4; n_cut++)
    check_cut (&runner, 3, n_cut);
  check_cut (&runner, 0, 36);
  runner_clear (&runner);
}

/* Where a window has moved on, a cut back is refused; one that the window still covers is exact. */
static void
test_cut_behind_the_window (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  Runner runner;
  gboolean is_refused = FALSE;

  runner_init (&runner, self->model, &params);
  for (guint n = 60; n <= 300; n += 60)
    {
      kvasir_memory_clear (runner.memory, FALSE);
      runner_forget (&runner, 0, 0);
      g_assert_cmpint (runner_read_some (&runner, 0, 400, 1), ==, KVASIR_DECODE_OK);
      if (kvasir_memory_seq_rm (runner.memory, 0, (gint32) (400 - n), -1))
        runner_forget (&runner, 0, 400 - n);
      else
        {
          is_refused = TRUE;
          g_assert_cmpint (kvasir_memory_get_rewind (runner.memory, 0, (gint32) (400 - n)), <,
                           400 - (gint32) n);
        }
      runner_assert_like_cold (&runner, 0, 9);
    }
  g_assert_true (is_refused);
  runner_clear (&runner);
}

/* ---- failures */

/* What is greedily said after @n tokens of the prompt. */
static void
ask_undisturbed (ContextFixture *self, guint n, gint32 *ids)
{
  const KvasirContextParams params = runner_make_params ();
  Runner runner;

  runner_init (&runner, self->model, &params);
  g_assert_cmpint (runner_read_some (&runner, 0, n, 1), ==, KVASIR_DECODE_OK);
  runner_greedy (&runner, 0, N_GREEDY, ids);
  runner_clear (&runner);
}

static void
assert_says (Runner *runner, const gint32 *expected)
{
  gint32 ids[N_GREEDY];

  runner_greedy (runner, 0, N_GREEDY, ids);
  g_assert_cmpmem (ids, sizeof ids, expected, sizeof ids);
}

/* Saved states, damaged or cut short or of another kind, are refused. */
static void
test_failed_restore (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  g_autoptr (GByteArray) blob = g_byte_array_new ();
  gint32 expected[N_GREEDY];
  Runner runner;

  ask_undisturbed (self, 40, expected);
  runner_init (&runner, self->model, &params);
  g_assert_cmpint (runner_read_some (&runner, 1, 25, 8), ==, KVASIR_DECODE_OK);
  g_assert_true (kvasir_memory_state_write (runner.memory, 1, FALSE, blob, NULL));
  g_assert_true (kvasir_memory_seq_rm (runner.memory, 1, -1, -1));
  g_assert_cmpint (runner_read_some (&runner, 0, 40, 1), ==, KVASIR_DECODE_OK);
  g_assert_false (
      kvasir_memory_state_read (runner.memory, 0, FALSE, blob->data, blob->len - 9, NULL));
  g_assert_false (kvasir_memory_state_read (runner.memory, 0, TRUE, blob->data, blob->len, NULL));
  g_assert_false (kvasir_memory_state_read (runner.memory, -1, FALSE, blob->data, blob->len, NULL));
  blob->data[blob->len / 2] ^= 4;
  g_assert_false (kvasir_memory_state_read (runner.memory, 0, FALSE, blob->data, blob->len, NULL));
  assert_says (&runner, expected);
  runner_clear (&runner);
}

/* More than there is room for, and a batch that is wrong. */
static void
test_failed_decode (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  const gint32 wrong[] = { 5, 6, 1 << 20 };
  gint32 expected[N_GREEDY];
  Runner runner;

  ask_undisturbed (self, 40, expected);
  runner_init (&runner, self->model, &params);
  g_assert_cmpint (runner_read_some (&runner, 0, 40, 1), ==, KVASIR_DECODE_OK);
  if (kvasir_memory_get_class (runner.memory) != KVASIR_MEMORY_RECURRENT)
    g_assert_cmpint (runner_read_some (&runner, 0, 490, 2), ==, KVASIR_DECODE_NO_ROOM);
  g_assert_cmpint (runner_read (&runner, 0, wrong, 3), ==, KVASIR_DECODE_BAD_BATCH);
  assert_says (&runner, expected);
  runner_clear (&runner);
}

/* The flag is set while this call of the device computes, counted from 1. */
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

/* Stopped in the middle of a long prompt: what was read so far stays, and no more. Going on from
 * there says what a run says that was given only that. */
static void
test_cancel (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  gint32 prompt[96];
  Runner runner;

  real_vtable = self->real_vtable;
  runner_init (&runner, self->model, &params);
  for (guint i = 0; i < G_N_ELEMENTS (prompt); i++)
    prompt[i] = (7 + (gint32) i * 13) % (gint32) runner.n_vocab;
  for (guint call = 1; call <= 5; call += 2)
    {
      gint32 ids[N_GREEDY];
      guint n;

      kvasir_memory_clear (runner.memory, FALSE);
      runner_forget (&runner, 0, 0);
      g_assert_cmpint (runner_read (&runner, 0, prompt, 20), ==, KVASIR_DECODE_OK);
      self->vtable.plan_compute = compute_and_stop;
      n_calls = 0;
      stop_at = call;
      kvasir_context_set_abort_flag (runner.context, &stop_flag);
      g_assert_cmpint (runner_read (&runner, 0, prompt + 20, 76), ==, KVASIR_DECODE_ABORTED);
      self->vtable.plan_compute = real_vtable->plan_compute;
      stop_flag = 0;
      n = (guint) kvasir_memory_seq_pos_max (runner.memory, 0) + 1;
      g_assert_cmpuint (n, >=, 20);
      g_assert_cmpuint (n, <, 96);
      g_array_append_vals (runner.read[0], prompt + 20, n - 20);
      runner_assert_like_cold (&runner, 0, prompt[n]);
      runner_greedy (&runner, 0, N_GREEDY, ids);
      {
        gint32 expected[N_GREEDY];

        ask_undisturbed (self, n + 1, expected);
        g_assert_cmpmem (ids, sizeof ids, expected, sizeof expected);
      }
    }
  runner_clear (&runner);
}

/* ---- states */

static void
go_on_from (Runner *runner, gint seq, const GByteArray *blob)
{
  kvasir_memory_clear (runner->memory, TRUE);
  g_assert_true (
      kvasir_memory_state_read (runner->memory, seq, FALSE, blob->data, blob->len, NULL));
  g_assert_cmpint (runner_read_some (runner, 0, 9, 2), ==, KVASIR_DECODE_OK);
}

/* On one backend the same state goes on bit by bit in the same way, as often as it is restored. The
 * whole goes on as if it had never been saved, but for windows: there the search begins at cell 0
 * again, so that cells are reused in another order. */
static void
test_state_goes_on_bit_by_bit (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = runner_make_params ();
  gboolean slides;
  gsize n_bytes;
  Runner runner;

  runner_init (&runner, self->model, &params);
  slides = kvasir_memory_get_class (runner.memory) == KVASIR_MEMORY_KV_ISWA ||
           kvasir_memory_get_class (runner.memory) == KVASIR_MEMORY_HYBRID_ISWA;
  n_bytes = runner.n_vocab * sizeof (float);
  for (gint seq = -1; seq <= 0; seq++)
    {
      g_autoptr (GByteArray) blob = g_byte_array_new ();
      g_autofree float *first = NULL;
      g_autofree float *again = NULL;

      kvasir_memory_clear (runner.memory, TRUE);
      g_assert_cmpint (runner_read_some (&runner, 0, 50, 1), ==, KVASIR_DECODE_OK);
      g_assert_true (kvasir_memory_state_write (runner.memory, seq, FALSE, blob, NULL));
      g_assert_cmpint (runner_read_some (&runner, 0, 9, 2), ==, KVASIR_DECODE_OK);
      first = g_memdup2 (runner.row, n_bytes);
      go_on_from (&runner, seq, blob);
      again = g_memdup2 (runner.row, n_bytes);
      go_on_from (&runner, seq, blob);
      g_assert_cmpmem (runner.row, n_bytes, again, n_bytes);
      if (!slides)
        g_assert_cmpmem (again, n_bytes, first, n_bytes);
      for (guint i = 0; i < runner.n_vocab; i++)
        g_assert_cmpfloat_with_epsilon (again[i], first[i], 0.02f);
    }
  runner_clear (&runner);
}

/* ---- keys */

#define N_KEYS 20
#define FIRST_MOVED 4

/* What is done to tokens 4 ... 19, which lie at positions 4 ... 19, and where they are then. */
typedef struct
{
  const char *name;
  void (*change) (KvasirContext *context);
  gint32 (*get_pos) (gint32 pos);
} KeyChange;

static void
add (KvasirContext *context, gint32 delta)
{
  g_assert_true (
      kvasir_memory_seq_add (kvasir_context_get_memory (context), 0, FIRST_MOVED, -1, delta));
}

static void
change_once (KvasirContext *context)
{
  add (context, 37);
}

static gint32
get_once (gint32 pos)
{
  return pos + 37;
}

static void
change_back (KvasirContext *context)
{
  add (context, 40);
  g_assert_true (kvasir_context_update (context));
  g_assert_true (kvasir_memory_seq_add (kvasir_context_get_memory (context), 0, 40, -1, -29));
}

static gint32
get_back (gint32 pos)
{
  return pos + 11;
}

static void
change_twice (KvasirContext *context)
{
  add (context, 50);
  add (context, -13);
}

static void
divide (KvasirContext *context)
{
  g_assert_true (
      kvasir_memory_seq_div (kvasir_context_get_memory (context), 0, FIRST_MOVED, -1, 3));
}

static gint32
get_divided (gint32 pos)
{
  return pos / 3;
}

static void
change_and_divide (KvasirContext *context)
{
  add (context, 90);
  divide (context);
}

static gint32
get_changed_and_divided (gint32 pos)
{
  return (pos + 90) / 3;
}

/* The state is written while a shift is pending, as an app does it. */
static void
change_and_save (KvasirContext *context)
{
  KvasirMemory *memory = kvasir_context_get_memory (context);
  g_autoptr (GByteArray) blob = g_byte_array_new ();

  add (context, 37);
  kvasir_context_update (context);
  g_assert_true (kvasir_memory_state_write (memory, 0, FALSE, blob, NULL));
  kvasir_memory_clear (memory, TRUE);
  g_assert_true (kvasir_memory_state_read (memory, 0, FALSE, blob->data, blob->len, NULL));
}

static const KeyChange changes[] = {
  { "once", change_once, get_once },
  { "there-and-back", change_back, get_back },
  { "twice-before-one-update", change_twice, get_once },
  { "divided", divide, get_divided },
  { "moved-and-divided", change_and_divide, get_changed_and_divided },
  { "saved-while-pending", change_and_save, get_once },
};

/* Reads the tokens, the later ones at the positions given, as another sequence. */
static KvasirContext *
read_keys (KvasirModel *model, const KvasirContextParams *params, const KeyChange *change)
{
  static const gint32 ids[] = { 0, 1 };
  gint32 tokens[N_KEYS];
  gint32 pos[N_KEYS];
  const gint32 *seqs[N_KEYS];
  guint n_seqs[N_KEYS];
  const KvasirBatch batch = {
    .n_tokens = N_KEYS, .tokens = tokens, .pos = pos, .seqs = seqs, .n_seqs = n_seqs
  };
  KvasirContext *context = kvasir_context_new (model, params, NULL);

  g_assert_nonnull (context);
  for (gint32 i = 0; i < N_KEYS; i++)
    {
      gboolean is_moved = change != NULL && i >= FIRST_MOVED;

      tokens[i] = 11 + 17 * i;
      pos[i] = is_moved ? change->get_pos (i) : i;
      seqs[i] = &ids[is_moved ? 1 : 0];
      n_seqs[i] = 1;
    }
  g_assert_cmpint (kvasir_context_decode (context, &batch, NULL), ==, KVASIR_DECODE_OK);
  return context;
}

/* How far the keys of two contexts are apart, for rows whose largest value is 1. */
static float
measure_distance (KvasirContext *a, KvasirContext *b)
{
  float distance = 0;

  for (guint cell = 0; cell < N_KEYS; cell++)
    {
      guint n;
      g_autofree float *found = keys_read (kvasir_context_get_memory (a), cell, &n);
      g_autofree float *expected = keys_read (kvasir_context_get_memory (b), cell, &n);
      float largest = 0;

      for (guint i = 0; i < n; i++)
        largest = fmaxf (largest, fabsf (expected[i]));
      for (guint i = 0; i < n; i++)
        distance = fmaxf (distance, fabsf (found[i] - expected[i]) / largest);
    }
  return distance;
}

/* Keys of the first layer depend on their token and its position alone: after a shift they are what
 * reading the token at its new position gives, within the rounding of the type. */
static void
check_keys (ContextFixture *self, KvasirType type, gboolean rotate)
{
  KvasirContextParams params = make_small_params ();

  params.type_k = type;
  params.kv_rotate = rotate;
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (KvasirContext) moved = read_keys (self->model, &params, NULL);
      g_autoptr (KvasirContext) direct = read_keys (self->model, &params, &changes[i]);
      float before = measure_distance (moved, direct);

      changes[i].change (moved);
      kvasir_context_update (moved);
      g_test_message ("%s: %g before, %g after", changes[i].name, before,
                      measure_distance (moved, direct));
      g_assert_cmpfloat (before, >, 0.5f);
      g_assert_cmpfloat (measure_distance (moved, direct), <, keys_get_tolerance (type));
    }
}

static const KvasirType key_types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                        KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                        KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };

static void
test_shifted_keys (ContextFixture *self, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (key_types); i++)
    {
      g_test_message ("%s", kvasir_type_get_name (key_types[i]));
      check_keys (self, key_types[i], FALSE);
    }
}

static void
test_shifted_keys_under_rotation (ContextFixture *self, gconstpointer data)
{
  check_keys (self, KVASIR_TYPE_Q8_0, TRUE);
  check_keys (self, KVASIR_TYPE_Q4_0, TRUE);
}

/* ---- */

static void
add_test (const char *name, const char *model, void (*test) (ContextFixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/session/better/%s", name);

  g_test_add (path, ContextFixture, model, context_fixture_set_up, test, context_fixture_tear_down);
}

static void
add_for_each (const char *name,
              const char *const *models,
              void (*test) (ContextFixture *, gconstpointer))
{
  for (guint i = 0; models[i] != NULL; i++)
    {
      g_autofree char *each = g_strdup_printf ("%s/%s", name, models[i]);

      add_test (each, models[i], test);
    }
}

int
main (int argc, char **argv)
{
  static const char *const all[] = { "tiny-llama.gguf",         "tiny-qwen2vl.gguf",
                                     "tiny-gemma3.gguf",        "tiny-mamba2.gguf",
                                     "tiny-granitehybrid.gguf", "tiny-lfm2.gguf",
                                     "tiny-lfm2-swa.gguf",      NULL };
  static const char *const sliding[] = { "tiny-gemma3.gguf", NULL };

  g_test_init (&argc, &argv, NULL);
  add_for_each ("cut-is-exact-or-refused", all, test_cut_is_exact_or_refused);
  add_for_each ("cut-behind-the-window", sliding, test_cut_behind_the_window);
  add_for_each ("failed-restore", all, test_failed_restore);
  add_for_each ("failed-decode", all, test_failed_decode);
  add_for_each ("cancel", all, test_cancel);
  add_for_each ("state-goes-on-bit-by-bit", all, test_state_goes_on_bit_by_bit);
  add_test ("shifted-keys", "tiny-llama-d64.gguf", test_shifted_keys);
  add_test ("shifted-keys-under-rotation", "tiny-llama-d64.gguf", test_shifted_keys_under_rotation);
  return g_test_run ();
}
