/* engine/sampling/rng.h - random numbers that are the same on every machine
 *
 * xoshiro256**, started from one number by splitmix64, both by Blackman and Vigna
 * (prng.di.unimi.it). A plain value. Thread: any, one at a time.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 s[4];
} KvasirRng;

/* The next value of splitmix64; moves @state on. */
guint64 kvasir_rng_split (guint64 *state);
void kvasir_rng_init (KvasirRng *self, guint64 seed);
guint64 kvasir_rng_next (KvasirRng *self);
/* Evenly in [0, 1), 53 bits. */
double kvasir_rng_next_double (KvasirRng *self);

G_END_DECLS
