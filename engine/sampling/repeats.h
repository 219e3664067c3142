/* engine/sampling/repeats.h - what stood in the text, and what it costs to say it again
 *
 * Holds the last tokens and edits the logits of those that are there: the penalties of the CTRL
 * paper and of OpenAI's interface by how often a token is there, and DRY ("don't repeat yourself",
 * by p-e-w) by how long a row it would make the text repeat. Owner: KvasirSampler.
 */
#pragma once

#include "engine/sampling/pool.h"
#include "engine/sampling/sampler.h"

G_BEGIN_DECLS

typedef struct _KvasirRepeats KvasirRepeats;

KvasirRepeats *kvasir_repeats_new (const KvasirSamplerParams *params,
                                   guint n_vocab) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_repeats_free (KvasirRepeats *self);
void
kvasir_repeats_add_breaker (KvasirRepeats *self, gint32 head, const gint32 *tail, guint n_tail);
/* 0 <= @id < n_vocab. */
void kvasir_repeats_accept (KvasirRepeats *self, gint32 id);

/* Both leave the pool settled. */
void kvasir_repeats_penalise (KvasirRepeats *self, KvasirPool *pool);
void kvasir_repeats_dry (KvasirRepeats *self, KvasirPool *pool);

G_END_DECLS
