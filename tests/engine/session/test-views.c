/* Snapshots of a real session, checked against the cells and against sums that must hold. */
#include "engine/session/snapshot-build.h"
#include "rig.h"

static const RigParams normal = { 512, 4, 16 };

static const KvasirSnapshot *
snap (Rig *rig, KvasirViews views)
{
  KvasirSnapshotSpec spec = { .views = views, .sequence = 1, .device = rig->device };
  return kvasir_snapshot_build (rig->session, &spec);
}

static KvasirRequest *
new_request (guint64 answer_id, gboolean keep_other)
{
  KvasirRequest *request = rig_new_request (1, answer_id, 6);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  request->keep_other = keep_other;
  return request;
}

/* Two answers of one chat, and another chat. */
static void
fill (Rig *rig)
{
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  g_autoptr (Answer) b = rig_run (rig, new_request (21, TRUE), 0);
  KvasirRequest *request = rig_new_request (2, 31, 3);
  rig_add_user (request, 30, "Another chat.");
  g_autoptr (Answer) c = rig_run (rig, request, 0);
  /* A hole in the middle of the cells. */
  KvasirSeqOp remove = { KVASIR_SEQ_OP_RM, a->end.seq, -1, 12, -1, 0 };
  kvasir_session_seq_op (rig->session, &remove, NULL);
}

static void
check_cell (Rig *rig, const KvasirCacheShot *cache, guint i)
{
  KvasirCell cell;
  const KvasirSpan *span = kvasir_cache_shot_find (cache, 0, i);
  kvasir_memory_get_cell (rig->memory, 0, 0, i, &cell);
  g_assert_cmpint (cache->tokens[i], ==, cell.pos < 0 ? -1 : cell.token);
  g_assert_true ((span != NULL) == (cell.pos >= 0));
  if (span == NULL)
    return;
  g_assert_cmpint (span->pos + (gint32) (i - span->cell), ==, cell.pos);
  g_assert_cmpint (span->shift, ==, cell.shift);
  g_assert_true (kvasir_seq_set_equal (&cache->sets[span->set], &cell.seqs));
  g_assert_cmpuint (cache->steps[i], ==, cell.step);
}

static void
test_cells (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  fill (rig);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_CELLS);
  const KvasirCacheShot *cache = &shot->cells->caches[0];
  const KvasirStreamShot *stream = &cache->streams[0];
  guint n = 0;
  guint n_holes = 0;
  guint run = 0;
  guint longest = 0;

  g_assert_cmpuint (cache->size, ==, normal.n_ctx);
  g_assert_cmpuint (cache->n_spans, ==, stream->n_spans);
  for (guint i = 0; i < cache->size; i++)
    check_cell (rig, cache, i);
  for (guint i = 0; i < cache->n_spans; i++)
    {
      n += cache->spans[i].n;
      /* Two neighbours that could be one are no maximal runs. */
      const KvasirSpan *a = &cache->spans[i];
      const KvasirSpan *b = a + 1;
      g_assert_false (i + 1 < cache->n_spans && a->cell + a->n == b->cell && a->set == b->set &&
                      a->pos + (gint32) a->n == b->pos && a->shift == b->shift);
    }
  g_assert_cmpuint (n, ==, stream->used);
  for (guint i = 0; i <= cache->size; i++)
    {
      gboolean free = i < cache->size && kvasir_cache_shot_find (cache, 0, i) == NULL;
      n_holes += !free && run > 0 && i < stream->used_max;
      longest = MAX (longest, run + free);
      run = free ? run + 1 : 0;
    }
  g_assert_cmpuint (stream->n_holes, ==, n_holes);
  g_assert_cmpuint (n_holes, >, 0);
  g_assert_cmpuint (stream->largest_free_run, ==, longest);
  g_assert_cmpuint (stream->n_kv, ==, kvasir_memory_get_n_kv (rig->memory, 0));
  kvasir_snapshot_unref (shot);
}

