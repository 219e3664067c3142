/* rwkv7. formats.md 5.3; ln: layer norm with weight and bias, n' the n of the token before.
 *   x = ln (embedding);  per layer  x += time mix (ln x);  x += channel mix (ln x);  logits of ln x
 *
 * Time mix of n: six inputs n + (n' - n) lerp, for r, w, k, v, a and g.
 *   r, k, v = matrices;  w = exp (-0.606531 sigmoid (w0 + w2 tanh (w1 in_w)))
 *   a = sigmoid (a0 + a2 a1 in_a);  g = g2 sigmoid (g1 in_g)
 *   v += (v of the first layer - v) sigmoid (v0 + v2 v1 in_v), but for the first layer
 *   kappa = k k_k with length 1 per head;  k = k (1 + k_a (a - 1))
 *   S and o by KVASIR_OP_WKV7;  out (g (group norm of o + v sum (k r r_k)))
 * Channel mix of n: value (max (0, key (n + (n' - n) lerp_k))^2).
 *
 * A sequence keeps the last n of both mixes, attention's first, and S, key fastest. */
#include <string.h>

#include "engine/model/build.h"
#include "engine/model/layers.h"

/* The least logarithm of the decay, and the epsilons of the norms inside. */
#define DECAY_SCALE -0.606531f
#define GROUP_EPS 64e-5f
#define KAPPA_EPS 1e-12f

/* The order of the rows of lerp_fused. */
enum
{
  LERP_R,
  LERP_W,
  LERP_K,
  LERP_V,
  LERP_A,
  LERP_G,
  N_LERPS
};

/* bias + up (f (down x)) */
typedef struct
{
  KvasirTensor *down; /* [n_embd, rank] */
  KvasirTensor *up;   /* [rank, n_embd] */
  KvasirTensor *bias; /* [n_embd] (nullable) */
} Lora;

typedef struct
{
  KvasirTensor *attn_norm, *attn_norm_bias; /* [n_embd] */
  KvasirTensor *ffn_norm, *ffn_norm_bias;   /* [n_embd] */
  KvasirTensor *lerps[N_LERPS];             /* [n_embd] */
  KvasirTensor *receptance, *key, *value;   /* [n_embd, n_embd] */
  Lora w, a, v, g;                          /* v: unused in the first layer */
  KvasirTensor *k_k, *k_a, *r_k;            /* [n_embd] */
  KvasirTensor *group_norm, *group_bias;    /* [n_embd] */
  KvasirTensor *out;                        /* [n_embd, n_embd] */
  KvasirTensor *lerp_k;                     /* [n_embd] */
  KvasirTensor *ffn_key;                    /* [n_embd, n_ff] */
  KvasirTensor *ffn_value;                  /* [n_ff, n_embd] */
} Layer;

/* model->extra */
typedef struct
{
  guint head_dim;
  guint rank_w, rank_a, rank_v, rank_g;
  KvasirTensor *embd_norm, *embd_norm_bias; /* [n_embd] */
} Rwkv;

/* ---- numbers ---------------------------------------------------------------------------- */

static gboolean
read_keys (KvasirModel *model, Rwkv *self, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint n_shifts = 2;

  if (!kvasir_keys_get_size (&keys, "token_shift_count", 1u << 16, &n_shifts, error))
    return FALSE;
  if (n_shifts != 2)
    return kvasir_keys_refuse (&keys, error, "2 expected, %u found", n_shifts);
  if (!kvasir_keys_get_size (&keys, "attention.decay_lora_rank", KVASIR_MAX_WIDTH, &self->rank_w,
                             error) ||
      !kvasir_keys_get_size (&keys, "attention.iclr_lora_rank", KVASIR_MAX_WIDTH, &self->rank_a,
                             error) ||
      !kvasir_keys_get_size (&keys, "attention.value_residual_mix_lora_rank", KVASIR_MAX_WIDTH,
                             &self->rank_v, error) ||
      !kvasir_keys_get_size (&keys, "attention.gate_lora_rank", KVASIR_MAX_WIDTH, &self->rank_g,
                             error) ||
      !kvasir_keys_get_size (&keys, "wkv.head_size", KVASIR_MAX_WIDTH, &self->head_dim, error))
    return FALSE;
  if (model->hparams.n_embd % self->head_dim != 0)
    return kvasir_keys_fail (&keys, error, "a divisor of %u expected, %u found",
                             model->hparams.n_embd, self->head_dim);
  if ((guint64) model->hparams.n_embd * self->head_dim > KVASIR_MAX_WIDTH)
    return kvasir_keys_fail (&keys, error, "a state of at most %u values expected, %u a row found",
                             KVASIR_MAX_WIDTH, self->head_dim);
  return TRUE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  Rwkv *self = g_new0 (Rwkv, 1);

  model->extra = self;
  if (!read_keys (model, self, error))
    return FALSE;
  hp->memory_class = KVASIR_MEMORY_RECURRENT;
  hp->has_layer_norms = TRUE;
  for (guint il = 0; il < hp->n_layers; il++)
    {
      hp->layers[il].has_attention = FALSE;
      hp->layers[il].n_embd_r = 2 * hp->n_embd;
      hp->layers[il].n_embd_s = hp->n_embd * self->head_dim;
    }
  kvasir_hparams_fit_rows (hp);
  return TRUE;
}

