#include "ui/history/answers.h"

#include <gio/gio.h>

#define WRITE_DELAY_MS 250

/* One answer on its way. */
typedef struct
{
  KvasirConversation *conversation; /* (owned) */
  KvasirMessageNode *answer;        /* (owned) */
  KvasirMessageNode *asked;         /* (owned) (nullable): the message that is new with it */
  guint64 edited_id;                /* what asked is a version of, 0: nothing */
  guint64 request_id;               /* 0: not sent yet */
  gboolean unwritten;
} Pending;

/* What a write on its way must know; the app may end before it is done. */
typedef struct
{
  GWeakRef answers;
  guint64 answer_id;
} Waiting;

struct _KvasirAnswers
{
  GObject parent_instance;

  KvasirEngineClient *client; /* (owned) */
  KvasirHistory *history;     /* (owned) */
  GHashTable *pending;        /* (owned) of answer id -> Pending (owned) */
  guint write_id;             /* 0: nothing is unwritten */
};

G_DEFINE_FINAL_TYPE (KvasirAnswers, kvasir_answers, G_TYPE_OBJECT)

enum
{
  ENDED,
  REFUSED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
pending_free (gpointer data)
{
  Pending *pending = data;

  g_object_unref (pending->conversation);
  g_object_unref (pending->answer);
  g_clear_object (&pending->asked);
  g_free (pending);
}

static Pending *
find_pending (KvasirAnswers *self, guint64 answer_id)
{
  return g_hash_table_lookup (self->pending, &answer_id);
}

static void
update_busy (KvasirAnswers *self, KvasirConversation *conversation)
{
  GHashTableIter iter;
  gpointer value;
  gboolean busy = FALSE;

  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    busy |= ((Pending *) value)->conversation == conversation;
  g_object_set (kvasir_conversation_get_chat (conversation), "busy", busy, NULL);
}

static void
remove_pending (KvasirAnswers *self, Pending *pending)
{
  g_autoptr (KvasirConversation) conversation = g_object_ref (pending->conversation);
  guint64 id = kvasir_message_node_get_id (pending->answer);

  g_hash_table_remove (self->pending, &id);
  update_busy (self, conversation);
}

/* ---- saving while it grows */

static gboolean
write_cb (gpointer user_data)
{
  KvasirAnswers *self = user_data;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Pending *pending = value;

      if (pending->unwritten)
        kvasir_conversation_write (pending->conversation, pending->answer, NULL, NULL);
      pending->unwritten = FALSE;
    }
  self->write_id = 0;
  return G_SOURCE_REMOVE;
}

static void
write_soon (KvasirAnswers *self, Pending *pending)
{
  pending->unwritten = TRUE;
  if (self->write_id == 0)
    self->write_id = g_timeout_add (WRITE_DELAY_MS, write_cb, self);
}

/* ---- what comes back */

static void
take_costs (Pending *pending, const KvasirNotice *notice)
{
  KvasirMessageCosts costs = *kvasir_message_node_get_costs (pending->answer);

  if (notice->kind == KVASIR_NOTICE_READING || notice->kind == KVASIR_NOTICE_DONE)
    {
      costs.n_reused = notice->n_reused;
      costs.n_read = notice->n_read;
    }
  if (notice->kind == KVASIR_NOTICE_READING)
    costs.prefill_us = notice->us;
  else if (notice->kind == KVASIR_NOTICE_DONE && notice->prefill_us > 0)
    costs.prefill_us = notice->prefill_us;
  if (notice->kind == KVASIR_NOTICE_TOKEN || notice->kind == KVASIR_NOTICE_DONE)
    {
      costs.generate_us = notice->us;
      costs.n_guessed = notice->n_guessed;
      costs.n_right = notice->n_right;
    }
  kvasir_message_node_set_costs (pending->answer, &costs);
}

static KvasirMessageState
state_of_reason (KvasirDoneReason reason)
{
  switch (reason)
    {
    case KVASIR_DONE_STOPPED:
      return KVASIR_MESSAGE_STOPPED;
    case KVASIR_DONE_LENGTH:
      return KVASIR_MESSAGE_LENGTH;
    case KVASIR_DONE_NO_ROOM:
      return KVASIR_MESSAGE_NO_ROOM;
    case KVASIR_DONE_STOP_TEXT:
      return KVASIR_MESSAGE_STOP_TEXT;
    case KVASIR_DONE_REFUSED:
      return KVASIR_MESSAGE_REFUSED;
    case KVASIR_DONE_END:
    default:
      return KVASIR_MESSAGE_COMPLETE;
    }
}

