/* engine/sampling/select.h - the best of many candidates without sorting them
 *
 * A candidate is one 64-bit number: the logit's bits turned so that a higher logit is a smaller
 * number, then the token id. All are different and their order is total: higher logit first, of
 * equal ones the lower id.
 *
 * A cut is found by its threshold, eleven bits of the number at a time, so the time is linear
 * whatever the logits are, ties included. Pure functions. Thread: any.
 */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* @logit is no NaN. */
static inline guint64
kvasir_pick_pack (float logit, guint32 id)
{
  /* Adding zero makes -0 equal to 0. */
  float value = logit + 0.0f;
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  guint32 key = (bits & 0x80000000u) ? bits : ~bits & 0x7fffffffu;
  return ((guint64) key << 32) | id;
}

static inline guint32
kvasir_pick_get_id (guint64 pick)
{
  return (guint32) pick;
}

static inline float
kvasir_pick_get_logit (guint64 pick)
{
  guint32 key = (guint32) (pick >> 32);
  guint32 bits = (key & 0x80000000u) ? key : ~key & 0x7fffffffu;
  float logit;
  memcpy (&logit, &bits, sizeof logit);
  return logit;
}

/* exp (x) for x <= 0, within 3e-7 of the right value; 0 below -87. The same bits on every machine,
 * which the C library's is not, and simple enough for the compiler to do several at once. */
static inline float
kvasir_exp_negative (float x)
{
  float clamped = x > -87.0f ? x : -87.0f;
  /* Adding and subtracting 1.5 * 2^23 rounds to a whole number. */
  float n = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = (clamped - n * 0.693145751953125f) - n * 1.428606765330187e-6f;
  float p = 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  guint32 bits = x > -87.0f ? (guint32) ((gint32) n + 127) << 23 : 0;
  float scale;
  memcpy (&scale, &bits, sizeof scale);
  return p * scale;
}

/* Keeps the @n_wanted best at the front, in no order. Returns how many there are. */
guint kvasir_pick_keep_best (guint64 *picks, guint n, guint n_wanted);
/* How much a pick weighs: exp ((logit - peak) * scale), of the logit in it or, where its order is
 * another, of the one that @blocks hold for its id. */
typedef struct
{
  float peak;
  float scale;
  const float *const *blocks; /* (unowned) (nullable): of 64 */
} KvasirPickWeight;

/* Keeps the shortest row of best ones whose weights reach @mass. */
guint kvasir_pick_keep_mass (guint64 *picks, guint n, double mass, const KvasirPickWeight *weight);
/* Ascending, which is best first. For a few: the time is quadratic. */
void kvasir_pick_sort_few (guint64 *picks, guint n);

G_END_DECLS
