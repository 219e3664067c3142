/* engine/session/session-private.h - what the files of the session share
 *
 * session.c makes it and carries out operations on sequences, session-match.c matches a request
 * against the cells, session-plan.c counts its room, session-reuse.c makes room and forks or
 * rewinds, session-run.c runs it, session-guess.c keeps or takes back what was guessed,
 * session-state.c saves and restores.
 * Thread: engine thread.
 */
#pragma once

#include "engine/session/answer-form.h"
#include "engine/session/checkpoints.h"
#include "engine/session/prompt.h"
#include "engine/session/session.h"
#include "engine/session/stop-texts.h"

G_BEGIN_DECLS

/* Where a request's tokens come from. Making one changes nothing. */
typedef struct
{
  KvasirPrompt prompt;                /* (owned) */
  gint source;                        /* sequence to go on from, -1: the chat has none */
  guint n_common;                     /* tokens that it has in common with the prompt */
  guint n_shared;                     /* tokens that need not be read */
  const KvasirCheckpoint *checkpoint; /* (nullable) (unowned): what takes the memory there */
  gboolean fork;                      /* the rest of the source stays */
  guint n_needed;                     /* cells */
  guint n_free;                       /* cells it may take, with the n_evict oldest chats gone */
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
  KvasirAnswerForm *form;         /* (owned) (nullable): filters for the sampler */
  KvasirDetokenizer *detokenizer; /* (owned) */
  KvasirStopTexts *stop_texts;    /* (owned) (nullable) */
  GArray *text;                   /* (owned) of gint32: the prompt's tokens and those told since */
  gint seq;
  guint n_prompt;
  guint n_reused;
  guint n_done; /* tokens of the prompt that are in the cells */
  guint n_generated;
  guint logits_index; /* token of the last batch that the next one is drawn after */
  gint32 pos;         /* where the next token goes */
  guint message_at;   /* where the last message begins in the prompt */
  gboolean reasons;   /* the prompt ends inside the model's reasoning */
  gint64 start_us;    /* of the phase */
  gint64 prefill_us;

  /* Guesses that lie in the cells from @pos on; of all, those before the next one were kept. */
  gint32 guesses[KVASIR_MAX_GUESSES];
  guint n_guesses;
  guint next_guess;
  guint n_guessed; /* since the answer began */
  guint n_right;
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
  gboolean told_of_template;
  KvasirTokenTrie *trie;          /* (owned) (nullable): made for the first answer with a form */
  KvasirCheckpoints *checkpoints; /* (owned) */
  guint n_cells;                  /* that one sequence may hold */
  guint n_seqs;
  gboolean has_cells;     /* one for each token, which knows it */
  gboolean has_states;    /* recurrent ones */
  gboolean has_streams;   /* cells of its own for each sequence */
  gboolean forgets;       /* a rewind may be refused: checkpoints are kept */
  KvasirGuesser *guesser; /* (owned) (nullable) */
  guint guess_width;      /* 0: nothing is guessed */
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

/* The log learns how the bytes of checkpoints changed from @n_before on. */
void kvasir_session_emit_checkpoints (KvasirSession *self, gsize n_before);

/* ---- session-match.c. Fills source, n_common, n_shared, checkpoint and fork. */
void kvasir_session_match (const KvasirSession *self,
                           const KvasirRequest *request,
                           KvasirSessionPlan *plan);

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
/* ---- session-reuse.c. Forks or rewinds and makes room. Returns the sequence, or -1 with @error
 * set and nothing changed. What of the prompt is in it already becomes @n_shared. */
gint kvasir_session_prepare (KvasirSession *self,
                             const KvasirRequest *request,
                             const KvasirSessionPlan *plan,
                             guint *n_shared,
                             GError **error);
/* The chat used longest ago, but not @except, leaves the cells. FALSE: there is none. */
gboolean kvasir_session_evict_oldest (KvasirSession *self, guint64 except);
void kvasir_session_drop_seqs (KvasirSession *self, const KvasirSeqSet *seqs);
/* Keeps the state after the first @n tokens of the running request's prompt. */
void kvasir_session_keep_checkpoint (KvasirSession *self, guint n);

/* ---- session-guess.c */
/* What may follow the token told last, to @guesses [KVASIR_MAX_GUESSES]. Returns: how many */
guint kvasir_session_guess (KvasirSession *self, gint32 *guesses);
/* They were read with the last token in a step that took so long, and lie in the cells behind it.
 */
void kvasir_session_note_guesses (KvasirSession *self, const gint32 *guesses, guint n, gint64 us);
/* Whether @id, the token drawn, is the next guess; if not, what is left of them leaves the cells.
 */
gboolean kvasir_session_check_guess (KvasirSession *self, gint32 id);
/* The next guess becomes a token like any other. */
void kvasir_session_keep_guess (KvasirSession *self);
/* Those that were not kept leave the cells. */
void kvasir_session_drop_guesses (KvasirSession *self);

G_END_DECLS
