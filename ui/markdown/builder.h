/* ui/markdown/builder.h - collects the blocks of a document and keeps its limits
 *
 * Thread: one at a time.
 */
#pragma once

#include "ui/markdown/document.h"

G_BEGIN_DECLS

/* A paragraph of 2 KB is laid out in a few milliseconds. */
#define KVASIR_PIECE_BYTES 2000
/* Highlighting a piece of code, and measuring its view, stay below a frame. */
#define KVASIR_CODE_PIECE_LINES 200
#define KVASIR_CODE_LINE_BYTES 2000
/* Each change lays all of them out again, at some 15 us each. */
#define KVASIR_MAX_BLOCKS 600
/* Plain text may add so many more. */
#define KVASIR_MAX_ALL_BLOCKS 800
#define KVASIR_MAX_CELLS 600
/* Parsed at all; the rest is plain text. */
#define KVASIR_MAX_MARKDOWN_BYTES (256 * 1024)

typedef struct
{
  GPtrArray *blocks; /* (owned) of KvasirBlock */
  /* Where the next block stands. */
  guint n_quotes;
  guint indent;
  gboolean tight;
  char *marker; /* (owned) (nullable): of the item that begins */
} KvasirBuilder;

/* Whether no more blocks may come. */
gboolean kvasir_builder_is_full (const KvasirBuilder *self);
/* Appends a block of that kind and place. Returns: (transfer none) */
KvasirBlock *kvasir_builder_add (KvasirBuilder *self, KvasirBlockKind kind);
/* Appends code in pieces. */
void kvasir_builder_add_code (KvasirBuilder *self, const char *code, const char *language);
/* Appends text as it is, in pieces. Returns: FALSE where it had to be cut. */
gboolean kvasir_builder_add_plain (KvasirBuilder *self, const char *text, gsize len);

/* Appends @text, made safe to show and escaped. */
void kvasir_markup_append (GString *markup, const char *text, gssize len);
/* The longest beginning of @text of at most @max bytes that ends between characters. */
gsize kvasir_text_cut (const char *text, gsize len, gsize max);
/* The same, but behind a newline or a space where there is one; cheap to lay out. */
gsize kvasir_text_get_piece (const char *text, gsize len, gsize max);

G_END_DECLS
