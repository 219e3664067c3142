/* engine/memory/memory-params.h - makes a memory of any kind
 *
 * The kind follows from the layers: attention rows in a base cache, in a sliding one, states of
 * recurrent layers, or several of them. Buffers are grouped by type, cleared at creation, and with
 * no_alloc only measured: the breakdown of both is the same.
 *
 * Sizes (the placement rules): the base cache has kv_size cells per stream; the sliding one
 *   min (kv_size, pad256 (n_swa * (n_streams == 1 ? n_seq_max : 1) + n_ubatch)), or kv_size with
 *   swa_full. Recurrent memory has n_seq_max cells.
 * Errors: KVASIR_ENGINE_ERROR_NO_MEMORY naming bytes and buffer type; _BAD_ARGUMENT for types that
 *   do not go with the head widths, or quantised V that would be transposed.
 */
#pragma once

#include "engine/memory/memory.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_WINDOW_NONE,
  KVASIR_WINDOW_STANDARD, /* closed where query - cell >= n_swa */
  KVASIR_WINDOW_CHUNKED,  /* closed where cell < floor (query / n_swa) * n_swa */
  KVASIR_WINDOW_SYMMETRIC /* closed where |query - cell| > n_swa / 2; encoders */
} KvasirWindow;

/* What one layer keeps. */
typedef struct
{
  gboolean has_attention;
  gboolean is_swa; /* its attention slides */
  gint share;      /* the layer whose rows it reads instead of its own; -1: its own */
  guint n_embd_k;  /* elements of a K row */
  guint n_embd_v;  /* of a V row; 0: V is a part of K */
  guint head_dim_k;
  guint head_dim_v;
  guint n_embd_r; /* F32 values of a sequence's state, 0: none: what convolutions and shifts keep */
  guint n_embd_s; /* and what scans keep */
  KvasirBufferType *buffer_type;
} KvasirMemoryLayer;

/* Which layer of @other's model the rows of @layer are read from, -1: rows of its own. */
typedef gint (*KvasirShareLayer) (gpointer user_data, guint layer);

typedef struct
{
  KvasirMemoryClass klass;
  guint kv_size;    /* cells per stream, a multiple of 256 */
  guint n_streams;  /* 1, or n_seq_max: sequence s lives in stream s */
  gboolean unified; /* the setting: with n_seq_max 1 both say one stream, but batches split
                       differently */
  guint n_seq_max;
  guint n_ubatch;
  guint n_batch; /* largest batch; 0: kv_size * n_streams */
  KvasirType type_k;
  KvasirType type_v;
  gboolean v_transposed; /* V is kept [cells, n_embd_v]: without flash attention */
  gboolean swa_full;
  KvasirWindow window;
  guint n_swa;
  gboolean is_causal; /* FALSE: encoders, where all tokens of a sequence see each other */
  guint n_pos_per_token;
  guint n_rs_seq; /* states kept for taking tokens back; 0 where the model can't */
  guint n_layers;
  const KvasirMemoryLayer *layers; /* [n_layers], by the model's layer number */
  gboolean no_alloc;
  const char *shift_obstacle; /* static text, NULL: can shift as far as the model goes */
  const char *arch;           /* for the state header */
  guint32 rope_hash;          /* rope settings, so that states of other settings are refused */
  guint n_ctx_seq;            /* for the state header */

  KvasirMemory *other;    /* (nullable) (unowned): a memory whose cells and rows are shared: a draft
                             model's context beside its target's. Outlives this one */
  KvasirShareLayer share; /* with @other */
  gpointer share_data;
} KvasirMemoryParams;

KvasirMemory *kvasir_memory_new (const KvasirMemoryParams *params,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
