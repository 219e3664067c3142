#include "engine/memory/state-io.h"

#include <string.h>

#include "engine/memory/memory-private.h"

#define STATE_MAGIC 0x5453564bu /* "KVST" */
#define STATE_VERSION 2u
#define FLAG_WHOLE 1u
#define FLAG_PARTIAL 2u
#define FLAG_V_TRANSPOSED 4u
#define LENGTH_AT 8
#define HEADER_BYTES (40 + KVASIR_STATE_ARCH)
#define CHECKSUM_BYTES 8

#define PRIME_1 G_GUINT64_CONSTANT (0x9e3779b185ebca87)
#define PRIME_2 G_GUINT64_CONSTANT (0xc2b2ae3d27d4eb4f)
#define PRIME_3 G_GUINT64_CONSTANT (0x165667b19e3779f9)
#define PRIME_4 G_GUINT64_CONSTANT (0x85ebca77c2b2ae63)
#define PRIME_5 G_GUINT64_CONSTANT (0x27d4eb2f165667c5)

static inline guint64
load_u64 (const guint8 *p)
{
  guint64 value;

  memcpy (&value, p, sizeof value);
  return GUINT64_FROM_LE (value);
}

static inline guint32
load_u32 (const guint8 *p)
{
  guint32 value;

  memcpy (&value, p, sizeof value);
  return GUINT32_FROM_LE (value);
}

static inline guint64
rotate (guint64 value, guint n)
{
  return value << n | value >> (64 - n);
}

static inline guint64
hash_round (guint64 lane, guint64 word)
{
  return rotate (lane + word * PRIME_2, 31) * PRIME_1;
}

/* The part of the input in stripes of four lanes. Advances @p. */
static guint64
hash_stripes (const guint8 **p, gsize n_bytes)
{
  guint64 lanes[4] = { PRIME_1 + PRIME_2, PRIME_2, 0, -PRIME_1 };
  guint64 hash;

  for (; n_bytes >= 32; n_bytes -= 32, *p += 32)
    for (guint i = 0; i < 4; i++)
      lanes[i] = hash_round (lanes[i], load_u64 (*p + 8 * i));

  hash =
      rotate (lanes[0], 1) + rotate (lanes[1], 7) + rotate (lanes[2], 12) + rotate (lanes[3], 18);
  for (guint i = 0; i < 4; i++)
    hash = (hash ^ hash_round (0, lanes[i])) * PRIME_1 + PRIME_4;
  return hash;
}

guint64
kvasir_state_hash (const guint8 *bytes, gsize n_bytes)
{
  const guint8 *p = bytes;
  guint64 hash = n_bytes >= 32 ? hash_stripes (&p, n_bytes) : PRIME_5;
  gsize left = n_bytes % 32;

  hash += n_bytes;
  for (; left >= 8; left -= 8, p += 8)
    hash = rotate (hash ^ hash_round (0, load_u64 (p)), 27) * PRIME_1 + PRIME_4;
  for (; left >= 4; left -= 4, p += 4)
    hash = rotate (hash ^ load_u32 (p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
  for (; left > 0; left--, p++)
    hash = rotate (hash ^ *p * PRIME_5, 11) * PRIME_1;

  hash = (hash ^ hash >> 33) * PRIME_2;
  hash = (hash ^ hash >> 29) * PRIME_3;
  return hash ^ hash >> 32;
}

void
kvasir_state_put_u32 (GByteArray *out, guint32 value)
{
  guint32 le = GUINT32_TO_LE (value);

  g_byte_array_append (out, (const guint8 *) &le, sizeof le);
}

void
kvasir_state_put_u64 (GByteArray *out, guint64 value)
{
  guint64 le = GUINT64_TO_LE (value);

  g_byte_array_append (out, (const guint8 *) &le, sizeof le);
}

void
kvasir_state_put_header (GByteArray *out, const KvasirStateHeader *header)
{
  kvasir_state_put_u32 (out, STATE_MAGIC);
  kvasir_state_put_u32 (out, STATE_VERSION);
  kvasir_state_put_u64 (out, 0);
  kvasir_state_put_u32 (out, (header->whole ? FLAG_WHOLE : 0) |
                                 (header->partial ? FLAG_PARTIAL : 0) |
                                 (header->v_transposed ? FLAG_V_TRANSPOSED : 0));
  kvasir_state_put_u32 (out, header->klass);
  kvasir_state_put_u32 (out, header->rope_hash);
  kvasir_state_put_u32 (out, header->n_ctx_seq);
  kvasir_state_put_u32 (out, header->n_parts);
  kvasir_state_put_u32 (out, header->n_pos);
  g_byte_array_append (out, (const guint8 *) header->arch, KVASIR_STATE_ARCH);
}

void
kvasir_state_seal (GByteArray *out, gsize start)
{
  guint64 n_bytes = GUINT64_TO_LE (out->len - start + CHECKSUM_BYTES);

  memcpy (out->data + start + LENGTH_AT, &n_bytes, sizeof n_bytes);
  kvasir_state_put_u64 (out, kvasir_state_hash (out->data + start, out->len - start));
}

gboolean
kvasir_state_reserve (GByteArray *out, guint64 n_bytes, GError **error)
{
  guint len = out->len;
  guint64 n_most = G_MAXUINT - kvasir_state_get_frame_bytes () - len;

  if (n_bytes > n_most)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_MEMORY,
                               "Saved state: %" G_GUINT64_FORMAT
                               " bytes, expected at most %" G_GUINT64_FORMAT,
                               n_bytes, n_most);
  g_byte_array_set_size (out, len + (guint) n_bytes);
  g_byte_array_set_size (out, len);
  return TRUE;
}

gsize
kvasir_state_get_frame_bytes (void)
{
  return HEADER_BYTES + CHECKSUM_BYTES;
}

static gboolean
check_frame (const guint8 *bytes, gsize n_bytes, GError **error)
{
  if (n_bytes < kvasir_state_get_frame_bytes ())
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: %" G_GSIZE_FORMAT
                               " bytes, expected at least %" G_GSIZE_FORMAT,
                               n_bytes, kvasir_state_get_frame_bytes ());
  if (load_u32 (bytes) != STATE_MAGIC)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: begins with 0x%08x, expected 0x%08x", load_u32 (bytes),
                               STATE_MAGIC);
  if (load_u32 (bytes + 4) != STATE_VERSION)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: version %u, expected %u", load_u32 (bytes + 4),
                               STATE_VERSION);
  if (load_u64 (bytes + 8) != n_bytes)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: %" G_GSIZE_FORMAT
                               " bytes, expected %" G_GUINT64_FORMAT,
                               n_bytes, load_u64 (bytes + 8));
  return TRUE;
}

