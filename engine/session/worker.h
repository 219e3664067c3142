/* engine/session/worker.h - the engine's thread and the two ways across to it
 *
 * UI -> engine: one command queue. Every command returns at once with a request id. Stop is an
 * atomic flag read between phases of a step. Engine -> UI: one mailbox. Notices are appended and
 * never lost. Events go through a ring allocated once; where the reader falls behind, a gap is
 * marked and a full snapshot takes the place of what was lost. Snapshots are latest-wins, and only
 * built for subscribed views. One wake-up is pending at most.
 *
 * Thread: commands and kvasir_worker_drain() from one thread, the main one. The wake-up function is
 *   called on the engine thread; it must only schedule a drain.
 * Neither side waits for the other, except kvasir_worker_free(), which stops the step that runs and
 * joins.
 */
#pragma once

#include <glib.h>

#include "engine/sampling/sampler.h"
#include "engine/session/context.h"
#include "engine/session/guess.h"
#include "engine/session/sampling-texts.h"
#include "engine/session/snapshot.h"
#include "engine/session/thinking.h"

G_BEGIN_DECLS

typedef struct _KvasirWorker KvasirWorker;
typedef void (*KvasirWakeup) (gpointer user_data);

/* ---- commands */

typedef enum
{
  KVASIR_ROLE_SYSTEM,
  KVASIR_ROLE_USER,
  KVASIR_ROLE_ASSISTANT
} KvasirRole;

/* One message of the path from the root to the leaf. */
typedef struct
{
  guint64 id;
  KvasirRole role;
  char *content;  /* (owned) */
  char *json;     /* (owned) (nullable): the object that a template is given in place of the two */
  gint32 *tokens; /* (owned) (nullable): ids that were generated, without the end token */
  guint n_tokens;
  gboolean reasons; /* of an answer: its prompt had opened the model's reasoning, see the notice */
} KvasirMessage;

typedef struct
{
  guint64 chat_id;     /* not 0 */
  guint64 answer_id;   /* message that the answer will be */
  GPtrArray *messages; /* (owned) of KvasirMessage, free function set; the last one is a user's */
  KvasirSamplerParams sampling;
  KvasirSamplingTexts texts; /* (owned) */
  guint max_tokens;          /* 0: until the end token or no room */
  gboolean
      keep_other; /* an alternative to an answer that stays: fork (seq_cp) instead of rewinding */
  gboolean adapt; /* a chat that the template refuses is put in a simpler form */
  KvasirThinking thinking;
  char *tools; /* (owned) (nullable): a JSON list for the template, which must know of tools */
  char *date;  /* (owned) (nullable): the chat's fixed clock, ISO 8601 */
} KvasirRequest;

KvasirMessage *kvasir_message_new (guint64 id, KvasirRole role, const char *content);
KvasirMessage *kvasir_message_copy (const KvasirMessage *self) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_message_free (KvasirMessage *self);
KvasirRequest *kvasir_request_new (guint64 chat_id, guint64 answer_id);
void kvasir_request_free (KvasirRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirRequest, kvasir_request_free)

KvasirWorker *kvasir_worker_new (KvasirDevice *device,
                                 KvasirWakeup wakeup,
                                 gpointer user_data) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_worker_free (KvasirWorker *self);

/* Stops what was asked for before, unloads what was loaded, then loads; LOADING notices, then
 * LOADED or FAILED, after which no model is there. */
guint64
kvasir_worker_load (KvasirWorker *self, const char *path, const KvasirContextParams *params);
/* How tokens are guessed, from the next request on and for models that are loaded later, until it
 * is said again. If a model is there, a GUESSES notice follows; one follows each LOADED while
 * anything is to be guessed. A model with states only keeps
 * what guessing needs if this was said before it was loaded. */
guint64 kvasir_worker_set_guesses (KvasirWorker *self, const KvasirGuessParams *params);
/* Stops what was asked for before. */
guint64 kvasir_worker_unload (KvasirWorker *self);
/* (transfer full) request. READING notices, TOKEN notices, then one DONE or FAILED. */
guint64 kvasir_worker_send (KvasirWorker *self, KvasirRequest *request);
/* Stops what runs now, a load included, and forgets queued sends: these end with DONE, stopped. The
 * answer so far is kept. Never hits what is asked for later. */
void kvasir_worker_stop (KvasirWorker *self);
/* Counts a draft: the same request, nothing is read or changed. One DRAFT notice; a newer count
 * replaces an older one that has not started. (transfer full) */
guint64 kvasir_worker_count (KvasirWorker *self, KvasirRequest *request);
/* Measures a file with settings; one FIT notice. */
guint64
kvasir_worker_measure (KvasirWorker *self, const char *path, const KvasirContextParams *params);
/* The chat's sequences leave the cells (the chat was deleted). */
guint64 kvasir_worker_drop_chat (KvasirWorker *self, guint64 chat_id);
/* Forgets all cells. */
guint64 kvasir_worker_clear (KvasirWorker *self);
/* Which views are shown; a snapshot of what is new follows at once. */
void kvasir_worker_subscribe (KvasirWorker *self, KvasirViews views);
/* Whether the caller itself wants a processor now. The engine's threads leave one free meanwhile:
 * where all of them are at work, one that is held up by the caller would hold up all others. */
