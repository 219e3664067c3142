/* The Positions view in words. */
#include <glib/gi18n.h>

#include "viz/format.h"
#include "viz/headline.h"
#include "viz/positions-private.h"

static void
describe_position (KvasirPositionsView *self, const KvasirThing *thing, GString *out)
{
  const KvasirCacheShot *cache = self->holdings->cache;
  const KvasirPosRun *run =
      kvasir_holdings_find_position (self->holdings, (guint) thing->seq, thing->pos);
  if (run == NULL)
    return;
  guint cell = run->cell + (guint) (thing->pos - run->pos);
  const KvasirSeqSet *set = &cache->sets[run->set];
  gsize index = (gsize) run->stream * cache->size + cell;
  g_string_append_printf (out, _ ("%s %s · cell %s · "),
                          kvasir_palette_get_letter ((guint) thing->seq).s,
                          kvasir_format_count (thing->pos).s, kvasir_format_count (cell).s);
  kvasir_view_append_token (&self->base, cache->tokens[index], out);
  g_string_append (out, " · ");
  if (kvasir_view_append_message (&self->base, thing->seq, thing->pos, out))
    g_string_append (out, " · ");
  g_string_append_printf (out, _ ("written at step %s\n"),
                          kvasir_format_count (cache->steps[index]).s);
  g_string_append (out, kvasir_seq_set_count (set) > 1 ? _ ("shared by ") : _ ("held by "));
  kvasir_palette_append_letters (out, set, " ", 8);
  g_string_append_printf (out, _ (" · run of positions %s in cells %s · pending shift %s\n"),
                          kvasir_format_range (run->pos, (gint64) run->pos + run->n - 1).s,
                          kvasir_format_range (run->cell, (gint64) run->cell + run->n - 1).s,
                          kvasir_format_count (run->shift).s);
}

/* A sequence that is one state. */
static void
append_state (const KvasirHolding *holding, GString *out)
{
  g_string_append_printf (out, _ ("%s · one state of positions %s"),
                          kvasir_palette_get_letter (holding->seq).s,
                          kvasir_format_range (holding->pos_min, holding->pos_max).s);
}

static void
append_sliding (const KvasirPositionsView *self, guint seq, GString *out)
{
  const KvasirHolding *holding =
      self->sliding != NULL ? kvasir_holdings_find (self->sliding, seq) : NULL;
  if (holding != NULL)
    g_string_append_printf (out, _ ("sliding half: positions %s in %s cells, window %s\n"),
                            kvasir_format_range (holding->pos_min, holding->pos_max).s,
                            kvasir_format_count (holding->n_cells).s,
                            kvasir_format_count (self->sliding->cache->n_swa).s);
}

static void
append_held (const KvasirHolding *holding, GString *out)
{
  g_string_append_printf (out, _ ("%s · %s positions %s in %s cells · "),
                          kvasir_palette_get_letter (holding->seq).s,
                          kvasir_format_count (holding->n_positions).s,
                          kvasir_format_range (holding->pos_min, holding->pos_max).s,
                          kvasir_format_count (holding->n_cells).s);
  if (holding->n_holes == 0)
    g_string_append (out, _ ("complete"));
  else
    g_string_append_printf (out, ngettext ("%u hole", "%u holes", holding->n_holes),
                            holding->n_holes);
}

static void
append_sequence (const KvasirPositionsView *self, const KvasirPositionsRow *row, GString *out)
{
  if (self->holdings->cache->is_recurrent)
    append_state (row->holding, out);
  else
    append_held (row->holding, out);
  if (row->parent >= 0)
    g_string_append_printf (out, _ (" · forked from %s at %s"),
                            kvasir_palette_get_letter ((guint) row->shot->parent).s,
                            kvasir_format_count (row->shot->parent_pos).s);
  g_string_append_c (out, '\n');
}

