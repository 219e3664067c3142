/* deepseek: the first of its family, a plain decoder (llama.c) with experts + shared experts in all
 * but the first layers; the experts' softmax shares are taken as they are.
 *
 * deepseek2: DeepSeek V2, V3, R1, Kimi K2 and their kin. formats.md 5.3. Attention with a latent
 * row (MLA): all heads read one row c of kv_lora_rank numbers as key and as value, and each head
 * has matrices of its own that turn its query into the space of the row and the result out of it.
 * With n = rms x:
 *
 *   (c, p) = Wkv n;  c = rms c              p: the part that is turned by the position
 *   q = Wq n, or Wqb (rms (Wqa n))          of each head: (q', p') in front and behind
 *   query of head h = (Kh q', rope p'),  key = (c, rope p),  value = c
 *   x += Wo (Vh attn)                       scores times m^2 / sqrt (width of q)
 *   x += down (silu (gate n) * up n) in the first layers, then experts + shared expert
 *
 * m is yarn's magnitude for these models: their rope itself keeps the length of what it turns.
 */
#include <math.h>

#include "engine/error.h"
#include "engine/model/build.h"

typedef struct
{
  KvasirTensor *wq_a;   /* [n_embd, q_lora_rank]; NULL: queries come directly */
  KvasirTensor *q_norm; /* [q_lora_rank] */
  KvasirTensor *wq;     /* [q_lora_rank or n_embd, q_width * n_heads] */
  KvasirTensor *wkv;    /* [n_embd, rank + n_rot] */
  KvasirTensor *kv_norm;
  KvasirTensor *wk_b; /* [q_width - n_rot, rank, n_heads] */
  KvasirTensor *wv_b; /* [rank, v_width, n_heads] */
  KvasirTensor *wo;   /* [v_width * n_heads, n_embd] */
} MlaBlock;

typedef struct
{
  guint q_rank; /* 0: queries come directly */
  guint rank;   /* numbers of the row that are the value */
  guint q_width, v_width;
  MlaBlock blocks[]; /* [n_layers] */
} DeepseekHparams;

/* Scores count m^2 with m = 1 + 0.1 mscale ln factor; the file has 0.1 mscale. */
static gboolean
settle_yarn (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  KvasirRopeParams rope = hp->rope;
  float log_multiplier = 0, m = 1;

  if (!kvasir_keys_get_float (keys, "rope.scaling.yarn_log_multiplier", &log_multiplier, error))
    return FALSE;
  if (log_multiplier < 0)
    return kvasir_keys_fail (keys, error, "0 or more expected, %g found", (double) log_multiplier);
  if (rope.ext_factor == 0 || rope.freq_scale >= 1)
    return TRUE;
  if (log_multiplier > 0)
    {
      m = 1 + log_multiplier * logf (1 / rope.freq_scale);
      rope.attn_factor /= 1 + 0.1f * logf (1 / rope.freq_scale);
    }
  hp->attention_scale *= m * m;
  kvasir_hparams_set_rope (hp, &rope);
  return TRUE;
}

/* What each layer keeps: one row for all heads, whose last numbers are turned. */
static gboolean
settle_rows (KvasirHparams *hp, const DeepseekHparams *own, KvasirKeys *keys, GError **error)
{
  KvasirRopeParams rope = hp->rope;
  const guint n_rot = (guint) rope.n_rot;

  kvasir_keys_name (keys, "attention.key_length");
  if (hp->head_dim_k != own->rank + n_rot)
    return kvasir_keys_fail (keys, error,
                             "%u (attention.kv_lora_rank) + %u "
                             "(rope.dimension_count) expected, %u found",
                             own->rank, n_rot, hp->head_dim_k);
  kvasir_keys_name (keys, "attention.value_length");
  if (hp->head_dim_v != own->rank)
    return kvasir_keys_fail (keys, error, "%u (attention.kv_lora_rank) expected, %u found",
                             own->rank, hp->head_dim_v);
  kvasir_keys_name (keys, "attention.key_length_mla");
  if (own->q_width <= n_rot)
    return kvasir_keys_fail (keys, error, "above %u (rope.dimension_count) expected, %u found",
                             n_rot, own->q_width);
  for (guint i = 0; i < hp->n_layers; i++)
    {
      kvasir_keys_name (keys, "attention.head_count_kv");
      if (hp->layers[i].n_kv_heads != 1)
        return kvasir_keys_fail (keys, error, "layer %u: 1 expected, %u found", i,
                                 hp->layers[i].n_kv_heads);
      hp->layers[i].n_embd_v = 0;
    }
  rope.offset = (gint32) own->rank;
  kvasir_hparams_set_rope (hp, &rope);
  return TRUE;
}

