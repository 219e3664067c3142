/* engine/memory/state-io.h - the envelope of a saved state
 *
 * All numbers are little endian:
 *   0 magic "KVST" | 4 version | 8 bytes of the whole blob, u64 | 16 flags | 20 class | 24 K type
 *   28 V type | 32 rope hash | 36 layers | 40 words per sequence set | 44 cells | 48 arch [32]
 *   80 per layer: number i32, 4 zero bytes, row bytes of K u64, of V u64
 *   per cell, ascending: position i32, token i32, and for a whole memory its set, u64 each word
 *   per layer: the K rows of all cells, then the V rows
 *   XXH64 of everything before, u64
 * A partial state of a plain cache ends after the layers.
 *
 * Thread: any; nothing is shared.
 */
#pragma once

#include <glib.h>

#include "engine/memory/memory.h"

G_BEGIN_DECLS

#define KVASIR_STATE_ARCH 32

typedef struct
{
  gboolean whole; /* else one sequence */
  gboolean partial;
  KvasirMemoryClass klass;
  KvasirType type_k;
  KvasirType type_v;
  guint32 rope_hash;
  guint32 n_layers;
  guint32 n_set_words; /* 0 for one sequence */
  guint32 n_cells;
  char arch[KVASIR_STATE_ARCH]; /* zero-padded */
} KvasirStateHeader;

/* Reading: a cursor over bytes that never passes their end. */
typedef struct
{
  const guint8 *bytes;
  gsize n_bytes; /* without the checksum */
  gsize pos;
} KvasirStateReader;

/* Puts a header of a blob of @n_bytes in all. */
void kvasir_state_put_header (GByteArray *out, const KvasirStateHeader *header, guint64 n_bytes);
void kvasir_state_put_u32 (GByteArray *out, guint32 value);
void kvasir_state_put_u64 (GByteArray *out, guint64 value);
/* Appends the checksum of what lies behind @start. */
void kvasir_state_seal (GByteArray *out, gsize start);

/* Bytes that the header takes, and the checksum. */
gsize kvasir_state_get_frame_bytes (void);

/* Opens a blob: length, version and checksum are right, and the header is read. Errors: _BAD_FILE.
 */
gboolean kvasir_state_open (KvasirStateReader *self,
                            KvasirStateHeader *header,
                            const guint8 *bytes,
                            gsize n_bytes,
                            GError **error);
gsize kvasir_state_get_left (const KvasirStateReader *self);
/* The caller has compared with the bytes left. */
guint32 kvasir_state_take_u32 (KvasirStateReader *self);
guint64 kvasir_state_take_u64 (KvasirStateReader *self);
const guint8 *kvasir_state_take (KvasirStateReader *self, gsize n_bytes);

/* XXH64 with seed 0 (xxhash.com, doc/xxhash_spec.md). */
guint64 kvasir_state_hash (const guint8 *bytes, gsize n_bytes);

G_END_DECLS
