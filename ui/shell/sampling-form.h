/* ui/shell/sampling-form.h - the form that answers are held to: none, a grammar or a JSON schema
 *
 * What is wrong with the text stands under it; the text is kept all the same, since it is written
 * over many visits. Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "engine/session/sampling-texts.h"

G_BEGIN_DECLS

/* Signal "changed" (): a person typed or chose something. */
#define KVASIR_TYPE_SAMPLING_FORM (kvasir_sampling_form_get_type ())
G_DECLARE_FINAL_TYPE (KvasirSamplingForm, kvasir_sampling_form, KVASIR, SAMPLING_FORM, GtkBox)

GtkWidget *kvasir_sampling_form_new (void) G_GNUC_WARN_UNUSED_RESULT;
/* Shows what @texts say of it. */
void kvasir_sampling_form_set (KvasirSamplingForm *self, const KvasirSamplingTexts *texts);
/* Replaces what @texts say of it. */
void kvasir_sampling_form_store (KvasirSamplingForm *self, KvasirSamplingTexts *texts);

G_END_DECLS
