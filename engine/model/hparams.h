/* engine/model/hparams.h - the numbers that shape a model
 *
 * Read from the keys of formats.md 2.5 with the defaults written there. Everything is checked
 * here, so that graph and memory can multiply these numbers without a second look.
 * Owner: KvasirModel. Immutable after reading: any thread.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key, expected and found; _UNSUPPORTED for settings
 *   that are right but not written yet.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/gguf/gguf.h"
#include "engine/memory/memory-params.h"
#include "engine/model/keys.h"

G_BEGIN_DECLS

#define KVASIR_MAX_LAYERS 512

/* One layer. What stands behind n_ff is filled for a plain decoder, and changed by architectures
 * that differ (KvasirArch.setup). */
typedef struct
{
  guint n_heads;
  guint n_kv_heads;
  guint n_ff;
  guint head_dim_k;
  guint head_dim_v;
  gboolean has_attention;
  gboolean is_swa;
  gint share;                /* the layer whose K and V rows it reads; -1: its own */
  guint n_embd_k;            /* elements of a K row in the cache, 0: none */
  guint n_embd_v;            /* of a V row; 0 with n_embd_k > 0: V is the first part of K */
  guint n_embd_r;            /* F32 values of a sequence's state: convolutions and shifts */
  guint n_embd_s;            /* and scans */
  KvasirRopeParams rope;     /* n_rot 0: not turned */
  gboolean has_rope_factors; /* it uses the model's frequency factors, if there are any */
} KvasirLayerHparams;

typedef enum
{
  KVASIR_ROPE_SCALING_NONE,
  KVASIR_ROPE_SCALING_LINEAR,
  KVASIR_ROPE_SCALING_YARN,
  KVASIR_ROPE_SCALING_LONGROPE
} KvasirRopeScaling;

/* How the rows of a text become one: the values of the key pooling_type. */
typedef enum
{
  KVASIR_POOLING_NONE, /* a row for each token that asks for one */
  KVASIR_POOLING_MEAN,
  KVASIR_POOLING_CLS, /* the row of the first token */
  KVASIR_POOLING_LAST
} KvasirPooling;

/* How the heads of q and k are normalised. Norms may be missing only where it says so, and with
 * OWN.
 */
typedef enum
{
  KVASIR_HEAD_NORMS_IF_ANY, /* as RMS where the file has them */
  KVASIR_HEAD_NORMS_RMS,    /* each head, all with the same weights, before it is turned */
  KVASIR_HEAD_NORMS_BEHIND, /* the same behind the rotation */
  KVASIR_HEAD_NORMS_WIDE,   /* all heads together, before they are turned */
  KVASIR_HEAD_NORMS_OWN /* a layer norm of each head with weights of its own, before it is turned */
} KvasirHeadNorms;

typedef struct
{
  guint n_vocab;
  guint n_layers;
  guint n_embd;
  guint n_ctx_train;
  guint head_dim_k;
  guint head_dim_v;
  float rms_eps;
  float norm_eps;                /* of layer norms */
  gboolean has_layer_norms;      /* the norms around layers subtract the mean and have a bias */
  gboolean has_weightless_norms; /* they have no weights either */
  KvasirHeadNorms head_norms;
  float clamp_qkv;                     /* q, k and v lie within +- this; 0: no bounds */
  float attention_scale;               /* of query times key */
  KvasirTemperatureParams temperature; /* of turned queries; length 0: none */
  KvasirRopeScaling rope_scaling;
  KvasirRopeParams rope; /* of most layers; its n_rot and n_ctx_orig count for the factors */
  KvasirMemoryClass memory_class;
  gboolean is_causal;
  guint n_pos_per_token;                        /* 4: M-RoPE, cannot shift */
  KvasirWindow window;                          /* of the layers that slide */
  guint n_swa;                                  /* tokens; 0: none */
  gboolean can_keep_states;                     /* n_rs_seq counts */
  float max_bias;                               /* ALiBi; 0: none */
  guint n_position_rows;                        /* of a table of positions: larger ones can't be
                                                   read; 0: no table */
  KvasirPooling pooling;                        /* encoders */
  float embedding_scale;                        /* times the embeddings, */
  float residual_scale;                         /* what a layer adds, */
  float logit_scale;                            /* and the logits; 0: none */
  KvasirLayerHparams layers[KVASIR_MAX_LAYERS]; /* [n_layers] */
} KvasirHparams;

/* @arch: prefix of the keys; @n_vocab: tokens of the vocabulary, 0: the file's vocab_size;
 * @lowest: 0 where layers may lack heads or a feed-forward net, else 1 */
gboolean kvasir_hparams_read (KvasirHparams *self,
                              const KvasirGguf *gguf,
                              const char *arch,
                              guint n_vocab,
                              guint lowest,
                              GError **error);

/* ---- for architectures: the same rope for all layers; NEOX pairs; rows by heads and widths */
void kvasir_hparams_set_rope (KvasirHparams *self, const KvasirRopeParams *rope);
void kvasir_hparams_set_neox (KvasirHparams *self);
void kvasir_hparams_fit_rows (KvasirHparams *self);
/* No layer is turned. */
void kvasir_hparams_drop_rope (KvasirHparams *self);
/* Blocks that draft more than one token (nextn_predict_layers) stand behind the others and are not
 * computed: n_layers counts them no longer. */
gboolean kvasir_hparams_skip_drafts (KvasirHparams *self, KvasirKeys *keys, GError **error);
/* M-RoPE by rope.dimension_sections: four positions per token, NEOX pairs. Call when widths and
 * n_rot are final. */
gboolean kvasir_hparams_read_sections (KvasirHparams *self, KvasirKeys *keys, GError **error);

G_END_DECLS
