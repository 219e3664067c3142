#include "engine/sampling/pool.h"

#include <float.h>
#include <math.h>

/* With more than this a list takes longer than passes over all. */
#define MAX_PICKS 2048
/* One of so many blocks shows how all are. */
#define SHOWN 16

static const float empty_block[KVASIR_BLOCK] = {
#define EIGHT -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY
  EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
#undef EIGHT
};

void
kvasir_pool_init (KvasirPool *self, guint n_vocab)
{
  self->passes = kvasir_passes_get_best ();
  self->n_vocab = n_vocab;
  self->n_blocks = (n_vocab + KVASIR_BLOCK - 1) / KVASIR_BLOCK;
  self->n_groups = (self->n_blocks + KVASIR_BLOCK - 1) / KVASIR_BLOCK;
  gsize n = (gsize) self->n_blocks * KVASIR_BLOCK;
  gsize n_padded = (gsize) self->n_groups * KVASIR_BLOCK;
  self->blocks = g_new0 (const float *, self->n_blocks);
  self->own = g_new (float, n);
  self->block_max = g_new (float, n_padded);
  self->block_mass = g_new (float, self->n_blocks);
  self->groups = g_new (const float *, self->n_groups);
  self->group_max = g_new (float, self->n_groups);
  self->odd = g_new (guint8, self->n_blocks);
  self->picks = g_new (guint64, n + 1);
  self->marks = g_new0 (guint8, n_vocab);
  self->edited = g_new (gint32, n_vocab);
  for (guint i = 0; i < self->n_groups; i++)
    self->groups[i] = self->block_max + i * KVASIR_BLOCK;
  for (gsize i = self->n_blocks; i < n_padded; i++)
    self->block_max[i] = -INFINITY;
}

void
kvasir_pool_clear (KvasirPool *self)
{
  g_free (self->blocks);
  g_free (self->own);
  g_free (self->block_max);
  g_free (self->block_mass);
  g_free (self->groups);
  g_free (self->group_max);
  g_free (self->odd);
  g_free (self->picks);
  g_free (self->marks);
  g_free (self->edited);
}

/* ---- logits */

/* NaN can never be chosen, and infinity must not make all others NaN. */
static float
make_usable (float logit)
{
  return isnan (logit) ? -INFINITY : MIN (logit, FLT_MAX);
}

/* The block, to be written. */
static float *
take_block (KvasirPool *self, guint b)
{
  float *own = self->own + (gsize) b * KVASIR_BLOCK;
  if (self->blocks[b] != own)
    memcpy (own, self->blocks[b], KVASIR_BLOCK * sizeof *own);
  self->blocks[b] = own;
  return own;
}

static void
scan_block (KvasirPool *self, guint b)
{
  self->passes->scan (&self->blocks[b], 1, &self->block_max[b], &self->odd[b]);
}

static void
find_peak (KvasirPool *self)
{
  guint8 unused[KVASIR_BLOCK];
  self->peak = -INFINITY;
  for (guint i = 0; i < self->n_groups; i += KVASIR_BLOCK)
    self->passes->scan (self->groups + i, MIN (self->n_groups - i, KVASIR_BLOCK),
                        self->group_max + i, unused);
  for (guint i = 0; i < self->n_groups; i++)
    self->peak = MAX (self->peak, self->group_max[i]);
}

static void
scan_all (KvasirPool *self)
{
  self->passes->scan (self->blocks, self->n_blocks, self->block_max, self->odd);
  for (guint b = 0; b < self->n_blocks; b++)
    {
      if (!self->odd[b])
        continue;
      float *block = take_block (self, b);
      for (guint i = 0; i < KVASIR_BLOCK; i++)
        block[i] = make_usable (block[i]);
      scan_block (self, b);
    }
  find_peak (self);
  self->mass_scale = 0.0f;
}

