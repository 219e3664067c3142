/* engine/model/model-private.h - the insides of a model, for engine/model and engine/session
 *
 * An architecture is a row of the table in arch.c: a name, a function that asks for its tensors,
 * and one that adds its operations to a graph. Both share the blocks of engine/graph.
 * Thread: as model.h says.
 */
#pragma once

#include "engine/graph/blocks.h"
#include "engine/graph/graph.h"
#include "engine/memory/kv-cache.h"
#include "engine/model/hparams.h"
#include "engine/model/model.h"
#include "engine/model/weights.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirTensor *attn_norm; /* [n_embd] */
  KvasirAttentionBlock attention;
  KvasirTensor *ffn_norm; /* [n_embd] */
  KvasirGluBlock ffn;
} KvasirLayer;

/* Inputs of one cache. */
typedef struct
{
  KvasirTensor *slots; /* I64 [n_tokens] */
  KvasirTensor *mask;  /* I64 [cells / 64, n_tokens] */
} KvasirCacheInputs;

/* What one step reads and gives. */
typedef struct
{
  KvasirGraph *graph;
  const KvasirMemory *memory;
  KvasirTensor *tokens;    /* I32 [n_tokens] */
  KvasirTensor *positions; /* I32 [n_tokens] */
  KvasirTensor *out_ids;   /* I32 [n_outputs], which tokens go through the head */
  KvasirCacheInputs caches[KVASIR_MAX_CACHES];
  gboolean long_context; /* a sequence may be longer than the original context */
  KvasirTensor *logits;  /* out: F32 [n_vocab, n_outputs] */
} KvasirModelBuild;

typedef struct
{
  const char *name;
  KvasirMemoryClass memory_class;
  /* Asks for the tensors of the layers; those of the ends are there already. */
  gboolean (*load) (KvasirModel *model, GError **error);
  void (*build) (const KvasirModel *model, KvasirModelBuild *build);
} KvasirArch;

struct _KvasirModel
{
  gatomicrefcount ref_count;
  KvasirDevice *device; /* (unowned): outlives the model */
  KvasirGguf *gguf;     /* (owned) */
  KvasirModelInfo info;
  char *title;            /* (owned) */
  const KvasirArch *arch; /* (nullable): NULL with vocab_only */
  KvasirVocab *vocab;     /* (owned) */
  KvasirTemplate *chat;   /* (owned) (nullable) */
  GError *chat_error;     /* (owned) (nullable): why there is no chat template */
  KvasirHparams hparams;
  KvasirWeights *weights;   /* (owned) (nullable) */
  KvasirTensor *token_embd; /* [n_embd, n_vocab] */
  KvasirTensor *output_norm;
  KvasirTensor *output;      /* [n_embd, n_vocab]; token_embd where tied */
  KvasirTensor *output_bias; /* [n_vocab] (nullable) */
  KvasirTensor *rope_freqs;  /* [n_rot / 2] (nullable) */
  KvasirTensor *rope_long;   /* [n_rot / 2] (nullable) */
  KvasirTensor *rope_short;  /* [n_rot / 2] (nullable) */
  KvasirLayer *layers;       /* (owned) [n_layers] */
};

/* The row of an architecture, or NULL with KVASIR_ENGINE_ERROR_UNSUPPORTED naming it and those that
 * there are. */
const KvasirArch *kvasir_arch_find (const char *name, GError **error);

/* Frequency factors of this context, or NULL. */
KvasirTensor *kvasir_model_get_rope_factors (const KvasirModel *self, gboolean long_context);
/* What the memory is made of. @layers: [n_layers] */
void kvasir_model_fill_kv_layers (const KvasirModel *self, KvasirKvLayer *layers);
/* Adds the operations of one step. */
void kvasir_model_build (const KvasirModel *self, KvasirModelBuild *build);

/* ---- for architecture files */
/* Norm, projections (separate or fused), biases where the file has them, and feed-forward of every
 * layer. */
gboolean kvasir_arch_load_layers (KvasirModel *model, GError **error);
/* Pre-norm layers with attention and a gated feed-forward, then norm and output matrix. */
void kvasir_arch_build_layers (const KvasirModel *model, KvasirModelBuild *build);

extern const KvasirArch kvasir_arch_llama;
extern const KvasirArch kvasir_arch_qwen2;
extern const KvasirArch kvasir_arch_qwen3;

G_END_DECLS
