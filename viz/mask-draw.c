/* The Mask view: labels, brackets, blocks, and the walk through the tests over the picture. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/mask-private.h"

#define MIN_BLOCK_WIDTH 7

/* ---- labels */

static void
draw_row_label (const KvasirMaskPanel *self, KvasirCanvas *canvas, guint row, double y)
{
  const KvasirMaskShot *shot = self->shot;
  double unit = kvasir_canvas_get_unit (canvas);
  double x = self->plot.x - 10;
  gint seq = kvasir_mask_model_get_row_seq (self->model, row);
  gboolean chosen =
      self == kvasir_mask_view_get_panel (self->view) && row == kvasir_mask_panel_get_row (self);
  g_autofree char *text = kvasir_view_dup_token_text (&self->view->base, shot->row_tokens[row]);
  if (seq >= 0)
    {
      kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG,
                             kvasir_palette_get_sequence ((guint) seq));
      kvasir_canvas_text_right (canvas, x, y, kvasir_palette_get_letter ((guint) seq).s);
    }
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, chosen ? KVASIR_RGB_TEXT : KVASIR_RGB_DIM);
  kvasir_canvas_text_right (canvas, x - 16 * unit, y, kvasir_format_count (shot->row_pos[row]).s);
  KvasirTextStyle style = chosen ? KVASIR_STYLE_STRONG : KVASIR_STYLE_NOTE;
  double space = x - 56 * unit - 8;
  kvasir_canvas_set_pen (canvas, style, chosen ? KVASIR_RGB_WHITE : KVASIR_RGB_LABEL);
  double width = MIN (kvasir_canvas_measure (canvas, style, g_strchug (text)), space);
  kvasir_canvas_text_clipped (canvas, x - 56 * unit - width, y, width, text);
}

static void
draw_row_labels (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  double height = self->row_px / kvasir_canvas_get_scale (canvas);
  double distance = 12.5 * kvasir_canvas_get_unit (canvas);
  guint step = 1;
  while (step * height < distance)
    step *= 2;
  for (guint row = 0; row < self->shot->n_rows; row += step)
    draw_row_label (self, canvas, row,
                    kvasir_mask_panel_get_row_y (self, row) + MAX (height, distance) / 2);
}

static void
draw_column_bracket (const KvasirMaskPanel *self,
                     KvasirCanvas *canvas,
                     const KvasirSeqSet *set,
                     const guint cells[2])
{
  double from = kvasir_mask_panel_get_x (self, cells[0]) + 1;
  double to = kvasir_mask_panel_get_x (self, cells[1]) - 1;
  KvasirRgb rgb = kvasir_palette_get_sequence ((guint) kvasir_palette_next_seq (set, -1));
  double y = self->bracket_y;
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_palette_append_letters (text, set, " ", 4);
  if (to - from < 3)
    return;
  double label = kvasir_canvas_measure (canvas, KVASIR_STYLE_STRONG, text->str) + 12;
  kvasir_canvas_fill (canvas, rgb, (KvasirRect){ from, y, 1.5, 7 });
  kvasir_canvas_fill (canvas, rgb, (KvasirRect){ to - 1.5, y, 1.5, 7 });
  if (to - from < label + 8)
    {
      kvasir_canvas_fill (canvas, rgb, (KvasirRect){ from, y, to - from, 1.5 });
      return;
    }
  double half = (to - from - label) / 2;
  kvasir_canvas_fill (canvas, rgb, (KvasirRect){ from, y, half, 1.5 });
  kvasir_canvas_fill (canvas, rgb, (KvasirRect){ to - half, y, half, 1.5 });
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, rgb);
  kvasir_canvas_text_middle (canvas, (from + to) / 2, y, text->str);
}

static void
draw_column_brackets (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  const KvasirMaskModel *model = self->model;
  for (guint i = 0; i < model->n_columns;)
    {
      const KvasirMaskColumns *first = &model->columns[i];
      guint j = i + 1;
      while (j < model->n_columns && kvasir_seq_set_equal (&model->columns[j].set, &first->set))
        j++;
      const KvasirMaskColumns *last = &model->columns[j - 1];
      if (first->pos >= 0)
        draw_column_bracket (self, canvas, &first->set,
                             (const guint[2]){ first->cell, last->cell + last->n });
      i = j;
    }
}

