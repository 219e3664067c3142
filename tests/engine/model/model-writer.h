/* tests/engine/model/model-writer.h - writes a small llama file, right or with one lie
 *
 * One layer, 8 wide, 2 heads of 4, 1 for keys and values, feed-forward 16, 6 tokens, zeros as
 * weights, no tokenizer. Thread: one.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *drop;       /* a key or a tensor that is left out */
  const char *key;        /* a key ... */
  guint32 value;          /* ... with this value instead */
  const char *text_key;   /* a key added ... */
  const char *text;       /* ... with this text */
  const char *float_key;  /* a key added ... */
  float float_value;      /* ... with this number */
  const char *tensor;     /* a tensor ... */
  gint64 ne[2];           /* ... with this shape instead, if not 0 */
  int type;               /* ... and this type */
  const char *add_tensor; /* a vector of 8 that is added */
  const char *arch;       /* instead of "llama" */
  gsize cut;              /* bytes missing at the end */
} ModelLie;

/* Returns: (transfer full): the bytes of the file */
GByteArray *make_model (const ModelLie *lie);
/* Returns: (transfer full): a path that delete_model() takes away and frees */
char *write_model (const ModelLie *lie);
/* Returns: (transfer full): the same */
char *write_model_bytes (const GByteArray *bytes);
void delete_model (char *path);

G_END_DECLS
