#include "viz/legend.h"

#define ROW_HEIGHT 21
#define SWATCH_SIZE 13

typedef enum
{
  ROW_HEAD,
  ROW_NOTE,
  ROW_ENTRY,
  ROW_TOTAL,
  ROW_SPACE
} RowKind;

typedef struct
{
  RowKind kind;
  KvasirRect rect;
  KvasirSwatch swatch;
  KvasirRgb rgb;
  KvasirThing thing;
  char *name;  /* (owned) (nullable) */
  char *value; /* (owned) (nullable) */
} Row;

struct _KvasirLegend
{
  GArray *rows; /* (owned) of Row */
  double x, y, width, unit;
};

static void
row_clear (gpointer data)
{
  Row *row = data;
  g_free (row->name);
  g_free (row->value);
}

KvasirLegend *
kvasir_legend_new (void)
{
  KvasirLegend *self = g_new0 (KvasirLegend, 1);
  self->rows = g_array_new (FALSE, TRUE, sizeof (Row));
  g_array_set_clear_func (self->rows, row_clear);
  return self;
}

void
kvasir_legend_free (KvasirLegend *self)
{
  g_array_unref (self->rows);
  g_free (self);
}

void
kvasir_legend_begin (KvasirLegend *self, double x, double y, double width, double unit)
{
  g_array_set_size (self->rows, 0);
  self->x = x;
  self->y = y;
  self->width = width;
  self->unit = unit;
}

static Row *
add_row (KvasirLegend *self, RowKind kind, double height, const char *name, const char *value)
{
  g_array_set_size (self->rows, self->rows->len + 1);
  Row *row = &g_array_index (self->rows, Row, self->rows->len - 1);
  row->kind = kind;
  row->rect = (KvasirRect){ self->x, self->y, self->width, height };
  row->name = g_strdup (name);
  row->value = g_strdup (value);
  self->y += height;
  return row;
}

void
kvasir_legend_add_head (KvasirLegend *self, const char *name)
{
  if (self->rows->len > 0)
    self->y += 8 * self->unit;
  add_row (self, ROW_HEAD, ROW_HEIGHT * self->unit, name, NULL);
}

void
kvasir_legend_add_note (KvasirLegend *self, const char *text)
{
  add_row (self, ROW_NOTE, ROW_HEIGHT * 0.8 * self->unit, text, NULL);
}

void
kvasir_legend_add (KvasirLegend *self,
                   KvasirSwatch swatch,
                   KvasirRgb rgb,
                   const KvasirThing *thing,
                   const char *name,
                   const char *value)
{
  Row *row = add_row (self, ROW_ENTRY, ROW_HEIGHT * self->unit, name, value);
  row->swatch = swatch;
  row->rgb = rgb;
  if (thing != NULL)
    row->thing = *thing;
}

void
kvasir_legend_add_total (KvasirLegend *self, const char *name, const char *value)
{
  self->y += 4 * self->unit;
  add_row (self, ROW_TOTAL, ROW_HEIGHT * self->unit, name, value);
}

KvasirRect
kvasir_legend_add_space (KvasirLegend *self, double height)
{
  return add_row (self, ROW_SPACE, height, NULL, NULL)->rect;
}

double
kvasir_legend_get_end (const KvasirLegend *self)
{
  return self->y;
}

/* ---- drawing */

static void
draw_notch (KvasirCanvas *canvas, KvasirRect box)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  kvasir_palette_set_source (cr, KVASIR_RGB_PAGE, 1);
  cairo_move_to (cr, box.x, box.y);
  cairo_rel_line_to (cr, box.w * 0.45, 0);
  cairo_rel_line_to (cr, -box.w * 0.45, box.h * 0.45);
  cairo_fill (cr);
}

static void
draw_dotted_frame (KvasirCanvas *canvas, KvasirRect box, KvasirRgb rgb)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  const double dots[] = { 1.5, 1.5 };
  kvasir_palette_set_source (cr, rgb, 1);
  cairo_set_dash (cr, dots, 2, 0);
  cairo_set_line_width (cr, 1.5);
  cairo_rectangle (cr, box.x + 0.75, box.y + 0.75, box.w - 1.5, box.h - 1.5);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

static void
draw_patterned (KvasirCanvas *canvas, const Row *row, KvasirRect box)
{
  const KvasirRect lower = { box.x, box.y + box.h / 2, box.w, box.h / 2 };
  switch (row->swatch)
    {
    case KVASIR_SWATCH_STIPPLE:
      kvasir_canvas_pattern (canvas, KVASIR_PATTERN_STIPPLE, KVASIR_RGB_WHITE, 0.55, lower);
      break;
    case KVASIR_SWATCH_HATCH:
      kvasir_canvas_pattern (canvas, KVASIR_PATTERN_HATCH, KVASIR_RGB_CANVAS, 1, box);
      break;
    case KVASIR_SWATCH_HATCH_UP:
      kvasir_canvas_pattern (canvas, KVASIR_PATTERN_HATCH_UP, KVASIR_RGB_CANVAS, 1, box);
      break;
    case KVASIR_SWATCH_DOTS:
      kvasir_canvas_pattern (canvas, KVASIR_PATTERN_DOTS, KVASIR_RGB_DIM, 1, box);
      break;
    case KVASIR_SWATCH_NOTCH:
      draw_notch (canvas, box);
      break;
    case KVASIR_SWATCH_RING:
      kvasir_canvas_outline (canvas, KVASIR_RGB_WHITE, box, 2);
      break;
    case KVASIR_SWATCH_CORNER:
      kvasir_canvas_fill (canvas, KVASIR_RGB_WHITE,
                          (KvasirRect){ box.x + box.w - 5, box.y + 1, 4, 4 });
      break;
    default:
      break;
    }
}

