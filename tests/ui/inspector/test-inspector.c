/* The inspector on a real engine with a tiny model, and on made-up snapshots; needs a display. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/session/snapshot-build.h"
#include "tests/viz/fake.h"
#include "ui/inspector/inspector-private.h"

typedef struct
{
  KvasirDevice *device;
  KvasirEngineClient *client;
  GtkWidget *window;
  KvasirInspector *inspector; /* inside the window */
  guint n_following;
  guint n_page;
} Fixture;

static void
count_cb (GObject *object, GParamSpec *pspec, guint *count)
{
  (*count)++;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  KvasirCpuOptions options = { .isa = KVASIR_CPU_ISA_SCALAR, .n_threads = 1 };
  fixture->device = kvasir_cpu_device_new (&options);
  fixture->client = kvasir_engine_client_new (fixture->device);
  fixture->inspector = KVASIR_INSPECTOR (kvasir_inspector_new (fixture->client));
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 800, 600);
  gtk_window_set_child (GTK_WINDOW (fixture->window), GTK_WIDGET (fixture->inspector));
  g_signal_connect (fixture->inspector, "notify::following", G_CALLBACK (count_cb),
                    &fixture->n_following);
  g_signal_connect (fixture->inspector, "notify::page", G_CALLBACK (count_cb), &fixture->n_page);
  gtk_window_present (GTK_WINDOW (fixture->window));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_finalize_object (fixture->client);
  fixture->device->vtable->free (fixture->device);
}

static void
wait_drawn (Fixture *fixture)
{
  gint64 end_us = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
  gboolean drawn = FALSE;
  guint page = kvasir_inspector_get_page (fixture->inspector);
  gulong id = g_signal_connect_swapped (fixture->inspector->views[page], "drawn",
                                        G_CALLBACK (g_atomic_int_inc), &drawn);
  kvasir_view_page_invalidate (fixture->inspector->views[page]);
  while (!drawn && g_get_monotonic_time () < end_us)
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (drawn);
  g_signal_handler_disconnect (fixture->inspector->views[page], id);
}

static void
load (Fixture *fixture)
{
  KvasirContextParams params;
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
  kvasir_context_params_init (&params);
  params.n_ctx = 2048;
  kvasir_engine_client_load (fixture->client, path, &params);
  while (kvasir_engine_client_get_state (fixture->client) != KVASIR_ENGINE_READY)
    g_main_context_iteration (NULL, TRUE);
}

static void
send (Fixture *fixture, guint max_tokens)
{
  KvasirRequest *request = kvasir_request_new (1, 2);
  g_ptr_array_add (request->messages, kvasir_message_new (1, KVASIR_ROLE_USER, "Hello there"));
  request->max_tokens = max_tokens;
  kvasir_engine_client_send (fixture->client, request);
}

/* Until the engine rests and its last snapshot is here. */
static void
wait_idle (Fixture *fixture)
{
  gint64 end_us = g_get_monotonic_time () + 30 * G_USEC_PER_SEC;
  const KvasirSnapshot *snapshot = NULL;
  do
    {
      g_main_context_iteration (NULL, TRUE);
      snapshot = kvasir_engine_client_get_snapshot (fixture->client);
    }
  while ((kvasir_engine_client_get_busy (fixture->client) || snapshot == NULL ||
          snapshot->request_id != 0 || snapshot->cells == NULL) &&
         g_get_monotonic_time () < end_us);
  g_assert_nonnull (snapshot);
}

static const char *
get_headline (Fixture *fixture)
{
  kvasir_inspector_update_headline (fixture->inspector);
  return gtk_inscription_get_text (GTK_INSCRIPTION (fixture->inspector->headline));
}

static const char *
get_details (Fixture *fixture)
{
  kvasir_inspector_update_words (fixture->inspector);
  return gtk_label_get_text (GTK_LABEL (fixture->inspector->details));
}

static KvasirSnapshotOwned *
make_snapshot (const Fake *fake, guint64 model_id)
{
  KvasirSnapshotOwned *owned = g_new0 (KvasirSnapshotOwned, 1);
  owned->n_refs = 1;
  owned->shot.model_id = model_id;
  owned->shot.step = fake->step;
  owned->shot.cells = fake_make_cells (fake);
  return owned;
}

