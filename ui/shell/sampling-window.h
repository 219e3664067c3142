/* ui/shell/sampling-window.h - all settings of how answers are drawn, in groups
 *
 * What is set counts at once; each group has a way back to its defaults. Thread: main thread.
 */
#pragma once

#include <adwaita.h>

#include "ui/history/sampling.h"

G_BEGIN_DECLS

/* Signal "changed" (const KvasirSampling *): a person set something. */
#define KVASIR_TYPE_SAMPLING_WINDOW (kvasir_sampling_window_get_type ())
G_DECLARE_FINAL_TYPE (
    KvasirSamplingWindow, kvasir_sampling_window, KVASIR, SAMPLING_WINDOW, AdwPreferencesWindow)

/* @parent: which it stands over. */
GtkWidget *kvasir_sampling_window_new (GtkWindow *parent,
                                       const KvasirSampling *sampling) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
