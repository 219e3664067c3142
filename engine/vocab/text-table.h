/* engine/vocab/text-table.h - numbered texts in one block, and a hash table that finds them
 *
 * Text i lies at starts[i] up to starts[i + 1], with a NUL at its end, so that it can serve as a
 * string too. A slot of the hash table holds 32 bits of the text's hash, so that other texts are
 * passed over without a look at them; the seed is drawn once per table, so that a file cannot be
 * made whose texts all meet in one slot.
 * Owner:  the vocabulary. Immutable once the vocabulary is made: any thread may look up.
 * Bounds: 4 GiB of text; twenty to thirty bytes a text besides.
 */
#pragma once

#include <glib.h>

#include "engine/vocab/text-key.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 tag;      /* lower half of the hash */
  guint32 number_1; /* of the text, and one more; 0 where the slot is free */
} KvasirTextSlot;

typedef struct
{
  char *bytes;     /* (owned) [n_bytes_alloc], and padding for keys */
  guint32 *starts; /* (owned) [n_alloc], of which n + 1 count */
  guint32 n;
  gsize n_alloc;
  gsize n_bytes_alloc;
  KvasirTextSlot *slots; /* (owned) (nullable) [n_slots] */
  guint32 n_slots;
  gboolean has_equals; /* two texts of the first ones are the same */
  guint64 seed;
} KvasirTextTable;

/* Room for @n texts of @n_bytes in all, with a NUL each. FALSE where there is no memory. */
gboolean
kvasir_text_table_init (KvasirTextTable *self, gsize n, gsize n_bytes) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_text_table_clear (KvasirTextTable *self);

/* Appends one of the texts for which room was made; it will not be found before
 * kvasir_text_table_index(). */
void kvasir_text_table_append (KvasirTextTable *self, const char *text, gsize len);
/* Makes the texts so far findable, the last one of equal texts. FALSE where there is no memory. */
gboolean kvasir_text_table_index (KvasirTextTable *self) G_GNUC_WARN_UNUSED_RESULT;

/* The number of the text, which is appended where it is none yet; or G_MAXUINT32 where there is no
 * memory for it. */
guint32 kvasir_text_table_intern (KvasirTextTable *self, const char *text, gsize len);

/* Returns: the number of the text, or -1 */
gint64 kvasir_text_table_find (const KvasirTextTable *self, const char *text, gsize len);

static inline gsize
kvasir_text_table_get_len (const KvasirTextTable *self, guint32 i)
{
  return self->starts[i + 1] - self->starts[i] - 1;
}

static inline const char *
kvasir_text_table_get (const KvasirTextTable *self, guint32 i)
{
  return self->bytes + self->starts[i];
}

/* ---- many at once ---------------------------------------------------------------------------
 * Each step of a search waits for memory; who searches for many texts takes a step for all of them
 * before the next one. */

static inline guint64
kvasir_text_table_hash (const KvasirTextTable *self, const char *text, gsize len)
{
  KvasirTextKey key;

  if (len > KVASIR_TEXT_KEY_BYTES)
    return kvasir_hash_bytes (text, len, self->seed);
  key = kvasir_text_key_load (text, len);
  return kvasir_text_key_hash (&key, len, self->seed);
}

static inline guint32
kvasir_text_table_get_slot (const KvasirTextTable *self, guint64 hash)
{
  return (guint32) ((hash >> 32) * self->n_slots >> 32);
}

/* Returns: the number of the first text that has this hash, most likely the one meant; or
 * G_MAXUINT32 */
guint32 kvasir_text_table_guess (const KvasirTextTable *self, guint64 hash);

/* The key of text @i, which has @len <= KVASIR_TEXT_KEY_BYTES. */
static inline KvasirTextKey
kvasir_text_table_get_key (const KvasirTextTable *self, guint32 i, gsize len)
{
  return kvasir_text_key_load_padded (kvasir_text_table_get (self, i), len);
}

static inline gboolean
kvasir_text_table_is (const KvasirTextTable *self, guint32 i, const char *text, gsize len)
{
  KvasirTextKey mine, other;

  if (kvasir_text_table_get_len (self, i) != len)
    return FALSE;
  if (len > KVASIR_TEXT_KEY_BYTES)
    return memcmp (kvasir_text_table_get (self, i), text, len) == 0;
  mine = kvasir_text_table_get_key (self, i, len);
  other = kvasir_text_key_load (text, len);
  return kvasir_text_key_equals (&mine, &other);
}

G_END_DECLS
