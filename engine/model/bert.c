/* bert: an encoder. Nothing is kept between steps: a text is read at once and every token sees all
 * others. formats.md 5.3. Norms come behind each part, subtract the mean and have a bias:
 *
 *   x0 = ln (E + type of the text + P[position])
 *   x = ln (x + Wo attn (Wq x + bq, Wk x + bk, Wv x + bv) + bo)
 *   x = ln (x + down (gelu (up x + bu)) + bd)
 *
 * The rows of the last layer are the result; the context pools them.
 */
#include "engine/model/build.h"

typedef struct
{
  KvasirAttentionBlock attention;
  KvasirTensor *attn_norm, *attn_norm_bias; /* [n_embd], behind the attention */
  KvasirGluBlock ffn;
  KvasirTensor *ffn_norm, *ffn_norm_bias;
} BertLayer;

static gboolean
read_pooling (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  gint64 found = KVASIR_POOLING_NONE;

  if (!kvasir_keys_has (keys, "pooling_type"))
    return TRUE;
  if (!kvasir_gguf_get_i64 (keys->gguf, keys->key, &found))
    return kvasir_keys_fail (keys, error, "a whole number expected");
  if (found < KVASIR_POOLING_NONE || found > KVASIR_POOLING_LAST)
    return kvasir_keys_refuse (keys, error,
                               "0 (none), 1 (mean), 2 (first) or 3 (last) supported, "
                               "%" G_GINT64_FORMAT " found",
                               found);
  hp->pooling = (KvasirPooling) found;
  return TRUE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  gboolean is_causal = FALSE;

  if (!kvasir_keys_get_bool (&keys, "attention.causal", &is_causal, error))
    return FALSE;
  if (is_causal)
    return kvasir_keys_refuse (&keys, error, "false supported, true found");
  hp->memory_class = KVASIR_MEMORY_NONE;
  hp->is_causal = FALSE;
  hp->has_layer_norms = TRUE;
  kvasir_hparams_drop_rope (hp);
  return read_pooling (hp, &keys, error);
}

static gboolean
load_norm (KvasirModel *model, gint il, const char *part, KvasirTensor *norm[2], GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  g_autofree char *weight = g_strconcat (part, ".weight", NULL);
  g_autofree char *bias = g_strconcat (part, ".bias", NULL);

  return kvasir_load_vector (model, il, weight, n_embd, &norm[0], error) &&
         kvasir_load_vector (model, il, bias, n_embd, &norm[1], error);
}

static gboolean
load_layer (KvasirModel *model, gint il, BertLayer *layer, GError **error)
{
  const guint n_ff = model->hparams.layers[il].n_ff;
  KvasirTensor *attn_norm[2], *ffn_norm[2];

  layer->ffn.kind = KVASIR_UNARY_GELU;
  if (!kvasir_load_attention (model, il, &layer->attention, error) ||
      !load_norm (model, il, "attn_output_norm", attn_norm, error) ||
      !kvasir_load_ffn (model, il, n_ff, FALSE, &layer->ffn, error) ||
      !load_norm (model, il, "layer_output_norm", ffn_norm, error))
    return FALSE;
  layer->attn_norm = attn_norm[0];
  layer->attn_norm_bias = attn_norm[1];
  layer->ffn_norm = ffn_norm[0];
  layer->ffn_norm_bias = ffn_norm[1];
  return TRUE;
}

static gboolean
load (KvasirModel *model, GError **error)
{
  BertLayer *layers = g_new0 (BertLayer, model->hparams.n_layers);

  model->layers = layers;
  if (!kvasir_load_input (model, error))
    return FALSE;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_layer (model, il, &layers[il], error))
      return FALSE;
  return TRUE;
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const BertLayer *layers = model->layers;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_input (model, step, model->extra), *y;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const BertLayer *layer = &layers[il];

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_build_self_attention (model, step, il, &layer->attention, x);
      x = kvasir_build_norm (model, step, "attn_norm", kvasir_graph_add (g, "attn_res", x, y),
                             layer->attn_norm, layer->attn_norm_bias);
      y = kvasir_block_glu (g, &layer->ffn, x);
      x = kvasir_build_norm (model, step, "ffn_norm", kvasir_graph_add (g, "ffn_res", x, y),
                             layer->ffn_norm, layer->ffn_norm_bias);
    }
  kvasir_graph_set_layer (g, -1);
  kvasir_build_begin_outputs (step);
  step->logits = kvasir_build_take_outputs (step, x);
}

const KvasirArch kvasir_arch_bert = {
  .name = "bert",
  .setup = setup,
  .load = load,
  .build = build,
  .is_encoder = TRUE,
};
