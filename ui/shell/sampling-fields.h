/* ui/shell/sampling-fields.h - names, help and controls of the numbers of a KvasirSampling
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/sampling.h"

G_BEGIN_DECLS

/* In the person's language. */
const char *kvasir_sampling_field_get_name (KvasirSamplingNumber number);
/* What it does, in a sentence. */
const char *kvasir_sampling_field_get_help (KvasirSamplingNumber number);
/* A spin button with the number's range, named for screen readers. */
GtkWidget *kvasir_sampling_field_make_spin (KvasirSamplingNumber number) G_GNUC_WARN_UNUSED_RESULT;
/* Where texts are typed that are no prose. @name: (nullable): for screen readers. @view: (out): the
 * text view within what is returned. */
GtkWidget *kvasir_sampling_field_make_text (const char *name,
                                            GtkWidget **view) G_GNUC_WARN_UNUSED_RESULT;
/* What is wrong with it, hidden. */
GtkWidget *kvasir_sampling_field_make_complaint (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
