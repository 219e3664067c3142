#include "engine/model/latent.h"

#include <math.h>

#include "engine/model/build.h"

/* Of heads; models have some hundreds. */
#define MAX_HEAD_WIDTH (1u << 14)

/* Scores count m^2 with m = 1 + 0.1 mscale ln factor; the file has 0.1 mscale. */
gboolean
kvasir_latent_settle_yarn (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  KvasirRopeParams rope = hp->rope;
  float log_multiplier = 0, m = 1;

  if (!kvasir_keys_get_float (&keys, "rope.scaling.yarn_log_multiplier", &log_multiplier, error))
    return FALSE;
  if (log_multiplier < 0)
    return kvasir_keys_fail (&keys, error, "0 or more expected, %g found", (double) log_multiplier);
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

/* One row for all heads, whose last numbers are turned. */
static gboolean
settle_rows (KvasirHparams *hp, const KvasirLatent *own, KvasirKeys *keys, GError **error)
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

/* A key and a value for each head, as plain decoders have them. */
static gboolean
settle_heads (KvasirHparams *hp, KvasirLatent *own, KvasirKeys *keys, GError **error)
{
  KvasirRopeParams rope = hp->rope;
  const guint n_rot = (guint) rope.n_rot;

  own->q_width = hp->head_dim_k;
  own->v_width = hp->head_dim_v;
  kvasir_keys_name (keys, "attention.key_length");
  if (own->q_width <= n_rot)
    return kvasir_keys_fail (keys, error, "above %u (rope.dimension_count) expected, %u found",
                             n_rot, own->q_width);
  kvasir_keys_name (keys, "attention.head_count_kv");
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].n_kv_heads != hp->layers[i].n_heads)
      return kvasir_keys_fail (keys, error,
                               "layer %u: %u (attention.head_count) expected, %u found", i,
                               hp->layers[i].n_heads, hp->layers[i].n_kv_heads);
  rope.offset = (gint32) (own->q_width - n_rot);
  kvasir_hparams_set_rope (hp, &rope);
  return TRUE;
}

gboolean
kvasir_latent_setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  KvasirLatent *own = g_malloc0 (sizeof *own + hp->n_layers * sizeof (KvasirLatentBlock));
  gboolean ok;

  model->extra = own;
  if (!kvasir_keys_get_count (&keys, "attention.q_lora_rank", KVASIR_MAX_WIDTH, &own->q_rank,
                              error) ||
      !kvasir_keys_get_size (&keys, "attention.kv_lora_rank", KVASIR_MAX_WIDTH, &own->rank, error))
    return FALSE;
  own->is_plain = !kvasir_keys_has (&keys, "attention.key_length_mla");
  if (own->is_plain)
    ok = settle_heads (hp, own, &keys, error);
  else
    ok = kvasir_keys_get_size (&keys, "attention.key_length_mla", MAX_HEAD_WIDTH, &own->q_width,
                               error) &&
         kvasir_keys_get_size (&keys, "attention.value_length_mla", MAX_HEAD_WIDTH, &own->v_width,
                               error) &&
         settle_rows (hp, own, &keys, error);
  hp->attention_scale = 1 / sqrtf ((float) own->q_width);
  return ok;
}

