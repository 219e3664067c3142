#include "engine/model/gemma-parts.h"

#include <math.h>

static gboolean
read_cap (KvasirKeys *keys, const char *name, float *cap, GError **error)
{
  if (!kvasir_keys_get_float (keys, name, cap, error))
    return FALSE;
  return *cap >= 0 || kvasir_keys_fail (keys, error, "0 or more expected, %g found", (double) *cap);
}

gboolean
kvasir_gemma_read (KvasirModel *model, KvasirGemma *gemma, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  return read_cap (&keys, "attn_logit_softcapping", &gemma->attention_cap, error) &&
         read_cap (&keys, "final_logit_softcapping", &gemma->logit_cap, error) &&
         kvasir_keys_get_count (&keys, "embedding_length_per_layer_input", KVASIR_MAX_WIDTH,
                                &gemma->n_per_layer, error);
}

gboolean
kvasir_gemma_load_layer (
    KvasirModel *model, gint il, KvasirLayer *layer, KvasirGemmaPostNorms *post, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  layer->ffn.kind = layer->moe.kind = KVASIR_UNARY_GELU;
  return kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) &&
         kvasir_load_attention (model, il, &layer->attention, error) &&
         kvasir_load_vector (model, il, "post_attention_norm.weight", n_embd, &post->attention,
                             error) &&
         kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layer->ffn_norm, error) &&
         kvasir_load_vector (model, il, "post_ffw_norm.weight", n_embd, &post->ffn, error);
}

gboolean
kvasir_gemma_load_layer_values (KvasirModel *model, KvasirGemma *gemma, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  const gint64 width = (gint64) gemma->n_per_layer * hp->n_layers;
  const gint64 table[2] = { width, hp->n_vocab }, proj[2] = { hp->n_embd, width };

  return kvasir_load_matrix (model, -1, "per_layer_token_embd.weight", table, &gemma->layer_embd,
                             error) &&
         kvasir_load_matrix (model, -1, "per_layer_model_proj.weight", proj, &gemma->layer_proj,
                             error) &&
         kvasir_load_vector (model, -1, "per_layer_proj_norm.weight", gemma->n_per_layer,
                             &gemma->layer_norm, error);
}

gboolean
kvasir_gemma_load_inlet (KvasirModel *model, gint il, KvasirGemmaInlet *inlet, GError **error)
{
  const KvasirGemma *gemma = model->extra;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 gate[2] = { n_embd, gemma->n_per_layer }, proj[2] = { gemma->n_per_layer, n_embd };

  return kvasir_load_matrix (model, il, "inp_gate.weight", gate, &inlet->gate, error) &&
         kvasir_load_matrix (model, il, "proj.weight", proj, &inlet->proj, error) &&
         kvasir_load_vector (model, il, "post_norm.weight", n_embd, &inlet->norm, error);
}

KvasirTensor *
kvasir_gemma_build_embedding (const KvasirModel *model, KvasirModelBuild *build)
{
  return kvasir_graph_scale (build->graph, "embd_scaled", kvasir_build_embedding (model, build),
                             sqrtf ((float) model->hparams.n_embd), 0);
}

/* [d, heads, n], normalised where there is a norm, and turned. */
static KvasirTensor *
turn_heads (const KvasirModel *model,
            KvasirModelBuild *build,
            guint il,
            KvasirTensor *x,
            KvasirTensor *norm,
            gboolean is_query)
{
  x = kvasir_graph_split (build->graph, x, model->hparams.layers[il].head_dim_k);
  if (norm != NULL)
    x = kvasir_graph_rms_norm (build->graph, is_query ? "q_norm" : "k_norm", x, norm,
                               model->hparams.rms_eps);
  return kvasir_build_rope (model, build, is_query ? "q_rope" : "k_rope", il, x);
}

