/* The Cells view in words: details of a thing, and the whole page as text. */
#include <glib/gi18n.h>

#include "viz/cells-private.h"
#include "viz/cells-raster.h"
#include "viz/format.h"
#include "viz/headline.h"

/* ---- one cell */

static void
append_price (const KvasirCacheShot *cache, GString *out)
{
  guint64 k = cache->k_bytes_per_cell;
  if (k < cache->bytes_per_cell)
    g_string_append_printf (out, _ ("K %s + V %s over %s"), kvasir_format_size (k).s,
                            kvasir_format_size (cache->bytes_per_cell - k).s,
                            kvasir_format_layers (cache->n_layers).s);
  else
    g_string_append_printf (out, _ ("K %s, with V in it, over %s"), kvasir_format_size (k).s,
                            kvasir_format_layers (cache->n_layers).s);
}

static void
describe_held (KvasirCellsView *self,
               const KvasirCellsLane *lane,
               const KvasirSpan *span,
               guint cell,
               GString *out)
{
  const KvasirCacheShot *cache = &self->base.data.cells->caches[lane->cache];
  const KvasirSeqSet *set = &cache->sets[span->set];
  gint32 pos = span->pos + (gint32) (cell - span->cell);
  gsize index = (gsize) lane->stream * cache->size + cell;
  gboolean outside =
      cell - span->cell < kvasir_cells_count_outside (self->holdings[lane->cache], span);
  g_string_append_printf (out, _ ("cell %s · position %s · "), kvasir_format_count (cell).s,
                          kvasir_format_count (pos).s);
  g_string_append (out, kvasir_seq_set_count (set) > 1 ? _ ("sequences ") : _ ("sequence "));
  kvasir_palette_append_letters (out, set, " ", 8);
  g_string_append (out, " · ");
  kvasir_view_append_token (&self->base, cache->tokens[index], out);
  g_string_append (out, " · ");
  if (kvasir_view_append_message (&self->base, kvasir_palette_next_seq (set, -1), pos, out))
    g_string_append (out, " · ");
  g_string_append_printf (out, _ ("written at step %s\n"),
                          kvasir_format_count (cache->steps[index]).s);
  append_price (cache, out);
  g_string_append_printf (out, _ (" · %s · pending shift %s\n"),
                          outside ? _ ("outside the window of the next token")
                                  : _ ("open to the next token"),
                          kvasir_format_count (span->shift).s);
}

static void
describe_state (KvasirCellsView *self, const KvasirSpan *span, guint cell, GString *out)
{
  const KvasirCacheShot *cache = self->holdings[self->n_holdings - 1]->cache;
  const KvasirSeqSet *set = &cache->sets[span->set];
  gint32 pos = span->pos + (gint32) (cell - span->cell);
  g_string_append_printf (out, _ ("state %s · of all positions up to %s · "),
                          kvasir_format_count (cell).s, kvasir_format_count (pos).s);
  g_string_append (out, kvasir_seq_set_count (set) > 1 ? _ ("sequences ") : _ ("sequence "));
  kvasir_palette_append_letters (out, set, " ", 8);
  g_string_append_printf (out, _ (" · written at step %s\n"),
                          kvasir_format_count (cache->steps[cell]).s);
  g_string_append_printf (out, _ ("%s over %s, whatever the length of the text\n"),
                          kvasir_format_size (cache->bytes_per_cell).s,
                          kvasir_format_layers (cache->n_layers).s);
}

static void
describe_free (const KvasirStreamShot *stream, guint cell, GString *out)
{
  g_string_append_printf (out, _ ("cell %s · free\n"), kvasir_format_count (cell).s);
  if (cell < stream->n_kv)
    g_string_append (out, _ ("below the horizon: attention passes it, the mask closes it\n"));
  else
    g_string_append (out, _ ("above the horizon: attention does not read it\n"));
}

static void
describe_cell (KvasirCellsView *self, const KvasirThing *thing, GString *out)
{
  const KvasirCellsLane *lane = kvasir_cells_view_find_lane (self, thing);
  if (lane == NULL || thing->cell >= lane->grid.n_cells)
    return;
  const KvasirSpan *span = kvasir_cache_shot_find (&self->base.data.cells->caches[lane->cache],
                                                   lane->stream, thing->cell);
  if (kvasir_cells_view_is_recurrent (self, lane))
    {
      if (span != NULL)
        describe_state (self, span, thing->cell, out);
      else
        g_string_append_printf (out, _ ("state %s · free\n"), kvasir_format_count (thing->cell).s);
    }
  else if (span != NULL)
    describe_held (self, lane, span, thing->cell, out);
  else
    describe_free (kvasir_cells_view_get_stream (self, lane), thing->cell, out);
}

