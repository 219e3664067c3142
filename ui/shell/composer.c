#include "ui/shell/composer.h"

#include <glib/gi18n.h>

#include "ui/shell/sampling-editor.h"
#include "ui/shell/sampling-window.h"
#include "ui/shell/thinking-button.h"
#include "ui/widgets/side-box.h"

struct _KvasirComposer
{
  GtkWidget parent_instance;

  GtkWidget *clamp;
  GtkWidget *frame;
  GtkWidget *edit_strip;
  GtkWidget *cancel_edit;
  GtkWidget *view;
  GtkWidget *placeholder;
  GtkWidget *progress;
  GtkWidget *status;
  GtkWidget *send;
  GtkWidget *sampling_button;
  GtkWidget *sampling_label;
  GtkWidget *system_button;
  GtkWidget *thinking;
  GtkWidget *sampling_editor;
  KvasirSampling sampling; /* what the controls show */

  GtkTextBuffer *buffer; /* (unowned) the view's */
  gboolean composing;    /* an input method is at work */
  gboolean busy;
  gboolean can_send;
};

G_DEFINE_FINAL_TYPE (KvasirComposer, kvasir_composer, GTK_TYPE_WIDGET)

enum
{
  SUBMIT,
  STOP,
  TEXT_CHANGED,
  CANCEL_EDIT,
  SAMPLING_CHANGED,
  EDIT_LAST,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static gboolean
is_empty (KvasirComposer *self)
{
  return gtk_text_buffer_get_char_count (self->buffer) == 0;
}

static void
update_button (KvasirComposer *self)
{
  gtk_button_set_label (GTK_BUTTON (self->send), self->busy ? _ ("Stop") : _ ("Send"));
  if (self->busy)
    {
      gtk_widget_add_css_class (self->send, "destructive-action");
      gtk_widget_remove_css_class (self->send, "suggested-action");
    }
  else
    {
      gtk_widget_remove_css_class (self->send, "destructive-action");
      gtk_widget_add_css_class (self->send, "suggested-action");
    }
  gtk_widget_set_sensitive (self->send, self->busy || (self->can_send && !is_empty (self)));
}

static void
submit (KvasirComposer *self)
{
  if (self->can_send && !self->busy && !is_empty (self))
    g_signal_emit (self, signals[SUBMIT], 0);
}

static void
send_clicked_cb (KvasirComposer *self)
{
  if (self->busy)
    g_signal_emit (self, signals[STOP], 0);
  else
    submit (self);
}

static void
cancel_edit_cb (KvasirComposer *self)
{
  g_signal_emit (self, signals[CANCEL_EDIT], 0);
}

static void
preedit_cb (KvasirComposer *self, const char *preedit)
{
  self->composing = preedit != NULL && *preedit != '\0';
  gtk_widget_set_visible (self->placeholder, is_empty (self) && !self->composing);
}

static void
buffer_changed_cb (KvasirComposer *self)
{
  update_button (self);
  gtk_widget_set_visible (self->placeholder, is_empty (self) && !self->composing);
  g_signal_emit (self, signals[TEXT_CHANGED], 0);
}

/* By the popover, or by the window with all of it. */
static void
sampling_changed_cb (KvasirComposer *self, const KvasirSampling *sampling)
{
  kvasir_composer_set_sampling (self, sampling);
  g_signal_emit (self, signals[SAMPLING_CHANGED], 0);
}

static void
thinking_changed_cb (KvasirComposer *self)
{
  self->sampling.thinking = kvasir_thinking_button_get (KVASIR_THINKING_BUTTON (self->thinking));
  kvasir_sampling_editor_set (KVASIR_SAMPLING_EDITOR (self->sampling_editor), &self->sampling);
  g_signal_emit (self, signals[SAMPLING_CHANGED], 0);
}

static void
all_sampling_cb (KvasirComposer *self)
{
  GtkWindow *root = GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *window = kvasir_sampling_window_new (root, &self->sampling);

  gtk_menu_button_popdown (GTK_MENU_BUTTON (self->sampling_button));
  g_signal_connect_object (window, "changed", G_CALLBACK (sampling_changed_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (window));
}

static gboolean
key_cb (GtkEventControllerKey *keys,
        guint keyval,
        guint keycode,
        GdkModifierType state,
        KvasirComposer *self)
{
  gboolean enter = keyval == GDK_KEY_Return || keyval == GDK_KEY_KP_Enter;

  if (self->composing)
    return FALSE;
  if (enter && (state & (GDK_SHIFT_MASK | GDK_ALT_MASK)) == 0)
    {
      submit (self);
      return TRUE;
    }
  if (keyval == GDK_KEY_Up && is_empty (self) &&
      (state & gtk_accelerator_get_default_mod_mask ()) == 0)
    {
      g_signal_emit (self, signals[EDIT_LAST], 0);
      return TRUE;
    }
  return FALSE;
}

static void
focus_cb (GtkEventControllerFocus *focus, KvasirComposer *self)
{
  if (gtk_event_controller_focus_contains_focus (focus))
    gtk_widget_add_css_class (self->frame, "focused");
  else
    gtk_widget_remove_css_class (self->frame, "focused");
}

static void
add_controllers (KvasirComposer *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();

  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (self->view, keys);
  g_signal_connect (focus, "enter", G_CALLBACK (focus_cb), self);
  g_signal_connect (focus, "leave", G_CALLBACK (focus_cb), self);
  gtk_widget_add_controller (self->view, focus);
}

static void
kvasir_composer_dispose (GObject *object)
{
  KvasirComposer *self = KVASIR_COMPOSER (object);

  g_clear_pointer (&self->clamp, gtk_widget_unparent);
  kvasir_sampling_clear (&self->sampling);
  G_OBJECT_CLASS (kvasir_composer_parent_class)->dispose (object);
}

static guint
add_signal (KvasirComposerClass *klass, const char *name)
{
  return g_signal_new (name, G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                       G_TYPE_NONE, 0);
}

static void
kvasir_composer_class_init (KvasirComposerClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_composer_dispose;
  g_type_ensure (KVASIR_TYPE_SIDE_BOX);
  g_type_ensure (KVASIR_TYPE_THINKING_BUTTON);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/kvasir/Kvasir/ui/composer.ui");
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, clamp);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, frame);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, edit_strip);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, cancel_edit);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, view);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, placeholder);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, progress);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, status);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, send);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, sampling_button);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, sampling_label);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, system_button);
  gtk_widget_class_bind_template_child (widget_class, KvasirComposer, thinking);
  gtk_widget_class_bind_template_callback (widget_class, send_clicked_cb);
  gtk_widget_class_bind_template_callback (widget_class, cancel_edit_cb);
  gtk_widget_class_bind_template_callback (widget_class, preedit_cb);
  gtk_widget_class_bind_template_callback (widget_class, thinking_changed_cb);
  signals[SUBMIT] = add_signal (klass, "submit");
  signals[STOP] = add_signal (klass, "stop");
  signals[TEXT_CHANGED] = add_signal (klass, "text-changed");
  signals[CANCEL_EDIT] = add_signal (klass, "cancel-edit");
  signals[SAMPLING_CHANGED] = add_signal (klass, "sampling-changed");
  signals[EDIT_LAST] = add_signal (klass, "edit-last");
}

