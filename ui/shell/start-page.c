#include "ui/shell/start-page.h"

#include <glib/gi18n.h>

#include "ui/shell/model-row.h"
#include "viz/format.h"

struct _KvasirStartPage
{
  GtkWidget parent_instance;

  GtkWidget *scroller;
  GtkWidget *picture;
  GtkWidget *missing;
  GtkWidget *open_default;
  GtkWidget *default_facts;
  GtkWidget *found;
  GtkWidget *n_found;
  GtkWidget *free;
  GtkWidget *heads;
  GtkWidget *head_size;
  GtkWidget *head_kind;
  GtkWidget *head_fit;
  GtkWidget *models;

  KvasirModelLibrary *library; /* (owned) (nullable) */
  KvasirModelColumns columns;
  gboolean compact;
};

G_DEFINE_FINAL_TYPE (KvasirStartPage, kvasir_start_page, GTK_TYPE_WIDGET)

static void
open_entry (KvasirStartPage *self, KvasirModelEntry *entry)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-path", "s",
                              kvasir_model_entry_get_path (entry));
}

static void
open_default_cb (KvasirStartPage *self)
{
  KvasirModelEntry *entry = kvasir_model_library_find_default (self->library);

  if (entry != NULL)
    open_entry (self, entry);
}

static void
row_activated_cb (KvasirStartPage *self, GtkListBoxRow *row)
{
  open_entry (self, kvasir_model_row_get_entry (KVASIR_MODEL_ROW (row)));
}

static void
update_default (KvasirStartPage *self)
{
  KvasirModelEntry *entry = kvasir_model_library_find_default (self->library);
  g_autofree char *need = entry != NULL ? kvasir_model_entry_describe_need (entry) : NULL;

  gtk_widget_set_visible (self->open_default, entry != NULL);
  gtk_widget_set_visible (self->missing, entry == NULL);
  gtk_widget_set_visible (self->default_facts, entry != NULL);
  gtk_label_set_text (GTK_LABEL (self->default_facts), need != NULL ? need : "");
}

/* What the device had free when it was asked last. */
static guint64
get_free_bytes (KvasirStartPage *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->library));
  guint64 free_bytes = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (KvasirModelEntry) entry = g_list_model_get_item (G_LIST_MODEL (self->library), i);

      if (kvasir_model_entry_get_free_bytes (entry) > 0)
        free_bytes = kvasir_model_entry_get_free_bytes (entry);
    }
  return free_bytes;
}

static void
update (KvasirStartPage *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->library));
  guint64 free_bytes = get_free_bytes (self);
  g_autofree char *count = g_strdup_printf (ngettext ("%u model", "%u models", n), n);
  g_autofree char *free_text =
      free_bytes > 0 ? g_strdup_printf (_ ("free: CPU %s"), kvasir_format_size (free_bytes).s)
                     : g_strdup ("");

  gtk_widget_set_visible (self->found, n > 0);
  gtk_label_set_text (GTK_LABEL (self->n_found), count);
  gtk_label_set_text (GTK_LABEL (self->free), free_text);
  update_default (self);
}

static GtkWidget *
make_row (gpointer item, gpointer user_data)
{
  KvasirStartPage *self = user_data;
  GtkWidget *row = kvasir_model_row_new (item, &self->columns);

  kvasir_model_row_set_compact (KVASIR_MODEL_ROW (row), self->compact);
  return row;
}

static void
kvasir_start_page_dispose (GObject *object)
{
  KvasirStartPage *self = KVASIR_START_PAGE (object);

  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->library);
  g_clear_object (&self->columns.size);
  g_clear_object (&self->columns.kind);
  g_clear_object (&self->columns.fit);
  G_OBJECT_CLASS (kvasir_start_page_parent_class)->dispose (object);
}

static void
kvasir_start_page_class_init (KvasirStartPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_start_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/org/kvasir/Kvasir/ui/start-page.ui");
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, scroller);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, picture);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, missing);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, open_default);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, default_facts);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, found);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, n_found);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, free);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, heads);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, head_size);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, head_kind);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, head_fit);
  gtk_widget_class_bind_template_child (widget_class, KvasirStartPage, models);
  gtk_widget_class_bind_template_callback (widget_class, open_default_cb);
  gtk_widget_class_bind_template_callback (widget_class, row_activated_cb);
}

static void
kvasir_start_page_init (KvasirStartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_picture_set_resource (GTK_PICTURE (self->picture), "/org/kvasir/Kvasir/cells.svg");
  self->columns.size = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->columns.kind = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->columns.fit = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  gtk_size_group_add_widget (self->columns.size, self->head_size);
  gtk_size_group_add_widget (self->columns.kind, self->head_kind);
  gtk_size_group_add_widget (self->columns.fit, self->head_fit);
}

void
kvasir_start_page_set_library (KvasirStartPage *self, KvasirModelLibrary *library)
{
  g_return_if_fail (KVASIR_IS_START_PAGE (self) && self->library == NULL);
  self->library = g_object_ref (library);
  gtk_list_box_bind_model (GTK_LIST_BOX (self->models), G_LIST_MODEL (library), make_row, self,
                           NULL);
  g_signal_connect_object (library, "items-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (library, "measured", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
}

void
kvasir_start_page_set_compact (KvasirStartPage *self, gboolean compact)
{
  g_return_if_fail (KVASIR_IS_START_PAGE (self));
  if (self->compact == compact)
    return;
  self->compact = compact;
  gtk_widget_set_visible (self->heads, !compact);
  for (GtkWidget *row = gtk_widget_get_first_child (self->models); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    kvasir_model_row_set_compact (KVASIR_MODEL_ROW (row), compact);
}