/* A snapshot of @fake in place of the engine's, which are not listened to any more. */
static void
emit (Fixture *fixture, const Fake *fake)
{
  KvasirSnapshotOwned *owned = make_snapshot (fake, 1000);
  owned->shot.mask = fake_make_mask (fake, 4, 3);
  owned->shot.memory = fake_make_memory (0);
  g_signal_handlers_disconnect_matched (fixture->client, G_SIGNAL_MATCH_ID | G_SIGNAL_MATCH_DATA,
                                        g_signal_lookup ("snapshot", KVASIR_TYPE_ENGINE_CLIENT), 0,
                                        NULL, NULL, fixture->inspector);
  kvasir_inspector_take_snapshot (fixture->inspector, &owned->shot);
  kvasir_snapshot_unref (&owned->shot);
}

/* ---- states */

static void
test_states (Fixture *fixture, gconstpointer data)
{
  GtkStack *states = GTK_STACK (fixture->inspector->states);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (states), ==, "empty");
  g_assert_cmpstr (get_headline (fixture), ==, "no cells");
  load (fixture);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (states), ==, "pages");
  wait_idle (fixture);
  g_assert_nonnull (strstr (get_headline (fixture), "0/2\u2009\u2060048 cells"));
  kvasir_engine_client_unload (fixture->client);
  while (kvasir_engine_client_get_model (fixture->client) != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (states), ==, "empty");
  g_assert_cmpstr (get_headline (fixture), ==, "no cells");
}

/* Every page in turn while an answer is written; the headline is the snapshot's. */
static void
test_live (Fixture *fixture, gconstpointer data)
{
  load (fixture);
  send (fixture, 40);
  for (guint page = 0; page < KVASIR_N_VIEW_PAGES; page++)
    {
      kvasir_inspector_set_page (fixture->inspector, page);
      wait_drawn (fixture);
    }
  kvasir_inspector_set_page (fixture->inspector, KVASIR_INSPECTOR_LOG);
  wait_idle (fixture);
  const KvasirSnapshot *snapshot = kvasir_engine_client_get_snapshot (fixture->client);
  guint used = snapshot->cells->caches[0].streams[0].used;
  g_autofree char *expected = g_strdup_printf ("%u/2\u2009\u2060048 cells", used);
  g_assert_cmpuint (used, >, 10);
  g_assert_true (g_str_has_prefix (get_headline (fixture), expected));
  KvasirLogModel *log = kvasir_log_page_get_model (fixture->inspector->log);
  kvasir_log_model_flush (log);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (log)), >, 40);
}

/* A mask of the model before says nothing about the cells of the next one. */
static void
test_parts (void)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  KvasirSnapshotOwned *first = make_snapshot (fake, 1);
  KvasirSnapshotOwned *second = make_snapshot (fake, 1);
  KvasirSnapshotOwned *other = make_snapshot (fake, 2);
  KvasirParts parts = { NULL };
  first->shot.mask = fake_make_mask (fake, 1, 1);
  kvasir_parts_update (&parts, &first->shot);
  kvasir_parts_update (&parts, &second->shot);
  g_assert_true (kvasir_parts_get_data (&parts).mask == first->shot.mask);
  g_assert_true (kvasir_parts_get_data (&parts).cells == second->shot.cells);
  kvasir_parts_update (&parts, &other->shot);
  g_assert_null (kvasir_parts_get_data (&parts).mask);
  g_assert_true (kvasir_parts_get_data (&parts).cells == other->shot.cells);
  g_assert_cmpint (first->n_refs, ==, 1);
  kvasir_parts_clear (&parts);
  kvasir_snapshot_unref (&first->shot);
  kvasir_snapshot_unref (&second->shot);
  kvasir_snapshot_unref (&other->shot);
}

