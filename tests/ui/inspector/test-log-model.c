/* The list of events: bounded, filtered, told about changes in portions. */
#include <string.h>

#include "ui/inspector/log-model.h"

typedef struct
{
  KvasirLogModel *model;
  guint n_rows; /* as the list's signals have it */
  guint n_signals;
} Fixture;

static void
items_changed_cb (GListModel *list, guint position, guint removed, guint added, Fixture *fixture)
{
  g_assert_cmpuint (position + removed, <=, fixture->n_rows);
  fixture->n_rows += added;
  fixture->n_rows -= removed;
  fixture->n_signals++;
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, fixture->n_rows);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->model = kvasir_log_model_new ();
  g_signal_connect (fixture->model, "items-changed", G_CALLBACK (items_changed_cb), fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_assert_finalize_object (fixture->model);
}

/* Even numbers are heads, odd ones samples. */
static void
append (Fixture *fixture, guint from, guint n)
{
  for (guint i = from; i < from + n; i++)
    {
      KvasirEvent event = { .type = i % 2 == 0 ? KVASIR_EVENT_HEAD : KVASIR_EVENT_SAMPLE,
                            .step = i + 1,
                            .cell = (gint32) i,
                            .a = i };
      kvasir_log_model_append (fixture->model, &event, NULL, 0);
    }
}

static void
assert_step (Fixture *fixture, guint row, guint step)
{
  g_autoptr (KvasirLogEntry) entry = g_list_model_get_item (G_LIST_MODEL (fixture->model), row);
  g_autoptr (GString) digits = g_string_new (NULL);
  g_assert_nonnull (entry);
  for (const char *p = kvasir_log_entry_get_step (entry); *p != '\0'; p++)
    if (g_ascii_isdigit (*p))
      g_string_append_c (digits, *p);
  g_assert_cmpuint (g_ascii_strtoull (digits->str, NULL, 10), ==, step);
}

static void
test_flush (Fixture *fixture, gconstpointer data)
{
  append (fixture, 0, 100);
  g_assert_cmpuint (fixture->n_rows, ==, 0);
  g_assert_cmpuint (kvasir_log_model_get_n_pending (fixture->model), ==, 100);
  g_assert_true (kvasir_log_model_flush (fixture->model));
  g_assert_false (kvasir_log_model_flush (fixture->model));
  g_assert_cmpuint (fixture->n_rows, ==, 100);
  g_assert_cmpuint (fixture->n_signals, ==, 1);
  assert_step (fixture, 0, 1);
  assert_step (fixture, 99, 100);
  g_assert_null (g_list_model_get_item (G_LIST_MODEL (fixture->model), 100));
}

static void
test_capacity (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 40; i++)
    {
      append (fixture, i * 700, 700);
      kvasir_log_model_flush (fixture->model);
    }
  g_assert_cmpuint (fixture->n_rows, ==, KVASIR_LOG_CAPACITY);
  assert_step (fixture, 0, 28000 - KVASIR_LOG_CAPACITY + 1);
  assert_step (fixture, KVASIR_LOG_CAPACITY - 1, 28000);
  g_assert_cmpuint (kvasir_log_model_get_n_dropped (fixture->model), ==,
                    28000 - KVASIR_LOG_CAPACITY);
  /* At most two per flush. */
  g_assert_cmpuint (fixture->n_signals, <=, 80);
}

/* Nobody flushes while a person reads further up; the rows stay true all the same. */
static void
test_unattended (Fixture *fixture, gconstpointer data)
{
  append (fixture, 0, 3000);
  kvasir_log_model_flush (fixture->model);
  append (fixture, 3000, 60000);
  g_assert_cmpuint (fixture->n_rows, ==, 0);
  g_assert_cmpuint (fixture->n_signals, <=, 5);
  kvasir_log_model_flush (fixture->model);
  g_assert_cmpuint (fixture->n_rows, ==, KVASIR_LOG_CAPACITY);
  assert_step (fixture, KVASIR_LOG_CAPACITY - 1, 63000);
}

static void
test_filter (Fixture *fixture, gconstpointer data)
{
  append (fixture, 0, 1000);
  kvasir_log_model_flush (fixture->model);
  kvasir_log_model_set_filter (fixture->model, KVASIR_LOG_TOKENS);
  g_assert_cmpuint (fixture->n_rows, ==, 500);
  assert_step (fixture, 0, 2);
  append (fixture, 1000, 10);
  kvasir_log_model_flush (fixture->model);
  g_assert_cmpuint (fixture->n_rows, ==, 505);
  kvasir_log_model_set_filter (fixture->model, KVASIR_LOG_MEMORY);
  g_assert_cmpuint (fixture->n_rows, ==, 0);
  kvasir_log_model_set_filter (fixture->model, KVASIR_LOG_ALL);
  g_assert_cmpuint (fixture->n_rows, ==, 1010);
}

static void
count_cb (KvasirLogEntry *entry, guint *n)
{
  (*n)++;
}

