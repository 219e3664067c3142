/* ui/widgets/panes.h - chat list, conversation, inspector side by side, or the sides on top
 *
 * Below 1 200 px the inspector lies over the conversation, below 700 px the chat list too. Nothing
 * but the conversation changes its width with the window. Each side remembers whether it stands
 * beside the conversation; as an overlay it starts closed and goes at a click beside it or Esc.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Properties, read-write, notified:
 *   "start", "content", "end"  (GtkWidget)
 *   "show-start", "show-end"   (boolean): wanted beside the conversation; to be remembered
 *   "end-enabled"              (boolean): whether there is anything to show at the end
 *   "end-width"                (int): width wanted for the inspector, 0: a share of the window
 * read-only, notified:
 *   "start-shown", "end-shown" (boolean): on screen now, one way or the other
 *   "narrow"                   (boolean): both sides would be overlays */
#define KVASIR_TYPE_PANES (kvasir_panes_get_type ())
G_DECLARE_FINAL_TYPE (KvasirPanes, kvasir_panes, KVASIR, PANES, GtkWidget)

void kvasir_panes_toggle_start (KvasirPanes *self);
void kvasir_panes_toggle_end (KvasirPanes *self);
gboolean kvasir_panes_get_end_shown (KvasirPanes *self);
gboolean kvasir_panes_get_start_shown (KvasirPanes *self);
/* Closes what lies over the conversation. Returns: FALSE where nothing did */
gboolean kvasir_panes_close_overlays (KvasirPanes *self);

G_END_DECLS
