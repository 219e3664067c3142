/* ui/widgets/quiet-bar.h - no scroll bar for what scrolls by itself
 *
 * GTK shows a bar that lies over its content at every move of it, and fades it in and out with a
 * frame for each of a screen's. Where the content follows its own end nobody scrolls, and for
 * such a list there is a bar only while the pointer is over it. A bar with a place of its own
 * (a choice of the desktop's) always stays.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* For a scrolled window whose horizontal policy stays as it is. */
void kvasir_quiet_bar_add (GtkScrolledWindow *scrolled);
/* Whether the content follows its end. */
void kvasir_quiet_bar_set_following (GtkScrolledWindow *scrolled, gboolean following);
/* TRUE: there is no bar now. "notify::vscrollbar-policy" tells of changes. */
gboolean kvasir_quiet_bar_is_quiet (GtkScrolledWindow *scrolled);

G_END_DECLS
