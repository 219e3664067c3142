/* engine/gguf/reader.h - a cursor over the bytes of a file that are left
 *
 * Owner:  the one who opens a header; on its stack while parsing.
 * Thread: one.
 * Bounds: nothing is read or reserved before it was compared with the bytes left in the file, so
 *   memory follows the parsed part of the file, never what a length field claims. The bytes are
 *   copied with pread(): a file that changes later cannot change what was checked.
 * Errors: KVASIR_ENGINE_ERROR_FILE, _BAD_FILE or _NO_MEMORY; messages begin with path and offset.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  int fd;           /* (owned) */
  const char *path; /* (unowned) */
  guint8 *bytes; /* (owned) [n_alloc], the file from its start; room for KVASIR_GGUF_PADDING more */
  gsize n_held;  /* read so far */
  gsize n_alloc;
  gsize pos;
  gsize file_bytes;
} KvasirGgufReader;

/* Opens @path, which must be a regular file. Returns: a descriptor, or -1 with @error set */
int kvasir_gguf_open_file (const char *path, gsize *file_bytes, GError **error);

gboolean kvasir_gguf_reader_init (KvasirGgufReader *self, const char *path, GError **error);
/* Frees what the reader still owns; bytes taken out before are set to NULL by the taker. */
void kvasir_gguf_reader_clear (KvasirGgufReader *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirGgufReader, kvasir_gguf_reader_clear)

/* Makes sure that @n bytes of @what lie at the cursor and are held. */
gboolean
kvasir_gguf_reader_need (KvasirGgufReader *self, guint64 n, const char *what, GError **error);
/* Advances over @n bytes; @offset, which may be NULL, gets where they begin. */
gboolean kvasir_gguf_reader_skip (
    KvasirGgufReader *self, guint64 n, const char *what, gsize *offset, GError **error);
gboolean
kvasir_gguf_reader_u32 (KvasirGgufReader *self, const char *what, guint32 *value, GError **error);
gboolean
kvasir_gguf_reader_u64 (KvasirGgufReader *self, const char *what, guint64 *value, GError **error);

/* A length of at most @max and that many bytes. */
gboolean kvasir_gguf_reader_string (KvasirGgufReader *self,
                                    const char *what,
                                    guint64 max,
                                    gsize *offset,
                                    guint64 *len,
                                    GError **error);
/* Whether the count @n that was just read is at most @max and @n times @min_bytes are left. */
gboolean kvasir_gguf_reader_check_count (const KvasirGgufReader *self,
                                         const char *what,
                                         guint64 n,
                                         guint64 max,
                                         gsize min_bytes,
                                         GError **error);

/* Sets @error to _NO_MEMORY for @n of @what. Always FALSE. */
gboolean kvasir_gguf_reader_no_memory (const KvasirGgufReader *self,
                                       const char *what,
                                       guint64 n,
                                       GError **error);
/* Sets @error to _BAD_FILE: "PATH: byte OFFSET: MESSAGE". Always FALSE. */
gboolean kvasir_gguf_reader_fail (const KvasirGgufReader *self,
                                  gsize offset,
                                  GError **error,
                                  const char *format,
                                  ...) G_GNUC_PRINTF (4, 5);

/* Text out of a file made fit for a message: escaped, shortened. Returns: (transfer full) */
char *kvasir_gguf_quote (const void *bytes, gsize len) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