static void
draw_row_brackets (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  guint n_rows = self->shot->n_rows;
  for (guint first = 0; first < n_rows;)
    {
      gint seq = kvasir_mask_model_get_row_seq (self->model, first);
      guint end = first + 1;
      while (end < n_rows && kvasir_mask_model_get_row_seq (self->model, end) == seq)
        end++;
      KvasirRgb rgb = seq >= 0 ? kvasir_palette_get_sequence ((guint) seq) : KVASIR_RGB_DIM;
      double top = kvasir_mask_panel_get_row_y (self, first) + 0.5;
      double bottom = kvasir_mask_panel_get_row_y (self, end) - 0.5;
      double x = self->plot.x - 6;
      kvasir_canvas_fill (canvas, rgb, (KvasirRect){ x, top, 1.5, bottom - top });
      kvasir_canvas_fill (canvas, rgb, (KvasirRect){ x, top, 4, 1.5 });
      kvasir_canvas_fill (canvas, rgb, (KvasirRect){ x, bottom - 1.5, 4, 1.5 });
      first = end;
    }
}

static void
draw_ticks (const KvasirMaskPanel *self, KvasirCanvas *canvas, double y, gboolean marks)
{
  guint n_kv = self->shot->n_kv;
  double unit = kvasir_canvas_get_unit (canvas);
  guint step = 64;
  while (step * self->plot.w < 62 * unit * n_kv)
    step *= 2;
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  for (guint cell = 0; cell <= n_kv; cell += step)
    {
      double x = kvasir_mask_panel_get_x (self, cell);
      kvasir_canvas_text_middle (canvas, x, y, kvasir_format_count (cell).s);
      if (marks)
        kvasir_canvas_fill (
            canvas, KVASIR_RGB_DIM,
            (KvasirRect){ round (x), y + 8 * unit, 1, self->plot.y - y - 8 * unit });
    }
}

/* ---- blocks */

static void
draw_block_lines (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  double bottom = self->plot.y + self->plot.h;
  double width = kvasir_mask_panel_get_x (self, KVASIR_MASK_BLOCK_CELLS) - self->plot.x;
  double height = kvasir_mask_panel_get_row_y (self, KVASIR_MASK_BLOCK_ROWS) - self->plot.y;
  guint step = width >= MIN_BLOCK_WIDTH ? 1 : 4;
  cairo_save (cr);
  cairo_rectangle (cr, self->plot.x, self->plot.y, self->plot.w + 1, self->plot.h + 1);
  cairo_clip (cr);
  kvasir_palette_set_source (cr, 0x8A8A90, 0.45);
  for (guint i = 0; i <= self->model->n_block_columns; i += step)
    cairo_rectangle (cr, round (self->plot.x + i * width), self->plot.y, 1, bottom - self->plot.y);
  if (height >= MIN_BLOCK_WIDTH)
    for (guint i = 0; i <= self->model->n_block_rows; i++)
      cairo_rectangle (cr, self->plot.x, round (MIN (self->plot.y + i * height, bottom)),
                       self->plot.w, 1);
  cairo_fill (cr);
  cairo_restore (cr);
}

