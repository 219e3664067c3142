/* tests/engine/gguf/gguf-writer.h - writes GGUF bytes, right ones and wrong ones
 *
 * The parts are appended one by one to a GByteArray, so a test can leave out, repeat or falsify any
 * of them. Thread: one.
 */
#pragma once

#include "engine/gguf/gguf.h"

G_BEGIN_DECLS

void put_u32 (GByteArray *out, guint32 value);
void put_u64 (GByteArray *out, guint64 value);
/* A length and the bytes. */
void put_text (GByteArray *out, const char *text);
void put_header (GByteArray *out, guint32 version, guint64 n_tensors, guint64 n_keys);
/* A key and its type; the value follows. */
void put_key (GByteArray *out, const char *key, KvasirGgufType type);
void put_key_u32 (GByteArray *out, const char *key, guint32 value);
void put_key_f32 (GByteArray *out, const char *key, float value);
void put_key_bool (GByteArray *out, const char *key, gboolean value);
void put_key_text (GByteArray *out, const char *key, const char *text);
void put_key_texts (GByteArray *out, const char *key, const char *const *texts, gsize n);
void put_key_i32s (GByteArray *out, const char *key, const gint32 *values, gsize n);
void put_key_f32s (GByteArray *out, const char *key, const float *values, gsize n);
/* A tensor of one or two dimensions. */
void
put_tensor (GByteArray *out, const char *name, gint64 ne0, gint64 ne1, int type, guint64 offset);
/* Zeros up to a multiple of @alignment, then @n_bytes more. */
void put_data (GByteArray *out, gsize alignment, gsize n_bytes);

/* Opens the first @n_bytes of @bytes as a file that lies in memory only. */
KvasirGguf *open_bytes (const guint8 *bytes, gsize n_bytes, GError **error);

G_END_DECLS
