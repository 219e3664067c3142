/* Pair i of n_rot / 2 turns by theta_i = pos * freq_base^(-2 i / n_rot) / factor_i; yarn mixes
 * theta and theta * freq_scale by a ramp over the pairs. */
#include "backends/cpu/rope-angles.h"

#include <math.h>

/* Pair at which the wavelength fits @beta times into the original context. */
static double
get_corner (const KvasirRopeParams *p, double beta)
{
  return p->n_rot * log (p->n_ctx_orig / (beta * 2 * M_PI)) / (2 * log (p->freq_base));
}

KvasirRopeTurn
kvasir_rope_get_turn (const KvasirTensor *node)
{
  const KvasirRopeParams *p = &node->params.rope;
  KvasirRopeTurn turn = { .params = p, .magnitude = p->attn_factor };

  if (node->src[2] != NULL)
    turn.factors = node->src[2]->data;
  if (p->ext_factor != 0)
    {
      turn.low = fmin (fmax (floor (get_corner (p, p->beta_fast)), 0), p->n_rot - 1);
      turn.high = fmin (fmax (ceil (get_corner (p, p->beta_slow)), 0), p->n_rot - 1);
      turn.magnitude *= 1 + 0.1 * log (1 / (double) p->freq_scale);
    }
  /* The magnitude is in the keys already when they are turned on. */
  if (node->op == KVASIR_OP_ROPE_SHIFT && !p->shift_scales)
    turn.magnitude = 1;
  return turn;
}

/* How much of pair @i's angle is the unscaled one. */
static double
get_mix (const KvasirRopeTurn *turn, int i)
{
  double ramp = (i - turn->low) / fmax (0.001, turn->high - turn->low);

  return (1 - fmin (fmax (ramp, 0), 1)) * (double) turn->params->ext_factor;
}

double
kvasir_rope_get_frequency (const KvasirRopeTurn *turn, int i)
{
  const KvasirRopeParams *p = turn->params;
  double theta = pow (p->freq_base, -2.0 * i / p->n_rot);

  if (turn->factors != NULL)
    theta /= (double) turn->factors[i];
  double scaled = theta * (double) p->freq_scale;
  if (p->ext_factor == 0)
    return scaled;
  double mix = get_mix (turn, i);
  return scaled * (1 - mix) + theta * mix;
}

float
kvasir_rope_get_float_angle (const KvasirRopeTurn *turn, int i, int32_t position)
{
  const KvasirRopeParams *p = turn->params;
  float step = powf (p->freq_base, -2.0f / (float) p->n_rot), theta = (float) position;

  for (int j = 0; j < i; j++)
    theta *= step;
  if (turn->factors != NULL)
    theta /= turn->factors[i];
  float scaled = theta * p->freq_scale;
  if (p->ext_factor == 0)
    return scaled;
  float mix = (float) get_mix (turn, i);
  return scaled * (1 - mix) + theta * mix;
}

bool
kvasir_rope_has_planes (const KvasirRopeParams *params)
{
  for (int i = 0; i < 4; i++)
    if (params->sections[i] != 0)
      return true;
  return false;
}

int
kvasir_rope_get_plane (const KvasirRopeParams *params, int i)
{
  const int32_t *s = params->sections;
  int sector = i % (s[0] + s[1] + s[2] + s[3]), plane = 0;

  if (params->interleaved)
    return sector < 3 * s[sector % 3] ? sector % 3 : 3;
  while (plane < 3 && sector >= s[plane])
    sector -= s[plane++];
  return plane;
}
