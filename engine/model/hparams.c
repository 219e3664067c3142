#include "engine/model/hparams.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "engine/model/keys.h"

/* A number of at least @lowest for all layers, or one for each. @offset: of the member in
 * KvasirLayerHparams. */
static gboolean
read_per_layer (KvasirKeys *keys,
                KvasirHparams *hp,
                const char *name,
                gsize offset,
                guint lowest,
                GError **error)
{
  gint64 value[KVASIR_MAX_LAYERS];
  guint64 n;
  KvasirGgufType type;

  kvasir_keys_name (keys, name);
  if (kvasir_gguf_get_array (keys->gguf, keys->key, &type, &n))
    {
      if (!kvasir_keys_get_array (keys, name, hp->n_layers, KVASIR_MAX_WIDTH, value, error))
        return FALSE;
    }
  else
    {
      value[0] = lowest == 0 ? 0 : G_STRUCT_MEMBER (guint, &hp->layers[0], offset);
      if (!kvasir_gguf_has_key (keys->gguf, keys->key) && value[0] == 0 && lowest > 0)
        return kvasir_keys_fail (keys, error, "this key is expected and missing");
      if (kvasir_gguf_has_key (keys->gguf, keys->key) &&
          !kvasir_gguf_get_i64 (keys->gguf, keys->key, &value[0]))
        return kvasir_keys_fail_kind (keys, "a whole number", error);
      for (guint i = 1; i < hp->n_layers; i++)
        value[i] = value[0];
    }
  for (guint i = 0; i < hp->n_layers; i++)
    {
      if (value[i] < lowest || value[i] > KVASIR_MAX_WIDTH)
        return kvasir_keys_fail (keys, error,
                                 "layer %u: %u to %u expected, %" G_GINT64_FORMAT " found", i,
                                 lowest, KVASIR_MAX_WIDTH, value[i]);
      G_STRUCT_MEMBER (guint, &hp->layers[i], offset) = (guint) value[i];
    }
  return TRUE;
}

