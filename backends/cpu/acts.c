#include "backends/cpu/acts.h"

#include <string.h>

int64_t
kvasir_acts_pad (int64_t n_tokens)
{
  return (n_tokens + KVASIR_ACT_PAD - 1) / KVASIR_ACT_PAD * KVASIR_ACT_PAD;
}

size_t
kvasir_acts_get_bytes (const KvasirActsLayout *layout)
{
  size_t n = (size_t) kvasir_acts_pad (layout->n_tokens), k = (size_t) layout->k;
  size_t n_planes = layout->is_fine ? 2 : 1;

  return n * (k * n_planes + k / 32 * 2 * sizeof (float));
}

KvasirActs
kvasir_acts_get (const KvasirActsLayout *layout, uint8_t *memory, int64_t token)
{
  int64_t n = kvasir_acts_pad (layout->n_tokens), k = layout->k, n_blocks = k / 32;
  float *d = (float *) (void *) (memory + n * k);
  float *s = d + n * n_blocks;
  int8_t *fine = (int8_t *) (s + n * n_blocks);

  return (KvasirActs){ .q = (int8_t *) memory + token * k,
                       .fine = layout->is_fine ? fine + token * k : NULL,
                       .d = d + token * n_blocks,
                       .s = s + token * n_blocks };
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
}

void
kvasir_acts_clear (KvasirActs acts, int64_t k)
{
  memset (acts.q, 0, (size_t) k);
  if (acts.fine != NULL)
    memset (acts.fine, 0, (size_t) k);
  for (int64_t i = 0; i < k / 32; i++)
    {
      acts.d[i] = 0;
      acts.s[i] = 0;
    }
}
