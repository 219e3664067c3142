#include "ui/shell/sampling-editor.h"

#include <glib/gi18n.h>

#include "ui/shell/sampling-fields.h"

static const struct
{
  KvasirSamplingNumber number;
  const char *hint;
} fields[] = {
  { KVASIR_SAMPLING_TEMPERATURE, N_ ("higher is more varied") },
  { KVASIR_SAMPLING_TOP_P, N_ ("1 is off") },
  { KVASIR_SAMPLING_TOP_K, N_ ("0 is off") },
  { KVASIR_SAMPLING_MIN_P, N_ ("0 is off") },
  { KVASIR_SAMPLING_REPEAT_PENALTY, N_ ("1 is off") },
  { KVASIR_SAMPLING_PENALTY_LAST_N, N_ ("tokens") },
  { KVASIR_SAMPLING_SEED, N_ ("the same seed draws the same answer") },
  { KVASIR_SAMPLING_MAX_TOKENS, N_ ("tokens; 0 is no limit") },
};

#define N_FIELDS G_N_ELEMENTS (fields)

struct _KvasirSamplingEditor
{
  GtkPopover parent_instance;

  GtkWidget *grid;
  GtkWidget *spins[N_FIELDS];
  KvasirSampling sampling;
  gboolean setting;
};

G_DEFINE_FINAL_TYPE (KvasirSamplingEditor, kvasir_sampling_editor, GTK_TYPE_POPOVER)

enum
{
  CHANGED,
  ALL_SETTINGS,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
show_numbers (KvasirSamplingEditor *self)
{
  self->setting = TRUE;
  for (guint i = 0; i < N_FIELDS; i++)
    gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->spins[i]),
                               kvasir_sampling_get_number (&self->sampling, fields[i].number));
  self->setting = FALSE;
}

void
kvasir_sampling_editor_set (KvasirSamplingEditor *self, const KvasirSampling *sampling)
{
  KvasirSampling copy;

  g_return_if_fail (KVASIR_IS_SAMPLING_EDITOR (self));
  /* It may be this one's own, on its way around by the signal. */
  kvasir_sampling_copy (sampling, &copy);
  kvasir_sampling_clear (&self->sampling);
  self->sampling = copy;
  show_numbers (self);
}

static void
value_changed_cb (GtkWidget *spin, KvasirSamplingEditor *self)
{
  if (self->setting)
    return;
  for (guint i = 0; i < N_FIELDS; i++)
    if (self->spins[i] == spin)
      kvasir_sampling_set_number (&self->sampling, fields[i].number,
                                  gtk_spin_button_get_value (GTK_SPIN_BUTTON (spin)));
  g_signal_emit (self, signals[CHANGED], 0, &self->sampling);
}

/* All of them, those that this popover does not show, too. */
static void
reset_cb (KvasirSamplingEditor *self)
{
  kvasir_sampling_clear (&self->sampling);
  kvasir_sampling_init (&self->sampling);
  show_numbers (self);
  g_signal_emit (self, signals[CHANGED], 0, &self->sampling);
}

static void
all_cb (KvasirSamplingEditor *self)
{
  g_signal_emit (self, signals[ALL_SETTINGS], 0);
}

static void
add_field (KvasirSamplingEditor *self, guint i)
{
  GtkWidget *spin = kvasir_sampling_field_make_spin (fields[i].number);
  GtkWidget *label = gtk_label_new (kvasir_sampling_field_get_name (fields[i].number));
  GtkWidget *hint = gtk_label_new (_ (fields[i].hint));

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), spin);
  gtk_label_set_xalign (GTK_LABEL (hint), 0);
  gtk_widget_add_css_class (hint, "dim-label");
  gtk_widget_add_css_class (hint, "caption");
  g_signal_connect (spin, "value-changed", G_CALLBACK (value_changed_cb), self);
  gtk_grid_attach (GTK_GRID (self->grid), label, 0, (int) i, 1, 1);
  gtk_grid_attach (GTK_GRID (self->grid), spin, 1, (int) i, 1, 1);
  gtk_grid_attach (GTK_GRID (self->grid), hint, 2, (int) i, 1, 1);
  self->spins[i] = spin;
}

static void
kvasir_sampling_editor_finalize (GObject *object)
{
  kvasir_sampling_clear (&KVASIR_SAMPLING_EDITOR (object)->sampling);
  G_OBJECT_CLASS (kvasir_sampling_editor_parent_class)->finalize (object);
}

static void
kvasir_sampling_editor_class_init (KvasirSamplingEditorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = kvasir_sampling_editor_finalize;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/kvasir/Kvasir/ui/sampling-editor.ui");
  gtk_widget_class_bind_template_child (widget_class, KvasirSamplingEditor, grid);
  gtk_widget_class_bind_template_callback (widget_class, reset_cb);
  gtk_widget_class_bind_template_callback (widget_class, all_cb);
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  signals[ALL_SETTINGS] = g_signal_new ("all-settings", G_TYPE_FROM_CLASS (klass),
                                        G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
kvasir_sampling_editor_init (KvasirSamplingEditor *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  kvasir_sampling_init (&self->sampling);
  for (guint i = 0; i < N_FIELDS; i++)
    add_field (self, i);
}

GtkWidget *
kvasir_sampling_editor_new (void)
{
  return g_object_new (KVASIR_TYPE_SAMPLING_EDITOR, NULL);
}
