/* The main thread's side of a worker in a test: drains when woken, keeps what came. */
#pragma once

#include <pthread.h>

#include "engine/session/worker.h"

typedef struct
{
  KvasirDevice *device;
  KvasirWorker *worker;
  GPtrArray *notices;  /* of KvasirNotice, all that came */
  GArray *event_types; /* of gint */
  gboolean events_lost;
  const KvasirSnapshot *snapshot; /* the newest */
  guint64 last_sequence;

  pthread_mutex_t mu;
  pthread_cond_t woken;
  gint n_pending; /* protected by mu */
  gint n_doubled; /* protected by mu */
} Desk;

Desk *desk_new (void);
void desk_free (Desk *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Desk, desk_free)

guint64 desk_load (Desk *self, guint n_ctx);
/* Loads and waits until it is done. */
void desk_load_and_wait (Desk *self, guint n_ctx);
void desk_drain (Desk *self);
/* Drains until a notice of the kind, and with an id that is not 0 of the request, has come. Ends
 * the test where none does. */
const KvasirNotice *desk_wait (Desk *self, KvasirNoticeKind kind, guint64 id);
/* DONE or FAILED. */
const KvasirNotice *desk_wait_end (Desk *self, guint64 id);
const KvasirNotice *desk_find (const Desk *self, KvasirNoticeKind kind, guint64 id);
guint desk_count (const Desk *self, KvasirNoticeKind kind, guint64 id);
/* Drains until the snapshot is one of an engine at rest. */
void desk_wait_rest (Desk *self);

KvasirRequest *desk_new_request (guint64 chat_id, const char *text, guint max_tokens);
