/* tests/engine/model/arch-sketch.h - models of tests/data/archs, with noise for weights
 *
 * A file NAME.sketch is what model-sketch.h describes; a tensor named blk.N.… stands in every
 * layer, and keys that begin with "tokenizer." stand as they are. The noise depends on the tensor's
 * name alone, so that other programs can compute with the same weights:
 * tests/tools/make-arch-goldens.py has the formulas, too. Thread: one.
 */
#pragma once

#include "engine/model/model.h"

G_BEGIN_DECLS

/* Returns: (transfer full) (element-type utf8): the names of all of them, sorted */
GPtrArray *find_sketches (void);

/* The text of tests/data/archs/@name.sketch with its layers written out, as many as the file says
 * or, where @n_layers is above 0, so many. Returns: (transfer full) */
char *read_arch_sketch (const char *name, guint n_layers);
/* Returns: (transfer full): the model of that text */
KvasirModel *load_arch (KvasirDevice *device, const char *sketch);

G_END_DECLS
