#include "ui/shell/window-private.h"

#include <glib/gi18n.h>

#include "kvasir-resources.h"
#include "ui/base/display-text.h"

/* Below these the meter's bar goes, then its words. */
#define WORDS_METER_BELOW 640
#define PERCENT_METER_BELOW 540
/* Below this the start page puts its columns into one. */
#define COMPACT_START_BELOW 760

G_DEFINE_FINAL_TYPE (KvasirWindow, kvasir_window, ADW_TYPE_APPLICATION_WINDOW)

/* ---- chats */

static const char *
get_model_words (KvasirWindow *self, char **words)
{
  KvasirModel *model = kvasir_engine_client_get_model (self->client);
  const KvasirModelInfo *info;
  g_autofree char *type = NULL;

  if (model == NULL)
    return self->current != NULL ? _ ("no model is open") : "";
  info = kvasir_model_get_info (model);
  type = g_ascii_strup (info->type_name, -1);
  *words = g_strdup_printf ("%s · %s · CPU", info->title, type);
  return *words;
}

/* What the chat template costs, for those who point at the model's name. */
static const char *
get_stability_words (KvasirWindow *self)
{
  KvasirModel *model = kvasir_engine_client_get_model (self->client);

  switch (model != NULL ? kvasir_model_get_info (model)->prefix_stability : KVASIR_PREFIX_UNKNOWN)
    {
    case KVASIR_PREFIX_STABLE:
      return _ ("Each turn, only new text is read.");
    case KVASIR_PREFIX_REPLY_MOVES:
      return _ ("Each turn, the last answer is read again: the model's chat template puts text "
                "before it.");
    case KVASIR_PREFIX_PROMPT_MOVES:
      return _ ("Each turn, the last answer is read again: the model's chat template rewrites how "
                "it begins.");
    case KVASIR_PREFIX_ALL_MOVES:
      return _ ("Each turn, the whole chat is read again: the model's chat template moves earlier "
                "text.");
    default:
      return NULL;
    }
}

void
kvasir_window_update_title (KvasirWindow *self)
{
  g_autofree char *words = NULL;
  g_autofree char *title = NULL;

  if (self->current != NULL)
    title = kvasir_display_line (kvasir_chat_get_title (self->current), 100);
  adw_window_title_set_title (ADW_WINDOW_TITLE (self->title), title != NULL ? title : "Kvasir");
  adw_window_title_set_subtitle (ADW_WINDOW_TITLE (self->title), get_model_words (self, &words));
  gtk_widget_set_tooltip_text (self->title, get_stability_words (self));
  gtk_window_set_title (GTK_WINDOW (self), title != NULL ? title : "Kvasir");
}

static gboolean
is_unused (KvasirWindow *self, KvasirChat *chat)
{
  KvasirConversation *conversation;

  if (*kvasir_chat_get_draft (chat) != '\0' || *kvasir_chat_get_system_prompt (chat) != '\0' ||
      kvasir_chat_get_title_fixed (chat))
    return FALSE;
  conversation = kvasir_history_open_chat (self->history, chat);
  return kvasir_conversation_get_loaded (conversation) &&
         g_list_model_get_n_items (G_LIST_MODEL (conversation)) == 0;
}

/* A new chat in which nothing was written goes when it is left. */
static void
discard_unused (KvasirWindow *self, KvasirChat *chat)
{
  if (kvasir_history_find_chat (self->history, kvasir_chat_get_id (chat)) == NULL ||
      !is_unused (self, chat))
    return;
  kvasir_history_delete_chat (self->history, chat);
  kvasir_history_finish_delete (self->history, chat);
}

