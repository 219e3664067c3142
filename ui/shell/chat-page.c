#include "ui/shell/chat-page.h"

#include <glib/gi18n.h>

#include "engine/error.h"
#include "ui/shell/composer.h"
#include "ui/shell/draft-status.h"
#include "ui/shell/explain.h"
#include "ui/shell/notice-bar.h"
#include "ui/transcript/message-facts.h"
#include "ui/transcript/transcript.h"
#include "viz/format.h"

#define COUNT_DELAY_MS 150

struct _KvasirChatPage
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkWidget *transcript;
  GtkWidget *bar;
  GtkWidget *composer;

  KvasirEngineClient *client;       /* (owned) (nullable) */
  KvasirAnswers *answers;           /* (owned) (nullable) */
  KvasirConversation *conversation; /* (owned) (nullable) */
  KvasirMessageNode *edited;        /* (owned) (nullable) */
  KvasirMessageNode *writing;       /* (owned) (nullable): the answer of this chat that grows */
  GSignalGroup *chat_signals;       /* (owned) */
  GSignalGroup *list_signals;       /* (owned) */
  GSignalGroup *writing_signals;    /* (owned) */
  const KvasirSnapshot *snapshot;   /* (owned) (nullable) */

  guint count_id; /* timeout before counting, 0: none */
  guint64 count_request;
  KvasirDraftCount count;
  gboolean counted; /* count is of the text that stands there */
  gboolean filling; /* the text is set by us */
  gint64 loading_since_us;
};

G_DEFINE_FINAL_TYPE (KvasirChatPage, kvasir_chat_page, GTK_TYPE_WIDGET)

static KvasirComposer *
get_composer (KvasirChatPage *self)
{
  return KVASIR_COMPOSER (self->composer);
}

static KvasirChat *
get_chat (KvasirChatPage *self)
{
  return self->conversation != NULL ? kvasir_conversation_get_chat (self->conversation) : NULL;
}

static guint
get_n_cells (KvasirChatPage *self)
{
  return kvasir_engine_client_get_params (self->client)->n_ctx;
}

/* ---- what stands under the draft */

static void
show_loading (KvasirChatPage *self)
{
  double fraction = kvasir_engine_client_get_load_fraction (self->client);
  gint64 now = g_get_monotonic_time ();
  g_autofree char *text = NULL;

  if (self->loading_since_us == 0)
    self->loading_since_us = now;
  text = kvasir_draft_status_describe_loading (fraction, now - self->loading_since_us);
  kvasir_composer_set_status (get_composer (self), text, KVASIR_COMPOSER_PLAIN);
  kvasir_composer_set_progress (get_composer (self), fraction);
}

static void
show_writing (KvasirChatPage *self)
{
  const KvasirMessageProgress *progress = kvasir_message_node_get_progress (self->writing);
  g_autofree char *text = kvasir_message_facts_describe (self->writing);
  gboolean reading = progress->n_done < progress->n_total;

  kvasir_composer_set_status (get_composer (self), text, KVASIR_COMPOSER_PLAIN);
  kvasir_composer_set_progress (get_composer (self),
                                reading ? (double) progress->n_done / progress->n_total : -1);
}

static void
show_count (KvasirChatPage *self)
{
  g_autofree char *draft = kvasir_composer_dup_text (get_composer (self));
  g_autofree char *text = NULL;

  kvasir_composer_set_progress (get_composer (self), -1);
  if (kvasir_engine_client_get_model (self->client) == NULL)
    {
      kvasir_composer_set_status (get_composer (self), _ ("no model is open"),
                                  KVASIR_COMPOSER_PLAIN);
      return;
    }
  if (*draft == '\0')
    text = kvasir_draft_status_describe_empty (self->snapshot);
  else if (self->counted)
    text = kvasir_draft_status_describe (&self->count);
  else
    return;
  kvasir_composer_set_status (get_composer (self), text,
                              *draft != '\0' && !self->count.fits ? KVASIR_COMPOSER_TOO_MANY
                                                                  : KVASIR_COMPOSER_PLAIN);
}

static void
update_status (KvasirChatPage *self)
{
  gboolean loading = kvasir_engine_client_get_state (self->client) == KVASIR_ENGINE_LOADING;
  KvasirChat *chat = get_chat (self);
  gboolean busy = chat != NULL && kvasir_chat_get_busy (chat);

  if (!loading)
    self->loading_since_us = 0;
  kvasir_composer_set_busy (get_composer (self), busy || loading);
  kvasir_composer_set_can_send (get_composer (self),
                                kvasir_engine_client_get_model (self->client) != NULL &&
                                    self->conversation != NULL &&
                                    kvasir_conversation_get_loaded (self->conversation));
  if (loading)
    show_loading (self);
  else if (busy && self->writing != NULL)
    show_writing (self);
  else
    show_count (self);
}

