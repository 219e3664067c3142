/* Models whose attention and net read the same x:
 *
 *   x += Wo attn (q, k, v) + net (m)        q, k, v of n = norm x; m = n, or a norm of x of its own
 *
 * phi2        layer norms, GELU, one norm, biases, a part of each head is turned
 * gptneox     the same with a norm each, or one half behind the other
 * falcon      without biases, one norm or two
 * plamo       RMS norms, SwiGLU, one norm
 * stablelm    layer norms, SwiGLU; the larger ones so, with norms over heads, the others one half
 *             behind the other: those have an ffn_norm
 * command-r   layer norms without bias, SwiGLU, logits times logit_scale; norms over heads in the
 *             larger one; neighbouring pairs are turned, NEOX ones in all the others
 * cohere2     the same, but three of four layers see a window, and only these are turned
 */
#include "engine/error.h"
#include "engine/model/build.h"
#include "engine/model/sliding.h"

/* From so many layers on Command R has norms over heads, which no key tells. */
#define COMMAND_R_PLUS_LAYERS 64

typedef struct
{
  gboolean is_serial; /* layers with an ffn_norm have one half behind the other */
} Extra;

/* ---- numbers ---------------------------------------------------------------------------- */

static Extra *
add_extra (KvasirModel *model)
{
  Extra *extra = g_new0 (Extra, 1);

  model->extra = extra;
  model->hparams.has_layer_norms = TRUE;
  return extra;
}

