/* engine/session/guess-model.h - a second, smaller model that reads along and guesses
 *
 * Its memory holds one sequence: the text as far as it was read, and guesses behind it. What is
 * not as the text is taken back with seq_rm before it reads on; so it follows from one chat to
 * another by what they have in common.
 *
 * Owner:  KvasirGuesser. Thread: engine thread.
 */
#pragma once

#include "engine/session/context.h"

G_BEGIN_DECLS

typedef struct _KvasirGuessModel KvasirGuessModel;

/* @context: (transfer full): one sequence. */
KvasirGuessModel *kvasir_guess_model_new (KvasirContext *context) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_guess_model_free (KvasirGuessModel *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGuessModel, kvasir_guess_model_free)

/* Brings the memory to the first @n tokens of @text. FALSE: it was stopped, or has no room, or
 * failed; what is held then is a beginning of the text. */
gboolean kvasir_guess_model_read (KvasirGuessModel *self, const gint32 *text, guint n);
/* The likeliest tokens after the @n of @text, one after the other. Returns: how many, at most @max
 */
guint kvasir_guess_model_guess (
    KvasirGuessModel *self, const gint32 *text, guint n, guint max, gint32 *guesses);
/* Appends the bytes of model and context, one KvasirMemoryRow for each type of buffer. */
void kvasir_guess_model_append_breakdown (const KvasirGuessModel *self, GArray *rows);

/* Whether @guessing can guess for @writing: with one vocabulary, token by token, and a memory from
 * which @width tokens can be taken back. Errors: _BAD_ARGUMENT, which says what differs */
gboolean kvasir_guess_model_check (KvasirContext *guessing,
                                   KvasirModel *writing,
                                   guint width,
                                   GError **error);

G_END_DECLS
