/* engine/vocab/pretokenizer.h - cuts text into the pieces that byte-level BPE merges inside
 *
 * A model's tokenizer file names regular expressions; here each is a small scanner and each
 * pre-tokenizer one row of a table (formats.md 3.3 gives the expressions).
 * Thread: any; the table is constant.
 */
#pragma once

#include "engine/vocab/scanners.h"

G_BEGIN_DECLS

typedef struct _KvasirPreTokenizer KvasirPreTokenizer;

/* Called for each piece in order; FALSE stops. */
typedef gboolean (*KvasirPieceFunc) (gpointer data, const KvasirChar *chars, gsize n);

/* @name is the value of tokenizer.ggml.pre. Returns: (transfer none) (nullable) */
const KvasirPreTokenizer *kvasir_pre_tokenizer_find (const char *name);
/* Whether a piece that is a token as a whole is taken without looking at merges. */
gboolean kvasir_pre_tokenizer_ignores_merges (const KvasirPreTokenizer *self);
/* Whether such files begin a text with BOS unless a key says otherwise. */
gboolean kvasir_pre_tokenizer_adds_bos (const KvasirPreTokenizer *self);
/* Whether text made of such tokens loses the space before punctuation. */
gboolean kvasir_pre_tokenizer_cleans_spaces (const KvasirPreTokenizer *self);
/* Whether tokens are plain text instead of mapped bytes. */
gboolean kvasir_pre_tokenizer_has_plain_texts (const KvasirPreTokenizer *self);
/* Whether they write a space as U+2581; only plain text does. */
gboolean kvasir_pre_tokenizer_escapes_spaces (const KvasirPreTokenizer *self);

/* Returns: FALSE if @func did */
gboolean kvasir_pre_tokenizer_split (const KvasirPreTokenizer *self,
                                     const KvasirChar *chars,
                                     gsize n,
                                     KvasirPieceFunc func,
                                     gpointer data);

G_END_DECLS
