/* engine/sampling/passes.h - passes over all logits, several at once
 *
 * Logits lie in blocks of 64, which need not lie side by side; the last one is filled up with -inf.
 * The bits of the results do not depend on how many the processor does at once: sums are of sixteen
 * lanes in one order, and nothing is fused. A weight is exp ((logit - peak) * scale), within 2e-6
 * of the right value and 0 where that is below e^-87. Pure functions. Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_BLOCK 64u
#define KVASIR_BUCKETS 1024u

/* Of all logits, or of some blocks one after the other; the blocks are [n_blocks]. */
typedef struct
{
  /* The largest of each block; @odd [n_blocks] becomes 1 where a NaN or +inf is in it, and the
   * maximum then says nothing. */
  void (*scan) (const float *const *blocks, guint n_blocks, float *maxima, guint8 *odd);
  /* The sum of the weights of each block. */
  void (*weigh) (const float *const *blocks,
                 const float *maxima,
                 guint n_blocks,
                 float peak,
                 float scale,
                 float *masses);
  /* The sum of weight * log2 (weight) of all blocks. */
  double (*moment) (
      const float *const *blocks, const float *maxima, guint n_blocks, float peak, float scale);
  /* Of the logits above -inf: how many, and the sums of (logit - peak) and its square. */
  guint (*spread) (
      const float *const *blocks, guint n_blocks, float peak, double *sum, double *squares);
  /* Bit i: the block's logit i is at least @bound. */
  guint64 (*find) (const float *block, float bound);
  /* Copies a block; what is below @bound becomes -inf. */
  void (*floor) (const float *block, float bound, float *to);
  /* Of each of a block: its weight, and its distance from the peak in eighths of a nat of the
   * weight, at most KVASIR_BUCKETS - 1. */
  void (*sort) (const float *block, float peak, float scale, float *weights, gint32 *buckets);
} KvasirPasses;

typedef enum
{
  KVASIR_PASSES_PLAIN,
  KVASIR_PASSES_AVX2,
  KVASIR_PASSES_AVX512
} KvasirPassesKind;

/* NULL where this processor does not have them. */
const KvasirPasses *kvasir_passes_get (KvasirPassesKind kind);
/* The widest there are. */
const KvasirPasses *kvasir_passes_get_best (void);

G_END_DECLS