/* phi2, falcon */
static gboolean
setup_neox (KvasirModel *model, GError **error)
{
  add_extra (model);
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_plamo (KvasirModel *model, GError **error)
{
  model->extra = g_new0 (Extra, 1);
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_gptneox (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  gboolean is_parallel = TRUE;
  Extra *extra = add_extra (model);

  kvasir_hparams_set_neox (&model->hparams);
  if (!kvasir_keys_get_bool (&keys, "use_parallel_residual", &is_parallel, error))
    return FALSE;
  extra->is_serial = !is_parallel;
  return TRUE;
}

static gboolean
setup_stablelm (KvasirModel *model, GError **error)
{
  add_extra (model)->is_serial = TRUE;
  model->hparams.head_norms = KVASIR_HEAD_NORMS_OWN;
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_command_r (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  add_extra (model);
  hp->head_norms = KVASIR_HEAD_NORMS_OWN;
  if (!kvasir_keys_has (&keys, "logit_scale"))
    return kvasir_keys_fail (&keys, error, "this key is expected and missing");
  return kvasir_keys_get_float (&keys, "logit_scale", &hp->logit_scale, error);
}

static gboolean
setup_cohere2 (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .period = 4 };
  KvasirHparams *hp = &model->hparams;

  if (!setup_command_r (model, error) || !kvasir_read_sliding (model, &sliding, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].is_swa)
      hp->layers[il].rope.n_rot = 0;
  return TRUE;
}

/* ---- tensors ---------------------------------------------------------------------------- */

static gboolean
load_norm (KvasirModel *model, gint il, const char *name, KvasirTensor *norm[2], GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  g_autofree char *weight = g_strconcat (name, ".weight", NULL);
  g_autofree char *bias = g_strconcat (name, ".bias", NULL);

  return kvasir_load_vector (model, il, weight, n_embd, &norm[0], error) &&
         kvasir_load_bias (model, il, bias, n_embd, model->arch->needs_norm_biases, &norm[1],
                           error);
}

/* The net's norm is ffn_norm; where falcon has two, the attention's is the second of its own. */
static gboolean
load_norms (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gboolean has_second = kvasir_weights_has (model->weights, il, "attn_norm_2.weight");
  const gboolean has_ffn = kvasir_weights_has (model->weights, il, "ffn_norm.weight");
  const char *const ffn = has_second ? "attn_norm" : "ffn_norm";
  KvasirTensor *norm[2], *ffn_norm[2] = { NULL, NULL };

  if (!load_norm (model, il, has_second ? "attn_norm_2" : "attn_norm", norm, error) ||
      ((has_second || has_ffn) && !load_norm (model, il, ffn, ffn_norm, error)))
    return FALSE;
  layer->attn_norm = norm[0];
  layer->attn_norm_bias = norm[1];
  layer->ffn_norm = ffn_norm[0];
  layer->ffn_norm_bias = ffn_norm[1];
  return TRUE;
}

static gboolean
load_layers (KvasirModel *model, KvasirUnary kind, gboolean has_gate, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirLayer *layers = g_new0 (KvasirLayer, hp->n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) hp->n_layers; il++)
    {
      layers[il].ffn.kind = kind;
      if (!load_norms (model, il, &layers[il], error) ||
          !kvasir_load_attention (model, il, &layers[il].attention, error) ||
          !kvasir_load_ffn (model, il, hp->layers[il].n_ff, has_gate, &layers[il].ffn, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
load_plain (KvasirModel *model, GError **error)
{
  return load_layers (model, KVASIR_UNARY_GELU, FALSE, error);
}

static gboolean
load_gated (KvasirModel *model, GError **error)
{
  return load_layers (model, KVASIR_UNARY_SILU, TRUE, error);
}

/* Both halves of a layer of gptneox have a norm. */
static gboolean
load_gptneox (KvasirModel *model, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  KvasirTensor *norm;

  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &norm, error))
      return FALSE;
  return load_plain (model, error);
}

static gboolean
load_command_r (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirTensor *norm;

  for (gint il = 0; il < (gint) hp->n_layers && hp->n_layers >= COMMAND_R_PLUS_LAYERS; il++)
    {
      const KvasirLayerHparams *sizes = &hp->layers[il];
      const gint64 q[2] = { sizes->head_dim_k, sizes->n_heads };
      const gint64 k[2] = { sizes->head_dim_k, sizes->n_kv_heads };

      if (!kvasir_load_matrix (model, il, "attn_q_norm.weight", q, &norm, error) ||
          !kvasir_load_matrix (model, il, "attn_k_norm.weight", k, &norm, error))
        return FALSE;
    }
  return load_gated (model, error);
}

/* ---- operations ------------------------------------------------------------------------- */

static KvasirTensor *
norm_ffn (const KvasirModel *model,
          KvasirModelBuild *step,
          const KvasirLayer *layer,
          KvasirTensor *x)
{
  return kvasir_build_norm (model, step, "ffn_norm", x, layer->ffn_norm, layer->ffn_norm_bias);
}

/* [n_embd, n] of [n_embd, n]; of the last layer only the outputs. */
static KvasirTensor *
build_layer (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;
  const Extra *extra = model->extra;
  const gboolean is_serial = extra->is_serial && layer->ffn_norm != NULL;
  KvasirGraph *g = step->graph;
  KvasirTensor *n, *y;

  n = kvasir_build_norm (model, step, "attn_norm", x, layer->attn_norm, layer->attn_norm_bias);
  y = kvasir_build_self_attention (model, step, il, &layer->attention, n);
  if (!is_serial && layer->ffn_norm != NULL)
    n = norm_ffn (model, step, layer, x);
  x = kvasir_graph_add (g, "attn_res", x, y);
  if (il == model->hparams.n_layers - 1)
    {
      kvasir_build_begin_outputs (step);
      x = kvasir_build_take_outputs (step, x);
      if (!is_serial)
        n = kvasir_build_take_outputs (step, n);
    }
  if (is_serial)
    n = norm_ffn (model, step, layer, x);
  return kvasir_graph_add (g, "ffn_res", x, kvasir_build_ffn (step, layer, n));
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_embedding (model, step);

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      kvasir_graph_set_layer (g, (gint) il);
      x = build_layer (model, step, il, x);
    }
  kvasir_build_logits (model, step, x);
}

const KvasirArch kvasir_arch_cohere2 = {
  .name = "cohere2",
  .setup = setup_cohere2,
  .load = load_gated,
  .build = build,
};

const KvasirArch kvasir_arch_command_r = {
  .name = "command-r",
  .setup = setup_command_r,
  .load = load_command_r,
  .build = build,
};

const KvasirArch kvasir_arch_falcon = {
  .name = "falcon",
  .needs_norm_biases = TRUE,
  .setup = setup_neox,
  .load = load_plain,
  .build = build,
};

const KvasirArch kvasir_arch_gptneox = {
  .name = "gptneox",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_gptneox,
  .load = load_gptneox,
  .build = build,
};

const KvasirArch kvasir_arch_phi2 = {
  .name = "phi2",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_neox,
  .load = load_plain,
  .build = build,
};

const KvasirArch kvasir_arch_plamo = {
  .name = "plamo",
  .setup = setup_plamo,
  .load = load_gated,
  .build = build,
};

const KvasirArch kvasir_arch_stablelm = {
  .name = "stablelm",
  .needs_norm_biases = TRUE,
  .setup = setup_stablelm,
  .load = load_gated,
  .build = build,
};
