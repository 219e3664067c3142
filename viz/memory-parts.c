/* The Memory view: the boxes of its sections. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "viz/format.h"
#include "viz/memory-private.h"

#define MARGIN 14
#define BAR_HEIGHT 26
#define ROW_HEIGHT 20

static double
get_width (const KvasirMemoryView *self)
{
  return self->base.width - 2 * MARGIN;
}

static void
add_head (KvasirMemoryView *self, double y, const char *head, const char *note)
{
  double width = kvasir_canvas_measure (self->base.canvas, KVASIR_STYLE_TITLE, head);
  kvasir_memory_view_add_text (self, MARGIN, y, KVASIR_STYLE_TITLE, -1, g_strdup (head));
  kvasir_memory_view_add_text (self, MARGIN + width + 16 * self->unit, y, KVASIR_STYLE_NOTE, -1,
                               g_strdup (note));
}

/* ---- devices */

typedef struct
{
  KvasirMemoryView *self;
  const char *device;
  double x; /* where the next part begins */
  double y;
  double per_byte;
} DeviceBar;

static KvasirMemoryPart *
add_device_part (DeviceBar *bar, guint64 bytes, KvasirRgb rgb, const char *name)
{
  KvasirMemoryView *self = bar->self;
  double end = bar->x + (double) bytes * bar->per_byte;
  if (bytes == 0)
    return NULL;
  KvasirMemoryPart *part = kvasir_memory_view_add_part (
      self, (KvasirRect){ bar->x, bar->y, end - bar->x, BAR_HEIGHT * self->unit }, rgb);
  part->label = g_strdup (name);
  part->text =
      g_strdup_printf (_ ("%s · %s · %s\n"), bar->device, name, kvasir_format_size (bytes).s);
  bar->x = end;
  return part;
}

static void
add_device_bar (DeviceBar *bar, const KvasirDeviceSum *sum)
{
  const KvasirMemorySums *sums = bar->self->sums;
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    {
      KvasirMemoryPart *part =
          add_device_part (bar, sum->kinds[kind], kvasir_palette_get_kind (kind),
                           kvasir_memory_sums_get_kind_label (kind));
      for (guint i = 0; part != NULL && i < sums->n_types; i++)
        if (sums->types[i].mapped && sums->types[i].kinds[kind] > 0)
          part->pattern = KVASIR_PATTERN_HATCH;
    }
  KvasirMemoryPart *other = add_device_part (bar, sum->other, 0x77767B, _ ("other programs"));
  if (other != NULL)
    other->pattern = KVASIR_PATTERN_HATCH_UP;
  /* Counters that disagree must not push the bar beyond the device. */
  add_device_part (bar, sum->free - MIN (sum->free, sum->disagreement), 0x333333, _ ("free"));
}

double
kvasir_memory_view_add_devices (KvasirMemoryView *self, double y)
{
  const KvasirMemoryShot *shot = self->base.data.memory;
  double width = get_width (self);
  guint64 largest = 1;
  for (guint i = 0; i < shot->n_devices; i++)
    largest = MAX (largest, shot->devices[i].total_bytes);
  add_head (self, y, _ ("Devices"), _ ("one scale for all; hatched weights are a mapped file"));
  for (guint i = 0; i < shot->n_devices; i++)
    {
      const KvasirDeviceShot *device = &shot->devices[i];
      KvasirDeviceSum sum;
      kvasir_memory_sums_get_device (self->sums, device, &sum);
      DeviceBar bar = { self, device->device, MARGIN, y + 36 * self->unit,
                        width / (double) largest };
      double end = MARGIN + (double) device->total_bytes * bar.per_byte;
      kvasir_memory_view_add_text (self, MARGIN, y + 24 * self->unit, KVASIR_STYLE_STRONG, -1,
                                   g_strdup (device->device));
      kvasir_memory_view_add_text (self, end, y + 24 * self->unit, KVASIR_STYLE_MONO, 1,
                                   g_strdup (kvasir_format_size (device->total_bytes).s));
      if (sum.disagreement > 0)
        kvasir_memory_view_add_text (self, MARGIN + 90 * self->unit, y + 24 * self->unit,
                                     KVASIR_STYLE_NOTE, -1,
                                     g_strdup_printf (_ ("the counters disagree by %s"),
                                                      kvasir_format_size (sum.disagreement).s));
      add_device_bar (&bar, &sum);
      y += (BAR_HEIGHT + 22) * self->unit;
    }
  return y + 28 * self->unit;
}

