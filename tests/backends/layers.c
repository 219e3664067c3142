#include "layers.h"

#include <math.h>

/* [c - 1, D] columns before the token. a: c, b: D */
static void
step_conv (const Layer *l, float *const x[LAYER_MAX_INPUTS], double *state, double *y)
{
  int c = l->a;

  for (int d = 0; d < l->b; d++)
    {
      double *columns = state + d * (c - 1), sum = x[2] ? x[2][d] : 0;
      for (int i = 0; i < c; i++)
        {
          double weight = x[1] ? x[1][d * c + i] : i == 0;
          sum += weight * (i < c - 1 ? columns[i] : x[0][d]);
        }
      y[d] = sum;
      for (int i = 0; i + 1 < c - 1; i++)
        columns[i] = columns[i + 1];
      if (c > 1)
        columns[c - 2] = x[0][d];
    }
}

/* a: N, b: p, c: H, d: G. Inputs x, dt, A, B, C, D. */
static void
step_ssm (const Layer *l, float *const x[LAYER_MAX_INPUTS], double *state, double *y)
{
  for (int h = 0; h < l->c; h++)
    for (int p = 0; p < l->b; p++)
      {
        double dt = log (1 + exp ((double) x[1][h])), u = x[0][h * l->b + p], sum = 0;
        int group = h / (l->c / l->d);
        for (int n = 0; n < l->a; n++)
          {
            double *s = state + (h * l->b + p) * l->a + n;
            double rate = l->inputs[2].ne0 == 1 ? x[2][h] : x[2][h * l->a + n];
            *s = *s * exp (dt * rate) + dt * u * x[3][group * l->a + n];
            sum += x[4][group * l->a + n] * *s;
          }
        y[h * l->b + p] = sum + x[5][h] * u;
      }
}

/* a: d, b: H. Inputs r, w, k, v, kappa, a. */
static void
step_wkv7 (const Layer *l, float *const x[LAYER_MAX_INPUTS], double *state, double *y)
{
  int d = l->a;

  for (int h = 0; h < l->b; h++)
    for (int i = 0; i < d; i++)
      {
        const float *r = x[0] + h * d, *w = x[1] + h * d, *k = x[2] + h * d, *v = x[3] + h * d;
        const float *kappa = x[4] + h * d, *a = x[5] + h * d;
        double *s = state + (h * d + i) * d, removed = 0, sum = 0;
        for (int j = 0; j < d; j++)
          removed += kappa[j] * s[j];
        for (int j = 0; j < d; j++)
          {
            s[j] = s[j] * w[j] + (double) v[i] * k[j] - removed * kappa[j] * a[j];
            sum += s[j] * r[j];
          }
        y[h * d + i] = sum;
      }
}

/* a: dk, b: dv, c: Hv, d: Hk. Inputs q, k, v, log decay, beta. */
static void
step_delta (const Layer *l, float *const x[LAYER_MAX_INPUTS], double *state, double *y)
{
  for (int h = 0; h < l->c; h++)
    for (int i = 0; i < l->b; i++)
      {
        int key_head = l->by_group ? h / (l->c / l->d) : h % l->d;
        const float *q = x[0] + key_head * l->a, *k = x[1] + key_head * l->a;
        double *s = state + (h * l->b + i) * l->a, known = 0, sum = 0;
        for (int j = 0; j < l->a; j++)
          {
            s[j] *= exp ((double) x[3][h]);
            known += s[j] * k[j];
          }
        for (int j = 0; j < l->a; j++)
          {
            s[j] += x[4][h] * (x[2][h * l->b + i] - known) * k[j];
            sum += s[j] * q[j];
          }
        y[h * l->b + i] = sum / sqrt (l->a);
      }
}

