/* Where the memory goes beyond the implementation that its rules were learnt from: a test for each
 * promise that can be told from the books. The others are in tests/engine/session/test-better.c. */
#include <string.h>

#include "tests/engine/memory/pair.h"

#define N_SWA 32

static PairShape
make_shape (KvasirMemoryClass klass, guint n_seqs)
{
  gboolean has_pair = klass == KVASIR_MEMORY_KV_ISWA || klass == KVASIR_MEMORY_HYBRID_ISWA;

  return (PairShape){ .rules = { .klass = klass,
                                 .size = has_pair ? 768 : 256,
                                 .swa_size = 256,
                                 .n_streams = 1,
                                 .unified = TRUE,
                                 .n_seqs = n_seqs,
                                 .n_ubatch = 16,
                                 .window = has_pair ? KVASIR_WINDOW_STANDARD : KVASIR_WINDOW_NONE,
                                 .n_swa = has_pair ? N_SWA : 0,
                                 .n_pos = 1 },
                      .n_batch = 256,
                      .type = KVASIR_TYPE_F16 };
}

/* Reads in batches that fit, all of which must succeed. */
static void
read_all (Pair *pair, gint seq, guint n)
{
  for (guint done = 0; done < n;)
    {
      guint step = MIN (100, n - done);

      g_assert_cmpint (pair_read (pair, seq, step, (gint32) done), ==, 0);
      pair_check (pair);
      done += step;
    }
}

/* ---- cuts */

/* What one half can't do, the other one does not do either: the pair compares cells, heads, states
 * and rows of both with those of the naive memory, which refuses the whole. */
static void
test_refused_cut_changes_neither (void)
{
  static const KvasirMemoryClass classes[] = { KVASIR_MEMORY_HYBRID, KVASIR_MEMORY_KV_ISWA,
                                               KVASIR_MEMORY_HYBRID_ISWA };

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    {
      const PairShape shape = make_shape (classes[i], 2);
      guint n = classes[i] == KVASIR_MEMORY_HYBRID ? 200 : 600;
      Pair pair;

      pair_init (&pair, &shape);
      read_all (&pair, 0, n);
      for (gint32 p0 = (gint32) n - 300; p0 < (gint32) n - 260; p0 += 7)
        {
          if (p0 <= 0)
            continue;
          g_assert_false (kvasir_memory_seq_rm (pair.memory, 0, p0, -1));
          pair_check (&pair);
        }
      if (classes[i] != KVASIR_MEMORY_KV_ISWA)
        g_assert_false (kvasir_memory_seq_rm (pair.memory, 0, (gint32) n - 1, -1));
      pair_check (&pair);
      read_all (&pair, 0, 20);
      pair_clear (&pair);
    }
}

/* A cut behind the window is refused, and the memory says from where the sequence must be read. */
static void
test_cut_behind_the_window (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV_ISWA, 1);
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 600);
  g_assert_false (pair_rm (&pair, 0, 300, -1));
  g_assert_cmpint (kvasir_memory_get_rewind (pair.memory, 0, 300), ==, 0);
  g_assert_cmpint (kvasir_memory_seq_pos_max (pair.memory, 0), ==, 599);
  g_assert_true (pair_rm (&pair, 0, 590, -1));
  g_assert_cmpint (kvasir_memory_get_rewind (pair.memory, 0, 590), ==, 590);
  read_all (&pair, 0, 10);
  g_assert_true (pair_rm (&pair, 0, 0, -1));
  read_all (&pair, 0, 300);
  pair_clear (&pair);
}