/* ---- many cells */

static void
append_holding (KvasirCellsView *self, const KvasirHolding *holding, GString *out)
{
  g_autofree char *name = kvasir_cells_view_dup_name (self, holding->seq);
  g_string_append_printf (out, _ ("%s · %s · %s cells, %s its own · positions %s · "),
                          kvasir_palette_get_letter (holding->seq).s, name,
                          kvasir_format_count (holding->n_cells).s,
                          kvasir_format_count (holding->n_own).s,
                          kvasir_format_range (holding->pos_min, holding->pos_max).s);
  if (holding->n_holes == 0)
    g_string_append (out, _ ("complete\n"));
  else
    g_string_append_printf (out, ngettext ("%u hole\n", "%u holes\n", holding->n_holes),
                            holding->n_holes);
}

static void
append_cells_price (KvasirCellsView *self, guint64 n_cells, GString *out)
{
  const KvasirCacheShot *cache = &self->base.data.cells->caches[0];
  g_string_append_printf (
      out, ngettext ("%s cell = %s at %s per cell\n", "%s cells = %s at %s per cell\n", n_cells),
      kvasir_format_count ((gint64) n_cells).s,
      kvasir_format_size (n_cells * cache->bytes_per_cell).s,
      kvasir_format_size (cache->bytes_per_cell).s);
}

/* What the sequence takes in each cache: "base 40 cells, 5.0 KiB · recurrent 1 state, 22.5 KiB". */
static void
append_prices (KvasirCellsView *self, guint seq, GString *out)
{
  for (guint i = 0; i < self->n_holdings; i++)
    {
      const KvasirCacheShot *cache = self->holdings[i]->cache;
      const KvasirHolding *holding = kvasir_holdings_find (self->holdings[i], seq);
      guint n = holding != NULL ? holding->n_cells : 0;
      g_string_append (out, i > 0 ? " · " : "");
      if (cache->is_recurrent)
        g_string_append_printf (out, ngettext ("%s %u state, %s", "%s %u states, %s", n),
                                cache->name, n, kvasir_format_size (n * cache->bytes_per_cell).s);
      else
        g_string_append_printf (out, ngettext ("%s %s cell, %s", "%s %s cells, %s", n), cache->name,
                                kvasir_format_count (n).s,
                                kvasir_format_size (n * cache->bytes_per_cell).s);
    }
  g_string_append_c (out, '\n');
}

static void
describe_sequence (KvasirCellsView *self, gint seq, GString *out)
{
  const KvasirHolding *holding = kvasir_holdings_find (self->holdings[0], (guint) seq);
  if (holding == NULL)
    return;
  append_holding (self, holding, out);
  if (self->n_holdings == 1)
    append_cells_price (self, holding->n_cells, out);
  else
    append_prices (self, (guint) seq, out);
}

/* Appends "0–63, 128–140, …". */
static void
append_runs (const GArray *runs, GString *out)
{
  for (guint i = 0; i < MIN (runs->len, 8); i++)
    {
      const KvasirCellRun *run = &g_array_index (runs, KvasirCellRun, i);
      g_string_append_printf (out, "%s%s", i > 0 ? ", " : "",
                              kvasir_format_range (run->cell, run->cell + run->n - 1).s);
    }
  g_string_append (out, runs->len > 8 ? ", …\n" : "\n");
}

static void
describe_runs (KvasirCellsView *self, const KvasirThing *thing, GString *out)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
  guint64 n_cells = 0;
  kvasir_cells_view_collect (self, thing, runs);
  for (guint i = 0; i < runs->len; i++)
    n_cells += g_array_index (runs, KvasirCellRun, i).n;
  if (runs->len == 0)
    {
      g_string_append (out, _ ("none of its tokens is in the cells now\n"));
      return;
    }
  g_string_append (out,
                   thing->kind == KVASIR_THING_MESSAGE ? _ ("message in cells ") : _ ("cells "));
  append_runs (runs, out);
  append_cells_price (self, n_cells, out);
}

