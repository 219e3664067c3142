#include <glib/gi18n.h>

#include "ui/shell/window-private.h"

static KvasirConversation *
get_conversation (KvasirWindow *self)
{
  return kvasir_chat_page_get_conversation (KVASIR_CHAT_PAGE (self->chat));
}

static KvasirMessageNode *
find_message (KvasirWindow *self, GVariant *parameter)
{
  KvasirConversation *conversation = get_conversation (self);

  return conversation != NULL
             ? kvasir_conversation_find (conversation, g_variant_get_uint64 (parameter))
             : NULL;
}

static void
copy_message (KvasirWindow *self, KvasirMessageNode *node)
{
  if (node == NULL)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)),
                          kvasir_message_node_get_answer (node));
  kvasir_window_toast (self, _ ("Message copied"));
}

static void
message_copy_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  copy_message (user_data, find_message (user_data, parameter));
}

static void
copy_last_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  copy_message (
      self, kvasir_chat_page_find_message (KVASIR_CHAT_PAGE (self->chat), KVASIR_ROLE_ASSISTANT));
}

static void
message_edit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;
  KvasirMessageNode *node = find_message (self, parameter);

  if (node != NULL && !kvasir_chat_get_busy (self->current))
    kvasir_chat_page_begin_edit (KVASIR_CHAT_PAGE (self->chat), node);
}

static void
message_retry_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  kvasir_chat_page_try_again (KVASIR_CHAT_PAGE (self->chat), find_message (self, parameter));
}

static void
retry_last_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;
  KvasirChatPage *page = KVASIR_CHAT_PAGE (self->chat);

  kvasir_chat_page_try_again (page, kvasir_chat_page_find_message (page, KVASIR_ROLE_ASSISTANT));
}

/* A new chat with the same messages up to here; the cells are shared as far as they go. */
static void
message_branch_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;
  KvasirMessageNode *node = find_message (self, parameter);
  g_autofree char *title = NULL;
  g_autofree char *sampling = NULL;
  g_autofree char *prompt = NULL;
  KvasirConversation *copy;
  KvasirChat *chat;

  if (node == NULL)
    return;
  g_object_get (self->current, "sampling", &sampling, "system-prompt", &prompt, NULL);
  title = g_strdup_printf (_ ("Branch of %s"), kvasir_chat_get_title (self->current));
  chat = kvasir_history_add_chat (self->history, sampling);
  kvasir_chat_set_title (chat, title, TRUE);
  g_object_set (chat, "system-prompt", prompt, NULL);
  kvasir_history_touch (self->history, chat, NULL);
  copy = kvasir_history_open_chat (self->history, chat);
  kvasir_conversation_copy_path (get_conversation (self), node, copy);
  kvasir_window_show_chat (self, chat);
}

static void
message_cells_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;

  g_action_group_activate_action (G_ACTION_GROUP (self), "show-inspector", NULL);
  kvasir_inspector_show_message_cells (KVASIR_INSPECTOR (self->inspector),
                                       g_variant_get_uint64 (parameter));
}

static void
message_version_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  KvasirWindow *self = user_data;
  KvasirConversation *conversation = get_conversation (self);
  KvasirMessageNode *node;
  guint64 id;
  gint32 delta;

  g_variant_get (parameter, "(ti)", &id, &delta);
  node = conversation != NULL ? kvasir_conversation_find (conversation, id) : NULL;
  if (node != NULL)
    kvasir_conversation_step_version (conversation, node, delta);
}

static const GActionEntry entries[] = {
  { "message-copy", message_copy_cb, "t" },
  { "copy-last", copy_last_cb },
  { "message-edit", message_edit_cb, "t" },
  { "message-retry", message_retry_cb, "t" },
  { "retry-last", retry_last_cb },
  { "message-branch", message_branch_cb, "t" },
  { "message-cells", message_cells_cb, "t" },
  { "message-version", message_version_cb, "(ti)" },
};

void
kvasir_window_add_message_actions (KvasirWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}
