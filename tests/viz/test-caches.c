/* Views of memories that are more than one cache: a pair with a sliding half, states, streams. */
#include <string.h>

#include "tests/viz/fake.h"
#include "viz/headline.h"
#include "viz/view.h"

/* Base 1 024 cells with positions 0 … 299 of A; the sliding half, 256 cells, has the last 200 and a
 * window of 64; one state of 16. */
typedef struct
{
  Fake *fakes[3];
  KvasirCellsShot *parts[3];
  KvasirCacheShot caches[3];
  KvasirCellsShot cells;
  KvasirMaskShot *masks[2];
  KvasirVizData data;
} Fixture;

static void
set_names (Fixture *fixture)
{
  static const char *const names[] = { "attn_base", "attn_swa", "recurrent" };
  for (guint i = 0; i < 3; i++)
    {
      fixture->caches[i] = fixture->parts[i]->caches[0];
      g_strlcpy (fixture->caches[i].name, names[i], sizeof fixture->caches[i].name);
    }
  fixture->caches[2].is_recurrent = TRUE;
  fixture->caches[2].streams[0].n_kv = 0;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->fakes[0] = fake_new (1024, 1);
  fixture->fakes[1] = fake_new (256, 1);
  fixture->fakes[2] = fake_new (16, 1);
  fixture->fakes[1]->n_swa = 64;
  fake_put (fixture->fakes[0], 0, 300, 0, 1, 9);
  fake_put (fixture->fakes[1], 10, 200, 100, 1, 9);
  fake_put (fixture->fakes[2], 3, 1, 299, 1, 9);
  for (guint i = 0; i < 3; i++)
    {
      fixture->fakes[i]->step = 100;
      fixture->parts[i] = fake_make_cells (fixture->fakes[i]);
    }
  set_names (fixture);
  fixture->cells = *fixture->parts[0];
  fixture->cells.n_caches = 3;
  fixture->cells.caches = fixture->caches;
  for (guint i = 0; i < 2; i++)
    {
      fixture->masks[i] = fake_make_mask (fixture->fakes[i], 4, 1);
      fixture->masks[i]->cache = i;
      g_strlcpy (fixture->masks[i]->cache_name, fixture->caches[i].name,
                 sizeof fixture->masks[i]->cache_name);
    }
  fixture->masks[0]->next = fixture->masks[1];
  fixture->data = (KvasirVizData){ &fixture->cells, fixture->masks[0], NULL, 100 };
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  fixture->masks[0]->next = NULL;
  for (guint i = 0; i < 2; i++)
    fake_mask_free (fixture->masks[i]);
  for (guint i = 0; i < 3; i++)
    {
      fake_cells_free (fixture->parts[i]);
      fake_free (fixture->fakes[i]);
    }
}

static char *
get_text (KvasirView *view, const KvasirVizData *data)
{
  GString *text = g_string_new (NULL);
  kvasir_view_set_token_text (view, fake_dup_token_text, NULL);
  kvasir_view_update (view, data, 900, 700, 1);
  kvasir_view_append_text (view, text);
  return g_string_free (text, FALSE);
}

static char *
describe (KvasirView *view, const KvasirThing *thing)
{
  GString *text = g_string_new (NULL);
  kvasir_view_describe (view, thing, text);
  return g_string_free (text, FALSE);
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("\"%s\" expected in:\n%s", part, text);
}

/* The first thing of @cache under a grid of points. */
static gboolean
find (KvasirView *view, KvasirThingKind kind, guint cache, KvasirThing *thing)
{
  for (double y = 2; y < 1400; y += 3)
    for (double x = 60; x < 500; x += 7)
      if (kvasir_view_hit (view, x, y, thing) && thing->kind == kind && thing->cache == cache)
        return TRUE;
  return FALSE;
}

/* ---- cells */

static void
test_headline (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_headline_append (&fixture->data, text);
  assert_has (text->str, "300/1\u2009\u2060024 cells · 1/16 states · ");
}

static void
test_lanes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  g_autofree char *text = get_text (view, &fixture->data);
  KvasirThing thing;
  assert_has (text, "attn_base cache, stream 0: head at ");
  assert_has (text, "attn_swa cache, stream 0: head at ");
  assert_has (text, "cells 10–209: positions 100–299, A\n");
  assert_has (text, "recurrent states, by cell:\ncells 0–2: free\n");
  for (guint cache = 0; cache < 3; cache++)
    g_assert_true (find (view, KVASIR_THING_CELL, cache, &thing));
}

/* The next token is at 300 and sees 237 … 300: what is at 236 is outside, in the sliding half
 * alone. */
static void
test_window (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  const KvasirThing outside = { KVASIR_THING_CELL, .cache = 1, .cell = 146 };
  const KvasirThing inside = { KVASIR_THING_CELL, .cache = 1, .cell = 147 };
  const KvasirThing base = { KVASIR_THING_CELL, .cell = 236 };
  g_autofree char *text = get_text (view, &fixture->data);
  g_autofree char *a = describe (view, &outside), *b = describe (view, &inside);
  g_autofree char *c = describe (view, &base);
  assert_has (a, "position 236");
  assert_has (a, "outside the window of the next token");
  assert_has (b, "position 237");
  assert_has (b, "open to the next token");
  assert_has (c, "open to the next token");
  assert_has (text, "outside the window: 137");
}