/* ---- reserved and live */

static void
add_kv_bar (KvasirMemoryView *self, double y, const char *name, double share, gboolean dim)
{
  static const KvasirMemoryKind kinds[] = { KVASIR_KIND_KV_K, KVASIR_KIND_KV_V, KVASIR_KIND_SWA_K,
                                            KVASIR_KIND_SWA_V };
  double left = MARGIN + 78 * self->unit;
  double width = get_width (self) - 78 * self->unit;
  double x = left;
  kvasir_memory_view_add_text (self, left - 10, y + ROW_HEIGHT * self->unit / 2,
                               KVASIR_STYLE_STRONG, 1, g_strdup (name));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint64 bytes = self->sums->measured[kinds[i]];
      KvasirRgb rgb = kvasir_palette_get_kind (kinds[i]);
      double w = (double) bytes / (double) self->sums->kv_bytes * width * share;
      if (bytes == 0)
        continue;
      KvasirMemoryPart *part = kvasir_memory_view_add_part (
          self, (KvasirRect){ x, y, w, ROW_HEIGHT * self->unit - 3 },
          dim ? kvasir_palette_mix (KVASIR_RGB_CANVAS, rgb, 0.45) : rgb);
      g_autofree char *size =
          g_strdup (kvasir_format_size ((guint64) ((double) bytes * share + 0.5)).s);
      part->label =
          dim ? g_strdup_printf ("%s %s", kvasir_memory_sums_get_kind_label (kinds[i]), size)
              : NULL;
      part->text = g_strdup_printf ("%s · %s · %s\n", kvasir_memory_sums_get_kind_label (kinds[i]),
                                    name, size);
      x += w;
    }
}

static char *
dup_live_text (const KvasirMemoryView *self)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  guint64 live = self->base.data.memory->live_bytes;
  if (cells == NULL || cells->n_caches != 1)
    return g_strdup (kvasir_format_size (live).s);
  guint64 used = 0;
  for (guint i = 0; i < cells->caches[0].n_streams; i++)
    used += cells->caches[0].streams[i].used;
  /* The two shots may be a step apart; a product that does not hold is not shown. */
  if (used * cells->caches[0].bytes_per_cell != live)
    return g_strdup (kvasir_format_size (live).s);
  return g_strdup_printf (_ ("%s = %s cells × %s"), kvasir_format_size (live).s,
                          kvasir_format_count ((gint64) used).s,
                          kvasir_format_size (cells->caches[0].bytes_per_cell).s);
}

double
kvasir_memory_view_add_live (KvasirMemoryView *self, double y)
{
  guint64 live = self->base.data.memory->live_bytes;
  double share = (double) MIN (live, self->sums->kv_bytes) / (double) MAX (self->sums->kv_bytes, 1);
  if (self->sums->kv_bytes == 0)
    return y;
  add_kv_bar (self, y, _ ("reserved"), 1, TRUE);
  y += ROW_HEIGHT * self->unit;
  add_kv_bar (self, y, _ ("live"), share, FALSE);
  double left = MARGIN + 78 * self->unit;
  double after = left + (get_width (self) - 78 * self->unit) * share + 10;
  gboolean right = after + 220 * self->unit < MARGIN + get_width (self);
  if (right)
    kvasir_memory_view_add_text (self, after, y + ROW_HEIGHT * self->unit / 2 - 1,
                                 KVASIR_STYLE_NOTE, -1, dup_live_text (self));
  return y + (ROW_HEIGHT + 26) * self->unit;
}

