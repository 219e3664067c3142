/* granite, granitemoe: all layers attend. granitehybrid: those with key and value heads do, the
 * others have a Mamba 2 mixer. minicpm: as granite. formats.md 5.3.
 *   x = embedding_scale * embedding
 *   x += residual_scale * mixer (rms x);  x += residual_scale * SwiGLU (rms x), or experts and
 *   shared ones beside them;  logits / logit_scale
 * Rope turns neighbouring pairs, unless rope.scaling.finetuned is false (not of minicpm). Older
 * files of minicpm lack its scales: they are those of all its models. */
#include <math.h>

#include "engine/model/hybrid.h"
#include "engine/model/mamba.h"

#define MINICPM_EMBEDDING_SCALE 12
#define MINICPM_DEPTH_SCALE 1.4f
#define MINICPM_BASE_WIDTH 256

/* What hparams have counts where a file does not say it; @logits divides. */
static gboolean
read_scales (KvasirHparams *hp, KvasirKeys *keys, float logits, GError **error)
{
  if (!kvasir_keys_get_float (keys, "embedding_scale", &hp->embedding_scale, error) ||
      !kvasir_keys_get_float (keys, "residual_scale", &hp->residual_scale, error) ||
      !kvasir_keys_get_float (keys, "logit_scale", &logits, error))
    return FALSE;
  if (logits == 0)
    return kvasir_keys_fail (keys, error, "a divisor of the logits expected, 0 found");
  hp->logit_scale = 1 / logits;
  return TRUE;
}

static gboolean
setup_granite (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  gboolean is_turned = TRUE;

  hp->embedding_scale = hp->residual_scale = 1;
  if (!read_scales (hp, &keys, 1, error) ||
      !kvasir_keys_get_bool (&keys, "rope.scaling.finetuned", &is_turned, error))
    return FALSE;
  if (!is_turned)
    kvasir_hparams_drop_rope (hp);
  return TRUE;
}

static gboolean
setup_hybrid (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  if (!kvasir_setup_hybrid (model, error) || !kvasir_mamba_setup (model, TRUE, error) ||
      !setup_granite (model, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].has_attention)
      kvasir_mamba_keep_state (model, il);
  return TRUE;
}

static gboolean
setup_minicpm (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  hp->embedding_scale = MINICPM_EMBEDDING_SCALE;
  hp->residual_scale = MINICPM_DEPTH_SCALE / sqrtf ((float) hp->n_layers);
  return read_scales (hp, &keys, (float) hp->n_embd / MINICPM_BASE_WIDTH, error);
}

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  KvasirLayer *layers = model->layers;

  if (model->hparams.layers[il].has_attention)
    return kvasir_load_attention (model, il, &layers[il].attention, error);
  return kvasir_load_mamba2 (model, il, error);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;

  if (model->hparams.layers[il].has_attention)
    return kvasir_build_self_attention (model, build, il, &layers[il].attention, x);
  return kvasir_build_mamba2 (model, build, il, x);
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SOFTMAX, .normalised = TRUE },
                                   .shared = KVASIR_SHARED_IF_ANY };

static const KvasirHybrid hybrid = { .load_mixer = load_mixer,
                                     .build_mixer = build_mixer,
                                     .net = &net };

static gboolean
load (KvasirModel *model, GError **error)
{
  return kvasir_load_hybrid (model, &hybrid, error);
}

static void
build_graph (const KvasirModel *model, KvasirModelBuild *build)
{
  kvasir_build_hybrid (model, build, &hybrid, kvasir_build_embedding (model, build));
}

const KvasirArch kvasir_arch_granite = {
  .name = "granite",
  .setup = setup_granite,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &net,
};

const KvasirArch kvasir_arch_granitehybrid = {
  .name = "granitehybrid",
  .may_lack_attention = TRUE,
  .setup = setup_hybrid,
  .load = load,
  .build = build_graph,
};

const KvasirArch kvasir_arch_granitemoe = {
  .name = "granitemoe",
  .setup = setup_granite,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &net,
};

const KvasirArch kvasir_arch_minicpm = {
  .name = "minicpm",
  .setup = setup_minicpm,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &net,
};