static void
test_state (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_cells_view_new ();
  const KvasirThing held = { KVASIR_THING_CELL, .cache = 2, .cell = 3 };
  const KvasirThing free = { KVASIR_THING_CELL, .cache = 2, .cell = 4 };
  const KvasirThing seq = { KVASIR_THING_SEQUENCE, .seq = 0 };
  g_autofree char *text = get_text (view, &fixture->data);
  g_autofree char *a = describe (view, &held), *b = describe (view, &free);
  g_autofree char *c = describe (view, &seq);
  assert_has (a, "state 3 · of all positions up to 299 · sequence A");
  g_assert_cmpstr (b, ==, "state 4 · free\n");
  assert_has (c, "attn_base 300 cells, ");
  assert_has (c, "attn_swa 200 cells, ");
  assert_has (c, "recurrent 1 state, ");
}

/* ---- positions */

static void
test_sliding_half (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_positions_view_new ();
  g_autofree char *text = get_text (view, &fixture->data);
  assert_has (text, "A · 300 positions 0–299 in 300 cells · complete\n"
                    "sliding half: positions 100–299 in 200 cells, window 64\n");
}

/* A memory of states alone: each sequence is one state of all its positions. */
static void
test_states_alone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) cells = kvasir_cells_view_new ();
  g_autoptr (KvasirView) positions = kvasir_positions_view_new ();
  KvasirThing thing;
  g_autoptr (GString) headline = g_string_new (NULL);
  fixture->cells.n_caches = 1;
  fixture->cells.caches = &fixture->caches[2];
  g_autofree char *a = get_text (cells, &fixture->data);
  g_autofree char *b = get_text (positions, &fixture->data);
  kvasir_headline_append (&fixture->data, headline);
  g_assert_true (g_str_has_prefix (headline->str, "1/16 states · "));
  g_assert_null (strstr (headline->str, "hole"));
  assert_has (b, "A · one state of positions 0–299\n");
  g_assert_true (find (positions, KVASIR_THING_SEQUENCE, 0, &thing));
  g_assert_false (find (positions, KVASIR_THING_HOLE, 0, &thing));
}

/* ---- mask */

static void
test_panels (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) mask = kvasir_mask_view_new ();
  g_autoptr (KvasirView) cells = kvasir_cells_view_new ();
  g_autofree char *text = get_text (mask, &fixture->data);
  KvasirThing thing, cell;
  kvasir_view_update (cells, &fixture->data, 900, 700, 1);
  assert_has (text, ", attn_base: 4 tokens × 512 cells\n");
  assert_has (text, ", attn_swa: 4 tokens × 256 cells\n");
  g_assert_true (find (mask, KVASIR_THING_MASK, 0, &thing));
  g_assert_true (find (mask, KVASIR_THING_MASK, 1, &thing));
  thing.cell = 150;
  g_assert_true (kvasir_view_translate (cells, &thing, &cell));
  g_assert_cmpuint (cell.cache, ==, 1);
  g_assert_cmpuint (cell.cell, ==, 150);
  g_assert_true (kvasir_view_translate (mask, &cell, &thing));
  g_assert_cmpuint (thing.cache, ==, 1);
}

/* The cursor goes from the last row of one panel to the first of the next, and back. */
static void
test_cursor_between_panels (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_mask_view_new ();
  KvasirThing thing = { KVASIR_THING_MASK, .cache = 0, .row = 3, .cell = 400 };
  kvasir_view_update (view, &fixture->data, 900, 700, 1);
  g_assert_true (kvasir_view_move (view, &thing, KVASIR_MOVE_DOWN));
  g_assert_cmpuint (thing.cache, ==, 1);
  g_assert_cmpuint (thing.row, ==, 0);
  g_assert_cmpuint (thing.cell, ==, 255);
  g_assert_true (kvasir_view_move (view, &thing, KVASIR_MOVE_UP));
  g_assert_cmpuint (thing.cache, ==, 0);
  g_assert_cmpuint (thing.row, ==, 3);
}

/* The counts at the side are of the panel in focus. */
static void
test_focus_chooses_panel (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirView) view = kvasir_mask_view_new ();
  const KvasirThing focus = { KVASIR_THING_MASK, .cache = 1, .row = 3, .cell = 0 };
  kvasir_view_set_token_text (view, fake_dup_token_text, NULL);
  kvasir_view_set_focus (view, &focus);
  kvasir_view_update (view, &fixture->data, 900, 700, 1);
  g_autofree char *text = describe (view, NULL);
  /* The row at 299 sees 64 of the 200; 10 cells before them are empty, 46 behind are padding. */
  assert_has (text, "open 64, empty cell 10, other sequence 0, future 0, outside window 136, "
                    "padding 46");
}

#define ADD(path, func) g_test_add ("/viz/caches/" path, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("headline", test_headline);
  ADD ("a-lane-for-each", test_lanes);
  ADD ("window-of-the-sliding-half", test_window);
  ADD ("state-in-words", test_state);
  ADD ("sliding-half-in-positions", test_sliding_half);
  ADD ("states-alone", test_states_alone);
  ADD ("a-panel-for-each-mask", test_panels);
  ADD ("cursor-between-panels", test_cursor_between_panels);
  ADD ("focus-chooses-panel", test_focus_chooses_panel);
  return g_test_run ();
}
