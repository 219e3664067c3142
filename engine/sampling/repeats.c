#include "engine/sampling/repeats.h"

#include <math.h>

/* Largest x of exp (x) in a float; what is taken off stays a number. */
#define MAX_LOG 88.7228391

typedef struct
{
  gint32 head;
  guint n_tail;
  gint32 tail[KVASIR_SAMPLER_MAX_BREAKER_TAIL];
} Breaker;

/* Whether and how a token begins something that ends a repetition. */
enum
{
  BREAKS_ALONE = 1,
  BREAKS_WITH_TAIL = 2
};

struct _KvasirRepeats
{
  KvasirSamplerParams params;
  guint capacity;
  gint32 *ring; /* (owned) [capacity] */
  guint n;
  guint next;
  guint32 *counts;   /* (owned) [n_vocab] how often each id is in the last penalty_last_n */
  guint8 *breaks;    /* (owned) [n_vocab] flags */
  GArray *breakers;  /* (owned) of Breaker, those with a tail */
  guint32 *longest;  /* (owned) [n_vocab] zeros between calls: tokens that it would repeat */
  guint32 *prefixes; /* (owned) [dry_last_n] */
};

KvasirRepeats *
kvasir_repeats_new (const KvasirSamplerParams *params, guint n_vocab)
{
  KvasirRepeats *self = g_new0 (KvasirRepeats, 1);
  gboolean dry = params->dry_multiplier != 0.0f;

  self->params = *params;
  self->capacity = MAX (params->penalty_last_n, dry ? params->dry_last_n : 0);
  self->ring = g_new (gint32, self->capacity);
  self->counts = g_new0 (guint32, n_vocab);
  self->breakers = g_array_new (FALSE, FALSE, sizeof (Breaker));
  if (dry)
    {
      self->breaks = g_new0 (guint8, n_vocab);
      self->longest = g_new0 (guint32, n_vocab);
      self->prefixes = g_new0 (guint32, params->dry_last_n);
    }
  return self;
}

void
kvasir_repeats_free (KvasirRepeats *self)
{
  if (self == NULL)
    return;
  g_free (self->ring);
  g_free (self->counts);
  g_free (self->breaks);
  g_array_unref (self->breakers);
  g_free (self->longest);
  g_free (self->prefixes);
  g_free (self);
}

void
kvasir_repeats_add_breaker (KvasirRepeats *self, gint32 head, const gint32 *tail, guint n_tail)
{
  if (self->breaks == NULL)
    return;
  self->breaks[head] |= n_tail == 0 ? BREAKS_ALONE : BREAKS_WITH_TAIL;
  if (n_tail == 0)
    return;
  Breaker breaker = { .head = head, .n_tail = MIN (n_tail, KVASIR_SAMPLER_MAX_BREAKER_TAIL) };
  memcpy (breaker.tail, tail, breaker.n_tail * sizeof *tail);
  g_array_append_val (self->breakers, breaker);
}

/* @back: 0 is the newest. */
static inline gint32
get_token (const KvasirRepeats *self, guint back)
{
  guint at = self->next + self->capacity - 1 - back;
  return self->ring[at >= self->capacity ? at - self->capacity : at];
}

void
kvasir_repeats_accept (KvasirRepeats *self, gint32 id)
{
  guint last_n = self->params.penalty_last_n;
  if (self->capacity == 0)
    return;
  if (last_n > 0 && self->n >= last_n)
    self->counts[get_token (self, last_n - 1)]--;
  self->ring[self->next] = id;
  self->next = self->next + 1 == self->capacity ? 0 : self->next + 1;
  self->n = MIN (self->n + 1, self->capacity);
  if (last_n > 0)
    self->counts[id]++;
}

