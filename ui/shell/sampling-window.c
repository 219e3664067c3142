#include "ui/shell/sampling-window.h"

#include <glib/gi18n.h>

#include "engine/sampling/order.h"
#include "ui/shell/sampling-fields.h"
#include "ui/shell/sampling-form.h"
#include "ui/shell/sampling-list.h"

#define WIDTH 680
#define MAX_HEIGHT 820
#define MARGIN 60
#define MAX_NUMBERS 7
#define NO_NUMBER KVASIR_SAMPLING_N_NUMBERS

typedef enum
{
  LIST_NONE,
  LIST_BREAKERS,
  LIST_STOPS,
  LIST_BIASES,
  N_LISTS
} List;

static const struct
{
  const char *title;
  const char *description;
  KvasirSamplingNumber numbers[MAX_NUMBERS + 1]; /* up to NO_NUMBER */
  List list;
} groups[] = {
  { N_ ("Temperature"),
    N_ ("How boldly a token is drawn from those that may come next."),
    { KVASIR_SAMPLING_TEMPERATURE, KVASIR_SAMPLING_DYNATEMP_RANGE,
      KVASIR_SAMPLING_DYNATEMP_EXPONENT, KVASIR_SAMPLING_SEED, NO_NUMBER },
    LIST_NONE },
  { N_ ("Cuts"),
    N_ ("Each leaves tokens out, one after the other, so that nothing odd is drawn."),
    { KVASIR_SAMPLING_TOP_K, KVASIR_SAMPLING_TOP_P, KVASIR_SAMPLING_MIN_P,
      KVASIR_SAMPLING_TYPICAL_P, KVASIR_SAMPLING_TOP_N_SIGMA, KVASIR_SAMPLING_XTC_PROBABILITY,
      KVASIR_SAMPLING_XTC_THRESHOLD, NO_NUMBER },
    LIST_NONE },
  { N_ ("Mirostat"),
    N_ ("Keeps the text at one level of surprise, in place of all cuts."),
    { KVASIR_SAMPLING_MIROSTAT, KVASIR_SAMPLING_MIROSTAT_TAU, KVASIR_SAMPLING_MIROSTAT_ETA,
      NO_NUMBER },
    LIST_NONE },
  { N_ ("Repeated Words"),
    N_ ("Makes tokens less likely that stand in the text already."),
    { KVASIR_SAMPLING_REPEAT_PENALTY, KVASIR_SAMPLING_PRESENCE_PENALTY,
      KVASIR_SAMPLING_FREQUENCY_PENALTY, KVASIR_SAMPLING_PENALTY_LAST_N, NO_NUMBER },
    LIST_NONE },
  { N_ ("Repeated Phrases"),
    N_ ("DRY makes the token less likely that would go on with a phrase said before. The texts "
        "below, one in a line, end a phrase; a line break is \\n."),
    { KVASIR_SAMPLING_DRY_MULTIPLIER, KVASIR_SAMPLING_DRY_BASE, KVASIR_SAMPLING_DRY_ALLOWED_LENGTH,
      KVASIR_SAMPLING_DRY_LAST_N, NO_NUMBER },
    LIST_BREAKERS },
  { N_ ("End of an Answer"),
    N_ ("An answer ends before the first stop text below and does not hold it. One in a line; a "
        "line break is \\n."),
    { KVASIR_SAMPLING_MAX_TOKENS, NO_NUMBER },
    LIST_STOPS },
  { N_ ("Biases"),
    N_ ("Makes tokens more or less likely. One in a line: a token's number or a text, then the "
        "bias with its sign, such as 15043+2 or Certainly-5; -inf is never."),
    { NO_NUMBER },
    LIST_BIASES },
};

#define N_GROUPS G_N_ELEMENTS (groups)

static const char *const stage_names[] = {
  [KVASIR_STAGE_PENALTIES] = N_ ("Penalties"),
  [KVASIR_STAGE_DRY] = N_ ("DRY"),
  [KVASIR_STAGE_TOP_N_SIGMA] = N_ ("Top-n-sigma"),
  [KVASIR_STAGE_TOP_K] = N_ ("Top-k"),
  [KVASIR_STAGE_TYPICAL] = N_ ("Typical-p"),
  [KVASIR_STAGE_TOP_P] = N_ ("Top-p"),
  [KVASIR_STAGE_MIN_P] = N_ ("Min-p"),
  [KVASIR_STAGE_XTC] = N_ ("XTC"),
  [KVASIR_STAGE_TEMPERATURE] = N_ ("Temperature"),
};

