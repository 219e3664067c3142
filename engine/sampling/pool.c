#include "engine/sampling/pool.h"

#include <float.h>
#include <math.h>

#include "engine/sampling/passes.h"

void
kvasir_pool_init (KvasirPool *self, guint n_vocab)
{
  self->n_vocab = n_vocab;
  self->n_blocks = (n_vocab + KVASIR_BLOCK - 1) / KVASIR_BLOCK;
  gsize n = (gsize) self->n_blocks * KVASIR_BLOCK;
  self->logits = g_new (float, n);
  self->block_max = g_new (float, self->n_blocks);
  self->block_mass = g_new (double, self->n_blocks);
  self->picks = g_new (guint64, n + 1);
  self->marks = g_new0 (guint8, n_vocab);
  self->edited = g_new (gint32, n_vocab);
}

void
kvasir_pool_clear (KvasirPool *self)
{
  g_free (self->logits);
  g_free (self->block_max);
  g_free (self->block_mass);
  g_free (self->picks);
  g_free (self->marks);
  g_free (self->edited);
}

/* Sixteen at once, for the compiler; their order does not matter to a maximum. */
static float
find_peak (const float *values, guint n)
{
  float best[16];
  for (guint i = 0; i < 16; i++)
    best[i] = -INFINITY;
  guint done = 0;
  for (; done + 16 <= n; done += 16)
    for (guint i = 0; i < 16; i++)
      best[i] = values[done + i] > best[i] ? values[done + i] : best[i];
  for (; done < n; done++)
    best[0] = MAX (best[0], values[done]);
  for (guint i = 1; i < 16; i++)
    best[0] = MAX (best[0], best[i]);
  return best[0];
}

void
kvasir_pool_load (KvasirPool *self, const float *logits)
{
  guint n_whole = self->n_vocab / KVASIR_BLOCK;
  kvasir_pass_load (logits, n_whole, self->logits, self->block_max, self->block_mass);
  if (n_whole < self->n_blocks)
    {
      float rest[KVASIR_BLOCK];
      guint first = n_whole * KVASIR_BLOCK;
      for (guint i = 0; i < KVASIR_BLOCK; i++)
        rest[i] = first + i < self->n_vocab ? logits[first + i] : -INFINITY;
      kvasir_pass_load (rest, 1, self->logits + first, self->block_max + n_whole,
                        self->block_mass + n_whole);
    }
  self->peak = find_peak (self->block_max, self->n_blocks);
  self->scale = 1.0f;
  self->mass_scale = 1.0f;
  self->cut = FALSE;
  self->n = 0;
}

void
kvasir_pool_refresh (KvasirPool *self)
{
  float scale = self->scale;
  kvasir_pass_load (self->logits, self->n_blocks, self->logits, self->block_max, self->block_mass);
  self->peak = find_peak (self->block_max, self->n_blocks);
  self->mass_scale = 1.0f;
  self->scale = scale;
}

static void
write_logit (KvasirPool *self, gint32 id, float logit)
{
  if (self->marks[id])
    return;
  self->marks[id] = 1;
  self->edited[self->n_edited++] = id;
  self->logits[id] = logit;
}

void
kvasir_pool_edit (KvasirPool *self, gint32 id, float logit)
{
  /* What is there stays there, or a penalty that overflows could leave nothing to draw. */
  float usable = isnan (logit) ? -FLT_MAX : CLAMP (logit, -FLT_MAX, FLT_MAX);
  write_logit (self, id, self->logits[id] > -INFINITY ? usable : -INFINITY);
}

void
kvasir_pool_remove (KvasirPool *self, gint32 id)
{
  write_logit (self, id, -INFINITY);
}

static void
settle_picks (KvasirPool *self)
{
  guint n = 0;
  self->peak = -INFINITY;
  for (guint i = 0; i < self->n; i++)
    {
      guint64 pick = self->picks[i];
      guint32 id = kvasir_pick_get_id (pick);
      float logit = self->logits[id];
      if (self->marks[id])
        pick = kvasir_pick_pack (logit, id);
      self->picks[n] = pick;
      n += logit > -INFINITY;
      self->peak = MAX (self->peak, logit);
    }
  self->n = n;
}

static void
settle_blocks (KvasirPool *self)
{
  for (guint i = 0; i < self->n_edited; i++)
    {
      guint b = (guint) self->edited[i] / KVASIR_BLOCK;
      float *block = self->logits + b * KVASIR_BLOCK;
      kvasir_pass_load (block, 1, block, self->block_max + b, self->block_mass + b);
      if (self->mass_scale != 1.0f)
        kvasir_pass_weigh (block, self->block_max + b, 1, self->mass_scale, self->block_mass + b);
    }
  self->peak = find_peak (self->block_max, self->n_blocks);
}

void
kvasir_pool_settle (KvasirPool *self)
{
  if (self->n_edited == 0)
    return;
  if (self->cut)
    settle_picks (self);
  else
    settle_blocks (self);
  for (guint i = 0; i < self->n_edited; i++)
    self->marks[self->edited[i]] = 0;
  self->n_edited = 0;
}

