/* engine/sampling/pool.h - what may still be drawn, while the stages of a chain work on it
 *
 * At first the pool is the whole vocabulary: the caller's logits in blocks of 64 with the maximum
 * of each. They are not copied; a block is only once one of it is to change. A cut that leaves few
 * makes a list of picks of the pool, one that leaves many writes -inf over the others. The
 * temperature is a factor that is carried along and never multiplied in, so cuts before and after
 * it look at the same logits.
 *
 * The weight of a token is exp ((logit - peak) * scale). Owner: KvasirSampler. Thread: its own.
 */
#pragma once

#include "engine/sampling/passes.h"
#include "engine/sampling/select.h"

G_BEGIN_DECLS

typedef struct
{
  const KvasirPasses *passes;
  guint n_vocab;
  guint n_blocks;
  guint n_groups;       /* of 64 blocks */
  const float **blocks; /* (owned) [n_blocks] of [64]: the caller's, own ones, or the empty one */
  float *own;           /* (owned) [n_blocks * 64] */
  float *block_max;     /* (owned) [n_groups * 64], filled up with -inf */
  float *block_mass;    /* (owned) [n_blocks] sums of exp ((logit - mass_peak) * mass_scale) */
  const float **groups; /* (owned) [n_groups] of [64], into block_max */
  float *group_max;     /* (owned) [n_groups] */
  guint8 *odd;          /* (owned) [n_blocks] */
  guint64 *picks;       /* (owned) [n_blocks * 64 + 1] */
  guint8 *marks;        /* (owned) [n_vocab] zeros between calls */
  gint32 *edited;       /* (owned) [n_vocab] ids that are marked since the last settling */
  guint n_edited;
  float peak; /* of the pool; -inf: nothing is left */
  float scale;
  float mass_peak;
  float mass_scale; /* 0: block_mass says nothing */
  gboolean cut;     /* picks[0 ... n) are the pool, in no order; else all that is not -inf is */
  guint n;          /* only while cut */
} KvasirPool;

void kvasir_pool_init (KvasirPool *self, guint n_vocab);
void kvasir_pool_clear (KvasirPool *self);
/* @logits: [n_vocab] (unowned): read until the next are loaded. */
void kvasir_pool_load (KvasirPool *self, const float *logits);
/* The logits of the whole vocabulary in a row, to be written from outside; then refresh. */
float *kvasir_pool_open (KvasirPool *self);
void kvasir_pool_refresh (KvasirPool *self);
/* Gives a token another logit, cut to what a float holds; of several for one token the first
 * counts. Nothing is true of the pool until it is settled. */
void kvasir_pool_edit (KvasirPool *self, gint32 id, float logit);
/* The same, and the token is none of the pool. */
void kvasir_pool_remove (KvasirPool *self, gint32 id);
void kvasir_pool_settle (KvasirPool *self);

static inline float
kvasir_pool_get_logit (const KvasirPool *self, guint32 id)
{
  return self->blocks[id / KVASIR_BLOCK][id % KVASIR_BLOCK];
}
guint kvasir_pool_count (const KvasirPool *self);
/* The sum of all weights. */
double kvasir_pool_weigh (KvasirPool *self);
/* In nats, of the chances in the pool. */
double kvasir_pool_get_entropy (KvasirPool *self);
static inline double
kvasir_pool_weigh_one (const KvasirPool *self, float logit)
{
  return (double) kvasir_exp_negative ((logit - self->peak) * self->scale);
}
/* The lowest logit that weighs at least @weight, 0 < @weight <= 1. */
float kvasir_pool_find_bound (const KvasirPool *self, double weight);

/* Makes picks of what lies at or above @bound, -inf never. Does not cut. */
guint kvasir_pool_collect (KvasirPool *self, float bound);
/* Makes picks of the @k best of the whole vocabulary. Does not cut. */
guint kvasir_pool_collect_best (KvasirPool *self, guint k);
/* Says that the first @n picks are the pool now. */
void kvasir_pool_cut (KvasirPool *self, guint n);
/* Cuts off what lies below @bound. */
void kvasir_pool_keep_above (KvasirPool *self, float bound);
/* Cuts off all but the shortest row of best ones whose weights reach @mass; in what lies below
 * @deepest it is not reached. */
void kvasir_pool_keep_mass (KvasirPool *self, double mass, float deepest);
/* The token where the running sum of weights passes @target < the sum of all. */
guint32 kvasir_pool_find (const KvasirPool *self, double target);

G_END_DECLS
