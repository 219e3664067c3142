/* ui/transcript/block-widget.h - one block of a document as a widget
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/markdown/document.h"

G_BEGIN_DECLS

GtkWidget *kvasir_block_widget_new (const KvasirBlock *block) G_GNUC_WARN_UNUSED_RESULT;
/* Shows @block, which replaces @old, in the same widget. Returns: FALSE where it needs a new one */
gboolean
kvasir_block_widget_update (GtkWidget *widget, const KvasirBlock *old, const KvasirBlock *block);

G_END_DECLS
