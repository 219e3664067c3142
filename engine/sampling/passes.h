/* engine/sampling/passes.h - the two passes over all logits, several at once
 *
 * Logits lie in blocks of 64, the last filled up with -inf. The bits of the results do not depend
 * on how many the processor does at once. Pure functions. Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_BLOCK 64u

/* Copies the logits of @n_blocks whole blocks; NaN becomes -inf and +inf the largest float. Of each
 * block: its maximum, and the sum of exp (logit - maximum), 0 where all are -inf. */
void
kvasir_pass_load (const float *from, guint n_blocks, float *logits, float *maxima, double *masses);
/* The sums of exp ((logit - the block's maximum) * scale). */
void kvasir_pass_weigh (
    const float *logits, const float *maxima, guint n_blocks, float scale, double *masses);

G_END_DECLS