struct _KvasirSamplingWindow
{
  AdwPreferencesWindow parent_instance;

  GtkWidget *spins[KVASIR_SAMPLING_N_NUMBERS];
  GtkWidget *lists[N_LISTS];
  GtkWidget *stages[KVASIR_SAMPLER_N_STAGES];
  GtkWidget *form;
  GtkWidget *adapt;
  KvasirSampling sampling;
  KvasirSamplerStage order[KVASIR_SAMPLER_N_STAGES]; /* as shown, never "the usual" */
  gboolean setting;
};

G_DEFINE_FINAL_TYPE (KvasirSamplingWindow, kvasir_sampling_window, ADW_TYPE_PREFERENCES_WINDOW)

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static char ***
get_texts (KvasirSampling *sampling, List list)
{
  if (list == LIST_BREAKERS)
    return &sampling->texts.breakers;
  return list == LIST_STOPS ? &sampling->texts.stops : &sampling->texts.biases;
}

static void
tell (KvasirSamplingWindow *self)
{
  g_signal_emit (self, signals[CHANGED], 0, &self->sampling);
}

/* ---- numbers and lists */

static void
value_changed_cb (GtkWidget *spin, KvasirSamplingWindow *self)
{
  if (self->setting)
    return;
  for (guint i = 0; i < KVASIR_SAMPLING_N_NUMBERS; i++)
    if (self->spins[i] == spin)
      kvasir_sampling_set_number (&self->sampling, i,
                                  gtk_spin_button_get_value (GTK_SPIN_BUTTON (spin)));
  tell (self);
}

static void
list_changed_cb (GtkWidget *widget, KvasirSamplingWindow *self)
{
  for (guint i = LIST_BREAKERS; i < N_LISTS; i++)
    if (self->lists[i] == widget)
      {
        char ***texts = get_texts (&self->sampling, i);
        g_strfreev (*texts);
        *texts = kvasir_sampling_list_dup (KVASIR_SAMPLING_LIST (widget));
      }
  tell (self);
}

static void
show_group (KvasirSamplingWindow *self, guint group)
{
  List list = groups[group].list;

  self->setting = TRUE;
  for (const KvasirSamplingNumber *n = groups[group].numbers; *n != NO_NUMBER; n++)
    gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->spins[*n]),
                               kvasir_sampling_get_number (&self->sampling, *n));
  if (list != LIST_NONE)
    kvasir_sampling_list_set (KVASIR_SAMPLING_LIST (self->lists[list]),
                              *get_texts (&self->sampling, list));
  self->setting = FALSE;
}

static void
reset_group_cb (GtkWidget *button, KvasirSamplingWindow *self)
{
  guint group = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "kvasir-group"));
  List list = groups[group].list;
  g_auto (KvasirSampling) usual = { 0 };

  kvasir_sampling_init (&usual);
  for (const KvasirSamplingNumber *n = groups[group].numbers; *n != NO_NUMBER; n++)
    kvasir_sampling_set_number (&self->sampling, *n, kvasir_sampling_get_number (&usual, *n));
  if (list != LIST_NONE)
    {
      char ***texts = get_texts (&self->sampling, list);
      g_strfreev (*texts);
      *texts = g_strdupv (*get_texts (&usual, list));
    }
  show_group (self, group);
  tell (self);
}

static const char *
check_bias (const char *text)
{
  KvasirTokenBias bias;

  return kvasir_token_bias_parse (text, &bias)
             ? NULL
             : _ ("A line without a bias counts for nothing: a sign and a number must end it.");
}

/* ---- the order */

static void
show_order (KvasirSamplingWindow *self)
{
  for (guint i = 0; i < KVASIR_SAMPLER_N_STAGES; i++)
    {
      KvasirSamplerStage stage = self->order[i];
      g_autofree char *title = NULL;

      gtk_widget_set_visible (self->stages[i], stage != KVASIR_STAGE_END);
      if (stage == KVASIR_STAGE_END)
        continue;
      title = g_strdup_printf ("%u. %s", i + 1, _ (stage_names[stage]));
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->stages[i]), title);
    }
}

static void
take_order (KvasirSamplingWindow *self, const KvasirSamplerStage *order)
{
  for (guint i = 0; i < KVASIR_SAMPLER_N_STAGES; i++)
    self->order[i] = order[0] == KVASIR_STAGE_END ? i + 1 : order[i];
  show_order (self);
}

