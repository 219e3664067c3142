#include "ui/shell/chat-page-private.h"
#include "ui/transcript/transcript.h"

G_DEFINE_FINAL_TYPE (KvasirChatPage, kvasir_chat_page, GTK_TYPE_WIDGET)

KvasirComposer *
kvasir_chat_page_get_composer (KvasirChatPage *self)
{
  return KVASIR_COMPOSER (self->composer);
}

KvasirChat *
kvasir_chat_page_get_chat (KvasirChatPage *self)
{
  return self->conversation != NULL ? kvasir_conversation_get_chat (self->conversation) : NULL;
}

guint
kvasir_chat_page_get_n_cells (KvasirChatPage *self)
{
  return kvasir_engine_client_get_params (self->client)->n_ctx;
}

/* ---- what the person does */

static void
fill_composer (KvasirChatPage *self, const char *text)
{
  self->filling = TRUE;
  kvasir_composer_set_text (kvasir_chat_page_get_composer (self), text);
  self->filling = FALSE;
  kvasir_chat_page_count_soon (self);
}

static void
end_edit (KvasirChatPage *self)
{
  KvasirChat *chat = kvasir_chat_page_get_chat (self);

  g_clear_object (&self->edited);
  kvasir_composer_set_editing (kvasir_chat_page_get_composer (self), FALSE);
  fill_composer (self, chat != NULL ? kvasir_chat_get_draft (chat) : "");
}

static void
submit_cb (KvasirChatPage *self)
{
  g_autofree char *text = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));
  g_autoptr (KvasirMessageNode) edited = NULL;

  if (*g_strstrip (text) == '\0')
    return;
  if (self->counted && !self->count.fits)
    {
      kvasir_chat_page_show_too_long (self);
      return;
    }
  edited = g_steal_pointer (&self->edited);
  if (edited == NULL)
    g_object_set (kvasir_chat_page_get_chat (self), "draft", "", NULL);
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  end_edit (self);
  kvasir_answers_send (self->answers, self->conversation, text, edited);
  kvasir_chat_page_update_status (self);
}

void
kvasir_chat_page_adapt (KvasirChatPage *self)
{
  g_auto (KvasirSampling) sampling = { 0 };
  KvasirChat *chat;

  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  chat = kvasir_chat_page_get_chat (self);
  if (chat == NULL || kvasir_chat_get_busy (chat))
    return;
  kvasir_chat_get_sampling (chat, &sampling);
  sampling.adapt = TRUE;
  kvasir_chat_set_sampling (chat, &sampling);
  kvasir_composer_set_sampling (kvasir_chat_page_get_composer (self), &sampling);
  submit_cb (self);
}

static void
stop_cb (KvasirChatPage *self)
{
  kvasir_answers_stop (self->answers);
}

static void
text_changed_cb (KvasirChatPage *self)
{
  g_autofree char *text = NULL;

  if (self->filling || self->conversation == NULL)
    return;
  if (self->edited == NULL)
    {
      text = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));
      g_object_set (kvasir_chat_page_get_chat (self), "draft", text, NULL);
    }
  kvasir_chat_page_count_soon (self);
  kvasir_chat_page_update_status (self);
}

static void
sampling_changed_cb (KvasirChatPage *self)
{
  const KvasirSampling *sampling =
      kvasir_composer_get_sampling (kvasir_chat_page_get_composer (self));
  g_autofree char *text = NULL;

  if (self->conversation == NULL)
    return;
  kvasir_chat_set_sampling (kvasir_chat_page_get_chat (self), sampling);
  kvasir_chat_page_count_soon (self);
  text = kvasir_sampling_to_string (sampling);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.remember-sampling", "s", text);
}

static void
edit_last_cb (KvasirChatPage *self)
{
  KvasirMessageNode *node = kvasir_chat_page_find_message (self, KVASIR_ROLE_USER);

  if (node != NULL && kvasir_message_node_get_role (node) == KVASIR_ROLE_USER)
    kvasir_chat_page_begin_edit (self, node);
}

/* ---- what comes back */

static void
follow_writing (KvasirChatPage *self)
{
  KvasirMessageNode *leaf =
      self->conversation != NULL ? kvasir_conversation_get_leaf (self->conversation) : NULL;

  if (leaf != NULL && kvasir_message_node_get_state (leaf) != KVASIR_MESSAGE_WRITING)
    leaf = NULL;
  g_set_object (&self->writing, leaf);
  g_signal_group_set_target (self->writing_signals, leaf);
}

static void
list_changed_cb (KvasirChatPage *self)
{
  follow_writing (self);
  kvasir_chat_page_count_soon (self);
  kvasir_chat_page_update_status (self);
}

static void
busy_cb (KvasirChatPage *self)
{
  follow_writing (self);
  kvasir_chat_page_count_soon (self);
  kvasir_chat_page_update_status (self);
}

static void
ended_cb (KvasirChatPage *self,
          KvasirConversation *conversation,
          KvasirMessageNode *answer,
          const KvasirNotice *notice)
{
  if (conversation != self->conversation)
    return;
  if (notice->kind == KVASIR_NOTICE_FAILED)
    kvasir_chat_page_show_failure (self, notice);
  else if (notice->reason == KVASIR_DONE_NO_ROOM)
    kvasir_chat_page_show_full (self);
}