void kvasir_worker_make_way (KvasirWorker *self, gboolean wanted);

typedef enum
{
  KVASIR_SEQ_OP_RM,
  KVASIR_SEQ_OP_CP,
  KVASIR_SEQ_OP_KEEP,
  KVASIR_SEQ_OP_ADD,
  KVASIR_SEQ_OP_DIV
} KvasirSeqOpKind;

typedef struct
{
  KvasirSeqOpKind kind;
  gint seq;
  gint dst;
  gint32 p0;
  gint32 p1;
  gint32 value; /* delta or divisor */
} KvasirSeqOp;

guint64 kvasir_worker_seq_op (KvasirWorker *self, const KvasirSeqOp *op);
/* A chat's sequence, or with chat_id 0 the whole memory, to or from a file. One SAVED or FAILED. */
guint64 kvasir_worker_save_state (KvasirWorker *self, guint64 chat_id, const char *path);
guint64 kvasir_worker_load_state (KvasirWorker *self, guint64 chat_id, const char *path);

/* ---- notices */

typedef enum
{
  KVASIR_NOTICE_LOADING, /* fraction */
  KVASIR_NOTICE_LOADED,  /* model */
  KVASIR_NOTICE_UNLOADED,
  KVASIR_NOTICE_READING, /* n_done of n_total prompt tokens, the n_reused ones included, us */
  KVASIR_NOTICE_TOKEN,   /* text (whole characters, may be empty), token id, sample */
  KVASIR_NOTICE_DONE,    /* reason, counts, us; text: what was held back until now */
  KVASIR_NOTICE_DRAFT,   /* n_draft, n_needed, n_free, fits */
  KVASIR_NOTICE_FIT,     /* fit, model */
  KVASIR_NOTICE_EVICTED, /* chat_id: its cells were dropped to make room, n_total cells */
  KVASIR_NOTICE_SAVED,   /* state written or read */
  KVASIR_NOTICE_GUESSES, /* n_total: tokens guessed at a time, 0: none; error, where that is not
                            what was asked for; model: the second one */
  KVASIR_NOTICE_FAILED   /* error; needed and free where it is about room; text as in DONE */
} KvasirNoticeKind;

typedef enum
{
  KVASIR_DONE_END, /* the model ended its answer */
  KVASIR_DONE_STOPPED,
  KVASIR_DONE_LENGTH,    /* max_tokens */
  KVASIR_DONE_NO_ROOM,   /* the window is full in the middle of an answer; what is there stays */
  KVASIR_DONE_STOP_TEXT, /* one of the request's; it is no part of the text */
  KVASIR_DONE_REFUSED    /* no token fits the form that was asked for; error says why */
} KvasirDoneReason;

typedef struct
{
  KvasirNoticeKind kind;
  guint64 request_id;
  guint64 chat_id;
  guint64 message_id; /* answer */
  double fraction;
  guint n_done;
  guint n_total;
  guint n_reused; /* prompt tokens found in the cells */
  guint n_read;   /* prompt tokens computed */
  guint n_generated;
  guint n_kept;    /* DONE: of the generated tokens, from the first on, those that give the text; 0
                      after a stop text that begins inside of one: then only the text is there */
  guint n_guessed; /* tokens that were guessed ahead, and those of them that came right */
  guint n_right;
  guint n_draft;  /* tokens of the last message alone */
  guint n_needed; /* cells that the rest of the prompt takes */
  guint n_free;   /* cells it may take: free ones, its own tail's, and those of idle chats as far as
                     they are needed */
  gboolean fits;
  gboolean reasons;  /* the prompt has opened the model's reasoning: the answer begins inside */
  gint64 us;         /* spent so far in this phase */
  gint64 prefill_us; /* DONE */
  gint seq;
  KvasirDoneReason reason;
  gint32 token;
  KvasirSample sample;
  char *text;         /* (owned) (nullable) */
  KvasirModel *model; /* (owned) (nullable): immutable, safe to read on the main thread */
  KvasirFit *fit;     /* (owned) (nullable) */
  GError *error;      /* (owned) (nullable) */
} KvasirNotice;

void kvasir_notice_free (KvasirNotice *self);

/* What a drain took. Events: header structs with their numbers following, see
 * kvasir_mail_next_event. */
typedef struct
{
  GPtrArray *notices;             /* of KvasirNotice, in order */
  GByteArray *events;             /* packed */
  gboolean events_lost;           /* a gap lies before the first event here */
  const KvasirSnapshot *snapshot; /* newest, or NULL */
} KvasirMail;

void kvasir_mail_init (KvasirMail *mail);
void kvasir_mail_clear (KvasirMail *mail);
/* Takes everything in one go. @mail was initialised and holds nothing. */
void kvasir_worker_drain (KvasirWorker *self, KvasirMail *mail);
/* Walks packed events: *offset starts at 0. NULL at the end. @data: numbers of the event. */
const KvasirEvent *
kvasir_mail_next_event (const KvasirMail *mail, gsize *offset, const gint32 **data, guint *n_data);

G_END_DECLS
