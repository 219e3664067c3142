/* A batch, prepared and played on both sides, ubatch by ubatch. */
#include "tests/engine/memory/pair-rows.h"
#include "tests/engine/memory/pair.h"

/* The batch as the engine wants it. */
typedef struct
{
  gint32 *tokens;  /* (owned) [n] */
  gint32 *pos;     /* (owned) [n] */
  gint32 *planes;  /* (owned) [3][n] */
  gint32 *seq_ids; /* (owned) [n][n_seqs] */
  const gint32 **seqs;
  guint *n_seqs;
} Given;

static void
given_init (Given *self, const Pair *pair, const NaiveToken *batch, guint n)
{
  guint n_seqs = pair->shape.rules.n_seqs;

  self->tokens = g_new0 (gint32, n);
  self->pos = g_new0 (gint32, n);
  self->planes = g_new0 (gint32, 3 * n);
  self->seq_ids = g_new0 (gint32, n * n_seqs);
  self->seqs = g_new0 (const gint32 *, n);
  self->n_seqs = g_new0 (guint, n);
  for (guint i = 0; i < n; i++)
    {
      gint32 *ids = self->seq_ids + i * n_seqs;

      self->tokens[i] = batch[i].token;
      self->pos[i] = batch[i].pos;
      self->planes[i] = batch[i].y;
      self->planes[n + i] = batch[i].x;
      ids[self->n_seqs[i]++] = batch[i].lead;
      for (gint seq = 0; seq < (gint) n_seqs; seq++)
        if (seq != batch[i].lead && kvasir_seq_set_has (&batch[i].seqs, (guint) seq))
          ids[self->n_seqs[i]++] = seq;
      self->seqs[i] = ids;
    }
}

