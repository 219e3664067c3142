/* smallthinker: experts whose router looks at what the layer gets, before attention. With n = rms
 * x:
 *
 *   r = router x;  x += Wo attn (rope q, rope k, v);  x += experts (n) of the best by r, with ReLU
 *
 * With a window the first layer of each four sees everything, and is not turned.
 */
#include "engine/model/build.h"
#include "engine/model/sliding.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .may_be_off = TRUE, .period = 4,
                                  .full_first = TRUE };
  KvasirHparams *hp = &model->hparams;

  kvasir_hparams_set_neox (hp);
  if (!kvasir_read_sliding (model, &sliding, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers && hp->n_swa > 0; il++)
    if (!hp->layers[il].is_swa)
      hp->layers[il].rope.n_rot = 0;
  return TRUE;
}

static const KvasirNetForm net = {
  .kind = KVASIR_UNARY_RELU, .has_gate = TRUE, .counts_dense = TRUE, .moe = { .normalised = TRUE }
};

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const KvasirHparams *hp = &model->hparams;
  const KvasirLayer *layers = model->layers;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_embedding (model, step), *routed, *y;

  for (guint il = 0; il < hp->n_layers; il++)
    {
      kvasir_graph_set_layer (g, (gint) il);
      routed = x;
      y = kvasir_build_norm (model, step, "attn_norm", x, layers[il].attn_norm, NULL);
      y = kvasir_build_self_attention (model, step, il, &layers[il].attention, y);
      x = kvasir_graph_add (g, "attn_res", x, y);
      if (il == hp->n_layers - 1)
        {
          kvasir_build_begin_outputs (step);
          x = kvasir_build_take_outputs (step, x);
          routed = kvasir_build_take_outputs (step, routed);
        }
      y = kvasir_build_norm (model, step, "ffn_norm", x, layers[il].ffn_norm, NULL);
      x = kvasir_graph_add (g, "ffn_res", x, kvasir_block_moe (g, &layers[il].moe, y, routed));
    }
  kvasir_build_logits (model, step, x);
}

const KvasirArch kvasir_arch_smallthinker = {
  .name = "smallthinker",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = build,
  .net = &net,
};
