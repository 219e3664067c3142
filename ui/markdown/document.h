/* ui/markdown/document.h - Markdown as a flat list of blocks that widgets can show one by one
 *
 * The tree of the parser is flattened: a block knows how deep it stands in quotes and lists. What
 * was parsed before stays equal when more text comes, so a view compares block by block and
 * rebuilds the last ones only. GFM tables, strikethrough and task lists; no automatic links, whose
 * search takes seconds in a long table row. Raw HTML and images are text. Long paragraphs are cut
 * into pieces that are cheap to lay out; past the limits the rest is plain text.
 *
 * Thread: any; a document never changes once it was made.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  KVASIR_BLOCK_TEXT,
  KVASIR_BLOCK_HEADING,
  KVASIR_BLOCK_CODE,
  KVASIR_BLOCK_TABLE,
  KVASIR_BLOCK_RULE
} KvasirBlockKind;

typedef enum
{
  KVASIR_ALIGN_START,
  KVASIR_ALIGN_CENTER,
  KVASIR_ALIGN_END
} KvasirBlockAlign;

typedef struct
{
  KvasirBlockKind kind;
  guint level;        /* heading: 1 ... 6 */
  guint n_quotes;     /* quotes around it */
  guint indent;       /* lists around it */
  gboolean tight;     /* stands close to the block before */
  gboolean continues; /* a further piece of the block before */
  char *marker;       /* (owned) (nullable): "•", "3.", "☑" where a list item begins */
  char *text;         /* (owned) text, heading: Pango markup; code: as shown */
  char *source;       /* (owned) (nullable) first piece of code: all of it, for copying */
  char *language;     /* (owned) (nullable) code */
  guint n_columns;    /* table */
  GPtrArray *cells;   /* (owned) (nullable) table: of markup, [rows][n_columns], header first */
  GArray *aligns;     /* (owned) (nullable) table: of KvasirBlockAlign, [n_columns] */
} KvasirBlock;

typedef struct
{
  GPtrArray *blocks; /* (owned) of KvasirBlock */
  gboolean cut;      /* so long that not even its plain text is all there */
} KvasirDocument;

/* @text: Markdown, valid UTF-8. */
KvasirDocument *kvasir_document_new (const char *text, gsize len) G_GNUC_WARN_UNUSED_RESULT;
/* @text as it is, in pieces. */
KvasirDocument *kvasir_document_new_plain (const char *text, gsize len) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_document_free (KvasirDocument *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirDocument, kvasir_document_free)

gboolean kvasir_block_equal (const KvasirBlock *a, const KvasirBlock *b);

G_END_DECLS
