/* engine/model/model-private.h - the insides of a model, for engine/model and engine/session
 *
 * An architecture is a row of the table in arch.c: a name, a function that says how its layers
 * differ from a plain decoder's, one that asks for its tensors, and one that adds its operations to
 * a graph. What several families share is in layers.h (tensors) and build.h (operations). Thread:
 * as model.h says.
 */
#pragma once

#include "engine/graph/blocks.h"
#include "engine/graph/graph.h"
#include "engine/model/hparams.h"
#include "engine/model/keys.h"
#include "engine/model/model.h"
#include "engine/model/weights.h"

G_BEGIN_DECLS

/* Inputs of one cache of attention. */
typedef struct
{
  KvasirTensor *slots;     /* I64 [n_tokens] */
  KvasirTensor *mask;      /* I64 [cells / 64, n_tokens] */
  KvasirTensor *distances; /* I32 [cells * streams + n_tokens] (nullable): with ALiBi */
} KvasirCacheInputs;

/* What one step reads and gives. */
typedef struct
{
  KvasirGraph *graph;
  const KvasirMemory *memory;
  KvasirTensor *tokens;     /* I32 [n_tokens] */
  KvasirTensor *positions;  /* I32 [n_tokens], with M-RoPE [4 * n_tokens], plane after plane */
  KvasirTensor *out_ids;    /* I32 [n_outputs], which tokens go through the head */
  KvasirTensor *state_rows; /* I32 [2 + n_keep, n_seq_max] (nullable): with recurrent layers */
  KvasirCacheInputs caches[KVASIR_MAX_CACHES];
  gboolean long_context; /* a sequence may be longer than the original context */
  gboolean rotate;       /* quantised K and V are kept under a Hadamard rotation */
  KvasirTensor *logits;  /* out: F32 [n_vocab, n_outputs]; of encoders [n_embd, n_outputs], not
                            pooled */
} KvasirModelBuild;

typedef struct
{
  const char *name;
  /* Layers may lack heads or a feed-forward net. */
  gboolean may_lack_attention;
  /* attn_v may be missing; the architecture's own graph says what V is then. */
  gboolean may_lack_v;
  /* (nullable) Reads own keys and says in hparams what each layer keeps, before tensors are asked
   * for. */
  gboolean (*setup) (KvasirModel *model, GError **error);
  /* Asks for the tensors of the layers; those of the ends are there already. */
  gboolean (*load) (KvasirModel *model, GError **error);
  void (*build) (const KvasirModel *model, KvasirModelBuild *build);
  /* Of token_embd, output and output_norm: NULL the names of most models. An encoder has no output.
   */
  const char *output_norm_name;
  gboolean is_encoder;
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
  KvasirTensor *output_norm_bias; /* (nullable) */
  KvasirTensor *output;           /* [n_embd, n_vocab]; token_embd where tied */
  KvasirTensor *output_bias;      /* [n_vocab] (nullable) */
  KvasirTensor *rope_freqs;       /* [n_rot / 2] (nullable) */
  KvasirTensor *rope_long;        /* [n_rot / 2] (nullable) */
  KvasirTensor *rope_short;       /* [n_rot / 2] (nullable) */
  gpointer layers; /* (owned) (nullable): of the architecture's own layer type, freed by g_free() */
  gpointer extra;  /* (owned) (nullable): of the architecture, freed by g_free() */
};

/* The row of an architecture, or NULL with KVASIR_ENGINE_ERROR_UNSUPPORTED naming it and those that
 * there are. */
const KvasirArch *kvasir_arch_find (const char *name, GError **error);

/* Frequency factors of this context, or NULL. */
KvasirTensor *kvasir_model_get_rope_factors (const KvasirModel *self, gboolean long_context);
/* Elements of the Hadamard blocks that rows of a K cache of @type are kept under, where rotation is
 * asked for; 0: plain. V: at most 64. */
gint kvasir_model_get_rotation (KvasirType type, guint head_dim);
/* What the memory is made of. @layers: [n_layers] */
void kvasir_model_fill_memory_layers (const KvasirModel *self, KvasirMemoryLayer *layers);
/* Adds the operations of one step. */
void kvasir_model_build (const KvasirModel *self, KvasirModelBuild *build);

extern const KvasirArch kvasir_arch_arcee;
extern const KvasirArch kvasir_arch_baichuan;
extern const KvasirArch kvasir_arch_bert;
extern const KvasirArch kvasir_arch_bloom;
extern const KvasirArch kvasir_arch_cohere2;
extern const KvasirArch kvasir_arch_command_r;
extern const KvasirArch kvasir_arch_deepseek;
extern const KvasirArch kvasir_arch_deepseek2;
extern const KvasirArch kvasir_arch_ernie4_5;
extern const KvasirArch kvasir_arch_exaone;
extern const KvasirArch kvasir_arch_falcon;
extern const KvasirArch kvasir_arch_falcon_h1;
extern const KvasirArch kvasir_arch_gemma;
extern const KvasirArch kvasir_arch_gemma2;
extern const KvasirArch kvasir_arch_gemma3;
extern const KvasirArch kvasir_arch_gemma3n;
extern const KvasirArch kvasir_arch_gemma4;
extern const KvasirArch kvasir_arch_gemma_embedding;
extern const KvasirArch kvasir_arch_glm4;
extern const KvasirArch kvasir_arch_gpt2;
extern const KvasirArch kvasir_arch_gpt_oss;
extern const KvasirArch kvasir_arch_gptneox;
extern const KvasirArch kvasir_arch_granite;
extern const KvasirArch kvasir_arch_granitehybrid;
extern const KvasirArch kvasir_arch_granitemoe;
extern const KvasirArch kvasir_arch_hunyuan_dense;
extern const KvasirArch kvasir_arch_internlm2;
extern const KvasirArch kvasir_arch_jamba;
extern const KvasirArch kvasir_arch_lfm2;
extern const KvasirArch kvasir_arch_lfm2moe;
extern const KvasirArch kvasir_arch_llama;
extern const KvasirArch kvasir_arch_llama4;
extern const KvasirArch kvasir_arch_mamba;
extern const KvasirArch kvasir_arch_mamba2;
extern const KvasirArch kvasir_arch_minicpm;
extern const KvasirArch kvasir_arch_modern_bert;
extern const KvasirArch kvasir_arch_mpt;
extern const KvasirArch kvasir_arch_nemotron_h;
extern const KvasirArch kvasir_arch_nomic_bert;
extern const KvasirArch kvasir_arch_olmo2;
extern const KvasirArch kvasir_arch_phi2;
extern const KvasirArch kvasir_arch_phi3;
extern const KvasirArch kvasir_arch_qwen2;
extern const KvasirArch kvasir_arch_qwen2moe;
extern const KvasirArch kvasir_arch_qwen2vl;
extern const KvasirArch kvasir_arch_qwen3;
extern const KvasirArch kvasir_arch_qwen35;
extern const KvasirArch kvasir_arch_qwen35moe;
extern const KvasirArch kvasir_arch_qwen3moe;
extern const KvasirArch kvasir_arch_qwen3next;
extern const KvasirArch kvasir_arch_rwkv7;
extern const KvasirArch kvasir_arch_smollm3;
extern const KvasirArch kvasir_arch_stablelm;
extern const KvasirArch kvasir_arch_starcoder2;

G_END_DECLS