/* ---- counting the draft */

/* The message that the draft would follow. */
static KvasirMessageNode *
get_parent (KvasirChatPage *self)
{
  return self->edited != NULL ? kvasir_message_node_get_parent (self->edited)
                              : kvasir_conversation_get_leaf (self->conversation);
}

static gboolean
count_cb (gpointer user_data)
{
  KvasirChatPage *self = user_data;
  g_autofree char *draft = kvasir_composer_dup_text (get_composer (self));

  self->count_id = 0;
  if (*draft == '\0' || self->conversation == NULL ||
      kvasir_engine_client_get_model (self->client) == NULL)
    return G_SOURCE_REMOVE;
  self->count_request = kvasir_engine_client_count (
      self->client,
      kvasir_conversation_make_request (self->conversation, get_parent (self), draft, NULL));
  return G_SOURCE_REMOVE;
}

static void
count_soon (KvasirChatPage *self)
{
  self->counted = FALSE;
  self->count_request = 0;
  g_clear_handle_id (&self->count_id, g_source_remove);
  self->count_id = g_timeout_add (COUNT_DELAY_MS, count_cb, self);
}

static void
take_count (KvasirChatPage *self, const KvasirNotice *notice)
{
  self->count =
      (KvasirDraftCount){ notice->n_draft, notice->n_needed, notice->n_free, notice->fits };
  self->counted = TRUE;
  self->count_request = 0;
  update_status (self);
}

/* ---- the bar */

static void
add_room_actions (KvasirChatPage *self)
{
  KvasirNoticeBar *bar = KVASIR_NOTICE_BAR (self->bar);
  g_autofree char *larger = NULL;

  larger =
      g_strdup_printf (_ ("Window of %s cells"), kvasir_format_count (get_n_cells (self) * 2).s);
  kvasir_notice_bar_add_action (bar, larger, "win.larger-window");
  kvasir_notice_bar_add_action (bar, _ ("New chat"), "win.new-chat");
  kvasir_notice_bar_add_action (bar, _ ("Shorten draft"), "win.focus-composer");
  kvasir_notice_bar_add_action (bar, _ ("Show in inspector"), "win.show-inspector");
}

static void
show_draft_too_long (KvasirChatPage *self)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_draft (&words, self->count.n_needed, self->count.n_free, get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar), KVASIR_NOTICE_BAR_WARNING, words.title,
                          words.detail);
  add_room_actions (self);
}

static void
show_failure (KvasirChatPage *self, const KvasirNotice *notice)
{
  gboolean room =
      g_error_matches (notice->error, KVASIR_ENGINE_ERROR, (int) KVASIR_ENGINE_ERROR_NO_ROOM);
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_answer (&words, notice, get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar),
                          room ? KVASIR_NOTICE_BAR_WARNING : KVASIR_NOTICE_BAR_ERROR, words.title,
                          words.detail);
  if (room)
    add_room_actions (self);
}

/* ---- what the person does */

static void
fill_composer (KvasirChatPage *self, const char *text)
{
  self->filling = TRUE;
  kvasir_composer_set_text (get_composer (self), text);
  self->filling = FALSE;
  count_soon (self);
}

static void
end_edit (KvasirChatPage *self)
{
  KvasirChat *chat = get_chat (self);

  g_clear_object (&self->edited);
  kvasir_composer_set_editing (get_composer (self), FALSE);
  fill_composer (self, chat != NULL ? kvasir_chat_get_draft (chat) : "");
}

static void
submit_cb (KvasirChatPage *self)
{
  g_autofree char *text = kvasir_composer_dup_text (get_composer (self));
  g_autoptr (KvasirMessageNode) edited = NULL;

  if (*g_strstrip (text) == '\0')
    return;
  if (self->counted && !self->count.fits)
    {
      show_draft_too_long (self);
      return;
    }
  edited = g_steal_pointer (&self->edited);
  if (edited == NULL)
    g_object_set (get_chat (self), "draft", "", NULL);
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  end_edit (self);
  kvasir_answers_send (self->answers, self->conversation, text, edited);
  update_status (self);
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
      text = kvasir_composer_dup_text (get_composer (self));
      g_object_set (get_chat (self), "draft", text, NULL);
    }
  count_soon (self);
  update_status (self);
}

