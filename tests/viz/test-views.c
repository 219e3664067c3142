/* The drawn views: pixels have the palette's colours, points find what was drawn there. */
#include <string.h>

#include "tests/viz/fake.h"
#include "viz/headline.h"
#include "viz/view.h"

typedef struct
{
  Fake *fake;
  KvasirCellsShot *cells;
  KvasirMaskShot *mask;
  KvasirMemoryShot *memory;
  KvasirVizData data;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->fake = fake_new_chat ();
  fixture->cells = fake_make_cells (fixture->fake);
  fixture->mask = fake_make_mask (fixture->fake, 8, 3);
  fixture->memory = fake_make_memory (1755 * 23040);
  fixture->data =
      (KvasirVizData){ fixture->cells, fixture->mask, fixture->memory, fixture->fake->step };
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  fake_cells_free (fixture->cells);
  fake_mask_free (fixture->mask);
  fake_memory_free (fixture->memory);
  fake_free (fixture->fake);
}

typedef KvasirView *(*MakeView) (void);
static const MakeView makers[] = { kvasir_cells_view_new, kvasir_positions_view_new,
                                   kvasir_mask_view_new, kvasir_memory_view_new };

static cairo_surface_t *
draw (KvasirView *view, const KvasirVizData *data, double width, double height)
{
  kvasir_view_set_token_text (view, fake_dup_token_text, NULL);
  kvasir_view_update (view, data, width, height, 1);
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, (gint) width, (gint) height);
  cairo_t *cr = cairo_create (surface);
  kvasir_view_draw (view, cr);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static KvasirRgb
get_pixel (cairo_surface_t *surface, gint x, gint y)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  guint32 pixel;
  memcpy (&pixel, data + y * cairo_image_surface_get_stride (surface) + x * 4, sizeof pixel);
  return pixel & 0xffffff;
}

static guint
count_pixels (cairo_surface_t *surface, KvasirRgb rgb)
{
  guint n = 0;
  cairo_surface_flush (surface);
  for (gint y = 0; y < cairo_image_surface_get_height (surface); y++)
    for (gint x = 0; x < cairo_image_surface_get_width (surface); x++)
      n += get_pixel (surface, x, y) == rgb;
  return n;
}

/* ---- cells */

/* The fill of a cell, or G_MAXUINT32 where a mark may cover it. */
static KvasirRgb
get_expected (const Fake *fake, guint cell)
{
  gboolean ringed = fake->pos[cell] >= 0 && fake->steps[cell] + 16 > fake->step;
  if (ringed || kvasir_seq_set_count (&fake->sets[cell]) > 1)
    return G_MAXUINT32;
  if (fake->pos[cell] < 0)
    return cell < 2048 ? KVASIR_RGB_FREE : G_MAXUINT32;
  return kvasir_palette_get_sequence ((guint) kvasir_seq_set_next (&fake->sets[cell], 0));
}

static void
test_cells_colors (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  cairo_surface_t *surface = draw (view, &fixture->data, 859, 660);
  g_autofree guint *n_pixels = g_new0 (guint, 4096);
  guint n_wrong = 0;
  guint n_right = 0;
  for (gint y = 0; y < 560; y++)
    for (gint x = 0; x < 590; x++)
      {
        KvasirThing thing;
        if (!kvasir_view_hit (view, x + 0.5, y + 0.5, &thing) || thing.kind != KVASIR_THING_CELL)
          continue;
        KvasirRgb expected = get_expected (fixture->fake, thing.cell);
        KvasirRgb pixel = get_pixel (surface, x, y);
        n_pixels[thing.cell]++;
        n_right += pixel == expected;
        n_wrong += expected != G_MAXUINT32 && pixel != expected && pixel != KVASIR_RGB_CANVAS;
      }
  for (guint cell = 0; cell < 4096; cell++)
    g_assert_cmpuint (n_pixels[cell], ==, n_pixels[0]);
  /* The label of the head and the line of the horizon lie over some cells. */
  g_assert_cmpuint (n_wrong, <, 1400);
  g_assert_cmpuint (n_right, >, 2048 * 25);
  cairo_surface_destroy (surface);
}

static guint
count_horizon (Fake *fake, guint head)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  fake->head = head;
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  cairo_surface_t *surface = draw (view, &data, 676, 400);
  guint n = count_pixels (surface, KVASIR_RGB_HORIZON);
  cairo_surface_destroy (surface);
  return n;
}

