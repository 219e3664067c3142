/* tests/viz/fake-snapshot.h - whole made-up snapshots, as the engine would send them one after
 * another */
#pragma once

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

/* The state of fake_new_chat(), @index * 2 tokens later. (transfer full) */
const KvasirSnapshot *fake_make_snapshot (guint index);

G_END_DECLS
