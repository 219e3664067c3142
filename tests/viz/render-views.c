/* Draws every view of made-up snapshots into PNG files, to be looked at:
 * render-views FOLDER [WIDTH HEIGHT [SCALE]] */
#include <stdio.h>
#include <stdlib.h>

#include "tests/viz/fake.h"
#include "viz/view.h"

typedef struct
{
  const char *folder;
  double width, height, scale;
} Output;

static void
draw (KvasirView *view,
      const KvasirVizData *data,
      const Output *output,
      const KvasirThing *thing,
      const char *name)
{
  kvasir_view_set_font (view, "Cantarell", 11 * 96 / 72.0);
  kvasir_view_set_token_text (view, fake_dup_token_text, NULL);
  kvasir_view_set_focus (view, thing);
  kvasir_view_update (view, data, output->width, output->height, output->scale);
  double height = MAX (output->height, kvasir_view_get_min_height (view));
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24, (gint) (output->width * output->scale), (gint) (height * output->scale));
  cairo_surface_set_device_scale (surface, output->scale, output->scale);
  cairo_t *cr = cairo_create (surface);
  gint64 start_us = g_get_monotonic_time ();
  kvasir_view_update (view, data, output->width, output->height, output->scale);
  kvasir_view_draw (view, cr);
  gint64 first_us = g_get_monotonic_time ();
  kvasir_view_update (view, data, output->width, output->height, output->scale);
  kvasir_view_draw (view, cr);
  gint64 second_us = g_get_monotonic_time ();
  if (thing != NULL)
    kvasir_view_draw_mark (view, cr, thing, TRUE);
  cairo_destroy (cr);
  g_autofree char *file = g_strdup_printf ("%s/%s-%dx%d.png", output->folder, name,
                                           (gint) output->width, (gint) output->height);
  cairo_surface_write_to_png (surface, file);
  cairo_surface_destroy (surface);
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_view_describe (view, thing, text);
  printf ("%s: first %d us, again %d us, needs height %.0f\n%s", file, (gint) (first_us - start_us),
          (gint) (second_us - first_us), kvasir_view_get_min_height (view), text->str);
}

static void
draw_chat (const Output *output)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirMemoryShot) memory = fake_make_memory (1755 * 23040);
  g_autoptr (KvasirMaskShot) mask = fake_make_mask (fake, 1, 1);
  KvasirVizData data = { cells, mask, memory, fake->step };
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autoptr (KvasirView) positions = kvasir_positions_view_new ();
  g_autoptr (KvasirView) mask_view = kvasir_mask_view_new ();
  g_autoptr (KvasirView) memory_view = kvasir_memory_view_new ();
  const KvasirThing cell = { KVASIR_THING_CELL, .cell = 420 };
  const KvasirThing seq = { KVASIR_THING_SEQUENCE, .seq = 1 };
  const KvasirThing message = { KVASIR_THING_MESSAGE, .message_id = 3 };
  const KvasirThing bytes = { KVASIR_THING_BYTES, .index = 22 };
  draw (view, &data, output, &cell, "cells");
  draw (view, &data, output, &seq, "cells-focus");
  draw (view, &data, output, &message, "cells-message");
  for (guint zoom = 0; zoom < 4; zoom++)
    {
      const KvasirThing near = { KVASIR_THING_CELL, .cell = 320 };
      g_autofree char *name = g_strdup_printf ("cells-zoom%u", zoom);
      if (!kvasir_view_zoom (view, 1, &near))
        break;
      draw (view, &data, output, &near, name);
    }
  draw (positions, &data, output, &message, "positions-chat");
  draw (mask_view, &data, output, NULL, "mask-decode");
  draw (memory_view, &data, output, &bytes, "memory");
}

static void
draw_forks (const Output *output)
{
  g_autoptr (Fake) fake = fake_new_forks ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  g_autoptr (KvasirView) view = kvasir_positions_view_new ();
  const KvasirThing position = { KVASIR_THING_POSITION, .seq = 0, .pos = 640 };
  draw (view, &data, output, &position, "positions");
}

static void
draw_masks (const Output *output)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  fake->n_swa = 512;
  g_autoptr (KvasirMaskShot) mask = fake_make_mask (fake, 16, 3);
  g_autoptr (KvasirMaskShot) prefill = fake_make_mask (fake, 256, 3);
  KvasirVizData data = { NULL, mask, NULL, fake->step };
  g_autoptr (KvasirView) view = kvasir_mask_view_new ();
  const KvasirThing entry = { KVASIR_THING_MASK, .row = 8, .cell = 400 };
  draw (view, &data, output, &entry, "mask");
  data.mask = prefill;
  draw (view, &data, output, &entry, "mask-prefill");
}

static void
draw_large (const Output *output)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  const guint sizes[] = { 256, 16384, 131072, 1048576 };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fake) fake = fake_new_random (rand, sizes[i], 1, 9);
      g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
      KvasirVizData data = { cells, NULL, NULL, fake->step };
      g_autoptr (KvasirView) view = kvasir_cells_view_new ();
      g_autoptr (KvasirView) positions = kvasir_positions_view_new ();
      g_autofree char *name = g_strdup_printf ("cells-%u", sizes[i]);
      g_autofree char *positions_name = g_strdup_printf ("positions-%u", sizes[i]);
      draw (view, &data, output, NULL, name);
      draw (positions, &data, output, NULL, positions_name);
    }
}

int
main (int argc, char **argv)
{
  Output output = { argc > 1 ? argv[1] : ".", 859, 660, 1 };
  if (argc > 3)
    {
      output.width = atof (argv[2]);
      output.height = atof (argv[3]);
    }
  if (argc > 4)
    output.scale = atof (argv[4]);
  draw_chat (&output);
  draw_forks (&output);
  draw_masks (&output);
  draw_large (&output);
  return 0;
}
