/* Random operations on the unified cache, compared after each one with a second implementation of
 * the rules and with a player of the event log; at the end the log is played back to its start. */
#include "tests/engine/memory/naive.h"
#include "tests/engine/memory/replay.h"
#include "tests/engine/memory/support.h"

#define N_OPERATIONS 40
#define N_SAVES 3

typedef struct
{
  gint seq; /* -1: whole */
  GByteArray *blob;
  GArray *cells;
} Save;

typedef struct
{
  TestShape shape;
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  Naive *naive;
  Replay *replay;
  GRand *rand;
  guint32 step;
  Save saves[N_SAVES];
  GArray *marks; /* of guint: events before each operation */
  GArray *hashes;
} Fixture;

static gint
pick (Fixture *self, gint from, gint to)
{
  return g_rand_int_range (self->rand, from, to);
}

static gint
pick_seq (Fixture *self)
{
  return pick (self, 0, (gint) self->shape.n_seq_max);
}

static void
pick_range (Fixture *self, gint seq, gint32 *p0, gint32 *p1)
{
  gint last = naive_last (self->naive, (guint) MAX (seq, 0));

  *p0 = pick (self, 0, 3) == 0 ? -1 : pick (self, 0, last + 3);
  *p1 = pick (self, 0, 3) == 0 ? -1 : pick (self, 0, last + 3);
}

/* ---- comparing */

static void
assert_same (Fixture *self)
{
  const Naive *naive = self->naive;
  KvasirMemory *memory = self->memory;

  g_assert_cmpuint (kvasir_memory_get_head (memory, 0, 0), ==, naive->head);
  g_assert_cmpuint (kvasir_memory_get_used (memory, 0, 0), ==, naive_used (naive));
  g_assert_cmpint (kvasir_memory_has_update (memory), ==, naive_has_shift (naive));
  for (guint seq = 0; seq < naive->n_seqs; seq++)
    {
      g_assert_cmpint (kvasir_memory_seq_pos_min (memory, (gint) seq), ==,
                       naive_first (naive, seq));
      g_assert_cmpint (kvasir_memory_seq_pos_max (memory, (gint) seq), ==, naive_last (naive, seq));
    }
  for (guint i = 0; i < naive->size; i++)
    {
      KvasirCell cell;

      kvasir_memory_get_cell (memory, 0, 0, i, &cell);
      g_assert_cmpint (cell.pos, ==, naive->cells[i].pos);
      g_assert_cmpint (cell.shift, ==, naive->cells[i].shift);
      g_assert_cmpint (cell.token, ==, naive->cells[i].token);
      g_assert_true (kvasir_seq_set_equal (&cell.seqs, &naive->cells[i].seqs));
      if (cell.pos >= 0)
        test_assert_rows (memory, i, cell.token);
    }
}

/* Whether two neighbouring runs of one operation should have been one. */
static gboolean
continues (const KvasirRunState *a, gint32 n, const KvasirRunState *b)
{
  return b->pos == (a->pos >= 0 ? a->pos + n : -1) && a->shift == b->shift &&
         kvasir_seq_set_equal (&a->seqs, &b->seqs);
}

static void
check_events (Fixture *self, guint from)
{
  for (guint i = from; i < replay_get_n_events (self->replay); i++)
    {
      const KvasirEvent *event = replay_peek_event (self->replay, i, NULL);
      const KvasirEvent *before = i > from ? replay_peek_event (self->replay, i - 1, NULL) : NULL;

      g_assert_cmpuint (event->step, ==, self->step);
      if (event->type != KVASIR_EVENT_CELLS)
        continue;
      g_assert_nonnull (before);
      g_assert_false (before->type == KVASIR_EVENT_CELLS &&
                      before->cell + before->n == event->cell &&
                      continues (&before->before, before->n, &event->before) &&
                      continues (&before->after, before->n, &event->after));
    }
}

static void
check_room (Fixture *self)
{
  guint n = (guint) pick (self, 1, (gint) self->naive->size + 9);
  KvasirRoom room = kvasir_memory_get_room (self->memory, 0, n);
  guint n_free = self->naive->size - naive_used (self->naive);

  g_assert_cmpuint (room.n_needed, ==, n);
  g_assert_cmpuint (room.n_free, ==, n_free);
  g_assert_cmpuint (room.largest_free_run, ==, naive_largest_free_run (self->naive));
  g_assert_cmpint (room.fits, ==, n <= n_free);
}

