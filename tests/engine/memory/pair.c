#include "tests/engine/memory/pair.h"

#include "tests/engine/memory/pair-rows.h"

/* Full attention, sliding attention where there is a pair, a state where there are any. */
static KvasirMemory *
make_memory (TestHeap *heap, const PairShape *shape)
{
  const NaiveShape *rules = &shape->rules;
  gboolean has_cells = rules->klass != KVASIR_MEMORY_RECURRENT;
  gboolean has_pair =
      rules->klass == KVASIR_MEMORY_KV_ISWA || rules->klass == KVASIR_MEMORY_HYBRID_ISWA;
  gboolean has_states = !has_cells || rules->klass == KVASIR_MEMORY_HYBRID ||
                        rules->klass == KVASIR_MEMORY_HYBRID_ISWA;
  KvasirMemoryLayer layers[PAIR_N_LAYERS] = { 0 };
  KvasirMemoryParams params = { .klass = rules->klass,
                                .kv_size = rules->size,
                                .n_streams = rules->n_streams,
                                .unified = rules->unified,
                                .n_seq_max = rules->n_seqs,
                                .n_ubatch = rules->n_ubatch,
                                .n_batch = shape->n_batch,
                                .type_k = shape->type,
                                .type_v = shape->type,
                                .v_transposed = shape->v_transposed,
                                .swa_full = has_pair && rules->swa_size == rules->size,
                                .window = has_pair ? rules->window : KVASIR_WINDOW_NONE,
                                .n_swa = has_pair ? rules->n_swa : 0,
                                .is_causal = TRUE,
                                .n_pos_per_token = rules->n_pos,
                                .n_rs_seq = rules->n_rs_seq,
                                .n_layers = PAIR_N_LAYERS,
                                .layers = layers,
                                .shift_obstacle = shape->shift_obstacle,
                                .arch = "test",
                                .n_ctx_seq = rules->size };
  g_autoptr (GError) error = NULL;
  KvasirMemory *memory;

  for (guint i = 0; i < PAIR_N_LAYERS; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = has_cells && i < 2,
                                     .is_swa = has_pair && i == 1,
                                     .share = -1,
                                     .n_embd_k = 32,
                                     .n_embd_v = 32 * (1 + i),
                                     .head_dim_k = 32,
                                     .head_dim_v = 32,
                                     .n_embd_r = has_states && i > 0 ? 3 : 0,
                                     .n_embd_s = has_states && i == 2 ? 5 : 0,
                                     .buffer_type = &heap->type };
  memory = kvasir_memory_new (&params, &error);
  g_assert_no_error (error);
  return memory;
}

static KvasirBatchPlan *
make_plan (const PairShape *shape)
{
  const KvasirBatchLimits limits = { .n_batch = shape->n_batch,
                                     .n_ubatch = shape->rules.n_ubatch,
                                     .n_seq_max = shape->rules.n_seqs,
                                     .n_vocab = TEST_N_VOCAB,
                                     .n_pos_per_token = shape->rules.n_pos };

  return kvasir_batch_plan_new (&limits);
}

void
pair_init (Pair *self, const PairShape *shape)
{
  KvasirEventSink sink;

  *self = (Pair){ .shape = *shape };
  test_heap_init (&self->heap);
  self->memory = make_memory (&self->heap, shape);
  self->plan = make_plan (shape);
  self->naive = naive_new (&shape->rules);
  self->replay = replay_new (self->memory);
  for (guint c = 0; c < self->naive->n_caches; c++)
    self->masks[c] = g_new0 (guint64, shape->n_batch * (self->naive->caches[c].size / 64 + 1));
  self->marks = g_array_new (FALSE, FALSE, sizeof (guint));
  self->hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
  sink = replay_get_sink (self->replay);
  if (!shape->unwatched)
    kvasir_memory_set_sink (self->memory, &sink);
  replay_seek (self->replay, replay_get_n_events (self->replay));
}