static void
check_seq (Rig *rig, const KvasirCellsShot *cells, const KvasirSeqShot *seq)
{
  guint n_cells = 0;
  guint n_own = 0;
  for (guint i = 0; i < normal.n_ctx; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (rig->memory, 0, 0, i, &cell);
      if (cell.pos < 0 || !kvasir_seq_set_has (&cell.seqs, (guint) seq->seq))
        continue;
      n_cells++;
      n_own += kvasir_seq_set_count (&cell.seqs) == 1;
      g_assert_nonnull (kvasir_cells_shot_find_message (cells, seq->seq, cell.pos));
    }
  g_assert_cmpuint (seq->n_cells, ==, n_cells);
  g_assert_cmpuint (seq->n_own, ==, n_own);
  g_assert_cmpint (seq->pos_max - seq->pos_min + 1, ==, (gint) n_cells);
  g_assert_null (kvasir_cells_shot_find_message (cells, seq->seq, seq->pos_max + 1));
}

/* Neighbours in cells and positions, but not in what is pending. */
static void
test_shifts (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  KvasirSeqOp up = { KVASIR_SEQ_OP_ADD, a->end.seq, -1, 12, -1, 2 };
  KvasirSeqOp down = { KVASIR_SEQ_OP_ADD, a->end.seq, -1, 14, -1, -2 };
  kvasir_session_seq_op (rig->session, &up, NULL);
  g_assert_true (kvasir_context_update (kvasir_session_get_context (rig->session)));
  kvasir_session_seq_op (rig->session, &down, NULL);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_CELLS);
  const KvasirCacheShot *cache = &shot->cells->caches[0];
  g_assert_cmpuint (cache->n_spans, ==, 2);
  for (guint i = 0; i < cache->size; i++)
    check_cell (rig, cache, i);
  kvasir_snapshot_unref (shot);
}

static void
test_seqs (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  g_autoptr (Answer) b = rig_run (rig, new_request (21, TRUE), 0);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_CELLS);
  const KvasirCellsShot *cells = shot->cells;
  g_assert_cmpuint (cells->n_seqs, ==, 2);
  for (guint i = 0; i < cells->n_seqs; i++)
    check_seq (rig, cells, &cells->seqs[i]);

  const KvasirSeqShot *fork = &cells->seqs[1];
  gint32 parent_pos = fork->parent_pos;
  g_assert_cmpint (fork->seq, ==, b->end.seq);
  g_assert_cmpint (fork->parent, ==, a->end.seq);
  g_assert_cmpuint (fork->chat_id, ==, 1);
  g_assert_cmpuint (fork->leaf_id, ==, 21);
  g_assert_cmpuint (cells->seqs[0].leaf_id, ==, 11);
  g_assert_cmpint (parent_pos, ==, (gint32) b->end.n_reused);
  const KvasirMessageRun *one = kvasir_cells_shot_find_message (cells, a->end.seq, parent_pos + 1);
  const KvasirMessageRun *two = kvasir_cells_shot_find_message (cells, b->end.seq, parent_pos + 1);
  g_assert_cmpuint (one->message_id, ==, 11);
  g_assert_cmpuint (two->message_id, ==, 21);
  g_assert_cmpint (two->role, ==, KVASIR_ROLE_ASSISTANT);
  kvasir_snapshot_unref (shot);
}

/* A row may read a cell of its sequence that is not behind it. */
static void
check_mask (const KvasirMaskShot *mask)
{
  for (guint row = 0; row < mask->n_rows; row++)
    for (guint cell = 0; cell < mask->n_kv; cell++)
      {
        guint seq = (guint) kvasir_seq_set_next (&mask->row_seqs[row], 0);
        gboolean open = mask->cell_pos[cell] >= 0 &&
                        kvasir_seq_set_has (&mask->cell_seqs[cell], seq) &&
                        mask->cell_pos[cell] <= mask->row_pos[row];
        KvasirMaskReason reason = kvasir_mask_shot_get_reason (mask, row, cell);
        g_assert_true (open == (reason == KVASIR_MASK_OPEN));
        g_assert_cmpint (reason, !=, KVASIR_MASK_OUTSIDE_WINDOW);
      }
}

