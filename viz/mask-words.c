/* The Mask view in words. */
#include <glib/gi18n.h>

#include "viz/format.h"
#include "viz/mask-private.h"

#define MAX_ROWS 64

void
kvasir_mask_panel_append_row_name (const KvasirMaskPanel *self, guint row, GString *out)
{
  const KvasirMaskShot *shot = self->shot;
  g_autofree char *text = kvasir_view_dup_token_text (&self->view->base, shot->row_tokens[row]);
  kvasir_palette_append_letters (out, &shot->row_seqs[row], " ", 3);
  g_string_append_printf (out, " %s \"%s\"", kvasir_format_count (shot->row_pos[row]).s, text);
}

static void
append_counts (const KvasirMaskPanel *self, guint row, GString *out)
{
  KvasirMaskCounts counts;
  kvasir_mask_model_count_row (self->model, row, &counts);
  for (guint reason = 0; reason < KVASIR_N_MASK_REASONS; reason++)
    g_string_append_printf (out, "%s%s %s", reason > 0 ? ", " : "",
                            kvasir_mask_model_get_reason_label (reason),
                            kvasir_format_count (counts.reasons[reason]).s);
}

static void
append_row (const KvasirMaskPanel *self, guint row, GString *out)
{
  g_string_append (out, _ ("row "));
  kvasir_mask_panel_append_row_name (self, row, out);
  g_string_append (out, " · ");
  append_counts (self, row, out);
  g_string_append_c (out, '\n');
}

static void
append_blocks (const KvasirMaskPanel *self, GString *out)
{
  const KvasirMaskModel *model = self->model;
  guint all = model->n_block_rows * model->n_block_columns;
  g_string_append_printf (
      out, _ ("blocks of %u rows × %u cells: %s of %s closed (%u %%), %s open, %s mixed\n"),
      KVASIR_MASK_BLOCK_ROWS, KVASIR_MASK_BLOCK_CELLS,
      kvasir_format_count (model->n_blocks[KVASIR_BLOCK_CLOSED]).s, kvasir_format_count (all).s,
      model->n_blocks[KVASIR_BLOCK_CLOSED] * 100 / MAX (all, 1u),
      kvasir_format_count (model->n_blocks[KVASIR_BLOCK_OPEN]).s,
      kvasir_format_count (model->n_blocks[KVASIR_BLOCK_MIXED]).s);
}

static void
append_walk (const KvasirMaskPanel *self, const KvasirThing *thing, GString *out)
{
  KvasirMaskTest tests[4];
  guint n = kvasir_mask_model_explain (self->model, thing->row, thing->cell, tests);
  gboolean open = tests[n - 1].passed;
  g_string_append_printf (out, _ ("cell %s · "), kvasir_format_count (thing->cell).s);
  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (out, "%s %s · ", tests[i].question, tests[i].answer);
      g_free (tests[i].answer);
    }
  g_string_append (out, open ? _ ("open\n") : _ ("closed\n"));
}

static void
describe_step (const KvasirMaskPanel *self, const KvasirThing *thing, GString *out)
{
  const KvasirMaskShot *shot = self->shot;
  if (thing->row >= shot->n_waterfall || thing->cell / 64 >= shot->waterfall_words)
    return;
  const guint64 *words = shot->waterfall + (gsize) thing->row * shot->waterfall_words;
  guint ago = shot->n_waterfall - 1 - thing->row;
  guint n_open = 0;
  for (gsize i = 0; i < shot->waterfall_words; i++)
    n_open += (guint) __builtin_popcountll (words[i]);
  if (ago == 0)
    g_string_append (out, _ ("the newest single-token step"));
  else
    g_string_append_printf (
        out, ngettext ("%u step before the newest", "%u steps before the newest", ago), ago);
  g_string_append_printf (out, _ (" · %s cells open · cell %s was %s\n"),
                          kvasir_format_count (n_open).s, kvasir_format_count (thing->cell).s,
                          (words[thing->cell / 64] >> (thing->cell % 64)) & 1 ? _ ("open")
                                                                              : _ ("closed"));
}

void
kvasir_mask_panel_append_cache (const KvasirMaskPanel *self, GString *out)
{
  g_string_append (out, self->shot->cache_name);
  if (self->shot->n_streams > 1)
    g_string_append_printf (out, _ (", stream %u"), self->shot->stream);
}

void
kvasir_mask_view_describe (KvasirView *view, const KvasirThing *thing, GString *out)
{
  const KvasirMaskView *mask = (KvasirMaskView *) view;
  const KvasirMaskPanel *self =
      thing != NULL ? kvasir_mask_view_find_panel (mask, thing) : kvasir_mask_view_get_panel (mask);
  if (self == NULL)
    return;
  if (thing == NULL)
    {
      append_row (self, kvasir_mask_panel_get_row (self), out);
      append_blocks (self, out);
    }
  else if (thing->kind == KVASIR_THING_DECODE)
    describe_step (self, thing, out);
  else if (thing->kind == KVASIR_THING_MASK && thing->row < self->shot->n_rows &&
           thing->cell < self->shot->n_kv)
    {
      append_row (self, thing->row, out);
      append_walk (self, thing, out);
    }
}

static void
append_panel (const KvasirMaskPanel *self, GString *out)
{
  const KvasirMaskShot *shot = self->shot;
  guint first = shot->n_rows > MAX_ROWS ? shot->n_rows - MAX_ROWS : 0;
  g_string_append_printf (out, _ ("mask of ubatch %s, "), kvasir_format_count (shot->ubatch).s);
  kvasir_mask_panel_append_cache (self, out);
  g_string_append_printf (out, _ (": %s tokens × %s cells\n"), kvasir_format_count (shot->n_rows).s,
                          kvasir_format_count (shot->n_kv).s);
  append_blocks (self, out);
  if (first > 0)
    g_string_append_printf (out, _ ("the last %u rows:\n"), MAX_ROWS);
  for (guint row = first; row < shot->n_rows; row++)
    append_row (self, row, out);
}

void
kvasir_mask_view_append_text (KvasirView *view, GString *out)
{
  const KvasirMaskView *self = (KvasirMaskView *) view;
  for (guint i = 0; i < self->n_panels; i++)
    {
      g_string_append (out, i > 0 ? "\n" : "");
      append_panel (&self->panels[i], out);
    }
}
