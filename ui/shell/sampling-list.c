#include "ui/shell/sampling-list.h"

#include "ui/history/sampling.h"
#include "ui/shell/sampling-fields.h"

struct _KvasirSamplingList
{
  GtkBox parent_instance;

  GtkTextBuffer *buffer; /* (unowned) */
  GtkWidget *view;
  GtkWidget *complaint;
  KvasirSamplingListCheck check; /* (nullable) */
  gboolean setting;
};

G_DEFINE_FINAL_TYPE (KvasirSamplingList, kvasir_sampling_list, GTK_TYPE_BOX)

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* Adds what the lines hold to @texts; @complaint: what is wrong with the last wrong one. */
static void
read_lines (KvasirSamplingList *self, GPtrArray *texts, const char **complaint)
{
  GtkTextIter start, end;
  g_autofree char *all = NULL;
  g_auto (GStrv) lines = NULL;

  gtk_text_buffer_get_bounds (self->buffer, &start, &end);
  all = gtk_text_buffer_get_text (self->buffer, &start, &end, TRUE);
  lines = g_strsplit (all, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *text = kvasir_sampling_text_unescape (lines[i]);
      const char *wrong = self->check != NULL && *text != '\0' ? self->check (text) : NULL;

      if (wrong != NULL)
        *complaint = wrong;
      else if (*text != '\0')
        g_ptr_array_add (texts, g_steal_pointer (&text));
    }
}

char **
kvasir_sampling_list_dup (KvasirSamplingList *self)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  const char *complaint = NULL;

  g_return_val_if_fail (KVASIR_IS_SAMPLING_LIST (self), NULL);
  read_lines (self, texts, &complaint);
  g_ptr_array_add (texts, NULL);
  return (char **) g_ptr_array_steal (texts, NULL);
}

void
kvasir_sampling_list_set (KvasirSamplingList *self, char **texts)
{
  GString *lines = g_string_new (NULL);

  g_return_if_fail (KVASIR_IS_SAMPLING_LIST (self));
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      g_autofree char *line = kvasir_sampling_text_escape (texts[i]);
      g_string_append_printf (lines, "%s%s", i > 0 ? "\n" : "", line);
    }
  self->setting = TRUE;
  gtk_text_buffer_set_text (self->buffer, lines->str, -1);
  self->setting = FALSE;
  g_string_free (lines, TRUE);
}

static void
buffer_changed_cb (KvasirSamplingList *self)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  const char *complaint = NULL;

  read_lines (self, texts, &complaint);
  gtk_label_set_text (GTK_LABEL (self->complaint), complaint != NULL ? complaint : "");
  gtk_widget_set_visible (self->complaint, complaint != NULL);
  if (!self->setting)
    g_signal_emit (self, signals[CHANGED], 0);
}

static void
kvasir_sampling_list_class_init (KvasirSamplingListClass *klass)
{
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
kvasir_sampling_list_init (KvasirSamplingList *self)
{
  GtkWidget *scroller = kvasir_sampling_field_make_text (NULL, &self->view);

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  self->buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->view));
  gtk_box_append (GTK_BOX (self), scroller);
  self->complaint = kvasir_sampling_field_make_complaint ();
  gtk_box_append (GTK_BOX (self), self->complaint);
  g_signal_connect_swapped (self->buffer, "changed", G_CALLBACK (buffer_changed_cb), self);
}

GtkWidget *
kvasir_sampling_list_new (const char *name, KvasirSamplingListCheck check)
{
  KvasirSamplingList *self = g_object_new (KVASIR_TYPE_SAMPLING_LIST, NULL);

  self->check = check;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                  -1);
  return GTK_WIDGET (self);
}
