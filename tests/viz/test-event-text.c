/* Events in words, and the cells that they speak of. */
#include "tests/viz/fake.h"
#include "viz/event-text.h"

static void
check (const KvasirEvent *event, const gint32 *data, guint n_data, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_event_append_text (event, data, n_data, fake_dup_token_text, NULL, text);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_steps (void)
{
  check (&(KvasirEvent){ KVASIR_EVENT_STEP_BEGIN, .n = 1, .a = 1 }, NULL, 0,
         "reads 1 token, 1 with an output");
  check (&(KvasirEvent){ KVASIR_EVENT_UBATCH, .n = 512, .a = 0, .b = 2048 }, NULL, 0,
         "part 1: 512 tokens, reads up to 2\u2009\u2060048");
  check (&(KvasirEvent){ KVASIR_EVENT_STEP_END, .a = 0, .b = 24300 }, NULL, 0, "done in 24.3 ms");
  check (&(KvasirEvent){ KVASIR_EVENT_STEP_END, .a = -3, .b = 900 }, NULL, 0,
         "ended with code -3 after 900 µs");
}

static void
test_placement (void)
{
  const gint32 taken[] = { 635, 25, 966, 5 };
  check (&(KvasirEvent){ KVASIR_EVENT_SEARCH, .cell = 600, .n = 30, .a = 371, .b = 1 }, taken, 4,
         "search from 600 for 30 cells: 635–659, 966–970 · 371 tested, restarted at 0");
  check (&(KvasirEvent){ KVASIR_EVENT_SEARCH_FAILED, .cell = 1900, .n = 530, .a = 412, .b = 201 },
         NULL, 0,
         "no room: search from 1\u2009\u2060900 needs 530 cells, 412 are free, the longest run is "
         "201");
  check (&(KvasirEvent){ KVASIR_EVENT_HEAD, .cell = 971, .a = 600 }, NULL, 0, "head 600 → 971");
  check (&(KvasirEvent){ KVASIR_EVENT_HORIZON, .a = 2048, .b = 1792 }, NULL, 0,
         "read up to 1\u2009\u2060792 → 2\u2009\u2060048");
  check (&(KvasirEvent){ KVASIR_EVENT_CELLS, .cell = 635, .n = 25, .before = { -1, 0, { { 0 } } },
                         .after = { 1339, 0, { { 1 } } } },
         NULL, 0, "cells 635–659: free → A 1\u2009\u2060339–1\u2009\u2060363");
}

static void
test_operations (void)
{
  check (&(KvasirEvent){ KVASIR_EVENT_SEQ_RM, .seq = 0, .pos = 4, .a = 12 }, NULL, 0,
         "remove A, positions 4–11");
  check (&(KvasirEvent){ KVASIR_EVENT_SEQ_RM, .seq = -1, .pos = -1, .a = -1 }, NULL, 0,
         "remove all sequences, all positions");
  check (&(KvasirEvent){ KVASIR_EVENT_SEQ_CP, .seq = 0, .b = 1, .pos = 0, .a = 311 }, NULL, 0,
         "copy A to B, positions 0–310");
  check (&(KvasirEvent){ KVASIR_EVENT_SEQ_ADD, .seq = 1, .pos = 64, .a = -1, .b = -64 }, NULL, 0,
         "shift B by −64, positions from 64 on");
}

static void
test_trouble (void)
{
  check (&(KvasirEvent){ KVASIR_EVENT_PURGE, .seq = 0, .pos = 0, .a = 512, .cell = 17 }, NULL, 0,
         "purged A, positions 0–511, because cell 17 was used again");
  check (&(KvasirEvent){ KVASIR_EVENT_EVICT, .seq = 2, .n = 96 }, NULL, 0,
         "dropped C of an idle chat to make room: 96 cells");
  check (&(KvasirEvent){ KVASIR_EVENT_NOTE, .text = "hello" }, NULL, 0, "hello");
}

static void
test_memory (void)
{
  check (&(KvasirEvent){ KVASIR_EVENT_BUFFER, .a = 47185920, .b = KVASIR_KIND_KV_K, .text = "CPU" },
         NULL, 0, "allocated 45.0 MiB in CPU for KV cache, K");
  check (&(KvasirEvent){ KVASIR_EVENT_STATE_LOAD, .seq = -1, .n = 8, .a = 4096, .b = 0 }, NULL, 0,
         "refused to load the whole memory: 8 cells, 4 KiB");
}

static void
test_sample (void)
{
  const gint32 candidates[] = { 17, 812600, 4, 100000 };
  check (&(KvasirEvent){ KVASIR_EVENT_SAMPLE, .a = 17, .seq = 0, .pos = 420 }, candidates, 4,
         "chose \" the\" (17) for A 420 at 81.3 % of 2 candidates");
}

/* Every type has a kind and words. */
static void
test_complete (void)
{
  for (gint type = 0; type <= KVASIR_EVENT_ERROR; type++)
    {
      KvasirEvent event = { .type = type, .text = "x" };
      g_autoptr (GString) text = g_string_new (NULL);
      kvasir_event_append_text (&event, NULL, 0, NULL, NULL, text);
      g_assert_cmpuint (text->len, >, 0);
      g_assert_cmpint (kvasir_event_get_log_kind (type), <, KVASIR_N_LOG_KINDS);
    }
}

static void
check_place (const KvasirEventPlaces *places, KvasirEventType type, guint cache, const char *text)
{
  const KvasirEvent event = { type, .cache = (guint16) cache, .stream = 2 };
  g_autoptr (GString) place = g_string_new (NULL);
  kvasir_event_append_place (&event, places, place);
  g_assert_cmpstr (place->str, ==, text);
}

/* Where there are several caches or streams, what is told of one of them says so. */
static void
test_places (void)
{
  const KvasirEventPlaces one = { 1, 1, { "base" } };
  const KvasirEventPlaces pair = { 2, 1, { "base", "swa" } };
  const KvasirEventPlaces streams = { 2, 4, { "base", "swa" } };
  check_place (&one, KVASIR_EVENT_HEAD, 0, "");
  check_place (&pair, KVASIR_EVENT_HEAD, 0, "base: ");
  check_place (&pair, KVASIR_EVENT_PURGE, 1, "swa: ");
  check_place (&pair, KVASIR_EVENT_SEQ_RM, 0, "");
  check_place (&pair, KVASIR_EVENT_CELLS, 2, "");
  check_place (&streams, KVASIR_EVENT_CELLS, 1, "swa 2: ");
}

static void
test_cells (void)
{
  const gint32 taken[] = { 635, 25, 966, 5 };
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
  kvasir_event_append_cells (&(KvasirEvent){ KVASIR_EVENT_SEARCH, .cell = 600, .stream = 1 }, taken,
                             4, runs);
  kvasir_event_append_cells (&(KvasirEvent){ KVASIR_EVENT_CELLS, .cell = 7, .n = 3 }, NULL, 0,
                             runs);
  kvasir_event_append_cells (&(KvasirEvent){ KVASIR_EVENT_NOTE }, NULL, 0, runs);
  const KvasirCellRun expected[] = { { 0, 1, 635, 25 }, { 0, 1, 966, 5 }, { 0, 0, 7, 3 } };
  g_assert_cmpmem (runs->data, runs->len * sizeof (KvasirCellRun), expected, sizeof expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/event-text/steps", test_steps);
  g_test_add_func ("/viz/event-text/placement", test_placement);
  g_test_add_func ("/viz/event-text/operations-on-sequences", test_operations);
  g_test_add_func ("/viz/event-text/trouble", test_trouble);
  g_test_add_func ("/viz/event-text/memory", test_memory);
  g_test_add_func ("/viz/event-text/sample-with-its-chance", test_sample);
  g_test_add_func ("/viz/event-text/every-type-has-words", test_complete);
  g_test_add_func ("/viz/event-text/names-the-cells", test_cells);
  g_test_add_func ("/viz/event-text/places", test_places);
  return g_test_run ();
}