/* ---- buffer type, kind, layer */

typedef struct
{
  KvasirMemoryView *self;
  double y;
  double per_byte;
} Icicle;

static KvasirMemoryPart *
add_icicle_part (Icicle *icicle, guint row, double x, guint64 bytes, KvasirRgb rgb)
{
  double height = ROW_HEIGHT * icicle->self->unit;
  return kvasir_memory_view_add_part (
      icicle->self,
      (KvasirRect){ x, icicle->y + row * height, (double) bytes * icicle->per_byte, height - 2 },
      rgb);
}

static void
add_layer_part (Icicle *icicle, double x, const KvasirMemoryRow *row, guint index)
{
  KvasirRgb rgb = kvasir_palette_get_kind (row->kind);
  gboolean window = row->kind == KVASIR_KIND_SWA_K || row->kind == KVASIR_KIND_SWA_V;
  KvasirMemoryPart *part =
      add_icicle_part (icicle, 2, x, row->n_bytes,
                       kvasir_palette_mix (KVASIR_RGB_CANVAS, rgb, index % 2 == 0 ? 0.62 : 0.48));
  if (row->layer >= 0 && kvasir_memory_sums_is_kv (row->kind))
    part->label = g_strdup_printf ("%s%d", window ? "W" : "F", row->layer);
  else if (row->layer >= 0)
    part->label = g_strdup_printf ("%d", row->layer);
  part->text = row->layer >= 0
                   ? g_strdup_printf (_ ("%s · layer %d · %s · buffer type %s\n"),
                                      kvasir_memory_sums_get_kind_label (row->kind), row->layer,
                                      kvasir_format_size (row->n_bytes).s, row->buffer_type)
                   : g_strdup_printf (_ ("%s · %s · buffer type %s\n"),
                                      kvasir_memory_sums_get_kind_label (row->kind),
                                      kvasir_format_size (row->n_bytes).s, row->buffer_type);
}

static void
add_icicle_kind (Icicle *icicle, const KvasirBufferTypeSum *type, guint kind, double x)
{
  const KvasirMemoryShot *shot = icicle->self->base.data.memory;
  guint64 bytes = type->kinds[kind];
  guint n = 0;
  KvasirMemoryPart *part = add_icicle_part (icicle, 1, x, bytes, kvasir_palette_get_kind (kind));
  part->label = g_strdup_printf ("%s %s", kvasir_memory_sums_get_kind_label (kind),
                                 kvasir_format_mib (bytes).s);
  part->pattern = type->mapped ? KVASIR_PATTERN_HATCH : -1;
  part->text = g_strdup_printf (_ ("%s · %s · buffer type %s on %s\n"),
                                kvasir_memory_sums_get_kind_label (kind),
                                kvasir_format_size (bytes).s, type->name, type->device);
  for (guint i = 0; i < shot->n_rows; i++)
    {
      const KvasirMemoryRow *row = &shot->rows[i];
      if (row->kind != kind || strcmp (row->buffer_type, type->name) != 0 ||
          strcmp (row->device, type->device) != 0)
        continue;
      add_layer_part (icicle, x, row, n++);
      x += (double) row->n_bytes * icicle->per_byte;
    }
}

static void
add_icicle_type (Icicle *icicle, const KvasirBufferTypeSum *type, double x)
{
  KvasirMemoryPart *part = add_icicle_part (icicle, 0, x, type->total, 0x5E5C64);
  part->label = g_strdup_printf ("%s · %s", type->name, kvasir_format_size (type->total).s);
  part->text = g_strdup_printf (_ ("buffer type %s on %s · %s%s\n"), type->name, type->device,
                                kvasir_format_size (type->total).s,
                                type->mapped ? _ (" · mapped, resident as far as it is used") : "");
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    if (type->kinds[kind] > 0)
      {
        add_icicle_kind (icicle, type, kind, x);
        x += (double) type->kinds[kind] * icicle->per_byte;
      }
}