void
pair_clear (Pair *self)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  g_free (self->masks[0]);
  g_free (self->masks[1]);
  naive_free (self->naive);
  replay_free (self->replay);
  g_array_unref (self->marks);
  g_array_unref (self->hashes);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
}

/* ---- comparing */

#define CHECKS_PER_ROWS 4

static void
check_cells (Pair *self, guint c, guint stream)
{
  const NaiveCache *cache = &self->naive->caches[c];

  g_assert_cmpuint (kvasir_memory_get_head (self->memory, c, stream), ==,
                    cache->streams[stream].head);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, c, stream), ==,
                    naive_cache_used (cache, stream));
  for (guint i = 0; i < cache->size; i++)
    {
      const NaiveCell *expected = &cache->streams[stream].cells[i];
      KvasirCell cell;

      kvasir_memory_get_cell (self->memory, c, stream, i, &cell);
      g_assert_cmpint (cell.pos, ==, expected->pos);
      g_assert_cmpint (cell.shift, ==, expected->shift);
      g_assert_cmpint (cell.token, ==, expected->token);
      g_assert_true (kvasir_seq_set_equal (&cell.seqs, &expected->seqs));
      if (cell.pos >= 0 && self->shape.rules.n_pos > 1)
        {
          g_assert_cmpint (cell.x, ==, expected->x);
          g_assert_cmpint (cell.y, ==, expected->y);
        }
    }
  if (!cache->has_copies && self->n_checks % CHECKS_PER_ROWS == 0)
    pair_assert_rows (self->memory, cache, c, stream);
}

static void
check_reports (Pair *self)
{
  g_assert_cmpint (kvasir_memory_has_update (self->memory), ==, naive_has_update (self->naive));
  for (guint seq = 0; seq < self->shape.rules.n_seqs; seq++)
    {
      g_assert_cmpint (kvasir_memory_seq_pos_min (self->memory, (gint) seq), ==,
                       naive_first (self->naive, seq));
      g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, (gint) seq), ==,
                       naive_last (self->naive, seq));
    }
}

/* Whether two neighbouring runs of one operation should have been one. */
static gboolean
continues (const KvasirEvent *a, const KvasirEvent *b)
{
  gint32 before = a->before.pos >= 0 ? a->before.pos + a->n : -1;
  gint32 after = a->after.pos >= 0 ? a->after.pos + a->n : -1;

  return a->type == KVASIR_EVENT_CELLS && a->cache == b->cache && a->stream == b->stream &&
         a->cell + a->n == b->cell && b->before.pos == before && b->after.pos == after &&
         a->before.shift == b->before.shift && a->after.shift == b->after.shift &&
         kvasir_seq_set_equal (&a->before.seqs, &b->before.seqs) &&
         kvasir_seq_set_equal (&a->after.seqs, &b->after.seqs);
}

/* Runs are as long as can be, and follow the event that names their cause. States are told one by
 * one. */
static void
check_events (const Pair *self, guint from)
{
  for (guint i = from; i < replay_get_n_events (self->replay); i++)
    {
      const KvasirEvent *event = replay_peek_event (self->replay, i, NULL);

      g_assert_cmpuint (event->step, <=, self->step);
      if (event->type != KVASIR_EVENT_CELLS || event->cache >= self->naive->n_caches)
        continue;
      g_assert_cmpuint (i, >, from);
      g_assert_false (continues (replay_peek_event (self->replay, i - 1, NULL), event));
    }
}

static void
check_log (Pair *self)
{
  guint to = replay_get_n_events (self->replay);
  guint64 hash;

  check_events (self, self->replay->n_played);
  replay_seek (self->replay, to);
  replay_assert_same (self->replay, self->memory);
  hash = replay_hash (self->replay);
  g_array_append_val (self->marks, to);
  g_array_append_val (self->hashes, hash);
}

