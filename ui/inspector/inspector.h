/* ui/inspector/inspector.h - five live pages on the engine's memory
 *
 * Cells, Positions, Mask, Memory and Log under a headline, with a details pane. Follows the newest
 * snapshot until a person locks something; then it stays at that moment until told to go on.
 *
 * Keys while the focus is inside: arrows, Page Up/Down, Home, End move the cursor; Space pauses and
 * resumes, F resumes; T shows the page as text; + - 0 zoom the cells; Escape clears the selection.
 *
 * Views are subscribed while they are on screen only. Thread: main thread.
 */
#pragma once

#include <adwaita.h>

#include "ui/engine-client.h"
#include "viz/view.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_INSPECTOR_CELLS,
  KVASIR_INSPECTOR_POSITIONS,
  KVASIR_INSPECTOR_MASK,
  KVASIR_INSPECTOR_MEMORY,
  KVASIR_INSPECTOR_LOG,
  KVASIR_N_INSPECTOR_PAGES
} KvasirInspectorPage;

/* Properties: "page" (guint, KvasirInspectorPage), "following" (gboolean). */
#define KVASIR_TYPE_INSPECTOR (kvasir_inspector_get_type ())
G_DECLARE_FINAL_TYPE (KvasirInspector, kvasir_inspector, KVASIR, INSPECTOR, AdwBin)

/* @client: a reference is taken. */
GtkWidget *kvasir_inspector_new (KvasirEngineClient *client) G_GNUC_WARN_UNUSED_RESULT;

KvasirInspectorPage kvasir_inspector_get_page (KvasirInspector *self);
void kvasir_inspector_set_page (KvasirInspector *self, KvasirInspectorPage page);
void kvasir_inspector_set_following (KvasirInspector *self, gboolean following);

/* Opens the Cells page with the cells of a message outlined. */
void kvasir_inspector_show_message_cells (KvasirInspector *self, guint64 message_id);
/* For Escape, where a window's own key comes first. FALSE where nothing was selected. */
gboolean kvasir_inspector_clear_selection (KvasirInspector *self);
/* Titles of chats, for the legend; without it each is called "chat". @func is called on the main
 * thread, with 0 never. */
void kvasir_inspector_set_chat_name_func (KvasirInspector *self,
                                          KvasirChatNameFunc func,
                                          gpointer user_data,
                                          GDestroyNotify destroy);

G_END_DECLS
