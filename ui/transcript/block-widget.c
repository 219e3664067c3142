#include "ui/transcript/block-widget.h"

#include <glib/gi18n.h>

#include "ui/transcript/code-block.h"
#include "ui/widgets/side-box.h"

#define MARKER_WIDTH 18
#define INDENT_WIDTH 20

/* Where the content hangs in the widget that says where the block stands. */
#define CONTENT_KEY "kvasir-content"

static gboolean
activate_link_cb (GtkLabel *label, const char *uri, gpointer user_data)
{
  gtk_widget_activate_action (GTK_WIDGET (label), "win.open-link", "s", uri);
  return TRUE;
}

static GtkWidget *
make_label (const char *markup)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_markup (GTK_LABEL (label), markup);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  /* Without a floor GTK lays the text out one letter wide to find its least width: fifteen times
   * the cost of the layout that is shown. */
  gtk_label_set_width_chars (GTK_LABEL (label), 8);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  g_signal_connect (label, "activate-link", G_CALLBACK (activate_link_cb), NULL);
  return label;
}

static float
get_xalign (KvasirBlockAlign align)
{
  return align == KVASIR_ALIGN_END ? 1 : align == KVASIR_ALIGN_CENTER ? 0.5f : 0;
}

static GtkWidget *
make_cell (const KvasirBlock *block, guint i)
{
  GtkWidget *label = make_label (g_ptr_array_index (block->cells, i));
  guint column = i % block->n_columns;

  gtk_label_set_xalign (GTK_LABEL (label),
                        get_xalign (g_array_index (block->aligns, KvasirBlockAlign, column)));
  gtk_label_set_width_chars (GTK_LABEL (label), 4);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 40);
  gtk_widget_add_css_class (label, i < block->n_columns ? "table-head" : "table-cell");
  return label;
}

static GtkWidget *
make_table (const KvasirBlock *block)
{
  GtkWidget *grid = gtk_grid_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();

  gtk_widget_add_css_class (grid, "markdown-table");
  for (guint i = 0; i < block->cells->len; i++)
    gtk_grid_attach (GTK_GRID (grid), make_cell (block, i), (int) (i % block->n_columns),
                     (int) (i / block->n_columns), 1, 1);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_NEVER);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), grid);
  gtk_accessible_update_property (GTK_ACCESSIBLE (grid), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Table"),
                                  -1);
  return scroller;
}

static GtkWidget *
make_heading (const KvasirBlock *block)
{
  GtkWidget *label = make_label (block->text);
  g_autofree char *class = g_strdup_printf ("heading-%u", MIN (block->level, 4));

  gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
make_content (const KvasirBlock *block)
{
  switch (block->kind)
    {
    case KVASIR_BLOCK_HEADING:
      return make_heading (block);
    case KVASIR_BLOCK_CODE:
      return kvasir_code_block_new (block);
    case KVASIR_BLOCK_TABLE:
      return make_table (block);
    case KVASIR_BLOCK_RULE:
      return gtk_separator_new (GTK_ORIENTATION_HORIZONTAL);
    case KVASIR_BLOCK_TEXT:
    default:
      return make_label (block->text);
    }
}

static GtkWidget *
make_marker (const KvasirBlock *block)
{
  GtkWidget *label = gtk_label_new (block->marker);

  gtk_widget_set_size_request (label, MARKER_WIDTH, -1);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_set_margin_start (label, (int) (block->indent - 1) * INDENT_WIDTH);
  gtk_widget_set_margin_end (label, 8);
  gtk_widget_add_css_class (label, "numeric");
  return label;
}

GtkWidget *
kvasir_block_widget_new (const KvasirBlock *block)
{
  GtkWidget *row = kvasir_side_box_new (0);
  GtkWidget *content = make_content (block);

  for (guint i = 0; i < block->n_quotes; i++)
    {
      GtkWidget *bar = gtk_separator_new (GTK_ORIENTATION_VERTICAL);

      gtk_widget_add_css_class (bar, "quote-bar");
      kvasir_side_box_add_start (KVASIR_SIDE_BOX (row), bar);
    }
  if (block->indent > 0)
    kvasir_side_box_add_start (KVASIR_SIDE_BOX (row), make_marker (block));
  kvasir_side_box_set_content (KVASIR_SIDE_BOX (row), content);
  if (block->continues)
    gtk_widget_add_css_class (row, "block-continues");
  else
    gtk_widget_add_css_class (row, block->tight ? "block-tight" : "block");
  g_object_set_data (G_OBJECT (row), CONTENT_KEY, content);
  return row;
}

gboolean
kvasir_block_widget_update (GtkWidget *widget, const KvasirBlock *old, const KvasirBlock *block)
{
  GtkWidget *content = g_object_get_data (G_OBJECT (widget), CONTENT_KEY);

  if (old->kind != block->kind || old->level != block->level || old->n_quotes != block->n_quotes ||
      old->indent != block->indent || old->tight != block->tight ||
      old->continues != block->continues || g_strcmp0 (old->marker, block->marker) != 0)
    return FALSE;
  if (block->kind == KVASIR_BLOCK_CODE)
    kvasir_code_block_update (KVASIR_CODE_BLOCK (content), block);
  else if (block->kind == KVASIR_BLOCK_TEXT || block->kind == KVASIR_BLOCK_HEADING)
    gtk_label_set_markup (GTK_LABEL (content), block->text);
  else
    return block->kind == KVASIR_BLOCK_RULE;
  return TRUE;
}
