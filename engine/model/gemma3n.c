/* gemma3n. formats.md 5.3.
 *
 *   Four streams s_0 ... s_3 of a token run side by side:
 *     s_0 = x0 = E sqrt (n_embd); s_k = A_k x0 with the length of x0
 *     p as in gemma-parts.h
 *   modal (u) = tanh (router (rms u) / n_embd), a number for each stream
 *   in each layer
 *     s_j += sum over i of (C_p modal (s_0))_(i + 4 j) s_i          predict
 *     a = s_0; n = rms a
 *     l = n + rms_post (R L n)                                      laurel
 *     t = (a + rms_post (Wo attention (n)) + l) / sqrt (2)          scale 1; norms on q, k and v
 *     f = down (gelu (g) * up), g = gate (rms t)                    g of the first ten layers: only
 *                                                                   what is above mean + z
 * deviation y = t + rms_post (f) s_k += ((C_c modal (y))_k + 1) (y - a) correct s_1 ... s_3 +=
 * inlet (correct_scale * s_0, p) x = (s_0 + sum over k of U_k s_k with the length of s_0) / 4
 *   logits = cap tanh (E rms x / cap)
 *
 * Streams are kept as [n_embd, 4, n]. Layers behind the first twenty read the rows of the last two
 * of those. */
#include <math.h>

#include "engine/model/gemma-parts.h"
#include "engine/model/sliding.h"

#define N_STREAMS 4
/* Layers that keep rows where a file does not say how many. */
#define N_OWN 20
/* Layers whose gates are sparse, and how far above the mean a gate opens: 95 of 100 are closed. */
#define N_SPARSE 10
#define SPARSE_Z 1.6448533535003662f
/* Only keeps a length of 0 from being divided by. */
#define LENGTH_EPS 1e-30f

/* KvasirModel.extra */
typedef struct
{
  KvasirGemma common;
  KvasirTensor *split; /* altup_proj [n_embd, n_embd, 3] */
  KvasirTensor *merge; /* altup_unembd_proj [n_embd, n_embd, 3] */
} Extra;

typedef struct
{
  KvasirTensor *router;        /* [n_embd, 4] */
  KvasirTensor *router_norm;   /* [n_embd] */
  KvasirTensor *predict;       /* [4, 16] */
  KvasirTensor *correct;       /* [4, 4] */
  KvasirTensor *correct_scale; /* [n_embd] */
} Altup;

typedef struct
{
  KvasirTensor *l, *r; /* [n_embd, rank], [rank, n_embd] */
  KvasirTensor *norm;  /* [n_embd] */
} Laurel;

typedef struct
{
  KvasirLayer plain;
  KvasirGemmaPostNorms post;
  KvasirGemmaInlet inlet;
  Altup altup;
  Laurel laurel;
} Layer;

/* The operations below are written for the numbers that all files have. */
static gboolean
check_number (KvasirKeys *keys, const char *name, guint expected, GError **error)
{
  guint found = expected;

  if (!kvasir_keys_get_count (keys, name, KVASIR_MAX_WIDTH, &found, error))
    return FALSE;
  return found == expected ||
         kvasir_keys_refuse (keys, error, "%u supported, %u found", expected, found);
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .period = 5 };
  KvasirHparams *hp = &model->hparams;
  const guint n_shared = hp->n_layers > N_OWN ? hp->n_layers - N_OWN : 0;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  Extra *extra = g_new0 (Extra, 1);

  model->extra = extra;
  extra->common.norms_values = TRUE;
  extra->common.logit_cap = 30;
  extra->common.n_per_layer = 256;
  hp->attention_scale = 1;
  kvasir_hparams_set_neox (hp);
  if (!check_number (&keys, "altup.num_inputs", N_STREAMS, error) ||
      !check_number (&keys, "altup.active_idx", 0, error) ||
      !kvasir_gemma_read (model, &extra->common, error))
    return FALSE;
  if (!kvasir_keys_get_size (&keys, "embedding_length_per_layer_input", KVASIR_MAX_WIDTH,
                             &extra->common.n_per_layer, error))
    return FALSE;
  return kvasir_read_sliding (model, &sliding, error) &&
         kvasir_read_sliding_rope (model, 10000, error) &&
         kvasir_read_sharing (model, n_shared, error);
}

