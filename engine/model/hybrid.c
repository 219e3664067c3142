#include "engine/model/hybrid.h"

gboolean
kvasir_setup_hybrid (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  hp->memory_class = KVASIR_MEMORY_HYBRID;
  for (guint il = 0; il < hp->n_layers; il++)
    if (hp->layers[il].has_attention && hp->layers[il].n_heads == 0)
      {
        kvasir_keys_name (&keys, "attention.head_count");
        return kvasir_keys_fail (&keys, error,
                                 "layer %u: heads for %u key and value heads expected, none found",
                                 il, hp->layers[il].n_kv_heads);
      }
  return TRUE;
}

static gboolean
load_shared (
    KvasirModel *model, gint il, const KvasirHybrid *hybrid, KvasirLayer *layer, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint n_ff = model->hparams.layers[il].n_ff;

  if (!kvasir_keys_get_size (&keys, "expert_shared_feed_forward_length", KVASIR_MAX_WIDTH, &n_ff,
                             error) ||
      !kvasir_load_shared (model, il, n_ff, &layer->shared, error))
    return FALSE;
  if (hybrid->gates_shared &&
      !kvasir_load_vector (model, il, "ffn_gate_inp_shexp.weight", model->hparams.n_embd,
                           &layer->shared_gate, error))
    return FALSE;

  const gint64 gate[2] = { model->hparams.n_embd, n_ff };
  return layer->shared.gate != NULL ||
         kvasir_load_matrix (model, il, "ffn_gate_shexp.weight", gate, &layer->shared.gate, error);
}

/* The router's presence says which layers have experts. */
static gboolean
load_ffn (
    KvasirModel *model, gint il, const KvasirHybrid *hybrid, KvasirLayer *layer, GError **error)
{
  const guint n_ff = model->hparams.layers[il].n_ff;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  layer->ffn.kind = layer->shared.kind = KVASIR_UNARY_SILU;
  if (kvasir_weights_has (model->weights, il, "ffn_gate_inp.weight"))
    {
      layer->moe = hybrid->moe;
      layer->moe.kind = KVASIR_UNARY_SILU;
      if (!kvasir_load_gated_moe (model, il, &layer->moe, error))
        return FALSE;
      return !hybrid->may_have_shared ||
             !kvasir_weights_has (model->weights, il, "ffn_up_shexp.weight") ||
             load_shared (model, il, hybrid, layer, error);
    }
  if (n_ff == 0)
    {
      kvasir_keys_name (&keys, "feed_forward_length");
      return kvasir_keys_fail (&keys, error, "layer %d: 1 or more expected, 0 found", il);
    }
  return kvasir_load_ffn (model, il, n_ff, TRUE, &layer->ffn, error);
}

gboolean
kvasir_load_hybrid (KvasirModel *model, const KvasirHybrid *hybrid, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      KvasirLayer *layer = &layers[il];

      if (!kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error))
        return FALSE;
      if (hybrid->ffn_norm != NULL &&
          (!kvasir_load_vector (model, il, hybrid->ffn_norm, n_embd, &layer->ffn_norm, error) ||
           !load_ffn (model, il, hybrid, layer, error)))
        return FALSE;
      if (!hybrid->load_mixer (model, il, error))
        return FALSE;
    }
  return TRUE;
}

/* Behind this layer's mixer tokens no longer meet. */
static guint
find_last_mixer (const KvasirHparams *hp)
{
  guint last = 0;

  for (guint il = 0; il < hp->n_layers; il++)
    if (hp->layers[il].has_attention || hp->layers[il].n_embd_r > 0)
      last = il;
  return last;
}

static KvasirTensor *
add_scaled (
    KvasirModelBuild *build, const char *name, KvasirTensor *x, KvasirTensor *y, float scale)
{
  if (scale != 1)
    y = kvasir_graph_scale (build->graph, "scaled", y, scale, 0);
  return kvasir_graph_add (build->graph, name, x, y);
}

static KvasirTensor *
build_ffn (const KvasirModel *model,
           KvasirModelBuild *build,
           const KvasirHybrid *hybrid,
           guint il,
           KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;

  x = kvasir_graph_rms_norm (build->graph, "ffn_norm", x, layers[il].ffn_norm,
                             model->hparams.rms_eps);
  return kvasir_build_ffn (build, &layers[il], x);
}

void
kvasir_build_hybrid (const KvasirModel *model,
                     KvasirModelBuild *build,
                     const KvasirHybrid *hybrid,
                     KvasirTensor *x,
                     float scale)
{
  const guint last = find_last_mixer (&model->hparams);
  const KvasirLayer *layers = model->layers;
  KvasirGraph *g = build->graph;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      KvasirTensor *y;

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_graph_rms_norm (g, "attn_norm", x, layers[il].attn_norm, model->hparams.rms_eps);
      x = add_scaled (build, "attn_res", x, hybrid->build_mixer (model, build, il, y), scale);
      if (il == last)
        {
          kvasir_build_begin_outputs (build);
          x = kvasir_build_take_outputs (build, x);
        }
      if (hybrid->ffn_norm != NULL)
        x = add_scaled (build, "ffn_res", x, build_ffn (model, build, hybrid, il, x), scale);
    }
  kvasir_build_logits (model, build, x);
}