void
kvasir_pool_load (KvasirPool *self, const float *logits)
{
  guint n_whole = self->n_vocab / KVASIR_BLOCK;
  for (guint b = 0; b < n_whole; b++)
    self->blocks[b] = logits + (gsize) b * KVASIR_BLOCK;
  if (n_whole < self->n_blocks)
    {
      guint first = n_whole * KVASIR_BLOCK;
      for (guint i = 0; i < KVASIR_BLOCK; i++)
        self->own[first + i] = first + i < self->n_vocab ? logits[first + i] : -INFINITY;
      self->blocks[n_whole] = self->own + first;
    }
  self->scale = 1.0f;
  self->cut = FALSE;
  self->n = 0;
  scan_all (self);
}

float *
kvasir_pool_open (KvasirPool *self)
{
  for (guint b = 0; b < self->n_blocks; b++)
    take_block (self, b);
  return self->own;
}

void
kvasir_pool_refresh (KvasirPool *self)
{
  scan_all (self);
}

static void
write_logit (KvasirPool *self, gint32 id, float logit)
{
  guint b = (guint) id / KVASIR_BLOCK;
  if (self->marks[id])
    return;
  self->marks[id] = 1;
  self->edited[self->n_edited++] = id;
  take_block (self, b)[(guint) id % KVASIR_BLOCK] = logit;
}

