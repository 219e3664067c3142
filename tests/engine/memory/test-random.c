/* Random operations on every kind of memory. After each one cells, owners, positions, pending
 * shifts, heads, states and the bytes of all rows are those of the naive memory, every mask is what
 * the definition says, and the event log tells the same; at the end the log is played back to its
 * start and forward again. What fails in the middle must leave everything as it was.
 *
 * 200 sequences of operations per kind; 10 000 with -m slow. */
#include "tests/engine/memory/pair.h"

#define N_OPERATIONS 40
#define N_SAVES 3
#define N_BATCH 160

typedef struct
{
  Pair pair;
  GRand *rand;
  gboolean has_save[N_SAVES];
  gint save_seq[N_SAVES]; /* -1: whole */
  PairSave saves[N_SAVES];
} Run;

static gint
pick (Run *self, gint from, gint to)
{
  return g_rand_int_range (self->rand, from, to);
}

/* A position some way before @end, not below 0. */
static gint32
pick_before (Run *self, gint32 end, gint most)
{
  gint32 pos = end - pick (self, 0, most);

  return MAX (pos, 0);
}

static gboolean
one_in (Run *self, gint n)
{
  return pick (self, 0, n) == 0;
}

static gint
pick_seq (Run *self)
{
  return pick (self, 0, (gint) self->pair.shape.rules.n_seqs);
}

static gint32
get_last (Run *self, gint seq)
{
  return naive_last (self->pair.naive, (guint) seq);
}

static void
pick_range (Run *self, gint seq, gint32 *p0, gint32 *p1)
{
  gint last = get_last (self, MAX (seq, 0));

  *p0 = one_in (self, 3) ? -1 : pick (self, 0, last + 3);
  *p1 = one_in (self, 3) ? -1 : pick (self, 0, last + 3);
  if (one_in (self, 2))
    {
      *p0 = pick_before (self, last + 1, 12);
      *p1 = -1;
    }
}

/* ---- batches */

/* Sequences of one token: one, or now and then several that may or may not agree. */
static KvasirSeqSet
pick_set (Run *self)
{
  KvasirSeqSet seqs = { 0 };

  kvasir_seq_set_add (&seqs, (guint) pick_seq (self));
  while (one_in (self, self->pair.shape.rules.n_streams > 1 ? 200 : 12))
    kvasir_seq_set_add (&seqs, (guint) pick_seq (self));
  return seqs;
}

/* One of the set; it is named first. */
static gint
pick_lead (Run *self, const KvasirSeqSet *seqs)
{
  gint seq = kvasir_seq_set_next (seqs, (guint) pick_seq (self));

  return seq >= 0 ? seq : kvasir_seq_set_next (seqs, 0);
}

static void
set_last (gint32 *last, const KvasirSeqSet *seqs, gint32 pos)
{
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    last[seq] = pos;
}

/* With four planes positions may jump, and several tokens of an image share one. */
static void
place_in_image (Run *self, NaiveToken *token, const NaiveToken *before)
{
  token->y = token->x = token->pos;
  if (self->pair.shape.rules.n_pos == 1 || one_in (self, 3))
    return;
  if (before != NULL && kvasir_seq_set_equal (&before->seqs, &token->seqs) && !one_in (self, 4))
    {
      token->pos = before->pos;
      token->y = before->y + pick (self, -1, 2);
      token->x = before->x + pick (self, -1, 2);
      token->y = MAX (token->y, 0);
      token->x = MAX (token->x, 0);
    }
  else
    token->pos += pick (self, 0, 5);
}

/* Mostly batches that go on where their sequences end, now and then with a wrong position. */
static guint
pick_batch (Run *self, NaiveToken *batch)
{
  guint n_seqs = self->pair.shape.rules.n_seqs;
  g_autofree gint32 *last = g_new (gint32, n_seqs);
  KvasirSeqSet seqs = pick_set (self);
  gboolean mixed = one_in (self, 3);
  guint n = (guint) pick (self, 1, one_in (self, 2) ? 9 : 90);

  for (guint seq = 0; seq < n_seqs; seq++)
    {
      last[seq] = get_last (self, (gint) seq);
      if (last[seq] < 0 && one_in (self, 4))
        last[seq] = pick (self, -1, 50);
    }
  for (guint i = 0; i < n; i++)
    {
      NaiveToken *token = &batch[i];

      if (mixed && one_in (self, 2))
        seqs = pick_set (self);
      *token = (NaiveToken){ .token = pick (self, 0, TEST_N_VOCAB), .seqs = seqs };
      token->lead = pick_lead (self, &seqs);
      token->pos = last[token->lead] + (one_in (self, 60) ? 0 : 1);
      token->pos = MAX (token->pos, 0);
      place_in_image (self, token, i > 0 ? &batch[i - 1] : NULL);
      if (one_in (self, 600))
        token->pos += pick (self, -2, 3);
      set_last (last, &seqs, token->pos);
    }
  return n;
}