static void
check_all (Fixture *self)
{
  guint from = self->replay->n_played;
  guint to = replay_get_n_events (self->replay);
  guint64 hash;

  assert_same (self);
  check_room (self);
  check_events (self, from);
  replay_seek (self->replay, to);
  replay_assert_same (self->replay, self->memory);
  hash = replay_hash (self->replay);
  g_array_append_val (self->marks, to);
  g_array_append_val (self->hashes, hash);
}

/* The log, played back, passes through every state that there was, and forward again. */
static void
check_time_travel (Fixture *self)
{
  for (guint i = self->marks->len; i-- > 0;)
    {
      replay_seek (self->replay, g_array_index (self->marks, guint, i));
      g_assert_cmpuint (replay_hash (self->replay), ==, g_array_index (self->hashes, guint64, i));
    }
  replay_seek (self->replay, 0);
  for (guint i = 0; i < self->replay->size; i++)
    g_assert_cmpint (self->replay->cells[i].pos, ==, -1);
  replay_seek (self->replay, replay_get_n_events (self->replay));
  replay_assert_same (self->replay, self->memory);
}

/* ---- decoding */

typedef struct
{
  guint n;
  NaiveToken *tokens; /* (owned) [n] */
  gint32 *ids;        /* (owned) [n], the same for the engine */
  gint32 *pos;
  gint32 *seq_ids; /* (owned) [n * n_seq_max] */
  const gint32 **seqs;
  guint *n_seqs;
} Batch;

static void
batch_init (Batch *self, guint n, guint n_seq_max)
{
  self->n = n;
  self->tokens = g_new0 (NaiveToken, n);
  self->ids = g_new0 (gint32, n);
  self->pos = g_new0 (gint32, n);
  self->seq_ids = g_new0 (gint32, n * n_seq_max);
  self->seqs = g_new0 (const gint32 *, n);
  self->n_seqs = g_new0 (guint, n);
  for (guint i = 0; i < n; i++)
    self->seqs[i] = self->seq_ids + i * n_seq_max;
}

