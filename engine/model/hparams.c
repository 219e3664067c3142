#include "engine/model/hparams.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"

/* Far above every model known, far below what would overflow a product of two in 64 bits. */
#define MAX_WIDTH (1u << 24)
#define MAX_CONTEXT (1u << 30)

#define KEY_LEN 128

typedef struct
{
  const KvasirGguf *gguf;
  const char *arch;
  char key[KEY_LEN]; /* the key looked at last, for messages */
} Reader;

static gboolean bad_value (const Reader *reader, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
bad_value (const Reader *reader, GError **error, const char *format, ...)
{
  va_list args;
  g_autofree char *text = NULL;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE, "%s: %s: %s",
               kvasir_gguf_get_path (reader->gguf), reader->key, text);
  return FALSE;
}

static const char *
make_key (Reader *reader, const char *name)
{
  g_snprintf (reader->key, sizeof reader->key, "%s.%s", reader->arch, name);
  return reader->key;
}

/* A number from 1 to @max. A missing key leaves the default in @value; 0 there: it may not miss. */
static gboolean
read_size (Reader *reader, const char *name, guint max, guint *value, GError **error)
{
  gint64 found = 0;

  make_key (reader, name);
  if (!kvasir_gguf_has_key (reader->gguf, reader->key))
    {
      if (*value != 0)
        return TRUE;
      return bad_value (reader, error, "this key is expected and missing");
    }
  if (!kvasir_gguf_get_i64 (reader->gguf, reader->key, &found))
    return bad_value (reader, error, "a whole number expected");
  if (found < 1 || found > max)
    return bad_value (reader, error, "1 to %u expected, %" G_GINT64_FORMAT " found", max, found);
  *value = (guint) found;
  return TRUE;
}

/* A missing key leaves the default in @value. */
static gboolean
read_float (Reader *reader, const char *name, float *value, GError **error)
{
  float found;

  make_key (reader, name);
  if (!kvasir_gguf_has_key (reader->gguf, reader->key))
    return TRUE;
  if (!kvasir_gguf_get_f32 (reader->gguf, reader->key, &found))
    return bad_value (reader, error, "a floating point number expected");
  if (!isfinite (found))
    return bad_value (reader, error, "a finite number expected, %g found", (double) found);
  *value = found;
  return TRUE;
}

static gint64
read_element (const guint8 *data, KvasirGgufType type, guint i)
{
  guint32 value;
  gint64 wide;

  if (type == KVASIR_GGUF_U32 || type == KVASIR_GGUF_I32)
    {
      memcpy (&value, data + (gsize) i * 4, 4);
      return type == KVASIR_GGUF_U32 ? (gint64) value : (gint32) value;
    }
  memcpy (&wide, data + (gsize) i * 8, 8);
  return wide;
}

/* A number for all layers, or one for each. @offset: of the member in KvasirLayerHparams. */
static gboolean
read_per_layer (Reader *reader, KvasirHparams *hp, const char *name, gsize offset, GError **error)
{
  guint64 n;
  guint value = 0;
  KvasirGgufType type;
  const guint8 *data;

  make_key (reader, name);
  if (!kvasir_gguf_get_array (reader->gguf, reader->key, &type, &n))
    {
      value = G_STRUCT_MEMBER (guint, &hp->layers[0], offset);
      if (!read_size (reader, name, MAX_WIDTH, &value, error))
        return FALSE;
      for (guint i = 0; i < hp->n_layers; i++)
        G_STRUCT_MEMBER (guint, &hp->layers[i], offset) = value;
      return TRUE;
    }
  data = kvasir_gguf_get_array_data (reader->gguf, reader->key);
  if (n < hp->n_layers || (type != KVASIR_GGUF_U32 && type != KVASIR_GGUF_I32 &&
                           type != KVASIR_GGUF_U64 && type != KVASIR_GGUF_I64))
    return bad_value (reader, error, "%u whole numbers expected, %" G_GUINT64_FORMAT " found",
                      hp->n_layers, n);
  for (guint i = 0; i < hp->n_layers; i++)
    {
      gint64 element = read_element (data, type, i);
      if (element < 1 || element > MAX_WIDTH)
        return bad_value (reader, error, "layer %u: 1 to %u expected, %" G_GINT64_FORMAT " found",
                          i, MAX_WIDTH, element);
      G_STRUCT_MEMBER (guint, &hp->layers[i], offset) = (guint) element;
    }
  return TRUE;
}

