/* engine/gguf/gguf-private.h - what the two halves of the GGUF reader share
 *
 * gguf-parse.c fills the struct and makes every check; gguf.c only looks things up.
 * All text and numbers lie in one copy of the header. After the checks the byte behind each string
 * and each key, which began a field that is parsed by then, is overwritten with NUL: strings are
 * terminated without a copy of their own.
 */
#pragma once

#include "engine/gguf/gguf.h"
#include "engine/gguf/name-index.h"
#include "engine/gguf/reader.h"

G_BEGIN_DECLS

typedef struct
{
  gsize key; /* offset of the text in bytes[] */
  guint32 key_len;
  KvasirGgufType type;
  KvasirGgufType element_type; /* of an array */
  gsize value;                 /* offset of the scalar, the text or the first element */
  guint64 n;                   /* bytes of a string, elements of an array */
  gsize *strings;              /* (owned) (nullable) [n], where an array's strings lie in bytes[] */
} KvasirGgufEntry;

struct _KvasirGguf
{
  char *path;               /* (owned) */
  guint8 *bytes;            /* (owned) the header and KVASIR_GGUF_PADDING */
  KvasirGgufEntry *entries; /* (owned) [n_entries] */
  guint n_entries;
  KvasirGgufTensor *tensors; /* (owned) [n_tensors] */
  guint n_tensors;
  KvasirNameIndex entry_index;
  KvasirNameIndex tensor_index;
  guint version;
  guint alignment;
  guint64 file_bytes;
  guint64 data_offset;
  GPtrArray *parts; /* (owned) (nullable): the files behind the first of a split model */
};

/* Fills @self, which is zero but for the path; on errors what is there already stays for
 * kvasir_gguf_free(). */
gboolean kvasir_gguf_parse (KvasirGguf *self, GError **error);

/* The half of it behind the keys: the tensors, where the data begins, whether all of it is there.
 */
gboolean
kvasir_gguf_parse_tensors (KvasirGguf *self, KvasirGgufReader *reader, guint64 n, GError **error);

/* Where the header says that the model is split: opens the other parts beside it and adds their
 * tensors. @self must be part 0. */
gboolean kvasir_gguf_open_parts (KvasirGguf *self, GError **error);
/* The path of the first part where @self is a later one, else NULL. FALSE where the keys or the
 * file's name don't say which part it is. */
gboolean kvasir_gguf_find_first_part (const KvasirGguf *self, char **first, GError **error);

/* The name of tensor @i, for the index of names. */
const char *kvasir_gguf_get_tensor_name (gconstpointer owner, guint32 i, gsize *len);

/* Bytes of one value; 0 for strings and arrays. */
gsize kvasir_gguf_get_type_bytes (KvasirGgufType type);

G_END_DECLS
