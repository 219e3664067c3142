/* engine/model/gemma-parts.h - what the models of the Gemma family share
 *
 * Used by gemma.c, gemma3n.c and gemma4.c. Formulas: formats.md 5.3. Shapes in brackets, fastest
 * extent first; n tokens. Thread: as build.h and layers.h say.
 */
#pragma once

#include "engine/model/build.h"

G_BEGIN_DECLS

/* Of the whole model: the beginning of KvasirModel.extra. */
typedef struct
{
  float attention_cap; /* scores become cap tanh (score / cap); 0: they stay */
  float logit_cap;
  gboolean norms_values;    /* v gets an RMS norm without weight */
  guint n_per_layer;        /* values that a token adds in each layer, 0: none */
  KvasirTensor *layer_embd; /* [n_per_layer * n_layers, n_vocab] */
  KvasirTensor *layer_proj; /* [n_embd, n_per_layer * n_layers] */
  KvasirTensor *layer_norm; /* [n_per_layer] */
} KvasirGemma;

/* The norms behind the two halves of a layer. */
typedef struct
{
  KvasirTensor *attention; /* [n_embd] */
  KvasirTensor *ffn;       /* [n_embd] */
} KvasirGemmaPostNorms;

/* How a token's values for one layer come in. */
typedef struct
{
  KvasirTensor *gate; /* [n_embd, n_per_layer] */
  KvasirTensor *proj; /* [n_per_layer, n_embd] */
  KvasirTensor *norm; /* [n_embd] */
} KvasirGemmaInlet;

/* Reads the caps, with those in @gemma where a file has none, and the width of per-layer values. */
gboolean kvasir_gemma_read (KvasirModel *model, KvasirGemma *gemma, GError **error);
/* Norms before and behind, attention. The feed-forward net is the caller's. */
gboolean kvasir_gemma_load_layer (
    KvasirModel *model, gint il, KvasirLayer *layer, KvasirGemmaPostNorms *post, GError **error);
/* per_layer_token_embd, per_layer_model_proj, per_layer_proj_norm into @gemma. */
gboolean kvasir_gemma_load_layer_values (KvasirModel *model, KvasirGemma *gemma, GError **error);
gboolean
kvasir_gemma_load_inlet (KvasirModel *model, gint il, KvasirGemmaInlet *inlet, GError **error);

/* E sqrt (n_embd): [n_embd, n] */
KvasirTensor *kvasir_gemma_build_embedding (const KvasirModel *model, KvasirModelBuild *build);
/* Projections of @x, which is normalised already, norms, rope, attention with its cap, output:
 * [n_embd, n]. A layer with K but no V projection uses that of K for V. */
KvasirTensor *kvasir_gemma_build_attention (const KvasirModel *model,
                                            KvasirModelBuild *build,
                                            guint il,
                                            const KvasirAttentionBlock *block,
                                            KvasirTensor *x);
/* p = (rms (P x0 / sqrt (n_embd)) + E_p sqrt (n_per_layer)) / sqrt (2): [n_per_layer, n_layers, n]
 */
KvasirTensor *kvasir_gemma_build_layer_values (const KvasirModel *model,
                                               KvasirModelBuild *build,
                                               KvasirTensor *x0);
/* rms (proj (gelu (gate x) * @values)): [n_embd, n]; @values [n_per_layer, n] of this layer */
KvasirTensor *kvasir_gemma_build_inlet (const KvasirModel *model,
                                        KvasirModelBuild *build,
                                        const KvasirGemmaInlet *inlet,
                                        KvasirTensor *x,
                                        KvasirTensor *values);
/* Output norm, output matrix and cap: sets build->logits. */
void kvasir_gemma_build_logits (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x);

G_END_DECLS
