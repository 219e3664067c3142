/* Bytes add up: to the device, to the buffer types, to the layers. */
#include <glib/gi18n.h>
#include <math.h>

#include "tests/viz/fake.h"
#include "viz/memory-private.h"

static void
test_totals (void)
{
  g_autoptr (KvasirMemoryShot) shot = fake_make_memory (1755 * 23040);
  g_autoptr (KvasirMemorySums) sums = kvasir_memory_sums_new (shot);
  guint64 rows = 0;
  guint64 types = 0;
  guint64 kinds = 0;
  guint64 layers = 0;
  for (guint i = 0; i < shot->n_rows; i++)
    rows += shot->rows[i].n_bytes;
  for (guint i = 0; i < sums->n_types; i++)
    types += sums->types[i].total;
  for (guint i = 0; i < KVASIR_N_KINDS; i++)
    kinds += sums->measured[i];
  for (guint i = 0; i < sums->n_layers; i++)
    layers += sums->layers[i].k + sums->layers[i].v;
  g_assert_cmpuint (sums->total, ==, rows);
  g_assert_cmpuint (types, ==, rows);
  g_assert_cmpuint (kinds, ==, rows);
  g_assert_cmpuint (layers, ==, sums->kv_bytes);
  g_assert_cmpuint (sums->kv_bytes, ==, 4096 * 23040);
  g_assert_cmpuint (sums->total - sums->total_planned, ==, 1024 * 1024);
}

static guint64
add_device (const KvasirDeviceSum *sum)
{
  guint64 all = sum->other + sum->free;
  for (guint i = 0; i < KVASIR_N_KINDS; i++)
    all += sum->kinds[i];
  return all;
}

static void
test_device (void)
{
  g_autoptr (KvasirMemoryShot) shot = fake_make_memory (0);
  g_autoptr (KvasirMemorySums) sums = kvasir_memory_sums_new (shot);
  KvasirDeviceSum sum;
  kvasir_memory_sums_get_device (sums, &shot->devices[0], &sum);
  g_assert_cmpuint (add_device (&sum), ==, shot->devices[0].total_bytes);
  g_assert_cmpuint (sum.kinds[KVASIR_KIND_WEIGHTS], ==, shot->weights_resident_bytes);
  g_assert_cmpuint (sum.disagreement, ==, 0);
  /* Of two mapped parts no more is in memory than the file has resident. */
  shot->rows[1].buffer_type = "CPU_Mapped";
  g_autoptr (KvasirMemorySums) mapped = kvasir_memory_sums_new (shot);
  shot->weights_resident_bytes = shot->rows[0].n_bytes + 1000;
  kvasir_memory_sums_get_device (mapped, &shot->devices[0], &sum);
  g_assert_cmpuint (sum.ours, ==, sums->total - shot->rows[1].n_bytes + 1000);
  /* Free + ours beyond the device is said, never drawn as a huge number. */
  shot->devices[0].free_bytes = shot->devices[0].total_bytes;
  kvasir_memory_sums_get_device (sums, &shot->devices[0], &sum);
  g_assert_cmpuint (sum.disagreement, ==, sum.ours);
  g_assert_cmpuint (sum.other, ==, 0);
}

typedef struct
{
  KvasirMemoryShot *shot; /* (owned) */
  KvasirView *view;       /* (owned) */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->shot = fake_make_memory (1755 * 23040);
  fixture->view = kvasir_memory_view_new ();
  KvasirVizData parts = { NULL, NULL, fixture->shot, 1 };
  kvasir_view_update (fixture->view, &parts, 900, 700, 1);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  kvasir_view_free (fixture->view);
  fake_memory_free (fixture->shot);
}

/* Parts of one row follow each other without a gap; how wide they are together. */
static double
measure_row (const GArray *parts, guint of)
{
  const KvasirMemoryPart *start = &g_array_index (parts, KvasirMemoryPart, of);
  double end = -1;
  double width = 0;
  for (guint i = 0; i < parts->len; i++)
    {
      const KvasirMemoryPart *part = &g_array_index (parts, KvasirMemoryPart, i);
      if (part->rect.y != start->rect.y || part->rect.h != start->rect.h)
        continue;
      if (end >= 0)
        g_assert_cmpfloat_with_epsilon (part->rect.x, end, 0.01);
      end = part->rect.x + part->rect.w;
      width += part->rect.w;
    }
  return width;
}

static guint
find_part (const GArray *parts, const char *label)
{
  for (guint i = 0; i < parts->len; i++)
    if (g_strcmp0 (g_array_index (parts, KvasirMemoryPart, i).label, label) == 0)
      return i;
  g_assert_not_reached ();
}

static void
test_icicle (Fixture *fixture, gconstpointer data)
{
  const GArray *parts = ((KvasirMemoryView *) fixture->view)->parts;
  double width = 900 - 28;
  g_assert_cmpfloat_with_epsilon (measure_row (parts, find_part (parts, "CPU_Mapped · 93.8 MiB")),
                                  width, 0.01);
  g_assert_cmpfloat_with_epsilon (measure_row (parts, find_part (parts, "weights 93.8")), width,
                                  0.01);
  g_assert_cmpfloat_with_epsilon (measure_row (parts, find_part (parts, "F7")), width, 0.01);
  g_assert_cmpfloat_with_epsilon (measure_row (parts, find_part (parts, "free")), width, 0.01);
}

static void
test_hits (Fixture *fixture, gconstpointer data)
{
  const GArray *parts = ((KvasirMemoryView *) fixture->view)->parts;
  for (guint i = 0; i < parts->len; i++)
    {
      const KvasirRect *rect = &g_array_index (parts, KvasirMemoryPart, i).rect;
      KvasirThing thing;
      if (rect->w < 3)
        continue;
      g_assert_true (
          kvasir_view_hit (fixture->view, rect->x + rect->w / 2, rect->y + rect->h / 2, &thing));
      g_assert_cmpint (thing.kind, ==, KVASIR_THING_BYTES);
      g_assert_cmpuint (thing.index, ==, i);
    }
}

/* From every part the arrows lead on, and down and up come to an end. */
static void
test_moves (Fixture *fixture, gconstpointer data)
{
  KvasirThing thing = { KVASIR_THING_NONE };
  g_assert_true (kvasir_view_move (fixture->view, &thing, KVASIR_MOVE_DOWN));
  g_assert_cmpuint (thing.index, ==, 0);
  for (guint i = 0; i < 20; i++)
    kvasir_view_move (fixture->view, &thing, KVASIR_MOVE_DOWN);
  guint bottom = thing.index;
  g_assert_cmpuint (bottom, >, 0);
  kvasir_view_move (fixture->view, &thing, KVASIR_MOVE_DOWN);
  g_assert_cmpuint (thing.index, ==, bottom);
  for (guint i = 0; i < 20; i++)
    kvasir_view_move (fixture->view, &thing, KVASIR_MOVE_UP);
  g_assert_cmpuint (thing.index, <, 6);
}

#define ADD(path, func) g_test_add (path, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/memory/sums-of-every-grouping-agree", test_totals);
  g_test_add_func ("/viz/memory/parts-add-up-to-the-device", test_device);
  ADD ("/viz/memory/rows-of-the-icicle-are-equally-wide", test_icicle);
  ADD ("/viz/memory/middle-of-a-part-hits-the-part", test_hits);
  ADD ("/viz/memory/arrows-reach-top-and-bottom", test_moves);
  return g_test_run ();
}