static gboolean
load_queries (KvasirModel *model, gint il, KvasirLatentBlock *mla, GError **error)
{
  const KvasirLatent *own = model->extra;
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

/* What turns rows into keys and values: of all heads in one, or a matrix of each. */
static gboolean
load_rows (KvasirModel *model, gint il, KvasirLatentBlock *mla, GError **error)
{
  const KvasirLatent *own = model->extra;
  KvasirWeights *w = model->weights;
  const gint64 n_heads = model->hparams.layers[il].n_heads;
  const gint64 n_plain = own->q_width - (gint64) model->hparams.rope.n_rot;
  const gint64 both[2] = { own->rank, (n_plain + own->v_width) * n_heads };
  const gint64 k_b[3] = { n_plain, own->rank, n_heads };
  const gint64 v_b[3] = { own->rank, own->v_width, n_heads };

  if (own->is_plain)
    return kvasir_load_matrix (model, il, "attn_kv_b.weight", both, &mla->wkv_b, error);
  return kvasir_weights_get_stack (w, il, "attn_k_b.weight", k_b, FALSE, &mla->wk_b, error) &&
         kvasir_weights_get_stack (w, il, "attn_v_b.weight", v_b, FALSE, &mla->wv_b, error);
}

gboolean
kvasir_load_latent (KvasirModel *model, gint il, GError **error)
{
  KvasirLatent *own = model->extra;
  KvasirLatentBlock *mla = &own->blocks[il];
  const gint64 n_embd = model->hparams.n_embd, n_rot = model->hparams.rope.n_rot;
  const gint64 n_heads = model->hparams.layers[il].n_heads;
  const gint64 kv[2] = { n_embd, own->rank + n_rot };
  const gint64 out[2] = { own->v_width * n_heads, n_embd };

  return load_queries (model, il, mla, error) &&
         kvasir_load_matrix (model, il, "attn_kv_a_mqa.weight", kv, &mla->wkv, error) &&
         kvasir_load_vector (model, il, "attn_kv_a_norm.weight", own->rank, &mla->kv_norm, error) &&
         load_rows (model, il, mla, error) &&
         kvasir_load_matrix (model, il, "attn_output.weight", out, &mla->wo, error);
}

/* [q_width, heads, n], not turned */
static KvasirTensor *
build_heads (const KvasirModel *model,
             KvasirModelBuild *step,
             const KvasirLatentBlock *mla,
             KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  KvasirGraph *g = step->graph;

  if (mla->wq_a != NULL)
    x = kvasir_graph_rms_norm (g, "q_a_norm", kvasir_graph_mul_mat (g, "q_a", mla->wq_a, x, NULL),
                               mla->q_norm, model->hparams.rms_eps);
  return kvasir_graph_split (g, kvasir_graph_mul_mat (g, "q", mla->wq, x, NULL), own->q_width);
}

/* [rank + n_rot, heads, n]: what each head looks for in a row. */
static KvasirTensor *
build_queries (const KvasirModel *model,
               KvasirModelBuild *step,
               guint il,
               const KvasirLatentBlock *mla,
               KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  const gint64 n_rot = model->hparams.rope.n_rot, n_plain = own->q_width - n_rot;
  KvasirGraph *g = step->graph;
  KvasirTensor *q = build_heads (model, step, mla, x), *plain;

  plain =
      kvasir_graph_mul_mat (g, "q_latent", mla->wk_b, kvasir_graph_slice (g, q, 0, n_plain), NULL);
  q = kvasir_graph_concat (g, "q_row", plain, kvasir_graph_slice (g, q, n_plain, n_rot), 0);
  return kvasir_build_rope (model, step, "q_rope", il, q);
}

/* [rank, n], and @turned [n_rot, n]: the parts of a row. */
static KvasirTensor *
build_parts (const KvasirModel *model,
             KvasirModelBuild *step,
             const KvasirLatentBlock *mla,
             KvasirTensor *x,
             KvasirTensor **turned)
{
  const KvasirLatent *own = model->extra;
  KvasirGraph *g = step->graph;
  KvasirTensor *kv = kvasir_graph_mul_mat (g, "kv", mla->wkv, x, NULL);

  *turned = kvasir_graph_slice (g, kv, own->rank, model->hparams.rope.n_rot);
  return kvasir_graph_rms_norm (g, "kv_norm", kvasir_graph_slice (g, kv, 0, own->rank),
                                mla->kv_norm, model->hparams.rms_eps);
}

/* [rank + n_rot, 1, n]: the row that is kept. */
static KvasirTensor *
build_row (const KvasirModel *model,
           KvasirModelBuild *step,
           guint il,
           const KvasirLatentBlock *mla,
           KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  KvasirGraph *g = step->graph;
  KvasirTensor *turned, *c = build_parts (model, step, mla, x, &turned);

  c = kvasir_graph_concat (g, "kv_row", c, turned, 0);
  return kvasir_build_rope (model, step, "k_rope", il,
                            kvasir_graph_split (g, c, own->rank + model->hparams.rope.n_rot));
}

static KvasirTensor *
build_with_rows (const KvasirModel *model,
                 KvasirModelBuild *step,
                 guint il,
                 const KvasirLatentBlock *mla,
                 KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  KvasirGraph *g = step->graph;
  const KvasirAttend attend = { .q = build_queries (model, step, il, mla, x),
                                .k = build_row (model, step, il, mla, x),
                                .scale = model->hparams.attention_scale };
  KvasirTensor *out = kvasir_build_attend (model, step, il, &attend);

  out = kvasir_graph_mul_mat (g, "v", mla->wv_b, kvasir_graph_split (g, out, own->rank), NULL);
  return kvasir_graph_join (g, out);
}

/* The part of the row that is turned is the same for all heads: [n_rot, heads, n] of @x [n_rot, n]
 * with as many heads as @like has. */
static KvasirTensor *
repeat (KvasirGraph *g, KvasirTensor *x, KvasirTensor *like)
{
  KvasirTensor *ones = kvasir_graph_scale (g, "k_ones", kvasir_graph_slice (g, like, 0, 1), 0, 1);

  x = kvasir_graph_dense (g, "k_turned", x);
  return kvasir_graph_spread (g, "k_heads", kvasir_graph_split (g, x, x->ne[0]), ones);
}

static KvasirTensor *
build_with_heads (const KvasirModel *model,
                  KvasirModelBuild *step,
                  guint il,
                  const KvasirLatentBlock *mla,
                  KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  const gint64 n_plain = own->q_width - (gint64) model->hparams.rope.n_rot;
  KvasirGraph *g = step->graph;
  KvasirTensor *q = build_heads (model, step, mla, x), *turned, *kv, *k;
  KvasirAttend attend = { .scale = model->hparams.attention_scale };

  kv = build_parts (model, step, mla, x, &turned);
  kv = kvasir_graph_split (g, kvasir_graph_mul_mat (g, "kv_heads", mla->wkv_b, kv, NULL),
                           n_plain + own->v_width);
  k = kvasir_graph_concat (g, "k", kvasir_graph_slice (g, kv, 0, n_plain), repeat (g, turned, q),
                           0);
  attend.q = kvasir_build_rope (model, step, "q_rope", il, q);
  attend.k = kvasir_build_rope (model, step, "k_rope", il, k);
  attend.v = kvasir_graph_dense (g, "v", kvasir_graph_slice (g, kv, n_plain, own->v_width));
  return kvasir_build_attend (model, step, il, &attend);
}

KvasirTensor *
kvasir_build_latent (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const KvasirLatent *own = model->extra;
  const KvasirLatentBlock *mla = &own->blocks[il];

  x = own->is_plain ? build_with_heads (model, step, il, mla, x)
                    : build_with_rows (model, step, il, mla, x);
  return kvasir_graph_mul_mat (step->graph, "attn_out", mla->wo, x, NULL);
}
