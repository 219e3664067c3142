#include "ui/shell/sampling-editor.h"

#include <glib/gi18n.h>
#include <math.h>

typedef enum
{
  TEMPERATURE,
  TOP_P,
  TOP_K,
  MIN_P,
  REPEAT_PENALTY,
  PRESENCE_PENALTY,
  FREQUENCY_PENALTY,
  PENALTY_LAST_N,
  SEED,
  MAX_TOKENS,
  N_FIELDS
} Field;

static const struct
{
  const char *name;
  const char *hint;
  double min;
  double max;
  double step;
  guint digits;
} fields[N_FIELDS] = {
  [TEMPERATURE] = { N_ ("Temperature"), N_ ("higher is more varied"), 0, 5, 0.1, 2 },
  [TOP_P] = { N_ ("Top-p"), N_ ("1 is off"), 0, 1, 0.05, 2 },
  [TOP_K] = { N_ ("Top-k"), N_ ("0 is off"), 0, 1000, 1, 0 },
  [MIN_P] = { N_ ("Min-p"), N_ ("0 is off"), 0, 1, 0.01, 2 },
  [REPEAT_PENALTY] = { N_ ("Repeat penalty"), N_ ("1 is off"), 0.1, 3, 0.05, 2 },
  [PRESENCE_PENALTY] = { N_ ("Presence penalty"), N_ ("0 is off"), -2, 2, 0.1, 2 },
  [FREQUENCY_PENALTY] = { N_ ("Frequency penalty"), N_ ("0 is off"), -2, 2, 0.1, 2 },
  [PENALTY_LAST_N] = { N_ ("Penalties look back"), N_ ("tokens"), 0, 4096, 16, 0 },
  [SEED] = { N_ ("Seed"), N_ ("the same seed draws the same answer"), 0, 4294967295.0, 1, 0 },
  [MAX_TOKENS] = { N_ ("Longest answer"), N_ ("tokens; 0 is no limit"), 0, 100000, 64, 0 },
};

struct _KvasirSamplingEditor
{
  GtkPopover parent_instance;

  GtkWidget *grid;
  GtkWidget *spins[N_FIELDS];
  gboolean setting;
};

G_DEFINE_FINAL_TYPE (KvasirSamplingEditor, kvasir_sampling_editor, GTK_TYPE_POPOVER)

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
set_field (KvasirSamplingEditor *self, Field field, double value)
{
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->spins[field]), value);
}

static double
get_field (KvasirSamplingEditor *self, Field field)
{
  return gtk_spin_button_get_value (GTK_SPIN_BUTTON (self->spins[field]));
}

static guint
get_count (KvasirSamplingEditor *self, Field field)
{
  return (guint) round (get_field (self, field));
}

void
kvasir_sampling_editor_set (KvasirSamplingEditor *self, const KvasirSampling *sampling)
{
  const KvasirSamplerParams *p = &sampling->params;

  g_return_if_fail (KVASIR_IS_SAMPLING_EDITOR (self));
  self->setting = TRUE;
  set_field (self, TEMPERATURE, p->temperature);
  set_field (self, TOP_P, p->top_p);
  set_field (self, TOP_K, p->top_k);
  set_field (self, MIN_P, p->min_p);
  set_field (self, REPEAT_PENALTY, p->repeat_penalty);
  set_field (self, PRESENCE_PENALTY, p->presence_penalty);
  set_field (self, FREQUENCY_PENALTY, p->frequency_penalty);
  set_field (self, PENALTY_LAST_N, p->penalty_last_n);
  set_field (self, SEED, (double) p->seed);
  set_field (self, MAX_TOKENS, sampling->max_tokens);
  self->setting = FALSE;
}

void
kvasir_sampling_editor_get (KvasirSamplingEditor *self, KvasirSampling *sampling)
{
  KvasirSamplerParams *p = &sampling->params;

  g_return_if_fail (KVASIR_IS_SAMPLING_EDITOR (self));
  kvasir_sampling_init (sampling);
  p->temperature = (float) get_field (self, TEMPERATURE);
  p->top_p = (float) get_field (self, TOP_P);
  p->top_k = get_count (self, TOP_K);
  p->min_p = (float) get_field (self, MIN_P);
  p->repeat_penalty = (float) get_field (self, REPEAT_PENALTY);
  p->presence_penalty = (float) get_field (self, PRESENCE_PENALTY);
  p->frequency_penalty = (float) get_field (self, FREQUENCY_PENALTY);
  p->penalty_last_n = get_count (self, PENALTY_LAST_N);
  p->seed = (guint64) get_field (self, SEED);
  sampling->max_tokens = get_count (self, MAX_TOKENS);
}

static void
value_changed_cb (KvasirSamplingEditor *self)
{
  if (!self->setting)
    g_signal_emit (self, signals[CHANGED], 0);
}

static void
reset_cb (KvasirSamplingEditor *self)
{
  KvasirSampling sampling;

  kvasir_sampling_init (&sampling);
  kvasir_sampling_editor_set (self, &sampling);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
add_field (KvasirSamplingEditor *self, Field field)
{
  GtkWidget *spin =
      gtk_spin_button_new_with_range (fields[field].min, fields[field].max, fields[field].step);
  GtkWidget *label = gtk_label_new (_ (fields[field].name));
  GtkWidget *hint = gtk_label_new (_ (fields[field].hint));

  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (spin), fields[field].digits);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), spin);
  gtk_label_set_xalign (GTK_LABEL (hint), 0);
  gtk_widget_add_css_class (hint, "dim-label");
  gtk_widget_add_css_class (hint, "caption");
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (fields[field].name), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ (fields[field].hint), -1);
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (value_changed_cb), self);
  gtk_grid_attach (GTK_GRID (self->grid), label, 0, (int) field, 1, 1);
  gtk_grid_attach (GTK_GRID (self->grid), spin, 1, (int) field, 1, 1);
  gtk_grid_attach (GTK_GRID (self->grid), hint, 2, (int) field, 1, 1);
  self->spins[field] = spin;
}

static void
kvasir_sampling_editor_class_init (KvasirSamplingEditorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/kvasir/Kvasir/ui/sampling-editor.ui");
  gtk_widget_class_bind_template_child (widget_class, KvasirSamplingEditor, grid);
  gtk_widget_class_bind_template_callback (widget_class, reset_cb);
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
kvasir_sampling_editor_init (KvasirSamplingEditor *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < N_FIELDS; i++)
    add_field (self, i);
}

GtkWidget *
kvasir_sampling_editor_new (void)
{
  return g_object_new (KVASIR_TYPE_SAMPLING_EDITOR, NULL);
}
