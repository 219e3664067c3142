#include "tests/engine/gguf/gguf-writer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void
put_u32 (GByteArray *out, guint32 value)
{
  value = GUINT32_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, sizeof value);
}

void
put_u64 (GByteArray *out, guint64 value)
{
  value = GUINT64_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, sizeof value);
}

void
put_text (GByteArray *out, const char *text)
{
  put_u64 (out, strlen (text));
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
}

void
put_header (GByteArray *out, guint32 version, guint64 n_tensors, guint64 n_keys)
{
  g_byte_array_append (out, (const guint8 *) "GGUF", 4);
  put_u32 (out, version);
  put_u64 (out, n_tensors);
  put_u64 (out, n_keys);
}

void
put_key (GByteArray *out, const char *key, KvasirGgufType type)
{
  put_text (out, key);
  put_u32 (out, type);
}

void
put_key_u32 (GByteArray *out, const char *key, guint32 value)
{
  put_key (out, key, KVASIR_GGUF_U32);
  put_u32 (out, value);
}

void
put_key_f32 (GByteArray *out, const char *key, float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  put_key (out, key, KVASIR_GGUF_F32);
  put_u32 (out, bits);
}

void
put_key_bool (GByteArray *out, const char *key, gboolean value)
{
  guint8 byte = value != FALSE;

  put_key (out, key, KVASIR_GGUF_BOOL);
  g_byte_array_append (out, &byte, 1);
}

void
put_key_text (GByteArray *out, const char *key, const char *text)
{
  put_key (out, key, KVASIR_GGUF_STRING);
  put_text (out, text);
}

static void
put_array (GByteArray *out, const char *key, KvasirGgufType type, gsize n)
{
  put_key (out, key, KVASIR_GGUF_ARRAY);
  put_u32 (out, type);
  put_u64 (out, n);
}

void
put_key_texts (GByteArray *out, const char *key, const char *const *texts, gsize n)
{
  put_array (out, key, KVASIR_GGUF_STRING, n);
  for (gsize i = 0; i < n; i++)
    put_text (out, texts[i]);
}

void
put_key_i32s (GByteArray *out, const char *key, const gint32 *values, gsize n)
{
  put_array (out, key, KVASIR_GGUF_I32, n);
  for (gsize i = 0; i < n; i++)
    put_u32 (out, (guint32) values[i]);
}

void
put_key_f32s (GByteArray *out, const char *key, const float *values, gsize n)
{
  put_array (out, key, KVASIR_GGUF_F32, n);
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, &values[i], sizeof bits);
      put_u32 (out, bits);
    }
}

void
put_tensor (GByteArray *out, const char *name, gint64 ne0, gint64 ne1, int type, guint64 offset)
{
  put_text (out, name);
  put_u32 (out, ne1 > 0 ? 2 : 1);
  put_u64 (out, (guint64) ne0);
  if (ne1 > 0)
    put_u64 (out, (guint64) ne1);
  put_u32 (out, (guint32) type);
  put_u64 (out, offset);
}

void
put_data (GByteArray *out, gsize alignment, gsize n_bytes)
{
  gsize start = (out->len + alignment - 1) / alignment * alignment;
  gsize old = out->len;

  g_byte_array_set_size (out, (guint) (start + n_bytes));
  memset (out->data + old, 0, out->len - old);
}

KvasirGguf *
open_bytes (const guint8 *bytes, gsize n_bytes, GError **error)
{
  g_autofree char *path = NULL;
  KvasirGguf *gguf;
  int fd = memfd_create ("gguf", MFD_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, bytes, n_bytes), ==, (gssize) n_bytes);
  path = g_strdup_printf ("/proc/self/fd/%d", fd);
  gguf = kvasir_gguf_open (path, error);
  close (fd);
  return gguf;
}