static void
batch_clear (Batch *self)
{
  g_free (self->tokens);
  g_free (self->ids);
  g_free (self->pos);
  g_free (self->seq_ids);
  g_free (self->seqs);
  g_free (self->n_seqs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Batch, batch_clear)

static void
batch_set (Batch *self, guint i, gint32 id, gint32 pos, const KvasirSeqSet *seqs)
{
  gint32 *ids = (gint32 *) self->seqs[i];

  self->tokens[i] = (NaiveToken){ .token = id, .pos = pos, .seqs = *seqs };
  self->ids[i] = id;
  self->pos[i] = pos;
  self->n_seqs[i] = 0;
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    ids[self->n_seqs[i]++] = seq;
}

/* Sequences of one token: one, or now and then several that may or may not agree. */
static KvasirSeqSet
pick_set (Fixture *self)
{
  KvasirSeqSet seqs = { 0 };

  kvasir_seq_set_add (&seqs, (guint) pick_seq (self));
  while (pick (self, 0, 8) == 0)
    kvasir_seq_set_add (&seqs, (guint) pick_seq (self));
  return seqs;
}

/* Mostly batches that go on where their sequences end, now and then with a wrong position. */
static void
pick_batch (Fixture *self, Batch *batch)
{
  g_autofree gint32 *next = g_new (gint32, self->shape.n_seq_max);
  KvasirSeqSet seqs = pick_set (self);
  gboolean mixed = pick (self, 0, 3) == 0;

  batch_init (batch, (guint) pick (self, 1, pick (self, 0, 2) == 0 ? 9 : 90),
              self->shape.n_seq_max);
  for (guint seq = 0; seq < self->shape.n_seq_max; seq++)
    {
      next[seq] = naive_last (self->naive, seq) + 1;
      if (next[seq] == 0 && pick (self, 0, 4) == 0)
        next[seq] = pick (self, 0, 50);
    }
  for (guint i = 0; i < batch->n; i++)
    {
      gint32 pos;

      if (mixed && pick (self, 0, 2) == 0)
        seqs = pick_set (self);
      pos = next[kvasir_seq_set_next (&seqs, 0)];
      if (pick (self, 0, 300) == 0)
        pos += pick (self, -2, 3);
      batch_set (batch, i, pick (self, 0, TEST_N_VOCAB), pos, &seqs);
      for (gint seq = kvasir_seq_set_next (&seqs, 0); seq >= 0;
           seq = kvasir_seq_set_next (&seqs, (guint) seq + 1))
        next[seq] = pos + (pick (self, 0, 100) != 0);
    }
}

static void
check_mask (Fixture *self, const KvasirUbatch *ubatch, const NaiveToken *tokens)
{
  guint n_kv = kvasir_memory_get_n_kv (self->memory, 0);
  gsize n_words = n_kv / 64 + (gsize) pick (self, 0, 3);
  g_autofree guint64 *words = g_new0 (guint64, ubatch->n_tokens * n_words);

  g_assert_cmpuint (n_kv, ==, naive_n_kv (self->naive));
  kvasir_memory_fill_mask (self->memory, 0, words, n_words);
  for (guint t = 0; t < ubatch->n_tokens; t++)
    for (guint i = 0; i < n_words * 64; i++)
      g_assert_cmpint ((words[t * n_words + i / 64] >> (i % 64)) & 1, ==,
                       i < n_kv && naive_sees (self->naive, &tokens[t], i));
}

static void
write_rows_of (Fixture *self, const KvasirUbatch *ubatch, const guint32 *slots)
{
  g_autofree gint64 *found = g_new (gint64, ubatch->n_tokens);

  kvasir_memory_fill_slots (self->memory, 0, found);
  for (guint i = 0; i < ubatch->n_tokens; i++)
    {
      g_assert_cmpint (found[i], ==, slots[i]);
      test_write_rows (self->memory, slots[i], ubatch->tokens[i]);
    }
}

/* Plays the parts in both; sometimes one is taken back and the rest forgotten. */
static void
apply_parts (Fixture *self, const Batch *batch)
{
  const KvasirUbatch *ubatch;
  guint n_done = 0;

  while (kvasir_memory_apply_next (self->memory, &ubatch))
    {
      g_autofree guint32 *slots = g_new (guint32, ubatch->n_tokens);
      Naive *before = naive_copy (self->naive);
      gboolean fails = pick (self, 0, 12) == 0;

      g_assert_true (naive_place (self->naive, batch->tokens + n_done, ubatch->n_tokens, slots));
      write_rows_of (self, ubatch, slots);
      check_mask (self, ubatch, batch->tokens + n_done);
      n_done += ubatch->n_tokens;
      if (fails)
        {
          kvasir_memory_rollback (self->memory);
          naive_free (self->naive);
          self->naive = before;
          g_assert_false (kvasir_memory_apply_next (self->memory, &ubatch));
          return;
        }
      naive_free (before);
    }
  g_assert_cmpuint (n_done, ==, batch->n);
}

static void
decode (Fixture *self)
{
  g_auto (Batch) batch = { 0 };
  KvasirBatch given = { 0 };
  g_autofree guint32 *slots = NULL;
  Naive *trial;
  guint n_ubatch = self->shape.n_ubatch;
  gboolean fits = TRUE;

  pick_batch (self, &batch);
  given = (KvasirBatch){ .n_tokens = batch.n,
                         .tokens = batch.ids,
                         .pos = batch.pos,
                         .seqs = batch.seqs,
                         .n_seqs = batch.n_seqs };
  self->step++;
  kvasir_memory_set_step (self->memory, self->step);
  if (!naive_accepts (self->naive, batch.tokens, batch.n))
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (kvasir_batch_plan_init (self->plan, &given, self->memory, &error));
      g_assert_nonnull (error);
      return;
    }
  g_assert_true (kvasir_batch_plan_init (self->plan, &given, self->memory, NULL));
  kvasir_memory_update_done (self->memory, 0);
  naive_update (self->naive);

  trial = naive_copy (self->naive);
  slots = g_new (guint32, batch.n);
  for (guint i = 0; i < batch.n && fits; i += n_ubatch)
    fits = naive_place (trial, batch.tokens + i, MIN (n_ubatch, batch.n - i), slots);
  naive_free (trial);
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==,
                   fits ? KVASIR_PREPARE_OK : KVASIR_PREPARE_NO_ROOM);
  assert_same (self);
  apply_parts (self, &(Batch){ .n = fits ? batch.n : 0, .tokens = batch.tokens });
}

/* ---- the other operations */

static void
save (Fixture *self)
{
  Save *slot = &self->saves[pick (self, 0, N_SAVES)];

  kvasir_memory_update_done (self->memory, 0);
  naive_update (self->naive);
  g_clear_pointer (&slot->blob, g_byte_array_unref);
  g_clear_pointer (&slot->cells, g_array_unref);
  slot->seq = pick (self, 0, 2) == 0 ? -1 : pick_seq (self);
  slot->blob = g_byte_array_new ();
  slot->cells = naive_save (self->naive, slot->seq);
  g_assert_true (kvasir_memory_state_write (self->memory, slot->seq, FALSE, slot->blob, NULL));
}

