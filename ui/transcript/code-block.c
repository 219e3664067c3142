#include "ui/transcript/code-block.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>
#include <string.h>

struct _KvasirCodeBlock
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkWidget *head;
  GtkWidget *language_label;
  GtkSourceBuffer *buffer; /* (unowned) the view's */
  char *language;          /* (owned) (nullable) as the document says */
  char *source;            /* (owned) (nullable) what is copied */
  gsize n_bytes;           /* in the buffer */
};

G_DEFINE_FINAL_TYPE (KvasirCodeBlock, kvasir_code_block, GTK_TYPE_WIDGET)

/* What people write after the fence, where GtkSourceView has another id. */
static const struct
{
  const char *name;
  const char *id;
} aliases[] = {
  { "py", "python3" },
  { "python", "python3" },
  { "javascript", "js" },
  { "ts", "typescript" },
  { "bash", "sh" },
  { "shell", "sh" },
  { "zsh", "sh" },
  { "console", "sh" },
  { "c++", "cpp" },
  { "cc", "cpp" },
  { "h", "c" },
  { "cs", "c-sharp" },
  { "c#", "c-sharp" },
  { "csharp", "c-sharp" },
  { "rs", "rust" },
  { "golang", "go" },
  { "yml", "yaml" },
  { "md", "markdown" },
  { "tex", "latex" },
  { "rb", "ruby" },
  { "kt", "kotlin" },
  { "hs", "haskell" },
  { "jl", "julia" },
  { "pl", "perl" },
  { "dockerfile", "docker" },
  { "make", "makefile" },
  { "patch", "diff" },
};

static GtkSourceLanguage *
find_language (const char *name)
{
  GtkSourceLanguageManager *manager = gtk_source_language_manager_get_default ();
  g_autofree char *lower = name != NULL ? g_ascii_strdown (name, -1) : NULL;
  const char *id = lower;

  for (guint i = 0; lower != NULL && i < G_N_ELEMENTS (aliases); i++)
    if (g_str_equal (aliases[i].name, lower))
      id = aliases[i].id;
  return id != NULL ? gtk_source_language_manager_get_language (manager, id) : NULL;
}

static void
update_scheme (KvasirCodeBlock *self)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GtkSourceStyleScheme *scheme = gtk_source_style_scheme_manager_get_scheme (
      gtk_source_style_scheme_manager_get_default (), dark ? "Adwaita-dark" : "Adwaita");

  gtk_source_buffer_set_style_scheme (self->buffer, scheme);
}

static void
copy_cb (GtkButton *button, KvasirCodeBlock *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), self->source);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.toast", "s", _ ("Code copied"));
}

static GtkWidget *
make_head (KvasirCodeBlock *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *content = g_object_new (ADW_TYPE_BUTTON_CONTENT, "icon-name", "edit-copy-symbolic",
                                     "label", _ ("Copy"), NULL);
  GtkWidget *copy = gtk_button_new ();

  self->language_label = gtk_label_new (NULL);
  gtk_label_set_ellipsize (GTK_LABEL (self->language_label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->language_label), 0);
  gtk_widget_set_hexpand (self->language_label, TRUE);
  gtk_widget_add_css_class (self->language_label, "code-language");
  gtk_button_set_child (GTK_BUTTON (copy), content);
  gtk_widget_add_css_class (copy, "flat");
  gtk_accessible_update_property (GTK_ACCESSIBLE (copy), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Copy code"), -1);
  g_signal_connect (copy, "clicked", G_CALLBACK (copy_cb), self);
  gtk_widget_add_css_class (head, "code-head");
  gtk_box_append (GTK_BOX (head), self->language_label);
  gtk_box_append (GTK_BOX (head), copy);
  return head;
}

static GtkWidget *
make_view (KvasirCodeBlock *self)
{
  GtkWidget *view = gtk_source_view_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->buffer = GTK_SOURCE_BUFFER (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)));
  gtk_source_buffer_set_highlight_matching_brackets (self->buffer, FALSE);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (view), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (view), TRUE);
  gtk_text_view_set_cursor_visible (GTK_TEXT_VIEW (view), FALSE);
  g_object_set (view, "left-margin", 14, "right-margin", 14, "top-margin", 6, "bottom-margin", 8,
                "accepts-tab", FALSE, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Code"),
                                  -1);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_NEVER);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  return scroller;
}

static void
kvasir_code_block_dispose (GObject *object)
{
  KvasirCodeBlock *self = KVASIR_CODE_BLOCK (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->language, g_free);
  g_clear_pointer (&self->source, g_free);
  G_OBJECT_CLASS (kvasir_code_block_parent_class)->dispose (object);
}

static void
kvasir_code_block_class_init (KvasirCodeBlockClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_code_block_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
kvasir_code_block_init (KvasirCodeBlock *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->head = make_head (self);
  gtk_widget_add_css_class (self->box, "code-block");
  gtk_widget_set_overflow (self->box, GTK_OVERFLOW_HIDDEN);
  gtk_box_append (GTK_BOX (self->box), self->head);
  gtk_box_append (GTK_BOX (self->box), make_view (self));
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (update_scheme), self, G_CONNECT_SWAPPED);
  update_scheme (self);
}

static void
set_language (KvasirCodeBlock *self, const char *name)
{
  GtkSourceLanguage *language = find_language (name);
  const char *title = language != NULL ? gtk_source_language_get_name (language) : name;

  if (self->language != NULL && g_strcmp0 (self->language, name) == 0)
    return;
  g_free (self->language);
  self->language = g_strdup (name);
  gtk_source_buffer_set_language (self->buffer, language);
  gtk_label_set_text (GTK_LABEL (self->language_label), title != NULL ? title : _ ("Code"));
}

static void
set_text (KvasirCodeBlock *self, const char *text)
{
  GtkTextBuffer *buffer = GTK_TEXT_BUFFER (self->buffer);
  gsize len = strlen (text);
  GtkTextIter start, end;
  g_autofree char *shown = NULL;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  shown = gtk_text_buffer_get_text (buffer, &start, &end, TRUE);
  if (len >= self->n_bytes && self->n_bytes > 0 && strncmp (text, shown, self->n_bytes) == 0)
    gtk_text_buffer_insert (buffer, &end, text + self->n_bytes, -1);
  else
    gtk_text_buffer_set_text (buffer, text, -1);
  self->n_bytes = len;
}

void
kvasir_code_block_update (KvasirCodeBlock *self, const KvasirBlock *block)
{
  g_return_if_fail (KVASIR_IS_CODE_BLOCK (self));
  gtk_widget_set_visible (self->head, block->source != NULL);
  g_free (self->source);
  self->source = g_strdup (block->source);
  set_language (self, block->language);
  set_text (self, block->text);
}

GtkWidget *
kvasir_code_block_new (const KvasirBlock *block)
{
  KvasirCodeBlock *self = g_object_new (KVASIR_TYPE_CODE_BLOCK, NULL);

  kvasir_code_block_update (self, block);
  if (block->continues)
    gtk_widget_add_css_class (self->box, "continues");
  return GTK_WIDGET (self);
}
