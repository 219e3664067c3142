/* ui/shell/sampling-editor.h - the popover with the most used settings of how answers are drawn
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/sampling.h"

G_BEGIN_DECLS

/* Signals:
 *   "changed" (const KvasirSampling *): a person set something
 *   "all-settings" (): the others are asked for */
#define KVASIR_TYPE_SAMPLING_EDITOR (kvasir_sampling_editor_get_type ())
G_DECLARE_FINAL_TYPE (
    KvasirSamplingEditor, kvasir_sampling_editor, KVASIR, SAMPLING_EDITOR, GtkPopover)

GtkWidget *kvasir_sampling_editor_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_sampling_editor_set (KvasirSamplingEditor *self, const KvasirSampling *sampling);

G_END_DECLS