/* Wherever the head stands, its word hides nothing of the horizon's. */
static void
test_cells_horizon (void)
{
  g_autoptr (Fake) fake = fake_new (4096, 1);
  fake_put (fake, 0, 1, 0, 1, 1);
  fake->n_kv = 256;
  fake->step = 1000;
  guint whole = count_horizon (fake, 3000);
  g_assert_cmpuint (whole, >, 20);
  for (guint head = 0; head <= 640; head += 5)
    g_assert_cmpuint (count_horizon (fake, head) * 10, >=, whole * 8);
}

/* In every row of a picture with several cells per pixel the colours keep their share. */
static void
test_cells_buckets (void)
{
  g_autoptr (Fake) fake = fake_new (1 << 20, 1);
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  /* One cell of A in sixteen, the rest B. */
  for (guint cell = 0; cell < 1 << 20; cell += 16)
    {
      fake_put (fake, cell, 1, (gint32) cell, 1, 1);
      fake_put (fake, cell + 1, 15, (gint32) cell + 1, 2, 1);
    }
  fake->step = 1000;
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  cairo_surface_t *surface = draw (view, &data, 859, 660);
  guint counts[2] = { 0, 0 };
  for (gint y = 0; y < 500; y++)
    for (gint x = 56; x < 560; x++)
      {
        counts[0] += get_pixel (surface, x, y) == kvasir_palette_get_sequence (0);
        counts[1] += get_pixel (surface, x, y) == kvasir_palette_get_sequence (1);
      }
  g_assert_cmpuint (counts[1], >, 100000);
  g_assert_cmpfloat_with_epsilon ((double) counts[0] / counts[1], 1 / 15.0, 0.004);
  cairo_surface_destroy (surface);
}

static guint64
parse_count (const char *text)
{
  guint64 n = 0;
  for (const char *p = text; *p != '\0' && *p != '\n'; p++)
    if (g_ascii_isdigit (*p))
      n = n * 10 + (guint64) (*p - '0');
  return n;
}

/* The rows of the legend add up to "all cells". */
static void
check_legend (const Fake *fake)
{
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  kvasir_view_update (view, &data, 800, 600, 1);
  kvasir_view_append_text (view, text);
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  guint64 sum = 0;
  gboolean inside = FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *colon = strrchr (lines[i], ':');
      if (g_str_equal (lines[i], "legend"))
        inside = TRUE;
      else if (g_str_has_prefix (lines[i], "all cells:"))
        {
          g_assert_cmpuint (parse_count (colon), ==, (guint64) fake->size * fake->n_streams);
          g_assert_cmpuint (sum, ==, parse_count (colon));
          return;
        }
      else if (inside)
        sum += parse_count (colon);
    }
  g_assert_not_reached ();
}

static void
test_cells_legend (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  check_legend (fixture->fake);
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (Fake) fake = fake_new_random (rand, 600, 1 + i % 3, 1 + i);
      check_legend (fake);
    }
}

static void
test_cells_details (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  const KvasirThing cell = { KVASIR_THING_CELL, .cell = 420 };
  kvasir_view_set_token_text (view, fake_dup_token_text, NULL);
  kvasir_view_update (view, &fixture->data, 859, 660, 1);
  kvasir_view_describe (view, &cell, text);
  g_assert_cmpstr (text->str, ==,
                   "cell 420 · position 420 · sequence A · token \",\" (32\u2009\u2060796) · "
                   "message 3 (assistant) · written at step 195\n"
                   "K 11.25 KiB + V 11.25 KiB over 30 layers · open to the next token · "
                   "pending shift 0\n");
}

/* Keys and values need not be as wide as each other, and values may be a part of the keys. */
static void
test_cell_prices (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autoptr (GString) wide = g_string_new (NULL), whole = g_string_new (NULL);
  const KvasirThing cell = { KVASIR_THING_CELL, .cell = 420 };
  KvasirCacheShot *cache = &((KvasirCellsShot *) fixture->data.cells)->caches[0];
  cache->k_bytes_per_cell = cache->bytes_per_cell / 3 * 2;
  kvasir_view_update (view, &fixture->data, 859, 660, 1);
  kvasir_view_describe (view, &cell, wide);
  g_assert_nonnull (strstr (wide->str, "\nK 15 KiB + V 7.5 KiB over 30 layers"));
  cache->k_bytes_per_cell = cache->bytes_per_cell;
  kvasir_view_describe (view, &cell, whole);
  g_assert_nonnull (strstr (whole->str, "\nK 22.5 KiB, with V in it, over 30 layers"));
}

