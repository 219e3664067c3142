/* app/cli/answer-args.h - options that say how an answer is drawn and where it ends
 *
 * Named as those of llama.cpp's programs, so that a command line can be carried over.
 */
#pragma once

#include <glib.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirSamplerParams sampling;
  KvasirSamplingTexts texts; /* (owned) */
  guint max_tokens;          /* 0: no limit */
  gboolean own_breakers;     /* the usual ones were replaced */
  GPtrArray *helps;          /* (owned) of char *, for the group */
} KvasirAnswerArgs;

/* The defaults. */
void kvasir_answer_args_init (KvasirAnswerArgs *self);
void kvasir_answer_args_clear (KvasirAnswerArgs *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirAnswerArgs, kvasir_answer_args_clear)

/* What fills @self, which must outlive it, while the line is parsed; a value that makes no sense is
 * an error of it. Returns: (transfer full) */
GOptionGroup *kvasir_answer_args_make_group (KvasirAnswerArgs *self);
void kvasir_answer_args_apply (const KvasirAnswerArgs *self, KvasirRequest *request);

G_END_DECLS
