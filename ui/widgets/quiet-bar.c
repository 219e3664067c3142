#include "ui/widgets/quiet-bar.h"

#define KEY "kvasir-quiet-bar"

typedef struct
{
  GtkEventController *motion; /* (unowned): the scrolled window's */
  gboolean following;
} QuietBar;

static QuietBar *
get_quiet_bar (GtkScrolledWindow *scrolled)
{
  return g_object_get_data (G_OBJECT (scrolled), KEY);
}

static gboolean
is_overlay (GtkScrolledWindow *scrolled)
{
  gboolean overlay = FALSE;

  g_object_get (gtk_widget_get_settings (GTK_WIDGET (scrolled)), "gtk-overlay-scrolling", &overlay,
                NULL);
  return overlay && gtk_scrolled_window_get_overlay_scrolling (scrolled);
}

static void
update (GtkScrolledWindow *scrolled)
{
  const QuietBar *self = get_quiet_bar (scrolled);
  gboolean pointed =
      gtk_event_controller_motion_contains_pointer (GTK_EVENT_CONTROLLER_MOTION (self->motion));
  gboolean quiet = self->following && !pointed && is_overlay (scrolled);
  GtkPolicyType horizontal;

  if (quiet == kvasir_quiet_bar_is_quiet (scrolled))
    return;
  gtk_scrolled_window_get_policy (scrolled, &horizontal, NULL);
  gtk_scrolled_window_set_policy (scrolled, horizontal,
                                  quiet ? GTK_POLICY_EXTERNAL : GTK_POLICY_AUTOMATIC);
}

static void
pointer_cb (GtkEventController *motion, GParamSpec *pspec, GtkScrolledWindow *scrolled)
{
  update (scrolled);
}

void
kvasir_quiet_bar_add (GtkScrolledWindow *scrolled)
{
  QuietBar *self;

  g_return_if_fail (GTK_IS_SCROLLED_WINDOW (scrolled));
  self = g_new0 (QuietBar, 1);
  self->motion = gtk_event_controller_motion_new ();
  g_object_set_data_full (G_OBJECT (scrolled), KEY, self, g_free);
  g_signal_connect_object (self->motion, "notify::contains-pointer", G_CALLBACK (pointer_cb),
                           scrolled, 0);
  gtk_widget_add_controller (GTK_WIDGET (scrolled), self->motion);
}

void
kvasir_quiet_bar_set_following (GtkScrolledWindow *scrolled, gboolean following)
{
  QuietBar *self;

  g_return_if_fail (GTK_IS_SCROLLED_WINDOW (scrolled));
  self = get_quiet_bar (scrolled);
  g_return_if_fail (self != NULL);
  self->following = following;
  update (scrolled);
}

gboolean
kvasir_quiet_bar_is_quiet (GtkScrolledWindow *scrolled)
{
  GtkPolicyType policy;

  g_return_val_if_fail (GTK_IS_SCROLLED_WINDOW (scrolled), FALSE);
  gtk_scrolled_window_get_policy (scrolled, NULL, &policy);
  return policy == GTK_POLICY_EXTERNAL;
}
