#include <glib/gi18n.h>

#include "ui/shell/chat-page-private.h"
#include "ui/transcript/message-facts.h"

#define COUNT_DELAY_MS 150

static void
show_loading (KvasirChatPage *self)
{
  double fraction = kvasir_engine_client_get_load_fraction (self->client);
  gint64 now = g_get_monotonic_time ();
  g_autofree char *text = NULL;

  if (self->loading_since_us == 0)
    self->loading_since_us = now;
  text = kvasir_draft_status_describe_loading (fraction, now - self->loading_since_us);
  kvasir_composer_set_status (kvasir_chat_page_get_composer (self), text, KVASIR_COMPOSER_PLAIN);
  kvasir_composer_set_progress (kvasir_chat_page_get_composer (self), fraction);
}

static void
show_writing (KvasirChatPage *self)
{
  const KvasirMessageProgress *progress = kvasir_message_node_get_progress (self->writing);
  g_autofree char *text = kvasir_message_facts_describe (self->writing);
  gboolean reading = progress->n_done < progress->n_total;

  kvasir_composer_set_status (kvasir_chat_page_get_composer (self), text, KVASIR_COMPOSER_PLAIN);
  kvasir_composer_set_progress (kvasir_chat_page_get_composer (self),
                                reading ? (double) progress->n_done / progress->n_total : -1);
}

static void
show_count (KvasirChatPage *self)
{
  g_autofree char *draft = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));
  g_autofree char *text = NULL;

  kvasir_composer_set_progress (kvasir_chat_page_get_composer (self), -1);
  if (kvasir_engine_client_get_model (self->client) == NULL)
    {
      kvasir_composer_set_status (kvasir_chat_page_get_composer (self), _ ("no model is open"),
                                  KVASIR_COMPOSER_PLAIN);
      return;
    }
  if (*draft == '\0')
    text = kvasir_draft_status_describe_empty (self->snapshot);
  else if (self->counted)
    text = kvasir_draft_status_describe (&self->count);
  else
    return;
  kvasir_composer_set_status (kvasir_chat_page_get_composer (self), text,
                              *draft != '\0' && !self->count.fits ? KVASIR_COMPOSER_TOO_MANY
                                                                  : KVASIR_COMPOSER_PLAIN);
}

void
kvasir_chat_page_update_status (KvasirChatPage *self)
{
  gboolean loading = kvasir_engine_client_get_state (self->client) == KVASIR_ENGINE_LOADING;
  KvasirChat *chat = kvasir_chat_page_get_chat (self);
  gboolean busy = chat != NULL && kvasir_chat_get_busy (chat);

  if (!loading)
    self->loading_since_us = 0;
  kvasir_composer_set_busy (kvasir_chat_page_get_composer (self), busy || loading);
  kvasir_composer_set_can_send (kvasir_chat_page_get_composer (self),
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
  g_autofree char *draft = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));

  self->count_id = 0;
  if (*draft == '\0' || self->conversation == NULL ||
      kvasir_engine_client_get_model (self->client) == NULL)
    return G_SOURCE_REMOVE;
  self->count_request = kvasir_engine_client_count (
      self->client,
      kvasir_conversation_make_request (self->conversation, get_parent (self), draft, NULL));
  return G_SOURCE_REMOVE;
}

void
kvasir_chat_page_count_soon (KvasirChatPage *self)
{
  self->counted = FALSE;
  self->count_request = 0;
  g_clear_handle_id (&self->count_id, g_source_remove);
  self->count_id = g_timeout_add (COUNT_DELAY_MS, count_cb, self);
}

void
kvasir_chat_page_take_count (KvasirChatPage *self, const KvasirNotice *notice)
{
  self->count =
      (KvasirDraftCount){ notice->n_draft, notice->n_needed, notice->n_free, notice->fits };
  self->counted = TRUE;
  self->count_request = 0;
  kvasir_chat_page_update_status (self);
}