static gboolean
load_altup (KvasirModel *model, gint il, Altup *altup, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd, n = N_STREAMS;
  const gint64 router[2] = { n_embd, n }, predict[2] = { n, n * n }, correct[2] = { n, n };

  return kvasir_load_matrix (model, il, "altup_router.weight", router, &altup->router, error) &&
         kvasir_load_vector (model, il, "altup_router_norm.weight", n_embd, &altup->router_norm,
                             error) &&
         kvasir_load_matrix (model, il, "altup_predict_coef.weight", predict, &altup->predict,
                             error) &&
         kvasir_load_matrix (model, il, "altup_correct_coef.weight", correct, &altup->correct,
                             error) &&
         kvasir_load_vector (model, il, "altup_correct_scale.weight", n_embd, &altup->correct_scale,
                             error);
}

static gboolean
load_laurel (KvasirModel *model, gint il, Laurel *laurel, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  /* The rank is in no key: both matrices have to agree on it. */
  const gint64 rank = kvasir_weights_get_extent (model->weights, il, "laurel_l.weight", 1);
  const gint64 l[2] = { n_embd, MAX (rank, 1) }, r[2] = { MAX (rank, 1), n_embd };

  return kvasir_load_matrix (model, il, "laurel_l.weight", l, &laurel->l, error) &&
         kvasir_load_matrix (model, il, "laurel_r.weight", r, &laurel->r, error) &&
         kvasir_load_vector (model, il, "laurel_post_norm.weight", n_embd, &laurel->norm, error);
}

static gboolean
load_layer (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  return kvasir_gemma_load_layer (model, il, &layer->plain, &layer->post, error) &&
         kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, TRUE, &layer->plain.ffn,
                          error) &&
         kvasir_gemma_load_inlet (model, il, &layer->inlet, error) &&
         load_altup (model, il, &layer->altup, error) &&
         load_laurel (model, il, &layer->laurel, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 ne[3] = { n_embd, n_embd, N_STREAMS - 1 };
  Layer *layers = g_new0 (Layer, model->hparams.n_layers);
  Extra *extra = model->extra;

  model->layers = layers;
  if (!kvasir_gemma_load_layer_values (model, &extra->common, error) ||
      !kvasir_weights_get_stack (model->weights, -1, "altup_proj.weight", ne, FALSE, &extra->split,
                                 error) ||
      !kvasir_weights_get_stack (model->weights, -1, "altup_unembd_proj.weight", ne, FALSE,
                                 &extra->merge, error))
    return FALSE;
  for (guint il = 0; il < model->hparams.n_layers; il++)
    if (!load_layer (model, (gint) il, &layers[il], error))
      return FALSE;
  return TRUE;
}

/* [n_embd, 1, n] of [n_embd, n]. */
static KvasirTensor *
as_stream (KvasirGraph *g, KvasirTensor *x)
{
  return kvasir_graph_split (g, x, x->ne[0]);
}

/* @x [n_embd, 1, n] three times: [n_embd, 3, n]. */
static KvasirTensor *
repeat (KvasirGraph *g, KvasirTensor *x)
{
  return kvasir_graph_concat (g, "three", kvasir_graph_concat (g, "two", x, x, 1), x, 1);
}

static KvasirTensor *
build_streams (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x)
{
  const Extra *extra = model->extra;
  KvasirGraph *g = build->graph;
  KvasirTensor *first = as_stream (g, x);
  KvasirTensor *like = repeat (g, first);
  KvasirTensor *others = kvasir_graph_mul_mat (g, "altup_split", extra->split, like, NULL);

  others = kvasir_graph_match_norm (g, "altup_others", others, like, LENGTH_EPS);
  return kvasir_graph_concat (g, "streams", first, others, 1);
}

/* [4, n] */
static KvasirTensor *
build_modalities (const KvasirModel *model,
                  KvasirModelBuild *build,
                  const Altup *altup,
                  KvasirTensor *x)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirGraph *g = build->graph;

  x = kvasir_graph_rms_norm (g, "router_norm", x, altup->router_norm, hp->rms_eps);
  x = kvasir_graph_scale (g, "router_in", x, 1 / (float) hp->n_embd, 0);
  x = kvasir_graph_mul_mat (g, "router", altup->router, x, NULL);
  return kvasir_graph_unary (g, "modalities", KVASIR_UNARY_TANH, x);
}