/* ---- tensors ---------------------------------------------------------------------------- */

/* A norm's weight, named @name with ".weight" behind it, and its bias. */
static gboolean
load_norm (KvasirModel *model,
           gint il,
           const char *name,
           KvasirTensor **weight,
           KvasirTensor **bias,
           GError **error)
{
  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL);
  g_autofree char *bias_name = g_strconcat (name, ".bias", NULL);
  const gint64 n_embd = model->hparams.n_embd;

  return kvasir_load_vector (model, il, weight_name, n_embd, weight, error) &&
         kvasir_load_vector (model, il, bias_name, n_embd, bias, error);
}

/* time_mix_ with @letter and 1 (down), 2 (up) and, but for g, 0 (bias). */
static gboolean
load_lora (KvasirModel *model, gint il, char letter, gint64 rank, Lora *lora, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 down[2] = { n_embd, rank }, up[2] = { rank, n_embd };
  char name[] = "time_mix_??.weight";
  char *suffix = strchr (name, '?');

  suffix[0] = letter;
  suffix[1] = '1';
  if (!kvasir_load_matrix (model, il, name, down, &lora->down, error))
    return FALSE;
  suffix[1] = '2';
  if (!kvasir_load_matrix (model, il, name, up, &lora->up, error))
    return FALSE;
  suffix[1] = '0';
  return letter == 'g' || kvasir_load_vector (model, il, name, n_embd, &lora->bias, error);
}

static gboolean
load_loras (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const Rwkv *self = model->extra;

  /* The first layer has these in files, too. */
  if (il == 0)
    kvasir_weights_leave (model->weights, il, "time_mix_v");
  return load_lora (model, il, 'w', self->rank_w, &layer->w, error) &&
         load_lora (model, il, 'a', self->rank_a, &layer->a, error) &&
         (il == 0 || load_lora (model, il, 'v', self->rank_v, &layer->v, error)) &&
         load_lora (model, il, 'g', self->rank_g, &layer->g, error);
}

static gboolean
load_lerps (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const gint64 ne[2] = { model->hparams.n_embd, N_LERPS };
  KvasirTensor *whole;

  if (!kvasir_weights_get_plain (model->weights, il, "time_mix_lerp_fused.weight", ne, &whole,
                                 error))
    return FALSE;
  for (guint i = 0; i < N_LERPS; i++)
    layer->lerps[i] = kvasir_weights_slice (model->weights, whole, i, 1);
  return TRUE;
}

static gboolean
load_time_mix (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 square[2] = { n_embd, n_embd };

  return load_lerps (model, il, layer, error) &&
         kvasir_load_matrix (model, il, "time_mix_receptance.weight", square, &layer->receptance,
                             error) &&
         kvasir_load_matrix (model, il, "time_mix_key.weight", square, &layer->key, error) &&
         kvasir_load_matrix (model, il, "time_mix_value.weight", square, &layer->value, error) &&
         load_loras (model, il, layer, error) &&
         kvasir_load_vector (model, il, "time_mix_k_k.weight", n_embd, &layer->k_k, error) &&
         kvasir_load_vector (model, il, "time_mix_k_a.weight", n_embd, &layer->k_a, error) &&
         kvasir_load_vector (model, il, "time_mix_r_k.weight", n_embd, &layer->r_k, error) &&
         load_norm (model, il, "time_mix_ln", &layer->group_norm, &layer->group_bias, error) &&
         kvasir_load_matrix (model, il, "time_mix_output.weight", square, &layer->out, error);
}