static gboolean
read_own (DeepseekHparams *own, KvasirKeys *keys, GError **error)
{
  return kvasir_keys_get_count (keys, "attention.q_lora_rank", KVASIR_MAX_WIDTH, &own->q_rank,
                                error) &&
         kvasir_keys_get_size (keys, "attention.kv_lora_rank", KVASIR_MAX_WIDTH, &own->rank,
                               error) &&
         kvasir_keys_get_size (keys, "attention.key_length_mla", 1u << 14, &own->q_width, error) &&
         kvasir_keys_get_size (keys, "attention.value_length_mla", 1u << 14, &own->v_width, error);
}

/* Files of the first converters have the matrices of keys and values in one tensor, and a cache of
 * plain keys and values for each head. */
static gboolean
check_form (KvasirModel *model, GError **error)
{
  if (kvasir_gguf_find_tensor (model->gguf, "blk.0.attn_kv_b.weight") == NULL)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: blk.0.attn_k_b.weight and blk.0.attn_v_b.weight supported, the older "
               "attn_kv_b.weight found",
               model->info.path);
  return FALSE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  DeepseekHparams *own = g_malloc0 (sizeof *own + hp->n_layers * sizeof (MlaBlock));

  model->extra = own;
  if (!check_form (model, error) || !read_own (own, &keys, error) ||
      !settle_rows (hp, own, &keys, error))
    return FALSE;
  hp->attention_scale = 1 / sqrtf ((float) own->q_width);
  return settle_yarn (hp, &keys, error);
}

static gboolean
load_queries (KvasirModel *model, gint il, MlaBlock *mla, GError **error)
{
  const DeepseekHparams *own = model->extra;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 n_out = (gint64) own->q_width * model->hparams.layers[il].n_heads;
  const gint64 a[2] = { n_embd, own->q_rank }, b[2] = { own->q_rank, n_out };
  const gint64 direct[2] = { n_embd, n_out };

  if (own->q_rank == 0)
    return kvasir_load_matrix (model, il, "attn_q.weight", direct, &mla->wq, error);
  return kvasir_load_matrix (model, il, "attn_q_a.weight", a, &mla->wq_a, error) &&
         kvasir_load_vector (model, il, "attn_q_a_norm.weight", own->q_rank, &mla->q_norm, error) &&
         kvasir_load_matrix (model, il, "attn_q_b.weight", b, &mla->wq, error);
}

static gboolean
load_mla (KvasirModel *model, gint il, MlaBlock *mla, GError **error)
{
  const DeepseekHparams *own = model->extra;
  KvasirWeights *w = model->weights;
  const gint64 n_embd = model->hparams.n_embd, n_rot = model->hparams.rope.n_rot;
  const gint64 n_heads = model->hparams.layers[il].n_heads;
  const gint64 kv[2] = { n_embd, own->rank + n_rot };
  const gint64 k_b[3] = { own->q_width - n_rot, own->rank, n_heads };
  const gint64 v_b[3] = { own->rank, own->v_width, n_heads };
  const gint64 out[2] = { own->v_width * n_heads, n_embd };

  return load_queries (model, il, mla, error) &&
         kvasir_load_matrix (model, il, "attn_kv_a_mqa.weight", kv, &mla->wkv, error) &&
         kvasir_load_vector (model, il, "attn_kv_a_norm.weight", own->rank, &mla->kv_norm, error) &&
         kvasir_weights_get_stack (w, il, "attn_k_b.weight", k_b, FALSE, &mla->wk_b, error) &&
         kvasir_weights_get_stack (w, il, "attn_v_b.weight", v_b, FALSE, &mla->wv_b, error) &&
         kvasir_load_matrix (model, il, "attn_output.weight", out, &mla->wo, error);
}

