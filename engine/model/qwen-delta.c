/* qwen35, qwen35moe and qwen3next: gated delta nets and gated attention in turn. formats.md 5.3.
 *   x += mixer (rms x);  x += SwiGLU (rms x), or experts and a shared one times sigmoid (w x)
 *
 * Gated attention: the rows of attn_q are query and gate of each head; norms over the heads of q
 * and k; interleaved M-RoPE;  out (attention sigmoid gate).
 * Delta net, with the heads of q and k of width dk, those of v of width dv:
 *   (q, k, v) = silu (conv (qkv x));  q and k get length 1 per head
 *   beta = sigmoid (W_beta x);  alpha = a softplus (W_alpha x + b)
 *   S = S exp alpha;  S += beta (v - S k) k^T;  o = S q / sqrt dk
 *   out (rms o silu (gate x))
 * The head of v with number j goes with that of k with number j mod n_k, of qwen3next with j over
 * n_v / n_k. There W_beta and W_alpha lie in one matrix, by heads of k, and rope turns NEOX pairs.
 * A sequence keeps the last taps - 1 columns that went into the convolution, and S, k fastest. */
#include "engine/error.h"
#include "engine/model/hybrid.h"

typedef struct
{
  KvasirTensor *qkv;          /* [n_embd, 2 * dk * n_k_heads + n_inner] */
  KvasirTensor *gate;         /* [n_embd, n_inner] */
  KvasirTensor *conv;         /* [n_taps, 2 * dk * n_k_heads + n_inner] */
  KvasirTensor *beta, *alpha; /* [n_embd, n_v_heads]; NULL: both in one */
  KvasirTensor *both;         /* [n_embd, 2 * n_v_heads], for each head of k beta, then alpha */
  KvasirTensor *dt_bias, *a;  /* [n_v_heads] */
  KvasirTensor *norm;         /* [dv] */
  KvasirTensor *out;          /* [n_inner, n_embd] */
} DeltaBlock;

/* model->extra */
typedef struct
{
  guint n_taps;
  guint n_inner; /* dv * n_v_heads */
  guint head_dim_k;
  guint n_k_heads, n_v_heads;
  gboolean by_group;   /* qwen3next */
  DeltaBlock blocks[]; /* [n_layers] */
} Delta;

/* ---- numbers ---------------------------------------------------------------------------- */

static gint64
get_n_conv (const Delta *self)
{
  return 2 * (gint64) self->head_dim_k * self->n_k_heads + self->n_inner;
}

static gboolean
check_sizes (const Delta *self, KvasirKeys *keys, GError **error)
{
  if (self->n_taps < 2)
    {
      kvasir_keys_name (keys, "ssm.conv_kernel");
      return kvasir_keys_fail (keys, error, "2 or more expected, %u found", self->n_taps);
    }
  if (self->n_v_heads % self->n_k_heads != 0)
    {
      kvasir_keys_name (keys, "ssm.group_count");
      return kvasir_keys_fail (keys, error, "a divisor of %u value heads expected, %u found",
                               self->n_v_heads, self->n_k_heads);
    }
  if (self->n_inner % self->n_v_heads != 0)
    {
      kvasir_keys_name (keys, "ssm.time_step_rank");
      return kvasir_keys_fail (keys, error, "a divisor of %u expected, %u found", self->n_inner,
                               self->n_v_heads);
    }
  if ((self->n_taps - 1) * (guint64) get_n_conv (self) > KVASIR_MAX_WIDTH ||
      (guint64) self->head_dim_k * self->n_inner > KVASIR_MAX_WIDTH)
    {
      kvasir_keys_name (keys, "ssm.state_size");
      return kvasir_keys_fail (keys, error, "states of at most %u values expected, %u found",
                               KVASIR_MAX_WIDTH, self->head_dim_k);
    }
  return TRUE;
}

static gboolean
read_sizes (Delta *self, KvasirKeys *keys, GError **error)
{
  return kvasir_keys_get_size (keys, "ssm.conv_kernel", 64, &self->n_taps, error) &&
         kvasir_keys_get_size (keys, "ssm.inner_size", KVASIR_MAX_WIDTH, &self->n_inner, error) &&
         kvasir_keys_get_size (keys, "ssm.state_size", KVASIR_MAX_WIDTH, &self->head_dim_k,
                               error) &&
         kvasir_keys_get_size (keys, "ssm.group_count", KVASIR_MAX_WIDTH, &self->n_k_heads,
                               error) &&
         kvasir_keys_get_size (keys, "ssm.time_step_rank", KVASIR_MAX_WIDTH, &self->n_v_heads,
                               error) &&
         check_sizes (self, keys, error);
}