void
kvasir_repeats_penalise (KvasirRepeats *self, KvasirPool *pool)
{
  const KvasirSamplerParams *p = &self->params;
  guint n = MIN (self->n, p->penalty_last_n);

  if (p->repeat_penalty == 1.0f && p->presence_penalty == 0.0f && p->frequency_penalty == 0.0f)
    return;
  for (guint i = 0; i < n; i++)
    {
      gint32 id = get_token (self, i);
      /* The second of two edits does not count, so an id that is there twice does no harm. */
      float logit = kvasir_pool_get_logit (pool, (guint32) id) * pool->scale;
      logit = logit > 0.0f ? logit / p->repeat_penalty : logit * p->repeat_penalty;
      logit -= (float) self->counts[id] * p->frequency_penalty + p->presence_penalty;
      kvasir_pool_edit (pool, id, logit / pool->scale);
    }
  kvasir_pool_settle (pool);
}

/* ---- DRY */

/* How many tokens the breaker that starts @back tokens from the end has after its head; -1: none
 * does. */
static gint
match_breaker (const KvasirRepeats *self, guint back)
{
  gint32 head = get_token (self, back);
  gint longest = self->breaks[head] & BREAKS_ALONE ? 0 : -1;
  guint n = self->breaks[head] & BREAKS_WITH_TAIL ? self->breakers->len : 0;

  for (guint i = 0; i < n; i++)
    {
      const Breaker *b = &g_array_index (self->breakers, Breaker, i);
      guint same = 0;
      if (b->head != head || b->n_tail > back)
        continue;
      while (same < b->n_tail && b->tail[same] == get_token (self, back - 1 - same))
        same++;
      if (same == b->n_tail)
        longest = MAX (longest, (gint) same);
    }
  return longest;
}

/* Tokens from the end that no breaker is among. */
static guint
find_limit (const KvasirRepeats *self, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      gint match = match_breaker (self, i);
      if (match >= 0)
        return i - (guint) match;
    }
  return n;
}

/* Gusfield's Z-algorithm over the text read backwards: prefixes[k] is how many tokens before and at
 * the one k from the end are the same as those before and at the end. Linear. */
static void
find_prefixes (KvasirRepeats *self, guint n)
{
  guint *z = self->prefixes;
  guint left = 0, right = 0; /* the match [left, right) that reaches furthest */
  for (guint k = 1; k < n; k++)
    {
      guint length = k < right ? MIN (right - k, z[k - left]) : 0;
      while (k + length < n && get_token (self, length) == get_token (self, k + length))
        length++;
      z[k] = length;
      if (k + length > right)
        {
          left = k;
          right = k + length;
        }
    }
}

static float
get_dry_penalty (const KvasirSamplerParams *p, guint length)
{
  double exponent = (double) (length - p->dry_allowed_length);
  if (p->dry_base > 1.000001f)
    exponent = MIN (exponent, MAX_LOG / log ((double) p->dry_base));
  return (float) ((double) p->dry_multiplier * pow ((double) p->dry_base, exponent));
}

void
kvasir_repeats_dry (KvasirRepeats *self, KvasirPool *pool)
{
  const KvasirSamplerParams *p = &self->params;
  guint n = MIN (self->n, p->dry_last_n);
  if (p->dry_multiplier == 0.0f || n <= p->dry_allowed_length)
    return;
  guint limit = find_limit (self, n);
  if (limit < p->dry_allowed_length)
    return;

  find_prefixes (self, n);
  for (guint k = 1; k < n; k++)
    {
      guint length = MIN (self->prefixes[k], limit);
      guint32 *longest = &self->longest[get_token (self, k - 1)];
      if (length >= p->dry_allowed_length)
        *longest = MAX (*longest, length + 1);
    }
  for (guint k = 1; k < n; k++)
    {
      gint32 id = get_token (self, k - 1);
      guint length = self->longest[id];
      self->longest[id] = 0;
      if (length > 0 && !(self->breaks[id] & BREAKS_ALONE))
        kvasir_pool_edit (pool, id,
                          kvasir_pool_get_logit (pool, (guint32) id) -
                              get_dry_penalty (p, length - 1) / pool->scale);
    }
  kvasir_pool_settle (pool);
}