static void
test_unload_forgets (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  load (fixture);
  emit (fixture, chat);
  kvasir_inspector_set_following (fixture->inspector, FALSE);
  kvasir_engine_client_unload (fixture->client);
  while (kvasir_engine_client_get_model (fixture->client) != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (get_headline (fixture), ==, "no cells");
}

/* ---- what is asked for */

static void
count_snapshot_cb (KvasirEngineClient *client, const KvasirSnapshot *snapshot, guint *count)
{
  (*count)++;
}

static void
wait_ready (Fixture *fixture)
{
  while (kvasir_engine_client_get_busy (fixture->client))
    g_main_context_iteration (NULL, TRUE);
}

/* The engine itself stops building what nobody sees. */
static void
test_hidden (Fixture *fixture, gconstpointer data)
{
  guint n_snapshots = 0;
  load (fixture);
  send (fixture, 5);
  wait_idle (fixture);
  gtk_widget_set_visible (GTK_WIDGET (fixture->inspector), FALSE);
  send (fixture, 5);
  wait_ready (fixture);
  g_signal_connect (fixture->client, "snapshot", G_CALLBACK (count_snapshot_cb), &n_snapshots);
  send (fixture, 20);
  wait_ready (fixture);
  g_assert_cmpuint (n_snapshots, ==, 0);
}

static void
test_subscriptions (Fixture *fixture, gconstpointer data)
{
  KvasirInspector *self = fixture->inspector;
  const KvasirViews always = KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG;
  while (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (self->subscribed, ==, always | KVASIR_VIEW_MEMORY);
  kvasir_inspector_set_page (self, KVASIR_INSPECTOR_POSITIONS);
  g_assert_cmpint (self->subscribed, ==, always);
  kvasir_inspector_set_page (self, KVASIR_INSPECTOR_MASK);
  g_assert_cmpint (self->subscribed, ==, always | KVASIR_VIEW_MASK);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  g_assert_cmpint (self->subscribed, ==, 0);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  g_assert_cmpint (self->subscribed, ==, always | KVASIR_VIEW_MASK);
}

/* ---- following */

static void
test_pause (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  g_autoptr (Fake) forks = fake_new_forks ();
  gboolean following;
  load (fixture);
  emit (fixture, chat);
  g_assert_true (g_str_has_prefix (get_headline (fixture), "1\u2009\u2060755/4\u2009\u2060096"));
  g_object_set (fixture->inspector, "following", FALSE, NULL);
  emit (fixture, forks);
  g_assert_true (g_str_has_prefix (get_headline (fixture), "1\u2009\u2060755/4\u2009\u2060096"));
  g_object_set (fixture->inspector, "following", TRUE, NULL);
  g_object_set (fixture->inspector, "following", TRUE, NULL);
  g_assert_true (g_str_has_prefix (get_headline (fixture), "2\u2009\u2060388/4\u2009\u2060096"));
  g_object_get (fixture->inspector, "following", &following, NULL);
  g_assert_true (following);
  g_assert_cmpuint (fixture->n_following, ==, 2);
}

static void
test_lock (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  const KvasirThing cell = { KVASIR_THING_CELL, .cell = 420 };
  load (fixture);
  emit (fixture, chat);
  wait_drawn (fixture);
  kvasir_inspector_lock (fixture->inspector, &cell);
  g_assert_false (fixture->inspector->following);
  g_assert_true (g_str_has_prefix (get_details (fixture), "cell 420 · position 420 · "));
  /* The same token on the next page. */
  kvasir_inspector_set_page (fixture->inspector, KVASIR_INSPECTOR_POSITIONS);
  wait_drawn (fixture);
  g_assert_true (g_str_has_prefix (get_details (fixture), "A 420 · cell 420 · "));
  g_assert_true (kvasir_inspector_clear_selection (fixture->inspector));
  g_assert_false (kvasir_inspector_clear_selection (fixture->inspector));
  g_assert_false (g_str_has_prefix (get_details (fixture), "A 420"));
}

static void
test_message (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  load (fixture);
  emit (fixture, chat);
  kvasir_inspector_set_page (fixture->inspector, KVASIR_INSPECTOR_LOG);
  kvasir_inspector_show_message_cells (fixture->inspector, 3);
  g_assert_cmpint (kvasir_inspector_get_page (fixture->inspector), ==, KVASIR_INSPECTOR_CELLS);
  wait_drawn (fixture);
  g_assert_nonnull (strstr (get_details (fixture), "634 cells"));
  g_assert_true (fixture->inspector->following);
}

static void
test_page (Fixture *fixture, gconstpointer data)
{
  guint page;
  g_object_set (fixture->inspector, "page", KVASIR_INSPECTOR_MEMORY, NULL);
  g_object_get (fixture->inspector, "page", &page, NULL);
  g_assert_cmpuint (page, ==, KVASIR_INSPECTOR_MEMORY);
  g_assert_cmpuint (fixture->n_page, ==, 1);
  kvasir_inspector_set_page (fixture->inspector, KVASIR_INSPECTOR_MEMORY);
  g_assert_cmpuint (fixture->n_page, ==, 1);
}

/* ---- the log and the text form */

/* Whether a label that is to be seen in @widget begins with @text. */
static gboolean
shows_label (GtkWidget *widget, const char *text)
{
  if (!gtk_widget_get_visible (widget))
    return FALSE;
  if (GTK_IS_LABEL (widget) && g_str_has_prefix (gtk_label_get_text (GTK_LABEL (widget)), text))
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (shows_label (child, text))
      return TRUE;
  return FALSE;
}

static void
test_empty_log (Fixture *fixture, gconstpointer data)
{
  KvasirInspector *self = fixture->inspector;
  KvasirLogModel *model = kvasir_log_page_get_model (self->log);
  g_assert_true (shows_label (GTK_WIDGET (self->log), "Nothing to list yet"));
  kvasir_log_model_append_note (model, "a note");
  kvasir_log_model_flush (model);
  g_assert_false (shows_label (GTK_WIDGET (self->log), "Nothing to list yet"));
  kvasir_log_model_set_filter (model, 0);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (model)), ==, 0);
  g_assert_true (shows_label (GTK_WIDGET (self->log), "Nothing to list yet"));
}

