/* engine/model/layers.h - tensors that the layers of several architectures share
 *
 * Each function asks for tensors of layer @il (-1: of none) by their usual names; what a file may
 * lack stays NULL. Errors and bounds: weights.h. Thread: the loading one.
 */
#pragma once

#include "engine/model/model-private.h"

G_BEGIN_DECLS

/* Self-attention of one layer. Biases and norms are optional. */
typedef struct
{
  KvasirTensor *wq; /* [n_embd, head_dim_k * n_heads] */
  KvasirTensor *wk; /* [n_embd, head_dim_k * n_kv_heads] */
  KvasirTensor *wv; /* [n_embd, head_dim_v * n_kv_heads] */
  KvasirTensor *wo; /* [head_dim_v * n_heads, n_embd] */
  KvasirTensor *bq, *bk, *bv, *bo;
  KvasirTensor *q_norm, *k_norm; /* [head_dim_k]; with WIDE and OWN one for each head */
  KvasirTensor *sinks;           /* [n_heads] */
  KvasirTensor *gate; /* [n_embd, head_dim_v * n_heads] (nullable): what is read counts times
                         sigmoid (gate x); asked for by those that have it */
} KvasirAttentionBlock;

typedef struct
{
  KvasirTensor *attn_norm;                      /* [n_embd]; NULL: none before the half */
  KvasirTensor *attn_norm_bias, *ffn_norm_bias; /* [n_embd]: layer norms */
  KvasirTensor *attn_post_norm, *ffn_post_norm; /* [n_embd] (nullable): RMS, behind the halves */
  KvasirAttentionBlock attention;
  KvasirTensor *ffn_norm;    /* [n_embd]; NULL: none */
  KvasirGluBlock ffn;        /* dense; down NULL: experts */
  KvasirMoeBlock moe;        /* router NULL: dense */
  KvasirGluBlock shared;     /* shared experts beside the others; down NULL: none */
  KvasirTensor *shared_gate; /* [n_embd] (nullable): they count sigmoid (shared_gate x) */
} KvasirLayer;

/* What is done with the rows of token_embd before the first layer; each optional. */
typedef struct
{
  KvasirTensor *type;             /* [n_embd], added to all: the first row of token_types */
  KvasirTensor *positions;        /* [n_embd, n_ctx_train]: the row of the position is added */
  KvasirTensor *norm, *norm_bias; /* [n_embd]: layer norm */
} KvasirInputBlock;

/* A vector [@n] that must be there, or may be missing. */
gboolean kvasir_load_vector (
    KvasirModel *model, gint il, const char *name, gint64 n, KvasirTensor **t, GError **error);
gboolean kvasir_load_optional (
    KvasirModel *model, gint il, const char *name, gint64 n, KvasirTensor **t, GError **error);
/* post_attention_norm and post_ffw_norm of @layer. */
gboolean kvasir_load_post_norms (KvasirModel *model, gint il, KvasirLayer *layer, GError **error);
/* One or the other. */
gboolean kvasir_load_bias (KvasirModel *model,
                           gint il,
                           const char *name,
                           gint64 n,
                           gboolean is_needed,
                           KvasirTensor **t,
                           GError **error);
/* A matrix [@ne0, @ne1]. */
gboolean kvasir_load_matrix (KvasirModel *model,
                             gint il,
                             const char *name,
                             const gint64 ne[2],
                             KvasirTensor **t,
                             GError **error);

/* Projections (separate or fused), biases, norms over heads, by the layer's heads and widths. */
gboolean
kvasir_load_attention (KvasirModel *model, gint il, KvasirAttentionBlock *block, GError **error);
/* ffn_gate (optional), ffn_up, ffn_down of width @n_ff and their biases; ffn_up of 2 * n_ff rows
 * is cut into gate and up where there is no ffn_gate and @fused. */
gboolean kvasir_load_ffn (
    KvasirModel *model, gint il, guint n_ff, gboolean fused, KvasirGluBlock *block, GError **error);
/* ffn_gate_inp, ffn_{gate,up,down}_exps (or ffn_gate_up_exps), biases and exp_probs_b, with the
 * numbers of expert_count, expert_used_count, expert_feed_forward_length, expert_group_count,
 * expert_weights_scale, expert_weights_norm and expert_gating_func (defaults: what @block has). */
gboolean kvasir_load_gated_moe (KvasirModel *model, gint il, KvasirMoeBlock *block, GError **error);
/* ffn_{gate,up,down}_shexp of width @n_ff. */
gboolean kvasir_load_shared (KvasirModel *model,
                             gint il,
                             guint n_ff,
                             gboolean has_gate,
                             KvasirGluBlock *block,
                             GError **error);
/* The second half of a layer: its norm, and a dense net or experts, as @form says. */
gboolean kvasir_load_net (
    KvasirModel *model, gint il, const KvasirNetForm *form, KvasirLayer *layer, GError **error);

/* KvasirArch.load of pre-norm layers: attention, and a net as KvasirArch.net says. */
gboolean kvasir_load_layers (KvasirModel *model, GError **error);
/* token_types, position_embd and token_embd_norm, where they are; model->extra becomes a
 * KvasirInputBlock. */
gboolean kvasir_load_input (KvasirModel *model, GError **error);

G_END_DECLS