static KvasirTensor *
predict (const KvasirModel *model, KvasirModelBuild *build, const Altup *altup, KvasirTensor *s)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *modalities = build_modalities (model, build, altup, kvasir_graph_pick (g, s, 0));
  KvasirTensor *coefs = kvasir_graph_mul_mat (g, "predict_coefs", altup->predict, modalities, NULL);
  KvasirTensor *sums = NULL;

  for (gint64 j = 0; j < N_STREAMS; j++)
    {
      KvasirTensor *w = kvasir_graph_slice (g, coefs, j * N_STREAMS, N_STREAMS);
      KvasirTensor *sum = as_stream (g, kvasir_graph_weighted_sum (g, "predict_sum", s, w));
      sums = sums == NULL ? sum : kvasir_graph_concat (g, "predict_sums", sums, sum, 1);
    }
  return kvasir_graph_add (g, "predicted", s, sums);
}

/* @a: stream 0 of @s */
static KvasirTensor *
correct (const KvasirModel *model,
         KvasirModelBuild *build,
         const Altup *altup,
         KvasirTensor *s,
         KvasirTensor *a,
         KvasirTensor *y)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *modalities = build_modalities (model, build, altup, y);
  KvasirTensor *coefs = kvasir_graph_mul_mat (g, "correct_coefs", altup->correct, modalities, NULL);
  KvasirTensor *news = kvasir_graph_add (g, "news", y, kvasir_graph_scale (g, "minus", a, -1, 0));

  coefs = kvasir_graph_scale (g, "correct_shares", coefs, 1, 1);
  news = kvasir_graph_spread (g, "corrections", as_stream (g, news),
                              kvasir_graph_as_factors (g, coefs));
  return kvasir_graph_add (g, "corrected", s, news);
}

/* s_1 ... s_3 += inlet (correct_scale * s_0) */
static KvasirTensor *
add_inlet (const KvasirModel *model,
           KvasirModelBuild *build,
           const Layer *layer,
           KvasirTensor *s,
           KvasirTensor *values)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_graph_mul (g, "corrected_scaled", kvasir_graph_pick (g, s, 0),
                                      layer->altup.correct_scale);
  KvasirTensor *q = kvasir_gemma_build_inlet (model, build, &layer->inlet, x, values);
  KvasirTensor *others = kvasir_graph_pick_some (g, s, 1, N_STREAMS - 1);

  others = kvasir_graph_add (g, "inlet_res", others, as_stream (g, q));
  return kvasir_graph_concat (g, "streams", kvasir_graph_pick_some (g, s, 0, 1), others, 1);
}

static KvasirTensor *
build_laurel (const KvasirModel *model,
              KvasirModelBuild *build,
              const Laurel *laurel,
              KvasirTensor *x)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *y = kvasir_graph_mul_mat (g, "laurel_l", laurel->l, x, NULL);

  y = kvasir_graph_mul_mat (g, "laurel_r", laurel->r, y, NULL);
  y = kvasir_graph_rms_norm (g, "laurel_norm", y, laurel->norm, model->hparams.rms_eps);
  return kvasir_graph_add (g, "laurel", x, y);
}

static KvasirTensor *
build_ffn (const KvasirModel *model,
           KvasirModelBuild *build,
           guint il,
           const Layer *layer,
           KvasirTensor *t)
{
  const float eps = model->hparams.rms_eps;
  const KvasirGluBlock *ffn = &layer->plain.ffn;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_graph_rms_norm (g, "ffn_norm", t, layer->plain.ffn_norm, eps), *gate, *y;

  gate = kvasir_graph_mul_mat (g, "ffn_gate", ffn->gate, x, NULL);
  if (il < N_SPARSE)
    gate = kvasir_graph_gauss_relu (g, "ffn_sparse", gate, SPARSE_Z);
  y = kvasir_graph_mul_mat (g, "ffn_up", ffn->up, x, NULL);
  y = kvasir_graph_glu (g, "ffn_act", ffn->kind, gate, y);
  y = kvasir_graph_mul_mat (g, "ffn_out", ffn->down, y, NULL);
  y = kvasir_graph_rms_norm (g, "ffn_post_norm", y, layer->post.ffn, eps);
  return kvasir_graph_add (g, "ffn_res", t, y);
}

