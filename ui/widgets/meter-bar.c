#include "ui/widgets/meter-bar.h"

#include <string.h>

#define BAR_WIDTH 118
#define BAR_HEIGHT 8

struct _KvasirMeterBar
{
  GtkWidget parent_instance;

  GArray *parts; /* (owned) of KvasirMeterPart */
  guint total;
};

G_DEFINE_FINAL_TYPE (KvasirMeterBar, kvasir_meter_bar, GTK_TYPE_WIDGET)

static void
kvasir_meter_bar_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? BAR_WIDTH : BAR_HEIGHT;
}

static void
append_part (GtkSnapshot *snapshot, guint32 rgb, double x, double width, double height)
{
  const GdkRGBA color = { ((rgb >> 16) & 0xff) / 255.0f, ((rgb >> 8) & 0xff) / 255.0f,
                          (rgb & 0xff) / 255.0f, 1 };

  gtk_snapshot_append_color (snapshot, &color,
                             &GRAPHENE_RECT_INIT ((float) x, 0, (float) width, (float) height));
}

static void
kvasir_meter_bar_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  KvasirMeterBar *self = KVASIR_METER_BAR (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  gboolean rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  GskRoundedRect clip;
  GdkRGBA track;
  double x = 0;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &track);
  track.alpha *= 0.15f;
  gsk_rounded_rect_init_from_rect (&clip, &GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height),
                                   2);
  gtk_snapshot_push_rounded_clip (snapshot, &clip);
  gtk_snapshot_append_color (snapshot, &track, &clip.bounds);
  for (guint i = 0; self->total > 0 && i < self->parts->len; i++)
    {
      const KvasirMeterPart *part = &g_array_index (self->parts, KvasirMeterPart, i);
      double w = (double) width * part->n / self->total;

      append_part (snapshot, part->rgb, rtl ? width - x - w : x, w, height);
      x += w;
    }
  gtk_snapshot_pop (snapshot);
}

static void
kvasir_meter_bar_finalize (GObject *object)
{
  g_array_unref (KVASIR_METER_BAR (object)->parts);
  G_OBJECT_CLASS (kvasir_meter_bar_parent_class)->finalize (object);
}

static void
kvasir_meter_bar_class_init (KvasirMeterBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = kvasir_meter_bar_finalize;
  widget_class->measure = kvasir_meter_bar_measure;
  widget_class->snapshot = kvasir_meter_bar_snapshot;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
kvasir_meter_bar_init (KvasirMeterBar *self)
{
  self->parts = g_array_new (FALSE, FALSE, sizeof (KvasirMeterPart));
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
}

GtkWidget *
kvasir_meter_bar_new (void)
{
  return g_object_new (KVASIR_TYPE_METER_BAR, NULL);
}

gboolean
kvasir_meter_bar_set_parts (KvasirMeterBar *self,
                            const KvasirMeterPart *parts,
                            guint n_parts,
                            guint total)
{
  g_return_val_if_fail (KVASIR_IS_METER_BAR (self), FALSE);
  if (self->total == total && self->parts->len == n_parts &&
      (n_parts == 0 || memcmp (self->parts->data, parts, n_parts * sizeof *parts) == 0))
    return FALSE;
  self->total = total;
  g_array_set_size (self->parts, 0);
  g_array_append_vals (self->parts, parts, n_parts);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  return TRUE;
}
