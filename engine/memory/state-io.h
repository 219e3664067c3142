/* engine/memory/state-io.h - the envelope of a saved state
 *
 * All numbers are little endian:
 *   0 magic "KVST" | 4 version | 8 bytes of the whole blob, u64 | 16 flags | 20 class | 24 rope
 * hash 28 cells of a sequence | 32 parts | 36 positions of a token | 40 arch [32] 72 a section for
 * each part (kv-save.c, recurrent-save.c) XXH64 of everything before, u64 A checkpoint holds the
 * sections of sliding caches and recurrent states alone.
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
  gboolean v_transposed;
  guint32 klass; /* KvasirMemoryClass, or anything where it was read */
  guint32 rope_hash;
  guint32 n_ctx_seq;
  guint32 n_parts;
  guint32 n_pos;
  char arch[KVASIR_STATE_ARCH]; /* zero-padded */
} KvasirStateHeader;

/* Reading: a cursor over bytes that never passes their end. */
typedef struct
{
  const guint8 *bytes;
  gsize n_bytes; /* without the checksum */
  gsize pos;
  guint n_cells; /* of the first section that has any, for the log */
} KvasirStateReader;

void kvasir_state_put_header (GByteArray *out, const KvasirStateHeader *header);
void kvasir_state_put_u32 (GByteArray *out, guint32 value);
void kvasir_state_put_u64 (GByteArray *out, guint64 value);
/* Ends the blob that begins at @start: writes its length, appends its checksum. */
void kvasir_state_seal (GByteArray *out, gsize start);
/* Makes room for @n_bytes more, so that they are put without moving what is there. Errors:
 * _NO_MEMORY. */
gboolean kvasir_state_reserve (GByteArray *out, guint64 n_bytes, GError **error);

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
/* Whether @n_bytes of @what are left. Errors: _BAD_FILE. */
gboolean kvasir_state_check_left (const KvasirStateReader *self,
                                  const char *what,
                                  guint64 n_bytes,
                                  GError **error);
/* Whether a number is the expected one. Errors: _BAD_ARGUMENT naming @what. */
gboolean kvasir_state_check (const char *what, guint64 found, guint64 expected, GError **error);
/* The caller has compared with the bytes left. */
guint32 kvasir_state_take_u32 (KvasirStateReader *self);
guint64 kvasir_state_take_u64 (KvasirStateReader *self);
const guint8 *kvasir_state_take (KvasirStateReader *self, gsize n_bytes);

/* XXH64 with seed 0 (xxhash.com, doc/xxhash_spec.md). */
guint64 kvasir_state_hash (const guint8 *bytes, gsize n_bytes);

G_END_DECLS
