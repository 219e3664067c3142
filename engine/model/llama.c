/* llama: Llama 1 to 3, Mistral, SmolLM 1 and 2, TinyLlama and their kin. formats.md 5.3.
 * The converter has permuted the rows of q and k for neighbouring pairs. With n = rms x:
 *
 *   x += Wo attn (rope (Wq n), rope (Wk n), Wv n);  x += down (silu (gate n) * up n)
 *
 * chatglm, ernie4_5, internlm2 and xverse are the same under another name; exaone, openelm (with
 * norms over heads, and layers of different widths) and seed_oss turn NEOX pairs; smollm3 does not
 * turn every fourth layer; hunyuan-dense turns NEOX pairs and has norms over the heads of q and k
 * behind the rotation; arcee has nets without a gate, down (max (0, up n)^2); olmo has layer norms
 * without weights, orion those with a bias; mistral3 has queries that grow with their positions.
 * baichuan has distances taken off the scores in place of rope in the larger one of its two sizes,
 * refact always.
 */
#include <math.h>

#include "engine/model/build.h"

/* Of smollm3: layer il is not turned where il + 1 is a multiple. */
#define TURN_PERIOD 4

/* Layers of the two baichuan models, which no key tells apart. */
#define BAICHUAN_7B_LAYERS 32
#define BAICHUAN_13B_LAYERS 40

/* ALiBi of baichuan and refact. */
#define MAX_BIAS 8

static gboolean
setup_neox (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_hunyuan (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_BEHIND;
  return setup_neox (model, error);
}

static gboolean
setup_smollm3 (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  for (guint il = TURN_PERIOD - 1; il < hp->n_layers; il += TURN_PERIOD)
    hp->layers[il].rope.n_rot = 0;
  return TRUE;
}

static gboolean
setup_baichuan (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  kvasir_keys_name (&keys, "block_count");
  if (hp->n_layers != BAICHUAN_7B_LAYERS && hp->n_layers != BAICHUAN_13B_LAYERS)
    return kvasir_keys_refuse (&keys, error, "%u (rope) or %u (ALiBi) layers supported, %u found",
                               BAICHUAN_7B_LAYERS, BAICHUAN_13B_LAYERS, hp->n_layers);
  if (hp->n_layers == BAICHUAN_13B_LAYERS)
    {
      hp->max_bias = MAX_BIAS;
      kvasir_hparams_drop_rope (hp);
    }
  return TRUE;
}

/* With this key what is turned is divided by 1 + its tenth of ln factor. */
static gboolean
settle_yarn (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  KvasirRopeParams rope = hp->rope;
  float log_multiplier = 0;

  if (!kvasir_keys_get_float (keys, "rope.scaling.yarn_log_multiplier", &log_multiplier, error))
    return FALSE;
  if (log_multiplier < 0)
    return kvasir_keys_fail (keys, error, "0 or more expected, %g found", (double) log_multiplier);
  if (rope.ext_factor != 0 && rope.freq_scale < 1)
    rope.attn_factor /= 1 + 0.1f * log_multiplier * logf (1 / rope.freq_scale);
  kvasir_hparams_set_rope (hp, &rope);
  return TRUE;
}

static gboolean
setup_mistral3 (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (!settle_yarn (hp, &keys, error) ||
      !kvasir_keys_get_float (&keys, "attention.temperature_scale", &hp->temperature.scale, error))
    return FALSE;
  if (hp->temperature.scale != 0)
    hp->temperature.length = hp->rope.n_ctx_orig;
  return TRUE;
}

static gboolean
setup_olmo (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  hp->has_layer_norms = hp->has_weightless_norms = TRUE;
  if (!kvasir_keys_get_float (&keys, "attention.clamp_kqv", &hp->clamp_qkv, error))
    return FALSE;
  return hp->clamp_qkv >= 0 ||
         kvasir_keys_fail (&keys, error, "0 or more expected, %g found", (double) hp->clamp_qkv);
}

static gboolean
setup_openelm (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_RMS;
  return setup_neox (model, error);
}

static gboolean
setup_orion (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  return setup_neox (model, error);
}

static gboolean
setup_refact (KvasirModel *model, GError **error)
{
  model->hparams.max_bias = MAX_BIAS;
  kvasir_hparams_drop_rope (&model->hparams);
  return TRUE;
}

static const KvasirNetForm arcee_net = { .kind = KVASIR_UNARY_RELU_SQR };

static const KvasirNetForm seed_oss_net = { .kind = KVASIR_UNARY_SILU,
                                            .has_gate = TRUE,
                                            .norm = "post_attention_norm.weight" };

const KvasirArch kvasir_arch_llama = {
  .name = "llama",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_arcee = {
  .name = "arcee",
  .load = kvasir_load_layers,
  .net = &arcee_net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_baichuan = {
  .name = "baichuan",
  .setup = setup_baichuan,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_chatglm = {
  .name = "chatglm",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_ernie4_5 = {
  .name = "ernie4_5",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_exaone = {
  .name = "exaone",
  .setup = setup_neox,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_hunyuan_dense = {
  .name = "hunyuan-dense",
  .setup = setup_hunyuan,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_internlm2 = {
  .name = "internlm2",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_mistral3 = {
  .name = "mistral3",
  .setup = setup_mistral3,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_olmo = {
  .name = "olmo",
  .setup = setup_olmo,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_openelm = {
  .name = "openelm",
  .setup = setup_openelm,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_orion = {
  .name = "orion",
  .needs_norm_biases = TRUE,
  .setup = setup_orion,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_refact = {
  .name = "refact",
  .setup = setup_refact,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_seed_oss = {
  .name = "seed_oss",
  .setup = setup_neox,
  .load = kvasir_load_layers,
  .net = &seed_oss_net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_smollm3 = {
  .name = "smollm3",
  .setup = setup_smollm3,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_xverse = {
  .name = "xverse",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
