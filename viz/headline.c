#include "viz/headline.h"

#include <glib/gi18n.h>

#include "viz/format.h"

typedef struct
{
  guint64 used, size, n_kv, live_bytes, bytes;
  guint64 states, all_states; /* beside cells */
  guint n_holes;
} Totals;

/* Cells are those of the first cache; bytes those of all. */
static void
add_stream (Totals *totals, const KvasirCacheShot *cache, gboolean first, guint stream)
{
  const KvasirStreamShot *shot = &cache->streams[stream];
  totals->live_bytes += shot->used * cache->bytes_per_cell;
  totals->bytes += cache->size * cache->bytes_per_cell;
  if (!first && cache->is_recurrent)
    {
      totals->states += shot->used;
      totals->all_states += cache->size;
    }
  if (!first)
    return;
  totals->used += shot->used;
  totals->size += cache->size;
  totals->n_holes += shot->n_holes;
  totals->n_kv = MAX (totals->n_kv, shot->n_kv);
}

static Totals
add_up (const KvasirCellsShot *cells)
{
  Totals totals = { 0 };
  for (guint i = 0; i < cells->n_caches; i++)
    for (guint stream = 0; stream < cells->caches[i].n_streams; stream++)
      add_stream (&totals, &cells->caches[i], i == 0, stream);
  return totals;
}

void
kvasir_headline_append (const KvasirVizData *data, GString *out)
{
  const KvasirCellsShot *cells = data->cells;
  if (cells == NULL || cells->n_caches == 0)
    return;
  Totals totals = add_up (cells);
  gboolean is_state = cells->caches[0].is_recurrent;
  g_string_append_printf (out, is_state ? _ ("%s/%s states") : _ ("%s/%s cells"),
                          kvasir_format_count ((gint64) totals.used).s,
                          kvasir_format_count ((gint64) totals.size).s);
  if (totals.all_states > 0)
    g_string_append_printf (out, _ (" · %s/%s states"),
                            kvasir_format_count ((gint64) totals.states).s,
                            kvasir_format_count ((gint64) totals.all_states).s);
  if (!is_state)
    g_string_append_printf (out, ngettext (" · %u hole", " · %u holes", totals.n_holes),
                            totals.n_holes);
  g_string_append_printf (out, ngettext (" · %u sequence", " · %u sequences", cells->n_seqs),
                          cells->n_seqs);
  if (totals.n_kv > 0)
    g_string_append_printf (out, _ (" · read up to %s"),
                            kvasir_format_count ((gint64) totals.n_kv).s);
  g_string_append_printf (out, _ (" · %s of %s"), kvasir_format_size (totals.live_bytes).s,
                          kvasir_format_size (totals.bytes).s);
  if (!is_state)
    g_string_append (out, cells->caches[0].n_streams == 1 ? _ (" · unified") : _ (" · split"));
}
