#include "ui/shell/sampling-form.h"

#include <glib/gi18n.h>

#include "engine/grammar/grammar.h"
#include "engine/grammar/schema.h"
#include "ui/shell/sampling-fields.h"

typedef enum
{
  FREE,
  GRAMMAR,
  SCHEMA,
  N_KINDS
} Kind;

struct _KvasirSamplingForm
{
  GtkBox parent_instance;

  GtkWidget *kinds[N_KINDS]; /* toggles, of which one is down */
  GtkWidget *scroller;
  GtkTextBuffer *buffer; /* (unowned) */
  GtkWidget *complaint;
  gboolean setting;
};

G_DEFINE_FINAL_TYPE (KvasirSamplingForm, kvasir_sampling_form, GTK_TYPE_BOX)

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static Kind
get_kind (KvasirSamplingForm *self)
{
  Kind kind = FREE;

  while (kind + 1 < N_KINDS &&
         !gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->kinds[kind])))
    kind++;
  return kind;
}

/* NULL: there is none. */
static char *
dup_text (KvasirSamplingForm *self)
{
  GtkTextIter start, end;
  char *text;

  gtk_text_buffer_get_bounds (self->buffer, &start, &end);
  text = gtk_text_buffer_get_text (self->buffer, &start, &end, TRUE);
  if (*text == '\0')
    g_clear_pointer (&text, g_free);
  return text;
}

/* What is wrong with @text, as far as that does not depend on a model's tokens. NULL: nothing. */
static GError *
check (Kind kind, const char *text)
{
  GError *error = NULL;
  g_autofree char *made = kind == SCHEMA ? kvasir_schema_to_grammar (text, &error) : NULL;
  g_autoptr (KvasirGrammar) grammar =
      error == NULL ? kvasir_grammar_new (made != NULL ? made : text, NULL, &error) : NULL;

  return error;
}

static void
show_complaint (KvasirSamplingForm *self)
{
  Kind kind = get_kind (self);
  g_autofree char *text = dup_text (self);
  g_autoptr (GError) error = kind != FREE && text != NULL ? check (kind, text) : NULL;
  g_autofree char *words =
      error != NULL ? g_strdup_printf (_ ("Answers will fail. %s"), error->message) : NULL;

  gtk_widget_set_visible (self->scroller, kind != FREE);
  gtk_label_set_text (GTK_LABEL (self->complaint), words != NULL ? words : "");
  gtk_widget_set_visible (self->complaint, words != NULL);
}

static void
changed_cb (KvasirSamplingForm *self)
{
  show_complaint (self);
  if (!self->setting)
    g_signal_emit (self, signals[CHANGED], 0);
}

/* Of the two toggles that change, the one that goes up first would tell of a state between. */
static void
toggled_cb (KvasirSamplingForm *self, GtkToggleButton *toggle)
{
  if (gtk_toggle_button_get_active (toggle))
    changed_cb (self);
}

void
kvasir_sampling_form_set (KvasirSamplingForm *self, const KvasirSamplingTexts *texts)
{
  const char *text = texts->grammar != NULL ? texts->grammar : texts->schema;
  Kind kind = texts->grammar != NULL ? GRAMMAR : texts->schema != NULL ? SCHEMA : FREE;

  g_return_if_fail (KVASIR_IS_SAMPLING_FORM (self));
  self->setting = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->kinds[kind]), TRUE);
  gtk_text_buffer_set_text (self->buffer, text != NULL ? text : "", -1);
  show_complaint (self);
  self->setting = FALSE;
}

void
kvasir_sampling_form_store (KvasirSamplingForm *self, KvasirSamplingTexts *texts)
{
  Kind kind = get_kind (self);

  g_return_if_fail (KVASIR_IS_SAMPLING_FORM (self));
  g_clear_pointer (&texts->grammar, g_free);
  g_clear_pointer (&texts->schema, g_free);
  if (kind != FREE)
    *(kind == GRAMMAR ? &texts->grammar : &texts->schema) = dup_text (self);
}

static void
kvasir_sampling_form_class_init (KvasirSamplingFormClass *klass)
{
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static GtkWidget *
make_kinds (KvasirSamplingForm *self)
{
  static const char *const names[N_KINDS] = { N_ ("Free"), N_ ("Grammar (GBNF)"),
                                              N_ ("JSON Schema") };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (box, "linked");
  for (guint i = 0; i < N_KINDS; i++)
    {
      self->kinds[i] = gtk_toggle_button_new_with_label (_ (names[i]));
      gtk_widget_set_hexpand (self->kinds[i], TRUE);
      if (i > 0)
        gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (self->kinds[i]),
                                     GTK_TOGGLE_BUTTON (self->kinds[0]));
      gtk_box_append (GTK_BOX (box), self->kinds[i]);
    }
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->kinds[FREE]), TRUE);
  for (guint i = 0; i < N_KINDS; i++)
    g_signal_connect_swapped (self->kinds[i], "toggled", G_CALLBACK (toggled_cb), self);
  return box;
}

static void
kvasir_sampling_form_init (KvasirSamplingForm *self)
{
  GtkWidget *view;

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_box_append (GTK_BOX (self), make_kinds (self));
  self->scroller = kvasir_sampling_field_make_text (_ ("Grammar or schema"), &view);
  self->buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (self->scroller), 260);
  gtk_box_append (GTK_BOX (self), self->scroller);
  self->complaint = kvasir_sampling_field_make_complaint ();
  gtk_box_append (GTK_BOX (self), self->complaint);
  show_complaint (self);
  g_signal_connect_swapped (self->buffer, "changed", G_CALLBACK (changed_cb), self);
}

GtkWidget *
kvasir_sampling_form_new (void)
{
  return g_object_new (KVASIR_TYPE_SAMPLING_FORM, NULL);
}
