/* tests/engine/session/keys.h - keys of a cache as numbers, of any type that it may have */
#pragma once

#include "engine/memory/memory.h"

G_BEGIN_DECLS

/* The key of layer 0 in @cell of the first stream. Returns: (transfer full): [*n] */
float *keys_read (const KvasirMemory *memory, guint cell, guint *n);
/* How far keys that were rounded up to three times may be from those rounded once, where the
 * largest value of a row is 1. */
float keys_get_tolerance (KvasirType type);

G_END_DECLS
