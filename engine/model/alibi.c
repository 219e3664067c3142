/* bloom and mpt: no rope; the distance itself is taken off the scores (ALiBi). formats.md 5.3.
 * With n = ln x, which subtracts the mean and has a bias:
 *
 *   x0 = ln E (bloom), E + P[position] where there is such a table (mpt)
 *   x += Wo attn (q, k, v) + bo             (q, k, v) = clamp (Wqkv n + b)
 *   x += down (gelu (up n + bu)) + bd
 *
 * where a score has - slope of the head * |distance| added.
 */
#include "engine/error.h"
#include "engine/model/build.h"

#define BLOOM_BIAS 8

static const KvasirNetForm net = { .kind = KVASIR_UNARY_GELU };

static gboolean
setup_bloom (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  hp->has_layer_norms = TRUE;
  hp->max_bias = BLOOM_BIAS;
  kvasir_hparams_drop_rope (hp);
  return TRUE;
}

static gboolean
setup_mpt (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  hp->has_layer_norms = TRUE;
  kvasir_hparams_drop_rope (hp);
  if (!kvasir_keys_get_float (&keys, "attention.clamp_kqv", &hp->clamp_qkv, error))
    return FALSE;
  if (hp->clamp_qkv < 0)
    return kvasir_keys_fail (&keys, error, "0 or more expected, %g found", (double) hp->clamp_qkv);
  if (!kvasir_keys_get_float (&keys, "attention.max_alibi_bias", &hp->max_bias, error))
    return FALSE;
  return hp->max_bias >= 0 ||
         kvasir_keys_fail (&keys, error, "0 or more expected, %g found", (double) hp->max_bias);
}

/* Models quantised with knowledge of their activations divide these before the last product. */
static gboolean
check_plain_nets (KvasirModel *model, GError **error)
{
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (kvasir_weights_has (model->weights, il, "ffn_act.scales"))
      {
        g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                     "%s: blk.%d.ffn_act.scales: no such tensor supported, one found",
                     model->info.path, il);
        return FALSE;
      }
  return TRUE;
}

static gboolean
load (KvasirModel *model, GError **error)
{
  return check_plain_nets (model, error) && kvasir_load_input (model, error) &&
         kvasir_load_layers (model, error);
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  kvasir_build_layers_on (model, step, kvasir_build_input (model, step, model->extra));
}

const KvasirArch kvasir_arch_bloom = {
  .name = "bloom",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_bloom,
  .load = load,
  .build = build,
  .net = &net,
};

const KvasirArch kvasir_arch_mpt = {
  .name = "mpt",
  .setup = setup_mpt,
  .load = load,
  .build = build,
  .net = &net,
};
