#include "ui/transcript/reasoning-fold.h"

#include <glib/gi18n.h>

#include "ui/transcript/markdown-view.h"

struct _KvasirReasoningFold
{
  GtkWidget parent_instance;

  GtkWidget *expander;
  GtkWidget *view; /* (nullable): KvasirMarkdownView, until it was unfolded once */
  char *text;      /* (owned) */
};

G_DEFINE_FINAL_TYPE (KvasirReasoningFold, kvasir_reasoning_fold, GTK_TYPE_WIDGET)

static void
unfolded_cb (KvasirReasoningFold *self)
{
  if (self->view != NULL || !gtk_expander_get_expanded (GTK_EXPANDER (self->expander)))
    return;
  self->view = kvasir_markdown_view_new (FALSE);
  gtk_widget_add_css_class (self->view, "dim-label");
  gtk_expander_set_child (GTK_EXPANDER (self->expander), self->view);
  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (self->view), self->text);
}

static void
kvasir_reasoning_fold_dispose (GObject *object)
{
  KvasirReasoningFold *self = KVASIR_REASONING_FOLD (object);

  g_clear_pointer (&self->expander, gtk_widget_unparent);
  self->view = NULL;
  G_OBJECT_CLASS (kvasir_reasoning_fold_parent_class)->dispose (object);
}

static void
kvasir_reasoning_fold_finalize (GObject *object)
{
  g_free (KVASIR_REASONING_FOLD (object)->text);
  G_OBJECT_CLASS (kvasir_reasoning_fold_parent_class)->finalize (object);
}

static void
kvasir_reasoning_fold_class_init (KvasirReasoningFoldClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = kvasir_reasoning_fold_dispose;
  G_OBJECT_CLASS (klass)->finalize = kvasir_reasoning_fold_finalize;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
}

static void
kvasir_reasoning_fold_init (KvasirReasoningFold *self)
{
  self->text = g_strdup ("");
  self->expander = gtk_expander_new (NULL);
  gtk_widget_add_css_class (self->expander, "message-reasoning");
  gtk_widget_set_parent (self->expander, GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  g_signal_connect_swapped (self->expander, "notify::expanded", G_CALLBACK (unfolded_cb), self);
}

void
kvasir_reasoning_fold_set (KvasirReasoningFold *self, const char *text, gboolean is_open)
{
  g_return_if_fail (KVASIR_IS_REASONING_FOLD (self) && text != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self), *text != '\0');
  gtk_expander_set_label (GTK_EXPANDER (self->expander),
                          is_open ? _ ("Thinking…") : _ ("What the model thought"));
  if (g_str_equal (self->text, text))
    return;
  g_free (self->text);
  self->text = g_strdup (text);
  if (self->view != NULL)
    kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (self->view), text);
}
