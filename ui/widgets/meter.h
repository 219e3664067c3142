/* ui/widgets/meter.h - how full the cells are, as a pill in the header bar
 *
 * Reads the cells of a snapshot, never an estimate. One segment per sequence in the colour that the
 * views use; cells that several hold come first, in grey. A click is for the inspector.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_METER_FULL,
  KVASIR_METER_WORDS,
  KVASIR_METER_PERCENT
} KvasirMeterSize;

#define KVASIR_TYPE_METER (kvasir_meter_get_type ())
G_DECLARE_FINAL_TYPE (KvasirMeter, kvasir_meter, KVASIR, METER, GtkButton)

/* NULL: no model. Only the cells are read. */
void kvasir_meter_set_snapshot (KvasirMeter *self, const KvasirSnapshot *snapshot);
/* In a narrow window the bar goes, in a very narrow one the words become a percentage. */
void kvasir_meter_set_size (KvasirMeter *self, KvasirMeterSize size);

G_END_DECLS