static void
end_answer (KvasirAnswers *self,
            Pending *pending,
            KvasirMessageState state,
            const KvasirNotice *notice)
{
  g_autoptr (KvasirConversation) conversation = g_object_ref (pending->conversation);
  g_autoptr (KvasirMessageNode) answer = g_object_ref (pending->answer);

  kvasir_message_node_set_state (answer, state);
  kvasir_conversation_write (conversation, answer, NULL, NULL);
  remove_pending (self, pending);
  kvasir_history_touch (self->history, kvasir_conversation_get_chat (conversation), NULL);
  g_signal_emit (self, signals[ENDED], 0, conversation, answer, notice);
}

static void
refuse_answer (KvasirAnswers *self, Pending *pending, const KvasirNotice *notice)
{
  g_autoptr (KvasirConversation) conversation = g_object_ref (pending->conversation);
  g_autofree char *text = NULL;
  guint64 edited_id = pending->edited_id;

  if (pending->asked != NULL)
    text = g_strdup (kvasir_message_node_get_content (pending->asked));
  kvasir_conversation_take_back (conversation,
                                 pending->asked != NULL ? pending->asked : pending->answer);
  remove_pending (self, pending);
  g_signal_emit (self, signals[REFUSED], 0, conversation, text, edited_id, notice);
}

static gboolean
is_empty (KvasirMessageNode *answer)
{
  guint n_tokens;

  kvasir_message_node_get_tokens (answer, &n_tokens);
  return n_tokens == 0 && *kvasir_message_node_get_content (answer) == '\0';
}

static void
read_progress (Pending *pending, const KvasirNotice *notice)
{
  const KvasirMessageProgress progress = { notice->n_done, notice->n_total, notice->us };

  kvasir_message_node_set_progress (pending->answer, &progress);
}

static void
notice_cb (KvasirEngineClient *client, const KvasirNotice *notice, KvasirAnswers *self)
{
  Pending *pending = find_pending (self, notice->message_id);

  if (pending == NULL || pending->request_id != notice->request_id)
    return;
  take_costs (pending, notice);
  switch ((int) notice->kind)
    {
    case KVASIR_NOTICE_READING:
      kvasir_message_node_set_reasons (pending->answer, notice->reasons);
      read_progress (pending, notice);
      break;
    case KVASIR_NOTICE_TOKEN:
      kvasir_message_node_append (pending->answer, notice->text, notice->token);
      write_soon (self, pending);
      break;
    case KVASIR_NOTICE_DONE:
      kvasir_message_node_append (pending->answer, notice->text, -1);
      kvasir_message_node_keep_tokens (pending->answer, notice->n_kept);
      end_answer (self, pending, state_of_reason (notice->reason), notice);
      break;
    case KVASIR_NOTICE_FAILED:
      if (is_empty (pending->answer))
        refuse_answer (self, pending, notice);
      else
        {
          kvasir_message_node_append (pending->answer, notice->text, -1);
          end_answer (self, pending, KVASIR_MESSAGE_FAILED, notice);
        }
      break;
    default:
      break;
    }
}

/* ---- asking */

/* The message is on the disk, or the disk refused it and the window says so: either way the
 * person wants an answer. */
static void
written_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree Waiting *waiting = user_data;
  g_autoptr (KvasirAnswers) self = g_weak_ref_get (&waiting->answers);
  Pending *pending = self != NULL ? find_pending (self, waiting->answer_id) : NULL;
  KvasirMessageNode *last;

  g_weak_ref_clear (&waiting->answers);
  if (pending == NULL)
    return;
  last = kvasir_message_node_get_parent (pending->answer);
  pending->request_id = kvasir_engine_client_send (
      self->client,
      kvasir_conversation_make_request (pending->conversation, last, NULL, pending->answer));
}

static const char *
get_model_title (KvasirAnswers *self)
{
  KvasirModel *model = kvasir_engine_client_get_model (self->client);

  return model != NULL ? kvasir_model_get_info (model)->title : NULL;
}