static void
describe_sequence (const KvasirPositionsView *self, const KvasirPositionsRow *row, GString *out)
{
  append_sequence (self, row, out);
  append_sliding (self, row->holding->seq, out);
  g_string_append_printf (out, _ ("%s cells its own, %s shared · next position %s\n"),
                          kvasir_format_count (row->holding->n_own).s,
                          kvasir_format_count (row->holding->n_cells - row->holding->n_own).s,
                          kvasir_format_count ((gint64) row->holding->pos_max + 1).s);
}

static void
describe_hole (const KvasirThing *thing, GString *out)
{
  g_string_append_printf (out,
                          ngettext ("hole in %s at %s · %s position is missing\n",
                                    "hole in %s at %s · %s positions are missing\n",
                                    (gulong) thing->n),
                          kvasir_palette_get_letter ((guint) thing->seq).s,
                          kvasir_format_range (thing->pos, (gint64) thing->pos + thing->n - 1).s,
                          kvasir_format_count (thing->n).s);
  g_string_append (out, _ ("the next token sees what is left of it on both sides\n"));
}

static void
describe_message (KvasirPositionsView *self, guint64 message_id, GString *out)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  gboolean any = FALSE;
  for (guint i = 0; i < cells->n_message_runs; i++)
    {
      const KvasirMessageRun *run = &cells->message_runs[i];
      if (run->message_id != message_id)
        continue;
      g_string_append (out, any ? " · " : _ ("message at "));
      g_string_append_printf (out, "%s %s", kvasir_palette_get_letter ((guint) run->seq).s,
                              kvasir_format_range (run->pos, (gint64) run->pos + run->n - 1).s);
      any = TRUE;
    }
  g_string_append (out, any ? "\n" : _ ("none of its tokens is in the cells now\n"));
}

void
kvasir_positions_view_describe (KvasirView *view, const KvasirThing *thing, GString *out)
{
  KvasirPositionsView *self = (KvasirPositionsView *) view;
  const KvasirPositionsRow *row =
      thing != NULL ? kvasir_positions_view_find_row (self, thing->seq) : NULL;
  if (thing == NULL)
    {
      kvasir_headline_append (&view->data, out);
      g_string_append (out, _ ("\npoint at a bar or a line for its position, click to keep it\n"));
    }
  else if (thing->kind == KVASIR_THING_MESSAGE)
    describe_message (self, thing->message_id, out);
  else if (thing->kind == KVASIR_THING_POSITION)
    describe_position (self, thing, out);
  else if (thing->kind == KVASIR_THING_HOLE)
    describe_hole (thing, out);
  else if (thing->kind == KVASIR_THING_SEQUENCE && row != NULL)
    describe_sequence (self, row, out);
}

static void
append_hole_cb (gint32 pos, gint32 n, gpointer user_data)
{
  g_string_append_printf (user_data, _ ("  hole %s\n"),
                          kvasir_format_range (pos, (gint64) pos + n - 1).s);
}

static void
append_run (KvasirPositionsView *self, const KvasirPosRun *run, GString *out)
{
  g_string_append_printf (out, _ ("  positions %s in cells %s, "),
                          kvasir_format_range (run->pos, (gint64) run->pos + run->n - 1).s,
                          kvasir_format_range (run->cell, (gint64) run->cell + run->n - 1).s);
  kvasir_palette_append_letters (out, &self->holdings->cache->sets[run->set], " ", KVASIR_MAX_SEQS);
  g_string_append_c (out, '\n');
}

void
kvasir_positions_view_append_text (KvasirView *view, GString *out)
{
  KvasirPositionsView *self = (KvasirPositionsView *) view;
  kvasir_headline_append (&view->data, out);
  g_string_append (out, "\n\n");
  for (guint i = 0; i < self->n_rows; i++)
    {
      const KvasirHolding *holding = self->rows[i].holding;
      append_sequence (self, &self->rows[i], out);
      append_sliding (self, holding->seq, out);
      kvasir_holdings_foreach_hole (self->holdings, holding, append_hole_cb, out);
      for (guint j = 0; j < holding->n_runs; j++)
        append_run (self, &self->holdings->runs[holding->first_run + j], out);
    }
}
