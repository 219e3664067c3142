/* engine/model/build.h - operations that several architectures share
 *
 * Shapes in brackets, fastest extent first; n tokens of the step. Thread: engine thread.
 */
#pragma once

#include "engine/model/layers.h"
#include "engine/model/model-private.h"

G_BEGIN_DECLS

/* [n_embd, n], times the model's embedding_scale where it has one */
KvasirTensor *kvasir_build_embedding (const KvasirModel *model, KvasirModelBuild *build);

/* The rows of the tokens with what a KvasirInputBlock adds to them. */
KvasirTensor *kvasir_build_input (const KvasirModel *model,
                                  KvasirModelBuild *build,
                                  const KvasirInputBlock *input);

/* The norm around layers: RMS, or layer norm with @bias (nullable) where the model has those. */
KvasirTensor *kvasir_build_norm (const KvasirModel *model,
                                 KvasirModelBuild *build,
                                 const char *name,
                                 KvasirTensor *x,
                                 KvasirTensor *weight,
                                 KvasirTensor *bias);

/* @x [dk, heads, n] turned by the step's positions and the layer's rope; as it is where the layer
 * is not turned. */
KvasirTensor *kvasir_build_rope (
    const KvasirModel *model, KvasirModelBuild *build, const char *name, guint il, KvasirTensor *x);

/* What one layer's attention does with its cache. */
typedef struct
{
  KvasirTensor *q;     /* [dk, heads, n], turned */
  KvasirTensor *k;     /* [dk, kv_heads, n], turned; NULL: the layer reads rows of another layer */
  KvasirTensor *v;     /* [dv, kv_heads, n] or [dv * kv_heads, n]; NULL: the same, or V is the first
                          part     of K's rows */
  KvasirTensor *sinks; /* [heads] (nullable) */
  guint head_dim_v;    /* 0: as hparams say; for V that is a part of K */
  float scale;
  float softcap;
} KvasirAttend;

/* Stores K and V, and attends: [dv * heads, n]. Streams, transposed V, Hadamard rotation, windows
 * and ALiBi are settled here. */
KvasirTensor *kvasir_build_attend (const KvasirModel *model,
                                   KvasirModelBuild *build,
                                   guint il,
                                   const KvasirAttend *attend);

/* The plain case: projections of @x, norms over heads, rope, attention, output: [n_embd, n]. @x is
 * normalised already. */
KvasirTensor *kvasir_build_self_attention (const KvasirModel *model,
                                           KvasirModelBuild *build,
                                           guint il,
                                           const KvasirAttentionBlock *block,
                                           KvasirTensor *x);

/* Dense, of experts, and shared experts beside them. */
KvasirTensor *kvasir_build_ffn (KvasirModelBuild *build, const KvasirLayer *layer, KvasirTensor *x);

/* @x + @y, or @x + residual_scale * @y in models that have one: [n_embd, n]. */
KvasirTensor *kvasir_build_residual (const KvasirModel *model,
                                     KvasirModelBuild *build,
                                     const char *name,
                                     KvasirTensor *x,
                                     KvasirTensor *y);

/* Behind the last attention tokens no longer meet, so only those that are asked for go on: begins
 * the head of the graph. Call once, for every tensor that goes on, in one go. */
void kvasir_build_begin_outputs (KvasirModelBuild *build);
/* The rows of @x [ne0, n] that are asked for. */
KvasirTensor *kvasir_build_take_outputs (KvasirModelBuild *build, KvasirTensor *x);

/* Norm, output matrix and logit_scale: sets build->logits. */
void kvasir_build_logits (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x);

/* A state of layer @il: its first part (convolutions, shifts) or its second (scans). */
KvasirStateSource kvasir_build_state_r (KvasirModelBuild *build, guint il, guint offset);
KvasirStateSource kvasir_build_state_s (KvasirModelBuild *build, guint il);

/* KvasirArch.build of layers x += attention (norm x); x += feed-forward (norm x), with norms before
 * the halves, behind them or both, as KvasirLayer has them. */
void kvasir_build_layers (const KvasirModel *model, KvasirModelBuild *build);
/* The same, on @x [n_embd, n] instead of the rows of the tokens. */
void kvasir_build_layers_on (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x);

G_END_DECLS
