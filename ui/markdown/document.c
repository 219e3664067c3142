#include "ui/markdown/document.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <pthread.h>
#include <string.h>

#include "ui/markdown/builder.h"
#include "ui/markdown/inline.h"

/* Deeper lists are shown at this depth. */
#define MAX_INDENT 8

/* One list around the place that is walked. */
typedef struct
{
  gboolean ordered;
  gboolean tight;
  guint next; /* number of the next item */
} List;

typedef struct
{
  KvasirBuilder builder;
  GArray *lists; /* (owned) of List, outermost first */
  guint n_quotes;
} Walk;

static void
block_free (gpointer data)
{
  KvasirBlock *block = data;

  g_free (block->marker);
  g_free (block->text);
  g_free (block->source);
  g_free (block->language);
  g_clear_pointer (&block->cells, g_ptr_array_unref);
  g_clear_pointer (&block->aligns, g_array_unref);
  g_free (block);
}

static gboolean
cells_equal (const GPtrArray *a, const GPtrArray *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (!g_str_equal (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
      return FALSE;
  return TRUE;
}

static gboolean
aligns_equal (const GArray *a, const GArray *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return a->len == b->len && memcmp (a->data, b->data, a->len * sizeof (KvasirBlockAlign)) == 0;
}

gboolean
kvasir_block_equal (const KvasirBlock *a, const KvasirBlock *b)
{
  return a->kind == b->kind && a->level == b->level && a->n_quotes == b->n_quotes &&
         a->indent == b->indent && a->tight == b->tight && a->continues == b->continues &&
         a->n_columns == b->n_columns && g_strcmp0 (a->marker, b->marker) == 0 &&
         g_strcmp0 (a->language, b->language) == 0 && g_strcmp0 (a->text, b->text) == 0 &&
         g_strcmp0 (a->source, b->source) == 0 && cells_equal (a->cells, b->cells) &&
         aligns_equal (a->aligns, b->aligns);
}

/* ---- where a block stands */

static void
place (Walk *walk)
{
  List *list =
      walk->lists->len > 0 ? &g_array_index (walk->lists, List, walk->lists->len - 1) : NULL;

  walk->builder.n_quotes = MIN (walk->n_quotes, MAX_INDENT);
  walk->builder.indent = MIN (walk->lists->len, MAX_INDENT);
  walk->builder.tight = list != NULL && list->tight;
}

static void
enter_list (Walk *walk, cmark_node *node)
{
  const List list = { .ordered = cmark_node_get_list_type (node) == CMARK_ORDERED_LIST,
                      .tight = cmark_node_get_list_tight (node) != 0,
                      .next = (guint) MAX (cmark_node_get_list_start (node), 0) };

  g_array_append_val (walk->lists, list);
}

static void
enter_item (Walk *walk, cmark_node *node)
{
  List *list = &g_array_index (walk->lists, List, walk->lists->len - 1);

  g_free (walk->builder.marker);
  if (g_str_equal (cmark_node_get_type_string (node), "tasklist"))
    walk->builder.marker =
        g_strdup (cmark_gfm_extensions_get_tasklist_item_checked (node) ? "☑" : "☐");
  else if (list->ordered)
    walk->builder.marker = g_strdup_printf ("%u.", list->next++);
  else
    walk->builder.marker = g_strdup ("•");
}

/* An item without a word still shows its mark. */
static void
leave_item (Walk *walk)
{
  if (walk->builder.marker == NULL)
    return;
  place (walk);
  kvasir_builder_add (&walk->builder, KVASIR_BLOCK_TEXT)->text = g_strdup ("");
}

/* ---- leaves */

static void
add_text (Walk *walk, cmark_node *node, KvasirBlockKind kind, guint level)
{
  g_autoptr (GPtrArray) pieces = kvasir_inline_render (node, KVASIR_PIECE_BYTES);

  place (walk);
  for (guint i = 0; i < pieces->len && walk->builder.blocks->len < KVASIR_MAX_ALL_BLOCKS; i++)
    {
      KvasirBlock *block = kvasir_builder_add (&walk->builder, kind);

      block->level = level;
      block->continues = i > 0;
      block->text = g_strdup (g_ptr_array_index (pieces, i));
    }
}

static void
add_code (Walk *walk, cmark_node *node)
{
  const char *info = cmark_node_get_fence_info (node);
  g_autofree char *language = NULL;

  if (info != NULL && *info != '\0')
    language = g_strndup (info, MIN (strcspn (info, " \t,{"), 32));
  place (walk);
  kvasir_builder_add_code (&walk->builder, cmark_node_get_literal (node), language);
}

static void
add_html (Walk *walk, cmark_node *node)
{
  const char *html = cmark_node_get_literal (node);
  gsize len = strlen (html);

  place (walk);
  if (len > 0 && html[len - 1] == '\n')
    len--;
  kvasir_builder_add_plain (&walk->builder, html, len);
}

/* ---- tables */

static KvasirBlockAlign
read_align (guint8 letter)
{
  return letter == 'r'   ? KVASIR_ALIGN_END
         : letter == 'c' ? KVASIR_ALIGN_CENTER
                         : KVASIR_ALIGN_START;
}

static void
fill_row (KvasirBlock *table, cmark_node *row)
{
  cmark_node *cell = cmark_node_first_child (row);

  for (guint i = 0; i < table->n_columns; i++)
    {
      g_autoptr (GPtrArray) pieces = NULL;

      if (cell != NULL)
        pieces = kvasir_inline_render (cell, KVASIR_PIECE_BYTES);
      g_ptr_array_add (table->cells,
                       g_strdup (pieces != NULL ? g_ptr_array_index (pieces, 0) : ""));
      if (cell != NULL)
        cell = cmark_node_next (cell);
    }
}

static void
add_table (Walk *walk, cmark_node *node)
{
  const guint8 *aligns = cmark_gfm_extensions_get_table_alignments (node);
  KvasirBlock *table;

  place (walk);
  table = kvasir_builder_add (&walk->builder, KVASIR_BLOCK_TABLE);
  table->n_columns = cmark_gfm_extensions_get_table_columns (node);
  table->cells = g_ptr_array_new_with_free_func (g_free);
  table->aligns = g_array_new (FALSE, FALSE, sizeof (KvasirBlockAlign));
  for (guint i = 0; i < table->n_columns; i++)
    {
      const KvasirBlockAlign align = read_align (aligns[i]);
      g_array_append_val (table->aligns, align);
    }
  for (cmark_node *row = cmark_node_first_child (node); row != NULL; row = cmark_node_next (row))
    fill_row (table, row);
}

/* A grid of more cells than can be laid out in time is shown as its source. */
static gboolean
is_table_small (cmark_node *node)
{
  gsize n_cells = 0;
  guint n_columns = cmark_gfm_extensions_get_table_columns (node);

  for (cmark_node *row = cmark_node_first_child (node); row != NULL; row = cmark_node_next (row))
    n_cells += n_columns;
  return n_cells <= KVASIR_MAX_CELLS;
}

/* ---- walking */

/* The beginning of a line of the source, 1 being the first. */
static const char *
find_line (const char *text, int line)
{
  for (int i = 1; i < line && text != NULL; i++)
    {
      text = strchr (text, '\n');
      text = text != NULL ? text + 1 : NULL;
    }
  return text;
}

static void
add_source (Walk *walk, cmark_node *node, const char *text)
{
  const char *from = find_line (text, cmark_node_get_start_line (node));
  const char *to = find_line (text, cmark_node_get_end_line (node) + 1);
  g_autofree char *source = NULL;

  if (from == NULL)
    return;
  source = to != NULL ? g_strndup (from, (gsize) (to - from)) : g_strdup (from);
  place (walk);
  kvasir_builder_add_code (&walk->builder, source, NULL);
}

/* Returns TRUE where what is inside @node has been dealt with. */
static gboolean
enter_node (Walk *walk, cmark_node *node, const char *text)
{
  cmark_node_type type = cmark_node_get_type (node);
  gboolean is_table = g_str_equal (cmark_node_get_type_string (node), "table");

  if (type == CMARK_NODE_LIST)
    enter_list (walk, node);
  else if (type == CMARK_NODE_ITEM)
    enter_item (walk, node);
  else if (type == CMARK_NODE_BLOCK_QUOTE)
    walk->n_quotes++;
  if (type == CMARK_NODE_LIST || type == CMARK_NODE_ITEM || type == CMARK_NODE_BLOCK_QUOTE ||
      type == CMARK_NODE_DOCUMENT)
    return FALSE;
  if (is_table && is_table_small (node))
    add_table (walk, node);
  else if (is_table)
    add_source (walk, node, text);
  else if (type == CMARK_NODE_CODE_BLOCK)
    add_code (walk, node);
  else if (type == CMARK_NODE_HTML_BLOCK)
    add_html (walk, node);
  else if (type == CMARK_NODE_HEADING)
    add_text (walk, node, KVASIR_BLOCK_HEADING, (guint) cmark_node_get_heading_level (node));
  else if (type == CMARK_NODE_THEMATIC_BREAK)
    {
      place (walk);
      kvasir_builder_add (&walk->builder, KVASIR_BLOCK_RULE);
    }
  else
    add_text (walk, node, KVASIR_BLOCK_TEXT, 0);
  return TRUE;
}

static void
leave_node (Walk *walk, cmark_node *node)
{
  switch ((guint) cmark_node_get_type (node))
    {
    case CMARK_NODE_LIST:
      g_array_set_size (walk->lists, walk->lists->len - 1);
      break;
    case CMARK_NODE_ITEM:
      leave_item (walk);
      break;
    case CMARK_NODE_BLOCK_QUOTE:
      walk->n_quotes--;
      break;
    default:
      break;
    }
}

/* The first line of what is no longer shown as blocks, 0: all is. */
static int
walk_tree (Walk *walk, cmark_node *root, const char *text)
{
  cmark_iter *iter = cmark_iter_new (root);
  cmark_event_type event;
  int rest = 0;

  while ((event = cmark_iter_next (iter)) != CMARK_EVENT_DONE && rest == 0)
    {
      cmark_node *node = cmark_iter_get_node (iter);

      if (event == CMARK_EVENT_EXIT)
        leave_node (walk, node);
      else if (kvasir_builder_is_full (&walk->builder))
        rest = cmark_node_get_start_line (node);
      else if (enter_node (walk, node, text))
        cmark_iter_reset (iter, node, CMARK_EVENT_EXIT);
    }
  cmark_iter_free (iter);
  return rest;
}

static cmark_node *
parse (const char *text, gsize len)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static const char *const extensions[] = { "table", "strikethrough", "tasklist" };
  cmark_parser *parser;
  cmark_node *root;

  pthread_once (&once, cmark_gfm_core_extensions_ensure_registered);
  parser = cmark_parser_new (CMARK_OPT_DEFAULT);
  for (guint i = 0; i < G_N_ELEMENTS (extensions); i++)
    cmark_parser_attach_syntax_extension (parser, cmark_find_syntax_extension (extensions[i]));
  cmark_parser_feed (parser, text, len);
  root = cmark_parser_finish (parser);
  cmark_parser_free (parser);
  return root;
}

static KvasirDocument *
document_new (Walk *walk)
{
  KvasirDocument *self = g_new0 (KvasirDocument, 1);

  walk->builder.blocks = g_ptr_array_new_with_free_func (block_free);
  self->blocks = walk->builder.blocks;
  return self;
}

KvasirDocument *
kvasir_document_new (const char *text, gsize len)
{
  Walk walk = { 0 };
  KvasirDocument *self = document_new (&walk);
  gsize parsed = kvasir_text_cut (text, len, KVASIR_MAX_MARKDOWN_BYTES);
  cmark_node *root = parse (text, parsed);
  const char *rest = text + parsed;
  int line;

  walk.lists = g_array_new (FALSE, FALSE, sizeof (List));
  line = walk_tree (&walk, root, text);
  cmark_node_free (root);
  if (line > 0)
    rest = find_line (text, line);
  g_array_unref (walk.lists);
  g_clear_pointer (&walk.builder.marker, g_free);
  walk.builder = (KvasirBuilder){ .blocks = self->blocks };
  if (rest != NULL && rest < text + len)
    self->cut = !kvasir_builder_add_plain (&walk.builder, rest, (gsize) (text + len - rest));
  return self;
}

KvasirDocument *
kvasir_document_new_plain (const char *text, gsize len)
{
  Walk walk = { 0 };
  KvasirDocument *self = document_new (&walk);

  self->cut = !kvasir_builder_add_plain (&walk.builder, text, len);
  return self;
}

void
kvasir_document_free (KvasirDocument *self)
{
  g_ptr_array_unref (self->blocks);
  g_free (self);
}