static void
kvasir_composer_init (KvasirComposer *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->view));
  g_signal_connect_swapped (self->buffer, "changed", G_CALLBACK (buffer_changed_cb), self);
  self->sampling_editor = kvasir_sampling_editor_new ();
  g_signal_connect_swapped (self->sampling_editor, "changed", G_CALLBACK (sampling_changed_cb),
                            self);
  g_signal_connect_swapped (self->sampling_editor, "all-settings", G_CALLBACK (all_sampling_cb),
                            self);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (self->sampling_button), self->sampling_editor);
  add_controllers (self);
  update_button (self);
}

char *
kvasir_composer_dup_text (KvasirComposer *self)
{
  GtkTextIter start, end;

  g_return_val_if_fail (KVASIR_IS_COMPOSER (self), NULL);
  gtk_text_buffer_get_bounds (self->buffer, &start, &end);
  return gtk_text_buffer_get_text (self->buffer, &start, &end, TRUE);
}

void
kvasir_composer_set_text (KvasirComposer *self, const char *text)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  gtk_text_buffer_set_text (self->buffer, text, -1);
}

void
kvasir_composer_set_status (KvasirComposer *self, const char *status, KvasirComposerTone tone)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (self->status)), status))
    gtk_label_set_text (GTK_LABEL (self->status), status);
  if (tone == KVASIR_COMPOSER_TOO_MANY)
    gtk_widget_add_css_class (self->status, "error");
  else
    gtk_widget_remove_css_class (self->status, "error");
}

void
kvasir_composer_set_progress (KvasirComposer *self, double fraction)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  gtk_widget_set_visible (self->progress, fraction >= 0);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), CLAMP (fraction, 0, 1));
}

void
kvasir_composer_set_busy (KvasirComposer *self, gboolean busy)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  self->busy = busy;
  update_button (self);
}

void
kvasir_composer_set_can_send (KvasirComposer *self, gboolean can_send)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  self->can_send = can_send;
  update_button (self);
}

void
kvasir_composer_set_editing (KvasirComposer *self, gboolean editing)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  gtk_widget_set_visible (self->edit_strip, editing);
}

void
kvasir_composer_set_sampling (KvasirComposer *self, const KvasirSampling *sampling)
{
  g_autofree char *text = kvasir_sampling_describe (sampling);
  KvasirSampling copy;

  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  kvasir_sampling_copy (sampling, &copy);
  kvasir_sampling_clear (&self->sampling);
  self->sampling = copy;
  gtk_label_set_text (GTK_LABEL (self->sampling_label), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->sampling_button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  kvasir_thinking_button_set (KVASIR_THINKING_BUTTON (self->thinking), self->sampling.thinking);
  kvasir_sampling_editor_set (KVASIR_SAMPLING_EDITOR (self->sampling_editor), sampling);
}

void
kvasir_composer_set_thinking_choices (KvasirComposer *self, guint choices)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  kvasir_thinking_button_set_choices (KVASIR_THINKING_BUTTON (self->thinking), choices);
}

const KvasirSampling *
kvasir_composer_get_sampling (KvasirComposer *self)
{
  g_return_val_if_fail (KVASIR_IS_COMPOSER (self), NULL);
  return &self->sampling;
}

void
kvasir_composer_show_sampling (KvasirComposer *self)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  gtk_menu_button_popup (GTK_MENU_BUTTON (self->sampling_button));
}

void
kvasir_composer_focus (KvasirComposer *self)
{
  g_return_if_fail (KVASIR_IS_COMPOSER (self));
  gtk_widget_grab_focus (self->view);
}
