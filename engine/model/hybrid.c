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

gboolean
kvasir_load_hybrid (KvasirModel *model, const KvasirHybrid *hybrid, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      KvasirLayer *layer = &layers[il];

      if (!kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) ||
          (hybrid->net != NULL && !kvasir_load_net (model, il, hybrid->net, layer, error)) ||
          !hybrid->load_mixer (model, il, error))
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
build_ffn (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
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
                     KvasirTensor *x)
{
  const guint last = find_last_mixer (&model->hparams);
  const KvasirLayer *layers = model->layers;
  KvasirGraph *g = build->graph;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      KvasirTensor *y;

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_graph_rms_norm (g, "attn_norm", x, layers[il].attn_norm, model->hparams.rms_eps);
      x = kvasir_build_residual (model, build, "attn_res", x,
                                 hybrid->build_mixer (model, build, il, y));
      if (il == last)
        {
          kvasir_build_begin_outputs (build);
          x = kvasir_build_take_outputs (build, x);
        }
      if (hybrid->net != NULL)
        x = kvasir_build_residual (model, build, "ffn_res", x, build_ffn (model, build, il, x));
    }
  kvasir_build_logits (model, build, x);
}