static void
test_mask (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirMaskTap *tap = kvasir_session_get_mask_tap (rig->session);
  const KvasirSnapshot *shot;
  kvasir_mask_tap_set_shown (tap, TRUE);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_null (shot->mask);
  kvasir_snapshot_unref (shot);

  rig->stop_after_ubatches = 1;
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_cmpuint (shot->mask->n_rows, ==, normal.n_ubatch);
  g_assert_cmpuint (shot->mask->ubatch, ==, 1);
  g_assert_cmpint (shot->mask->row_pos[0], ==, 0);
  g_assert_cmpuint (shot->mask->n_waterfall, ==, 0);
  check_mask (shot->mask);
  kvasir_snapshot_unref (shot);

  rig->stop_after_ubatches = 0;
  g_autoptr (Answer) b = rig_run (rig, new_request (11, FALSE), 0);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_cmpuint (shot->mask->n_rows, ==, 1);
  check_mask (shot->mask);
  /* The newest row of the waterfall is the mask; each one before it had one cell less open. */
  g_assert_cmpuint (shot->mask->n_waterfall, >=, b->tokens->len - 1);
  guint n_open = 0;
  for (guint i = 0; i < shot->mask->n_waterfall; i++)
    {
      const guint64 *row = shot->mask->waterfall + i * shot->mask->waterfall_words;
      guint n = 0;
      for (gsize w = 0; w < shot->mask->waterfall_words; w++)
        n += (guint) __builtin_popcountll (row[w]);
      g_assert_true (i == 0 || n == n_open + 1);
      n_open = n;
    }
  kvasir_snapshot_unref (shot);
}

static void
test_mask_shown_late (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirMaskTap *tap = kvasir_session_get_mask_tap (rig->session);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  const KvasirSnapshot *shot;
  kvasir_mask_tap_set_shown (tap, TRUE);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_nonnull (shot->mask);
  check_mask (shot->mask);
  kvasir_snapshot_unref (shot);

  /* What was missed and is gone from the cells cannot be shown. */
  kvasir_mask_tap_set_shown (tap, FALSE);
  g_autoptr (Answer) b = rig_run (rig, new_request (21, TRUE), 0);
  kvasir_session_clear (rig->session);
  kvasir_mask_tap_set_shown (tap, TRUE);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_null (shot->mask);
  kvasir_snapshot_unref (shot);
}

static void
test_mask_after_stop (void)
{
  g_test_summary ("A batch that was taken back leaves no mask that could be caught up with");
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirMaskTap *tap = kvasir_session_get_mask_tap (rig->session);
  const KvasirSnapshot *shot;
  rig->stop_in_step = 5;
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  kvasir_mask_tap_set_shown (tap, TRUE);
  shot = snap (rig, KVASIR_VIEW_MASK);
  g_assert_null (shot->mask);
  kvasir_snapshot_unref (shot);
}

static void
test_memory (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_MEMORY | KVASIR_VIEW_CELLS);
  const KvasirMemoryShot *memory = shot->memory;
  const KvasirCacheShot *cache = &shot->cells->caches[0];
  guint64 n_kv_bytes = 0;
  for (guint i = 0; i < memory->n_rows; i++)
    if (memory->rows[i].kind == KVASIR_KIND_KV_K || memory->rows[i].kind == KVASIR_KIND_KV_V)
      n_kv_bytes += memory->rows[i].n_bytes;
  g_assert_cmpuint (n_kv_bytes, >=, cache->bytes_per_cell * cache->size);
  g_assert_cmpuint (memory->live_bytes, ==, cache->bytes_per_cell * cache->streams[0].used);
  g_assert_cmpuint (memory->n_devices, ==, 1);
  g_assert_cmpuint (memory->devices[0].total_bytes, >, 0);
  g_assert_cmpuint (kvasir_process_get_resident_bytes (), >, 1024 * 1024);
  kvasir_snapshot_unref (shot);
}

/* ---- several caches */

static Rig *
new_kind (const char *file, const RigParams *params)
{
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", file, NULL);
  return rig_new_for (path, params);
}

