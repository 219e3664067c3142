/* ui/shell/start-page.h - the first screen: which models there are and whether they fit
 *
 * Asks the window with win.open, win.open-path (s) and win.copy-text (s). Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/shell/model-library.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_START_PAGE (kvasir_start_page_get_type ())
G_DECLARE_FINAL_TYPE (KvasirStartPage, kvasir_start_page, KVASIR, START_PAGE, GtkWidget)

void kvasir_start_page_set_library (KvasirStartPage *self, KvasirModelLibrary *library);
void kvasir_start_page_set_compact (KvasirStartPage *self, gboolean compact);

G_END_DECLS
