/* engine/session/worker-private.h - what the files of the worker share
 *
 * worker.c holds the queue, the thread and the public calls; worker-run.c carries commands out,
 * worker-load.c those that need a file of a model;
 * worker-views.c builds and hands over snapshots and events.
 */
#pragma once

#include <pthread.h>

#include "engine/session/mailbox.h"
#include "engine/session/session.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_COMMAND_LOAD,
  KVASIR_COMMAND_SET_GUESSES,
  KVASIR_COMMAND_UNLOAD,
  KVASIR_COMMAND_SEND,
  KVASIR_COMMAND_COUNT,
  KVASIR_COMMAND_MEASURE,
  KVASIR_COMMAND_DROP_CHAT,
  KVASIR_COMMAND_CLEAR,
  KVASIR_COMMAND_SUBSCRIBE,
  KVASIR_COMMAND_SEQ_OP,
  KVASIR_COMMAND_SAVE_STATE,
  KVASIR_COMMAND_LOAD_STATE
} KvasirCommandKind;

typedef struct
{
  KvasirCommandKind kind;
  guint64 id;
  guint64 chat_id;
  KvasirRequest *request; /* (owned) (nullable) */
  char *path;             /* (owned) (nullable) */
  KvasirContextParams params;
  KvasirSeqOp op;
  KvasirViews views;
  KvasirGuessParams guesses; /* its path is @path */
} KvasirCommand;

struct _KvasirWorker
{
  KvasirDevice *device;   /* (unowned) */
  KvasirMailbox *mailbox; /* (owned) */
  pthread_t thread;

  pthread_mutex_t mu;
  pthread_cond_t changed;
  /* protected by mu */
  GQueue commands; /* of KvasirCommand (owned) */
  guint64 last_id;
  guint64 stop_id;  /* what was asked for up to this one is to stop */
  gboolean running; /* a load or a request that can be stopped */
  gboolean quit;

  gint abort_flag; /* atomic; set with mu held, so that it only hits what runs */

  /* engine thread only */
  KvasirViews views;
  KvasirSession *session; /* (owned) (nullable) */
  GArray *planned;        /* (owned) (nullable) of KvasirMemoryRow */
  guint64 model_id;
  KvasirGuessParams guesses; /* for this model and later ones; its path is @guess_path */
  char *guess_path;          /* (owned) (nullable) */
  guint32 step;
  double told_fraction;
  gboolean changed_since; /* something happened after the last snapshot */
  guint64 n_snapshots;
  gint64 next_snapshot_us;
  gint64 next_resident_us;
  guint64 weights_resident_bytes;
  guint64 process_resident_bytes;
};

void kvasir_command_free (KvasirCommand *self);

/* ---- worker.c. Between these two, a stop of @id sets the abort flag. */
void kvasir_worker_enter (KvasirWorker *self, guint64 id);
void kvasir_worker_leave (KvasirWorker *self);

/* ---- worker-run.c */
void kvasir_worker_carry_out (KvasirWorker *self, KvasirCommand *command);
gboolean kvasir_worker_is_cheap (const KvasirCommand *command);
void kvasir_worker_step (KvasirWorker *self);
void kvasir_worker_drop_model (KvasirWorker *self);

KvasirNotice *kvasir_worker_new_notice (KvasirNoticeKind kind, guint64 id);
/* (transfer full) error */
void kvasir_worker_post_failed (KvasirWorker *self, const KvasirCommand *command, GError *error);

/* ---- worker-load.c */
void kvasir_worker_load_model (KvasirWorker *self, KvasirCommand *command);
void kvasir_worker_take_guesses (KvasirWorker *self, KvasirCommand *command);
void kvasir_worker_measure_model (KvasirWorker *self, const KvasirCommand *command);

/* ---- worker-views.c */
void
kvasir_worker_emit (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data);
/* Hands over what is new; @now: even if the last one was a moment ago. */
void kvasir_worker_show (KvasirWorker *self, gboolean now);
void kvasir_worker_set_views (KvasirWorker *self, KvasirViews views);

G_END_DECLS