static void
move_stage_cb (GtkWidget *button, KvasirSamplingWindow *self)
{
  guint at = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "kvasir-stage"));
  KvasirSamplerStage below = at + 1 < KVASIR_SAMPLER_N_STAGES ? self->order[at + 1] : 0;

  if (below == KVASIR_STAGE_END)
    return;
  self->order[at + 1] = self->order[at];
  self->order[at] = below;
  show_order (self);
  memcpy (self->sampling.params.order, self->order, sizeof self->order);
  tell (self);
}

static void
reset_order_cb (GtkWidget *button, KvasirSamplingWindow *self)
{
  const KvasirSamplerStage usual[KVASIR_SAMPLER_N_STAGES] = { 0 };

  memcpy (self->sampling.params.order, usual, sizeof usual);
  take_order (self, usual);
  tell (self);
}

/* ---- making */

static GtkWidget *
make_reset_button (const char *group)
{
  GtkWidget *button = gtk_button_new_with_label (_ ("Defaults"));
  g_autofree char *name = g_strdup_printf (_ ("Defaults: %s"), group);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return button;
}

static GtkWidget *
make_row (KvasirSamplingWindow *self, KvasirSamplingNumber number)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *spin = kvasir_sampling_field_make_spin (number);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row),
                                 kvasir_sampling_field_get_name (number));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), kvasir_sampling_field_get_help (number));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), spin);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), spin);
  g_signal_connect (spin, "value-changed", G_CALLBACK (value_changed_cb), self);
  self->spins[number] = spin;
  return row;
}

static GtkWidget *
make_list (KvasirSamplingWindow *self, List list)
{
  static const char *const names[N_LISTS] = { NULL, N_ ("Texts that end a phrase"),
                                              N_ ("Stop texts"), N_ ("Biases") };
  GtkWidget *widget =
      kvasir_sampling_list_new (_ (names[list]), list == LIST_BIASES ? check_bias : NULL);

  gtk_widget_set_margin_top (widget, 12);
  g_signal_connect (widget, "changed", G_CALLBACK (list_changed_cb), self);
  self->lists[list] = widget;
  return widget;
}

static void
adapt_changed_cb (GtkSwitch *widget, GParamSpec *pspec, KvasirSamplingWindow *self)
{
  if (self->setting)
    return;
  self->sampling.adapt = gtk_switch_get_active (widget);
  tell (self);
}

static AdwPreferencesGroup *
make_group (const char *title, const char *description, GtkWidget *button)
{
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (adw_preferences_group_new ());

  adw_preferences_group_set_title (group, title);
  adw_preferences_group_set_description (group, description);
  adw_preferences_group_set_header_suffix (group, button);
  return group;
}

static void
add_group (KvasirSamplingWindow *self, AdwPreferencesPage *page, guint i)
{
  const char *title = _ (groups[i].title);
  GtkWidget *button = make_reset_button (title);
  AdwPreferencesGroup *group = make_group (title, _ (groups[i].description), button);

  g_object_set_data (G_OBJECT (button), "kvasir-group", GUINT_TO_POINTER (i));
  g_signal_connect (button, "clicked", G_CALLBACK (reset_group_cb), self);
  for (const KvasirSamplingNumber *n = groups[i].numbers; *n != NO_NUMBER; n++)
    adw_preferences_group_add (group, make_row (self, *n));
  if (groups[i].list != LIST_NONE)
    adw_preferences_group_add (group, make_list (self, groups[i].list));
  adw_preferences_page_add (page, group);
}

/* @at: of the two stages that change places the upper one. */
static void
add_mover (KvasirSamplingWindow *self, GtkWidget *row, guint at, const char *icon, const char *name)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, name);
  g_object_set_data (G_OBJECT (button), "kvasir-stage", GUINT_TO_POINTER (at));
  g_signal_connect (button, "clicked", G_CALLBACK (move_stage_cb), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
}