static void
draw_swatch (KvasirCanvas *canvas, const Row *row, KvasirRect box)
{
  if (row->swatch == KVASIR_SWATCH_LETTER)
    kvasir_canvas_letter (canvas, (guint) row->thing.seq, box.x, box.y + box.h / 2, box.w);
  else if (row->swatch == KVASIR_SWATCH_DOTTED_FRAME)
    draw_dotted_frame (canvas, box, row->rgb);
  else if (row->swatch != KVASIR_SWATCH_NONE)
    {
      kvasir_canvas_fill (canvas, row->rgb, box);
      draw_patterned (canvas, row, box);
      if (row->rgb == KVASIR_RGB_CANVAS)
        kvasir_canvas_outline (canvas, 0x5A5A5A, box, 1);
    }
}

static void
draw_entry (const KvasirLegend *self, KvasirCanvas *canvas, const Row *row)
{
  gboolean total = row->kind == ROW_TOTAL;
  double middle = row->rect.y + row->rect.h / 2;
  double size = SWATCH_SIZE * self->unit;
  double name_x = row->rect.x + (row->swatch != KVASIR_SWATCH_NONE ? size + 8 * self->unit : 0);
  if (total)
    kvasir_canvas_fill (canvas, KVASIR_RGB_RULE,
                        (KvasirRect){ row->rect.x, row->rect.y - 2, row->rect.w, 2 });
  draw_swatch (canvas, row, (KvasirRect){ row->rect.x, (int) (middle - size / 2), size, size });
  double value_width = 0;
  if (row->value != NULL)
    {
      kvasir_canvas_set_pen (canvas, total ? KVASIR_STYLE_MONO_STRONG : KVASIR_STYLE_MONO,
                             KVASIR_RGB_TEXT);
      value_width =
          kvasir_canvas_text_right (canvas, row->rect.x + row->rect.w, middle, row->value);
    }
  kvasir_canvas_set_pen (canvas, total ? KVASIR_STYLE_STRONG : KVASIR_STYLE_NOTE, KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, name_x, middle,
                              row->rect.x + row->rect.w - value_width - 6 - name_x, row->name);
}

static void
draw_line (KvasirCanvas *canvas, const Row *row, KvasirTextStyle style, KvasirRgb rgb)
{
  kvasir_canvas_set_pen (canvas, style, rgb);
  kvasir_canvas_text_clipped (canvas, row->rect.x, row->rect.y + row->rect.h / 2, row->rect.w,
                              row->name);
}

static void
draw_row (const KvasirLegend *self, KvasirCanvas *canvas, const Row *row)
{
  switch (row->kind)
    {
    case ROW_HEAD:
      draw_line (canvas, row, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
      break;
    case ROW_NOTE:
      draw_line (canvas, row, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
      break;
    case ROW_ENTRY:
    case ROW_TOTAL:
      draw_entry (self, canvas, row);
      break;
    case ROW_SPACE:
      break;
    }
}

void
kvasir_legend_draw (const KvasirLegend *self, KvasirCanvas *canvas)
{
  for (guint i = 0; i < self->rows->len; i++)
    draw_row (self, canvas, &g_array_index (self->rows, Row, i));
}

static const Row *
get_row (const KvasirLegend *self, guint index)
{
  return &g_array_index (self->rows, Row, index);
}

static const Row *
find_row_at (const KvasirLegend *self, double x, double y)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (get_row (self, i)->thing.kind != KVASIR_THING_NONE &&
        kvasir_rect_has (&get_row (self, i)->rect, x, y))
      return get_row (self, i);
  return NULL;
}

gboolean
kvasir_legend_hit (const KvasirLegend *self, double x, double y, KvasirThing *thing)
{
  const Row *row = find_row_at (self, x, y);
  if (row != NULL)
    *thing = row->thing;
  return row != NULL;
}

static const Row *
find_row_of (const KvasirLegend *self, const KvasirThing *thing)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (kvasir_thing_equal (&get_row (self, i)->thing, thing))
      return get_row (self, i);
  return NULL;
}

gboolean
kvasir_legend_find (const KvasirLegend *self, const KvasirThing *thing, KvasirRect *rect)
{
  const Row *row = thing->kind != KVASIR_THING_NONE ? find_row_of (self, thing) : NULL;
  if (row != NULL)
    *rect = row->rect;
  return row != NULL;
}

void
kvasir_legend_append_text (const KvasirLegend *self, GString *out)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      const Row *row = &g_array_index (self->rows, Row, i);
      gboolean picture = i + 1 < self->rows->len && row[1].kind == ROW_SPACE;
      if (row->kind == ROW_SPACE || (row->kind == ROW_HEAD && picture))
        continue;
      if (row->swatch == KVASIR_SWATCH_LETTER)
        g_string_append_printf (out, "%s ", kvasir_palette_get_letter ((guint) row->thing.seq).s);
      g_string_append (out, row->name);
      if (row->value != NULL)
        g_string_append_printf (out, ": %s", row->value);
      g_string_append_c (out, '\n');
    }
}