/* What goes on behind the attention of a layer. */
typedef struct
{
  KvasirTensor *streams;   /* [n_embd, 4, n], predicted */
  KvasirTensor *attention; /* [n_embd, n] */
  KvasirTensor *laurel;    /* [n_embd, n] */
  KvasirTensor *values;    /* [n_per_layer, n] */
} Middle;

static void
take_outputs (KvasirModelBuild *build, Middle *m)
{
  const gint64 n_embd = m->streams->ne[0];
  KvasirTensor *flat = kvasir_graph_join (build->graph, m->streams);

  kvasir_build_begin_outputs (build);
  m->streams = kvasir_graph_split (build->graph, kvasir_build_take_outputs (build, flat), n_embd);
  m->attention = kvasir_build_take_outputs (build, m->attention);
  m->laurel = kvasir_build_take_outputs (build, m->laurel);
  m->values = kvasir_build_take_outputs (build, m->values);
}

/* The streams behind the layer. */
static KvasirTensor *
build_rest (const KvasirModel *model,
            KvasirModelBuild *build,
            guint il,
            const Layer *layer,
            const Middle *m)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *a = kvasir_graph_pick (g, m->streams, 0), *t, *y;

  t = kvasir_graph_rms_norm (g, "attn_post_norm", m->attention, layer->post.attention,
                             model->hparams.rms_eps);
  t = kvasir_graph_add (g, "attn_res", t, a);
  t = kvasir_graph_add (g, "attn_laurel", t, m->laurel);
  t = kvasir_graph_scale (g, "attn_scaled", t, (float) M_SQRT1_2, 0);
  y = build_ffn (model, build, il, layer, t);
  return add_inlet (model, build, layer, correct (model, build, &layer->altup, m->streams, a, y),
                    m->values);
}

/* [n_embd, n] of the streams. */
static KvasirTensor *
merge (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *s)
{
  const Extra *extra = model->extra;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_graph_pick (g, s, 0);
  KvasirTensor *others = kvasir_graph_pick_some (g, s, 1, N_STREAMS - 1);

  others = kvasir_graph_mul_mat (g, "altup_merge", extra->merge, others, NULL);
  others = kvasir_graph_match_norm (g, "altup_merged", others,
                                    repeat (g, kvasir_graph_pick_some (g, s, 0, 1)), LENGTH_EPS);
  for (gint64 i = 0; i < N_STREAMS - 1; i++)
    x = kvasir_graph_add (g, "streams_sum", x, kvasir_graph_pick (g, others, i));
  return kvasir_graph_scale (g, "streams_mean", x, 1.0f / N_STREAMS, 0);
}

static void
build (const KvasirModel *model, KvasirModelBuild *build)
{
  const Layer *layers = model->layers;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_gemma_build_embedding (model, build);
  KvasirTensor *all = kvasir_gemma_build_layer_values (model, build, x);
  KvasirTensor *s = build_streams (model, build, x);

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const Layer *layer = &layers[il];
      Middle m = { .values = kvasir_graph_pick (g, all, il) };

      kvasir_graph_set_layer (g, (gint) il);
      m.streams = predict (model, build, &layer->altup, s);
      x = kvasir_graph_rms_norm (g, "attn_norm", kvasir_graph_pick (g, m.streams, 0),
                                 layer->plain.attn_norm, model->hparams.rms_eps);
      m.laurel = build_laurel (model, build, &layer->laurel, x);
      m.attention = kvasir_gemma_build_attention (model, build, il, &layer->plain.attention, x);
      if (il == model->hparams.n_layers - 1)
        take_outputs (build, &m);
      s = build_rest (model, build, il, layer, &m);
    }
  kvasir_gemma_build_logits (model, build, merge (model, build, s));
}

const KvasirArch kvasir_arch_gemma3n = {
  .name = "gemma3n",
  .setup = setup,
  .load = load,
  .build = build,
};