static void
test_message_cells (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) shared = g_string_new (NULL);
  const KvasirThing answer = { KVASIR_THING_MESSAGE, .message_id = 3 };
  const KvasirThing question = { KVASIR_THING_MESSAGE, .message_id = 2 };
  kvasir_view_update (view, &fixture->data, 859, 660, 1);
  kvasir_view_describe (view, &answer, text);
  g_assert_nonnull (
      strstr (text->str, "cells 311–504, 660–869, 1\u2009\u2060094–1\u2009\u2060323\n634 cells"));
  /* Two sequences share these cells; they are counted once. */
  kvasir_view_describe (view, &question, shared);
  g_assert_nonnull (strstr (shared->str, "cells 24–310\n287 cells"));
  /* Outlined: the picture gets brighter; a message that left the cells is not. */
  const KvasirThing gone = { KVASIR_THING_MESSAGE, .message_id = 99 };
  cairo_surface_t *surface = draw (view, &fixture->data, 859, 660);
  cairo_t *cr = cairo_create (surface);
  guint before = count_pixels (surface, KVASIR_RGB_WHITE);
  g_assert_false (kvasir_view_draw_mark (view, cr, &gone, TRUE));
  g_assert_cmpuint (count_pixels (surface, KVASIR_RGB_WHITE), ==, before);
  g_assert_true (kvasir_view_draw_mark (view, cr, &answer, TRUE));
  g_assert_cmpuint (count_pixels (surface, KVASIR_RGB_WHITE), >, before + 3 * 512 * 2);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static void
test_headline (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_headline_append (&fixture->data, text);
  g_assert_cmpstr (text->str, ==,
                   "1\u2009\u2060755/4\u2009\u2060096 cells · 2 holes · 3 sequences · read up to "
                   "2\u2009\u2060048 · "
                   "38.6 MiB of 90.0 MiB · unified");
}

/* ---- zoom and cursor */

static void
test_zoom (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  const KvasirThing anchor = { KVASIR_THING_CELL, .cell = 1500 };
  guint n_steps = 0;
  cairo_surface_destroy (draw (view, &fixture->data, 859, 660));
  while (kvasir_view_zoom (view, 1, &anchor))
    {
      gboolean found = FALSE;
      cairo_surface_destroy (draw (view, &fixture->data, 859, 660));
      for (gint y = 2; y < 560 && !found; y += 4)
        for (gint x = 2; x < 590 && !found; x += 4)
          {
            KvasirThing thing;
            found = kvasir_view_hit (view, x, y, &thing) && thing.cell == anchor.cell;
          }
      g_assert_true (found);
      n_steps++;
    }
  g_assert_cmpuint (n_steps, ==, 4);
  g_assert_true (kvasir_view_scroll (view, -3));
  g_assert_true (kvasir_view_follow (view));
  g_assert_true (kvasir_view_zoom (view, 0, NULL));
  g_assert_false (kvasir_view_zoom (view, 0, NULL));
}

static void
test_cursor (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  KvasirThing thing = { KVASIR_THING_NONE };
  kvasir_view_update (view, &fixture->data, 859, 660, 1);
  /* The first one is what was written last. */
  g_assert_true (kvasir_view_move (view, &thing, KVASIR_MOVE_RIGHT));
  g_assert_cmpuint (thing.cell, ==, 1907);
  kvasir_view_move (view, &thing, KVASIR_MOVE_UP);
  g_assert_cmpuint (thing.cell, ==, 1907 - 64);
  kvasir_view_move (view, &thing, KVASIR_MOVE_FIRST);
  g_assert_cmpuint (thing.cell, ==, 0);
  g_assert_false (kvasir_view_move (view, &thing, KVASIR_MOVE_LEFT));
  kvasir_view_move (view, &thing, KVASIR_MOVE_LAST);
  g_assert_cmpuint (thing.cell, ==, 4095);
}

/* A cell, its position and back. */
static void
test_translation (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) cells = kvasir_cells_view_new ();
  g_autoptr (KvasirView) positions = kvasir_positions_view_new ();
  kvasir_view_update (cells, &fixture->data, 859, 660, 1);
  kvasir_view_update (positions, &fixture->data, 859, 660, 1);
  for (guint cell = 0; cell < 4096; cell++)
    {
      const KvasirThing thing = { KVASIR_THING_CELL, .cell = cell };
      KvasirThing position, back;
      gboolean held = fixture->fake->pos[cell] >= 0;
      g_assert_cmpint (kvasir_view_translate (positions, &thing, &position), ==, held);
      if (!held)
        continue;
      g_assert_cmpint (position.pos, ==, fixture->fake->pos[cell]);
      g_assert_true (kvasir_view_translate (cells, &position, &back));
      g_assert_true (kvasir_thing_equal (&thing, &back));
    }
}

