#include "ui/shell/model-row.h"

#include <glib/gi18n.h>

#include "viz/format.h"

struct _KvasirModelRow
{
  GtkListBoxRow parent_instance;

  KvasirModelEntry *entry; /* (owned) */
  GtkWidget *description;
  GtkWidget *size;
  GtkWidget *kind;
  GtkWidget *sign;
  GtkWidget *verdict;
  GtkWidget *reason;
  gboolean compact;
};

G_DEFINE_FINAL_TYPE (KvasirModelRow, kvasir_model_row, GTK_TYPE_LIST_BOX_ROW)

typedef struct
{
  const char *icon;
  const char *word;
  const char *class;
} Verdict;

static Verdict
get_verdict (KvasirModelState state)
{
  switch (state)
    {
    case KVASIR_MODEL_FITS:
      return (Verdict){ "emblem-ok-symbolic", _ ("fits"), "fits" };
    case KVASIR_MODEL_TOO_LARGE:
      return (Verdict){ "window-close-symbolic", _ ("doesn’t fit"), "too-large" };
    case KVASIR_MODEL_UNUSABLE:
      return (Verdict){ "dialog-warning-symbolic", _ ("can’t be opened"), "unusable" };
    case KVASIR_MODEL_MEASURING:
    default:
      return (Verdict){ "content-loading-symbolic", _ ("measuring…"), "measuring" };
    }
}

static void
update_name (KvasirModelRow *self, const char *size, const char *word, const char *reason)
{
  g_autofree char *name = g_strdup_printf (
      "%s, %s, %s, %s", kvasir_model_entry_get_title (self->entry), size, word, reason);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
update (KvasirModelRow *self)
{
  Verdict verdict = get_verdict (kvasir_model_entry_get_state (self->entry));
  g_autofree char *description = kvasir_model_entry_describe (self->entry);
  g_autofree char *reason = kvasir_model_entry_describe_fit (self->entry);
  KvasirFormatted size = kvasir_format_size (kvasir_model_entry_get_file_bytes (self->entry));
  const char *kind = kvasir_model_entry_get_memory_kind (self->entry);
  const char *const classes[] = { "numeric", verdict.class, NULL };

  if (self->compact)
    {
      g_autofree char *below = g_strdup_printf ("%s%s%s", size.s, *kind != '\0' ? " · " : "", kind);
      gtk_label_set_text (GTK_LABEL (self->description), below);
    }
  else
    gtk_label_set_text (GTK_LABEL (self->description), description);
  gtk_label_set_text (GTK_LABEL (self->size), size.s);
  gtk_label_set_text (GTK_LABEL (self->kind), kind);
  gtk_label_set_text (GTK_LABEL (self->verdict), verdict.word);
  gtk_label_set_text (GTK_LABEL (self->reason), reason);
  gtk_widget_set_tooltip_text (self->reason, reason);
  gtk_widget_set_css_classes (self->verdict, (const char **) classes);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->sign), verdict.icon);
  gtk_widget_set_css_classes (self->sign, (const char *[]){ "model-sign", verdict.class, NULL });
  update_name (self, size.s, verdict.word, reason);
}

static GtkWidget *
make_label (const char *class, float xalign)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), xalign);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
make_pair (GtkWidget *upper, GtkWidget *lower)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), upper);
  gtk_box_append (GTK_BOX (box), lower);
  return box;
}

static GtkWidget *
make_name (KvasirModelRow *self)
{
  GtkWidget *title = make_label ("model-title", 0);
  GtkWidget *pair;

  gtk_label_set_text (GTK_LABEL (title), kvasir_model_entry_get_title (self->entry));
  self->description = make_label ("model-detail", 0);
  pair = make_pair (title, self->description);
  gtk_widget_set_hexpand (pair, TRUE);
  return pair;
}

static GtkWidget *
make_fit (KvasirModelRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  self->sign = gtk_image_new ();
  self->verdict = make_label (NULL, 0);
  self->reason = make_label ("model-detail", 0);
  gtk_label_set_width_chars (GTK_LABEL (self->reason), 26);
  gtk_label_set_max_width_chars (GTK_LABEL (self->reason), 34);
  gtk_widget_set_valign (self->sign, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), self->sign);
  gtk_box_append (GTK_BOX (box), make_pair (self->verdict, self->reason));
  return box;
}

static void
kvasir_model_row_dispose (GObject *object)
{
  g_clear_object (&KVASIR_MODEL_ROW (object)->entry);
  G_OBJECT_CLASS (kvasir_model_row_parent_class)->dispose (object);
}

static void
kvasir_model_row_class_init (KvasirModelRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = kvasir_model_row_dispose;
}

static void
kvasir_model_row_init (KvasirModelRow *self)
{
}

GtkWidget *
kvasir_model_row_new (KvasirModelEntry *entry, const KvasirModelColumns *columns)
{
  KvasirModelRow *self = g_object_new (KVASIR_TYPE_MODEL_ROW, NULL);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 18);
  GtkWidget *icon = gtk_image_new_from_icon_name ("text-x-generic-symbolic");
  GtkWidget *fit;

  self->entry = g_object_ref (entry);
  gtk_widget_add_css_class (box, "model-row");
  gtk_box_append (GTK_BOX (box), icon);
  gtk_box_append (GTK_BOX (box), make_name (self));
  self->size = make_label ("model-size", 1);
  self->kind = make_label (NULL, 0);
  gtk_label_set_width_chars (GTK_LABEL (self->size), 10);
  gtk_label_set_width_chars (GTK_LABEL (self->kind), 17);
  fit = make_fit (self);
  gtk_box_append (GTK_BOX (box), self->size);
  gtk_box_append (GTK_BOX (box), self->kind);
  gtk_box_append (GTK_BOX (box), fit);
  gtk_size_group_add_widget (columns->size, self->size);
  gtk_size_group_add_widget (columns->kind, self->kind);
  gtk_size_group_add_widget (columns->fit, fit);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (self), box);
  g_signal_connect_object (entry, "notify::state", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}

KvasirModelEntry *
kvasir_model_row_get_entry (KvasirModelRow *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ROW (self), NULL);
  return self->entry;
}

void
kvasir_model_row_set_compact (KvasirModelRow *self, gboolean compact)
{
  g_return_if_fail (KVASIR_IS_MODEL_ROW (self));
  self->compact = compact;
  gtk_widget_set_visible (self->size, !compact);
  gtk_widget_set_visible (self->kind, !compact);
  update (self);
}
