#include "engine/session/snapshot.h"

static void
test_find_span (void)
{
  KvasirStreamShot streams[] = { { .first_span = 0, .n_spans = 3 },
                                 { .first_span = 3, .n_spans = 1 } };
  KvasirSpan spans[] = {
    { 2, 3, 0, 0, 0 }, { 5, 1, 9, 0, 1 }, { 20, 10, 3, 0, 0 }, { 0, 4, 0, 0, 0 }
  };
  KvasirCacheShot shot = { .n_streams = 2, .streams = streams, .spans = spans, .n_spans = 4 };
  g_test_summary ("Every cell, compared with a walk over all spans");
  for (guint stream = 0; stream < 2; stream++)
    for (guint cell = 0; cell < 40; cell++)
      {
        const KvasirSpan *expected = NULL;
        for (guint i = streams[stream].first_span;
             i < streams[stream].first_span + streams[stream].n_spans; i++)
          if (cell >= spans[i].cell && cell < spans[i].cell + spans[i].n)
            expected = &spans[i];
        g_assert_true (kvasir_cache_shot_find (&shot, stream, cell) == expected);
      }
}

static void
test_find_message (void)
{
  KvasirMessageRun runs[] = { { 0, 0, 3, 11, 0 }, { 0, 3, 2, 12, 1 }, { 2, 4, 6, 13, 2 } };
  KvasirCellsShot cells = { .n_message_runs = 3, .message_runs = runs };
  g_assert_true (kvasir_cells_shot_find_message (&cells, 0, 0) == &runs[0]);
  g_assert_true (kvasir_cells_shot_find_message (&cells, 0, 4) == &runs[1]);
  g_assert_null (kvasir_cells_shot_find_message (&cells, 0, 5));
  g_assert_null (kvasir_cells_shot_find_message (&cells, 1, 4));
  g_assert_null (kvasir_cells_shot_find_message (&cells, 2, 3));
  g_assert_true (kvasir_cells_shot_find_message (&cells, 2, 9) == &runs[2]);
  g_assert_null (kvasir_cells_shot_find_message (&cells, 2, 10));
}

static void
test_reasons (void)
{
  /* Cells: 0 and 1 of sequence 0, 2 free, 3 of sequence 1, 4 of both, 5 of 0 in the future, 6 free
   * above all others. The window is 4. */
  guint64 words[] = { 2 + 16 };
  gint32 cell_pos[64] = { 1, 7, -1, 8, 6, 9 };
  KvasirSeqSet cell_seqs[64] = { { { 1 } }, { { 1 } }, { { 0 } }, { { 2 } }, { { 3 } }, { { 1 } } };
  gint32 row_pos[] = { 8 };
  KvasirSeqSet row_seqs[] = { { { 1 } } };
  KvasirMaskShot shot = {
    .n_rows = 1,
    .n_kv = 64,
    .size = 64,
    .n_swa = 4,
    .row_pos = row_pos,
    .row_seqs = row_seqs,
    .words_per_row = 1,
    .words = words,
    .cell_pos = cell_pos,
    .cell_seqs = cell_seqs,
  };
  static const KvasirMaskReason expected[] = {
    KVASIR_MASK_OUTSIDE_WINDOW, KVASIR_MASK_OPEN,   KVASIR_MASK_EMPTY,  KVASIR_MASK_OTHER_SEQUENCE,
    KVASIR_MASK_OPEN,           KVASIR_MASK_FUTURE, KVASIR_MASK_PADDING
  };
  for (guint i = 6; i < 64; i++)
    cell_pos[i] = -1;
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpint (kvasir_mask_shot_get_reason (&shot, 0, i), ==, expected[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/snapshot/finds-the-span-of-a-cell", test_find_span);
  g_test_add_func ("/engine/session/snapshot/finds-the-message-of-a-position", test_find_message);
  g_test_add_func ("/engine/session/snapshot/names-why-an-entry-is-closed", test_reasons);
  return g_test_run ();
}
