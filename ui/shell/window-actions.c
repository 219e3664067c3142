#include <glib/gi18n.h>

#include "ui/shell/window-private.h"

#define DELETE_TOAST_SECONDS 8

/* ---- models */

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_choose_file (user_data);
}

static void
open_path_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_load (user_data, g_variant_get_string (parameter, NULL), 0);
}

static void
models_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  kvasir_model_library_refresh (self->library);
  kvasir_window_show_chat (self, NULL);
}

static void
close_model_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  kvasir_engine_client_unload (self->client);
  g_object_set (self->settings, "last-model", "", NULL);
}

/* Chats stay as they are; the next answer reads its own again. */
static void
free_cells_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_engine_client_clear (((KvasirWindow *) user_data)->client);
  kvasir_window_toast (user_data, _ ("All cells are free. The next answer reads its chat again."));
}

static void
larger_window_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;
  KvasirModel *model = kvasir_engine_client_get_model (self->client);
  g_autofree char *path = NULL;

  if (model == NULL)
    return;
  path = g_strdup (kvasir_model_get_info (model)->path);
  kvasir_window_load (self, path, kvasir_engine_client_get_params (self->client)->n_ctx * 2);
}

/* ---- chats */

static void
new_chat_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_show_new_chat (user_data);
}

static KvasirChat *
find_chat (KvasirWindow *self, GVariant *parameter)
{
  return kvasir_history_find_chat (self->history, g_variant_get_uint64 (parameter));
}

static void
undo_delete_cb (AdwToast *toast, KvasirWindow *self)
{
  KvasirChat *chat = g_object_get_data (G_OBJECT (toast), "kvasir-chat");

  kvasir_history_undo_delete (self->history, chat);
  kvasir_window_show_chat (self, chat);
}

/* Comes after Undo as well; then there is nothing to finish. */
static void
delete_dismissed_cb (AdwToast *toast, KvasirWindow *self)
{
  KvasirChat *chat = g_object_get_data (G_OBJECT (toast), "kvasir-chat");

  if (self->history == NULL || kvasir_history_find_chat (self->history, kvasir_chat_get_id (chat)))
    return;
  kvasir_engine_client_drop_chat (self->client, kvasir_chat_get_id (chat));
  kvasir_history_finish_delete (self->history, chat);
}

static void
delete_chat (KvasirWindow *self, KvasirChat *chat)
{
  g_autofree char *text = g_strdup_printf (_ ("“%s” deleted"), kvasir_chat_get_title (chat));
  AdwToast *toast = adw_toast_new (text);

  if (kvasir_chat_get_busy (chat))
    kvasir_answers_stop (self->answers);
  adw_toast_set_button_label (toast, _ ("Undo"));
  adw_toast_set_timeout (toast, DELETE_TOAST_SECONDS);
  g_object_set_data_full (G_OBJECT (toast), "kvasir-chat", g_object_ref (chat), g_object_unref);
  g_signal_connect_object (toast, "button-clicked", G_CALLBACK (undo_delete_cb), self, 0);
  g_signal_connect_object (toast, "dismissed", G_CALLBACK (delete_dismissed_cb), self, 0);
  kvasir_history_delete_chat (self->history, chat);
  if (chat == self->current)
    {
      g_autoptr (KvasirChat) next = g_list_model_get_item (G_LIST_MODEL (self->history), 0);

      kvasir_window_show_chat (self, next);
    }
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), toast);
}

static void
chat_delete_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirChat *chat = find_chat (user_data, parameter);

  if (chat != NULL)
    delete_chat (user_data, chat);
}

static void
chat_rename_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirChat *chat = find_chat (user_data, parameter);

  if (chat != NULL)
    kvasir_window_ask_title (user_data, chat);
}

static void
rename_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_ask_title (user_data, ((KvasirWindow *) user_data)->current);
}

static void
delete_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  delete_chat (user_data, ((KvasirWindow *) user_data)->current);
}

