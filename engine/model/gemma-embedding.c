/* gemma-embedding: gemma3's layers as an encoder. formats.md 5.3.
 *
 *   x = E sqrt (n_embd)
 *   in each layer
 *     x += rms_post (Wo attention (rms x))    RMS norms over the heads of q and k
 *     x += rms_post (GEGLU (rms x))
 *   result D3 D2 rms x, where there are such matrices
 *
 * All layers but the last of each six see half a window to both sides. The last two matrices belong
 * behind the pooling, but every kind of pooling is linear, and so are they.
 */
#include "engine/model/encoder.h"
#include "engine/model/gemma-parts.h"

typedef struct
{
  KvasirLayer plain;
  KvasirGemmaPostNorms post;
} Layer;

typedef struct
{
  KvasirGemma gemma;     /* first: gemma-parts.c looks there */
  guint n_dense;         /* rows of dense_2 */
  KvasirTensor *dense_2; /* [n_embd, n_dense] (nullable) */
  KvasirTensor *dense_3; /* [n_dense, n_embd] (nullable) */
} Extra;

/* The result must be as wide as the model: the rows that the context keeps are. */
static gboolean
read_dense (KvasirModel *model, Extra *extra, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  const guint n_embd = model->hparams.n_embd;
  guint n_out = n_embd;

  extra->n_dense = n_embd;
  if (!kvasir_keys_get_size (&keys, "dense_2_feat_out", KVASIR_MAX_WIDTH, &extra->n_dense, error) ||
      !kvasir_keys_get_size (&keys, "dense_3_feat_out", KVASIR_MAX_WIDTH, &n_out, error))
    return FALSE;
  return n_out == n_embd ||
         kvasir_keys_refuse (&keys, error, "%u (embedding_length) supported, %u found", n_embd,
                             n_out);
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  Extra *extra = g_new0 (Extra, 1);
  const KvasirSymmetric symmetric = { .period = 6, .freq_base = 10000 };

  model->extra = extra;
  kvasir_hparams_set_neox (hp);
  return kvasir_setup_encoder (model, error) && read_dense (model, extra, error) &&
         kvasir_read_symmetric_window (model, &symmetric, error);
}

static gboolean
load_dense (KvasirModel *model, GError **error)
{
  Extra *extra = model->extra;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 up[2] = { n_embd, extra->n_dense }, down[2] = { extra->n_dense, n_embd };

  if (!kvasir_weights_has (model->weights, -1, "dense_2.weight") &&
      !kvasir_weights_has (model->weights, -1, "dense_3.weight"))
    return TRUE;
  return kvasir_load_matrix (model, -1, "dense_2.weight", up, &extra->dense_2, error) &&
         kvasir_load_matrix (model, -1, "dense_3.weight", down, &extra->dense_3, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  Layer *layers = g_new0 (Layer, hp->n_layers);

  model->layers = layers;
  if (!kvasir_load_vector (model, -1, "output_norm.weight", hp->n_embd, &model->output_norm,
                           error) ||
      !load_dense (model, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!kvasir_gemma_load_layer (model, (gint) il, &layers[il].plain, &layers[il].post, error) ||
        !kvasir_load_ffn (model, (gint) il, hp->layers[il].n_ff, TRUE, &layers[il].plain.ffn,
                          error))
      return FALSE;
  return TRUE;
}

static KvasirTensor *
build_layer (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const Layer *layer = (const Layer *) model->layers + il;
  KvasirGraph *g = step->graph;
  KvasirTensor *y;

  y = kvasir_build_norm (model, step, "attn_norm", x, layer->plain.attn_norm, NULL);
  y = kvasir_build_self_attention (model, step, il, &layer->plain.attention, y);
  y = kvasir_build_norm (model, step, "attn_post_norm", y, layer->post.attention, NULL);
  x = kvasir_graph_add (g, "attn_res", x, y);
  y = kvasir_build_norm (model, step, "ffn_norm", x, layer->plain.ffn_norm, NULL);
  y = kvasir_build_ffn (step, &layer->plain, y);
  y = kvasir_build_norm (model, step, "ffn_post_norm", y, layer->post.ffn, NULL);
  return kvasir_graph_add (g, "ffn_res", x, y);
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const Extra *extra = model->extra;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_gemma_build_embedding (model, step);

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      kvasir_graph_set_layer (g, (gint) il);
      x = build_layer (model, step, il, x);
    }
  kvasir_graph_set_layer (g, -1);
  x = kvasir_build_norm (model, step, "output_norm", x, model->output_norm, NULL);
  if (extra->dense_2 != NULL)
    {
      x = kvasir_graph_mul_mat (g, "dense_2", extra->dense_2, x, NULL);
      x = kvasir_graph_mul_mat (g, "dense_3", extra->dense_3, x, NULL);
    }
  kvasir_build_rows (step, x);
}

const KvasirArch kvasir_arch_gemma_embedding = {
  .name = "gemma-embedding",
  .setup = setup,
  .load = load,
  .build = build,
  .is_encoder = TRUE,
};
