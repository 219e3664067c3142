/* engine/model/mamba.h - state-space mixers, for Mamba models and the hybrids that contain them
 *
 * n tokens; D inner width, N width of a state, c taps. The convolution is causal and per channel;
 * silu, softplus and rms as everywhere (formats.md 5.1, 5.3).
 *
 * Mamba 1, with r the rank of delta:
 *   (u, z) = in x;  u = silu (conv u + b);  (delta, B, C) = X u, each normalised in some families
 *   delta = softplus (W_dt delta + b_dt)
 *   S = S exp (delta A) + delta u B;  y = C S + D u;  out (y silu z)
 * Mamba 2, with H heads that share the B and C of G groups:
 *   (z, xBC, delta) = in x;  (u, B, C) = silu (conv xBC + b);  delta = softplus (delta + b_dt)
 *   S = S exp (delta A) + delta u B;  y = C S + D u;  out (rms per group (y silu z))
 *
 * A sequence keeps the last c - 1 columns that went into the convolution, time fastest, and S.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key or tensor, expected and found. Thread: the
 * loading one; building: engine thread.
 */
#pragma once

#include "engine/model/build.h"
#include "engine/model/model-private.h"

G_BEGIN_DECLS

/* What both kinds have, then what only one has. */
typedef struct
{
  KvasirTensor *in;        /* [n_embd, 2 D], or [n_embd, 2 D + 2 G N + H] */
  KvasirTensor *conv;      /* [c, D], or [c, D + 2 G N] */
  KvasirTensor *conv_bias; /* (nullable) */
  KvasirTensor *dt_bias;   /* [D], or [H] */
  KvasirTensor *a;         /* [N, D], or [1, H]: -exp of what was learnt */
  KvasirTensor *d;         /* [D], or [H] */
  KvasirTensor *out;       /* [D, n_embd] */

  KvasirTensor *x;                         /* Mamba 1: [D, r + 2 N] */
  KvasirTensor *dt;                        /* Mamba 1: [r, D] */
  KvasirTensor *dt_norm, *b_norm, *c_norm; /* Mamba 1: [r], [N], [N] (nullable) */
  KvasirTensor *norm;                      /* Mamba 2: [D / G, G] (nullable) */
} KvasirMambaBlock;

/* model->extra of the families that use these mixers. */
typedef struct
{
  guint n_taps;
  guint n_inner;
  guint n_state;
  guint n_heads;             /* H, or r */
  guint n_groups;            /* Mamba 2 */
  gboolean norms_dt_b_c;     /* Mamba 1: delta, B and C are normalised without weights, too */
  KvasirMambaBlock blocks[]; /* [n_layers] */
} KvasirMamba;

/* For KvasirArch.setup: reads the ssm keys into model->extra. */
gboolean kvasir_mamba_setup (KvasirModel *model, gboolean has_groups, GError **error);
/* Layer @il keeps a state of this kind. */
void kvasir_mamba_keep_state (KvasirModel *model, guint il);

gboolean kvasir_load_mamba (KvasirModel *model, gint il, GError **error);
/* After kvasir_load_mamba(), for families whose delta, B and C always have norms. */
gboolean kvasir_mamba_require_norms (KvasirModel *model, gint il, GError **error);
gboolean kvasir_load_mamba2 (KvasirModel *model, gint il, GError **error);

/* [n_embd, n] of @x [n_embd, n], which is normalised. */
KvasirTensor *
kvasir_build_mamba (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x);
KvasirTensor *
kvasir_build_mamba2 (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x);

G_END_DECLS
