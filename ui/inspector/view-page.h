/* ui/inspector/view-page.h - a view of viz/ as a widget
 *
 * Holds the parts of the snapshots that it shows and the picture made from them. The picture is
 * made once per change, when the window's turn comes to it; hover and selection are a second layer
 * over it. Unchanged render nodes cost nothing.
 *
 * Signals: "hovered" where what is under the pointer changed, "locked" where a person selected or
 * deselected something here, "drawn" after a new picture.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/inspector/parts.h"
#include "viz/view.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_VIEW_PAGE (kvasir_view_page_get_type ())
G_DECLARE_FINAL_TYPE (KvasirViewPage, kvasir_view_page, KVASIR, VIEW_PAGE, GtkWidget)

/* @view: (transfer full). @label: for assistive technologies. */
GtkWidget *kvasir_view_page_new (KvasirView *view, const char *label) G_GNUC_WARN_UNUSED_RESULT;
/* To set it up; whoever changes what it shows calls kvasir_view_page_invalidate(). */
KvasirView *kvasir_view_page_get_view (KvasirViewPage *self);
void kvasir_view_page_invalidate (KvasirViewPage *self);

void kvasir_view_page_set_parts (KvasirViewPage *self, const KvasirParts *parts);
/* While following, what was written last is kept in sight. */
void kvasir_view_page_set_following (KvasirViewPage *self, gboolean following);

/* What is locked: of any view, translated to this one's where it can be. NULL: nothing. */
void kvasir_view_page_set_locked (KvasirViewPage *self, const KvasirThing *thing);
const KvasirThing *kvasir_view_page_get_locked (KvasirViewPage *self);
/* Words on what is hovered, else locked, else on the page. */
void kvasir_view_page_describe (KvasirViewPage *self, GString *out);
/* +1, -1, 0: fit. */
void kvasir_view_page_zoom (KvasirViewPage *self, gint delta);

G_END_DECLS
