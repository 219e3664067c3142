/* engine/model/keys.h - numbers from the header of a model, checked
 *
 * Names stand behind the architecture's: "attention.head_count" is "llama.attention.head_count".
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming file, key, expected and found.
 * Thread: any; a KvasirKeys is used by one.
 */
#pragma once

#include <glib.h>

#include "engine/gguf/gguf.h"

G_BEGIN_DECLS

#define KVASIR_KEY_LEN 128

/* Far above every model known, far below what would overflow a product of two in 64 bits. */
#define KVASIR_MAX_WIDTH (1u << 24)
#define KVASIR_MAX_CONTEXT (1u << 30)

typedef struct
{
  const KvasirGguf *gguf;
  const char *arch;
  char key[KVASIR_KEY_LEN]; /* the key looked at last, for messages */
} KvasirKeys;

/* Names the key that the next message speaks of. Returns: (transfer none) */
const char *kvasir_keys_name (KvasirKeys *keys, const char *name);
gboolean kvasir_keys_has (KvasirKeys *keys, const char *name);
/* "file: key: message". Returns: FALSE */
gboolean kvasir_keys_fail (const KvasirKeys *keys, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* The same for a value of another kind than @expected. */
gboolean kvasir_keys_fail_kind (const KvasirKeys *keys, const char *expected, GError **error);
/* The same for a setting that is right but not written yet: KVASIR_ENGINE_ERROR_UNSUPPORTED. */
gboolean kvasir_keys_refuse (const KvasirKeys *keys, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* A number from 1 to @max. A missing key leaves the default in @value; 0 there: it may not miss. */
gboolean
kvasir_keys_get_size (KvasirKeys *keys, const char *name, guint max, guint *value, GError **error);
/* A number from 0 to @max. A missing key leaves the default in @value. */
gboolean
kvasir_keys_get_count (KvasirKeys *keys, const char *name, guint max, guint *value, GError **error);
/* A missing key leaves the default in @value. */
gboolean kvasir_keys_get_float (KvasirKeys *keys, const char *name, float *value, GError **error);
gboolean kvasir_keys_get_bool (KvasirKeys *keys, const char *name, gboolean *value, GError **error);
/* At least @n whole numbers (or booleans) from 0 to @max, of which the first @n are taken. */
gboolean kvasir_keys_get_array (
    KvasirKeys *keys, const char *name, guint n, gint64 max, gint64 *values, GError **error);

/* @n finite numbers: one in the file counts for all of them. */
gboolean
kvasir_keys_get_floats (KvasirKeys *keys, const char *name, guint n, float *values, GError **error);

G_END_DECLS
