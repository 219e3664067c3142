/* tests/engine/model/sliding-sketches.h - sketches of models with windows
 *
 * Width 8, two heads of 4 over one, feed-forward 16, 6 tokens; files without tokenizer. What is
 * returned is (transfer full). Thread: one.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Lines whose tensors, "NAME EXTENTS" each, stand in layer @il. */
void sketch_add_layer (GString *text, guint il, const char *tensors);

/* gemma2 or gemma3 */
char *sketch_gemma (const char *arch, guint n_layers);
char *sketch_gemma3n (guint n_layers);
/* Four layers, of which 1 and 3 are full ones without V, with heads of 4; those of the others are 2
 * wide. The last two have no rows. */
char *sketch_gemma4 (void);
char *sketch_gpt_oss (void);
char *sketch_llama4 (void);

G_END_DECLS
