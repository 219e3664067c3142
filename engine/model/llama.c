/* llama: Llama 1 to 3, Mistral, SmolLM 1 and 2, TinyLlama and their kin. formats.md 5.3.
 * The converter has permuted the rows of q and k for neighbouring pairs. With n = rms x:
 *
 *   x += Wo attn (rope (Wq n), rope (Wk n), Wv n);  x += down (silu (gate n) * up n)
 *
 * internlm2 and ernie4_5 are the same under another name; exaone turns NEOX pairs; smollm3 does not
 * turn every fourth layer; hunyuan-dense turns NEOX pairs and has norms over the heads of q and k
 * behind the rotation; baichuan has distances taken off the scores in place of rope in the larger
 * one of its two sizes.
 */
#include "engine/model/build.h"

/* Of smollm3: layer il is not turned where il + 1 is a multiple. */
#define TURN_PERIOD 4

/* Layers of the two baichuan models, which no key tells apart. */
#define BAICHUAN_7B_LAYERS 32
#define BAICHUAN_13B_LAYERS 40
#define BAICHUAN_BIAS 8

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
load_arcee (KvasirModel *model, GError **error)
{
  return kvasir_load_layers_of (model, KVASIR_UNARY_RELU_SQR, FALSE, error);
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
      hp->max_bias = BAICHUAN_BIAS;
      kvasir_hparams_drop_rope (hp);
    }
  return TRUE;
}

const KvasirArch kvasir_arch_llama = {
  .name = "llama",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_arcee = {
  .name = "arcee",
  .load = load_arcee,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_baichuan = {
  .name = "baichuan",
  .setup = setup_baichuan,
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

const KvasirArch kvasir_arch_smollm3 = {
  .name = "smollm3",
  .setup = setup_smollm3,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
