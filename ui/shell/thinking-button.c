#include "ui/shell/thinking-button.h"

#include <glib/gi18n.h>

struct _KvasirThinkingButton
{
  GtkWidget parent_instance;

  GtkWidget *button;
  GtkWidget *label;
  GSimpleAction *action; /* (owned): its state is what is asked for */
  guint choices;
};

G_DEFINE_FINAL_TYPE (KvasirThinkingButton, kvasir_thinking_button, GTK_TYPE_WIDGET)

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* On the button, and in its menu. */
static const struct
{
  const char *label;
  const char *item;
} words[KVASIR_N_THINKINGS] = {
  [KVASIR_THINKING_USUAL] = { N_ ("Thinking: as usual"), N_ ("As the Chat Template Has It") },
  [KVASIR_THINKING_OFF] = { N_ ("Thinking: off"), N_ ("Off") },
  [KVASIR_THINKING_ON] = { N_ ("Thinking: on"), N_ ("On") },
  [KVASIR_THINKING_LOW] = { N_ ("Thinking: little"), N_ ("Little") },
  [KVASIR_THINKING_MEDIUM] = { N_ ("Thinking: some"), N_ ("Some") },
  [KVASIR_THINKING_HIGH] = { N_ ("Thinking: much"), N_ ("Much") },
};

static void
show (KvasirThinkingButton *self)
{
  const char *text = _ (words[kvasir_thinking_button_get (self)].label);

  gtk_label_set_text (GTK_LABEL (self->label), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text, -1);
}

static void
choose_cb (GSimpleAction *action, GVariant *name, gpointer user_data)
{
  KvasirThinkingButton *self = user_data;

  g_simple_action_set_state (action, name);
  show (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
kvasir_thinking_button_dispose (GObject *object)
{
  KvasirThinkingButton *self = KVASIR_THINKING_BUTTON (object);

  g_clear_pointer (&self->button, gtk_widget_unparent);
  g_clear_object (&self->action);
  G_OBJECT_CLASS (kvasir_thinking_button_parent_class)->dispose (object);
}

static void
kvasir_thinking_button_class_init (KvasirThinkingButtonClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = kvasir_thinking_button_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
add_action (KvasirThinkingButton *self)
{
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  self->action = g_simple_action_new_stateful ("choose", G_VARIANT_TYPE_STRING,
                                               g_variant_new_string ("usual"));
  g_signal_connect (self->action, "change-state", G_CALLBACK (choose_cb), self);
  g_action_map_add_action (G_ACTION_MAP (group), G_ACTION (self->action));
  gtk_widget_insert_action_group (GTK_WIDGET (self), "thinking", G_ACTION_GROUP (group));
}

static void
kvasir_thinking_button_init (KvasirThinkingButton *self)
{
  add_action (self);
  self->label = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->label, "composer-line");
  self->button = gtk_menu_button_new ();
  gtk_menu_button_set_child (GTK_MENU_BUTTON (self->button), self->label);
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (self->button), GTK_ARROW_UP);
  gtk_widget_set_tooltip_text (self->button, _ ("Whether the model thinks before it answers"));
  gtk_widget_add_css_class (self->button, "flat");
  gtk_widget_set_parent (self->button, GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  show (self);
}

void
kvasir_thinking_button_set_choices (KvasirThinkingButton *self, guint choices)
{
  g_autoptr (GMenu) menu = g_menu_new ();

  g_return_if_fail (KVASIR_IS_THINKING_BUTTON (self));
  if (self->choices == choices)
    return;
  self->choices = choices;
  for (guint i = 0; i < KVASIR_N_THINKINGS; i++)
    if ((choices & 1u << i) != 0)
      {
        g_autofree char *action =
            g_strdup_printf ("thinking.choose::%s", kvasir_thinking_get_name (i));
        g_menu_append (menu, _ (words[i].item), action);
      }
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->button), G_MENU_MODEL (menu));
  gtk_widget_set_visible (GTK_WIDGET (self), choices != 0);
}

void
kvasir_thinking_button_set (KvasirThinkingButton *self, KvasirThinking thinking)
{
  g_return_if_fail (KVASIR_IS_THINKING_BUTTON (self));
  g_simple_action_set_state (self->action,
                             g_variant_new_string (kvasir_thinking_get_name (thinking)));
  show (self);
}

KvasirThinking
kvasir_thinking_button_get (KvasirThinkingButton *self)
{
  KvasirThinking thinking = KVASIR_THINKING_USUAL;
  g_autoptr (GVariant) state = NULL;

  g_return_val_if_fail (KVASIR_IS_THINKING_BUTTON (self), KVASIR_THINKING_USUAL);
  state = g_action_get_state (G_ACTION (self->action));
  kvasir_thinking_parse (&thinking, g_variant_get_string (state, NULL));
  return thinking;
}