/* Which layers attend: every so many, or those that are not listed as recurrent. */
static gboolean
read_kinds (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  static const char *const list = "attention.recurrent_layers";
  gint64 is_recurrent[KVASIR_MAX_LAYERS];
  guint interval = 4;

  if (kvasir_keys_has (keys, list))
    {
      if (!kvasir_keys_get_array (keys, list, hp->n_layers, 1, is_recurrent, error))
        return FALSE;
    }
  else if (!kvasir_keys_get_size (keys, "full_attention_interval", KVASIR_MAX_LAYERS, &interval,
                                  error))
    return FALSE;
  else
    for (guint il = 0; il < hp->n_layers; il++)
      is_recurrent[il] = (il + 1) % interval != 0;
  for (guint il = 0; il < hp->n_layers; il++)
    hp->layers[il].has_attention = !is_recurrent[il];
  return TRUE;
}

static gboolean
read_rope (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  if (!kvasir_hparams_read_sections (hp, keys, error))
    return FALSE;
  hp->rope.interleaved = 1;
  kvasir_hparams_set_rope (hp, &hp->rope);
  return TRUE;
}

static gboolean
setup_delta (KvasirModel *model, gboolean by_group, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  Delta *self;

  if (!kvasir_hparams_skip_drafts (hp, &keys, error))
    return FALSE;
  self = g_malloc0 (sizeof *self + hp->n_layers * sizeof (DeltaBlock));
  model->extra = self;
  self->by_group = by_group;
  if (!read_kinds (hp, &keys, error) || !kvasir_setup_hybrid (model, error) ||
      !read_sizes (self, &keys, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].has_attention)
      {
        hp->layers[il].n_embd_r = (self->n_taps - 1) * (guint) get_n_conv (self);
        hp->layers[il].n_embd_s = self->head_dim_k * self->n_inner;
      }
  kvasir_hparams_fit_rows (hp);
  return TRUE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  model->hparams.can_keep_states = TRUE;
  return setup_delta (model, FALSE, error) && read_rope (&model->hparams, &keys, error);
}

static gboolean
setup_next (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return setup_delta (model, TRUE, error);
}

/* ---- tensors ---------------------------------------------------------------------------- */

static gboolean
load_attention (KvasirModel *model, gint il, KvasirAttentionBlock *block, GError **error)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  const gint64 n_embd = model->hparams.n_embd, n_heads = sizes->n_heads;
  const gint64 dk = sizes->head_dim_k, dv = sizes->head_dim_v, n_kv = sizes->n_kv_heads;
  const gint64 q[2] = { n_embd, 2 * dk * n_heads }, k[2] = { n_embd, dk * n_kv };
  const gint64 v[2] = { n_embd, dv * n_kv }, out[2] = { dv * n_heads, n_embd };

  return kvasir_load_matrix (model, il, "attn_q.weight", q, &block->wq, error) &&
         kvasir_load_matrix (model, il, "attn_k.weight", k, &block->wk, error) &&
         kvasir_load_matrix (model, il, "attn_v.weight", v, &block->wv, error) &&
         kvasir_load_vector (model, il, "attn_q_norm.weight", dk, &block->q_norm, error) &&
         kvasir_load_vector (model, il, "attn_k_norm.weight", dk, &block->k_norm, error) &&
         kvasir_load_matrix (model, il, "attn_output.weight", out, &block->wo, error);
}

/* Files of the first converters have q, k, v and gate of a head of k side by side. */
static gboolean
check_form (KvasirModel *model, gint il, GError **error)
{
  if (!kvasir_weights_has (model->weights, il, "ssm_in.weight"))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: blk.%d.attn_qkv.weight and blk.%d.attn_gate.weight supported, the older "
               "ssm_in.weight found",
               model->info.path, il, il);
  return FALSE;
}

