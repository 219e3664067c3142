#include "ui/transcript/markdown-view.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

#include "ui/markdown/document.h"
#include "ui/transcript/block-widget.h"

/* Twenty-five times a second reads as a stream and leaves the frame to others. */
#define MIN_INTERVAL_US (40 * G_TIME_SPAN_MILLISECOND)
/* Widgets made at once; the rest of a long text follows while nothing else is to be done. */
#define BATCH 12
/* New text comes with much else that is new, and is shown in the same frame. Where no more comes,
 * the last is shown this long after it could have been. */
#define NO_MORE_MS 100
/* What takes longer is left to a thread. */
#define QUICK_US 1000
/* A parse may use this share of the time of one processor. */
#define LOAD_FACTOR 4

struct _KvasirMarkdownView
{
  GtkWidget parent_instance;

  gboolean plain;
  char *text;               /* (owned) (nullable): not parsed yet */
  KvasirDocument *document; /* (owned) (nullable): on screen */
  GPtrArray *widgets;       /* (owned) of GtkWidget (unowned), for the blocks made so far */
  GtkWidget *cut_label;     /* (nullable) */
  gboolean parsing;
  gint64 parse_us; /* what the last one took */
  gint64 next_us;  /* not before this time */
  guint timeout_id;
  guint quick_id;
  guint build_id; /* makes the next widgets, 0: all are there */
};

G_DEFINE_FINAL_TYPE (KvasirMarkdownView, kvasir_markdown_view, GTK_TYPE_WIDGET)

typedef struct
{
  char *text; /* (owned) */
  gboolean plain;
  gint64 us; /* that parsing took */
} Parse;

static void start_parse (KvasirMarkdownView *self);

static KvasirDocument *
parse_text (const char *text, gboolean plain)
{
  gsize len = strlen (text);

  return plain ? kvasir_document_new_plain (text, len) : kvasir_document_new (text, len);
}

static void
parse_free (gpointer data)
{
  Parse *parse = data;

  g_free (parse->text);
  g_free (parse);
}

static void
parse_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Parse *parse = data;
  gint64 from = g_get_monotonic_time ();
  KvasirDocument *document = parse_text (parse->text, parse->plain);

  parse->us = g_get_monotonic_time () - from;
  g_task_return_pointer (task, document, (GDestroyNotify) kvasir_document_free);
}

/* ---- showing */

static void
remove_widgets (KvasirMarkdownView *self, guint from)
{
  for (guint i = from; i < self->widgets->len; i++)
    gtk_widget_unparent (g_ptr_array_index (self->widgets, i));
  g_ptr_array_set_size (self->widgets, (int) from);
}

static void
append_widget (KvasirMarkdownView *self, const KvasirBlock *block)
{
  GtkWidget *widget = kvasir_block_widget_new (block);

  gtk_widget_set_parent (widget, GTK_WIDGET (self));
  g_ptr_array_add (self->widgets, widget);
}

static void
show_cut (KvasirMarkdownView *self)
{
  self->cut_label = gtk_label_new (_ ("This text is too long to be shown whole. Copy takes all."));
  gtk_label_set_wrap (GTK_LABEL (self->cut_label), TRUE);
  gtk_widget_add_css_class (self->cut_label, "dim-label");
  gtk_widget_set_parent (self->cut_label, GTK_WIDGET (self));
}

static void build_some (KvasirMarkdownView *self);

static gboolean
build_cb (gpointer user_data)
{
  KvasirMarkdownView *self = user_data;

  self->build_id = 0;
  build_some (self);
  return G_SOURCE_REMOVE;
}

static void
build_some (KvasirMarkdownView *self)
{
  GPtrArray *blocks = self->document->blocks;

  for (guint i = 0; i < BATCH && self->widgets->len < blocks->len; i++)
    append_widget (self, g_ptr_array_index (blocks, self->widgets->len));
  if (self->widgets->len < blocks->len)
    self->build_id = g_idle_add (build_cb, self);
  else if (self->document->cut)
    show_cut (self);
}

static void
show_document (KvasirMarkdownView *self, KvasirDocument *document)
{
  GPtrArray *blocks = document->blocks;
  GPtrArray *old = self->document != NULL ? self->document->blocks : NULL;
  guint n_old = MIN (self->widgets->len, blocks->len);
  guint i = 0;

  while (i < n_old &&
         kvasir_block_equal (g_ptr_array_index (old, i), g_ptr_array_index (blocks, i)))
    i++;
  while (i < n_old &&
         kvasir_block_widget_update (g_ptr_array_index (self->widgets, i),
                                     g_ptr_array_index (old, i), g_ptr_array_index (blocks, i)))
    i++;
  remove_widgets (self, i);
  g_clear_pointer (&self->cut_label, gtk_widget_unparent);
  g_clear_handle_id (&self->build_id, g_source_remove);
  g_clear_pointer (&self->document, kvasir_document_free);
  self->document = document;
  build_some (self);
}

