/* ui/transcript/markdown-view.h - a growing Markdown text in real text widgets
 *
 * Parsing runs in a thread; at most one parse is under way, and the newest text is parsed next.
 * Blocks that did not change keep their widgets, so a token costs the last block only.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define KVASIR_TYPE_MARKDOWN_VIEW (kvasir_markdown_view_get_type ())
G_DECLARE_FINAL_TYPE (KvasirMarkdownView, kvasir_markdown_view, KVASIR, MARKDOWN_VIEW, GtkWidget)

/* @plain: the text is shown as it is. */
GtkWidget *kvasir_markdown_view_new (gboolean plain) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_markdown_view_set_text (KvasirMarkdownView *self, const char *text);
/* Whether what was set last is on screen. */

G_END_DECLS
