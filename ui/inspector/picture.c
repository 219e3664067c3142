#include "ui/inspector/picture.h"

#include <string.h>

/* Rows of a band, in units of the window: few enough that a line of text that changed leaves most
 * of a picture alone, and enough that a picture is not many nodes. */
#define BAND_HEIGHT 24

typedef struct
{
  GskRenderNode *node;    /* (owned) (nullable) */
  cairo_surface_t *shown; /* (owned): what the node paints */
  cairo_surface_t *spare; /* (owned) (nullable): what an earlier node painted */
} Band;

struct _KvasirPicture
{
  gint width, height, scale;
  cairo_surface_t *canvas; /* (owned) (nullable) */
  GArray *bands;           /* (owned) of Band, from the top */
};

static void
band_clear (gpointer data)
{
  Band *band = data;

  g_clear_pointer (&band->node, gsk_render_node_unref);
  g_clear_pointer (&band->shown, cairo_surface_destroy);
  g_clear_pointer (&band->spare, cairo_surface_destroy);
}

KvasirPicture *
kvasir_picture_new (void)
{
  KvasirPicture *self = g_new0 (KvasirPicture, 1);

  self->bands = g_array_new (FALSE, TRUE, sizeof (Band));
  g_array_set_clear_func (self->bands, band_clear);
  return self;
}

void
kvasir_picture_free (KvasirPicture *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->canvas, cairo_surface_destroy);
  g_array_unref (self->bands);
  g_free (self);
}

/* ---- nodes
 *
 * A surface that is painted into a node is copied by cairo, for it could change later. Ours do not
 * while a node has them, so the node gets a pattern that only refers to its surface. */

static cairo_surface_t *
acquire_cb (cairo_pattern_t *pattern,
            void *data,
            cairo_surface_t *target,
            const cairo_rectangle_int_t *extents)
{
  return cairo_surface_reference (data);
}

static void
release_cb (cairo_pattern_t *pattern, void *data, cairo_surface_t *surface)
{
  cairo_surface_destroy (surface);
}

static cairo_status_t
copy_cb (cairo_pattern_t *pattern, void *data, const cairo_pattern_t *other)
{
  cairo_surface_reference (data);
  return CAIRO_STATUS_SUCCESS;
}

static void
finish_cb (cairo_pattern_t *pattern, void *data)
{
  cairo_surface_destroy (data);
}

static cairo_pattern_t *
make_pattern (cairo_surface_t *surface)
{
  cairo_pattern_t *pattern = cairo_pattern_create_raster_source (
      cairo_surface_reference (surface), CAIRO_CONTENT_COLOR,
      cairo_image_surface_get_width (surface), cairo_image_surface_get_height (surface));

  cairo_raster_source_pattern_set_acquire (pattern, acquire_cb, release_cb);
  cairo_raster_source_pattern_set_copy (pattern, copy_cb);
  cairo_raster_source_pattern_set_finish (pattern, finish_cb);
  cairo_pattern_set_filter (pattern, CAIRO_FILTER_NEAREST);
  return pattern;
}

static GskRenderNode *
make_node (const KvasirPicture *self, cairo_surface_t *surface, gint y)
{
  const gint height = cairo_image_surface_get_height (surface) / self->scale;
  GskRenderNode *node = gsk_cairo_node_new (&GRAPHENE_RECT_INIT (0, y, self->width, height));
  cairo_t *cr = gsk_cairo_node_get_draw_context (node);
  cairo_pattern_t *pattern = make_pattern (surface);
  cairo_matrix_t matrix;

  cairo_matrix_init_scale (&matrix, self->scale, self->scale);
  cairo_matrix_translate (&matrix, 0, -y);
  cairo_pattern_set_matrix (pattern, &matrix);
  cairo_set_source (cr, pattern);
  cairo_paint (cr);
  cairo_pattern_destroy (pattern);
  cairo_destroy (cr);
  return node;
}

/* ---- bands */

static void
set_size (KvasirPicture *self, gint width, gint height, gint scale)
{
  if (self->canvas != NULL && self->width == width && self->height == height &&
      self->scale == scale)
    return;
  self->width = width;
  self->height = height;
  self->scale = scale;
  g_clear_pointer (&self->canvas, cairo_surface_destroy);
  self->canvas = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width * scale, height * scale);
  cairo_surface_set_device_scale (self->canvas, scale, scale);
  g_array_set_size (self->bands, 0);
  g_array_set_size (self->bands, (guint) (height + BAND_HEIGHT - 1) / BAND_HEIGHT);
}

static gsize
get_band_bytes (cairo_surface_t *surface)
{
  return (gsize) cairo_image_surface_get_stride (surface) *
         (gsize) cairo_image_surface_get_height (surface);
}

/* One that no node has any more: the spare one, as soon as GTK let go of the node before the last.
 */
static cairo_surface_t *
take_surface (const KvasirPicture *self, Band *band, gint n_rows)
{
  cairo_surface_t *spare = g_steal_pointer (&band->spare);

  if (spare != NULL && cairo_surface_get_reference_count (spare) == 1)
    return spare;
  g_clear_pointer (&spare, cairo_surface_destroy);
  return cairo_image_surface_create (CAIRO_FORMAT_RGB24, self->width * self->scale, n_rows);
}

static gboolean
update_band (KvasirPicture *self, guint index)
{
  Band *band = &g_array_index (self->bands, Band, index);
  const gint y = (gint) index * BAND_HEIGHT;
  const gint n_rows = MIN (BAND_HEIGHT, self->height - y) * self->scale;
  const guchar *pixels = cairo_image_surface_get_data (self->canvas) +
                         y * self->scale * cairo_image_surface_get_stride (self->canvas);
  cairo_surface_t *surface;

  if (band->shown != NULL && memcmp (cairo_image_surface_get_data (band->shown), pixels,
                                     get_band_bytes (band->shown)) == 0)
    return FALSE;
  surface = take_surface (self, band, n_rows);
  g_clear_pointer (&band->node, gsk_render_node_unref);
  band->spare = band->shown;
  band->shown = surface;
  if (cairo_surface_status (surface) != CAIRO_STATUS_SUCCESS)
    return TRUE;
  memcpy (cairo_image_surface_get_data (surface), pixels, get_band_bytes (surface));
  cairo_surface_mark_dirty (surface);
  band->node = make_node (self, surface, y);
  return TRUE;
}

gboolean
kvasir_picture_draw (KvasirPicture *self, KvasirView *view, gint width, gint height, gint scale)
{
  gboolean changed = FALSE;
  cairo_t *cr;

  set_size (self, width, height, scale);
  cr = cairo_create (self->canvas);
  kvasir_view_draw (view, cr);
  cairo_destroy (cr);
  cairo_surface_flush (self->canvas);
  if (cairo_surface_status (self->canvas) != CAIRO_STATUS_SUCCESS)
    return FALSE;
  for (guint i = 0; i < self->bands->len; i++)
    changed = update_band (self, i) || changed;
  return changed;
}

void
kvasir_picture_snapshot (KvasirPicture *self, GtkSnapshot *snapshot)
{
  for (guint i = 0; i < self->bands->len; i++)
    {
      GskRenderNode *node = g_array_index (self->bands, Band, i).node;
      if (node != NULL)
        gtk_snapshot_append_node (snapshot, node);
    }
}