void
kvasir_window_show_chat (KvasirWindow *self, KvasirChat *chat)
{
  g_autoptr (KvasirChat) left = self->current != chat ? g_steal_pointer (&self->current) : NULL;

  g_set_object (&self->current, chat);
  g_signal_group_set_target (self->chat_signals, chat);
  kvasir_chat_list_select (KVASIR_CHAT_LIST (self->chats), chat);
  kvasir_chat_page_set_conversation (KVASIR_CHAT_PAGE (self->chat),
                                     chat != NULL ? kvasir_history_open_chat (self->history, chat)
                                                  : NULL);
  /* Not a stack: what it hides would still be there for a screen reader. */
  gtk_widget_set_visible (self->chat, chat != NULL);
  gtk_widget_set_visible (self->start, chat == NULL);
  gtk_widget_set_visible (self->inspector_toggle, chat != NULL);
  g_object_set (self->panes, "end-enabled", chat != NULL, NULL);
  kvasir_window_update_title (self);
  kvasir_window_update_actions (self);
  if (left != NULL)
    discard_unused (self, left);
  if (chat != NULL)
    kvasir_chat_page_focus_composer (KVASIR_CHAT_PAGE (self->chat));
}

/* The newest chat if nothing was ever written in it. */
static KvasirChat *
find_unused_chat (KvasirWindow *self)
{
  g_autoptr (KvasirChat) chat = g_list_model_get_item (G_LIST_MODEL (self->history), 0);

  return chat != NULL && is_unused (self, chat) ? chat : NULL;
}

void
kvasir_window_show_new_chat (KvasirWindow *self)
{
  KvasirChat *chat = find_unused_chat (self);
  g_autofree char *sampling = kvasir_settings_dup_string (self->settings, "sampling");

  if (chat == NULL)
    chat = kvasir_history_add_chat (self->history, sampling);
  kvasir_window_show_chat (self, chat);
}

static void
chosen_cb (KvasirWindow *self, KvasirChat *chat)
{
  kvasir_window_show_chat (self, chat);
  kvasir_panes_close_overlays (KVASIR_PANES (self->panes));
}

void
kvasir_window_toast (KvasirWindow *self, const char *text)
{
  AdwToast *toast = adw_toast_new (text);

  adw_toast_set_timeout (toast, 3);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->toasts), toast);
}

/* ---- the history's troubles */

static void
show_opening (KvasirWindow *self)
{
  const KvasirStoreOpening *opening = kvasir_history_get_opening (self->history);
  const char *detail = opening->detail != NULL ? opening->detail : "";
  g_autofree char *text = NULL;

  switch (opening->status)
    {
    case KVASIR_STORE_KEPT:
      return;
    case KVASIR_STORE_MOVED_ASIDE:
      text = g_strdup_printf (_ ("The chat history was damaged. It was moved to “%s”, untouched, "
                                 "and a new one was begun."),
                              opening->aside_path);
      break;
    case KVASIR_STORE_IN_USE:
      text = g_strdup (_ ("Another Kvasir uses the chat history. Chats of this window are not "
                          "kept."));
      break;
    case KVASIR_STORE_NEWER:
      text = g_strdup (_ ("The chat history was written by a newer Kvasir. It is left alone; chats "
                          "of this window are not kept."));
      break;
    case KVASIR_STORE_IN_MEMORY:
    default:
      text = g_strdup (_ ("The chat history cannot be opened. Chats of this window are not kept."));
      break;
    }
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->history_notice), KVASIR_NOTICE_BAR_WARNING, text,
                          detail);
}

static void
trouble_cb (KvasirWindow *self, const char *message)
{
  if (message == NULL)
    {
      kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->history_notice));
      kvasir_window_toast (self, _ ("Chats are saved again"));
      return;
    }
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->history_notice), KVASIR_NOTICE_BAR_ERROR,
                          _ ("Chats cannot be saved at the moment. What is on screen stays, and "
                             "saving is tried again."),
                          message);
}

static void
history_loaded_cb (KvasirWindow *self)
{
  if (!kvasir_history_get_loaded (self->history))
    return;
  show_opening (self);
  kvasir_window_update_actions (self);
  /* A model that is loading or loaded waits for a chat. */
  if (self->current == NULL &&
      (self->loading_path != NULL || kvasir_engine_client_get_model (self->client) != NULL))
    kvasir_window_show_new_chat (self);
}