static void
test_pair (void)
{
  const RigParams params = { 1024, 2, 16 };
  g_autoptr (Rig) rig = new_kind ("tiny-gemma3.gguf", &params);
  kvasir_mask_tap_set_shown (kvasir_session_get_mask_tap (rig->session), TRUE);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_CELLS | KVASIR_VIEW_MASK);
  const KvasirMaskShot *base = shot->mask, *sliding = base->next;
  guint n_open = 0;

  g_assert_cmpuint (shot->cells->n_caches, ==, 2);
  g_assert_cmpuint (shot->cells->caches[1].n_swa, ==, 32);
  g_assert_cmpuint (shot->cells->caches[0].streams[0].n_kv, ==, 256);
  g_assert_cmpuint (shot->cells->caches[1].streams[0].n_kv, ==, 256);
  g_assert_cmpint (shot->cells->seqs[0].pos_min, ==, 0);
  g_assert_cmpstr (base->cache_name, ==, "base");
  check_mask (base);
  g_assert_nonnull (sliding);
  g_assert_null (sliding->next);
  g_assert_cmpstr (sliding->cache_name, ==, "swa");
  g_assert_cmpuint (sliding->cache, ==, 1);
  g_assert_cmpint (sliding->row_pos[0], >, 32);
  for (guint cell = 0; cell < sliding->n_kv; cell++)
    n_open += kvasir_mask_shot_get_reason (sliding, 0, cell) == KVASIR_MASK_OPEN;
  g_assert_cmpuint (n_open, ==, 32);
  kvasir_snapshot_unref (shot);
}

/* A state knows one position, but stands for all before it; nothing is masked. */
static void
test_states (void)
{
  const RigParams params = { 512, 2, 16 };
  g_autoptr (Rig) rig = new_kind ("tiny-mamba2.gguf", &params);
  kvasir_mask_tap_set_shown (kvasir_session_get_mask_tap (rig->session), TRUE);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  const KvasirSnapshot *shot =
      snap (rig, KVASIR_VIEW_CELLS | KVASIR_VIEW_MASK | KVASIR_VIEW_MEMORY);
  const KvasirCacheShot *cache = &shot->cells->caches[0];

  g_assert_null (shot->mask);
  g_assert_cmpuint (shot->cells->n_caches, ==, 1);
  g_assert_true (cache->is_recurrent);
  g_assert_cmpuint (cache->size, ==, 2);
  g_assert_cmpuint (cache->streams[0].used, ==, 1);
  g_assert_cmpint (cache->spans[0].pos, ==, shot->cells->seqs[0].pos_max);
  g_assert_cmpint (shot->cells->seqs[0].pos_min, ==, 0);
  g_assert_cmpint (shot->cells->message_runs[0].pos, ==, 0);
  g_assert_cmpuint (shot->memory->live_bytes, ==, 0);
  kvasir_snapshot_unref (shot);
}

/* Each sequence has a stream of its own; the mask is of the stream that was read last. */
static void
test_streams (void)
{
  const RigParams params = { 1024, 3, 16, .streams = TRUE };
  g_autoptr (Rig) rig = new_kind ("tiny-llama.gguf", &params);
  kvasir_mask_tap_set_shown (kvasir_session_get_mask_tap (rig->session), TRUE);
  g_autoptr (Answer) a = rig_run (rig, new_request (11, FALSE), 0);
  g_autoptr (Answer) b = rig_run (rig, new_request (21, TRUE), 0);
  const KvasirSnapshot *shot = snap (rig, KVASIR_VIEW_CELLS | KVASIR_VIEW_MASK);
  const KvasirCacheShot *cache = &shot->cells->caches[0];

  g_assert_cmpint (a->end.seq, !=, b->end.seq);
  g_assert_cmpuint (cache->n_streams, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (cache->streams[i].used > 0, ==,
                     (gint) i == a->end.seq || (gint) i == b->end.seq);
  g_assert_cmpuint (shot->mask->stream, ==, (guint) b->end.seq);
  g_assert_cmpuint (shot->mask->n_streams, ==, 3);
  check_mask (shot->mask);
  kvasir_snapshot_unref (shot);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/views/spans-tell-every-cell", test_cells);
  g_test_add_func ("/engine/session/views/pending-shifts-part-spans", test_shifts);
  g_test_add_func ("/engine/session/views/sequences-and-messages", test_seqs);
  g_test_add_func ("/engine/session/views/mask-is-the-rule", test_mask);
  g_test_add_func ("/engine/session/views/mask-shown-late", test_mask_shown_late);
  g_test_add_func ("/engine/session/views/mask-after-stop", test_mask_after_stop);
  g_test_add_func ("/engine/session/views/memory-sums", test_memory);
  g_test_add_func ("/engine/session/views/pair-of-caches", test_pair);
  g_test_add_func ("/engine/session/views/states", test_states);
  g_test_add_func ("/engine/session/views/streams", test_streams);
  return g_test_run ();
}
