#include "engine/model/sliding.h"

static gboolean
read_window (KvasirModel *model, KvasirKeys *keys, const KvasirSliding *defaults, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  hp->n_swa = defaults->n_swa;
  if (!defaults->may_be_off)
    return kvasir_keys_get_size (keys, "attention.sliding_window", KVASIR_MAX_CONTEXT, &hp->n_swa,
                                 error);
  return kvasir_keys_get_count (keys, "attention.sliding_window", KVASIR_MAX_CONTEXT, &hp->n_swa,
                                error);
}

static gboolean
read_pattern (KvasirModel *model, KvasirKeys *keys, const KvasirSliding *defaults, GError **error)
{
  static const char *const name = "attention.sliding_window_pattern";
  KvasirHparams *hp = &model->hparams;
  guint period = defaults->period;
  gint64 slides[KVASIR_MAX_LAYERS];
  guint64 n;
  KvasirGgufType type;

  if (kvasir_gguf_get_array (keys->gguf, kvasir_keys_name (keys, name), &type, &n))
    {
      if (!kvasir_keys_get_array (keys, name, hp->n_layers, 1, slides, error))
        return FALSE;
      for (guint i = 0; i < hp->n_layers; i++)
        hp->layers[i].is_swa = slides[i] != 0;
      return TRUE;
    }
  if (!kvasir_keys_get_size (keys, name, KVASIR_MAX_LAYERS, &period, error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    hp->layers[i].is_swa = defaults->full_first ? i % period > 0 : i % period < period - 1;
  return TRUE;
}

gboolean
kvasir_read_sliding (KvasirModel *model, const KvasirSliding *defaults, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (!read_window (model, &keys, defaults, error))
    return FALSE;
  if (hp->n_swa == 0)
    return TRUE;
  hp->window = defaults->window;
  hp->memory_class = KVASIR_MEMORY_KV_ISWA;
  return read_pattern (model, &keys, defaults, error);
}

gboolean
kvasir_read_sliding_rope (KvasirModel *model, float freq_base, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (!kvasir_keys_get_float (&keys, "rope.freq_base_swa", &freq_base, error))
    return FALSE;
  if (freq_base <= 0)
    return kvasir_keys_fail (&keys, error, "above 0 expected, %g found", (double) freq_base);
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].is_swa)
      {
        KvasirRopeParams *rope = &hp->layers[i].rope;
        rope->freq_base = freq_base;
        rope->freq_scale = rope->attn_factor = 1;
        rope->ext_factor = 0;
        hp->layers[i].has_rope_factors = FALSE;
      }
  return TRUE;
}

/* The layer read must be of the same kind and its rows of the same width. */
static gboolean
check_share (const KvasirHparams *hp, const KvasirKeys *keys, guint il, gint from, GError **error)
{
  const KvasirLayerHparams *layer = &hp->layers[il], *other = &hp->layers[from];

  if (layer->is_swa != other->is_swa)
    return kvasir_keys_fail (
        keys, error,
        "layer %u reads the rows of layer %d: a %s layer expected there, a %s one found", il, from,
        layer->is_swa ? "sliding" : "full", other->is_swa ? "sliding" : "full");
  if (layer->n_kv_heads != other->n_kv_heads)
    return kvasir_keys_fail (keys, error,
                             "layer %u reads the rows of layer %d: its %u heads expected, %u found",
                             il, from, other->n_kv_heads, layer->n_kv_heads);
  return TRUE;
}

gboolean
kvasir_read_sharing (KvasirModel *model, guint n_shared, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint n_own;

  if (!kvasir_keys_get_count (&keys, "attention.shared_kv_layers", hp->n_layers, &n_shared, error))
    return FALSE;
  n_own = hp->n_layers - n_shared;
  for (guint i = n_own; i < hp->n_layers; i++)
    {
      const guint back = hp->layers[i].is_swa ? 2 : 1;
      if (n_own < back)
        return kvasir_keys_fail (&keys, error,
                                 "layer %u reads the rows of another: at least %u layers with rows "
                                 "expected, %u of %u found",
                                 i, back, n_own, hp->n_layers);
      if (!check_share (hp, &keys, i, (gint) (n_own - back), error))
        return FALSE;
      hp->layers[i].share = (gint) (n_own - back);
    }
  return TRUE;
}