double
kvasir_memory_view_add_icicle (KvasirMemoryView *self, double y)
{
  Icicle icicle = { self, y + 16 * self->unit, get_width (self) / (double) self->sums->total };
  double x = MARGIN;
  g_autofree char *note = g_strdup_printf (_ ("width = bytes, %s in all; F full, W window"),
                                           kvasir_format_size (self->sums->total).s);
  add_head (self, y, _ ("By buffer type, kind, layer"), note);
  for (guint i = 0; i < self->sums->n_types; i++)
    {
      add_icicle_type (&icicle, &self->sums->types[i], x);
      x += (double) self->sums->types[i].total * icicle.per_byte;
    }
  return icicle.y + (3 * ROW_HEIGHT + 22) * self->unit;
}

/* ---- layers */

static void
add_layer_bar (KvasirMemoryView *self, guint layer, KvasirRect slot, guint64 largest)
{
  const KvasirLayerSum *sum = &self->sums->layers[layer];
  const guint64 bytes[] = { sum->k, sum->v };
  double bar = MAX (floor (slot.w * 0.34), 1);
  double x = floor (slot.x + slot.w / 2) - bar;
  for (guint i = 0; i < 2; i++)
    {
      KvasirMemoryKind kind = sum->window ? (i == 0 ? KVASIR_KIND_SWA_K : KVASIR_KIND_SWA_V)
                                          : (i == 0 ? KVASIR_KIND_KV_K : KVASIR_KIND_KV_V);
      double height = (double) bytes[i] / (double) largest * slot.h;
      if (bytes[i] == 0)
        continue;
      KvasirMemoryPart *part = kvasir_memory_view_add_part (
          self, (KvasirRect){ x + i * bar, slot.y + slot.h - height, bar, height },
          kvasir_palette_get_kind (kind));
      part->text = g_strdup_printf (_ ("layer %u · %s · K %s + V %s\n"), layer,
                                    sum->window ? _ ("window") : _ ("full attention"),
                                    kvasir_format_size (sum->k).s, kvasir_format_size (sum->v).s);
    }
}

double
kvasir_memory_view_add_layers (KvasirMemoryView *self, double y, double height)
{
  guint n = self->sums->n_layers;
  double slot = get_width (self) / MAX (n, 1);
  double top = y + 16 * self->unit;
  double letters = top + height + 10 * self->unit;
  guint64 largest = 1;
  guint step = 1;
  if (n == 0)
    return y;
  for (guint i = 0; i < n; i++)
    largest = MAX (largest, MAX (self->sums->layers[i].k, self->sums->layers[i].v));
  while (step * slot < 24 * self->unit)
    step *= 5;
  g_autofree char *note = g_strdup_printf (
      _ ("%s over %s"), kvasir_format_size (self->sums->kv_bytes).s, kvasir_format_layers (n).s);
  add_head (self, y, _ ("KV per layer"), note);
  for (guint i = 0; i < n; i++)
    {
      double middle = MARGIN + (i + 0.5) * slot;
      add_layer_bar (self, i, (KvasirRect){ MARGIN + i * slot, top, slot, height }, largest);
      const KvasirLayerSum *layer = &self->sums->layers[i];
      if (slot >= 9 * self->unit)
        kvasir_memory_view_add_text (self, middle, letters, KVASIR_STYLE_NOTE, 0,
                                     g_strdup (layer->k + layer->v == 0 ? "–"
                                               : layer->window          ? "W"
                                                                        : "F"));
      if (i % step == 0)
        kvasir_memory_view_add_text (self, middle, letters + 15 * self->unit, KVASIR_STYLE_TICK, 0,
                                     g_strdup_printf ("%u", i));
    }
  return letters + 36 * self->unit;
}