void
kvasir_pool_edit (KvasirPool *self, gint32 id, float logit)
{
  float before = kvasir_pool_get_logit (self, (guint32) id);
  /* What is there stays there, or a penalty that overflows could leave nothing to draw. */
  float usable = isnan (logit) ? -FLT_MAX : CLAMP (logit, -FLT_MAX, FLT_MAX);
  write_logit (self, id, before > -INFINITY ? usable : -INFINITY);
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
      float logit = kvasir_pool_get_logit (self, id);
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
    scan_block (self, (guint) self->edited[i] / KVASIR_BLOCK);
  find_peak (self);
  self->mass_scale = 0.0f;
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

/* ---- figures */

static guint
count_above (const KvasirPool *self, float bound, guint enough)
{
  return self->passes->count (self->blocks, self->block_max, self->n_blocks, bound, enough);
}

guint
kvasir_pool_count (const KvasirPool *self)
{
  return self->cut ? self->n : count_above (self, -FLT_MAX, G_MAXUINT);
}

static double
weigh_blocks (KvasirPool *self)
{
  if (self->mass_scale != self->scale || self->mass_peak != self->peak)
    self->passes->weigh (self->blocks, self->block_max, self->n_blocks, self->peak, self->scale,
                         self->block_mass);
  self->mass_scale = self->scale;
  self->mass_peak = self->peak;
  /* Eight sums, which the processor adds up side by side. */
  double sums[8] = { 0.0 };
  guint b = 0;
  for (; b + 8 <= self->n_blocks; b += 8)
    for (guint i = 0; i < 8; i++)
      sums[i] += (double) self->block_mass[b + i];
  for (; b < self->n_blocks; b++)
    sums[0] += (double) self->block_mass[b];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
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

static double
get_moment (const KvasirPool *self)
{
  double sum = 0.0;
  if (!self->cut)
    return G_LN2 * self->passes->moment (self->blocks, self->block_max, self->n_blocks, self->peak,
                                         self->scale);
  for (guint i = 0; i < self->n; i++)
    {
      float x = (kvasir_pick_get_logit (self->picks[i]) - self->peak) * self->scale;
      /* Far below zero the weight is 0, which infinity must not multiply. */
      sum += (double) kvasir_exp_negative (x) * (double) MAX (x, -1000.0f);
    }
  return sum;
}

/* H = log Z - sum of p * x, so one logarithm is enough. */
double
kvasir_pool_get_entropy (KvasirPool *self)
{
  double total = kvasir_pool_weigh (self);
  return log (total) - get_moment (self) / total;
}

/* By halving the row of all floats. */
float
kvasir_pool_find_bound (const KvasirPool *self, double weight)
{
  guint32 enough = (guint32) (kvasir_pick_pack (self->peak, 0) >> 32);
  guint32 little = (guint32) (kvasir_pick_pack (-INFINITY, 0) >> 32);
  while (enough + 1 < little)
    {
      guint32 middle = enough + (little - enough) / 2;
      float logit = kvasir_pick_get_logit ((guint64) middle << 32);
      if (kvasir_pool_weigh_one (self, logit) >= weight)
        enough = middle;
      else
        little = middle;
    }
  return kvasir_pick_get_logit ((guint64) enough << 32);
}

/* ---- picks */

static guint
add_picks (guint64 *picks, guint n, guint64 found, const float *block, guint first)
{
  for (; found != 0; found &= found - 1)
    {
      guint i = (guint) __builtin_ctzll (found);
      picks[n++] = kvasir_pick_pack (block[i], first + i);
    }
  return n;
}

/* Behind the @n picks that are there. */
static guint
collect_group (KvasirPool *self, guint group, float bound, guint n)
{
  guint end = MIN ((group + 1) * KVASIR_BLOCK, self->n_blocks);
  for (guint b = group * KVASIR_BLOCK; b < end; b++)
    if (self->block_max[b] >= bound)
      n = add_picks (self->picks, n, self->passes->find (self->blocks[b], bound, INFINITY),
                     self->blocks[b], b * KVASIR_BLOCK);
  return n;
}

guint
kvasir_pool_collect (KvasirPool *self, float bound)
{
  guint n = 0;
  bound = MAX (bound, -FLT_MAX);
  for (guint i = 0; i < self->n_groups; i++)
    if (self->group_max[i] >= bound)
      n = collect_group (self, i, bound, n);
  return n;
}

/* The worst of the @k best of @n picks. */
static float
find_worst (guint64 *picks, guint n, guint k)
{
  guint64 worst = 0;
  if (n < k)
    return -INFINITY;
  n = kvasir_pick_keep_best (picks, n, k);
  for (guint i = 0; i < n; i++)
    worst = MAX (worst, picks[i]);
  return kvasir_pick_get_logit (worst);
}

/* The @k-th largest block maximum; so many blocks lie at or above it. That of the groups of blocks
 * bounds it from below, so that few of the blocks are looked at. */
static float
find_bound_of_blocks (KvasirPool *self, guint k)
{
  float bound = -INFINITY;
  guint n = 0;
  if (k <= self->n_groups)
    {
      for (guint i = 0; i < self->n_groups; i++)
        self->picks[i] = kvasir_pick_pack (self->group_max[i], i);
      bound = find_worst (self->picks, self->n_groups, k);
    }
  bound = MAX (bound, -FLT_MAX);
  for (guint i = 0; i < self->n_groups; i++)
    if (self->group_max[i] >= bound)
      n = add_picks (self->picks, n, self->passes->find (self->groups[i], bound, INFINITY),
                     self->groups[i], i * KVASIR_BLOCK);
  return find_worst (self->picks, n, k);
}

/* The k-th largest block maximum is a lower bound of the k-th largest logit. */
guint
kvasir_pool_collect_best (KvasirPool *self, guint k)
{
  float bound = k < self->n_blocks ? find_bound_of_blocks (self, k) : -INFINITY;
  return kvasir_pick_keep_best (self->picks, kvasir_pool_collect (self, bound), k);
}

/* ---- cuts */

void
kvasir_pool_cut (KvasirPool *self, guint n)
{
  self->n = n;
  self->cut = TRUE;
  self->peak = -INFINITY;
  for (guint i = 0; i < n; i++)
    self->peak = MAX (self->peak, kvasir_pick_get_logit (self->picks[i]));
}

/* Of a block's @ties those behind the token @last go. */
static void
drop_ties (KvasirPool *self, guint b, guint64 ties, guint32 last)
{
  float *own = self->own + (gsize) b * KVASIR_BLOCK;
  for (; ties != 0; ties &= ties - 1)
    {
      guint i = (guint) __builtin_ctzll (ties);
      if (b * KVASIR_BLOCK + i > last)
        own[i] = -INFINITY;
    }
}

/* Writes -inf over all that is behind @worst. */
static void
sink (KvasirPool *self, guint64 worst)
{
  float bound = kvasir_pick_get_logit (worst);
  for (guint b = 0; b < self->n_blocks; b++)
    {
      if (self->block_max[b] < bound)
        {
          self->blocks[b] = empty_block;
          self->block_max[b] = -INFINITY;
          continue;
        }
      float *own = self->own + (gsize) b * KVASIR_BLOCK;
      guint64 ties = self->passes->floor (self->blocks[b], bound, own);
      self->blocks[b] = own;
      drop_ties (self, b, ties, kvasir_pick_get_id (worst));
      if (self->block_max[b] == bound)
        scan_block (self, b);
    }
  find_peak (self);
  self->mass_scale = 0.0f;
}

void
kvasir_pool_keep_above (KvasirPool *self, float bound)
{
  guint n = 0;
  bound = MAX (bound, -FLT_MAX);
  if (!self->cut && count_above (self, bound, MAX_PICKS) > MAX_PICKS)
    sink (self, kvasir_pick_pack (bound, G_MAXUINT32));
  else if (!self->cut)
    kvasir_pool_cut (self, kvasir_pool_collect (self, bound));
  else
    {
      for (guint i = 0; i < self->n; i++)
        {
          self->picks[n] = self->picks[i];
          n += kvasir_pick_get_logit (self->picks[i]) >= bound;
        }
      kvasir_pool_cut (self, n);
    }
}

/* Adds to @masses what the first @n of a block's worth of @logits weigh. */
static void
add_masses (const KvasirPool *self, const float *logits, guint n, double *masses)
{
  float weights[KVASIR_BLOCK];
  gint32 buckets[KVASIR_BLOCK];

  self->passes->sort (logits, self->peak, self->scale, weights, buckets);
  for (guint i = 0; i < n; i++)
    masses[buckets[i]] += (double) weights[i];
}

/* Adds to @masses what at or above @bound, in each @step-th block, weighs, by how many eighths of a
 * nat it lies below the peak. Returns the sum. */
static double
sort_masses (const KvasirPool *self, float bound, guint step, double *masses)
{
  float logits[2 * KVASIR_BLOCK + 16] = { 0.0f };
  double total = 0.0;
  guint n = 0;
  for (guint b = 0; b < self->n_blocks; b += step)
    {
      const float *block = self->blocks[b];
      if (self->block_max[b] < bound)
        continue;
      /* Few of a block are there: their logits are gathered until they fill one. */
      n += self->passes->take (block, bound, logits + n);
      if (n >= KVASIR_BLOCK)
        {
          add_masses (self, logits, KVASIR_BLOCK, masses);
          n -= KVASIR_BLOCK;
          memcpy (logits, logits + KVASIR_BLOCK, n * sizeof *logits);
        }
      total += (double) self->block_mass[b];
    }
  add_masses (self, logits, n, masses);
  return total;
}

static gint32
find_bucket (const double *masses, double goal, double *done)
{
  gint32 bucket = 0;
  *done = 0.0;
  for (; bucket < (gint32) KVASIR_BUCKETS && *done + masses[bucket] < goal; bucket++)
    *done += masses[bucket];
  return bucket;
}

/* Sorts no more than has to be: some of the blocks show about where the mass is reached, and only
 * if it is not reached there after all, what lies deeper is sorted, too. */
static gint32
find_bucket_of_mass (KvasirPool *self, double mass, float deepest, double *done)
{
  double masses[KVASIR_BUCKETS] = { 0.0 };
  double rest = kvasir_pool_weigh (self) - mass;
  double some = sort_masses (self, deepest, SHOWN, masses);
  double share = mass / (mass + rest) + 0.5 * rest / (mass + rest);
  gint32 shown = find_bucket (masses, share * some, done);
  /* One bucket deeper, so that rounding leaves those up to the one shown whole. */
  float guess = self->peak - (float) (shown + 2) * 0.125f / self->scale;

  memset (masses, 0, sizeof masses);
  sort_masses (self, MAX (guess, deepest), 1, masses);
  gint32 bucket = find_bucket (masses, mass, done);
  if (bucket <= shown || guess <= deepest)
    return bucket;
  memset (masses, 0, sizeof masses);
  sort_masses (self, deepest, 1, masses);
  return find_bucket (masses, mass, done);
}

/* As the passes do it. */
static gint32
get_bucket (const KvasirPool *self, float logit)
{
  float depth = (logit - self->peak) * (self->scale * -8.0f);
  return (gint32) MIN (depth, (float) (KVASIR_BUCKETS - 1));
}

/* Makes picks of what lies in @bucket. Its bounds are found by dividing, the bucket by multiplying,
 * so that one next to it is looked at, too. */
static guint
collect_bucket (KvasirPool *self, gint32 bucket)
{
  float width = 0.125f / self->scale;
  float low = self->peak - (float) (bucket + 2) * width;
  float high = self->peak - (float) (bucket - 1) * width;
  guint n = 0;
  low = bucket == KVASIR_BUCKETS - 1 ? -FLT_MAX : MAX (low, -FLT_MAX);
  for (guint b = 0; b < self->n_blocks; b++)
    {
      const float *block = self->blocks[b];
      if (self->block_max[b] < low)
        continue;
      guint64 found = self->passes->find (block, low, high);
      for (; found != 0; found &= found - 1)
        {
          guint i = (guint) __builtin_ctzll (found);
          self->picks[n] = kvasir_pick_pack (block[i], b * KVASIR_BLOCK + i);
          n += get_bucket (self, block[i]) == bucket;
        }
    }
  return n;
}

/* The bucket in which the mass is reached holds few; only these are put in order. */
static void
keep_mass_of_many (KvasirPool *self, double mass, float deepest)
{
  KvasirPickWeight weight = { self->peak, self->scale, NULL };
  double done;
  guint64 worst = 0;
  gint32 bucket = find_bucket_of_mass (self, mass, deepest, &done);

  if (bucket == KVASIR_BUCKETS)
    return;
  guint n = collect_bucket (self, bucket);
  n = kvasir_pick_keep_mass (self->picks, n, mass - done, &weight);
  for (guint i = 0; i < n; i++)
    worst = MAX (worst, self->picks[i]);
  if (n > 0)
    sink (self, worst);
}

void
kvasir_pool_keep_mass (KvasirPool *self, double mass, float deepest)
{
  KvasirPickWeight weight = { self->peak, self->scale, NULL };
  guint n = self->n;
  deepest = MAX (deepest, -FLT_MAX);
  if (!self->cut && count_above (self, deepest, MAX_PICKS) > MAX_PICKS)
    {
      keep_mass_of_many (self, mass, deepest);
      return;
    }
  if (!self->cut)
    n = kvasir_pool_collect (self, deepest);
  kvasir_pool_cut (self, kvasir_pick_keep_mass (self->picks, n, mass, &weight));
}

/* ---- drawing */

/* The block first, then inside it. The sum of the differences can round past the last one. */
static guint32
find_in_blocks (const KvasirPool *self, double target)
{
  guint last = 0;
  for (guint b = 0; b < self->n_blocks; b++)
    {
      double mass = (double) self->block_mass[b];
      if (mass <= 0.0)
        continue;
      last = b;
      if (target < mass)
        break;
      target -= mass;
    }
  guint32 id = last * KVASIR_BLOCK;
  for (guint i = 0; i < KVASIR_BLOCK; i++)
    {
      double weight = kvasir_pool_weigh_one (self, self->blocks[last][i]);
      if (weight > 0.0)
        id = last * KVASIR_BLOCK + i;
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
