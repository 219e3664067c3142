#include "engine/graph/blocks.h"

/* [d, heads, n] of a projection, with the norm over each head where the model has one, turned by
 * its positions. */
static KvasirTensor *
turn_heads (KvasirGraph *graph,
            const KvasirAttentionBlock *block,
            const KvasirAttentionInputs *inputs,
            KvasirTensor *x,
            gboolean is_query)
{
  KvasirTensor *norm = is_query ? block->q_norm : block->k_norm;
  KvasirTensor *heads = kvasir_graph_split (graph, x, block->attention.head_dim_k);

  if (norm != NULL)
    heads =
        kvasir_graph_rms_norm (graph, is_query ? "q_norm" : "k_norm", heads, norm, block->norm_eps);
  return kvasir_graph_rope (graph, is_query ? "q_rope" : "k_rope", heads, inputs->positions,
                            block->rope_factors, &block->rope);
}

KvasirTensor *
kvasir_block_attention (KvasirGraph *graph,
                        const KvasirAttentionBlock *block,
                        const KvasirAttentionInputs *inputs,
                        KvasirTensor *x)
{
  KvasirTensor *q = kvasir_graph_mul_mat (graph, "q", block->wq, x, block->bq);
  KvasirTensor *k = kvasir_graph_mul_mat (graph, "k", block->wk, x, block->bk);
  KvasirTensor *v = kvasir_graph_mul_mat (graph, "v", block->wv, x, block->bv);
  KvasirTensor *k_cache, *v_cache, *out;

  q = turn_heads (graph, block, inputs, q, TRUE);
  k = turn_heads (graph, block, inputs, k, FALSE);
  k_cache = kvasir_graph_set_rows (graph, "k_cache", kvasir_graph_join (graph, k), inputs->slots,
                                   inputs->k);
  v_cache = kvasir_graph_set_rows (graph, "v_cache", v, inputs->slots, inputs->v);
  out = kvasir_graph_attention (
      graph, &(KvasirAttentionSources){ .q = q, .k = k_cache, .v = v_cache, .mask = inputs->mask },
      &block->attention);
  return kvasir_graph_mul_mat (graph, "attn_out", block->wo, out, block->bo);
}

KvasirTensor *
kvasir_block_glu (KvasirGraph *graph, const KvasirGluBlock *block, KvasirTensor *x)
{
  KvasirTensor *gate = kvasir_graph_mul_mat (graph, "ffn_gate", block->gate, x, block->gate_bias);
  KvasirTensor *up = kvasir_graph_mul_mat (graph, "ffn_up", block->up, x, block->up_bias);
  KvasirTensor *act = kvasir_graph_glu (graph, "ffn_act", block->kind, gate, up);
  return kvasir_graph_mul_mat (graph, "ffn_out", block->down, act, block->down_bias);
}