static void
sampling_changed_cb (KvasirChatPage *self)
{
  KvasirSampling sampling;
  g_autofree char *text = NULL;

  kvasir_composer_get_sampling (get_composer (self), &sampling);
  if (self->conversation == NULL)
    return;
  kvasir_chat_set_sampling (get_chat (self), &sampling);
  text = kvasir_sampling_to_string (&sampling);
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
  count_soon (self);
  update_status (self);
}

static void
busy_cb (KvasirChatPage *self)
{
  follow_writing (self);
  count_soon (self);
  update_status (self);
}

static void
show_full (KvasirChatPage *self)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_full (&words, get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar), KVASIR_NOTICE_BAR_WARNING, words.title,
                          words.detail);
  add_room_actions (self);
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
    show_failure (self, notice);
  else if (notice->reason == KVASIR_DONE_NO_ROOM)
    show_full (self);
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
  draft = kvasir_composer_dup_text (get_composer (self));
  /* What was typed meanwhile is not overwritten; then the refused text stands before it. */
  if (text != NULL && edited != NULL && *draft == '\0')
    kvasir_chat_page_begin_edit (self, edited);
  if (text != NULL)
    {
      g_autofree char *both =
          *draft != '\0' ? g_strconcat (text, "\n\n", draft, NULL) : g_strdup (text);

      kvasir_composer_set_text (get_composer (self), both);
    }
  show_failure (self, notice);
}

static void
notice_cb (KvasirChatPage *self, const KvasirNotice *notice)
{
  if (notice->kind == KVASIR_NOTICE_DRAFT && notice->request_id == self->count_request)
    take_count (self, notice);
  else if (notice->kind == KVASIR_NOTICE_LOADING)
    update_status (self);
  else if (notice->kind == KVASIR_NOTICE_LOADED)
    count_soon (self);
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
                                  G_CALLBACK (count_soon), self);
  self->list_signals = g_signal_group_new (KVASIR_TYPE_CONVERSATION);
  g_signal_group_connect_swapped (self->list_signals, "items-changed", G_CALLBACK (list_changed_cb),
                                  self);
  g_signal_group_connect_swapped (self->list_signals, "notify::loaded",
                                  G_CALLBACK (list_changed_cb), self);
  self->writing_signals = g_signal_group_new (KVASIR_TYPE_MESSAGE_NODE);
  g_signal_group_connect_swapped (self->writing_signals, "notify::content",
                                  G_CALLBACK (update_status), self);
  g_signal_group_connect_swapped (self->writing_signals, "notify::progress",
                                  G_CALLBACK (update_status), self);
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
  g_signal_connect_object (client, "notify::state", G_CALLBACK (update_status), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (client, "notify::model", G_CALLBACK (update_status), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (answers, "ended", G_CALLBACK (ended_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (answers, "refused", G_CALLBACK (refused_cb), self, G_CONNECT_SWAPPED);
  update_status (self);
}

void
kvasir_chat_page_set_conversation (KvasirChatPage *self, KvasirConversation *conversation)
{
  KvasirSampling sampling;

  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  if (self->conversation == conversation)
    return;
  g_clear_object (&self->edited);
  g_set_object (&self->conversation, conversation);
  g_signal_group_set_target (self->chat_signals, get_chat (self));
  g_signal_group_set_target (self->list_signals, conversation);
  kvasir_notice_bar_hide (KVASIR_NOTICE_BAR (self->bar));
  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (self->transcript), conversation);
  follow_writing (self);
  end_edit (self);
  if (conversation != NULL)
    {
      kvasir_chat_get_sampling (get_chat (self), &sampling);
      kvasir_composer_set_sampling (get_composer (self), &sampling);
    }
  update_status (self);
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
  update_status (self);
}

void
kvasir_chat_page_begin_edit (KvasirChatPage *self, KvasirMessageNode *node)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self) && KVASIR_IS_MESSAGE_NODE (node));
  g_set_object (&self->edited, node);
  kvasir_composer_set_editing (get_composer (self), TRUE);
  fill_composer (self, kvasir_message_node_get_content (node));
  kvasir_composer_focus (get_composer (self));
}

void
kvasir_chat_page_try_again (KvasirChatPage *self, KvasirMessageNode *answer)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  if (answer == NULL || kvasir_message_node_get_role (answer) != KVASIR_ROLE_ASSISTANT ||
      kvasir_chat_get_busy (get_chat (self)) ||
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
  chat = get_chat (self);
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
  kvasir_composer_focus (get_composer (self));
}

void
kvasir_chat_page_show_sampling (KvasirChatPage *self)
{
  g_return_if_fail (KVASIR_IS_CHAT_PAGE (self));
  kvasir_composer_show_sampling (get_composer (self));
}