/* ---- size and panes */

static void
update_for_width (KvasirWindow *self, int width)
{
  kvasir_meter_set_size (KVASIR_METER (self->meter),
                         width < PERCENT_METER_BELOW ? KVASIR_METER_PERCENT
                         : width < WORDS_METER_BELOW ? KVASIR_METER_WORDS
                                                     : KVASIR_METER_FULL);
  kvasir_start_page_set_compact (
      KVASIR_START_PAGE (self->start),
      width - (kvasir_panes_get_start_shown (KVASIR_PANES (self->panes)) ? 230 : 0) <
          COMPACT_START_BELOW);
}

static void
layout_cb (KvasirWindow *self, int width, int height)
{
  update_for_width (self, width);
}

static void
realize_cb (KvasirWindow *self)
{
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (self));

  g_signal_connect_object (surface, "layout", G_CALLBACK (layout_cb), self, G_CONNECT_SWAPPED);
}

static void
panes_shown_cb (KvasirWindow *self)
{
  gboolean chats = kvasir_panes_get_start_shown (KVASIR_PANES (self->panes));
  gboolean inspector = kvasir_panes_get_end_shown (KVASIR_PANES (self->panes));

  g_action_group_change_action_state (G_ACTION_GROUP (self), "toggle-chats",
                                      g_variant_new_boolean (chats));
  g_action_group_change_action_state (G_ACTION_GROUP (self), "toggle-inspector",
                                      g_variant_new_boolean (inspector));
}

static void
restore_settings (KvasirWindow *self)
{
  static const char *const bound[][2] = { { "show-chats", "show-start" },
                                          { "show-inspector", "show-end" },
                                          { "inspector-width", "end-width" } };

  for (guint i = 0; i < G_N_ELEMENTS (bound); i++)
    g_object_bind_property (self->settings, bound[i][0], self->panes, bound[i][1],
                            G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  gtk_window_set_default_size (GTK_WINDOW (self),
                               kvasir_settings_get_int (self->settings, "window-width"),
                               kvasir_settings_get_int (self->settings, "window-height"));
  if (kvasir_settings_get_boolean (self->settings, "maximized"))
    gtk_window_maximize (GTK_WINDOW (self));
}

static gboolean
kvasir_window_close_request (GtkWindow *window)
{
  KvasirWindow *self = KVASIR_WINDOW (window);
  gboolean maximized = gtk_window_is_maximized (window);
  int width, height;

  gtk_window_get_default_size (window, &width, &height);
  g_object_set (self->settings, "maximized", maximized, NULL);
  if (!maximized)
    g_object_set (self->settings, "window-width", width, "window-height", height, NULL);
  return GTK_WINDOW_CLASS (kvasir_window_parent_class)->close_request (window);
}

/* ---- making */

static char *
dup_chat_title (guint64 chat_id, gpointer user_data)
{
  KvasirChat *chat = kvasir_history_find_chat (user_data, chat_id);

  return chat != NULL ? kvasir_display_line (kvasir_chat_get_title (chat), 40) : NULL;
}

static void
kvasir_window_dispose (GObject *object)
{
  KvasirWindow *self = KVASIR_WINDOW (object);

  g_clear_handle_id (&self->snapshot_id, g_source_remove);
  if (self->views_added)
    kvasir_engine_client_remove_views (self->client, KVASIR_VIEW_CELLS);
  self->views_added = FALSE;
  g_clear_object (&self->chat_signals);
  g_clear_object (&self->current);
  g_clear_object (&self->library);
  g_clear_object (&self->answers);
  g_clear_object (&self->history);
  g_clear_object (&self->settings);
  g_clear_object (&self->client);
  g_clear_pointer (&self->loading_path, g_free);
  g_clear_pointer (&self->build_facts, g_free);
  G_OBJECT_CLASS (kvasir_window_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, header);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, title);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, chats_toggle);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, inspector_toggle);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, menu_button);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, meter);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, panes);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, chats);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, history_notice);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, banner);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, start);
  gtk_widget_class_bind_template_child (widget_class, KvasirWindow, chat);
}