/* a: columns, b: channels; without weights for the shift by one token. */
#define CONV(c, channels, bias)                                                                    \
  {                                                                                                \
    .op = KVASIR_OP_CONV, .state_src = 2, .ne0 = channels, .n_state = (c - 1) * channels, .a = c,  \
    .b = channels, .step = step_conv, .inputs = {                                                  \
      { 0, channels, 0, TRUE, 0, 1 },                                                              \
      { 1, c, channels, FALSE, 0, 1 },                                                             \
      { bias, channels, 0, FALSE, 0, 1 }                                                           \
    }                                                                                              \
  }
#define SHIFT(channels)                                                                            \
  {                                                                                                \
    .op = KVASIR_OP_CONV, .state_src = 2, .ne0 = channels, .n_state = channels, .a = 2,            \
    .b = channels, .step = step_conv, .inputs = {                                                  \
      { 0, channels, 0, TRUE, 0, 1 }                                                               \
    }                                                                                              \
  }
#define SSM(width, p, heads, groups, rates)                                                        \
  {                                                                                                \
    .op = KVASIR_OP_SSM_SCAN, .state_src = 6, .ne0 = p, .ne1 = heads,                              \
    .n_state = width * p * heads, .a = width, .b = p, .c = heads, .d = groups, .step = step_ssm,   \
    .inputs = {                                                                                    \
      { 0, p, heads, TRUE, 0, 1 },                                                                 \
      { 1, heads, 0, TRUE, 0, 2 },                                                                 \
      { 2, rates, heads, FALSE, -1, 1 },                                                           \
      { 3, width, groups, TRUE, 0, 1 },                                                            \
      { 4, width, groups, TRUE, 0, 0.3f },                                                         \
      { 5, heads, 0, FALSE, 0, 1 }                                                                 \
    }                                                                                              \
  }
#define WKV7(width, heads)                                                                         \
  {                                                                                                \
    .op = KVASIR_OP_WKV7, .state_src = 6, .ne0 = width, .ne1 = heads,                              \
    .n_state = width * width * heads, .a = width, .b = heads, .step = step_wkv7, .inputs = {       \
      { 0, width, heads, TRUE, 0, 0.3f },                                                          \
      { 1, width, heads, TRUE, 1, 1 },                                                             \
      { 2, width, heads, TRUE, 0, 1 },                                                             \
      { 3, width, heads, TRUE, 0, 1 },                                                             \
      { 4, width, heads, TRUE, 0, 0.2f },                                                          \
      { 5, width, heads, TRUE, 1, 1 }                                                              \
    }                                                                                              \
  }
#define DELTA(dk, dv, v_heads, k_heads, group)                                                     \
  {                                                                                                \
    .op = KVASIR_OP_DELTA, .state_src = 5, .ne0 = dv, .ne1 = v_heads,                              \
    .n_state = dk * dv * v_heads, .by_group = group, .a = dk, .b = dv, .c = v_heads, .d = k_heads, \
    .step = step_delta, .inputs = {                                                                \
      { 0, dk, k_heads, TRUE, 0, 1 },                                                              \
      { 1, dk, k_heads, TRUE, 0, 0.2f },                                                           \
      { 2, dv, v_heads, TRUE, 0, 1 },                                                              \
      { 3, v_heads, 0, TRUE, -1, 1 },                                                              \
      { 4, v_heads, 0, TRUE, 1, 1 }                                                                \
    }                                                                                              \
  }

const Layer layers[] = {
  CONV (4, 67, 4),
  CONV (3, 1100, 4),
  CONV (2, 5, 4),
  SHIFT (77),
  SSM (16, 1, 75, 1, 16),
  SSM (13, 1, 6, 2, 13),
  SSM (31, 70, 4, 2, 1),
  SSM (128, 8, 6, 3, 1),
  WKV7 (16, 3),
  WKV7 (64, 2),
  DELTA (31, 33, 6, 3, FALSE),
  DELTA (31, 33, 6, 3, TRUE),
  DELTA (64, 16, 4, 4, FALSE),
};

const gsize n_layers = G_N_ELEMENTS (layers);
