#include "engine/sampling/rng.h"

guint64
kvasir_rng_split (guint64 *state)
{
  guint64 z = (*state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void
kvasir_rng_init (KvasirRng *self, guint64 seed)
{
  for (guint i = 0; i < 4; i++)
    self->s[i] = kvasir_rng_split (&seed);
}

static inline guint64
rotate_left (guint64 x, guint n)
{
  return (x << n) | (x >> (64 - n));
}

guint64
kvasir_rng_next (KvasirRng *self)
{
  guint64 *s = self->s;
  guint64 result = rotate_left (s[1] * 5, 7) * 9;
  guint64 t = s[1] << 17;

  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left (s[3], 45);
  return result;
}

double
kvasir_rng_next_double (KvasirRng *self)
{
  return (double) (kvasir_rng_next (self) >> 11) * 0x1p-53;
}
