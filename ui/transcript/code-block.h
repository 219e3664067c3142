/* ui/transcript/code-block.h - a piece of code with its language and a button that copies it
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/markdown/document.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_CODE_BLOCK (kvasir_code_block_get_type ())
G_DECLARE_FINAL_TYPE (KvasirCodeBlock, kvasir_code_block, KVASIR, CODE_BLOCK, GtkWidget)

GtkWidget *kvasir_code_block_new (const KvasirBlock *block) G_GNUC_WARN_UNUSED_RESULT;
/* Shows @block instead. Text that only grew is appended, so that streaming stays cheap. */
void kvasir_code_block_update (KvasirCodeBlock *self, const KvasirBlock *block);

G_END_DECLS