static void
refused_cb (KvasirChatPage *self,
            KvasirConversation *conversation,
            const char *text,
            guint64 edited_id,
            const KvasirNotice *notice)
{
  KvasirMessageNode *edited = kvasir_conversation_find (conversation, edited_id);
  g_autofree char *draft = NULL;

  if (conversation != self->conversation)
    {
      if (text != NULL && edited == NULL)
        g_object_set (kvasir_conversation_get_chat (conversation), "draft", text, NULL);
      return;
    }
  draft = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));
  /* What was typed meanwhile is not overwritten; then the refused text stands before it. */
  if (text != NULL && edited != NULL && *draft == '\0')
    kvasir_chat_page_begin_edit (self, edited);
  if (text != NULL)
    {
      g_autofree char *both =
          *draft != '\0' ? g_strconcat (text, "\n\n", draft, NULL) : g_strdup (text);

      kvasir_composer_set_text (kvasir_chat_page_get_composer (self), both);
    }
  kvasir_chat_page_show_failure (self, notice);
}

static void
notice_cb (KvasirChatPage *self, const KvasirNotice *notice)
{
  if (notice->kind == KVASIR_NOTICE_DRAFT && notice->request_id == self->count_request)
    kvasir_chat_page_take_count (self, notice);
  else if (notice->kind == KVASIR_NOTICE_LOADING)
    kvasir_chat_page_update_status (self);
  else if (notice->kind == KVASIR_NOTICE_LOADED)
    kvasir_chat_page_count_soon (self);
}

static void
model_cb (KvasirChatPage *self)
{
  KvasirModel *model = kvasir_engine_client_get_model (self->client);
  const KvasirTemplate *chat = model != NULL ? kvasir_model_get_template (model, NULL) : NULL;

  kvasir_composer_set_thinking_choices (kvasir_chat_page_get_composer (self),
                                        kvasir_thinking_get_choices (chat));
  kvasir_chat_page_update_status (self);
}

/* ---- making */

static void
kvasir_chat_page_dispose (GObject *object)
{
  KvasirChatPage *self = KVASIR_CHAT_PAGE (object);

  g_clear_handle_id (&self->count_id, g_source_remove);
  g_clear_object (&self->chat_signals);
  g_clear_object (&self->list_signals);
  g_clear_object (&self->writing_signals);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  g_clear_object (&self->writing);
  g_clear_object (&self->edited);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->conversation);
  g_clear_object (&self->answers);
  g_clear_object (&self->client);
  G_OBJECT_CLASS (kvasir_chat_page_parent_class)->dispose (object);
}

/* Alt+Left and Alt+Right are for the message with the focus, from the composer for the last answer;
 * in the inspector they are its own. */
static gboolean
version_binding_cb (GtkWidget *widget, GVariant *args, gpointer user_data)
{
  KvasirChatPage *self = KVASIR_CHAT_PAGE (widget);
  KvasirMessageNode *node = kvasir_chat_page_find_message (self, KVASIR_ROLE_ASSISTANT);

  if (node == NULL)
    return FALSE;
  kvasir_conversation_step_version (self->conversation, node, g_variant_get_int32 (args));
  return TRUE;
}

static void
kvasir_chat_page_class_init (KvasirChatPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_chat_page_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "chatpage");
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, GDK_ALT_MASK, version_binding_cb, "i",
                                -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, GDK_ALT_MASK, version_binding_cb, "i",
                                1);
}

static void
connect_composer (KvasirChatPage *self)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "submit", G_CALLBACK (submit_cb) },
    { "stop", G_CALLBACK (stop_cb) },
    { "text-changed", G_CALLBACK (text_changed_cb) },
    { "cancel-edit", G_CALLBACK (end_edit) },
    { "sampling-changed", G_CALLBACK (sampling_changed_cb) },
    { "edit-last", G_CALLBACK (edit_last_cb) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (self->composer, signals[i].signal, signals[i].callback, self);
}

static void
kvasir_chat_page_init (KvasirChatPage *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->transcript = kvasir_transcript_new ();
  self->bar = kvasir_notice_bar_new ();
  self->composer = g_object_new (KVASIR_TYPE_COMPOSER, NULL);
  gtk_widget_set_vexpand (self->transcript, TRUE);
  gtk_box_append (GTK_BOX (self->box), self->transcript);
  gtk_box_append (GTK_BOX (self->box), self->bar);
  gtk_box_append (GTK_BOX (self->box), self->composer);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  connect_composer (self);
  self->chat_signals = g_signal_group_new (KVASIR_TYPE_CHAT);
  g_signal_group_connect_swapped (self->chat_signals, "notify::busy", G_CALLBACK (busy_cb), self);
  g_signal_group_connect_swapped (self->chat_signals, "notify::system-prompt",
                                  G_CALLBACK (kvasir_chat_page_count_soon), self);
  self->list_signals = g_signal_group_new (KVASIR_TYPE_CONVERSATION);
  g_signal_group_connect_swapped (self->list_signals, "items-changed", G_CALLBACK (list_changed_cb),
                                  self);
  g_signal_group_connect_swapped (self->list_signals, "notify::loaded",
                                  G_CALLBACK (list_changed_cb), self);
  self->writing_signals = g_signal_group_new (KVASIR_TYPE_MESSAGE_NODE);
  g_signal_group_connect_swapped (self->writing_signals, "notify::content",
                                  G_CALLBACK (kvasir_chat_page_update_status), self);
  g_signal_group_connect_swapped (self->writing_signals, "notify::progress",
                                  G_CALLBACK (kvasir_chat_page_update_status), self);
}

