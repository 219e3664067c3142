/* engine/model/sliding.h - which layers slide, and which read the rows of others
 *
 * For KvasirArch.setup of models with a window. Formulas: formats.md 2.5 and 5.2.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key, expected and found. Thread: the loading one.
 */
#pragma once

#include "engine/model/model-private.h"

G_BEGIN_DECLS

/* What counts where a file does not say it. */
typedef struct
{
  KvasirWindow window;
  guint n_swa;         /* tokens; 0: the key may not miss, unless a window may */
  gboolean may_be_off; /* a window of 0, or none at all with n_swa 0: no layer slides */
  guint period;        /* layer il slides where il % period < period - 1; 0: the key may not miss */
  gboolean full_first; /* or where il % period > 0 */
} KvasirSliding;

/* Reads attention.sliding_window and attention.sliding_window_pattern, a period or a boolean for
 * each layer, into memory class, window, n_swa and is_swa. */
gboolean kvasir_read_sliding (KvasirModel *model, const KvasirSliding *defaults, GError **error);

/* rope.freq_base_swa (@freq_base where it is missing) without scaling for the layers that slide;
 * they do not use the model's frequency factors. */
gboolean kvasir_read_sliding_rope (KvasirModel *model, float freq_base, GError **error);

/* Reads attention.shared_kv_layers (@n_shared where it is missing): so many last layers have no
 * rows of their own. Sliding ones read those of the last but one layer that has, full ones those of
 * the last. Call when heads and widths are final. */
gboolean kvasir_read_sharing (KvasirModel *model, guint n_shared, GError **error);

G_END_DECLS
