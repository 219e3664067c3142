/* engine/session/guess.h - the tokens that may come next, guessed cheaply
 *
 * Guesses are read together with the token before them, in one step. Then the answer is drawn from
 * the model's own rows, token by token, with the chain of samplers as ever; a guess stays where the
 * token drawn is the same, and from the first other one on guesses leave the cells. So the text is
 * the one that would be written without, whatever the samplers are.
 *
 * They come from the text itself (what followed where its last tokens stood before), or from a
 * second, smaller model of the same vocabulary.
 *
 * Owner:  KvasirSession. Thread: engine thread.
 */
#pragma once

#include "engine/session/context.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_GUESS_OFF,
  KVASIR_GUESS_LOOKUP,
  KVASIR_GUESS_MODEL
} KvasirGuessKind;

#define KVASIR_MAX_GUESSES 15

typedef struct
{
  KvasirGuessKind kind;
  guint width;      /* at most so many at a time, 1 ... KVASIR_MAX_GUESSES */
  gboolean always;  /* even where it takes more time than it saves: for comparing */
  const char *path; /* (nullable) (unowned): file of the second model */
} KvasirGuessParams;

typedef struct _KvasirGuesser KvasirGuesser;

/* @context: (transfer full) (nullable): the second model's, one sequence. */
KvasirGuesser *kvasir_guesser_new (const KvasirGuessParams *params,
                                   KvasirContext *context) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_guesser_free (KvasirGuesser *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGuesser, kvasir_guesser_free)

/* A new answer begins: what was learned of the last one's guesses counts no more. */
void kvasir_guesser_begin (KvasirGuesser *self);
/* The text's first @n tokens have been read: a second model reads them, too. */
void kvasir_guesser_follow (KvasirGuesser *self, const gint32 *text, guint n);
/* What may follow the @n tokens of the text, at most @max tokens, to @guesses. Returns: how many,
 * often 0 */
guint
kvasir_guesser_guess (KvasirGuesser *self, const gint32 *text, guint n, guint max, gint32 *guesses);
/* A step over @n_tokens, the guessed ones included, took so long. */
void kvasir_guesser_note_step (KvasirGuesser *self, guint n_tokens, gint64 us);
/* Of the last guesses the first @n_right were drawn; where @is_over, the one after them was not. */
void kvasir_guesser_note_right (KvasirGuesser *self, guint n_right, gboolean is_over);

/* Appends one KvasirMemoryRow for each kind of buffer of a second model. */
void kvasir_guesser_append_breakdown (const KvasirGuesser *self, GArray *rows);

G_END_DECLS
