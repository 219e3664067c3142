#include "backends/cpu/acts.h"

#include <math.h>
#include <string.h>

int64_t
kvasir_acts_pad (int64_t n_tokens)
{
  return (n_tokens + KVASIR_ACT_PAD - 1) / KVASIR_ACT_PAD * KVASIR_ACT_PAD;
}

static size_t
count_groups (const KvasirActsLayout *layout)
{
  return layout->has_groups ? (size_t) (layout->k + KVASIR_ACT_GROUP - 1) / KVASIR_ACT_GROUP : 0;
}

size_t
kvasir_acts_get_bytes (const KvasirActsLayout *layout)
{
  size_t n = (size_t) kvasir_acts_pad (layout->n_tokens), k = (size_t) layout->k;
  size_t n_planes = layout->is_fine ? 2 : 1;

  return n * (k * n_planes + (k / 32 * 4 + count_groups (layout)) * sizeof (float));
}

KvasirActs
kvasir_acts_get (const KvasirActsLayout *layout, uint8_t *memory, int64_t token)
{
  int64_t n = kvasir_acts_pad (layout->n_tokens), k = layout->k, n_blocks = k / 32;
  float *d = (float *) (void *) (memory + n * k);
  float *s = d + n * n_blocks;
  float *s16 = s + n * n_blocks;
  int64_t n_groups = (int64_t) count_groups (layout);
  float *groups = s16 + n * n_blocks * 2;
  int8_t *fine = (int8_t *) (groups + n * n_groups);

  return (KvasirActs){ .q = (int8_t *) memory + token * k,
                       .fine = layout->is_fine ? fine + token * k : NULL,
                       .d = d + token * n_blocks,
                       .s = s + token * n_blocks,
                       .s16 = s16 + token * n_blocks * 2,
                       .groups = layout->has_groups ? groups + token * n_groups : NULL };
}

int64_t
kvasir_acts_get_piece (int64_t k)
{
  int64_t n = KVASIR_PIECE_ELEMENTS / k;

  return n > 0 ? n : 1;
}

void
kvasir_acts_copy (KvasirActs from, KvasirActs to, int64_t k)
{
  memcpy (to.q, from.q, (size_t) k);
  memcpy (to.d, from.d, (size_t) (k / 32) * sizeof (float));
  memcpy (to.s, from.s, (size_t) (k / 32) * sizeof (float));
  memcpy (to.s16, from.s16, (size_t) (k / 16) * sizeof (float));
}

void
kvasir_acts_clear (KvasirActs acts, int64_t k)
{
  memset (acts.q, 0, (size_t) k);
  if (acts.fine != NULL)
    memset (acts.fine, 0, (size_t) k);
  for (int64_t i = 0; acts.groups != NULL && i < k; i += KVASIR_ACT_GROUP)
    acts.groups[i / KVASIR_ACT_GROUP] = 0;
  for (int64_t i = 0; i < k / 32; i++)
    {
      acts.d[i] = 0;
      acts.s[i] = 0;
      acts.s16[2 * i] = acts.s16[2 * i + 1] = 0;
    }
}

bool
kvasir_acts_are_halves (KvasirType type)
{
  return type == KVASIR_TYPE_F16;
}

size_t
kvasir_acts_get_half_bytes (int64_t k, int64_t n_tokens)
{
  return (size_t) k * (size_t) n_tokens * sizeof (float);
}

float *
kvasir_acts_get_halves (uint8_t *memory, int64_t k, int64_t token)
{
  return (float *) (void *) memory + k * token;
}

#define LARGEST_HALF 65504

void
kvasir_acts_round_to_halves (
    const KvasirCpuKernels *kernels, const float *x, int64_t k, float *y, uint8_t *scratch)
{
  kernels->from_float[KVASIR_TYPE_F16](x, scratch, k);
  kernels->to_float[KVASIR_TYPE_F16](scratch, y, k);
  for (int64_t i = 0; i < k; i++)
    y[i] = fabsf (x[i]) > LARGEST_HALF ? x[i] : y[i];
}
