/* nemotron_h and nemotron_h_moe: one mixer per layer. formats.md 5.3.
 *   x += mixer (rms x)
 * A layer with a feed-forward width is a net, down (max (0, up x)^2), or experts and a shared one
 * of that form; one with key and value heads attends; what is left has a Mamba 2 mixer. Nothing is
 * turned. */
#include "engine/model/hybrid.h"
#include "engine/model/mamba.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  if (!kvasir_setup_hybrid (model, error) || !kvasir_mamba_setup (model, TRUE, error))
    return FALSE;
  hp->can_keep_states = TRUE;
  kvasir_hparams_drop_rope (hp);
  for (guint il = 0; il < hp->n_layers; il++)
    {
      KvasirLayerHparams *layer = &hp->layers[il];

      layer->has_attention = layer->n_kv_heads > 0 && layer->n_ff == 0;
      if (layer->n_kv_heads == 0 && layer->n_ff == 0)
        kvasir_mamba_keep_state (model, il);
    }
  kvasir_hparams_fit_rows (hp);
  return TRUE;
}

/* The larger ones have experts that read less than what the layers hand on. */
static gboolean
setup_moe (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint n_latent = 0;

  if (!kvasir_keys_get_count (&keys, "moe_latent_size", KVASIR_MAX_WIDTH, &n_latent, error))
    return FALSE;
  if (n_latent > 0)
    return kvasir_keys_refuse (&keys, error, "0 supported, %u found", n_latent);
  return setup (model, error);
}

/* The norm in front is that of every mixer. */
static const KvasirNetForm net = { .kind = KVASIR_UNARY_RELU_SQR,
                                   .moe = { .gating = KVASIR_GATING_SIGMOID },
                                   .shared = KVASIR_SHARED_ONE,
                                   .norm = "attn_norm.weight" };

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  KvasirLayer *layer = (KvasirLayer *) model->layers + il;

  if (sizes->has_attention)
    return kvasir_load_attention (model, il, &layer->attention, error);
  if (sizes->n_embd_r > 0)
    return kvasir_load_mamba2 (model, il, error);
  return kvasir_load_net (model, il, &net, layer, error);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;

  if (sizes->has_attention)
    return kvasir_build_self_attention (model, build, il, &layer->attention, x);
  if (sizes->n_embd_r > 0)
    return kvasir_build_mamba2 (model, build, il, x);
  return kvasir_build_ffn (build, layer, x);
}

static const KvasirHybrid hybrid = { .load_mixer = load_mixer, .build_mixer = build_mixer };

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

const KvasirArch kvasir_arch_nemotron_h = {
  .name = "nemotron_h",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
};

const KvasirArch kvasir_arch_nemotron_h_moe = {
  .name = "nemotron_h_moe",
  .may_lack_attention = TRUE,
  .setup = setup_moe,
  .load = load,
  .build = build_graph,
};
