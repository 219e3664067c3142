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
#include "engine/model/archs.h"
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

/* Experts that every token goes through, beside the chosen ones. */
typedef enum
{
  KVASIR_SHARED_NONE,
  KVASIR_SHARED_ONE,    /* expert_shared_feed_forward_length wide, as a dense net where it misses */
  KVASIR_SHARED_IF_ANY, /* the same in layers that have the tensors */
  KVASIR_SHARED_EACH    /* expert_shared_count, each as wide as an expert or as that key says */
} KvasirShared;

/* What the nets of a family are. */
typedef struct
{
  KvasirUnary kind;
  gboolean has_gate;     /* down (f (gate x) * up x), else down (f (up x)) */
  gboolean counts_dense; /* leading_dense_block_count and interleave_moe_layer_step say which layers
                            have experts; else those have them that have a router */
  KvasirMoeBlock moe;    /* what counts where the file does not say it */
  KvasirShared shared;
  gboolean gates_shared; /* KvasirLayer.shared_gate must be there */
  const char *norm;      /* the tensor's name; NULL: ffn_norm.weight, and a bias of layer norms */
} KvasirNetForm;

typedef KvasirTensor *(*KvasirBuildHalf) (const KvasirModel *model,
                                          KvasirModelBuild *build,
                                          guint il,
                                          KvasirTensor *x);

typedef struct
{
  const char *name;
  /* Layers may lack heads or a feed-forward net. */
  gboolean may_lack_attention;
  /* Layer norms have biases; projections and plain nets have them. */
  gboolean needs_norm_biases;
  gboolean needs_biases;
  /* attn_v may be missing; the architecture's own graph says what V is then. */
  gboolean may_lack_v;
  /* (nullable) Reads own keys and says in hparams what each layer keeps, before tensors are asked
   * for. */
  gboolean (*setup) (KvasirModel *model, GError **error);
  /* Asks for the tensors of the layers; those of the ends are there already. */
  gboolean (*load) (KvasirModel *model, GError **error);
  void (*build) (const KvasirModel *model, KvasirModelBuild *build);
  /* (nullable) For kvasir_load_layers(). NULL: SiLU and a gate, dense or of experts whose weights
   * add up to 1. */
  const KvasirNetForm *net;
  /* (nullable) For kvasir_build_layers(), in place of kvasir_build_self_attention() and
   * kvasir_build_ffn(): [n_embd, n] of @x [n_embd, n], which is normalised. */
  KvasirBuildHalf build_attention;
  KvasirBuildHalf build_net;
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

/* The table: a row kvasir_arch_ID for every line of archs.h. */
#define KVASIR_DECLARE_ARCH(id) extern const KvasirArch kvasir_arch_##id;
KVASIR_ARCHS (KVASIR_DECLARE_ARCH)

G_END_DECLS