static void
draw_mixed_blocks (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  const double dots[] = { 1.5, 2.5 };
  const KvasirMaskModel *model = self->model;
  double width = kvasir_mask_panel_get_x (self, KVASIR_MASK_BLOCK_CELLS) - self->plot.x;
  double height = KVASIR_MASK_BLOCK_ROWS * (double) self->row_px / self->view->base.scale;
  if (width < MIN_BLOCK_WIDTH || height < MIN_BLOCK_WIDTH)
    return;
  kvasir_palette_set_source (cr, KVASIR_RGB_HORIZON, 1);
  cairo_set_dash (cr, dots, 2, 0);
  cairo_set_line_width (cr, 1.5);
  for (guint row = 0; row < model->n_block_rows; row++)
    for (guint column = 0; column < model->n_block_columns; column++)
      if (model->blocks[row * model->n_block_columns + column] == KVASIR_BLOCK_MIXED)
        {
          double y = self->plot.y + row * height;
          double right = MIN (self->plot.x + (column + 1) * width, self->plot.x + self->plot.w);
          double bottom = MIN (y + height, self->plot.y + self->plot.h);
          double x = self->plot.x + column * width;
          cairo_rectangle (cr, x + 1.5, y + 1.5, right - x - 2, bottom - y - 2);
        }
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

static void
draw_skipped (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  double unit = kvasir_canvas_get_unit (canvas);
  KvasirRect box = self->view->skipped;
  guint all = self->model->n_block_rows * self->model->n_block_columns;
  g_autofree char *text = g_strdup_printf (
      _ ("%u %% of blocks"), self->model->n_blocks[KVASIR_BLOCK_CLOSED] * 100 / MAX (all, 1u));
  kvasir_canvas_fill_round (canvas, 0x224A38, box, 6);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_TEXT);
  kvasir_canvas_text (canvas, box.x + 12 * unit, box.y + 15 * unit, text);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, box.x + 12 * unit, box.y + 32 * unit, box.w - 20 * unit,
                              _ ("can be skipped"));
}

/* ---- all of it */

static void
draw_heads (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  const KvasirMaskShot *shot = self->shot;
  double unit = kvasir_canvas_get_unit (canvas);
  double y = self->head_y;
  double right = self->plot.x + self->plot.w;
  g_autoptr (GString) head = g_string_new (NULL);
  g_autofree char *note = g_strdup_printf (
      ngettext ("%s token × %s cells · row = who asks, column = who is read",
                "%s tokens × %s cells · row = who asks, column = who is read", shot->n_rows),
      kvasir_format_count (shot->n_rows).s, kvasir_format_count (shot->n_kv).s);
  g_string_append_printf (head, _ ("Mask of ubatch %s, "), kvasir_format_count (shot->ubatch).s);
  kvasir_mask_panel_append_cache (self, head);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
  double width = kvasir_canvas_text_clipped (canvas, 14, y, right - 14, head->str);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
  kvasir_canvas_text_clipped (canvas, 14 + width + 16 * unit, y, right - width - 30 * unit, note);
}

static void
draw_waterfall_words (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double y = self->waterfall.y - 14 * unit;
  double bottom = self->waterfall.y + self->waterfall.h;
  g_autofree char *note = g_strdup_printf (
      ngettext ("the last single-token step",
                "the last %u single-token steps, newest at the bottom", self->n_steps),
      self->n_steps);
  g_autofree char *oldest = g_strdup_printf ("−%u", self->n_steps - 1);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
  double width = kvasir_canvas_text (canvas, 14, y, _ ("Decode waterfall"));
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
  kvasir_canvas_text_clipped (canvas, 14 + width + 16 * unit, y,
                              self->plot.x + self->plot.w - width - 30 * unit, note);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  if (self->waterfall.h >= 26 * unit)
    kvasir_canvas_text_right (canvas, self->plot.x - 10, self->waterfall.y + 7 * unit, oldest);
  kvasir_canvas_text_right (canvas, self->plot.x - 10,
                            MAX (bottom - 7 * unit, self->waterfall.y + self->waterfall.h / 2),
                            _ ("now"));
  draw_ticks (self, canvas, bottom + 11 * unit, FALSE);
}

static void
draw_panel (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  draw_heads (self, canvas);
  draw_column_brackets (self, canvas);
  draw_ticks (self, canvas, self->axis_y, TRUE);
  kvasir_mask_panel_draw_plot (self, canvas);
  draw_block_lines (self, canvas);
  draw_mixed_blocks (self, canvas);
  draw_row_brackets (self, canvas);
  draw_row_labels (self, canvas);
  if (self->n_steps > 0)
    {
      kvasir_mask_panel_draw_waterfall (self, canvas);
      draw_waterfall_words (self, canvas);
    }
}

