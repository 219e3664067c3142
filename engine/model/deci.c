/* deci: DeciLM, and Llama Nemotron Super and Ultra. A plain decoder (llama.c) from which a search
 * took parts away. With n = rms x, in each layer:
 *
 *   x += Wo attn (rope q, rope k, v)       with heads
 *   x += Wo n                              with heads, but none of keys and values
 *   x += down (silu (gate n) * up n)       with a feed-forward width
 *
 * A layer without heads does not attend; one without either hands on what it gets.
 */
#include "engine/model/build.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  for (guint il = 0; il < hp->n_layers; il++)
    {
      const KvasirLayerHparams *layer = &hp->layers[il];

      kvasir_keys_name (&keys, "attention.head_count");
      if (layer->n_heads == 0 && layer->n_kv_heads > 0)
        return kvasir_keys_fail (&keys, error,
                                 "layer %u: heads for %u key and value heads expected, none found",
                                 il, layer->n_kv_heads);
      kvasir_keys_name (&keys, "feed_forward_length");
      if (layer->n_heads > 0 && layer->n_ff == 0)
        return kvasir_keys_refuse (&keys, error,
                                   "layer %u: 1 or more with %u heads supported, 0 found", il,
                                   layer->n_heads);
    }
  return TRUE;
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU, .has_gate = TRUE };

static gboolean
load_layer (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 square[2] = { n_embd, n_embd };

  if (sizes->n_heads > 0 &&
      !kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error))
    return FALSE;
  if (sizes->n_kv_heads > 0 && !kvasir_load_attention (model, il, &layer->attention, error))
    return FALSE;
  if (sizes->n_heads > 0 && sizes->n_kv_heads == 0 &&
      !kvasir_load_matrix (model, il, "attn_output.weight", square, &layer->attention.wo, error))
    return FALSE;
  return sizes->n_ff == 0 || kvasir_load_net (model, il, &net, layer, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_layer (model, il, &layers[il], error))
      return FALSE;
  return TRUE;
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;

  x = kvasir_build_norm (model, step, "attn_norm", x, layer->attn_norm, NULL);
  if (model->hparams.layers[il].has_attention)
    return kvasir_build_self_attention (model, step, il, &layer->attention, x);
  return kvasir_graph_mul_mat (step->graph, "attn_out", layer->attention.wo, x, NULL);
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const KvasirHparams *hp = &model->hparams;
  const KvasirLayer *layers = model->layers;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_embedding (model, step), *y;

  for (guint il = 0; il < hp->n_layers; il++)
    {
      kvasir_graph_set_layer (g, (gint) il);
      if (layers[il].attn_norm != NULL)
        x = kvasir_graph_add (g, "attn_res", x, build_mixer (model, step, il, x));
      if (il == hp->n_layers - 1)
        {
          kvasir_build_begin_outputs (step);
          x = kvasir_build_take_outputs (step, x);
        }
      if (layers[il].ffn_norm == NULL)
        continue;
      y = kvasir_build_norm (model, step, "ffn_norm", x, layers[il].ffn_norm, NULL);
      x = kvasir_graph_add (g, "ffn_res", x, kvasir_build_ffn (step, &layers[il], y));
    }
  kvasir_build_logits (model, step, x);
}

const KvasirArch kvasir_arch_deci = {
  .name = "deci",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build,
};
