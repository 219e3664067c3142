/* ui/inspector/picture.h - what a view drew, as render nodes
 *
 * The view draws all of itself into pixels that are kept from one time to the next. These are cut
 * into bands, and a band in which no pixel changed keeps its node: GTK then composes the window
 * anew, and sends it to the display, only where something is different.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "viz/view.h"

G_BEGIN_DECLS

typedef struct _KvasirPicture KvasirPicture;

KvasirPicture *kvasir_picture_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_picture_free (KvasirPicture *self);

/* Draws @view, which was laid out for @width x @height at @scale. TRUE: some band changed. */
gboolean
kvasir_picture_draw (KvasirPicture *self, KvasirView *view, gint width, gint height, gint scale);
/* Nothing before the first drawing. */
void kvasir_picture_snapshot (KvasirPicture *self, GtkSnapshot *snapshot);

G_END_DECLS
