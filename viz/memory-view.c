/* The Memory view: what stands where, hit tests and cursor. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/memory-private.h"

#define MARGIN 14
#define MIN_LAYER_HEIGHT 40
#define MAX_LAYER_HEIGHT 120

static KvasirMemoryView *
memory_view (KvasirView *view)
{
  return (KvasirMemoryView *) view;
}

static void
part_clear (gpointer data)
{
  KvasirMemoryPart *part = data;
  g_free (part->label);
  g_free (part->text);
}

static void
text_clear (gpointer data)
{
  g_free (((KvasirMemoryText *) data)->text);
}

static void
memory_view_free (KvasirView *view)
{
  KvasirMemoryView *self = memory_view (view);
  kvasir_memory_sums_free (self->sums);
  kvasir_legend_free (self->facts);
  g_array_unref (self->parts);
  g_array_unref (self->texts);
}

KvasirMemoryPart *
kvasir_memory_view_add_part (KvasirMemoryView *self, KvasirRect rect, KvasirRgb rgb)
{
  KvasirMemoryPart part = { .rect = rect, .rgb = rgb, .pattern = -1 };
  g_array_append_val (self->parts, part);
  return &g_array_index (self->parts, KvasirMemoryPart, self->parts->len - 1);
}

void
kvasir_memory_view_add_text (
    KvasirMemoryView *self, double x, double y, KvasirTextStyle style, gint align, char *text)
{
  gboolean strong = style == KVASIR_STYLE_TITLE || style == KVASIR_STYLE_STRONG;
  KvasirMemoryText entry = { x, y, style, strong ? KVASIR_RGB_LABEL : KVASIR_RGB_DIM, align, text };
  g_array_append_val (self->texts, entry);
}

/* ---- layout */

/* Weights that are read from their file; packed or copied ones are in memory anyway. */
static guint64
count_mapped (const KvasirMemorySums *sums)
{
  guint64 n_bytes = 0;
  for (guint i = 0; i < sums->n_types; i++)
    n_bytes += sums->types[i].mapped ? sums->types[i].kinds[KVASIR_KIND_WEIGHTS] : 0;
  return n_bytes;
}

static void
fill_facts (KvasirMemoryView *self, double x, double y, double width)
{
  const KvasirMemoryShot *shot = self->base.data.memory;
  guint64 weights = count_mapped (self->sums);
  g_autofree char *live = g_strdup_printf ("%s / %s", kvasir_format_mib (shot->live_bytes).s,
                                           kvasir_format_mib (self->sums->kv_bytes).s);
  g_autofree char *resident = g_strdup_printf (
      "%s / %s", kvasir_format_mib (shot->weights_resident_bytes).s, kvasir_format_mib (weights).s);
  kvasir_legend_begin (self->facts, x, y, width, self->unit);
  kvasir_legend_add_head (self->facts, _ ("Now, in MiB"));
  if (self->sums->kv_bytes > 0)
    kvasir_legend_add (self->facts, KVASIR_SWATCH_PLAIN, kvasir_palette_get_kind (KVASIR_KIND_KV_K),
                       NULL, _ ("KV cache, live / reserved"), live);
  if (weights > 0)
    kvasir_legend_add (self->facts, KVASIR_SWATCH_HATCH,
                       kvasir_palette_get_kind (KVASIR_KIND_WEIGHTS), NULL,
                       _ ("mapped file, resident / all"), resident);
  kvasir_legend_add (self->facts, KVASIR_SWATCH_PLAIN, KVASIR_RGB_SWATCH, NULL,
                     _ ("this process, resident"),
                     kvasir_format_mib (shot->process_resident_bytes).s);
}

static guint
count_kinds (const KvasirMemorySums *sums)
{
  guint n = 0;
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    n += sums->measured[kind] > 0 || sums->planned[kind] > 0;
  return n;
}

/* The table and the facts stand side by side where both fit. Returns the end. */
static double
place_bottom (KvasirMemoryView *self, double y)
{
  double width = self->base.width - 2 * MARGIN;
  double table_height = (24 + (count_kinds (self->sums) + 1) * 21 + 8) * self->unit;
  double table_width = MIN (width, 400 * self->unit);
  gboolean beside = width >= table_width + 250 * self->unit;
  self->table = (KvasirRect){ MARGIN, y, table_width, table_height };
  if (beside)
    fill_facts (self, MARGIN + table_width + 40, y,
                MIN (width - table_width - 40, 330 * self->unit));
  else
    fill_facts (self, MARGIN, y + table_height + 10, table_width);
  return MAX (y + table_height, kvasir_legend_get_end (self->facts)) + MARGIN;
}

static double
place_all (KvasirMemoryView *self, double layer_height)
{
  g_array_set_size (self->parts, 0);
  g_array_set_size (self->texts, 0);
  double y = kvasir_memory_view_add_devices (self, 14 * self->unit);
  y = kvasir_memory_view_add_live (self, y);
  y = kvasir_memory_view_add_icicle (self, y);
  y = kvasir_memory_view_add_layers (self, y, layer_height);
  return place_bottom (self, y);
}

