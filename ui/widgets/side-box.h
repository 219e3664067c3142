/* ui/widgets/side-box.h - a text that takes the width that its sides leave
 *
 * Children at the start and the end have their natural width, the content between them gets the
 * rest and its height follows from it. A horizontal GtkBox would search for that height by
 * measuring wrapped labels over and over.
 * In templates children are of type "start", "end" or none, the content.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define KVASIR_TYPE_SIDE_BOX (kvasir_side_box_get_type ())
G_DECLARE_FINAL_TYPE (KvasirSideBox, kvasir_side_box, KVASIR, SIDE_BOX, GtkWidget)

GtkWidget *kvasir_side_box_new (int spacing) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_side_box_add_start (KvasirSideBox *self, GtkWidget *child);
void kvasir_side_box_add_end (KvasirSideBox *self, GtkWidget *child);
/* Once. */
void kvasir_side_box_set_content (KvasirSideBox *self, GtkWidget *child);

G_END_DECLS
