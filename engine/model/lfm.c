/* lfm2 and lfm2moe: layers with key and value heads attend, the others have a short convolution.
 * formats.md 5.3.
 *   (b, c, u) = in (rms x);  x += out (c (conv (b u)));  x += SwiGLU (rms x) or experts (rms x)
 * Attention normalises the heads of q and k and turns NEOX pairs; with a window every layer that
 * attends slides. A sequence keeps the last taps - 1 columns of b u. The output norm is named
 * token_embd_norm. */
#include "engine/model/hybrid.h"

typedef struct
{
  KvasirTensor *in;   /* [n_embd, 3 * n_embd] */
  KvasirTensor *conv; /* [n_taps, n_embd] */
  KvasirTensor *out;  /* [n_embd, n_embd] */
} ShortConv;

/* model->extra */
typedef struct
{
  guint n_taps;
  ShortConv blocks[]; /* [n_layers] */
} Lfm;

static gboolean
read_window (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  if (!kvasir_keys_get_count (keys, "attention.sliding_window", KVASIR_MAX_CONTEXT, &hp->n_swa,
                              error))
    return FALSE;
  if (hp->n_swa == 0)
    return TRUE;
  hp->window = KVASIR_WINDOW_STANDARD;
  hp->memory_class = KVASIR_MEMORY_HYBRID_ISWA;
  for (guint il = 0; il < hp->n_layers; il++)
    hp->layers[il].is_swa = hp->layers[il].has_attention;
  return TRUE;
}

/* The variant that sees both ways pads its convolutions on both sides. */
static gboolean
check_causal (KvasirKeys *keys, GError **error)
{
  gboolean is_causal = TRUE;

  return kvasir_keys_get_bool (keys, "attention.causal", &is_causal, error) &&
         (is_causal || kvasir_keys_refuse (keys, error, "true expected, false found"));
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  Lfm *self = g_malloc0 (sizeof *self + hp->n_layers * sizeof (ShortConv));

  model->extra = self;
  if (!kvasir_setup_hybrid (model, error) || !check_causal (&keys, error) ||
      !read_window (hp, &keys, error) ||
      !kvasir_keys_get_size (&keys, "shortconv.l_cache", 64, &self->n_taps, error))
    return FALSE;
  if (self->n_taps < 2)
    return kvasir_keys_fail (&keys, error, "2 or more expected, %u found", self->n_taps);
  hp->can_keep_states = TRUE;
  hp->head_norms = KVASIR_HEAD_NORMS_RMS;
  kvasir_hparams_set_neox (hp);
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].has_attention)
      hp->layers[il].n_embd_r = (self->n_taps - 1) * hp->n_embd;
  return TRUE;
}

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  KvasirLayer *layers = model->layers;
  Lfm *self = model->extra;
  ShortConv *block = &self->blocks[il];
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 in[2] = { n_embd, 3 * n_embd }, conv[2] = { self->n_taps, n_embd };
  const gint64 out[2] = { n_embd, n_embd };

  if (model->hparams.layers[il].has_attention)
    return kvasir_load_attention (model, il, &layers[il].attention, error);
  return kvasir_load_matrix (model, il, "shortconv.in_proj.weight", in, &block->in, error) &&
         kvasir_weights_get_plain (model->weights, il, "shortconv.conv.weight", conv, &block->conv,
                                   error) &&
         kvasir_load_matrix (model, il, "shortconv.out_proj.weight", out, &block->out, error);
}

static KvasirTensor *
build_short_conv (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const Lfm *self = model->extra;
  const ShortConv *block = &self->blocks[il];
  const gint64 n_embd = model->hparams.n_embd;
  const KvasirStateSource state = kvasir_build_state_r (build, il, 0);
  KvasirGraph *g = build->graph;
  KvasirTensor *in = kvasir_graph_mul_mat (g, "conv_in", block->in, x, NULL);
  KvasirTensor *b = kvasir_graph_slice (g, in, 0, n_embd);
  KvasirTensor *c = kvasir_graph_slice (g, in, n_embd, n_embd);
  KvasirTensor *u = kvasir_graph_slice (g, in, 2 * n_embd, n_embd);

  x = kvasir_graph_mul (g, "conv_bu", b, u);
  x = kvasir_graph_conv (g, "conv", x, block->conv, NULL, &state);
  x = kvasir_graph_mul (g, "conv_gate", c, x);
  return kvasir_graph_mul_mat (g, "conv_out", block->out, x, NULL);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;

  if (model->hparams.layers[il].has_attention)
    return kvasir_build_self_attention (model, build, il, &layers[il].attention, x);
  return build_short_conv (model, build, il, x);
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SIGMOID, .normalised = TRUE } };

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

const KvasirArch kvasir_arch_lfm2 = {
  .name = "lfm2",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
  .output_norm_name = "token_embd_norm.weight",
};

const KvasirArch kvasir_arch_lfm2moe = {
  .name = "lfm2moe",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
  .output_norm_name = "token_embd_norm.weight",
};
