#include "engine/model/encoder.h"

#include "engine/model/sliding.h"

static gboolean
read_pooling (KvasirHparams *hp, KvasirKeys *keys, GError **error)
{
  gint64 found = KVASIR_POOLING_NONE;

  if (!kvasir_keys_has (keys, "pooling_type"))
    return TRUE;
  if (!kvasir_gguf_get_i64 (keys->gguf, keys->key, &found))
    return kvasir_keys_fail_kind (keys, "a whole number", error);
  if (found < KVASIR_POOLING_NONE || found > KVASIR_POOLING_LAST)
    return kvasir_keys_refuse (keys, error,
                               "0 (none), 1 (mean), 2 (first) or 3 (last) supported, "
                               "%" G_GINT64_FORMAT " found",
                               found);
  hp->pooling = (KvasirPooling) found;
  return TRUE;
}

gboolean
kvasir_setup_encoder (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  gboolean is_causal = FALSE;

  if (!kvasir_keys_get_bool (&keys, "attention.causal", &is_causal, error))
    return FALSE;
  if (is_causal)
    return kvasir_keys_refuse (&keys, error, "false supported, true found");
  hp->memory_class = KVASIR_MEMORY_NONE;
  hp->is_causal = FALSE;
  return read_pooling (hp, &keys, error);
}

static gboolean
read_pattern (KvasirHparams *hp, KvasirKeys *keys, const KvasirSymmetric *defaults, GError **error)
{
  static const char *const name = "attention.sliding_window_pattern";
  const guint first = defaults->full_first ? 0 : 1;
  gint64 slides[KVASIR_MAX_LAYERS];
  guint period = defaults->period;
  guint64 n;
  KvasirGgufType type;

  if (kvasir_gguf_get_array (keys->gguf, kvasir_keys_name (keys, name), &type, &n))
    {
      if (!kvasir_keys_get_array (keys, name, hp->n_layers, 1, slides, error))
        return FALSE;
    }
  else if (!kvasir_keys_get_size (keys, name, KVASIR_MAX_LAYERS, &period, error))
    return FALSE;
  else
    for (guint il = 0; il < hp->n_layers; il++)
      slides[il] = (il + first) % period != 0;
  for (guint il = 0; il < hp->n_layers; il++)
    hp->layers[il].is_swa = slides[il] != 0;
  return TRUE;
}

gboolean
kvasir_read_symmetric_window (KvasirModel *model, const KvasirSymmetric *defaults, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (!kvasir_keys_get_count (&keys, "attention.sliding_window", KVASIR_MAX_CONTEXT, &hp->n_swa,
                              error))
    return FALSE;
  if (hp->n_swa == 0)
    return TRUE;
  hp->window = KVASIR_WINDOW_SYMMETRIC;
  return read_pattern (hp, &keys, defaults, error) &&
         kvasir_read_sliding_rope (model, defaults->freq_base, error);
}

void
kvasir_build_rows (KvasirModelBuild *build, KvasirTensor *x)
{
  kvasir_graph_set_layer (build->graph, -1);
  kvasir_build_begin_outputs (build);
  build->logits = kvasir_build_take_outputs (build, x);
}
