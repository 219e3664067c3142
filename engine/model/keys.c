#include "engine/model/keys.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"

static void G_GNUC_PRINTF (4, 0)
    set_error (const KvasirKeys *keys, GError **error, int code, const char *format, va_list args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);

  g_set_error (error, KVASIR_ENGINE_ERROR, code, "%s: %s: %s", kvasir_gguf_get_path (keys->gguf),
               keys->key, text);
}

gboolean
kvasir_keys_fail (const KvasirKeys *keys, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set_error (keys, error, KVASIR_ENGINE_ERROR_BAD_FILE, format, args);
  va_end (args);
  return FALSE;
}

gboolean
kvasir_keys_refuse (const KvasirKeys *keys, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set_error (keys, error, KVASIR_ENGINE_ERROR_UNSUPPORTED, format, args);
  va_end (args);
  return FALSE;
}

static const char *
describe_kind (KvasirGgufType type)
{
  switch (type)
    {
    case KVASIR_GGUF_STRING:
      return "a text";
    case KVASIR_GGUF_ARRAY:
      return "an array";
    case KVASIR_GGUF_BOOL:
      return "true or false";
    case KVASIR_GGUF_F32:
    case KVASIR_GGUF_F64:
      return "a floating point number";
    default:
      return "a whole number";
    }
}

gboolean
kvasir_keys_fail_kind (const KvasirKeys *keys, const char *expected, GError **error)
{
  KvasirGgufType type = KVASIR_GGUF_U32;

  for (guint i = 0; i < kvasir_gguf_get_n_keys (keys->gguf); i++)
    if (strcmp (kvasir_gguf_get_key (keys->gguf, i, &type), keys->key) == 0)
      break;
  return kvasir_keys_fail (keys, error, "%s expected, %s found", expected, describe_kind (type));
}

const char *
kvasir_keys_name (KvasirKeys *keys, const char *name)
{
  g_snprintf (keys->key, sizeof keys->key, "%s.%s", keys->arch, name);
  return keys->key;
}

/* A number from 1 to @max. A missing key leaves the default in @value; 0 there: it may not miss. */
gboolean
kvasir_keys_get_size (KvasirKeys *keys, const char *name, guint max, guint *value, GError **error)
{
  gint64 found = 0;

  kvasir_keys_name (keys, name);
  if (!kvasir_gguf_has_key (keys->gguf, keys->key))
    {
      if (*value != 0)
        return TRUE;
      return kvasir_keys_fail (keys, error, "this key is expected and missing");
    }
  if (!kvasir_gguf_get_i64 (keys->gguf, keys->key, &found))
    return kvasir_keys_fail_kind (keys, "a whole number", error);
  if (found < 1 || found > max)
    return kvasir_keys_fail (keys, error, "1 to %u expected, %" G_GINT64_FORMAT " found", max,
                             found);
  *value = (guint) found;
  return TRUE;
}

gboolean
kvasir_keys_get_count (KvasirKeys *keys, const char *name, guint max, guint *value, GError **error)
{
  gint64 found = 0;

  if (!kvasir_keys_has (keys, name))
    return TRUE;
  if (!kvasir_gguf_get_i64 (keys->gguf, keys->key, &found))
    return kvasir_keys_fail_kind (keys, "a whole number", error);
  if (found < 0 || found > max)
    return kvasir_keys_fail (keys, error, "0 to %u expected, %" G_GINT64_FORMAT " found", max,
                             found);
  *value = (guint) found;
  return TRUE;
}

/* A missing key leaves the default in @value. */
gboolean
kvasir_keys_get_float (KvasirKeys *keys, const char *name, float *value, GError **error)
{
  float found;

  kvasir_keys_name (keys, name);
  if (!kvasir_gguf_has_key (keys->gguf, keys->key))
    return TRUE;
  if (!kvasir_gguf_get_f32 (keys->gguf, keys->key, &found))
    return kvasir_keys_fail_kind (keys, "a floating point number", error);
  if (!isfinite (found))
    return kvasir_keys_fail (keys, error, "a finite number expected, %g found", (double) found);
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

gboolean
kvasir_keys_has (KvasirKeys *keys, const char *name)
{
  return kvasir_gguf_has_key (keys->gguf, kvasir_keys_name (keys, name));
}

gboolean
kvasir_keys_get_bool (KvasirKeys *keys, const char *name, gboolean *value, GError **error)
{
  return !kvasir_keys_has (keys, name) || kvasir_gguf_get_bool (keys->gguf, keys->key, value) ||
         kvasir_keys_fail_kind (keys, "true or false", error);
}

gboolean
kvasir_keys_get_array (
    KvasirKeys *keys, const char *name, guint n, gint64 max, gint64 *values, GError **error)
{
  guint64 n_found = 0;
  KvasirGgufType type;
  const guint8 *data;

  kvasir_keys_name (keys, name);
  if (!kvasir_gguf_get_array (keys->gguf, keys->key, &type, &n_found) || n_found < n ||
      (type != KVASIR_GGUF_U32 && type != KVASIR_GGUF_I32 && type != KVASIR_GGUF_U64 &&
       type != KVASIR_GGUF_I64 && type != KVASIR_GGUF_BOOL))
    return kvasir_keys_fail (
        keys, error, "%u whole numbers expected, %" G_GUINT64_FORMAT " values found", n, n_found);
  data = kvasir_gguf_get_array_data (keys->gguf, keys->key);
  for (guint i = 0; i < n; i++)
    {
      values[i] = type == KVASIR_GGUF_BOOL ? data[i] != 0 : read_element (data, type, i);
      if (values[i] < 0 || values[i] > max)
        return kvasir_keys_fail (keys, error,
                                 "element %u: 0 to %" G_GINT64_FORMAT " expected, %" G_GINT64_FORMAT
                                 " found",
                                 i, max, values[i]);
    }
  return TRUE;
}

gboolean
kvasir_keys_get_floats (KvasirKeys *keys, const char *name, guint n, float *values, GError **error)
{
  guint64 n_found = 0;
  KvasirGgufType type;

  if (!kvasir_keys_has (keys, name))
    return kvasir_keys_fail (keys, error, "this key is expected and missing");
  if (kvasir_gguf_get_array (keys->gguf, keys->key, &type, &n_found))
    {
      if (type != KVASIR_GGUF_F32)
        return kvasir_keys_fail (keys, error, "values of type f32 expected, others found");
      if (n_found < n)
        return kvasir_keys_fail (keys, error, "%u numbers expected, %" G_GUINT64_FORMAT " found", n,
                                 n_found);
      memcpy (values, kvasir_gguf_get_array_data (keys->gguf, keys->key), n * sizeof *values);
    }
  else if (!kvasir_keys_get_float (keys, name, &values[0], error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      if (n_found == 0)
        values[i] = values[0];
      if (!isfinite (values[i]))
        return kvasir_keys_fail (keys, error, "element %u: a finite number expected, %g found", i,
                                 (double) values[i]);
    }
  return TRUE;
}