static void
load (Fixture *self)
{
  const Save *slot = &self->saves[pick (self, 0, N_SAVES)];
  gint seq;
  gboolean ok;

  if (slot->blob == NULL)
    return;
  seq = slot->seq < 0 ? -1 : pick_seq (self);
  ok = naive_load (self->naive, seq, slot->cells);
  g_assert_cmpint (
      kvasir_memory_state_read (self->memory, seq, FALSE, slot->blob->data, slot->blob->len, NULL),
      ==, ok);
}

static void
change_seq (Fixture *self, gint kind)
{
  gint seq = pick_seq (self);
  gint dst = pick_seq (self);
  gint32 p0;
  gint32 p1;

  pick_range (self, seq, &p0, &p1);
  if (kind == 0)
    {
      if (pick (self, 0, 12) == 0)
        seq = -1;
      g_assert_true (kvasir_memory_seq_rm (self->memory, seq, p0, p1));
      naive_rm (self->naive, seq, p0, p1);
    }
  else if (kind == 1)
    {
      g_assert_true (kvasir_memory_seq_cp (self->memory, seq, dst, p0, p1));
      naive_cp (self->naive, (guint) seq, (guint) dst, p0, p1);
    }
  else if (kind == 2)
    {
      gint32 delta = pick (self, -20, 20);

      g_assert_true (kvasir_memory_seq_add (self->memory, seq, p0, p1, delta));
      naive_add (self->naive, (guint) seq, p0, p1, delta);
    }
  else
    {
      gint d = pick (self, 1, 4);

      g_assert_true (kvasir_memory_seq_div (self->memory, seq, p0, p1, d));
      naive_div (self->naive, (guint) seq, p0, p1, d);
    }
}

static void
operate (Fixture *self)
{
  gint kind = pick (self, 0, 30);

  if (kind < 15)
    decode (self);
  else if (kind < 19)
    change_seq (self, 0);
  else if (kind < 22)
    change_seq (self, 1);
  else if (kind < 25)
    change_seq (self, kind == 24 ? 3 : 2);
  else if (kind == 25 && pick (self, 0, 2) == 0)
    {
      gint seq = pick_seq (self);

      kvasir_memory_seq_keep (self->memory, seq);
      naive_keep (self->naive, (guint) seq);
    }
  else if (kind == 26 && pick (self, 0, 3) == 0)
    {
      kvasir_memory_clear (self->memory, pick (self, 0, 2) == 0);
      naive_clear (self->naive);
    }
  else if (kind == 27)
    save (self);
  else
    load (self);
}

static void
fixture_init (Fixture *self, guint32 seed)
{
  static const guint n_seqs[] = { 1, 2, 3, 5, 8, 70, 200 };
  KvasirEventSink sink;

  self->rand = g_rand_new_with_seed (seed);
  self->shape = (TestShape){ .n_ctx = pick (self, 0, 4) == 0 ? 512 : 256,
                             .n_seq_max = n_seqs[pick (self, 0, G_N_ELEMENTS (n_seqs))],
                             .n_batch = 512,
                             .n_ubatch = (guint) pick (self, 1, 80),
                             .type = pick (self, 0, 2) == 0 ? KVASIR_TYPE_F16 : KVASIR_TYPE_Q8_0 };
  test_heap_init (&self->heap);
  self->memory = test_memory_new (&self->heap, &self->shape);
  self->plan = test_plan_new (&self->shape);
  self->naive = naive_new (self->shape.n_ctx, self->shape.n_seq_max);
  self->replay = replay_new (self->shape.n_ctx);
  self->marks = g_array_new (FALSE, FALSE, sizeof (guint));
  self->hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
  sink = replay_get_sink (self->replay);
  kvasir_memory_set_sink (self->memory, &sink);
  replay_seek (self->replay, replay_get_n_events (self->replay));
}

static void
fixture_clear (Fixture *self)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  naive_free (self->naive);
  replay_free (self->replay);
  g_rand_free (self->rand);
  g_array_unref (self->marks);
  g_array_unref (self->hashes);
  for (guint i = 0; i < N_SAVES; i++)
    {
      g_clear_pointer (&self->saves[i].blob, g_byte_array_unref);
      g_clear_pointer (&self->saves[i].cells, g_array_unref);
    }
}

static void
test_random (void)
{
  guint n_runs = g_test_slow () ? 10000 : 200;

  for (guint32 seed = 0; seed < n_runs; seed++)
    {
      Fixture fixture = { 0 };

      fixture_init (&fixture, seed);
      for (guint i = 0; i < N_OPERATIONS; i++)
        {
          operate (&fixture);
          check_all (&fixture);
        }
      check_time_travel (&fixture);
      fixture_clear (&fixture);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/memory/random/agrees-with-rules-and-log", test_random);
  return g_test_run ();
}