static void
memory_view_layout (KvasirView *view)
{
  KvasirMemoryView *self = memory_view (view);
  g_clear_pointer (&self->sums, kvasir_memory_sums_free);
  if (view->data.memory == NULL || view->data.memory->n_rows == 0)
    return;
  view->has_data = TRUE;
  self->unit = kvasir_view_units (view, 1);
  self->sums = kvasir_memory_sums_new (view->data.memory);
  double least = MIN_LAYER_HEIGHT * self->unit;
  view->min_height = place_all (self, least);
  if (view->height > view->min_height)
    place_all (self, MIN (least + view->height - view->min_height, MAX_LAYER_HEIGHT * self->unit));
}

/* ---- points and cursor */

static const KvasirMemoryPart *
get_part (const KvasirMemoryView *self, const KvasirThing *thing)
{
  if (thing->kind != KVASIR_THING_BYTES || thing->index >= self->parts->len)
    return NULL;
  return &g_array_index (self->parts, KvasirMemoryPart, thing->index);
}

static gboolean
memory_view_hit (KvasirView *view, double x, double y, KvasirThing *thing)
{
  KvasirMemoryView *self = memory_view (view);
  for (guint i = 0; i < self->parts->len; i++)
    {
      const KvasirMemoryPart *part = &g_array_index (self->parts, KvasirMemoryPart, i);
      /* A thin part can still be met. */
      double grow = MAX (3 - part->rect.w, 0) / 2;
      KvasirRect rect = { part->rect.x - grow, part->rect.y, part->rect.w + 2 * grow,
                          part->rect.h };
      if (!kvasir_rect_has (&rect, x, y))
        continue;
      *thing = (KvasirThing){ KVASIR_THING_BYTES, .index = i };
      return TRUE;
    }
  return FALSE;
}

static gboolean
memory_view_draw_mark (KvasirView *view,
                       KvasirCanvas *canvas,
                       const KvasirThing *thing,
                       gboolean locked)
{
  const KvasirMemoryPart *part = get_part (memory_view (view), thing);
  if (part == NULL)
    return FALSE;
  KvasirRect rect = { part->rect.x - 2, part->rect.y - 2, MAX (part->rect.w, 1) + 4,
                      part->rect.h + 4 };
  kvasir_canvas_outline (canvas, 0x000000,
                         (KvasirRect){ rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2 },
                         locked ? 4 : 3);
  kvasir_canvas_outline (canvas, KVASIR_RGB_WHITE, rect, locked ? 2 : 1);
  return TRUE;
}

/* How far it is from one part to another below (1) or above (-1); G_MAXDOUBLE: it is neither. */
static double
get_distance (const KvasirMemoryView *self, guint from, guint to, gint direction)
{
  const KvasirRect *a = &g_array_index (self->parts, KvasirMemoryPart, from).rect;
  const KvasirRect *b = &g_array_index (self->parts, KvasirMemoryPart, to).rect;
  double dy = (b->y - a->y) * direction;
  double dx = fabs (b->x + b->w / 2 - a->x - a->w / 2);
  return dy > 1 ? dy * 100 + dx : G_MAXDOUBLE;
}

static guint
find_across (const KvasirMemoryView *self, guint from, gint direction)
{
  double best = G_MAXDOUBLE;
  guint found = from;
  for (guint i = 0; i < self->parts->len; i++)
    {
      double distance = get_distance (self, from, i, direction);
      found = distance < best ? i : found;
      best = MIN (distance, best);
    }
  return found;
}

static gboolean
memory_view_move (KvasirView *view, KvasirThing *thing, KvasirMove move)
{
  KvasirMemoryView *self = memory_view (view);
  guint last = self->parts->len - 1;
  if (get_part (self, thing) == NULL)
    {
      *thing = (KvasirThing){ KVASIR_THING_BYTES };
      return TRUE;
    }
  switch (move)
    {
    case KVASIR_MOVE_LEFT:
      thing->index -= thing->index > 0;
      break;
    case KVASIR_MOVE_RIGHT:
      thing->index += thing->index < last;
      break;
    case KVASIR_MOVE_UP:
    case KVASIR_MOVE_PAGE_UP:
      thing->index = find_across (self, thing->index, -1);
      break;
    case KVASIR_MOVE_DOWN:
    case KVASIR_MOVE_PAGE_DOWN:
      thing->index = find_across (self, thing->index, 1);
      break;
    case KVASIR_MOVE_FIRST:
      thing->index = 0;
      break;
    case KVASIR_MOVE_LAST:
      thing->index = last;
      break;
    }
  return TRUE;
}

static gboolean
memory_view_translate (KvasirView *view, const KvasirThing *thing, KvasirThing *translated)
{
  *translated = *thing;
  return get_part (memory_view (view), thing) != NULL;
}

static const KvasirViewClass memory_view_class = {
  .needs = KVASIR_VIEW_MEMORY,
  .free = memory_view_free,
  .layout = memory_view_layout,
  .draw = kvasir_memory_view_draw,
  .hit = memory_view_hit,
  .draw_mark = memory_view_draw_mark,
  .move = memory_view_move,
  .translate = memory_view_translate,
  .describe = kvasir_memory_view_describe,
  .append_text = kvasir_memory_view_append_text,
};

KvasirView *
kvasir_memory_view_new (void)
{
  KvasirMemoryView *self = g_new0 (KvasirMemoryView, 1);
  kvasir_view_init (&self->base, &memory_view_class);
  self->parts = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryPart));
  self->texts = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryText));
  g_array_set_clear_func (self->parts, part_clear);
  g_array_set_clear_func (self->texts, text_clear);
  self->facts = kvasir_legend_new ();
  return &self->base;
}