static gboolean
read_layers (KvasirKeys *keys, KvasirHparams *hp, guint lowest, GError **error)
{
  if (!read_per_layer (keys, hp, "attention.head_count",
                       G_STRUCT_OFFSET (KvasirLayerHparams, n_heads), lowest, error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    hp->layers[i].n_kv_heads = hp->layers[i].n_heads;
  if (kvasir_keys_has (keys, "attention.head_count_kv") &&
      !read_per_layer (keys, hp, "attention.head_count_kv",
                       G_STRUCT_OFFSET (KvasirLayerHparams, n_kv_heads), lowest, error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].n_kv_heads > 0 && hp->layers[i].n_heads % hp->layers[i].n_kv_heads != 0)
      return kvasir_keys_fail (keys, error, "layer %u: a divisor of %u heads expected, %u found", i,
                               hp->layers[i].n_heads, hp->layers[i].n_kv_heads);
  return read_per_layer (keys, hp, "feed_forward_length",
                         G_STRUCT_OFFSET (KvasirLayerHparams, n_ff), lowest, error);
}

static gboolean
read_heads (KvasirKeys *keys, KvasirHparams *hp, GError **error)
{
  guint n_rot;

  guint n_heads = 0;

  for (guint i = 0; i < hp->n_layers && n_heads == 0; i++)
    n_heads = hp->layers[i].n_heads;
  /* Nothing but recurrent layers: no heads, no rotation. */
  if (n_heads == 0)
    return TRUE;
  hp->head_dim_k = hp->head_dim_v = hp->n_embd / n_heads;
  if (!kvasir_keys_get_size (keys, "attention.key_length", KVASIR_MAX_WIDTH, &hp->head_dim_k,
                             error) ||
      !kvasir_keys_get_size (keys, "attention.value_length", KVASIR_MAX_WIDTH, &hp->head_dim_v,
                             error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    if ((guint64) hp->layers[i].n_heads * MAX (hp->head_dim_k, hp->head_dim_v) > KVASIR_MAX_WIDTH)
      return kvasir_keys_fail (keys, error, "layer %u: heads times head width above %u", i,
                               KVASIR_MAX_WIDTH);
  n_rot = hp->head_dim_k;
  if (!kvasir_keys_get_size (keys, "rope.dimension_count", hp->head_dim_k, &n_rot, error))
    return FALSE;
  if (n_rot % 2 != 0)
    return kvasir_keys_fail (keys, error, "an even number expected, %u found", n_rot);
  hp->rope.n_rot = (gint32) n_rot;
  hp->attention_scale = 0;
  if (!kvasir_keys_get_float (keys, "attention.scale", &hp->attention_scale, error))
    return FALSE;
  if (hp->attention_scale == 0)
    hp->attention_scale = 1.0f / sqrtf ((float) hp->head_dim_k);
  return TRUE;
}

static gboolean
read_scaling_type (KvasirKeys *keys, KvasirHparams *hp, GError **error)
{
  static const char *const names[] = { "none", "linear", "yarn", "longrope" };
  const char *type =
      kvasir_gguf_get_string (keys->gguf, kvasir_keys_name (keys, "rope.scaling.type"), NULL);

  hp->rope_scaling = KVASIR_ROPE_SCALING_LINEAR;
  if (type == NULL)
    return !kvasir_gguf_has_key (keys->gguf, keys->key) ||
           kvasir_keys_fail_kind (keys, "a text", error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (type, names[i]) == 0)
      {
        hp->rope_scaling = (KvasirRopeScaling) i;
        return TRUE;
      }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: none, linear, yarn or longrope supported, \"%s\" found",
               kvasir_gguf_get_path (keys->gguf), keys->key, type);
  return FALSE;
}

/* Yarn's magnitude is attn_factor (1 + 0.1 ln factor); the operation multiplies that in. */
static gboolean
read_yarn (KvasirKeys *keys, KvasirHparams *hp, GError **error)
{
  KvasirRopeParams *rope = &hp->rope;
  float own = 1;

  rope->ext_factor = 1;
  rope->beta_fast = 32;
  rope->beta_slow = 1;
  if (!kvasir_keys_get_float (keys, "rope.scaling.yarn_ext_factor", &rope->ext_factor, error) ||
      !kvasir_keys_get_float (keys, "rope.scaling.yarn_attn_factor", &own, error) ||
      !kvasir_keys_get_float (keys, "rope.scaling.yarn_beta_fast", &rope->beta_fast, error))
    return FALSE;
  if (rope->beta_fast <= 0)
    return kvasir_keys_fail (keys, error, "above 0 expected, %g found", (double) rope->beta_fast);
  if (!kvasir_keys_get_float (keys, "rope.scaling.yarn_beta_slow", &rope->beta_slow, error))
    return FALSE;
  rope->attn_factor *= own;
  kvasir_keys_name (keys, "rope.scaling.yarn_beta_slow");
  return rope->beta_slow > 0 ||
         kvasir_keys_fail (keys, error, "above 0 expected, %g found", (double) rope->beta_slow);
}

/* No two families agree on a number, so there is no default. */
static gboolean
read_epsilons (KvasirKeys *keys, KvasirHparams *hp, GError **error)
{
  if (!kvasir_keys_has (keys, "attention.layer_norm_epsilon") &&
      !kvasir_keys_has (keys, "attention.layer_norm_rms_epsilon"))
    return kvasir_keys_fail (keys, error, "this key is expected and missing");
  if (!kvasir_keys_get_float (keys, "attention.layer_norm_epsilon", &hp->norm_eps, error))
    return FALSE;
  if (hp->norm_eps < 0)
    return kvasir_keys_fail (keys, error, "0 or more expected, %g found", (double) hp->norm_eps);
  if (!kvasir_keys_get_float (keys, "attention.layer_norm_rms_epsilon", &hp->rms_eps, error))
    return FALSE;
  return hp->rms_eps >= 0 ||
         kvasir_keys_fail (keys, error, "0 or more expected, %g found", (double) hp->rms_eps);
}

static gboolean
read_rope (KvasirKeys *keys, KvasirHparams *hp, GError **error)
{
  KvasirRopeParams *rope = &hp->rope;
  guint n_ctx_orig = hp->n_ctx_train;
  float factor = 0;

  rope->freq_base = 10000;
  rope->freq_scale = rope->attn_factor = 1;
  if (!kvasir_keys_get_float (keys, "rope.freq_base", &rope->freq_base, error))
    return FALSE;
  if (rope->freq_base <= 0)
    return kvasir_keys_fail (keys, error, "above 0 expected, %g found", (double) rope->freq_base);
  if (!read_scaling_type (keys, hp, error) ||
      !kvasir_keys_get_size (keys, "rope.scaling.original_context_length", KVASIR_MAX_CONTEXT,
                             &n_ctx_orig, error) ||
      !kvasir_keys_get_float (keys, "rope.scale_linear", &factor, error) ||
      !kvasir_keys_get_float (keys, "rope.scaling.factor", &factor, error))
    return FALSE;
  if (factor < 0)
    return kvasir_keys_fail (keys, error, "above 0 expected, %g found", (double) factor);
  if (!kvasir_keys_get_float (keys, "rope.scaling.attn_factor", &rope->attn_factor, error))
    return FALSE;
  rope->n_ctx_orig = (gint32) n_ctx_orig;
  if (factor > 0 && (hp->rope_scaling == KVASIR_ROPE_SCALING_LINEAR ||
                     hp->rope_scaling == KVASIR_ROPE_SCALING_YARN))
    rope->freq_scale = 1 / factor;
  return hp->rope_scaling != KVASIR_ROPE_SCALING_YARN || read_yarn (keys, hp, error);
}

/* What a layer of the plain decoder keeps. */
static void
fill_layers (KvasirHparams *hp)
{
  for (guint i = 0; i < hp->n_layers; i++)
    {
      KvasirLayerHparams *layer = &hp->layers[i];

      layer->head_dim_k = hp->head_dim_k;
      layer->head_dim_v = hp->head_dim_v;
      layer->has_attention = layer->n_kv_heads > 0;
      layer->share = -1;
      layer->has_rope_factors = TRUE;
    }
  kvasir_hparams_set_rope (hp, &hp->rope);
  kvasir_hparams_fit_rows (hp);
}

void
kvasir_hparams_set_rope (KvasirHparams *self, const KvasirRopeParams *rope)
{
  self->rope = *rope;
  for (guint i = 0; i < self->n_layers; i++)
    self->layers[i].rope = *rope;
}

void
kvasir_hparams_set_neox (KvasirHparams *self)
{
  self->rope.neox = 1;
  for (guint i = 0; i < self->n_layers; i++)
    self->layers[i].rope.neox = 1;
}

void
kvasir_hparams_fit_rows (KvasirHparams *self)
{
  for (guint i = 0; i < self->n_layers; i++)
    {
      KvasirLayerHparams *layer = &self->layers[i];

      layer->n_embd_k = layer->has_attention ? layer->head_dim_k * layer->n_kv_heads : 0;
      layer->n_embd_v = layer->has_attention ? layer->head_dim_v * layer->n_kv_heads : 0;
    }
}

void
kvasir_hparams_drop_rope (KvasirHparams *self)
{
  KvasirRopeParams rope = self->rope;

  rope.n_rot = 0;
  kvasir_hparams_set_rope (self, &rope);
}

gboolean
kvasir_hparams_skip_drafts (KvasirHparams *self, KvasirKeys *keys, GError **error)
{
  guint n_drafts = 0;

  if (!kvasir_keys_get_count (keys, "nextn_predict_layers", self->n_layers - 1, &n_drafts, error))
    return FALSE;
  self->n_layers -= n_drafts;
  return TRUE;
}

gboolean
kvasir_hparams_read_sections (KvasirHparams *self, KvasirKeys *keys, GError **error)
{
  gint64 sections[4];
  gint64 n_pairs = self->rope.n_rot / 2, sum = 0;
  KvasirRopeParams rope = self->rope;

  if (!kvasir_keys_get_array (keys, "rope.dimension_sections", 4, n_pairs, sections, error))
    return FALSE;
  for (guint i = 0; i < 4; i++)
    {
      rope.sections[i] = (gint32) sections[i];
      sum += sections[i];
    }
  if (sum < 1)
    return kvasir_keys_fail (
        keys, error, "sections of 1 to %" G_GINT64_FORMAT " pairs expected, none found", n_pairs);
  rope.neox = 1;
  self->n_pos_per_token = 4;
  kvasir_hparams_set_rope (self, &rope);
  return TRUE;
}

gboolean
kvasir_hparams_read (KvasirHparams *self,
                     const KvasirGguf *gguf,
                     const char *arch,
                     guint n_vocab,
                     guint lowest,
                     GError **error)
{
  KvasirKeys keys = { gguf, arch, "" };

  memset (self, 0, sizeof *self);
  self->rms_eps = self->norm_eps = 1e-5f;
  self->memory_class = KVASIR_MEMORY_KV;
  self->is_causal = TRUE;
  self->n_pos_per_token = 1;
  self->n_vocab = n_vocab;
  if (n_vocab == 0 &&
      !kvasir_keys_get_size (&keys, "vocab_size", KVASIR_MAX_WIDTH, &self->n_vocab, error))
    return FALSE;
  if (!kvasir_keys_get_size (&keys, "block_count", KVASIR_MAX_LAYERS, &self->n_layers, error) ||
      !kvasir_keys_get_size (&keys, "embedding_length", KVASIR_MAX_WIDTH, &self->n_embd, error) ||
      !kvasir_keys_get_size (&keys, "context_length", KVASIR_MAX_CONTEXT, &self->n_ctx_train,
                             error) ||
      !read_layers (&keys, self, lowest, error) || !read_heads (&keys, self, error) ||
      !read_epsilons (&keys, self, error) || !read_rope (&keys, self, error))
    return FALSE;
  fill_layers (self);
  return TRUE;
}
