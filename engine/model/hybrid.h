/* engine/model/hybrid.h - layers that have a mixer of the family's own
 *
 * x += mixer (norm x), and where the family has one, x += feed-forward (norm x). The mixer is
 * attention, something recurrent, or both; a layer with n_embd_r > 0 in hparams keeps a state.
 * model->layers is [n_layers] of KvasirLayer, model->extra belongs to the family.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key or tensor, expected and found. Thread: the
 * loading one; building: engine thread.
 */
#pragma once

#include "engine/model/build.h"
#include "engine/model/layers.h"
#include "engine/model/model-private.h"

G_BEGIN_DECLS

typedef struct
{
  /* Asks for the mixer's tensors; attn_norm and the feed-forward net are asked for already. */
  gboolean (*load_mixer) (KvasirModel *model, gint il, GError **error);
  /* [n_embd, n] of @x [n_embd, n], which is normalised. */
  KvasirTensor *(*build_mixer) (const KvasirModel *model,
                                KvasirModelBuild *build,
                                guint il,
                                KvasirTensor *x);
  const KvasirNetForm *net; /* (nullable) NULL: a mixer is all */
} KvasirHybrid;

/* For KvasirArch.setup: memory of a hybrid model; layers without key and value heads do not attend.
 */
gboolean kvasir_setup_hybrid (KvasirModel *model, GError **error);

gboolean kvasir_load_hybrid (KvasirModel *model, const KvasirHybrid *hybrid, GError **error);

/* All layers from @x [n_embd, n] on, and the logits. */
void kvasir_build_hybrid (const KvasirModel *model,
                          KvasirModelBuild *build,
                          const KvasirHybrid *hybrid,
                          KvasirTensor *x);

G_END_DECLS
