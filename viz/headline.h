/* viz/headline.h - the state of the memory in one line
 * Thread: any; pure.
 */
#pragma once

#include <glib.h>

#include "viz/view.h"

G_BEGIN_DECLS

/* Appends `1 755/4 096 cells · 2 holes · 3 sequences · read up to 2 048 · 38.6 MiB of 90.0 MiB ·
 * unified`, without a line end. Nothing where there are no cells. */
void kvasir_headline_append (const KvasirVizData *data, GString *out);

G_END_DECLS