static void
decode (Run *self)
{
  NaiveToken batch[N_BATCH];
  guint n = pick_batch (self, batch);
  guint fail_at = one_in (self, 4) ? (guint) pick (self, 0, 4) : PAIR_NEVER;

  pair_decode (&self->pair, batch, n, fail_at, NULL, NULL);
}

/* Token by token, as an answer is written: the rows of masks that are kept are brought up to date.
 */
static void
go_on (Run *self)
{
  gint seq = pick_seq (self);

  for (gint n = pick (self, 2, 12); n > 0; n--)
    pair_read (&self->pair, seq, 1, pick (self, 0, TEST_N_VOCAB));
}

/* ---- the other operations */

static void
drop_save (Run *self, gint i)
{
  if (self->has_save[i])
    pair_save_clear (&self->saves[i]);
  self->has_save[i] = FALSE;
}

static void
save (Run *self)
{
  gint i = pick (self, 0, N_SAVES);

  drop_save (self, i);
  self->save_seq[i] = one_in (self, 3) ? -1 : pick_seq (self);
  self->saves[i] = pair_save (&self->pair, self->save_seq[i], FALSE);
  self->has_save[i] = TRUE;
}

static void
load (Run *self)
{
  gint i = pick (self, 0, N_SAVES);

  if (self->has_save[i])
    pair_load (&self->pair, self->save_seq[i] < 0 ? -1 : pick_seq (self), FALSE, &self->saves[i]);
}

/* A damaged state, or one cut short, changes nothing. */
static void
load_garbage (Run *self)
{
  gint i = pick (self, 0, N_SAVES);
  g_autofree guint8 *bytes = NULL;
  gsize n;

  if (!self->has_save[i])
    return;
  n = self->saves[i].blob->len;
  bytes = g_memdup2 (self->saves[i].blob->data, n);
  if (one_in (self, 2))
    n = (gsize) pick (self, 0, (gint) n);
  else
    bytes[pick (self, 0, (gint) n)] ^= (guint8) pick (self, 1, 256);
  g_assert_false (
      kvasir_memory_state_read (self->pair.memory, self->save_seq[i], FALSE, bytes, n, NULL));
}

/* Saves what slides or scans, reads on, goes back, and takes the tail away. */
static void
checkpoint (Run *self)
{
  gint seq = pick_seq (self);
  gint32 last = get_last (self, seq);
  PairSave saved;

  if (last < 0 || self->pair.shape.rules.klass == KVASIR_MEMORY_KV)
    return;
  saved = pair_save (&self->pair, seq, TRUE);
  pair_check (&self->pair);
  pair_read (&self->pair, seq, (guint) pick (self, 1, 30), pick (self, 0, TEST_N_VOCAB));
  pair_check (&self->pair);
  if (pair_load (&self->pair, seq, TRUE, &saved))
    {
      pair_check (&self->pair);
      pair_rm (&self->pair, seq, last + 1, -1);
    }
  pair_save_clear (&saved);
}

/* A cut where the memory says that going on is exact is taken, and one that would not be is not. */
static void
rewind_to (Run *self)
{
  gint seq = pick_seq (self);
  gint32 last = get_last (self, seq);
  gint32 p0 = pick_before (self, last + 1, 60);
  gint32 found = kvasir_memory_get_rewind (self->pair.memory, seq, p0);

  g_assert_cmpint (found, <=, p0);
  g_assert_cmpint (found, >=, 0);
  if (last < 0)
    return;
  if (naive_cut_is_exact (self->pair.naive, (guint) seq, p0))
    g_assert_cmpint (found, ==, p0);
  else
    g_assert_cmpint (found, <, p0);
  g_assert_true (naive_cut_is_exact (self->pair.naive, (guint) seq, found));
  if (one_in (self, 2))
    g_assert_true (pair_rm (&self->pair, seq, found, -1));
}

