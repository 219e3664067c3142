/* modern-bert: an encoder. formats.md 5.3. Layer norms without bias before each part:
 *
 *   x0 = ln E
 *   x += Wo attn (rope q, rope k, v)        q, k, v of ln x, of x itself in the first layer
 *   x += down (f (gate (ln x)) * up (ln x))     f: hidden_activation, gelu or silu
 *   result ln x
 *
 * The first layer of each three sees everything, the others half a window to both sides, and turn
 * with a base of their own. Rope turns NEOX pairs.
 */
#include "engine/model/encoder.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  const KvasirSymmetric symmetric = { .period = 3,
                                      .full_first = TRUE,
                                      .freq_base = hp->rope.freq_base };

  hp->has_layer_norms = TRUE;
  kvasir_hparams_set_neox (hp);
  return kvasir_setup_encoder (model, error) &&
         kvasir_read_symmetric_window (model, &symmetric, error);
}

/* The function of the gate. */
static gboolean
read_activation (KvasirModel *model, KvasirUnary *kind, GError **error)
{
  static const struct
  {
    const char *name;
    KvasirUnary kind;
  } kinds[] = { { "gelu", KVASIR_UNARY_GELU },
                { "geglu", KVASIR_UNARY_GELU },
                { "silu", KVASIR_UNARY_SILU },
                { "swish", KVASIR_UNARY_SILU },
                { "swiglu", KVASIR_UNARY_SILU } };
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  const char *found;

  *kind = KVASIR_UNARY_GELU;
  if (!kvasir_keys_has (&keys, "hidden_activation"))
    return TRUE;
  found = kvasir_gguf_get_string (keys.gguf, keys.key, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_strcmp0 (found, kinds[i].name) == 0)
      {
        *kind = kinds[i].kind;
        return TRUE;
      }
  if (found == NULL)
    return kvasir_keys_fail_kind (&keys, "a text", error);
  return kvasir_keys_refuse (&keys, error, "gelu or silu supported, \"%s\" found", found);
}

static gboolean
load_layer (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  if (il > 0 &&
      !kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error))
    return FALSE;
  return kvasir_load_attention (model, il, &layer->attention, error) &&
         kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layer->ffn_norm, error) &&
         kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, TRUE, &layer->ffn, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);
  KvasirTensor *norm;
  KvasirUnary kind;

  model->layers = layers;
  if (!read_activation (model, &kind, error) ||
      !kvasir_load_vector (model, -1, "token_embd_norm.weight", n_embd, &norm, error) ||
      !kvasir_load_input (model, error) ||
      !kvasir_load_vector (model, -1, "output_norm.weight", n_embd, &model->output_norm, error))
    return FALSE;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      layers[il].ffn.kind = kind;
      if (!load_layer (model, il, &layers[il], error))
        return FALSE;
    }
  return TRUE;
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const KvasirLayer *layers = model->layers;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_input (model, step, model->extra), *y;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const KvasirLayer *layer = &layers[il];

      kvasir_graph_set_layer (g, (gint) il);
      y = x;
      if (layer->attn_norm != NULL)
        y = kvasir_build_norm (model, step, "attn_norm", x, layer->attn_norm, NULL);
      y = kvasir_build_self_attention (model, step, il, &layer->attention, y);
      x = kvasir_graph_add (g, "attn_res", x, y);
      y = kvasir_build_norm (model, step, "ffn_norm", x, layer->ffn_norm, NULL);
      x = kvasir_graph_add (g, "ffn_res", x, kvasir_build_ffn (step, layer, y));
    }
  kvasir_build_rows (step,
                     kvasir_build_norm (model, step, "output_norm", x, model->output_norm, NULL));
}

const KvasirArch kvasir_arch_modern_bert = {
  .name = "modern-bert",
  .setup = setup,
  .load = load,
  .build = build,
  .is_encoder = TRUE,
};