KvasirTensor *
kvasir_gemma_build_attention (const KvasirModel *model,
                              KvasirModelBuild *build,
                              guint il,
                              const KvasirAttentionBlock *block,
                              KvasirTensor *x)
{
  const KvasirGemma *gemma = model->extra;
  KvasirGraph *g = build->graph;
  KvasirAttend attend = { .scale = model->hparams.attention_scale,
                          .softcap = gemma->attention_cap };
  KvasirTensor *q = kvasir_graph_mul_mat (g, "q", block->wq, x, block->bq);

  attend.q = turn_heads (model, build, il, q, block->q_norm, TRUE);
  if (block->wk != NULL)
    {
      KvasirTensor *k = kvasir_graph_mul_mat (g, "k", block->wk, x, block->bk);
      attend.v = block->wv != NULL ? kvasir_graph_mul_mat (g, "v", block->wv, x, block->bv) : k;
      attend.k = turn_heads (model, build, il, k, block->k_norm, FALSE);
      if (gemma->norms_values)
        attend.v = kvasir_graph_rms_norm (
            g, "v_norm", kvasir_graph_split (g, attend.v, model->hparams.layers[il].head_dim_v),
            NULL, model->hparams.rms_eps);
    }
  return kvasir_graph_mul_mat (g, "attn_out", block->wo,
                               kvasir_build_attend (model, build, il, &attend), block->bo);
}

KvasirTensor *
kvasir_gemma_build_layer_values (const KvasirModel *model,
                                 KvasirModelBuild *build,
                                 KvasirTensor *x0)
{
  const KvasirGemma *gemma = model->extra;
  KvasirGraph *g = build->graph;
  const float n_embd = (float) model->hparams.n_embd, n = (float) gemma->n_per_layer;
  KvasirTensor *own = kvasir_graph_get_rows (g, "layer_embd", gemma->layer_embd, build->tokens);
  KvasirTensor *p = kvasir_graph_mul_mat (g, "layer_proj", gemma->layer_proj, x0, NULL);

  p = kvasir_graph_scale (g, "layer_proj_scaled", p, 1 / sqrtf (n_embd), 0);
  p = kvasir_graph_rms_norm (g, "layer_proj_norm", kvasir_graph_split (g, p, gemma->n_per_layer),
                             gemma->layer_norm, model->hparams.rms_eps);
  own = kvasir_graph_scale (g, "layer_embd_scaled", own, sqrtf (n), 0);
  p = kvasir_graph_add (g, "layer_sum", p, kvasir_graph_split (g, own, gemma->n_per_layer));
  return kvasir_graph_scale (g, "layer_values", p, (float) M_SQRT1_2, 0);
}

KvasirTensor *
kvasir_gemma_build_inlet (const KvasirModel *model,
                          KvasirModelBuild *build,
                          const KvasirGemmaInlet *inlet,
                          KvasirTensor *x,
                          KvasirTensor *values)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *y = kvasir_graph_mul_mat (g, "inlet_gate", inlet->gate, x, NULL);

  y = kvasir_graph_glu (g, "inlet_act", KVASIR_UNARY_GELU, y, values);
  y = kvasir_graph_mul_mat (g, "inlet_proj", inlet->proj, y, NULL);
  return kvasir_graph_rms_norm (g, "inlet_norm", y, inlet->norm, model->hparams.rms_eps);
}

void
kvasir_gemma_build_logits (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x)
{
  const KvasirGemma *gemma = model->extra;
  KvasirGraph *g = build->graph;
  KvasirTensor *y;

  kvasir_build_logits (model, build, x);
  if (gemma->logit_cap == 0)
    return;
  y = kvasir_graph_scale (g, "logits_over_cap", build->logits, 1 / gemma->logit_cap, 0);
  y = kvasir_graph_unary (g, "logits_tanh", KVASIR_UNARY_TANH, y);
  build->logits = kvasir_graph_scale (g, "logits_capped", y, gemma->logit_cap, 0);
}