void
kvasir_chat_page_set_engine (KvasirChatPage *self,
                             KvasirEngineClient *client,
                             KvasirAnswers *answers)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self) && self->client == NULL);
  self->client = g_object_ref (client);
  self->answers = g_object_ref (answers);
  g_signal_connect_object (client, "notice", G_CALLBACK (notice_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (client, "notify::state", G_CALLBACK (kvasir_chat_page_update_status),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (client, "notify::model", G_CALLBACK (model_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (answers, "ended", G_CALLBACK (ended_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (answers, "refused", G_CALLBACK (refused_cb), self, G_CONNECT_SWAPPED);
  model_cb (self);
}

void
kvasir_chat_page_set_conversation (KvasirChatPage *self, KvasirConversation *conversation)
{
  g_auto (KvasirSampling) sampling = { 0 };

  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  if (self->conversation == conversation)
    return;
  g_clear_object (&self->edited);
  g_set_object (&self->conversation, conversation);
  g_signal_group_set_target (self->chat_signals, kvasir_chat_page_get_chat (self));
  g_signal_group_set_target (self->list_signals, conversation);
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (self->transcript), conversation);
  follow_writing (self);
  end_edit (self);
  if (conversation != NULL)
    {
      kvasir_chat_get_sampling (kvasir_chat_page_get_chat (self), &sampling);
      kvasir_composer_set_sampling (kvasir_chat_page_get_composer (self), &sampling);
    }
  kvasir_chat_page_update_status (self);
}

KvasirConversation *
kvasir_chat_page_get_conversation (KvasirChatPage *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT_PAGE (self), NULL);
  return self->conversation;
}

void
kvasir_chat_page_set_snapshot (KvasirChatPage *self, const KvasirSnapshot *snapshot)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  if (snapshot != NULL)
    kvasir_snapshot_ref (snapshot);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  self->snapshot = snapshot;
  kvasir_transcript_set_snapshot (KVASIR_TRANSCRIPT (self->transcript), snapshot);
  kvasir_chat_page_update_status (self);
}

void
kvasir_chat_page_begin_edit (KvasirChatPage *self, KvasirMessageNode *node)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self) && KVASIR_IS_MESSAGE_NODE (node));
  g_set_object (&self->edited, node);
  kvasir_composer_set_editing (kvasir_chat_page_get_composer (self), TRUE);
  fill_composer (self, kvasir_message_node_get_content (node));
  kvasir_composer_focus (kvasir_chat_page_get_composer (self));
}

void
kvasir_chat_page_try_again (KvasirChatPage *self, KvasirMessageNode *answer)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  if (answer == NULL || kvasir_message_node_get_role (answer) != KVASIR_ROLE_ASSISTANT ||
      kvasir_chat_get_busy (kvasir_chat_page_get_chat (self)) ||
      kvasir_engine_client_get_model (self->client) == NULL)
    return;
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  kvasir_answers_try_again (self->answers, self->conversation, answer);
}

gboolean
kvasir_chat_page_escape (KvasirChatPage *self)
{
  KvasirChat *chat;

  g_return_val_if_fail (KVASIR_IS_CHAT_PAGE (self), FALSE);
  chat = kvasir_chat_page_get_chat (self);
  if ((chat != NULL && kvasir_chat_get_busy (chat)) ||
      kvasir_engine_client_get_state (self->client) == KVASIR_ENGINE_LOADING)
    stop_cb (self);
  else if (self->edited != NULL)
    end_edit (self);
  else if (kvasir_notice_bar_is_shown (KVASIR_NOTICE_BAR (self->bar)))
    kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  else
    return FALSE;
  return TRUE;
}

KvasirMessageNode *
kvasir_chat_page_find_message (KvasirChatPage *self, KvasirRole role)
{
  g_return_val_if_fail (KVASIR_IS_CHAT_PAGE (self), NULL);
  return kvasir_transcript_find_message (KVASIR_TRANSCRIPT (self->transcript), role);
}

void
kvasir_chat_page_scroll_pages (KvasirChatPage *self, double n_pages)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  kvasir_transcript_scroll_pages (KVASIR_TRANSCRIPT (self->transcript), n_pages);
}

void
kvasir_chat_page_focus_composer (KvasirChatPage *self)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  kvasir_composer_focus (kvasir_chat_page_get_composer (self));
}

void
kvasir_chat_page_show_sampling (KvasirChatPage *self)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  kvasir_composer_show_sampling (kvasir_chat_page_get_composer (self));
}