static const KvasirNetForm net = {
  .kind = KVASIR_UNARY_SILU, .has_gate = TRUE, .counts_dense = TRUE, .shared = KVASIR_SHARED_EACH
};

static gboolean
load (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirLayer *layers = g_new0 (KvasirLayer, hp->n_layers);
  DeepseekHparams *own = model->extra;

  model->layers = layers;
  for (gint il = 0; il < (gint) hp->n_layers; il++)
    if (!kvasir_load_vector (model, il, "attn_norm.weight", hp->n_embd, &layers[il].attn_norm,
                             error) ||
        !load_mla (model, il, &own->blocks[il], error) ||
        !kvasir_load_net (model, il, &net, &layers[il], error))
      return FALSE;
  return TRUE;
}

/* [rank + n_rot, heads, n]: what each head looks for in a row. */
static KvasirTensor *
build_queries (const KvasirModel *model,
               KvasirModelBuild *step,
               guint il,
               const MlaBlock *mla,
               KvasirTensor *x)
{
  const DeepseekHparams *own = model->extra;
  const gint64 n_rot = model->hparams.rope.n_rot, n_plain = own->q_width - n_rot;
  KvasirGraph *g = step->graph;
  KvasirTensor *q, *plain;

  if (mla->wq_a != NULL)
    x = kvasir_graph_rms_norm (g, "q_a_norm", kvasir_graph_mul_mat (g, "q_a", mla->wq_a, x, NULL),
                               mla->q_norm, model->hparams.rms_eps);
  q = kvasir_graph_split (g, kvasir_graph_mul_mat (g, "q", mla->wq, x, NULL), own->q_width);
  plain =
      kvasir_graph_mul_mat (g, "q_latent", mla->wk_b, kvasir_graph_slice (g, q, 0, n_plain), NULL);
  q = kvasir_graph_concat (g, "q_row", plain, kvasir_graph_slice (g, q, n_plain, n_rot), 0);
  return kvasir_build_rope (model, step, "q_rope", il, q);
}

/* [rank + n_rot, 1, n]: the row that is kept. */
static KvasirTensor *
build_rows (const KvasirModel *model,
            KvasirModelBuild *step,
            guint il,
            const MlaBlock *mla,
            KvasirTensor *x)
{
  const DeepseekHparams *own = model->extra;
  const gint64 n_rot = model->hparams.rope.n_rot;
  KvasirGraph *g = step->graph;
  KvasirTensor *kv = kvasir_graph_mul_mat (g, "kv", mla->wkv, x, NULL);
  KvasirTensor *c = kvasir_graph_rms_norm (g, "kv_norm", kvasir_graph_slice (g, kv, 0, own->rank),
                                           mla->kv_norm, model->hparams.rms_eps);

  c = kvasir_graph_concat (g, "kv_row", c, kvasir_graph_slice (g, kv, own->rank, n_rot), 0);
  return kvasir_build_rope (model, step, "k_rope", il,
                            kvasir_graph_split (g, c, own->rank + n_rot));
}

static KvasirTensor *
build_attention (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const DeepseekHparams *own = model->extra;
  const MlaBlock *mla = &own->blocks[il];
  KvasirGraph *g = step->graph;
  const KvasirAttend attend = { .q = build_queries (model, step, il, mla, x),
                                .k = build_rows (model, step, il, mla, x),
                                .scale = model->hparams.attention_scale };
  KvasirTensor *out = kvasir_build_attend (model, step, il, &attend);

  out = kvasir_graph_mul_mat (g, "v", mla->wv_b, kvasir_graph_split (g, out, own->rank), NULL);
  return kvasir_graph_mul_mat (g, "attn_out", mla->wo, kvasir_graph_join (g, out), NULL);
}

const KvasirArch kvasir_arch_deepseek = {
  .name = "deepseek",
  .load = kvasir_load_layers,
  .net = &net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_deepseek2 = {
  .name = "deepseek2",
  .setup = setup,
  .load = load,
  .build = kvasir_build_layers,
  .build_attention = build_attention,
};
