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

G_BEGIN_DECLS

#define KVASIR_MAX_LAYERS 512

typedef struct
{
  guint n_heads;
  guint n_kv_heads;
  guint n_ff;
} KvasirLayerHparams;

typedef enum
{
  KVASIR_ROPE_SCALING_NONE,
  KVASIR_ROPE_SCALING_LINEAR,
  KVASIR_ROPE_SCALING_YARN,
  KVASIR_ROPE_SCALING_LONGROPE
} KvasirRopeScaling;

typedef struct
{
  guint n_vocab;
  guint n_layers;
  guint n_embd;
  guint n_ctx_train;
  guint head_dim_k;
  guint head_dim_v;
  float rms_eps;
  float attention_scale; /* of query times key */
  KvasirRopeScaling rope_scaling;
  KvasirRopeParams rope;
  KvasirLayerHparams layers[KVASIR_MAX_LAYERS]; /* [n_layers] */
} KvasirHparams;

/* @arch: prefix of the keys; @n_vocab: tokens of the vocabulary, 0: the file's vocab_size */
gboolean kvasir_hparams_read (
    KvasirHparams *self, const KvasirGguf *gguf, const char *arch, guint n_vocab, GError **error);

G_END_DECLS