static void
kvasir_window_class_init (KvasirWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_window_dispose;
  GTK_WINDOW_CLASS (klass)->close_request = kvasir_window_close_request;
  /* Without a reference the linker would leave the resources in their archive. */
  g_assert (kvasir_get_resource () != NULL);
  g_type_ensure (KVASIR_TYPE_METER);
  g_type_ensure (KVASIR_TYPE_PANES);
  g_type_ensure (KVASIR_TYPE_CHAT_LIST);
  g_type_ensure (KVASIR_TYPE_NOTICE_BAR);
  g_type_ensure (KVASIR_TYPE_START_PAGE);
  g_type_ensure (KVASIR_TYPE_CHAT_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/kvasir/Kvasir/ui/window.ui");
  bind_children (widget_class);
}

static void
kvasir_window_init (KvasirWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->chat_signals = g_signal_group_new (KVASIR_TYPE_CHAT);
  g_signal_group_connect_swapped (self->chat_signals, "notify::title",
                                  G_CALLBACK (kvasir_window_update_title), self);
  g_signal_group_connect_swapped (self->chat_signals, "notify::busy",
                                  G_CALLBACK (kvasir_window_update_actions), self);
  kvasir_window_add_actions (self);
  kvasir_window_add_message_actions (self);
  kvasir_window_add_guess_actions (self);
  kvasir_window_add_drop_target (self);
  g_signal_connect_swapped (self->chats, "chosen", G_CALLBACK (chosen_cb), self);
  g_signal_connect_swapped (self->panes, "notify::start-shown", G_CALLBACK (panes_shown_cb), self);
  g_signal_connect_swapped (self->panes, "notify::end-shown", G_CALLBACK (panes_shown_cb), self);
  g_signal_connect (self, "realize", G_CALLBACK (realize_cb), NULL);
}

KvasirWindow *
kvasir_window_new (GtkApplication *application, const KvasirWindowParts *parts)
{
  KvasirWindow *self = g_object_new (KVASIR_TYPE_WINDOW, "application", application, NULL);

  self->client = g_object_ref (parts->client);
  self->history = g_object_ref (parts->history);
  self->answers = g_object_ref (parts->answers);
  self->settings = g_object_ref (parts->settings);
  self->build_facts = g_strdup (parts->build_facts);
  self->library = kvasir_model_library_new (self->client, parts->models_folder);
  self->inspector = kvasir_inspector_new (self->client);
  kvasir_inspector_set_chat_name_func (KVASIR_INSPECTOR (self->inspector), dup_chat_title,
                                       g_object_ref (self->history), g_object_unref);
  g_object_set (self->panes, "end", self->inspector, NULL);
  kvasir_chat_list_set_history (KVASIR_CHAT_LIST (self->chats), self->history);
  kvasir_start_page_set_library (KVASIR_START_PAGE (self->start), self->library);
  kvasir_chat_page_set_engine (KVASIR_CHAT_PAGE (self->chat), self->client, self->answers);
  kvasir_window_connect_engine (self);
  kvasir_window_restore_guesses (self);
  g_signal_connect_object (self->history, "notify::loaded", G_CALLBACK (history_loaded_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (kvasir_history_get_store (self->history), "trouble",
                           G_CALLBACK (trouble_cb), self, G_CONNECT_SWAPPED);
  restore_settings (self);
  panes_shown_cb (self);
  kvasir_window_show_chat (self, NULL);
  history_loaded_cb (self);
  return self;
}

void
kvasir_window_open_path (KvasirWindow *self, const char *path)
{
  g_return_if_fail (KVASIR_IS_WINDOW (self));
  kvasir_window_load (self, path, 0);
}
