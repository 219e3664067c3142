/* engine/sampling/passes.h - passes over all logits, several at once
 *
 * Logits lie in blocks of 64, which need not lie side by side; the last one is filled up with -inf.
 * The bits of the results do not depend on how many the processor does at once: sums are of sixteen
 * lanes in one order, and nothing is fused. A weight is exp ((logit - peak) * scale); its relative
 * error grows with the depth of the exponent, by 2e-7 for each nat. What lies below e^-87, -inf
 * too, may weigh anything up to that: it makes no difference to a sum that the peak is in. Pure
 * functions. Thread: any.
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
  /* How many are at least @bound; stops where that are more than @enough. */
  guint (*count) (
      const float *const *blocks, const float *maxima, guint n_blocks, float bound, guint enough);
  /* Bit i: the block's logit i is at least @low and less than @high. */
  guint64 (*find) (const float *block, float low, float high);
  /* Copies those that are at least @bound to the front of @to [KVASIR_BLOCK + 16], whose rest may
   * be written too. Returns how many they are. */
  guint (*take) (const float *block, float bound, float *to);
  /* Copies a block; what is below @bound becomes -inf. The bits of those that are @bound. */
  guint64 (*floor) (const float *block, float bound, float *to);
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