/* ---- positions */

static void
test_positions_bars (void)
{
  g_autoptr (Fake) fake = fake_new_forks ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirView) view = kvasir_positions_view_new ();
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  cairo_surface_t *surface = draw (view, &data, 859, 660);
  guint n_holes = 0;
  for (gint x = 112; x < 580; x++)
    {
      KvasirThing thing;
      /* The row of A; its lower part belongs to the co-owners where they share. */
      g_assert_true (kvasir_view_hit (view, x + 0.5, 72.5, &thing));
      if (thing.kind == KVASIR_THING_HOLE)
        {
          n_holes++;
          g_assert_cmpint (thing.pos, ==, 1000);
          g_assert_cmpint (thing.n, ==, 64);
        }
      else if (thing.kind == KVASIR_THING_POSITION && thing.pos > 4 && thing.pos < 995)
        g_assert_cmphex (get_pixel (surface, x, 72), ==, kvasir_palette_get_sequence (0));
      if (thing.kind == KVASIR_THING_POSITION && thing.pos < 370 && thing.pos > 4)
        g_assert_cmphex (get_pixel (surface, x, 85), ==, kvasir_palette_get_sequence (3));
    }
  g_assert_cmpuint (n_holes, >, 12);
  cairo_surface_destroy (surface);
}

static void
test_positions_text (void)
{
  g_autoptr (Fake) fake = fake_new_forks ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirView) view = kvasir_positions_view_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  KvasirVizData data = { cells, NULL, NULL, fake->step };
  kvasir_view_update (view, &data, 859, 660, 1);
  kvasir_view_append_text (view, text);
  g_assert_nonnull (strstr (text->str, "A · 1\u2009\u2060456 positions 0–1\u2009\u2060519"));
  g_assert_nonnull (strstr (text->str, "  hole 1\u2009\u2060000–1\u2009\u2060063\n"));
  g_assert_nonnull (strstr (text->str, "complete · forked from A at 384\n"));
}

/* ---- the mask */

static void
test_mask_colors (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_mask_view_new ();
  cairo_surface_t *surface = draw (view, &fixture->data, 2400, 700);
  guint n_open = 0;
  guint n_wrong = 0;
  for (gint y = 60; y < 400; y += 3)
    for (gint x = 155; x < 2100; x++)
      {
        KvasirThing thing;
        if (!kvasir_view_hit (view, x + 0.5, y + 0.5, &thing) || thing.kind != KVASIR_THING_MASK)
          continue;
        gboolean open =
            kvasir_mask_shot_get_reason (fixture->mask, thing.row, thing.cell) == KVASIR_MASK_OPEN;
        gboolean light = get_pixel (surface, x, y) == KVASIR_RGB_OPEN;
        n_open += open;
        n_wrong += open != light;
      }
  g_assert_cmpuint (n_open, >, 10000);
  /* Lines between blocks and frames of mixed ones lie over the entries. */
  g_assert_cmpuint (n_wrong * 20, <, n_open);
  cairo_surface_destroy (surface);
}

/* ---- all of them */

static void
test_every_size (Fixture *fixture, gconstpointer data)
{
  const double sizes[][2] = { { 560, 400 }, { 1240, 800 }, { 30, 20 }, { 300, 2000 } };
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sizes); j++)
      {
        g_autoptr (KvasirView) view = makers[i]();
        kvasir_view_set_font (view, "Sans", j % 2 == 0 ? 14.7 : 29.3);
        cairo_surface_destroy (draw (view, &fixture->data, sizes[j][0], sizes[j][1]));
        g_assert_true (kvasir_view_has_data (view));
      }
}

/* A page that gets the height that it asks for asks for no more, or it would grow with each frame.
 */
static void
test_heights_settle (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    for (gint width = 280; width <= 1000; width += 40)
      {
        KvasirView *view = makers[i]();
        double height = 1;
        for (guint step = 0; step < 3; step++)
          {
            kvasir_view_update (view, &fixture->data, width, height, 1);
            height = MAX (height, kvasir_view_get_min_height (view));
          }
        kvasir_view_update (view, &fixture->data, width, height, 1);
        g_assert_cmpfloat (kvasir_view_get_min_height (view), <=, height);
        kvasir_view_update (view, &fixture->data, width, height + 300, 1);
        g_assert_cmpfloat (kvasir_view_get_min_height (view), <=, height + 300);
        kvasir_view_free (view);
      }
}