static void
test_log_line (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  KvasirInspector *self = fixture->inspector;
  KvasirLogModel *model = kvasir_log_page_get_model (self->log);
  const gint32 taken[] = { 635, 25 };
  guint row;
  const KvasirEvent event = { .type = KVASIR_EVENT_SEARCH, .n = 25, .a = 25, .cell = 635 };
  load (fixture);
  emit (fixture, chat);
  kvasir_inspector_set_page (self, KVASIR_INSPECTOR_LOG);
  kvasir_log_model_flush (model);
  row = g_list_model_get_n_items (G_LIST_MODEL (model));
  kvasir_log_model_append (model, &event, taken, 2);
  kvasir_log_model_flush (model);
  GtkSingleSelection *selection = kvasir_log_page_get_selection (self->log);
  gtk_single_selection_set_selected (selection, row);
  g_assert_cmpint (self->locked.kind, ==, KVASIR_THING_RUNS);
  g_assert_false (self->following);
  g_assert_nonnull (strstr (get_details (fixture), "search from 635 for 25 cells"));
  g_assert_nonnull (strstr (get_details (fixture), "25 cells = 562.5 KiB"));
  /* A line without cells is a choice too. */
  kvasir_log_model_append_note (model, "a note");
  kvasir_log_model_flush (model);
  gtk_single_selection_set_selected (selection, row + 1);
  g_assert_cmpint (self->locked.kind, ==, KVASIR_THING_NONE);
  g_assert_cmpstr (get_details (fixture), ==, "a note");
}

static void
test_text_form (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Fake) chat = fake_new_chat ();
  KvasirInspector *self = fixture->inspector;
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text));
  GtkTextIter start, end;
  load (fixture);
  emit (fixture, chat);
  wait_drawn (fixture);
  gtk_stack_set_visible_child_name (GTK_STACK (self->forms), "text");
  kvasir_inspector_update_words (self);
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  g_autofree char *text = gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
  g_assert_nonnull (strstr (text, "shared by 2+: 311\n"));
  g_assert_nonnull (strstr (text, "cells 635–659: free\n"));
}

/* ---- the end */

static void
test_destroyed_while_writing (Fixture *fixture, gconstpointer data)
{
  load (fixture);
  send (fixture, 0);
  while (kvasir_engine_client_get_state (fixture->client) != KVASIR_ENGINE_WRITING)
    g_main_context_iteration (NULL, TRUE);
  g_object_ref (fixture->inspector);
  gtk_window_set_child (GTK_WINDOW (fixture->window), NULL);
  g_assert_finalize_object (fixture->inspector);
  for (guint i = 0; i < 50; i++)
    g_main_context_iteration (NULL, FALSE);
  kvasir_engine_client_stop (fixture->client);
}

#define ADD(path, func) g_test_add (path, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  ADD ("/ui/inspector/empty-without-a-model", test_states);
  ADD ("/ui/inspector/follows-an-answer-on-every-page", test_live);
  ADD ("/ui/inspector/forgets-an-unloaded-model", test_unload_forgets);
  g_test_add_func ("/ui/inspector/parts-of-another-model-are-dropped", test_parts);
  ADD ("/ui/inspector/asks-only-for-what-is-on-screen", test_subscriptions);
  ADD ("/ui/inspector/hidden-gets-no-snapshots", test_hidden);
  ADD ("/ui/inspector/stands-still-while-paused", test_pause);
  ADD ("/ui/inspector/lock-pauses-and-goes-along-between-pages", test_lock);
  ADD ("/ui/inspector/shows-the-cells-of-a-message", test_message);
  ADD ("/ui/inspector/page-is-a-property", test_page);
  ADD ("/ui/inspector/empty-log-says-why", test_empty_log);
  ADD ("/ui/inspector/line-of-the-log-stands-for-its-cells", test_log_line);
  ADD ("/ui/inspector/text-form-tells-the-page", test_text_form);
  ADD ("/ui/inspector/destroyed-in-the-middle-of-an-answer", test_destroyed_while_writing);
  return g_test_run ();
}