static void
step_chat (KvasirWindow *self, int delta)
{
  KvasirChat *chat = kvasir_chat_list_get_neighbour (KVASIR_CHAT_LIST (self->chats), delta);

  if (chat != NULL)
    kvasir_window_show_chat (self, chat);
}

static void
previous_chat_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  step_chat (user_data, -1);
}

static void
next_chat_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  step_chat (user_data, 1);
}

/* ---- panes and focus */

static void
toggle_chats_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_panes_toggle_start (KVASIR_PANES (((KvasirWindow *) user_data)->panes));
}

static void
toggle_inspector_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_panes_toggle_end (KVASIR_PANES (((KvasirWindow *) user_data)->panes));
}

static void
show_inspector_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirPanes *panes = KVASIR_PANES (((KvasirWindow *) user_data)->panes);

  if (!kvasir_panes_get_end_shown (panes))
    kvasir_panes_toggle_end (panes);
}

/* The state is set by the panes; nobody else may. */
static void
change_pane_state_cb (GSimpleAction *action, GVariant *state, gpointer user_data)
{
  g_simple_action_set_state (action, state);
}

static void
focus_search_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  if (!kvasir_panes_get_start_shown (KVASIR_PANES (self->panes)))
    kvasir_panes_toggle_start (KVASIR_PANES (self->panes));
  kvasir_chat_list_focus_search (KVASIR_CHAT_LIST (self->chats));
}

static void
focus_composer_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_chat_page_focus_composer (KVASIR_CHAT_PAGE (((KvasirWindow *) user_data)->chat));
}

static void
escape_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  /* What has the focus comes first; then what lies on top. */
  if (gtk_widget_get_focus_child (self->inspector) != NULL &&
      kvasir_inspector_clear_selection (KVASIR_INSPECTOR (self->inspector)))
    return;
  if (!kvasir_panes_close_overlays (KVASIR_PANES (self->panes)))
    kvasir_chat_page_escape (KVASIR_CHAT_PAGE (self->chat));
}

static void
scroll_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_chat_page_scroll_pages (KVASIR_CHAT_PAGE (((KvasirWindow *) user_data)->chat),
                                 g_variant_get_double (parameter));
}

/* ---- settings and words */

static void
system_prompt_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_ask_system_prompt (user_data);
}

static void
sampling_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_chat_page_show_sampling (KVASIR_CHAT_PAGE (((KvasirWindow *) user_data)->chat));
}

static void
adapt_chat_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_chat_page_adapt (KVASIR_CHAT_PAGE (((KvasirWindow *) user_data)->chat));
}

static void
remember_sampling_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  g_object_set (((KvasirWindow *) user_data)->settings, "sampling",
                g_variant_get_string (parameter, NULL), NULL);
}

static void
color_scheme_cb (GSimpleAction *action, GVariant *state, gpointer user_data)
{
  static const char *const names[] = { "system", "light", "dark" };
  static const AdwColorScheme schemes[] = { ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                            ADW_COLOR_SCHEME_FORCE_DARK };
  KvasirWindow *self = user_data;
  const char *name = g_variant_get_string (state, NULL);

  for (int i = 0; i < (int) G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], name))
      {
        adw_style_manager_set_color_scheme (adw_style_manager_get_default (), schemes[i]);
        g_object_set (self->settings, "color-scheme", i, NULL);
        g_simple_action_set_state (action, state);
      }
}

static void
open_link_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_ask_link (user_data, g_variant_get_string (parameter, NULL));
}

static void
copy_text_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (user_data),
                          g_variant_get_string (parameter, NULL));
  kvasir_window_toast (user_data, _ ("Copied"));
}

static void
toast_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_toast (user_data, g_variant_get_string (parameter, NULL));
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  kvasir_window_show_about (user_data);
}

