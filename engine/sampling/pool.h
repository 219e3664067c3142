/* engine/sampling/pool.h - what may still be drawn, while the stages of a chain work on it
 *
 * At first the pool is the whole vocabulary: one array of logits with the maximum and the mass of
 * each block of 64. The first cut turns it into a list of picks. The temperature is a factor that
 * is carried along and never multiplied in, so cuts before and after it look at the same array.
 *
 * The weight of a token is exp ((logit - peak) * scale). Owner: KvasirSampler. Thread: its own.
 */
#pragma once

#include "engine/sampling/select.h"

G_BEGIN_DECLS

typedef struct
{
  guint n_vocab;
  guint n_blocks;
  float *logits;      /* (owned) [n_blocks * 64], filled up with -inf */
  float *block_max;   /* (owned) [n_blocks] */
  double *block_mass; /* (owned) [n_blocks] sums of exp ((logit - block_max) * mass_scale) */
  guint64 *picks;     /* (owned) [n_blocks * 64 + 1] */
  guint8 *marks;      /* (owned) [n_vocab] zeros between calls */
  gint32 *edited;     /* (owned) [n_vocab] ids that are marked since the last settling */
  guint n_edited;
  float peak; /* of the pool; -inf: nothing is left */
  float scale;
  float mass_scale; /* of block_mass */
  gboolean cut;     /* picks[0 ... n) are the pool, in no order; else all that is not -inf is */
  guint n;          /* only while cut */
} KvasirPool;

void kvasir_pool_init (KvasirPool *self, guint n_vocab);
void kvasir_pool_clear (KvasirPool *self);
/* @logits: [n_vocab]. */
void kvasir_pool_load (KvasirPool *self, const float *logits);
/* After the logits of the whole vocabulary were written from outside. */
void kvasir_pool_refresh (KvasirPool *self);
/* Gives a token another logit, cut to what a float holds; of several for one token the first
 * counts. Nothing is true of the pool until it is settled. */
void kvasir_pool_edit (KvasirPool *self, gint32 id, float logit);
/* The same, and the token is none of the pool. */
void kvasir_pool_remove (KvasirPool *self, gint32 id);
void kvasir_pool_settle (KvasirPool *self);

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

/* Makes picks of what lies at or above @bound, -inf never. Does not cut. */
guint kvasir_pool_collect (KvasirPool *self, float bound);
/* Makes picks of the @k best of the whole vocabulary. Does not cut. */
guint kvasir_pool_collect_best (KvasirPool *self, guint k);
/* Says that the first @n picks are the pool now. */
void kvasir_pool_cut (KvasirPool *self, guint n);
/* The token where the running sum of weights passes @target < the sum of all. */
guint32 kvasir_pool_find (const KvasirPool *self, double target);

G_END_DECLS
