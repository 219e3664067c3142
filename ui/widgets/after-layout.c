#include "ui/widgets/after-layout.h"

#define KEY "kvasir-after-layout"

/* Of a widget, as long as it waits. */
typedef struct
{
  GdkFrameClock *clock; /* (owned) */
  gulong handler;
  KvasirAfterLayoutFunc func;
} Wait;

static void
wait_free (gpointer data)
{
  Wait *wait = data;

  /* A clock that is disposed of with its window has none any more. */
  if (g_signal_handler_is_connected (wait->clock, wait->handler))
    g_signal_handler_disconnect (wait->clock, wait->handler);
  g_object_unref (wait->clock);
  g_free (wait);
}

static void
layout_cb (GdkFrameClock *clock, GtkWidget *widget)
{
  KvasirAfterLayoutFunc func = ((Wait *) g_object_get_data (G_OBJECT (widget), KEY))->func;

  g_object_set_data (G_OBJECT (widget), KEY, NULL);
  /* One that left its window meanwhile has no layout. */
  if (gtk_widget_get_realized (widget))
    func (widget);
}

void
kvasir_after_layout (GtkWidget *widget, KvasirAfterLayoutFunc func)
{
  GdkFrameClock *clock;
  Wait *wait;

  g_return_if_fail (GTK_IS_WIDGET (widget));
  clock = gtk_widget_get_frame_clock (widget);
  wait = g_object_get_data (G_OBJECT (widget), KEY);
  if (clock == NULL || (wait != NULL && wait->clock == clock))
    return;
  wait = g_new0 (Wait, 1);
  wait->clock = g_object_ref (clock);
  wait->func = func;
  /* Behind GTK's own. */
  wait->handler = g_signal_connect_after (clock, "layout", G_CALLBACK (layout_cb), widget);
  g_object_set_data_full (G_OBJECT (widget), KEY, wait, wait_free);
  gdk_frame_clock_request_phase (clock, GDK_FRAME_CLOCK_PHASE_LAYOUT);
}