static gboolean
check_checksum (const guint8 *bytes, gsize n_bytes, GError **error)
{
  guint64 found = kvasir_state_hash (bytes, n_bytes - CHECKSUM_BYTES);
  guint64 expected = load_u64 (bytes + n_bytes - CHECKSUM_BYTES);

  if (found == expected)
    return TRUE;
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                             "Saved state: damaged, its checksum is %016" G_GINT64_MODIFIER
                             "x, expected %016" G_GINT64_MODIFIER "x",
                             found, expected);
}

gboolean
kvasir_state_open (KvasirStateReader *self,
                   KvasirStateHeader *header,
                   const guint8 *bytes,
                   gsize n_bytes,
                   GError **error)
{
  guint32 flags;

  if (!check_frame (bytes, n_bytes, error) || !check_checksum (bytes, n_bytes, error))
    return FALSE;

  *self = (KvasirStateReader){ .bytes = bytes, .n_bytes = n_bytes - CHECKSUM_BYTES, .pos = 16 };
  flags = kvasir_state_take_u32 (self);
  header->whole = (flags & FLAG_WHOLE) != 0;
  header->partial = (flags & FLAG_PARTIAL) != 0;
  header->v_transposed = (flags & FLAG_V_TRANSPOSED) != 0;
  header->klass = kvasir_state_take_u32 (self);
  header->rope_hash = kvasir_state_take_u32 (self);
  header->n_ctx_seq = kvasir_state_take_u32 (self);
  header->n_parts = kvasir_state_take_u32 (self);
  header->n_pos = kvasir_state_take_u32 (self);
  memcpy (header->arch, kvasir_state_take (self, KVASIR_STATE_ARCH), KVASIR_STATE_ARCH);
  if ((flags & ~(FLAG_WHOLE | FLAG_PARTIAL | FLAG_V_TRANSPOSED)) != 0)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: flags 0x%x, expected 0 to 7", flags);
  return TRUE;
}

gboolean
kvasir_state_check_left (const KvasirStateReader *self,
                         const char *what,
                         guint64 n_bytes,
                         GError **error)
{
  gsize n_left = kvasir_state_get_left (self);

  return n_left >= n_bytes || kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                                                  "Saved state: %" G_GSIZE_FORMAT
                                                  " bytes of %s, expected %" G_GUINT64_FORMAT,
                                                  n_left, what, n_bytes);
}

gboolean
kvasir_state_check (const char *what, guint64 found, guint64 expected, GError **error)
{
  return found == expected ||
         kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                             "Saved state: %s %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT,
                             what, found, expected);
}

gsize
kvasir_state_get_left (const KvasirStateReader *self)
{
  return self->n_bytes - self->pos;
}

const guint8 *
kvasir_state_take (KvasirStateReader *self, gsize n_bytes)
{
  const guint8 *p = self->bytes + self->pos;

  g_assert (n_bytes <= kvasir_state_get_left (self));
  self->pos += n_bytes;
  return p;
}

guint32
kvasir_state_take_u32 (KvasirStateReader *self)
{
  return load_u32 (kvasir_state_take (self, 4));
}

guint64
kvasir_state_take_u64 (KvasirStateReader *self)
{
  return load_u64 (kvasir_state_take (self, 8));
}