/* The list has the newest rows only, and what comes is shown in the places that are there. */
static void
test_limit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirLogEntry) place = NULL;
  guint n_changes = 0, n_signals;
  append (fixture, 0, 100);
  kvasir_log_model_flush (fixture->model);
  kvasir_log_model_set_limit (fixture->model, 8);
  g_assert_cmpuint (fixture->n_rows, ==, 100);
  append (fixture, 100, 10);
  g_assert_true (kvasir_log_model_flush (fixture->model));
  g_assert_cmpuint (fixture->n_rows, ==, 8);
  g_assert_cmpuint (kvasir_log_model_get_n_hidden (fixture->model), ==, 102);
  assert_step (fixture, 0, 103);
  assert_step (fixture, 7, 110);
  place = g_list_model_get_item (G_LIST_MODEL (fixture->model), 7);
  g_signal_connect (place, "changed", G_CALLBACK (count_cb), &n_changes);
  n_signals = fixture->n_signals;
  for (guint i = 110; i < 30000; i += 70)
    {
      append (fixture, i, 70);
      g_assert_true (kvasir_log_model_flush (fixture->model));
      assert_step (fixture, 7, i + 70);
    }
  g_assert_cmpuint (n_changes, ==, 427);
  g_assert_cmpuint (fixture->n_signals, ==, n_signals);
  kvasir_log_model_set_limit (fixture->model, 0);
  g_assert_cmpuint (fixture->n_rows, ==, KVASIR_LOG_CAPACITY);
  assert_step (fixture, 0, 30000 - KVASIR_LOG_CAPACITY + 1);
  assert_step (fixture, KVASIR_LOG_CAPACITY - 1, 30000);
}

/* Fewer rows than places: by a filter, and by what leaves the ring. */
static void
test_limit_with_few_rows (Fixture *fixture, gconstpointer data)
{
  append (fixture, 0, 40);
  kvasir_log_model_set_limit (fixture->model, 30);
  kvasir_log_model_flush (fixture->model);
  g_assert_cmpuint (fixture->n_rows, ==, 30);
  kvasir_log_model_set_filter (fixture->model, KVASIR_LOG_TOKENS);
  g_assert_cmpuint (fixture->n_rows, ==, 20);
  kvasir_log_model_set_limit (fixture->model, 15);
  append (fixture, 40, 2);
  kvasir_log_model_flush (fixture->model);
  g_assert_cmpuint (fixture->n_rows, ==, 15);
  assert_step (fixture, 14, 42);
  for (guint i = 0; i < 2 * KVASIR_LOG_CAPACITY; i++)
    kvasir_log_model_append_note (fixture->model, "of another kind");
  kvasir_log_model_flush (fixture->model);
  g_assert_cmpuint (fixture->n_rows, ==, 0);
}

static void
test_entries (Fixture *fixture, gconstpointer data)
{
  const gint32 taken[] = { 8, 3 };
  const KvasirEvent search = { .type = KVASIR_EVENT_SEARCH, .step = 402, .n = 3, .a = 3 };
  kvasir_log_model_append (fixture->model, &search, taken, 2);
  kvasir_log_model_append_note (fixture->model, "something");
  kvasir_log_model_flush (fixture->model);
  g_autoptr (KvasirLogEntry) first = g_list_model_get_item (G_LIST_MODEL (fixture->model), 0);
  g_autoptr (KvasirLogEntry) again = g_list_model_get_item (G_LIST_MODEL (fixture->model), 0);
  g_autoptr (KvasirLogEntry) note = g_list_model_get_item (G_LIST_MODEL (fixture->model), 1);
  const GArray *runs = kvasir_log_entry_get_runs (first);
  g_assert_true (first == again);
  g_assert_cmpstr (kvasir_log_entry_get_step (first), ==, "402");
  g_assert_cmpint (kvasir_log_entry_get_kind (first), ==, KVASIR_LOG_PLACEMENT);
  g_assert_cmpuint (runs->len, ==, 1);
  g_assert_cmpuint (g_array_index (runs, KvasirCellRun, 0).cell, ==, 8);
  g_assert_cmpuint (g_array_index (runs, KvasirCellRun, 0).n, ==, 3);
  g_assert_cmpstr (kvasir_log_entry_get_text (note), ==, "something");
  g_assert_cmpstr (kvasir_log_entry_get_step (note), ==, "");
}

/* An ubatch of thousands of tokens brings thousands of numbers. */
static void
test_long_data (Fixture *fixture, gconstpointer data)
{
  g_autofree gint32 *numbers = g_new0 (gint32, 4096);
  const KvasirEvent event = { .type = KVASIR_EVENT_SEARCH, .n = 2048 };
  for (guint i = 0; i < 4096; i++)
    numbers[i] = (gint32) i + 1;
  kvasir_log_model_append (fixture->model, &event, numbers, 4096);
  kvasir_log_model_flush (fixture->model);
  g_autoptr (KvasirLogEntry) entry = g_list_model_get_item (G_LIST_MODEL (fixture->model), 0);
  g_assert_nonnull (strstr (kvasir_log_entry_get_text (entry), ", …"));
}

#define ADD(path, func) g_test_add (path, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/ui/inspector/log-model/rows-come-with-a-flush", test_flush);
  ADD ("/ui/inspector/log-model/keeps-the-newest", test_capacity);
  ADD ("/ui/inspector/log-model/stays-true-without-a-flush", test_unattended);
  ADD ("/ui/inspector/log-model/filter-shows-one-kind", test_filter);
  ADD ("/ui/inspector/log-model/limit-leaves-the-newest-in-places", test_limit);
  ADD ("/ui/inspector/log-model/limit-with-few-rows", test_limit_with_few_rows);
  ADD ("/ui/inspector/log-model/entries-say-step-words-and-cells", test_entries);
  ADD ("/ui/inspector/log-model/long-data-is-cut", test_long_data);
  return g_test_run ();
}