void
kvasir_mask_view_draw (KvasirView *view, KvasirCanvas *canvas)
{
  KvasirMaskView *self = (KvasirMaskView *) view;
  for (guint i = 0; i < self->n_panels; i++)
    draw_panel (&self->panels[i], canvas);
  kvasir_legend_draw (self->legend, canvas);
  draw_skipped (kvasir_mask_view_get_panel (self), canvas);
}

/* ---- the tooltip */

typedef struct
{
  char *title; /* (owned) */
  KvasirMaskTest tests[4];
  guint n_tests;
  gboolean open;
} Tooltip;

static Tooltip
make_tooltip (const KvasirMaskPanel *self, const KvasirThing *thing)
{
  const KvasirMaskShot *shot = self->shot;
  g_autoptr (GString) title = g_string_new (NULL);
  Tooltip tooltip = { 0 };
  g_string_append_printf (title, _ ("cell %s"), kvasir_format_count (thing->cell).s);
  if (shot->cell_pos[thing->cell] >= 0)
    {
      g_string_append_printf (title, _ (" · position %s · "),
                              kvasir_format_count (shot->cell_pos[thing->cell]).s);
      kvasir_palette_append_letters (title, &shot->cell_seqs[thing->cell], " ", 4);
    }
  g_string_append (title, "  ←  ");
  kvasir_mask_panel_append_row_name (self, thing->row, title);
  tooltip.title = g_strdup (title->str);
  tooltip.n_tests = kvasir_mask_model_explain (self->model, thing->row, thing->cell, tooltip.tests);
  tooltip.open = tooltip.tests[tooltip.n_tests - 1].passed;
  return tooltip;
}

static void
clear_tooltip (Tooltip *tooltip)
{
  g_free (tooltip->title);
  for (guint i = 0; i < tooltip->n_tests; i++)
    g_free (tooltip->tests[i].answer);
}

static double
measure_tooltip (KvasirCanvas *canvas, const Tooltip *tooltip)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double width = kvasir_canvas_measure (canvas, KVASIR_STYLE_MONO_STRONG, tooltip->title);
  for (guint i = 0; i < tooltip->n_tests; i++)
    width = MAX (width, (96 + 70) * unit + kvasir_canvas_measure (canvas, KVASIR_STYLE_MONO_STRONG,
                                                                  tooltip->tests[i].answer));
  return width + 28 * unit;
}

static void
draw_test (KvasirCanvas *canvas, const Tooltip *tooltip, guint index, KvasirRect line)
{
  const KvasirMaskTest *test = &tooltip->tests[index];
  double unit = kvasir_canvas_get_unit (canvas);
  double middle = line.y + line.h / 2;
  char number[4];
  g_snprintf (number, sizeof number, "%u", index + 1);
  if (!test->passed)
    kvasir_canvas_fill_round (canvas, 0x4A3A12,
                              (KvasirRect){ line.x - 6, line.y, line.w + 12, line.h }, 4);
  kvasir_canvas_set_pen (canvas, test->passed ? KVASIR_STYLE_MONO : KVASIR_STYLE_MONO_STRONG,
                         test->passed ? KVASIR_RGB_LABEL : KVASIR_RGB_WHITE);
  kvasir_canvas_text (canvas, line.x, middle, number);
  kvasir_canvas_text (canvas, line.x + 20 * unit, middle, test->question);
  kvasir_canvas_text (canvas, line.x + 96 * unit, middle, test->answer);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO_STRONG,
                         test->passed ? KVASIR_RGB_GOOD : KVASIR_RGB_WARN);
  kvasir_canvas_text_right (canvas, line.x + line.w, middle, test->passed ? "✓" : _ ("closed"));
}