static gboolean
load_rates (KvasirModel *model, gint il, DeltaBlock *block, GError **error)
{
  const Delta *self = model->extra;
  const gint64 heads[2] = { model->hparams.n_embd, self->n_v_heads };
  const gint64 both[2] = { model->hparams.n_embd, 2 * (gint64) self->n_v_heads };

  if (self->by_group)
    return kvasir_load_matrix (model, il, "ssm_ba.weight", both, &block->both, error);
  return kvasir_load_matrix (model, il, "ssm_beta.weight", heads, &block->beta, error) &&
         kvasir_load_matrix (model, il, "ssm_alpha.weight", heads, &block->alpha, error);
}

static gboolean
load_delta (KvasirModel *model, gint il, DeltaBlock *block, GError **error)
{
  const Delta *self = model->extra;
  const gint64 n_embd = model->hparams.n_embd, n_conv = get_n_conv (self);
  const gint64 n_inner = self->n_inner, n_heads = self->n_v_heads;
  const gint64 qkv[2] = { n_embd, n_conv }, gate[2] = { n_embd, n_inner };
  const gint64 conv[2] = { self->n_taps, n_conv }, out[2] = { n_inner, n_embd };

  return check_form (model, il, error) &&
         kvasir_load_matrix (model, il, "attn_qkv.weight", qkv, &block->qkv, error) &&
         kvasir_load_matrix (model, il, "attn_gate.weight", gate, &block->gate, error) &&
         kvasir_weights_get_plain (model->weights, il, "ssm_conv1d.weight", conv, &block->conv,
                                   error) &&
         load_rates (model, il, block, error) &&
         kvasir_load_vector (model, il, "ssm_dt.bias", n_heads, &block->dt_bias, error) &&
         kvasir_load_vector (model, il, "ssm_a", n_heads, &block->a, error) &&
         kvasir_load_vector (model, il, "ssm_norm.weight", n_inner / n_heads, &block->norm,
                             error) &&
         kvasir_load_matrix (model, il, "ssm_out.weight", out, &block->out, error);
}

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  Delta *self = model->extra;
  KvasirLayer *layer = (KvasirLayer *) model->layers + il;

  if (model->hparams.layers[il].has_attention)
    return load_attention (model, il, &layer->attention, error);
  return load_delta (model, il, &self->blocks[il], error);
}

/* ---- operations ------------------------------------------------------------------------- */

static KvasirTensor *
build_attention (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirAttentionBlock *block = &((const KvasirLayer *) model->layers)[il].attention;
  const gint64 dk = model->hparams.layers[il].head_dim_k;
  const float eps = model->hparams.rms_eps;
  KvasirAttend attend = { .scale = model->hparams.attention_scale };
  KvasirGraph *g = build->graph;
  KvasirTensor *q, *k, *gate;

  q = kvasir_graph_split (g, kvasir_graph_mul_mat (g, "q_gate", block->wq, x, NULL), 2 * dk);
  gate = kvasir_graph_slice (g, q, dk, dk);
  q = kvasir_graph_slice (g, q, 0, dk);
  k = kvasir_graph_split (g, kvasir_graph_mul_mat (g, "k", block->wk, x, NULL), dk);
  q = kvasir_graph_rms_norm (g, "q_norm", q, block->q_norm, eps);
  k = kvasir_graph_rms_norm (g, "k_norm", k, block->k_norm, eps);
  attend.q = kvasir_build_rope (model, build, "q_rope", il, q);
  attend.k = kvasir_build_rope (model, build, "k_rope", il, k);
  attend.v = kvasir_graph_mul_mat (g, "v", block->wv, x, NULL);
  x = kvasir_build_attend (model, build, il, &attend);
  gate = kvasir_graph_unary (g, "attn_gate", KVASIR_UNARY_SIGMOID, gate);
  x = kvasir_graph_mul (g, "attn_gated", x, kvasir_graph_join (g, gate));
  return kvasir_graph_mul_mat (g, "attn_out", block->wo, x, NULL);
}

