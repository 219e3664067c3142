/* engine/session/session-private.h - what the files of the session share
 *
 * session.c makes it and carries out operations on sequences, session-plan.c matches a request
 * against the cells and makes room, session-run.c runs it, session-state.c saves and restores.
 * Thread: engine thread.
 */
#pragma once

#include "engine/session/prompt.h"
#include "engine/session/session.h"

G_BEGIN_DECLS

/* Where a request's tokens come from. Making one changes nothing. */
typedef struct
{
  KvasirPrompt prompt; /* (owned) */
  gint source;         /* sequence with the longest common prefix, -1: the chat has none */
  guint n_shared;      /* tokens of that prefix */
  gboolean fork;       /* the rest of the source stays */
  guint n_needed;      /* cells */
  guint n_free;        /* cells it may take, with the n_evict oldest chats gone */
  guint n_evict;
  gboolean fits;
} KvasirSessionPlan;

/* The request that runs. */
typedef struct
{
  guint64 request_id;
  KvasirRequest *request;         /* (owned) (nullable): NULL while none runs */
  KvasirPrompt prompt;            /* (owned) */
  KvasirSampler *sampler;         /* (owned) */
  KvasirDetokenizer *detokenizer; /* (owned) */
  gint seq;
  guint n_prompt;
  guint n_reused;
  guint n_done; /* tokens of the prompt that are in the cells */
  guint n_generated;
  guint logits_index; /* token of the last batch that the next one is drawn after */
  gint32 pos;         /* where the next token goes */
  gint64 start_us;    /* of the phase */
  gint64 prefill_us;
} KvasirRun;

struct _KvasirSession
{
  KvasirContext *context; /* (owned) */
  KvasirMemory *memory;   /* (unowned) */
  KvasirVocab *vocab;     /* (unowned) */
  KvasirSessionHooks hooks;
  const int *abort_flag;    /* (unowned) */
  KvasirSeqTable *seqs;     /* (owned) */
  KvasirMaskTap *mask_tap;  /* (owned) */
  KvasirTemplate *fallback; /* (owned) (nullable): ChatML, where the model has no template */
  gboolean told_of_fallback;
  guint n_cells;
  guint n_seqs;
  KvasirRun run;

  /* One physical batch. */
  guint n_ubatch;
  gint32 *batch_pos;         /* (owned) [n_ubatch] */
  const gint32 **batch_seqs; /* (owned) [n_ubatch], all to run.seq */
  guint *batch_n_seqs;       /* (owned) [n_ubatch], all 1 */
  guint8 *batch_outputs;     /* (owned) [n_ubatch] */
};

/* ---- session.c */
KvasirNotice *kvasir_session_new_notice (const KvasirSession *self, KvasirNoticeKind kind);
void kvasir_session_post (KvasirSession *self, KvasirNotice *notice);
void kvasir_session_emit (KvasirSession *self,
                          const KvasirEvent *event,
                          const gint32 *data,
                          guint n_data);
/* The sequences that hold cells. */
KvasirSeqSet kvasir_session_get_held (const KvasirSession *self);

void kvasir_session_run_clear (KvasirRun *run);

/* ---- session-plan.c */
/* Errors: those of kvasir_prompt_build(), _UNSUPPORTED. That it does not fit is no error here. */
gboolean kvasir_session_plan (KvasirSession *self,
                              const KvasirRequest *request,
                              KvasirSessionPlan *plan,
                              GError **error);
void kvasir_session_plan_clear (KvasirSessionPlan *plan);
/* KVASIR_ENGINE_ERROR_NO_ROOM with the numbers. */
void kvasir_session_set_no_room (const KvasirSession *self,
                                 const KvasirSessionPlan *plan,
                                 GError **error);
/* Forks or rewinds and makes room. Returns the sequence, or -1 with @error set and nothing
 * changed. What of the prompt is in it already becomes @n_shared. */
gint kvasir_session_prepare (KvasirSession *self,
                             const KvasirRequest *request,
                             const KvasirSessionPlan *plan,
                             guint *n_shared,
                             GError **error);
/* The chat used longest ago, but not @except, leaves the cells. FALSE: there is none. */
gboolean kvasir_session_evict_oldest (KvasirSession *self, guint64 except);
void kvasir_session_drop_seqs (KvasirSession *self, const KvasirSeqSet *seqs);

G_END_DECLS
