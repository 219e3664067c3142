#include "turns.h"

#include <math.h>

static const TurnCase cases[] = {
  { "plain",
    { .n_rot = 64, .n_ctx_orig = 2048, .freq_base = 1e4f, .freq_scale = 1, .attn_factor = 1 },
    FALSE,
    64 },
  { "neox",
    { .n_rot = 64,
      .neox = 1,
      .n_ctx_orig = 2048,
      .freq_base = 1e4f,
      .freq_scale = 1,
      .attn_factor = 1 },
    FALSE,
    64 },
  { "linear",
    { .n_rot = 16, .n_ctx_orig = 2048, .freq_base = 1e4f, .freq_scale = 0.25f, .attn_factor = 1 },
    FALSE,
    16 },
  { "partial",
    { .n_rot = 20,
      .neox = 1,
      .n_ctx_orig = 2048,
      .freq_base = 1e4f,
      .freq_scale = 1,
      .attn_factor = 1,
      .head_dim = 36 },
    FALSE,
    36 },
  { "partial-aligned",
    { .n_rot = 32,
      .n_ctx_orig = 2048,
      .freq_base = 1e4f,
      .freq_scale = 1,
      .attn_factor = 1,
      .head_dim = 96 },
    FALSE,
    96 },
  { "behind-an-offset",
    { .n_rot = 64,
      .n_ctx_orig = 128,
      .freq_base = 1e4f,
      .freq_scale = 0.25f,
      .ext_factor = 1,
      .attn_factor = 1,
      .beta_fast = 32,
      .beta_slow = 1,
      .head_dim = 160,
      .offset = 96 },
    FALSE,
    160 },
  { "narrow-offset",
    { .n_rot = 16,
      .neox = 1,
      .n_ctx_orig = 128,
      .freq_base = 1e4f,
      .freq_scale = 1,
      .attn_factor = 1,
      .head_dim = 48,
      .offset = 28 },
    FALSE,
    48 },
  { "factors",
    { .n_rot = 32, .n_ctx_orig = 8192, .freq_base = 5e5f, .freq_scale = 1, .attn_factor = 1 },
    TRUE,
    32 },
  { "longrope",
    { .n_rot = 32,
      .neox = 1,
      .n_ctx_orig = 4096,
      .freq_base = 1e4f,
      .freq_scale = 1,
      .attn_factor = 1.19f },
    TRUE,
    32 },
  { "yarn",
    { .n_rot = 64,
      .n_ctx_orig = 128,
      .freq_base = 1e4f,
      .freq_scale = 0.25f,
      .ext_factor = 1,
      .attn_factor = 1,
      .beta_fast = 32,
      .beta_slow = 1 },
    FALSE,
    64 },
  { "yarn-neox",
    { .n_rot = 128,
      .neox = 1,
      .n_ctx_orig = 4096,
      .freq_base = 1e6f,
      .freq_scale = 1 / 32.0f,
      .ext_factor = 1,
      .attn_factor = 0.9f,
      .beta_fast = 32,
      .beta_slow = 1 },
    FALSE,
    128 },
};

const TurnCase *
turn_get_cases (gsize *n)
{
  *n = G_N_ELEMENTS (cases);
  return cases;
}

static double
get_theta (const KvasirRopeParams *p, const float *factors, int i, double position)
{
  double theta = position * pow (p->freq_base, -2.0 * i / p->n_rot);

  if (factors)
    theta /= factors[i];
  if (p->ext_factor == 0)
    return theta * p->freq_scale;
  double span = 2 * log (p->freq_base);
  double low = floor (p->n_rot * log (p->n_ctx_orig / (2 * G_PI * p->beta_fast)) / span);
  double high = ceil (p->n_rot * log (p->n_ctx_orig / (2 * G_PI * p->beta_slow)) / span);
  low = CLAMP (low, 0, p->n_rot - 1);
  high = CLAMP (high, 0, p->n_rot - 1);
  double r = 1 - CLAMP ((i - low) / MAX (0.001, high - low), 0, 1);
  return theta * p->freq_scale * (1 - r * p->ext_factor) + theta * r * p->ext_factor;
}

double
turn_get_magnitude (const KvasirRopeParams *p)
{
  return p->attn_factor * (p->ext_factor != 0 ? 1 + 0.1 * log (1 / p->freq_scale) : 1);
}

/* Which position turns pair @i: t, h, w or e. */
static int
get_plane (const KvasirRopeParams *p, int i)
{
  const gint32 *s = p->sections;
  int all = s[0] + s[1] + s[2] + s[3];

  if (all == 0)
    return 0;
  i %= all;
  if (!p->interleaved)
    return i < s[0] ? 0 : i < s[0] + s[1] ? 1 : i < s[0] + s[1] + s[2] ? 2 : 3;
  if (i % 3 == 1 && i < 3 * s[1])
    return 1;
  if (i % 3 == 2 && i < 3 * s[2])
    return 2;
  return i % 3 == 0 && i < 3 * s[0] ? 0 : 3;
}

void
turn_head (const KvasirRopeParams *p,
           const float *factors,
           const double *positions,
           double magnitude,
           double *head)
{
  for (int i = 0; i < p->n_rot / 2; i++)
    {
      double theta = get_theta (p, factors, i, positions[get_plane (p, i)]);
      double *a = head + p->offset + (p->neox ? i : 2 * i);
      double *b = head + p->offset + (p->neox ? i + p->n_rot / 2 : 2 * i + 1);
      double x0 = *a, x1 = *b;
      *a = (x0 * cos (theta) - x1 * sin (theta)) * magnitude;
      *b = (x0 * sin (theta) + x1 * cos (theta)) * magnitude;
    }
}