static void
given_clear (Given *self)
{
  g_free (self->tokens);
  g_free (self->pos);
  g_free (self->planes);
  g_free (self->seq_ids);
  g_free (self->seqs);
  g_free (self->n_seqs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Given, given_clear)

static void
check_ubatch (const KvasirUbatch *found, const NaiveUbatch *ubatch)
{
  g_assert_cmpuint (found->n_tokens, ==, ubatch->n);
  g_assert_cmpuint (found->n_seq_tokens, ==, ubatch->n_seq_tokens);
  g_assert_cmpuint (found->n_seqs, ==, ubatch->n_seqs);
  for (guint i = 0; i < ubatch->n; i++)
    g_assert_cmpuint (found->index[i], ==, ubatch->index[i]);
}

static void
check_slots (const Pair *self, guint c, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  const NaiveCache *cache = &self->naive->caches[c];
  g_autofree gint64 *slots = g_new (gint64, ubatch->n);

  kvasir_memory_fill_slots (self->memory, c, slots);
  for (guint i = 0; i < ubatch->n; i++)
    {
      guint stream = naive_cache_get_stream (cache, (guint) batch[ubatch->index[i]].lead);

      g_assert_cmpint (slots[i], ==, stream * cache->size + ubatch->slots[c][i]);
    }
}

/* Word @w of the mask row of a token, by the definition. */
static guint64
get_mask_word (const Pair *self, guint c, const NaiveToken *token, guint w, guint n_kv)
{
  guint64 word = 0;

  for (guint i = w * 64; i < MIN (w * 64 + 64, n_kv); i++)
    if (naive_sees (self->naive, c, token, i))
      word |= G_GUINT64_CONSTANT (1) << (i % 64);
  return word;
}

/* Written anew, and brought up to date where it has been kept. */
static void
check_mask (Pair *self, guint c, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  guint n_kv = naive_get_n_kv (self->naive, c, batch, ubatch);
  gsize n_words = self->naive->caches[c].size / 64 + 1;
  g_autofree guint64 *words = g_new0 (guint64, ubatch->n * n_words);

  g_assert_cmpuint (kvasir_memory_get_n_kv (self->memory, c), ==, n_kv);
  kvasir_memory_fill_mask (self->memory, c, words, n_words);
  self->stamps[c] =
      kvasir_memory_refresh_mask (self->memory, c, self->masks[c], n_words, self->stamps[c]);
  for (guint t = 0; t < ubatch->n; t++)
    {
      for (guint w = 0; w < n_kv / 64; w++)
        {
          guint64 expected = get_mask_word (self, c, &batch[ubatch->index[t]], w, n_kv);

          g_assert_cmphex (words[t * n_words + w], ==, expected);
          g_assert_cmphex (self->masks[c][t * n_words + w], ==, expected);
        }
      for (guint w = n_kv / 64; w < n_words; w++)
        g_assert_cmphex (words[t * n_words + w], ==, 0);
    }
}

/* Applies ubatch @u on both sides and does as if it were computed. */
static void
play_ubatch (Pair *self, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  const KvasirUbatch *found;
  g_autoptr (Naive) before = naive_copy (self->naive);

  g_assert_true (kvasir_memory_apply_next (self->memory, &found));
  check_ubatch (found, ubatch);
  naive_apply (self->naive, batch, ubatch);
  for (guint c = 0; c < self->naive->n_caches; c++)
    {
      check_slots (self, c, batch, ubatch);
      check_mask (self, c, batch, ubatch);
      pair_write_rows (self->memory, &self->naive->caches[c], c, batch, ubatch);
    }
  if (self->naive->has_states)
    pair_scan_states (self->memory, before, self->naive, batch, ubatch);
}

static gint
play (Pair *self,
      const NaiveToken *batch,
      const GPtrArray *ubatches,
      guint fail_at,
      PairSeen seen,
      gpointer data)
{
  const KvasirUbatch *none;

  for (guint u = 0; u < ubatches->len; u++)
    {
      const NaiveUbatch *ubatch = g_ptr_array_index (ubatches, u);
      Naive *before = naive_copy (self->naive);

      play_ubatch (self, batch, ubatch);
      if (u == fail_at)
        {
          kvasir_memory_rollback (self->memory);
          naive_take (self->naive, before);
          naive_lose (self->naive, batch, ubatch);
          g_assert_false (kvasir_memory_apply_next (self->memory, &none));
          return -3;
        }
      naive_free (before);
      if (seen != NULL)
        seen (self, batch, ubatch, data);
    }
  g_assert_false (kvasir_memory_apply_next (self->memory, &none));
  return 0;
}

gint
pair_decode (
    Pair *self, const NaiveToken *batch, guint n, guint fail_at, PairSeen seen, gpointer data)
{
  g_auto (Given) given = { 0 };
  g_autoptr (GPtrArray) ubatches = NULL;
  gboolean accepted = naive_accepts (self->naive, batch, n);
  KvasirBatch it;

  given_init (&given, self, batch, n);
  it = (KvasirBatch){ .n_tokens = n,
                      .tokens = given.tokens,
                      .pos = given.pos,
                      .planes = self->shape.rules.n_pos > 1 ? given.planes : NULL,
                      .seqs = given.seqs,
                      .n_seqs = given.n_seqs };
  kvasir_memory_set_step (self->memory, ++self->step);
  g_assert_cmpint (kvasir_batch_plan_init (self->plan, &it, self->memory, NULL), ==, accepted);
  if (!accepted)
    return -1;
  pair_update (self);
  if (naive_is_complete (self->naive, batch, n))
    ubatches = naive_plan (self->naive, batch, n);
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan) == KVASIR_PREPARE_OK, ==,
                   ubatches != NULL);
  if (ubatches == NULL)
    return 1;
  pair_check (self);
  return play (self, batch, ubatches, fail_at, seen, data);
}

gint
pair_read (Pair *self, gint seq, guint n, gint32 first_token)
{
  g_autofree NaiveToken *batch = g_new0 (NaiveToken, n);
  gint32 last = naive_last (self->naive, (guint) seq);

  for (guint i = 0; i < n; i++)
    {
      batch[i] = (NaiveToken){ .token = (first_token + (gint32) i) % TEST_N_VOCAB,
                               .pos = last + 1 + (gint32) i,
                               .y = last + 1 + (gint32) i,
                               .x = last + 1 + (gint32) i,
                               .lead = seq };
      kvasir_seq_set_add (&batch[i].seqs, (guint) seq);
    }
  return pair_decode (self, batch, n, PAIR_NEVER, NULL, NULL);
}