static void
add_order (KvasirSamplingWindow *self, AdwPreferencesPage *page)
{
  GtkWidget *reset = make_reset_button (_ ("Order"));
  AdwPreferencesGroup *group =
      make_group (_ ("Order"),
                  _ ("Which stage works first. Greedy drawing and Mirostat keep to "
                     "an order of their own."),
                  reset);
  GtkWidget *expander = adw_expander_row_new ();

  g_signal_connect (reset, "clicked", G_CALLBACK (reset_order_cb), self);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (expander), _ ("Stages, First to Last"));
  for (guint i = 0; i < KVASIR_SAMPLER_N_STAGES; i++)
    {
      GtkWidget *row = adw_action_row_new ();
      if (i > 0)
        add_mover (self, row, i - 1, "go-up-symbolic", _ ("Earlier"));
      if (i + 1 < KVASIR_SAMPLER_N_STAGES)
        add_mover (self, row, i, "go-down-symbolic", _ ("Later"));
      adw_expander_row_add_row (ADW_EXPANDER_ROW (expander), row);
      self->stages[i] = row;
    }
  adw_preferences_group_add (group, expander);
  adw_preferences_page_add (page, group);
}

static void
form_changed_cb (GtkWidget *widget, KvasirSamplingWindow *self)
{
  kvasir_sampling_form_store (KVASIR_SAMPLING_FORM (widget), &self->sampling.texts);
  tell (self);
}

static void
add_form (KvasirSamplingWindow *self, AdwPreferencesPage *page)
{
  AdwPreferencesGroup *group =
      make_group (_ ("Form of Answers"),
                  _ ("Only tokens are drawn that fit. Where a chat template lets the model think "
                     "first, what it thinks is free."),
                  NULL);

  self->form = kvasir_sampling_form_new ();
  g_signal_connect (self->form, "changed", G_CALLBACK (form_changed_cb), self);
  adw_preferences_group_add (group, self->form);
  adw_preferences_page_add (page, group);
}

/* Not a number and no list: the one thing here that is about the prompt. */
static void
add_prompt (KvasirSamplingWindow *self, AdwPreferencesPage *page)
{
  AdwPreferencesGroup *group = make_group (_ ("Prompt"), NULL, NULL);
  GtkWidget *row = adw_action_row_new ();

  self->adapt = gtk_switch_new ();
  gtk_widget_set_valign (self->adapt, GTK_ALIGN_CENTER);
  g_signal_connect (self->adapt, "notify::active", G_CALLBACK (adapt_changed_cb), self);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Simpler Form"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row),
                               _ ("Where the model's chat template refuses a chat, the system "
                                  "prompt moves into the first message and neighbours of one role "
                                  "are joined."));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->adapt);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->adapt);
  adw_preferences_group_add (group, row);
  adw_preferences_page_add (page, group);
}

static void
kvasir_sampling_window_finalize (GObject *object)
{
  kvasir_sampling_clear (&KVASIR_SAMPLING_WINDOW (object)->sampling);
  G_OBJECT_CLASS (kvasir_sampling_window_parent_class)->finalize (object);
}

static void
kvasir_sampling_window_class_init (KvasirSamplingWindowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = kvasir_sampling_window_finalize;
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
kvasir_sampling_window_init (KvasirSamplingWindow *self)
{
  AdwPreferencesPage *page = ADW_PREFERENCES_PAGE (adw_preferences_page_new ());

  gtk_window_set_title (GTK_WINDOW (self), _ ("How Answers Are Drawn"));
  gtk_window_set_modal (GTK_WINDOW (self), TRUE);
  for (guint i = 0; i < N_GROUPS; i++)
    add_group (self, page, i);
  add_form (self, page);
  add_order (self, page);
  add_prompt (self, page);
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (self), page);
}

GtkWidget *
kvasir_sampling_window_new (GtkWindow *parent, const KvasirSampling *sampling)
{
  g_return_val_if_fail (sampling != NULL, NULL);

  KvasirSamplingWindow *self =
      g_object_new (KVASIR_TYPE_SAMPLING_WINDOW, "transient-for", parent, NULL);
  /* No taller than what it stands over. */
  gtk_window_set_default_size (
      GTK_WINDOW (self), WIDTH,
      CLAMP (gtk_widget_get_height (GTK_WIDGET (parent)) - MARGIN, 360, MAX_HEIGHT));
  kvasir_sampling_copy (sampling, &self->sampling);
  for (guint i = 0; i < N_GROUPS; i++)
    show_group (self, i);
  kvasir_sampling_form_set (KVASIR_SAMPLING_FORM (self->form), &sampling->texts);
  take_order (self, sampling->params.order);
  self->setting = TRUE;
  gtk_switch_set_active (GTK_SWITCH (self->adapt), sampling->adapt);
  self->setting = FALSE;
  return GTK_WIDGET (self);
}
