#include "viz/headline.h"

#include <glib/gi18n.h>

#include "viz/format.h"

typedef struct
{
  guint64 used, size, n_kv, live_bytes, bytes;
  guint n_holes;
} Totals;

/* Cells are those of the first cache; bytes those of all. */
static Totals
add_up (const KvasirCellsShot *cells)
{
  Totals totals = { 0 };
  for (guint i = 0; i < cells->n_caches; i++)
    {
      const KvasirCacheShot *cache = &cells->caches[i];
      guint64 used = 0;
      for (guint stream = 0; stream < cache->n_streams; stream++)
        {
          used += cache->streams[stream].used;
          totals.n_holes += i == 0 ? cache->streams[stream].n_holes : 0;
          totals.n_kv = MAX (totals.n_kv, i == 0 ? cache->streams[stream].n_kv : 0);
        }
      guint64 size = (guint64) cache->size * cache->n_streams;
      totals.used += i == 0 ? used : 0;
      totals.size += i == 0 ? size : 0;
      totals.live_bytes += used * cache->bytes_per_cell;
      totals.bytes += size * cache->bytes_per_cell;
    }
  return totals;
}

void
kvasir_headline_append (const KvasirVizData *data, GString *out)
{
  const KvasirCellsShot *cells = data->cells;
  if (cells == NULL || cells->n_caches == 0)
    return;
  Totals totals = add_up (cells);
  g_string_append_printf (out, _ ("%s/%s cells"), kvasir_format_count ((gint64) totals.used).s,
                          kvasir_format_count ((gint64) totals.size).s);
  g_string_append_printf (out, ngettext (" · %u hole", " · %u holes", totals.n_holes),
                          totals.n_holes);
  g_string_append_printf (out, ngettext (" · %u sequence", " · %u sequences", cells->n_seqs),
                          cells->n_seqs);
  if (totals.n_kv > 0)
    g_string_append_printf (out, _ (" · read up to %s"),
                            kvasir_format_count ((gint64) totals.n_kv).s);
  g_string_append_printf (out, _ (" · %s of %s · %s"), kvasir_format_size (totals.live_bytes).s,
                          kvasir_format_size (totals.bytes).s,
                          cells->caches[0].n_streams == 1 ? _ ("unified") : _ ("split"));
}