static void
draw_tooltip (const KvasirMaskPanel *self, KvasirCanvas *canvas, const KvasirThing *thing)
{
  Tooltip tooltip = make_tooltip (self, thing);
  double unit = kvasir_canvas_get_unit (canvas);
  double pitch = 19 * unit;
  double x = kvasir_mask_panel_get_x (self, thing->cell + 0.5);
  double y = kvasir_mask_panel_get_row_y (self, thing->row);
  guint n_lines = tooltip.n_tests + 1 + (tooltip.open ? 1 : 0);
  KvasirRect box = { x + 16, y + 14, measure_tooltip (canvas, &tooltip), n_lines * pitch + 14 };
  if (box.x + box.w > self->view->base.width - 6)
    box.x = MAX (x - 16 - box.w, 6);
  if (box.y + box.h > MAX (self->view->base.height, self->view->base.min_height) - 6)
    box.y = MAX (y - 14 - box.h, 6);
  kvasir_canvas_fill_round (canvas, 0x5E5C64,
                            (KvasirRect){ box.x - 1, box.y - 1, box.w + 2, box.h + 2 }, 7);
  kvasir_canvas_fill_round (canvas, 0x101012, box, 6);
  KvasirRect line = { box.x + 12 * unit, box.y + 7, box.w - 24 * unit, pitch };
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO_STRONG, KVASIR_RGB_WHITE);
  kvasir_canvas_text (canvas, line.x, line.y + pitch / 2, tooltip.title);
  for (guint i = 0; i < tooltip.n_tests; i++)
    {
      line.y += pitch;
      draw_test (canvas, &tooltip, i, line);
    }
  if (tooltip.open)
    {
      kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO_STRONG, KVASIR_RGB_GOOD);
      kvasir_canvas_text (canvas, line.x + 20 * unit, line.y + pitch * 1.5, _ ("open, no bias"));
    }
  clear_tooltip (&tooltip);
}

/* ---- marks */

static gboolean
mark_step (const KvasirMaskPanel *self, KvasirCanvas *canvas, const KvasirThing *thing)
{
  guint first = self->shot->n_waterfall - self->n_steps;
  if (thing->row < first || thing->row - first >= self->n_steps)
    return FALSE;
  double x = kvasir_mask_panel_get_x (self, thing->cell + 0.5);
  double y =
      self->waterfall.y + (thing->row - first + 0.5) * self->step_px / self->view->base.scale;
  KvasirRect box = { round (x) - 4, round (y) - 4, 9, 9 };
  kvasir_canvas_outline (canvas, 0x000000, (KvasirRect){ box.x - 1, box.y - 1, 11, 11 }, 1);
  kvasir_canvas_outline (canvas, KVASIR_RGB_WHITE, box, 2);
  return TRUE;
}

gboolean
kvasir_mask_view_draw_mark (KvasirView *view,
                            KvasirCanvas *canvas,
                            const KvasirThing *thing,
                            gboolean locked)
{
  const KvasirMaskPanel *self = kvasir_mask_view_find_panel ((KvasirMaskView *) view, thing);
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  if (self == NULL)
    return FALSE;
  if (thing->kind == KVASIR_THING_DECODE)
    return mark_step (self, canvas, thing);
  if (thing->kind != KVASIR_THING_MASK || thing->row >= self->shot->n_rows ||
      thing->cell >= self->shot->n_kv)
    return FALSE;
  double width = locked ? 2 : 1;
  double x = kvasir_mask_panel_get_x (self, thing->cell + 0.5);
  double y = kvasir_mask_panel_get_row_y (self, thing->row);
  double height = MAX (self->row_px / view->scale, 3);
  kvasir_canvas_outline (canvas, KVASIR_RGB_WHITE,
                         (KvasirRect){ 4, y - 1, self->plot.x + self->plot.w - 4, height + 2 },
                         width);
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 0.6);
  cairo_rectangle (cr, round (x), self->plot.y, 1, self->plot.h);
  cairo_fill (cr);
  kvasir_palette_set_source (cr, 0x000000, 1);
  cairo_set_line_width (cr, 4);
  cairo_arc (cr, x, y + height / 2, 4, 0, 2 * G_PI);
  cairo_stroke_preserve (cr);
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 1);
  cairo_set_line_width (cr, 2);
  cairo_stroke (cr);
  draw_tooltip (self, canvas, thing);
  return TRUE;
}