/* In a chunked window a chunk begins with nothing, so that it is enough to read it again. */
static void
test_cut_to_a_chunk (void)
{
  PairShape shape = make_shape (KVASIR_MEMORY_KV_ISWA, 1);
  Pair pair;

  shape.rules.window = KVASIR_WINDOW_CHUNKED;
  shape.rules.n_swa = 40;
  pair_init (&pair, &shape);
  read_all (&pair, 0, 600);
  g_assert_false (pair_rm (&pair, 0, 90, -1));
  g_assert_cmpint (kvasir_memory_get_rewind (pair.memory, 0, 90), ==, 80);
  g_assert_true (pair_rm (&pair, 0, 80, -1));
  pair_check (&pair);
  read_all (&pair, 0, 10);
  pair_clear (&pair);
}

/* The whole of the last decode, or tokens that came one by one, can't be taken back from states
 * that were not kept: exact or refused. */
static void
test_whole_decode_is_exact_or_refused (void)
{
  PairShape shape = make_shape (KVASIR_MEMORY_HYBRID, 1);
  Pair pair;

  shape.rules.n_rs_seq = 3;
  pair_init (&pair, &shape);
  g_assert_cmpint (pair_read (&pair, 0, 20, 0), ==, 0);
  g_assert_cmpint (pair_read (&pair, 0, 3, 50), ==, 0);
  g_assert_false (pair_rm (&pair, 0, 20, -1));
  pair_check (&pair);
  g_assert_true (pair_rm (&pair, 0, 21, -1));
  pair_check (&pair);
  g_assert_false (pair_rm (&pair, 0, 20, -1));
  g_assert_cmpint (pair_read (&pair, 0, 1, 60), ==, 0);
  g_assert_cmpint (pair_read (&pair, 0, 1, 61), ==, 0);
  g_assert_false (pair_rm (&pair, 0, 22, -1));
  g_assert_false (pair_rm (&pair, 0, 21, -1));
  pair_check (&pair);
  g_assert_true (pair_rm (&pair, 0, 0, -1));
  pair_check (&pair);
  pair_clear (&pair);
}

/* ---- reports */

/* What slides and what scans is emptied by an empty checkpoint; the full cache still holds cells.
 */
static void
test_range_never_says_empty (void)
{
  static const KvasirMemoryClass classes[] = { KVASIR_MEMORY_KV_ISWA, KVASIR_MEMORY_HYBRID,
                                               KVASIR_MEMORY_HYBRID_ISWA };

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    {
      const PairShape shape = make_shape (classes[i], 2);
      PairSave empty;
      Pair pair;

      pair_init (&pair, &shape);
      read_all (&pair, 0, 50);
      empty = pair_save (&pair, 1, TRUE);
      g_assert_true (pair_load (&pair, 0, TRUE, &empty));
      g_assert_cmpuint (kvasir_memory_get_used (pair.memory, 0, 0), ==, 50);
      g_assert_cmpuint (kvasir_memory_get_used (pair.memory, 1, 0), ==, 0);
      g_assert_cmpint (kvasir_memory_seq_pos_min (pair.memory, 0), ==, 0);
      g_assert_cmpint (kvasir_memory_seq_pos_max (pair.memory, 0), ==, 49);
      /* Nor does it go on as if nothing were missing: it must be read again from its start. */
      g_assert_cmpint (pair_read (&pair, 0, 1, 7), ==, 1);
      g_assert_cmpint (kvasir_memory_get_rewind (pair.memory, 0, 50), ==, 0);
      pair_check (&pair);
      g_assert_true (pair_rm (&pair, 0, 0, -1));
      read_all (&pair, 0, 50);
      pair_save_clear (&empty);
      pair_clear (&pair);
    }
}