/* Adds the answer under @parent; the engine is asked once the store has everything. */
static Pending *
ask (KvasirAnswers *self, KvasirConversation *conversation, KvasirMessageNode *parent)
{
  Pending *pending = g_new0 (Pending, 1);
  Waiting *waiting = g_new0 (Waiting, 1);
  guint64 id;

  pending->conversation = g_object_ref (conversation);
  pending->answer =
      g_object_ref (kvasir_conversation_add_answer (conversation, parent, get_model_title (self)));
  id = kvasir_message_node_get_id (pending->answer);
  g_hash_table_insert (self->pending, g_memdup2 (&id, sizeof id), pending);
  /* Writes are done in order: when this one is answered, the message before it is safe too. */
  g_weak_ref_init (&waiting->answers, self);
  waiting->answer_id = id;
  kvasir_conversation_write (conversation, pending->answer, written_cb, waiting);
  update_busy (self, conversation);
  return pending;
}

void
kvasir_answers_send (KvasirAnswers *self,
                     KvasirConversation *conversation,
                     const char *text,
                     KvasirMessageNode *edited)
{
  KvasirMessageNode *parent;
  KvasirMessageNode *asked;
  Pending *pending;

  g_return_if_fail (KVASIR_IS_ANSWERS (self) && KVASIR_IS_CONVERSATION (conversation));
  parent = edited != NULL ? kvasir_message_node_get_parent (edited)
                          : kvasir_conversation_get_leaf (conversation);
  kvasir_history_touch (self->history, kvasir_conversation_get_chat (conversation),
                        parent == NULL ? text : NULL);
  asked = kvasir_conversation_add (conversation, parent, KVASIR_ROLE_USER, text);
  pending = ask (self, conversation, asked);
  pending->asked = g_object_ref (asked);
  pending->edited_id = edited != NULL ? kvasir_message_node_get_id (edited) : 0;
}

void
kvasir_answers_try_again (KvasirAnswers *self,
                          KvasirConversation *conversation,
                          KvasirMessageNode *answer)
{
  g_return_if_fail (KVASIR_IS_ANSWERS (self) && KVASIR_IS_CONVERSATION (conversation));
  ask (self, conversation, kvasir_message_node_get_parent (answer));
}

/* Ends what the engine has not heard of, or with @all everything, without waiting for it. */
static void
end_pending (KvasirAnswers *self, gboolean all)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Pending *pending = value;

      if (pending->request_id != 0 && !all)
        continue;
      kvasir_message_node_set_state (pending->answer, KVASIR_MESSAGE_STOPPED);
      kvasir_conversation_write (pending->conversation, pending->answer, NULL, NULL);
      g_object_set (kvasir_conversation_get_chat (pending->conversation), "busy", FALSE, NULL);
      g_hash_table_iter_remove (&iter);
    }
}

void
kvasir_answers_stop (KvasirAnswers *self)
{
  g_return_if_fail (KVASIR_IS_ANSWERS (self));
  end_pending (self, FALSE);
  kvasir_engine_client_stop (self->client);
}

void
kvasir_answers_stop_all (KvasirAnswers *self)
{
  g_return_if_fail (KVASIR_IS_ANSWERS (self));
  end_pending (self, TRUE);
}

static void
kvasir_answers_dispose (GObject *object)
{
  KvasirAnswers *self = KVASIR_ANSWERS (object);

  g_clear_handle_id (&self->write_id, g_source_remove);
  g_hash_table_remove_all (self->pending);
  g_clear_object (&self->client);
  g_clear_object (&self->history);
  G_OBJECT_CLASS (kvasir_answers_parent_class)->dispose (object);
}

static void
kvasir_answers_finalize (GObject *object)
{
  g_hash_table_unref (KVASIR_ANSWERS (object)->pending);
  G_OBJECT_CLASS (kvasir_answers_parent_class)->finalize (object);
}

static void
kvasir_answers_class_init (KvasirAnswersClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = kvasir_answers_dispose;
  object_class->finalize = kvasir_answers_finalize;

  signals[ENDED] = g_signal_new ("ended", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 3, KVASIR_TYPE_CONVERSATION,
                                 KVASIR_TYPE_MESSAGE_NODE, G_TYPE_POINTER);
  signals[REFUSED] = g_signal_new ("refused", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 4, KVASIR_TYPE_CONVERSATION,
                                   G_TYPE_STRING, G_TYPE_UINT64, G_TYPE_POINTER);
}

static void
kvasir_answers_init (KvasirAnswers *self)
{
  self->pending = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, pending_free);
}

KvasirAnswers *
kvasir_answers_new (KvasirEngineClient *client, KvasirHistory *history)
{
  KvasirAnswers *self = g_object_new (KVASIR_TYPE_ANSWERS, NULL);

  self->client = g_object_ref (client);
  self->history = g_object_ref (history);
  g_signal_connect_object (client, "notice", G_CALLBACK (notice_cb), self, 0);
  return self;
}
