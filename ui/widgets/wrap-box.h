/* ui/widgets/wrap-box.h - children in a row that goes on below where it is too long
 *
 * Used for rows of buttons and facts, so that no wording is cut in a narrow column or in a longer
 * language. A child that expands takes the rest of its line.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define KVASIR_TYPE_WRAP_BOX (kvasir_wrap_box_get_type ())
G_DECLARE_FINAL_TYPE (KvasirWrapBox, kvasir_wrap_box, KVASIR, WRAP_BOX, GtkWidget)

GtkWidget *kvasir_wrap_box_new (int spacing, int line_spacing) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_wrap_box_append (KvasirWrapBox *self, GtkWidget *child);
/* Unparents all children. */
void kvasir_wrap_box_clear (KvasirWrapBox *self);

G_END_DECLS