static const GActionEntry entries[] = {
  { "open", open_cb },
  { "open-path", open_path_cb, "s" },
  { "models", models_cb },
  { "close-model", close_model_cb },
  { "free-cells", free_cells_cb },
  { "larger-window", larger_window_cb },
  { "new-chat", new_chat_cb },
  { "chat-delete", chat_delete_cb, "t" },
  { "chat-rename", chat_rename_cb, "t" },
  { "rename", rename_cb },
  { "delete", delete_cb },
  { "previous-chat", previous_chat_cb },
  { "next-chat", next_chat_cb },
  { "toggle-chats", toggle_chats_cb, NULL, "false", change_pane_state_cb },
  { "toggle-inspector", toggle_inspector_cb, NULL, "false", change_pane_state_cb },
  { "show-inspector", show_inspector_cb },
  { "focus-search", focus_search_cb },
  { "focus-composer", focus_composer_cb },
  { "escape", escape_cb },
  { "scroll", scroll_cb, "d" },
  { "system-prompt", system_prompt_cb },
  { "sampling", sampling_cb },
  { "adapt-chat", adapt_chat_cb },
  { "remember-sampling", remember_sampling_cb, "s" },
  { "color-scheme", NULL, "s", "'system'", color_scheme_cb },
  { "open-link", open_link_cb, "s" },
  { "copy-text", copy_text_cb, "s" },
  { "toast", toast_cb, "s" },
  { "about", about_cb },
};

void
kvasir_window_add_actions (KvasirWindow *self)
{
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/org/kvasir/Kvasir/ui/shortcuts.ui");

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  gtk_application_window_set_help_overlay (
      GTK_APPLICATION_WINDOW (self),
      GTK_SHORTCUTS_WINDOW (gtk_builder_get_object (builder, "help_overlay")));
}

static void
set_enabled (KvasirWindow *self, const char *name, gboolean enabled)
{
  g_simple_action_set_enabled (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), name)), enabled);
}

void
kvasir_window_update_actions (KvasirWindow *self)
{
  gboolean chat = self->current != NULL;
  gboolean model = kvasir_engine_client_get_model (self->client) != NULL;
  gboolean busy = chat && kvasir_chat_get_busy (self->current);

  set_enabled (self, "new-chat", kvasir_history_get_loaded (self->history));
  set_enabled (self, "rename", chat);
  set_enabled (self, "delete", chat);
  set_enabled (self, "system-prompt", chat);
  set_enabled (self, "sampling", chat);
  set_enabled (self, "close-model", model);
  set_enabled (self, "free-cells", model && !kvasir_engine_client_get_busy (self->client));
  set_enabled (self, "retry-last", chat && model && !busy);
}

void
kvasir_window_add_accels (GtkApplication *application)
{
  static const struct
  {
    const char *action;
    const char *keys[3];
  } accels[] = {
    { "win.new-chat", { "<Ctrl>n" } },
    { "win.open", { "<Ctrl>o" } },
    { "window.close", { "<Ctrl>w" } },
    { "win.focus-search", { "<Ctrl>f", "<Ctrl>k" } },
    { "win.focus-composer", { "<Ctrl>l" } },
    { "win.toggle-chats", { "F9", "<Ctrl>b" } },
    { "win.toggle-inspector", { "<Ctrl>i", "F12" } },
    { "win.retry-last", { "<Ctrl>r" } },
    { "win.copy-last", { "<Ctrl><Shift>c" } },
    { "win.previous-chat", { "<Ctrl>Page_Up" } },
    { "win.next-chat", { "<Ctrl>Page_Down" } },
    { "win.scroll(-0.9)", { "<Shift>Page_Up" } },
    { "win.scroll(0.9)", { "<Shift>Page_Down" } },
    { "win.escape", { "Escape" } },
    { "win.show-help-overlay", { "<Ctrl>question", "<Ctrl>slash" } },
    { "app.quit", { "<Ctrl>q" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (accels); i++)
    gtk_application_set_accels_for_action (application, accels[i].action,
                                           (const char *const *) accels[i].keys);
}
