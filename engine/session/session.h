/* engine/session/session.h - chats over one context
 *
 * One chat holds one or more sequences: its branches. A request is matched against the cells by
 * tokens, in all sequences of its chat; only what follows the longest common prefix is read. Where
 * going on would overwrite an answer that is kept, the shared part is forked with seq_cp, else the
 * sequence is rewound with seq_rm. Room is taken from the chats that were used longest ago, never
 * from the chat itself; if that is not enough, nothing changes and the request fails with the
 * numbers.
 *
 * A request runs in steps, so that its owner can do other things between them: one physical batch
 * of the prompt, or one token of the answer. Guesses that were read with the last token but are not
 * checked yet lie in the cells between two steps, and leave with the end of the request.
 *
 * Owner:  KvasirWorker. Thread: engine thread only.
 */
#pragma once

#include "engine/session/guess.h"
#include "engine/session/mask-tap.h"
#include "engine/session/seq-table.h"
#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef struct _KvasirSession KvasirSession;

/* What a session tells. */
typedef struct
{
  /* (transfer full) notice */
  void (*post) (KvasirNotice *notice, gpointer user_data);
  /* Its own events: samples, evictions, notes. Those of context and memory go to their sinks. */
  void (*emit) (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data);
  /* After each physical batch, in the middle of a decode. */
  void (*ubatch_done) (gpointer user_data);
  gpointer user_data;
} KvasirSessionHooks;

/* @context: (transfer full). @abort_flag: set by others to stop the step that runs. */
KvasirSession *kvasir_session_new (KvasirContext *context,
                                   const int *abort_flag,
                                   const KvasirSessionHooks *hooks) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_session_free (KvasirSession *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirSession, kvasir_session_free)

/* How tokens are guessed from the next request on, while none runs. @context: (transfer full)
 * (nullable): of the second model, where params ask for one. FALSE: nothing is guessed.
 * Errors: _BAD_ARGUMENT where the second model does not go with the first one, _UNSUPPORTED where
 * this memory or device can't, _NO_MEMORY */
gboolean kvasir_session_set_guesses (KvasirSession *self,
                                     const KvasirGuessParams *params,
                                     KvasirContext *context,
                                     GError **error);
/* So many at a time at most, 0: none. */
guint kvasir_session_get_guess_width (const KvasirSession *self);

/* Begins a request while none runs. (transfer full) request. FALSE: it has ended already, and told
 * so. */
gboolean kvasir_session_start (KvasirSession *self, guint64 request_id, KvasirRequest *request);
/* FALSE: the request has ended, and told so. */
gboolean kvasir_session_step (KvasirSession *self);
/* Ends the request that runs, keeping what is there. */
void kvasir_session_stop (KvasirSession *self);
/* 0: none runs. */
guint64 kvasir_session_get_request (const KvasirSession *self);
guint64 kvasir_session_get_chat (const KvasirSession *self);

/* Tells what a request would need; nothing changes. */
void kvasir_session_count (KvasirSession *self, guint64 request_id, const KvasirRequest *request);
void kvasir_session_drop_chat (KvasirSession *self, guint64 chat_id);
/* The following while no request runs. */
void kvasir_session_clear (KvasirSession *self);
gboolean kvasir_session_seq_op (KvasirSession *self, const KvasirSeqOp *op, GError **error);
/* Of the chat's newest sequence, or with 0 of the whole memory. */
gboolean
kvasir_session_save (KvasirSession *self, guint64 chat_id, const char *path, GError **error);
gboolean
kvasir_session_load (KvasirSession *self, guint64 chat_id, const char *path, GError **error);

/* ---- looking */
KvasirContext *kvasir_session_get_context (const KvasirSession *self);
const KvasirSeqTable *kvasir_session_get_seqs (const KvasirSession *self);
KvasirMaskTap *kvasir_session_get_mask_tap (KvasirSession *self);
/* Appends KvasirMemoryRow lines: those of the context, and checkpoints. */
void kvasir_session_append_breakdown (const KvasirSession *self, GArray *rows);

G_END_DECLS
