#include "ui/widgets/meter.h"

#include <glib/gi18n.h>

#include "ui/widgets/meter-bar.h"
#include "viz/format.h"
#include "viz/palette.h"

/* What several sequences hold. */
#define SHARED_RGB 0x8a8a86u

struct _KvasirMeter
{
  GtkButton parent_instance;

  GtkWidget *bar;
  GtkWidget *label;
  KvasirMeterSize size;
  guint used;
  guint total; /* 0: no model */
};

G_DEFINE_FINAL_TYPE (KvasirMeter, kvasir_meter, GTK_TYPE_BUTTON)

static guint
get_n_used (const KvasirCacheShot *cache)
{
  guint n = 0;

  for (guint i = 0; i < cache->n_streams; i++)
    n += cache->streams[i].used;
  return n;
}

static void
update_words (KvasirMeter *self)
{
  g_autofree char *text = NULL;

  if (self->total == 0)
    text = g_strdup (_ ("no model"));
  else if (self->size == KVASIR_METER_PERCENT)
    text = g_strdup_printf ("%.0f %%", 100.0 * self->used / self->total);
  else
    text = g_strdup_printf (_ ("%s / %s cells"), kvasir_format_count (self->used).s,
                            kvasir_format_count (self->total).s);
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (self->label)), text))
    gtk_label_set_text (GTK_LABEL (self->label), text);
}

static void
set_words (KvasirMeter *self, guint used, guint total)
{
  g_autofree char *spoken = NULL;

  if (self->used == used && self->total == total)
    return;
  self->used = used;
  self->total = total;
  update_words (self);
  if (total == 0)
    spoken = g_strdup (_ ("Memory: no model is open"));
  else
    spoken = g_strdup_printf (_ ("Memory: %u of %u cells are used, %u percent"), used, total,
                              (guint) (100.0 * used / total));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
}

static void
show_cells (KvasirMeter *self, const KvasirCellsShot *cells)
{
  const KvasirCacheShot *cache = &cells->caches[0];
  guint total = cache->size * cache->n_streams;
  guint used = get_n_used (cache);
  guint n_own = 0;
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (KvasirMeterPart));
  KvasirMeterPart shared = { 0, SHARED_RGB };

  g_array_append_val (parts, shared);
  for (guint i = 0; i < cells->n_seqs; i++)
    {
      const KvasirSeqShot *seq = &cells->seqs[i];
      const KvasirMeterPart part = { seq->n_own, kvasir_palette_get_sequence ((guint) seq->seq) };

      n_own += seq->n_own;
      g_array_append_val (parts, part);
    }
  g_array_index (parts, KvasirMeterPart, 0).n = used > n_own ? used - n_own : 0;
  kvasir_meter_bar_set_parts (KVASIR_METER_BAR (self->bar),
                              (const KvasirMeterPart *) (gpointer) parts->data, parts->len, total);
  set_words (self, used, total);
}

void
kvasir_meter_set_snapshot (KvasirMeter *self, const KvasirSnapshot *snapshot)
{
  g_return_if_fail (KVASIR_IS_METER (self));
  if (snapshot != NULL && snapshot->cells != NULL && snapshot->cells->n_caches > 0)
    {
      show_cells (self, snapshot->cells);
      return;
    }
  if (snapshot != NULL)
    return;
  kvasir_meter_bar_set_parts (KVASIR_METER_BAR (self->bar), NULL, 0, 0);
  set_words (self, 0, 0);
}

void
kvasir_meter_set_size (KvasirMeter *self, KvasirMeterSize size)
{
  g_return_if_fail (KVASIR_IS_METER (self));
  if (self->size == size)
    return;
  self->size = size;
  gtk_widget_set_visible (self->bar, size == KVASIR_METER_FULL);
  update_words (self);
}

static void
kvasir_meter_class_init (KvasirMeterClass *klass)
{
}

static void
kvasir_meter_init (KvasirMeter *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  self->bar = kvasir_meter_bar_new ();
  self->label = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->label, "numeric");
  gtk_box_append (GTK_BOX (box), self->bar);
  gtk_box_append (GTK_BOX (box), self->label);
  gtk_button_set_child (GTK_BUTTON (self), box);
  gtk_widget_add_css_class (GTK_WIDGET (self), "meter");
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), _ ("Cells in use; click to look inside"));
  self->total = G_MAXUINT; /* so that "no model" is news */
  kvasir_meter_set_snapshot (self, NULL);
}