static void
show_parsed (KvasirMarkdownView *self, KvasirDocument *document, gint64 parse_us)
{
  show_document (self, document);
  self->parse_us = parse_us;
  self->next_us = g_get_monotonic_time () + MAX (MIN_INTERVAL_US, parse_us * LOAD_FACTOR);
}

static void
parsed_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  KvasirMarkdownView *self = KVASIR_MARKDOWN_VIEW (source);
  KvasirDocument *document = g_task_propagate_pointer (G_TASK (result), NULL);
  const Parse *parse = g_task_get_task_data (G_TASK (result));

  self->parsing = FALSE;
  if (self->widgets == NULL)
    {
      kvasir_document_free (document);
      return;
    }
  show_parsed (self, document, parse->us);
  if (self->text != NULL)
    start_parse (self);
}

static gboolean
timeout_cb (gpointer user_data)
{
  KvasirMarkdownView *self = user_data;

  self->timeout_id = 0;
  start_parse (self);
  return G_SOURCE_REMOVE;
}

static void
parse_in_thread (KvasirMarkdownView *self)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, parsed_cb, NULL);
  Parse *parse = g_new0 (Parse, 1);

  parse->text = g_steal_pointer (&self->text);
  parse->plain = self->plain;
  g_task_set_task_data (task, parse, parse_free);
  self->parsing = TRUE;
  g_task_run_in_thread (task, parse_thread);
}

static gboolean
quick_cb (gpointer user_data)
{
  KvasirMarkdownView *self = user_data;
  g_autofree char *text = g_steal_pointer (&self->text);
  gint64 from = g_get_monotonic_time ();
  KvasirDocument *document = parse_text (text, self->plain);

  self->quick_id = 0;
  show_parsed (self, document, g_get_monotonic_time () - from);
  return G_SOURCE_REMOVE;
}

static void
start_parse (KvasirMarkdownView *self)
{
  gint64 wait_us = self->next_us - g_get_monotonic_time ();

  if (self->parsing || self->quick_id != 0)
    return;
  if (wait_us > 0)
    {
      if (self->timeout_id == 0)
        self->timeout_id = g_timeout_add ((guint) (wait_us / 1000) + NO_MORE_MS, timeout_cb, self);
      return;
    }
  g_clear_handle_id (&self->timeout_id, g_source_remove);
  if (self->document == NULL || self->parse_us >= QUICK_US)
    parse_in_thread (self);
  else
    /* Behind all the pieces of text that come at once, and before the frame. */
    self->quick_id = g_idle_add_full (G_PRIORITY_HIGH_IDLE, quick_cb, self, NULL);
}

static void
kvasir_markdown_view_dispose (GObject *object)
{
  KvasirMarkdownView *self = KVASIR_MARKDOWN_VIEW (object);

  g_clear_handle_id (&self->timeout_id, g_source_remove);
  g_clear_handle_id (&self->build_id, g_source_remove);
  g_clear_handle_id (&self->quick_id, g_source_remove);
  if (self->widgets != NULL)
    remove_widgets (self, 0);
  g_clear_pointer (&self->widgets, g_ptr_array_unref);
  g_clear_pointer (&self->cut_label, gtk_widget_unparent);
  g_clear_pointer (&self->document, kvasir_document_free);
  g_clear_pointer (&self->text, g_free);
  G_OBJECT_CLASS (kvasir_markdown_view_parent_class)->dispose (object);
}

static void
kvasir_markdown_view_class_init (KvasirMarkdownViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_markdown_view_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "markdown");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
kvasir_markdown_view_init (KvasirMarkdownView *self)
{
  GtkLayoutManager *layout = gtk_widget_get_layout_manager (GTK_WIDGET (self));

  self->widgets = g_ptr_array_new ();
  gtk_orientable_set_orientation (GTK_ORIENTABLE (layout), GTK_ORIENTATION_VERTICAL);
}

GtkWidget *
kvasir_markdown_view_new (gboolean plain)
{
  KvasirMarkdownView *self = g_object_new (KVASIR_TYPE_MARKDOWN_VIEW, NULL);

  self->plain = plain;
  return GTK_WIDGET (self);
}

void
kvasir_markdown_view_set_text (KvasirMarkdownView *self, const char *text)
{
  g_return_if_fail (KVASIR_IS_MARKDOWN_VIEW (self));
  g_free (self->text);
  self->text = g_strdup (text);
  start_parse (self);
}
