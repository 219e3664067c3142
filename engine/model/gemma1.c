/* gemma, the first of its family. With n = rms x:
 *
 *   x = E sqrt (n_embd)
 *   x += Wo attn (rope (Wq n), rope (Wk n), Wv n);  x += down (gelu (gate n) * up n)
 *
 * Rope turns NEOX pairs, and the output matrix is that of the embeddings. */
#include "engine/model/gemma-parts.h"

static const KvasirNetForm net = { .kind = KVASIR_UNARY_GELU, .has_gate = TRUE };

static gboolean
setup (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  kvasir_build_layers_on (model, step, kvasir_gemma_build_embedding (model, step));
}

const KvasirArch kvasir_arch_gemma = {
  .name = "gemma",
  .setup = setup,
  .load = kvasir_load_layers,
  .net = &net,
  .build = build,
};
