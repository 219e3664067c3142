/* ui/transcript/reasoning-fold.h - what a model thought before its answer, folded away
 *
 * The text is laid out once it is unfolded, so a long chain of thoughts costs nothing before.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define KVASIR_TYPE_REASONING_FOLD (kvasir_reasoning_fold_get_type ())
G_DECLARE_FINAL_TYPE (KvasirReasoningFold, kvasir_reasoning_fold, KVASIR, REASONING_FOLD, GtkWidget)

/* @text: "": there is none, and nothing is shown. @is_open: it goes on. */
void kvasir_reasoning_fold_set (KvasirReasoningFold *self, const char *text, gboolean is_open);

G_END_DECLS