/* One sequence of several does not fit; it is named before anything has happened. */
static void
test_bad_sequence_is_named (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV, 4);
  const gint32 ids[] = { 0, 1, 2, 3 };
  const gint32 *const seqs[] = { &ids[0], &ids[1], &ids[2], &ids[3] };
  const guint n_seqs[] = { 1, 1, 1, 1 };
  const gint32 tokens[] = { 5, 6, 7, 8 };
  const gint32 pos[] = { 4, 0, 9, 0 };
  const KvasirBatch batch = {
    .n_tokens = 4, .tokens = tokens, .pos = pos, .seqs = seqs, .n_seqs = n_seqs
  };
  g_autoptr (GError) error = NULL;
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 4);
  read_all (&pair, 2, 4);
  g_assert_false (kvasir_batch_plan_init (pair.plan, &batch, pair.memory, &error));
  g_assert_nonnull (strstr (error->message, "Token 2 "));
  g_assert_nonnull (strstr (error->message, "sequence 2"));
  g_assert_nonnull (strstr (error->message, "position 9"));
  pair_check (&pair);
  pair_clear (&pair);
}

/* ---- room */

/* The forks share what slid out of both their windows. By the plain rule a cell with two owners is
 * never used again, and the chat ends after 256 cells although the full half has 768. */
static void
test_fork_does_not_run_out (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV_ISWA, 2);
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 230);
  g_assert_true (pair_cp (&pair, 0, 1, -1, -1));
  for (guint i = 0; i < 13; i++)
    {
      g_assert_cmpint (pair_read (&pair, 0, 20, (gint32) i), ==, 0);
      g_assert_cmpint (pair_read (&pair, 1, 20, 100 + (gint32) i), ==, 0);
      pair_check (&pair);
    }
  g_assert_cmpuint (kvasir_memory_get_used (pair.memory, 0, 0), ==, 750);
  pair_clear (&pair);
}

static void
count_seen (const Pair *pair, const NaiveToken *batch, const NaiveUbatch *ubatch, gpointer data)
{
  guint n_words = kvasir_memory_get_n_kv (pair->memory, 1) / 64;
  g_autofree guint64 *words = g_new0 (guint64, ubatch->n * n_words);

  kvasir_memory_fill_mask (pair->memory, 1, words, n_words);
  for (guint t = 0; t < ubatch->n; t++)
    {
      guint n = 0;

      for (guint w = 0; w < n_words; w++)
        n += (guint) __builtin_popcountll (words[t * n_words + w]);
      g_assert_cmpuint (n, ==, N_SWA);
    }
  (*(guint *) data)++;
}

/* The later physical batches take cells that the first one still sees. While it is computed, they
 * are there: every token of each sees its whole window. */
static void
test_planning_forgets_nothing (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV_ISWA, 1);
  NaiveToken batch[240];
  guint n_seen = 0;
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 250);
  for (guint i = 0; i < G_N_ELEMENTS (batch); i++)
    {
      batch[i] = (NaiveToken){ .token = (gint32) i, .pos = 250 + (gint32) i };
      kvasir_seq_set_add (&batch[i].seqs, 0);
    }
  g_assert_cmpint (
      pair_decode (&pair, batch, G_N_ELEMENTS (batch), PAIR_NEVER, count_seen, &n_seen), ==, 0);
  g_assert_cmpuint (n_seen, ==, 15);
  pair_check (&pair);
  pair_clear (&pair);
}

/* The search finds room in the first stream and none in the last. */
static void
test_failed_search_leaves_every_head (void)
{
  PairShape shape = make_shape (KVASIR_MEMORY_KV, 3);
  NaiveToken batch[60];
  guint heads[3];
  Pair pair;

  shape.rules.n_streams = 3;
  shape.rules.unified = FALSE;
  pair_init (&pair, &shape);
  read_all (&pair, 0, 10);
  read_all (&pair, 1, 20);
  read_all (&pair, 2, 250);
  for (guint s = 0; s < 3; s++)
    heads[s] = kvasir_memory_get_head (pair.memory, 0, s);
  for (guint i = 0; i < G_N_ELEMENTS (batch); i++)
    {
      gint seq = (gint) i / 20;

      batch[i] = (NaiveToken){ .token = (gint32) i,
                               .pos = naive_last (pair.naive, (guint) seq) + 1 + (gint32) i % 20,
                               .lead = seq };
      kvasir_seq_set_add (&batch[i].seqs, (guint) seq);
    }
  g_assert_cmpint (pair_decode (&pair, batch, G_N_ELEMENTS (batch), PAIR_NEVER, NULL, NULL), ==, 1);
  for (guint s = 0; s < 3; s++)
    g_assert_cmpuint (kvasir_memory_get_head (pair.memory, 0, s), ==, heads[s]);
  pair_check (&pair);
  pair_clear (&pair);
}

