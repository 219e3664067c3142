/* engine/graph/blocks.h - the parts that transformer architectures share
 *
 * Shapes in brackets, fastest extent first; n tokens. Formulas: formats.md 5.1.
 * Thread: engine thread.
 */
#pragma once

#include "engine/graph/graph.h"

G_BEGIN_DECLS

/* Self-attention of one layer over a KV cache. Biases and norms are optional. */
typedef struct
{
  KvasirTensor *wq; /* [n_embd, head_dim_k * n_heads] */
  KvasirTensor *wk; /* [n_embd, head_dim_k * n_kv_heads] */
  KvasirTensor *wv; /* [n_embd, head_dim_v * n_kv_heads] */
  KvasirTensor *wo; /* [head_dim_v * n_heads, n_embd] */
  KvasirTensor *bq, *bk, *bv, *bo;
  KvasirTensor *q_norm, *k_norm; /* [head_dim_k], per head, before the rotation */
  float norm_eps;
  KvasirRopeParams rope;
  KvasirTensor *rope_factors; /* [n_rot / 2] (nullable) */
  KvasirAttentionParams attention;
} KvasirAttentionBlock;

/* Where one layer's attention writes and reads. */
typedef struct
{
  KvasirTensor *positions; /* I32 [n] */
  KvasirTensor *slots;     /* I64 [n] */
  KvasirTensor *mask;      /* I64 [cells / 64, n] */
  KvasirTensor *k;         /* [head_dim_k * n_kv_heads, cells] */
  KvasirTensor *v;         /* [head_dim_v * n_kv_heads, cells] */
} KvasirAttentionInputs;

/* Returns [n_embd, n]: what is added to the residual stream. @x is normalised already. */
KvasirTensor *kvasir_block_attention (KvasirGraph *graph,
                                      const KvasirAttentionBlock *block,
                                      const KvasirAttentionInputs *inputs,
                                      KvasirTensor *x);

/* down (f (gate x) * up x); biases optional. */
typedef struct
{
  KvasirTensor *gate, *up; /* [n_embd, n_ff] */
  KvasirTensor *down;      /* [n_ff, n_embd] */
  KvasirTensor *gate_bias, *up_bias, *down_bias;
  KvasirUnary kind;
} KvasirGluBlock;

KvasirTensor *kvasir_block_glu (KvasirGraph *graph, const KvasirGluBlock *block, KvasirTensor *x);

G_END_DECLS