/* [n_v_heads, n]: what goes into beta and alpha. */
static void
build_rates (KvasirModelBuild *build,
             const Delta *self,
             const DeltaBlock *block,
             KvasirTensor *x,
             KvasirTensor *rates[2])
{
  const gint64 n = self->n_v_heads / self->n_k_heads;
  KvasirGraph *g = build->graph;

  if (!self->by_group)
    {
      rates[0] = kvasir_graph_mul_mat (g, "beta_in", block->beta, x, NULL);
      rates[1] = kvasir_graph_mul_mat (g, "alpha", block->alpha, x, block->dt_bias);
      return;
    }
  x = kvasir_graph_split (g, kvasir_graph_mul_mat (g, "beta_alpha", block->both, x, NULL), 2 * n);
  for (guint i = 0; i < 2; i++)
    {
      KvasirTensor *part = kvasir_graph_slice (g, x, i * n, n);
      rates[i] =
          kvasir_graph_join (g, kvasir_graph_dense (g, i == 0 ? "beta_in" : "alpha_in", part));
    }
  rates[1] = kvasir_graph_add (g, "alpha", rates[1], block->dt_bias);
}

/* alpha, the logarithm of what is left of the state, of what goes into it: [n_v_heads, n] */
static KvasirTensor *
build_decay (KvasirModelBuild *build, const DeltaBlock *block, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  x = kvasir_graph_unary (g, "alpha_softplus", KVASIR_UNARY_SOFTPLUS, x);
  return kvasir_graph_mul (g, "decay", x, block->a);
}

static KvasirTensor *
build_delta (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const Delta *self = model->extra;
  const DeltaBlock *block = &self->blocks[il];
  const gint64 dk = self->head_dim_k, dv = self->n_inner / self->n_v_heads;
  const gint64 n_qk = dk * self->n_k_heads;
  const float eps = model->hparams.rms_eps;
  const KvasirStateSource r = kvasir_build_state_r (build, il, 0);
  KvasirStateSource s = kvasir_build_state_s (build, il);
  KvasirGraph *g = build->graph;
  KvasirTensor *z, *qkv, *q, *k, *v, *rates[2];

  s.by_group = self->by_group;
  z = kvasir_graph_mul_mat (g, "gate", block->gate, x, NULL);
  qkv = kvasir_graph_mul_mat (g, "qkv", block->qkv, x, NULL);
  qkv = kvasir_graph_conv (g, "qkv_conv", qkv, block->conv, NULL, &r);
  qkv = kvasir_graph_unary (g, "qkv_act", KVASIR_UNARY_SILU, qkv);
  q = kvasir_graph_split (g, kvasir_graph_slice (g, qkv, 0, n_qk), dk);
  k = kvasir_graph_split (g, kvasir_graph_slice (g, qkv, n_qk, n_qk), dk);
  v = kvasir_graph_split (g, kvasir_graph_slice (g, qkv, 2 * n_qk, self->n_inner), dv);

  build_rates (build, self, block, x, rates);
  KvasirTensor *const sources[5] = {
    kvasir_graph_l2_norm (g, "q_l2", q, eps), kvasir_graph_l2_norm (g, "k_l2", k, eps), v,
    build_decay (build, block, rates[1]),
    kvasir_graph_unary (g, "beta", KVASIR_UNARY_SIGMOID, rates[0])
  };
  x = kvasir_graph_delta (g, "delta", sources, &s);
  x = kvasir_graph_rms_norm (g, "ssm_norm", x, block->norm, eps);
  x = kvasir_graph_glu (g, "gated", KVASIR_UNARY_SILU, kvasir_graph_split (g, z, dv), x);
  return kvasir_graph_mul_mat (g, "ssm_out", block->out, kvasir_graph_join (g, x), NULL);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  if (model->hparams.layers[il].has_attention)
    return build_attention (model, build, il, x);
  return build_delta (model, build, il, x);
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SOFTMAX, .normalised = TRUE },
                                   .shared = KVASIR_SHARED_IF_ANY,
                                   .gates_shared = TRUE,
                                   .norm = "post_attention_norm.weight" };

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

/* Recurrent layers have heads in the file, too, that nobody uses. */
const KvasirArch kvasir_arch_qwen35 = {
  .name = "qwen35",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
};

const KvasirArch kvasir_arch_qwen35moe = {
  .name = "qwen35moe",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
};

const KvasirArch kvasir_arch_qwen3next = {
  .name = "qwen3next",
  .may_lack_attention = TRUE,
  .setup = setup_next,
  .load = load,
  .build = build_graph,
};