void
pair_check (Pair *self)
{
  for (guint c = 0; c < self->naive->n_caches; c++)
    for (guint s = 0; s < self->naive->caches[c].n_streams; s++)
      check_cells (self, c, s);
  check_reports (self);
  if (self->naive->has_states)
    pair_assert_states (self->memory, self->naive);
  if (!self->shape.unwatched)
    check_log (self);
  self->n_checks++;
}

void
pair_check_time_travel (Pair *self)
{
  if (self->shape.unwatched)
    return;
  for (guint i = self->marks->len; i-- > 0;)
    {
      replay_seek (self->replay, g_array_index (self->marks, guint, i));
      g_assert_cmpuint (replay_hash (self->replay), ==, g_array_index (self->hashes, guint64, i));
    }
  replay_seek (self->replay, 0);
  replay_assert_empty (self->replay);
  replay_seek (self->replay, replay_get_n_events (self->replay));
  replay_assert_same (self->replay, self->memory);
}

/* ---- operations */

gboolean
pair_rm (Pair *self, gint seq, gint32 p0, gint32 p1)
{
  gboolean done = naive_rm (self->naive, seq, p0, p1);

  g_assert_cmpint (kvasir_memory_seq_rm (self->memory, seq, p0, p1), ==, done);
  return done;
}

gboolean
pair_cp (Pair *self, gint src, gint dst, gint32 p0, gint32 p1)
{
  gboolean done = naive_cp (self->naive, (guint) src, (guint) dst, p0, p1);

  g_assert_cmpint (kvasir_memory_seq_cp (self->memory, src, dst, p0, p1), ==, done);
  return done;
}

void
pair_keep (Pair *self, gint seq)
{
  kvasir_memory_seq_keep (self->memory, seq);
  naive_keep (self->naive, (guint) seq);
}

gboolean
pair_add (Pair *self, gint seq, gint32 p0, gint32 p1, gint32 delta)
{
  gboolean done = naive_add (self->naive, (guint) seq, p0, p1, delta);

  g_assert_cmpint (kvasir_memory_seq_add (self->memory, seq, p0, p1, delta), ==, done);
  return done;
}

gboolean
pair_div (Pair *self, gint seq, gint32 p0, gint32 p1, gint d)
{
  gboolean done = naive_div (self->naive, (guint) seq, p0, p1, d);

  g_assert_cmpint (kvasir_memory_seq_div (self->memory, seq, p0, p1, d), ==, done);
  return done;
}

gboolean
pair_update (Pair *self)
{
  gboolean had = kvasir_memory_has_update (self->memory);

  kvasir_memory_apply_copies (self->memory);
  kvasir_memory_update_done (self->memory, 0);
  g_assert_cmpint (naive_update (self->naive), ==, had);
  return had;
}

void
pair_empty (Pair *self, gboolean data)
{
  kvasir_memory_clear (self->memory, data);
  naive_clear (self->naive);
}

PairSave
pair_save (Pair *self, gint seq, gboolean partial)
{
  PairSave saved = { .blob = g_byte_array_new () };
  g_autoptr (GError) error = NULL;

  pair_update (self);
  saved.naive = naive_save (self->naive, seq, partial);
  kvasir_memory_state_write (self->memory, seq, partial, saved.blob, &error);
  g_assert_no_error (error);
  return saved;
}

void
pair_save_clear (PairSave *self)
{
  g_clear_pointer (&self->blob, g_byte_array_unref);
  g_clear_pointer (&self->naive, naive_save_free);
}

gboolean
pair_load (Pair *self, gint seq, gboolean partial, const PairSave *saved)
{
  gboolean done = naive_load (self->naive, seq, partial, saved->naive);

  g_assert_cmpint (kvasir_memory_state_read (self->memory, seq, partial, saved->blob->data,
                                             saved->blob->len, NULL),
                   ==, done);
  return done;
}
