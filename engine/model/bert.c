/* bert and nomic-bert: encoders with norms behind each part, which subtract the mean and have a
 * bias. formats.md 5.3.
 *
 *   x0 = ln (E + type of the text + P[position])
 *   x = ln (x + Wo attn (Wq x + bq, Wk x + bk, Wv x + bv) + bo)
 *   x = ln (x + down (gelu (up x + bu)) + bd)
 *
 * nomic-bert has no biases but the norms', turns NEOX pairs in place of P, and its net is
 * down (silu (gate x) * up x). The rows of the last layer are the result; the context pools them.
 */
#include "engine/model/build.h"
#include "engine/model/encoder.h"

typedef struct
{
  KvasirAttentionBlock attention;
  KvasirTensor *attn_norm, *attn_norm_bias; /* [n_embd], behind the attention */
  KvasirGluBlock ffn;
  KvasirTensor *ffn_norm, *ffn_norm_bias;
} BertLayer;

static gboolean
setup (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  kvasir_hparams_drop_rope (&model->hparams);
  return kvasir_setup_encoder (model, error);
}

static gboolean
setup_nomic (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  kvasir_hparams_set_neox (&model->hparams);
  return kvasir_setup_encoder (model, error);
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
load_layers (KvasirModel *model, KvasirUnary kind, GError **error)
{
  BertLayer *layers = g_new0 (BertLayer, model->hparams.n_layers);

  model->layers = layers;
  if (!kvasir_load_input (model, error))
    return FALSE;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      layers[il].ffn.kind = kind;
      if (!load_layer (model, il, &layers[il], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
load (KvasirModel *model, GError **error)
{
  return load_layers (model, KVASIR_UNARY_GELU, error);
}

static gboolean
load_nomic (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirTensor *gate;

  for (gint il = 0; il < (gint) hp->n_layers; il++)
    {
      const gint64 ne[2] = { hp->n_embd, hp->layers[il].n_ff };
      if (!kvasir_load_matrix (model, il, "ffn_gate.weight", ne, &gate, error))
        return FALSE;
    }
  return load_layers (model, KVASIR_UNARY_SILU, error);
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
  kvasir_build_rows (step, x);
}

const KvasirArch kvasir_arch_bert = {
  .name = "bert",
  .setup = setup,
  .load = load,
  .build = build,
  .is_encoder = TRUE,
};

const KvasirArch kvasir_arch_nomic_bert = {
  .name = "nomic-bert",
  .setup = setup_nomic,
  .load = load_nomic,
  .build = build,
  .is_encoder = TRUE,
};