static gboolean
read_layers (Reader *reader, KvasirHparams *hp, GError **error)
{
  if (!read_per_layer (reader, hp, "attention.head_count",
                       G_STRUCT_OFFSET (KvasirLayerHparams, n_heads), error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    hp->layers[i].n_kv_heads = hp->layers[i].n_heads;
  if (kvasir_gguf_has_key (reader->gguf, make_key (reader, "attention.head_count_kv")) &&
      !read_per_layer (reader, hp, "attention.head_count_kv",
                       G_STRUCT_OFFSET (KvasirLayerHparams, n_kv_heads), error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].n_heads % hp->layers[i].n_kv_heads != 0)
      return bad_value (reader, error, "layer %u: a divisor of %u heads expected, %u found", i,
                        hp->layers[i].n_heads, hp->layers[i].n_kv_heads);
  return read_per_layer (reader, hp, "feed_forward_length",
                         G_STRUCT_OFFSET (KvasirLayerHparams, n_ff), error);
}

static gboolean
read_heads (Reader *reader, KvasirHparams *hp, GError **error)
{
  guint n_rot;

  hp->head_dim_k = hp->head_dim_v = hp->n_embd / hp->layers[0].n_heads;
  if (!read_size (reader, "attention.key_length", MAX_WIDTH, &hp->head_dim_k, error) ||
      !read_size (reader, "attention.value_length", MAX_WIDTH, &hp->head_dim_v, error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    if ((guint64) hp->layers[i].n_heads * MAX (hp->head_dim_k, hp->head_dim_v) > MAX_WIDTH)
      return bad_value (reader, error, "layer %u: heads times head width above %u", i, MAX_WIDTH);
  n_rot = hp->head_dim_k;
  if (!read_size (reader, "rope.dimension_count", hp->head_dim_k, &n_rot, error))
    return FALSE;
  if (n_rot % 2 != 0)
    return bad_value (reader, error, "an even number expected, %u found", n_rot);
  hp->rope.n_rot = (gint32) n_rot;
  hp->attention_scale = 0;
  if (!read_float (reader, "attention.scale", &hp->attention_scale, error))
    return FALSE;
  if (hp->attention_scale == 0)
    hp->attention_scale = 1.0f / sqrtf ((float) hp->head_dim_k);
  return TRUE;
}

static gboolean
read_scaling_type (Reader *reader, KvasirHparams *hp, GError **error)
{
  static const char *const names[] = { "none", "linear", "yarn", "longrope" };
  const char *type =
      kvasir_gguf_get_string (reader->gguf, make_key (reader, "rope.scaling.type"), NULL);

  hp->rope_scaling = KVASIR_ROPE_SCALING_LINEAR;
  if (type == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (type, names[i]) == 0)
      {
        hp->rope_scaling = (KvasirRopeScaling) i;
        return TRUE;
      }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: none, linear, yarn or longrope supported, \"%s\" found",
               kvasir_gguf_get_path (reader->gguf), reader->key, type);
  return FALSE;
}

/* Yarn's magnitude is attn_factor (1 + 0.1 ln factor), which the operation multiplies in; models
 * with a log multiplier want it divided by the same for their own multiplier. */
static gboolean
read_yarn (Reader *reader, KvasirHparams *hp, float factor, GError **error)
{
  KvasirRopeParams *rope = &hp->rope;
  float log_multiplier = 0, own = 1;

  rope->ext_factor = 1;
  rope->beta_fast = 32;
  rope->beta_slow = 1;
  if (!read_float (reader, "rope.scaling.yarn_ext_factor", &rope->ext_factor, error) ||
      !read_float (reader, "rope.scaling.yarn_attn_factor", &own, error) ||
      !read_float (reader, "rope.scaling.yarn_beta_fast", &rope->beta_fast, error) ||
      !read_float (reader, "rope.scaling.yarn_beta_slow", &rope->beta_slow, error) ||
      !read_float (reader, "rope.scaling.yarn_log_multiplier", &log_multiplier, error))
    return FALSE;
  rope->attn_factor *= own;
  if (log_multiplier != 0 && factor > 1)
    rope->attn_factor /= 1 + log_multiplier * logf (factor);
  return TRUE;
}

static gboolean
read_rope (Reader *reader, KvasirHparams *hp, GError **error)
{
  KvasirRopeParams *rope = &hp->rope;
  guint n_ctx_orig = hp->n_ctx_train;
  float factor = 0;

  rope->freq_base = 10000;
  rope->freq_scale = rope->attn_factor = 1;
  if (!read_float (reader, "rope.freq_base", &rope->freq_base, error))
    return FALSE;
  if (rope->freq_base <= 0)
    return bad_value (reader, error, "above 0 expected, %g found", (double) rope->freq_base);
  if (!read_scaling_type (reader, hp, error) ||
      !read_size (reader, "rope.scaling.original_context_length", MAX_CONTEXT, &n_ctx_orig,
                  error) ||
      !read_float (reader, "rope.scale_linear", &factor, error) ||
      !read_float (reader, "rope.scaling.factor", &factor, error))
    return FALSE;
  if (factor < 0)
    return bad_value (reader, error, "above 0 expected, %g found", (double) factor);
  if (!read_float (reader, "rope.scaling.attn_factor", &rope->attn_factor, error))
    return FALSE;
  rope->n_ctx_orig = (gint32) n_ctx_orig;
  if (factor > 0 && (hp->rope_scaling == KVASIR_ROPE_SCALING_LINEAR ||
                     hp->rope_scaling == KVASIR_ROPE_SCALING_YARN))
    rope->freq_scale = 1 / factor;
  return hp->rope_scaling != KVASIR_ROPE_SCALING_YARN || read_yarn (reader, hp, factor, error);
}

gboolean
kvasir_hparams_read (
    KvasirHparams *self, const KvasirGguf *gguf, const char *arch, guint n_vocab, GError **error)
{
  Reader reader = { gguf, arch, "" };

  memset (self, 0, sizeof *self);
  self->rms_eps = 1e-5f;
  self->n_vocab = n_vocab;
  if (n_vocab == 0 && !read_size (&reader, "vocab_size", MAX_WIDTH, &self->n_vocab, error))
    return FALSE;
  return read_size (&reader, "block_count", KVASIR_MAX_LAYERS, &self->n_layers, error) &&
         read_size (&reader, "embedding_length", MAX_WIDTH, &self->n_embd, error) &&
         read_size (&reader, "context_length", MAX_CONTEXT, &self->n_ctx_train, error) &&
         read_layers (&reader, self, error) && read_heads (&reader, self, error) &&
         read_float (&reader, "attention.layer_norm_rms_epsilon", &self->rms_eps, error) &&
         read_rope (&reader, self, error);
}
