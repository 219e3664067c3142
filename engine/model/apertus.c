/* apertus: a plain decoder (llama.c) with norms over the heads of q and k, NEOX pairs, and a net
 * without a gate whose function has numbers of its own in every layer:
 *
 *   x += down (f (up n));  f (u) = p u^2 + b u where u > 0, else a (exp u - 1 - u) + b u
 *   p = softplus (alpha_p), a = b + softplus (alpha_n)
 */
#include <math.h>

#include "engine/model/build.h"

typedef struct
{
  float p, a, b;
} Curve;

static float
softplus (float x)
{
  return x > 20 ? x : log1pf (expf (x));
}

static gboolean
read_curves (KvasirModel *model, Curve *curves, GError **error)
{
  const guint n = model->hparams.n_layers;
  KvasirKeys keys = { model->gguf, "xielu", "" };
  float alpha_n[KVASIR_MAX_LAYERS], alpha_p[KVASIR_MAX_LAYERS], beta[KVASIR_MAX_LAYERS];

  if (!kvasir_keys_get_floats (&keys, "alpha_n", n, alpha_n, error) ||
      !kvasir_keys_get_floats (&keys, "alpha_p", n, alpha_p, error) ||
      !kvasir_keys_get_floats (&keys, "beta", n, beta, error))
    return FALSE;
  for (guint il = 0; il < n; il++)
    curves[il] = (Curve){ softplus (alpha_p[il]), beta[il] + softplus (alpha_n[il]), beta[il] };
  return TRUE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  Curve *curves = g_new0 (Curve, model->hparams.n_layers);

  model->extra = curves;
  model->hparams.head_norms = KVASIR_HEAD_NORMS_RMS;
  kvasir_hparams_set_neox (&model->hparams);
  return read_curves (model, curves, error);
}

static KvasirTensor *
build_curve (KvasirGraph *g, const Curve *curve, KvasirTensor *x)
{
  KvasirTensor *low = kvasir_graph_clamp (g, "ffn_low", x, -INFINITY, 0);
  KvasirTensor *square = kvasir_graph_unary (g, "ffn_square", KVASIR_UNARY_RELU_SQR, x);
  KvasirTensor *power = kvasir_graph_unary (g, "ffn_exp", KVASIR_UNARY_EXP, low);
  KvasirTensor *sum =
      kvasir_graph_add (g, "ffn_line", kvasir_graph_scale (g, "ffn_b", x, curve->b, 0),
                        kvasir_graph_scale (g, "ffn_p", square, curve->p, 0));

  power =
      kvasir_graph_add (g, "ffn_bend", kvasir_graph_scale (g, "ffn_e", power, curve->a, -curve->a),
                        kvasir_graph_scale (g, "ffn_a", low, -curve->a, 0));
  return kvasir_graph_add (g, "ffn_act", sum, power);
}

static KvasirTensor *
build_net (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;
  const Curve *curves = model->extra;
  KvasirGraph *g = step->graph;

  x = kvasir_graph_mul_mat (g, "ffn_up", layer->ffn.up, x, layer->ffn.up_bias);
  x = build_curve (g, &curves[il], x);
  return kvasir_graph_mul_mat (g, "ffn_out", layer->ffn.down, x, layer->ffn.down_bias);
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_RELU_SQR };

const KvasirArch kvasir_arch_apertus = {
  .name = "apertus",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &net,
  .build_net = build_net,
};