static void
check_room (Run *self)
{
  const NaiveCache *cache = &self->pair.naive->caches[0];
  gint seq = pick_seq (self);
  guint stream, n, n_free;
  KvasirRoom room;

  if (self->pair.naive->n_caches != 1)
    return;
  n = (guint) pick (self, 1, (gint) cache->size + 9);
  room = kvasir_memory_get_room (self->pair.memory, seq, n);
  stream = naive_cache_get_stream (cache, (guint) seq);
  n_free = cache->size - naive_cache_used (cache, stream);
  g_assert_cmpuint (room.n_needed, ==, n);
  g_assert_cmpuint (room.n_free, ==, n_free);
  g_assert_cmpuint (room.largest_free_run, ==, naive_cache_largest_free_run (cache, stream));
  g_assert_cmpint (room.fits, ==, n <= n_free);
}

/* Whether there is a sliding half. There two cells of a sequence never claim one position here:
 * what the window misses is told by positions. */
static gboolean
has_pair (const Run *self)
{
  return self->pair.naive->n_caches == 2;
}

static void
copy (Run *self)
{
  gint src = pick_seq (self);
  gint dst = pick_seq (self);
  gint32 p0 = -1;
  gint32 p1 = -1;

  if (one_in (self, 3))
    pick_range (self, src, &p0, &p1);
  if (src != dst && (has_pair (self) || one_in (self, 2)))
    pair_rm (&self->pair, dst, -1, -1);
  pair_cp (&self->pair, src, dst, p0, p1);
}

static void
move (Run *self)
{
  gint seq = pick_seq (self);
  gint32 p0;
  gint32 p1;

  pick_range (self, seq, &p0, &p1);
  if (has_pair (self))
    pair_add (&self->pair, seq, p0, -1, pick (self, 0, 20));
  else
    pair_add (&self->pair, seq, p0, p1, pick (self, -20, 20));
}

/* Divides a beginning; the rest follows it where there is a pair. */
static void
divide (Run *self)
{
  gint seq = pick_seq (self);
  gint d = pick (self, 1, 4);
  gint32 p0;
  gint32 p1;

  pick_range (self, seq, &p0, &p1);
  if (!has_pair (self))
    pair_div (&self->pair, seq, p0, p1, d);
  else if (p1 > 0 && pair_div (&self->pair, seq, -1, p1, d))
    pair_add (&self->pair, seq, p1, -1, p1 / d - p1 + 1);
}

/* A part goes and the rest moves down. */
static void
shift_context (Run *self)
{
  gint seq = pick_seq (self);
  gint32 last = get_last (self, seq);
  gint32 p0 = last > 20 ? pick (self, 0, last - 10) : 0;
  gint32 p1 = p0 + pick (self, 1, 20);

  if (last > 20 && pair_rm (&self->pair, seq, p0, p1))
    pair_add (&self->pair, seq, p1, -1, p0 - p1);
}

static void
remove_range (Run *self)
{
  gint seq = one_in (self, 15) ? -1 : pick_seq (self);
  gint32 p0;
  gint32 p1;

  pick_range (self, seq, &p0, &p1);
  if (one_in (self, 5))
    p0 = p1 = -1;
  pair_rm (&self->pair, seq, p0, p1);
}

static void
operate (Run *self)
{
  gint kind = pick (self, 0, 40);

  if (kind < 16)
    decode (self);
  else if (kind < 18)
    go_on (self);
  else if (kind < 23)
    remove_range (self);
  else if (kind < 27)
    copy (self);
  else if (kind < 29)
    kind == 28 ? divide (self) : move (self);
  else if (kind < 31)
    shift_context (self);
  else if (kind == 31 && one_in (self, 2))
    pair_keep (&self->pair, pick_seq (self));
  else if (kind == 32 && one_in (self, 3))
    pair_empty (&self->pair, one_in (self, 2));
  else if (kind == 33)
    checkpoint (self);
  else if (kind == 34)
    rewind_to (self);
  else if (kind == 35)
    load_garbage (self);
  else if (kind == 36)
    pair_update (&self->pair);
  else if (kind == 37)
    save (self);
  else
    load (self);
}

/* ---- shapes */

typedef struct
{
  const char *name;
  KvasirMemoryClass klass;
  KvasirWindow window;
  gboolean streams;
  gboolean swa_full;
  guint n_pos;
  gboolean v_transposed;
} Kind;