static gboolean
load_channel_mix (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd, n_ff = model->hparams.layers[il].n_ff;
  const gint64 key[2] = { n_embd, n_ff }, value[2] = { n_ff, n_embd };
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (n_ff == 0)
    {
      kvasir_keys_name (&keys, "feed_forward_length");
      return kvasir_keys_fail (&keys, error, "layer %d: 1 or more expected, 0 found", il);
    }
  return kvasir_load_vector (model, il, "channel_mix_lerp_k.weight", n_embd, &layer->lerp_k,
                             error) &&
         kvasir_load_matrix (model, il, "channel_mix_key.weight", key, &layer->ffn_key, error) &&
         kvasir_load_matrix (model, il, "channel_mix_value.weight", value, &layer->ffn_value,
                             error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  Rwkv *self = model->extra;
  Layer *layers = g_new0 (Layer, model->hparams.n_layers);

  model->layers = layers;
  if (!load_norm (model, -1, "token_embd_norm", &self->embd_norm, &self->embd_norm_bias, error))
    return FALSE;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      Layer *layer = &layers[il];
      if (!load_norm (model, il, "attn_norm", &layer->attn_norm, &layer->attn_norm_bias, error) ||
          !load_time_mix (model, il, layer, error) ||
          !load_norm (model, il, "attn_norm_2", &layer->ffn_norm, &layer->ffn_norm_bias, error) ||
          !load_channel_mix (model, il, layer, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- operations ------------------------------------------------------------------------- */

/* n' - n; @offset: where the last n lies in the state. */
static KvasirTensor *
build_shift (KvasirModelBuild *build, guint il, KvasirTensor *x, guint offset)
{
  const KvasirStateSource state = kvasir_build_state_r (build, il, offset);
  KvasirGraph *g = build->graph;
  KvasirTensor *before = kvasir_graph_conv (g, "shift", x, NULL, NULL, &state);

  return kvasir_graph_add (g, "shift_diff", before, kvasir_graph_scale (g, "minus", x, -1, 0));
}

static KvasirTensor *
build_lora (KvasirModelBuild *build, const Lora *lora, KvasirUnary kind, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  x = kvasir_graph_mul_mat (g, "lora_down", lora->down, x, NULL);
  return kvasir_graph_mul_mat (g, "lora_up", lora->up, kvasir_graph_unary (g, "lora_act", kind, x),
                               lora->bias);
}

/* sigmoid (bias + up (down x)) */
static KvasirTensor *
build_share (KvasirModelBuild *build, const Lora *lora, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  x = kvasir_graph_mul_mat (g, "lora_down", lora->down, x, NULL);
  x = kvasir_graph_mul_mat (g, "lora_up", lora->up, x, lora->bias);
  return kvasir_graph_unary (g, "share", KVASIR_UNARY_SIGMOID, x);
}

static KvasirTensor *
build_decay (KvasirModelBuild *build, const Lora *lora, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  x = build_lora (build, lora, KVASIR_UNARY_TANH, x);
  x = kvasir_graph_unary (g, "decay_share", KVASIR_UNARY_SIGMOID, x);
  x = kvasir_graph_scale (g, "decay_log", x, DECAY_SCALE, 0);
  return kvasir_graph_unary (g, "decay", KVASIR_UNARY_EXP, x);
}

/* v + (@first - v) share */
static KvasirTensor *
mix_value (KvasirModelBuild *build, KvasirTensor *v, KvasirTensor *first, KvasirTensor *share)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *diff =
      kvasir_graph_add (g, "v_diff", first, kvasir_graph_scale (g, "minus", v, -1, 0));
  return kvasir_graph_add (g, "v_mixed", v, kvasir_graph_mul (g, "v_part", diff, share));
}

/* k (1 + k_a (a - 1)) */
static KvasirTensor *
temper_key (KvasirModelBuild *build, const Layer *layer, KvasirTensor *k, KvasirTensor *a)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *y = kvasir_graph_scale (g, "a_less", a, 1, -1);

  y = kvasir_graph_mul (g, "k_a", y, layer->k_a);
  return kvasir_graph_mul (g, "k_tempered", k, kvasir_graph_scale (g, "k_share", y, 1, 1));
}

/* v times the sum of k r r_k over each head: [n_embd, n]. The sum is a product with a matrix of one
 * row per head. */
static KvasirTensor *
build_bonus (KvasirModelBuild *build, const Layer *layer, KvasirTensor *const sources[6])
{
  KvasirGraph *g = build->graph;
  const gint64 d = sources[0]->ne[0];
  KvasirTensor *rows = kvasir_graph_split (g, kvasir_graph_split (g, layer->r_k, d), d);
  KvasirTensor *y = kvasir_graph_mul (g, "kr", sources[2], sources[0]);

  y = kvasir_graph_mul_mat (g, "bonus", rows, y, NULL);
  return kvasir_graph_join (g, kvasir_graph_mul (g, "bonus_v", sources[3], y));
}

/* What the six inputs of @x become. @v_first: of the first layer; its own there. */
static void
build_sources (const KvasirModel *model,
               KvasirModelBuild *build,
               guint il,
               KvasirTensor *const inputs[N_LERPS],
               KvasirTensor **v_first,
               KvasirTensor *sources[6])
{
  const Layer *layer = (const Layer *) model->layers + il;
  const Rwkv *self = model->extra;
  KvasirGraph *g = build->graph;
  KvasirTensor *k, *v, *a, *kappa;

  k = kvasir_graph_mul_mat (g, "k", layer->key, inputs[LERP_K], NULL);
  v = kvasir_graph_mul_mat (g, "v", layer->value, inputs[LERP_V], NULL);
  a = build_share (build, &layer->a, inputs[LERP_A]);
  if (il == 0)
    *v_first = v;
  else
    v = mix_value (build, v, *v_first, build_share (build, &layer->v, inputs[LERP_V]));
  kappa = kvasir_graph_split (g, kvasir_graph_mul (g, "k_scaled", k, layer->k_k), self->head_dim);
  sources[0] = kvasir_graph_mul_mat (g, "r", layer->receptance, inputs[LERP_R], NULL);
  sources[1] = build_decay (build, &layer->w, inputs[LERP_W]);
  sources[2] = temper_key (build, layer, k, a);
  sources[3] = v;
  sources[4] = kvasir_graph_join (g, kvasir_graph_l2_norm (g, "kappa", kappa, KAPPA_EPS));
  sources[5] = a;
  for (guint i = 0; i < 6; i++)
    sources[i] = kvasir_graph_split (g, sources[i], self->head_dim);
}

static KvasirTensor *
build_time_mix (const KvasirModel *model,
                KvasirModelBuild *build,
                guint il,
                KvasirTensor *x,
                KvasirTensor **v_first)
{
  const Layer *layer = (const Layer *) model->layers + il;
  const KvasirStateSource state = kvasir_build_state_s (build, il);
  KvasirGraph *g = build->graph;
  KvasirTensor *inputs[N_LERPS], *sources[6], *y, *gate;
  KvasirTensor *diff = build_shift (build, il, x, 0);

  for (guint i = 0; i < N_LERPS; i++)
    {
      KvasirTensor *part = kvasir_graph_mul (g, "lerp_diff", diff, layer->lerps[i]);
      inputs[i] = kvasir_graph_add (g, "lerp", x, part);
    }
  build_sources (model, build, il, inputs, v_first, sources);
  gate = build_lora (build, &layer->g, KVASIR_UNARY_SIGMOID, inputs[LERP_G]);
  y = kvasir_graph_wkv7 (g, "wkv", sources, &state);
  y = kvasir_graph_join (g, kvasir_graph_norm (g, "group_norm", y, NULL, NULL, GROUP_EPS));
  y = kvasir_graph_mul (g, "group_scaled", y, layer->group_norm);
  y = kvasir_graph_add (g, "group_moved", y, layer->group_bias);
  y = kvasir_graph_add (g, "wkv_bonus", y, build_bonus (build, layer, sources));
  y = kvasir_graph_mul (g, "wkv_gated", y, gate);
  return kvasir_graph_mul_mat (g, "time_mix", layer->out, y, NULL);
}

/* Behind the shift of the last layer tokens no longer meet. */
static KvasirTensor *
build_channel_mix (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const Layer *layer = (const Layer *) model->layers + il;
  KvasirGraph *g = build->graph;
  KvasirTensor *y, *diff;

  y = kvasir_build_norm (model, build, "ffn_norm", x, layer->ffn_norm, layer->ffn_norm_bias);
  diff = build_shift (build, il, y, model->hparams.n_embd);
  y = kvasir_graph_add (g, "ffn_lerp", y, kvasir_graph_mul (g, "ffn_diff", diff, layer->lerp_k));
  if (il == model->hparams.n_layers - 1)
    {
      kvasir_build_begin_outputs (build);
      x = kvasir_build_take_outputs (build, x);
      y = kvasir_build_take_outputs (build, y);
    }
  y = kvasir_graph_mul_mat (g, "ffn_key", layer->ffn_key, y, NULL);
  y = kvasir_graph_unary (g, "ffn_act", KVASIR_UNARY_RELU_SQR, y);
  y = kvasir_graph_mul_mat (g, "ffn_out", layer->ffn_value, y, NULL);
  return kvasir_graph_add (g, "ffn_res", x, y);
}

static void
build_graph (const KvasirModel *model, KvasirModelBuild *build)
{
  const Rwkv *self = model->extra;
  const Layer *layers = model->layers;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_build_embedding (model, build), *v_first = NULL;

  x = kvasir_build_norm (model, build, "embd_norm", x, self->embd_norm, self->embd_norm_bias);
  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      KvasirTensor *y;

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_build_norm (model, build, "attn_norm", x, layers[il].attn_norm,
                             layers[il].attn_norm_bias);
      y = build_time_mix (model, build, il, y, &v_first);
      x = kvasir_graph_add (g, "attn_res", x, y);
      x = build_channel_mix (model, build, il, x);
    }
  kvasir_build_logits (model, build, x);
}

const KvasirArch kvasir_arch_rwkv7 = {
  .name = "rwkv7",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
};