static void
test_no_data (void)
{
  const KvasirVizData nothing = { NULL, NULL, NULL, 0 };
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    {
      g_autoptr (KvasirView) view = makers[i]();
      g_autoptr (GString) text = g_string_new (NULL);
      KvasirThing thing = { KVASIR_THING_CELL };
      cairo_surface_t *surface = draw (view, &nothing, 400, 300);
      g_assert_false (kvasir_view_has_data (view));
      g_assert_false (kvasir_view_hit (view, 100, 100, &thing));
      g_assert_cmpint (thing.kind, ==, KVASIR_THING_NONE);
      g_assert_false (kvasir_view_move (view, &thing, KVASIR_MOVE_LEFT));
      kvasir_view_describe (view, NULL, text);
      kvasir_view_append_text (view, text);
      g_assert_cmpuint (text->len, ==, 0);
      g_assert_cmphex (get_pixel (surface, 200, 150), ==, KVASIR_RGB_PAGE);
      cairo_surface_destroy (surface);
    }
}

/* A cache without a single token still has its frame. */
static void
test_empty_cache (void)
{
  g_autoptr (Fake) fake = fake_new (4096, 1);
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  const KvasirVizData data = { cells, NULL, NULL, 0 };
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (KvasirView) view = makers[i]();
      g_autoptr (GString) text = g_string_new (NULL);
      cairo_surface_destroy (draw (view, &data, 800, 600));
      kvasir_view_append_text (view, text);
      g_assert_nonnull (strstr (text->str, "0/4\u2009\u2060096 cells"));
    }
}

/* Whatever a point hits can be marked and told. */
static void
test_marks (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    {
      g_autoptr (KvasirView) view = makers[i]();
      cairo_surface_t *surface = draw (view, &fixture->data, 900, 700);
      cairo_t *cr = cairo_create (surface);
      guint n = 0;
      for (gint y = 0; y < 700; y += 13)
        for (gint x = 0; x < 900; x += 11)
          {
            g_autoptr (GString) text = g_string_new (NULL);
            KvasirThing thing;
            if (!kvasir_view_hit (view, x, y, &thing))
              continue;
            g_assert_true (kvasir_view_draw_mark (view, cr, &thing, TRUE));
            kvasir_view_describe (view, &thing, text);
            g_assert_cmpuint (text->len, >, 0);
            n++;
          }
      g_assert_cmpuint (n, >, 100);
      cairo_destroy (cr);
      cairo_surface_destroy (surface);
    }
}

#define ADD(path, func) g_test_add (path, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/viz/cells/pixels-have-their-owners-colour", test_cells_colors);
  g_test_add_func ("/viz/cells/buckets-keep-the-share-of-colours", test_cells_buckets);
  g_test_add_func ("/viz/cells/head-hides-no-horizon", test_cells_horizon);
  ADD ("/viz/cells/legend-adds-up-to-all-cells", test_cells_legend);
  ADD ("/viz/cells/details-name-the-cell", test_cells_details);
  ADD ("/viz/cells/prices-of-keys-and-values", test_cell_prices);
  ADD ("/viz/cells/message-cells-are-counted-once", test_message_cells);
  ADD ("/viz/cells/zoom-keeps-the-anchor-in-sight", test_zoom);
  ADD ("/viz/cells/arrows-move-the-cursor", test_cursor);
  ADD ("/viz/headline/names-the-picture", test_headline);
  ADD ("/viz/positions/cell-and-position-translate-back", test_translation);
  g_test_add_func ("/viz/positions/bars-have-stripes-and-holes", test_positions_bars);
  g_test_add_func ("/viz/positions/text-tells-counts-and-forks", test_positions_text);
  ADD ("/viz/mask/open-entries-are-light", test_mask_colors);
  ADD ("/viz/views/draw-at-every-size", test_every_size);
  ADD ("/viz/views/heights-settle", test_heights_settle);
  g_test_add_func ("/viz/views/nothing-to-show", test_no_data);
  g_test_add_func ("/viz/views/empty-cache", test_empty_cache);
  ADD ("/viz/views/everything-hit-can-be-marked-and-told", test_marks);
  return g_test_run ();
}
