/* ui/shell/chat-page-private.h - the page's parts, shared by its files
 *
 * chat-page.c does what a person asks for and follows the chat; chat-page-status.c counts the draft
 * and says what the engine does; chat-page-bar.c says what went wrong.
 * Thread: main thread.
 */
#pragma once

#include "ui/shell/chat-page.h"
#include "ui/shell/composer.h"
#include "ui/shell/draft-status.h"
#include "ui/shell/notice-bar.h"

G_BEGIN_DECLS

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

/* ---- chat-page.c */
KvasirComposer *kvasir_chat_page_get_composer (KvasirChatPage *self);
/* (transfer none) (nullable) */
KvasirChat *kvasir_chat_page_get_chat (KvasirChatPage *self);
/* Of the whole window. */
guint kvasir_chat_page_get_n_cells (KvasirChatPage *self);

/* ---- chat-page-status.c */
void kvasir_chat_page_update_status (KvasirChatPage *self);
/* The draft, or what comes before it, changed. */
void kvasir_chat_page_count_soon (KvasirChatPage *self);
void kvasir_chat_page_take_count (KvasirChatPage *self, const KvasirNotice *notice);

/* ---- chat-page-bar.c */
void kvasir_chat_page_show_too_long (KvasirChatPage *self);
void kvasir_chat_page_show_failure (KvasirChatPage *self, const KvasirNotice *notice);
void kvasir_chat_page_show_full (KvasirChatPage *self);

G_END_DECLS