static const Kind kinds[] = {
  { "kv", KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, FALSE, FALSE, 1, FALSE },
  { "kv-streams", KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, TRUE, FALSE, 1, FALSE },
  { "kv-transposed", KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, FALSE, FALSE, 1, TRUE },
  { "kv-mrope", KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, FALSE, FALSE, 4, FALSE },
  { "iswa", KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, FALSE, FALSE, 1, FALSE },
  { "iswa-streams", KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, TRUE, FALSE, 1, TRUE },
  { "iswa-full", KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, FALSE, TRUE, 1, FALSE },
  { "iswa-chunked", KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_CHUNKED, FALSE, FALSE, 1, FALSE },
  { "recurrent", KVASIR_MEMORY_RECURRENT, KVASIR_WINDOW_NONE, FALSE, FALSE, 1, FALSE },
  { "hybrid", KVASIR_MEMORY_HYBRID, KVASIR_WINDOW_NONE, FALSE, FALSE, 1, FALSE },
  { "hybrid-streams", KVASIR_MEMORY_HYBRID, KVASIR_WINDOW_NONE, TRUE, FALSE, 1, FALSE },
  { "hybrid-iswa", KVASIR_MEMORY_HYBRID_ISWA, KVASIR_WINDOW_STANDARD, FALSE, FALSE, 1, FALSE },
};

static PairShape
pick_shape (Run *self, const Kind *kind)
{
  static const guint n_seqs[] = { 1, 2, 3, 5, 8, 70, 200 };
  gboolean is_plain = kind->klass == KVASIR_MEMORY_KV;
  PairShape shape = { .n_batch = N_BATCH, .v_transposed = kind->v_transposed };
  NaiveShape *rules = &shape.rules;

  *rules = (NaiveShape){ .klass = kind->klass,
                         .size = one_in (self, is_plain ? 4 : 2) ? 512 : 256,
                         .n_seqs = n_seqs[pick (self, 0, is_plain ? 7 : 4)],
                         .window = kind->window,
                         .n_swa = (guint) pick (self, 1, 60),
                         .n_pos = kind->n_pos };
  if (kind->streams)
    rules->n_seqs = (guint) pick (self, 1, 5);
  rules->n_streams = kind->streams ? rules->n_seqs : 1;
  rules->unified = !kind->streams;
  if (kind->klass != KVASIR_MEMORY_KV && kind->klass != KVASIR_MEMORY_KV_ISWA)
    rules->n_rs_seq = one_in (self, 2) ? (guint) pick (self, 1, 6) : 0;
  rules->n_ubatch = rules->n_rs_seq + 2 + (guint) pick (self, 0, 70);
  if (rules->n_rs_seq == 0 && one_in (self, 10))
    rules->n_ubatch = 1;
  rules->swa_size = rules->n_swa * (rules->n_streams == 1 ? rules->n_seqs : 1) + rules->n_ubatch;
  rules->swa_size = MIN (rules->size, (rules->swa_size + 255) / 256 * 256);
  if (kind->swa_full)
    rules->swa_size = rules->size;
  shape.type = !kind->v_transposed && one_in (self, 3) ? KVASIR_TYPE_Q8_0 : KVASIR_TYPE_F16;
  shape.unwatched = one_in (self, 3);
  shape.shift_obstacle = kind->n_pos > 1 ? "four positions" : NULL;
  return shape;
}

static void
run_operations (const Kind *kind, guint32 seed)
{
  Run self = { .rand = g_rand_new_with_seed (seed) };
  const PairShape shape = pick_shape (&self, kind);

  g_test_message ("%s, seed %u", kind->name, seed);
  pair_init (&self.pair, &shape);
  for (guint i = 0; i < N_OPERATIONS; i++)
    {
      operate (&self);
      check_room (&self);
      pair_check (&self.pair);
    }
  pair_check_time_travel (&self.pair);
  for (gint i = 0; i < N_SAVES; i++)
    drop_save (&self, i);
  pair_clear (&self.pair);
  g_rand_free (self.rand);
}

static void
test_random (gconstpointer data)
{
  guint n_runs = g_test_slow () ? 10000 : 200;

  for (guint32 seed = 0; seed < n_runs; seed++)
    run_operations (data, seed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/memory/random/", kinds[i].name, NULL);

      g_test_add_data_func (path, &kinds[i], test_random);
    }
  return g_test_run ();
}