static void
describe_page (KvasirCellsView *self, GString *out)
{
  guint largest = 0;
  for (guint i = 0; i < self->n_lanes; i++)
    if (self->lanes[i].cache == 0)
      largest =
          MAX (largest, kvasir_cells_view_get_stream (self, &self->lanes[i])->largest_free_run);
  kvasir_headline_append (&self->base.data, out);
  if (self->holdings[0]->cache->is_recurrent)
    g_string_append (out, _ ("\npoint at a state for its position, click to keep it\n"));
  else
    g_string_append_printf (out,
                            _ ("\nlargest free run %s cells · point at a cell for its token, "
                               "click to keep it\n"),
                            kvasir_format_count (largest).s);
}

void
kvasir_cells_view_describe (KvasirView *view, const KvasirThing *thing, GString *out)
{
  KvasirCellsView *self = (KvasirCellsView *) view;
  const KvasirHoldings *holdings = self->holdings[0];
  if (thing == NULL)
    {
      describe_page (self, out);
      return;
    }
  switch (thing->kind)
    {
    case KVASIR_THING_CELL:
      describe_cell (self, thing, out);
      break;
    case KVASIR_THING_SEQUENCE:
      describe_sequence (self, thing->seq, out);
      break;
    case KVASIR_THING_SHARED:
      g_string_append (out, _ ("held by two sequences or more, and stored once\n"));
      append_cells_price (self, holdings->n_shared, out);
      break;
    case KVASIR_THING_FREE:
      g_string_append (out, _ ("held by nobody\n"));
      append_cells_price (self, holdings->n_cells - holdings->n_used, out);
      break;
    case KVASIR_THING_MESSAGE:
    case KVASIR_THING_RUNS:
      describe_runs (self, thing, out);
      break;
    default:
      break;
    }
}

/* ---- the page as text */

static void
append_span (const KvasirCacheShot *cache, const KvasirSpan *span, GString *out)
{
  g_string_append_printf (out, _ ("cells %s: positions %s, "),
                          kvasir_format_range (span->cell, (gint64) span->cell + span->n - 1).s,
                          kvasir_format_range (span->pos, (gint64) span->pos + span->n - 1).s);
  kvasir_palette_append_letters (out, &cache->sets[span->set], " ", KVASIR_MAX_SEQS);
  if (span->shift != 0)
    g_string_append_printf (out, _ (", pending shift %s"), kvasir_format_count (span->shift).s);
  g_string_append_c (out, '\n');
}

static void
append_lane (KvasirCellsView *self, const KvasirCellsLane *lane, GString *out)
{
  const KvasirCacheShot *cache = &self->base.data.cells->caches[lane->cache];
  const KvasirStreamShot *stream = kvasir_cells_view_get_stream (self, lane);
  guint next = 0;
  if (cache->is_recurrent)
    g_string_append_printf (out, _ ("\n%s states, by cell:\n"), cache->name);
  else
    g_string_append_printf (out, _ ("\n%s cache, stream %u: head at %s, read up to %s\n"),
                            cache->name, lane->stream, kvasir_format_count (stream->head).s,
                            kvasir_format_count (stream->n_kv).s);
  for (guint i = 0; i < stream->n_spans; i++)
    {
      const KvasirSpan *span = &cache->spans[stream->first_span + i];
      if (span->cell > next)
        g_string_append_printf (out, _ ("cells %s: free\n"),
                                kvasir_format_range (next, (gint64) span->cell - 1).s);
      append_span (cache, span, out);
      next = span->cell + span->n;
    }
  if (next < cache->size)
    g_string_append_printf (out, _ ("cells %s: free\n"),
                            kvasir_format_range (next, (gint64) cache->size - 1).s);
}

void
kvasir_cells_view_append_text (KvasirView *view, GString *out)
{
  KvasirCellsView *self = (KvasirCellsView *) view;
  kvasir_headline_append (&view->data, out);
  g_string_append (out, "\n\n");
  kvasir_legend_append_text (self->legend, out);
  for (guint i = 0; self->memory != NULL && i < self->memory->n_types; i++)
    g_string_append_printf (out, _ ("buffer type %s: %s\n"), self->memory->types[i].name,
                            kvasir_format_size (self->memory->types[i].total).s);
  for (guint i = 0; i < self->holdings[0]->n_seqs; i++)
    append_holding (self, &self->holdings[0]->seqs[i], out);
  for (guint i = 0; i < self->n_lanes; i++)
    append_lane (self, &self->lanes[i], out);
}
