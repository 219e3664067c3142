/* ui/inspector/redraw-turns.h - pages of one window take turns at drawing
 *
 * A page costs a few milliseconds. One page alone is drawn with every snapshot; where several are
 * on screen, each frame draws as many as fit its budget and the others come first in the next one,
 * so that the window answers within a frame whatever is open. Where a whole frame is slow (no GPU,
 * a busy machine) they draw less often, and never take more than a part of the time.
 * Owner: the frame clock of the window. Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* TRUE: @page may draw now, and says afterwards how long it took. FALSE: ask again in the next
 * frame. Within a tick callback only. */
gboolean kvasir_redraw_turns_take (GtkWidget *page);
void kvasir_redraw_turns_spend (GtkWidget *page, gint64 us);

G_END_DECLS