guint
kvasir_pool_count (const KvasirPool *self)
{
  guint n = 0;
  if (self->cut)
    return self->n;
  for (guint i = 0; i < self->n_vocab; i++)
    n += self->logits[i] > -INFINITY;
  return n;
}

static double
weigh_blocks (KvasirPool *self)
{
  if (self->mass_scale != self->scale)
    {
      kvasir_pass_weigh (self->logits, self->block_max, self->n_blocks, self->scale,
                         self->block_mass);
      self->mass_scale = self->scale;
    }
  double total = 0.0;
  for (guint b = 0; b < self->n_blocks; b++)
    total += self->block_mass[b] * kvasir_pool_weigh_one (self, self->block_max[b]);
  return total;
}

double
kvasir_pool_weigh (KvasirPool *self)
{
  double total = 0.0;
  if (!self->cut)
    return weigh_blocks (self);
  for (guint i = 0; i < self->n; i++)
    total += kvasir_pool_weigh_one (self, kvasir_pick_get_logit (self->picks[i]));
  return total;
}

/* H = log Z - sum of p * x, so one logarithm is enough. */
double
kvasir_pool_get_entropy (KvasirPool *self)
{
  double total = 0.0, sum = 0.0;
  guint n = self->cut ? self->n : self->n_vocab;
  for (guint i = 0; i < n; i++)
    {
      float logit = self->cut ? kvasir_pick_get_logit (self->picks[i]) : self->logits[i];
      /* Far below zero the weight is 0, which infinity must not multiply. */
      float x = MAX ((logit - self->peak) * self->scale, -1000.0f);
      double weight = (double) kvasir_exp_negative (x);
      total += weight;
      sum += weight * (double) x;
    }
  return log (total) - sum / total;
}

guint
kvasir_pool_collect (KvasirPool *self, float bound)
{
  guint n = 0;
  bound = MAX (bound, -FLT_MAX);
  for (guint b = 0; b < self->n_blocks; b++)
    {
      if (self->block_max[b] < bound)
        continue;
      for (guint i = b * KVASIR_BLOCK; i < (b + 1) * KVASIR_BLOCK; i++)
        {
          self->picks[n] = kvasir_pick_pack (self->logits[i], i);
          n += self->logits[i] >= bound;
        }
    }
  return n;
}

/* The k-th largest block maximum is a lower bound of the k-th largest logit. */
guint
kvasir_pool_collect_best (KvasirPool *self, guint k)
{
  float bound = -INFINITY;
  if (k < self->n_blocks)
    {
      for (guint b = 0; b < self->n_blocks; b++)
        self->picks[b] = kvasir_pick_pack (self->block_max[b], b);
      guint n = kvasir_pick_keep_best (self->picks, self->n_blocks, k);
      guint64 worst = 0;
      for (guint i = 0; i < n; i++)
        worst = MAX (worst, self->picks[i]);
      bound = kvasir_pick_get_logit (worst);
    }
  return kvasir_pick_keep_best (self->picks, kvasir_pool_collect (self, bound), k);
}

void
kvasir_pool_cut (KvasirPool *self, guint n)
{
  self->n = n;
  self->cut = TRUE;
  self->peak = -INFINITY;
  for (guint i = 0; i < n; i++)
    self->peak = MAX (self->peak, kvasir_pick_get_logit (self->picks[i]));
}

/* The block first, then inside it. The sum of the differences can round past the last one. */
static guint32
find_in_blocks (const KvasirPool *self, double target)
{
  guint last = 0;
  double factor = 1.0;
  for (guint b = 0; b < self->n_blocks; b++)
    {
      double f = kvasir_pool_weigh_one (self, self->block_max[b]);
      double mass = self->block_mass[b] * f;
      if (mass <= 0.0)
        continue;
      last = b;
      factor = f;
      if (target < mass)
        break;
      target -= mass;
    }
  guint32 id = last * KVASIR_BLOCK;
  float max = self->block_max[last];
  target /= factor;
  for (guint i = last * KVASIR_BLOCK; i < (last + 1) * KVASIR_BLOCK; i++)
    {
      double weight = (double) kvasir_exp_negative ((self->logits[i] - max) * self->scale);
      if (weight > 0.0)
        id = i;
      target -= weight;
      if (target < 0.0)
        break;
    }
  return id;
}

guint32
kvasir_pool_find (const KvasirPool *self, double target)
{
  if (!self->cut)
    return find_in_blocks (self, target);
  guint32 id = kvasir_pick_get_id (self->picks[0]);
  for (guint i = 0; i < self->n; i++)
    {
      double weight = kvasir_pool_weigh_one (self, kvasir_pick_get_logit (self->picks[i]));
      if (weight > 0.0)
        id = kvasir_pick_get_id (self->picks[i]);
      target -= weight;
      if (target < 0.0)
        break;
    }
  return id;
}
