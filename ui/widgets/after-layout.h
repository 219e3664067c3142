/* ui/widgets/after-layout.h - what has to be done behind a layout and before its painting
 *
 * A scrolled place that depends on sizes is known only when the layout is done, and within it a
 * new one does not reach the screen. What this calls may ask for another layout: it comes in the
 * same frame, so that nothing is painted in a wrong place first, and nothing twice.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef void (*KvasirAfterLayoutFunc) (GtkWidget *widget);

/* Calls @func behind the layout that is being made, or behind the next one. Asking again before
 * that changes nothing: one @func for a widget. */
void kvasir_after_layout (GtkWidget *widget, KvasirAfterLayoutFunc func);

G_END_DECLS
