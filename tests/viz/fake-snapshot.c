#include "tests/viz/fake-snapshot.h"

#include "engine/session/snapshot-build.h"
#include "tests/viz/fake.h"

const KvasirSnapshot *
fake_make_snapshot (guint index)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  KvasirSnapshotOwned *owned = g_new0 (KvasirSnapshotOwned, 1);
  guint n_more = index * 2;

  for (guint i = 0; i < n_more; i++)
    fake_put (fake, 1908 + i, 1, 1339 + (gint32) i, 1, 641 + i);
  fake->head = 1908 + n_more;
  owned->n_refs = 1;
  owned->shot.sequence = index + 1;
  owned->shot.model_id = 1;
  owned->shot.step = fake->step;
  owned->shot.views = KVASIR_VIEW_CELLS | KVASIR_VIEW_MASK | KVASIR_VIEW_MEMORY;
  owned->shot.cells = fake_make_cells (fake);
  owned->shot.mask = fake_make_mask (fake, index % 2 == 0 ? 1 : 16, index % 2 == 0 ? 1 : 3);
  owned->shot.memory = fake_make_memory ((1755 + n_more) * 23040);
  return &owned->shot;
}
