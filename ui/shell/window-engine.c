#include <glib/gi18n.h>

#include "ui/shell/explain.h"
#include "ui/shell/window-private.h"

/* The meter follows every snapshot; prices and the chat list change slowly. */
#define SLOW_SNAPSHOT_MS 250

/* ---- opening a model */

void
kvasir_window_load (KvasirWindow *self, const char *path, guint n_ctx)
{
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  if (n_ctx > 0)
    params.n_ctx = n_ctx;
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->banner));
  g_free (self->loading_path);
  self->loading_path = g_strdup (path);
  self->load_request = kvasir_engine_client_load (self->client, path, &params);
  if (self->current == NULL && kvasir_history_get_loaded (self->history))
    kvasir_window_show_new_chat (self);
}

static void
loaded (KvasirWindow *self)
{
  g_object_set (self->settings, "last-model", self->loading_path, NULL);
  g_clear_pointer (&self->loading_path, g_free);
  self->load_request = 0;
}

static void
load_failed (KvasirWindow *self, const KvasirNotice *notice)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };
  g_autofree char *path = g_steal_pointer (&self->loading_path);
  KvasirConversation *conversation =
      kvasir_chat_page_get_conversation (KVASIR_CHAT_PAGE (self->chat));

  self->load_request = 0;
  kvasir_explain_load (&words, notice->error, path);
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->banner), KVASIR_NOTICE_BAR_ERROR, words.title,
                          words.detail);
  kvasir_notice_bar_add_action (KVASIR_NOTICE_BAR (self->banner), _ ("Open another file…"),
                                "win.open");
  /* An empty chat without a model has nothing to offer; the list of models has. */
  if (conversation == NULL || g_list_model_get_n_items (G_LIST_MODEL (conversation)) == 0)
    kvasir_window_show_chat (self, NULL);
}

static void
evicted (KvasirWindow *self, const KvasirNotice *notice)
{
  KvasirChat *chat = kvasir_history_find_chat (self->history, notice->chat_id);
  g_autofree char *text = NULL;

  if (chat == NULL)
    return;
  text = g_strdup_printf (_ ("“%s” left the memory to make room; its text stays"),
                          kvasir_chat_get_title (chat));
  kvasir_window_toast (self, text);
}

static void
notice_cb (KvasirWindow *self, const KvasirNotice *notice)
{
  if (notice->kind == KVASIR_NOTICE_EVICTED)
    evicted (self, notice);
  if (notice->kind == KVASIR_NOTICE_GUESSES)
    kvasir_window_follow_guesses (self, notice);
  if (self->load_request == 0 || notice->request_id != self->load_request)
    return;
  if (notice->kind == KVASIR_NOTICE_LOADED)
    loaded (self);
  else if (notice->kind == KVASIR_NOTICE_FAILED)
    load_failed (self, notice);
}

static void
model_cb (KvasirWindow *self)
{
  if (kvasir_engine_client_get_model (self->client) == NULL)
    {
      kvasir_meter_set_snapshot (KVASIR_METER (self->meter), NULL);
      kvasir_chat_page_set_snapshot (KVASIR_CHAT_PAGE (self->chat), NULL);
    }
  kvasir_window_update_title (self);
  kvasir_window_update_actions (self);
}

/* ---- snapshots */

/* Which chats hold cells, and with how many branches. */
static void
update_chats (KvasirWindow *self, const KvasirCellsShot *cells)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->history));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (KvasirChat) chat = g_list_model_get_item (G_LIST_MODEL (self->history), i);
      guint n_sequences = 0;

      for (guint j = 0; cells != NULL && j < cells->n_seqs; j++)
        n_sequences += cells->seqs[j].chat_id == kvasir_chat_get_id (chat);
      if (kvasir_chat_get_n_sequences (chat) != n_sequences)
        g_object_set (chat, "n-sequences", n_sequences, NULL);
    }
}

static gboolean
slow_snapshot_cb (gpointer user_data)
{
  KvasirWindow *self = user_data;
  const KvasirSnapshot *snapshot = kvasir_engine_client_get_snapshot (self->client);

  self->snapshot_id = 0;
  update_chats (self, snapshot != NULL ? snapshot->cells : NULL);
  kvasir_chat_page_set_snapshot (KVASIR_CHAT_PAGE (self->chat), snapshot);
  return G_SOURCE_REMOVE;
}

static void
snapshot_cb (KvasirWindow *self, const KvasirSnapshot *snapshot)
{
  kvasir_meter_set_snapshot (KVASIR_METER (self->meter), snapshot);
  if (self->snapshot_id == 0)
    self->snapshot_id = g_timeout_add (SLOW_SNAPSHOT_MS, slow_snapshot_cb, self);
}

void
kvasir_window_connect_engine (KvasirWindow *self)
{
  g_signal_connect_object (self->client, "notice", G_CALLBACK (notice_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->client, "snapshot", G_CALLBACK (snapshot_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->client, "notify::model", G_CALLBACK (model_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->client, "notify::busy", G_CALLBACK (kvasir_window_update_actions),
                           self, G_CONNECT_SWAPPED);
  kvasir_engine_client_add_views (self->client, KVASIR_VIEW_CELLS);
  self->views_added = TRUE;
}

/* ---- files by chooser and drop */

static void
response_cb (GtkNativeDialog *dialog, int response, KvasirWindow *self)
{
  KvasirWindowPathFunc chosen = g_object_get_data (G_OBJECT (dialog), "kvasir-chosen");
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  path = file != NULL ? g_file_get_path (file) : NULL;
  if (path != NULL)
    chosen (self, path);
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

void
kvasir_window_ask_for_model (KvasirWindow *self, const char *title, KvasirWindowPathFunc chosen)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      title, GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), _ ("_Cancel"));
  g_autoptr (GtkFileFilter) models = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (models, _ ("Models (GGUF)"));
  gtk_file_filter_add_suffix (models, "gguf");
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), models);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), all);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_object_set_data (G_OBJECT (dialog), "kvasir-chosen", chosen);
  g_signal_connect_object (dialog, "response", G_CALLBACK (response_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
open_model (KvasirWindow *self, const char *path)
{
  kvasir_window_load (self, path, 0);
}

void
kvasir_window_choose_file (KvasirWindow *self)
{
  kvasir_window_ask_for_model (self, _ ("Open a Model"), open_model);
}

static gboolean
drop_cb (GtkDropTarget *target, const GValue *value, double x, double y, KvasirWindow *self)
{
  GSList *files = gdk_file_list_get_files (g_value_get_boxed (value));
  g_autofree char *path = files != NULL ? g_file_get_path (files->data) : NULL;

  g_slist_free (files);
  if (path == NULL)
    return FALSE;
  kvasir_window_load (self, path, 0);
  return TRUE;
}

void
kvasir_window_add_drop_target (KvasirWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect (target, "drop", G_CALLBACK (drop_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}
