/* ui/widgets/meter-bar.h - the bar of the meter: parts of a whole in colours
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct
{
  guint n;
  guint32 rgb; /* 0xRRGGBB */
} KvasirMeterPart;

#define KVASIR_TYPE_METER_BAR (kvasir_meter_bar_get_type ())
G_DECLARE_FINAL_TYPE (KvasirMeterBar, kvasir_meter_bar, KVASIR, METER_BAR, GtkWidget)

GtkWidget *kvasir_meter_bar_new (void) G_GNUC_WARN_UNUSED_RESULT;
/* @parts: [n_parts], in order; @total 0: an empty bar. Returns whether anything changed. */
gboolean kvasir_meter_bar_set_parts (KvasirMeterBar *self,
                                     const KvasirMeterPart *parts,
                                     guint n_parts,
                                     guint total);

G_END_DECLS