/* ---- shifts */

static void
assert_shift (const Pair *pair, guint cell, gint32 pos, gint32 shift)
{
  KvasirCell found;

  kvasir_memory_get_cell (pair->memory, 0, 0, cell, &found);
  g_assert_cmpint (found.pos, ==, pos);
  g_assert_cmpint (found.shift, ==, shift);
}

static void
test_division_records_its_shift (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV, 1);
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 12);
  g_assert_true (pair_div (&pair, 0, 4, -1, 2));
  pair_check (&pair);
  assert_shift (&pair, 3, 3, 0);
  assert_shift (&pair, 10, 5, -5);
  pair_clear (&pair);
}

static void
test_two_shifts_add_up (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV, 1);
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 12);
  g_assert_true (pair_add (&pair, 0, 4, -1, 10));
  g_assert_true (pair_add (&pair, 0, 4, -1, -3));
  g_assert_true (pair_div (&pair, 0, 4, -1, 3));
  pair_check (&pair);
  assert_shift (&pair, 3, 3, 0);
  assert_shift (&pair, 11, 6, -5);
  g_assert_true (pair_update (&pair));
  pair_check (&pair);
  assert_shift (&pair, 11, 6, 0);
  pair_clear (&pair);
}

/* ---- failures */

/* A part that was computed and failed has overwritten cells outside the window. They do not come
 * back with its rows: a cut that needs them is refused. */
static void
test_failed_part_leaves_no_foreign_rows (void)
{
  const PairShape shape = make_shape (KVASIR_MEMORY_KV_ISWA, 1);
  NaiveToken batch[30];
  Pair pair;

  pair_init (&pair, &shape);
  read_all (&pair, 0, 255);
  for (guint i = 0; i < G_N_ELEMENTS (batch); i++)
    {
      batch[i] = (NaiveToken){ .token = 300 + (gint32) i, .pos = 255 + (gint32) i };
      kvasir_seq_set_add (&batch[i].seqs, 0);
    }
  g_assert_cmpint (pair_decode (&pair, batch, G_N_ELEMENTS (batch), 0, NULL, NULL), ==, -3);
  for (guint i = 0; i < 4; i++)
    pair_check (&pair);
  g_assert_false (pair_rm (&pair, 0, 10, -1));
  g_assert_true (pair_rm (&pair, 0, 60, -1));
  read_all (&pair, 0, 200);
  pair_clear (&pair);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func) g_test_add_func ("/engine/memory/better/" name, func)
  ADD ("refused-cut-changes-neither-half", test_refused_cut_changes_neither);
  ADD ("cut-behind-the-window-is-refused", test_cut_behind_the_window);
  ADD ("cut-to-a-chunk", test_cut_to_a_chunk);
  ADD ("whole-decode-is-exact-or-refused", test_whole_decode_is_exact_or_refused);
  ADD ("range-never-says-empty", test_range_never_says_empty);
  ADD ("bad-sequence-is-named", test_bad_sequence_is_named);
  ADD ("fork-does-not-run-out-of-room", test_fork_does_not_run_out);
  ADD ("planning-forgets-nothing", test_planning_forgets_nothing);
  ADD ("failed-search-leaves-every-head", test_failed_search_leaves_every_head);
  ADD ("division-records-its-shift", test_division_records_its_shift);
  ADD ("two-shifts-add-up", test_two_shifts_add_up);
  ADD ("failed-part-leaves-no-foreign-rows", test_failed_part_leaves_no_foreign_rows);
  return g_test_run ();
}
