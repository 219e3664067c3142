/* Who holds what, against a plain count over the cells. */
#include "tests/viz/fake.h"
#include "viz/cells-raster.h"
#include "viz/holdings.h"

typedef struct
{
  guint n_cells;
  guint n_own;
  guint n_positions;
  gint32 pos_min;
  gint32 pos_max;
  guint n_missing;
} Naive;

static Naive
count_naively (const Fake *fake, guint seq)
{
  gsize n = (gsize) fake->size * fake->n_streams;
  g_autoptr (GHashTable) positions = g_hash_table_new (NULL, NULL);
  Naive naive = { .pos_min = G_MAXINT32, .pos_max = -1 };
  for (gsize i = 0; i < n; i++)
    if (fake->pos[i] >= 0 && kvasir_seq_set_has (&fake->sets[i], seq))
      {
        naive.n_cells++;
        naive.n_own += kvasir_seq_set_count (&fake->sets[i]) == 1;
        naive.pos_min = MIN (naive.pos_min, fake->pos[i]);
        naive.pos_max = MAX (naive.pos_max, fake->pos[i]);
        g_hash_table_add (positions, GINT_TO_POINTER (fake->pos[i] + 1));
      }
  naive.n_positions = g_hash_table_size (positions);
  naive.n_missing = (guint) (naive.pos_max - naive.pos_min + 1) - naive.n_positions;
  return naive;
}

static void
add_length_cb (gint32 pos, gint32 n, gpointer user_data)
{
  g_assert_cmpint (n, >, 0);
  ((guint *) user_data)[0] += (guint) n;
  ((guint *) user_data)[1]++;
}

static void
check_sequence (const Fake *fake, const KvasirHoldings *holdings, const KvasirHolding *holding)
{
  Naive naive = count_naively (fake, holding->seq);
  guint holes[2] = { 0, 0 };
  g_assert_cmpuint (holding->n_cells, ==, naive.n_cells);
  g_assert_cmpuint (holding->n_own, ==, naive.n_own);
  g_assert_cmpint (holding->pos_min, ==, naive.pos_min);
  g_assert_cmpint (holding->pos_max, ==, naive.pos_max);
  g_assert_cmpuint (holding->n_positions, ==, naive.n_positions);
  kvasir_holdings_foreach_hole (holdings, holding, add_length_cb, holes);
  /* count = max - min + 1 - holes */
  g_assert_cmpuint (holes[0], ==, naive.n_missing);
  g_assert_cmpuint (holes[1], ==, holding->n_holes);
}

static void
check_state (const Fake *fake)
{
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirHoldings) holdings = kvasir_holdings_new (&cells->caches[0]);
  guint own = 0;
  g_assert_cmpuint (holdings->n_seqs, ==, cells->n_seqs);
  for (guint i = 0; i < holdings->n_seqs; i++)
    {
      check_sequence (fake, holdings, &holdings->seqs[i]);
      own += holdings->seqs[i].n_own;
    }
  g_assert_cmpuint (own + holdings->n_shared, ==, holdings->n_used);
  g_assert_cmpuint (holdings->n_cells, ==, fake->size * fake->n_streams);
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (Fake) fake = fake_new_random (rand, (guint) g_rand_int_range (rand, 16, 1200),
                                               (guint) g_rand_int_range (rand, 1, 4),
                                               (guint) g_rand_int_range (rand, 1, 12));
      check_state (fake);
    }
}

static void
test_picture (void)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirHoldings) holdings = kvasir_holdings_new (&cells->caches[0]);
  check_state (fake);
  g_assert_cmpuint (holdings->n_used, ==, 1755);
  g_assert_cmpuint (holdings->n_shared, ==, 311);
  g_assert_cmpuint (kvasir_holdings_find (holdings, 0)->n_own, ==, 1028);
  g_assert_cmpuint (kvasir_holdings_find (holdings, 1)->n_own, ==, 320);
  g_assert_cmpuint (kvasir_holdings_find (holdings, 2)->n_own, ==, 96);
  g_assert_null (kvasir_holdings_find (holdings, 3));
}

/* After a division several cells have one position. */
static void
test_divided (void)
{
  g_autoptr (Fake) fake = fake_new (32, 1);
  for (guint cell = 0; cell < 32; cell++)
    fake_put (fake, cell, 1, (gint32) cell / 4, 1, 1);
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirHoldings) holdings = kvasir_holdings_new (&cells->caches[0]);
  g_assert_cmpuint (holdings->seqs[0].n_cells, ==, 32);
  g_assert_cmpuint (holdings->seqs[0].n_positions, ==, 8);
  g_assert_cmpuint (holdings->seqs[0].n_holes, ==, 0);
}

static void
test_find_position (void)
{
  g_autoptr (Fake) fake = fake_new_forks ();
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirHoldings) holdings = kvasir_holdings_new (&cells->caches[0]);
  for (gint32 pos = 0; pos < 1520; pos++)
    {
      const KvasirPosRun *run = kvasir_holdings_find_position (holdings, 0, pos);
      gboolean hole = pos >= 1000 && pos < 1064;
      g_assert_cmpint (run == NULL, ==, hole);
      if (run != NULL)
        g_assert_cmpint (fake->pos[run->cell + (guint) (pos - run->pos)], ==, pos);
    }
}

/* Standard window: a position is outside for the next token where last + 1 - pos >= n_swa. */
static void
test_outside (void)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  fake->n_swa = 512;
  g_autoptr (KvasirCellsShot) cells = fake_make_cells (fake);
  g_autoptr (KvasirHoldings) holdings = kvasir_holdings_new (&cells->caches[0]);
  const gint32 last[] = { 1338, 630, 95 };
  for (guint i = 0; i < cells->caches[0].n_spans; i++)
    {
      const KvasirSpan *span = &cells->caches[0].spans[i];
      guint n_outside = kvasir_cells_count_outside (holdings, span);
      for (guint j = 0; j < span->n; j++)
        {
          gboolean outside = TRUE;
          for (guint seq = 0; seq < 3; seq++)
            if (kvasir_seq_set_has (&cells->caches[0].sets[span->set], seq))
              outside = outside && last[seq] + 1 - (span->pos + (gint32) j) >= 512;
          g_assert_cmpint (outside, ==, j < n_outside);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/holdings/agree-with-a-plain-count", test_random);
  g_test_add_func ("/viz/holdings/sums-of-the-main-picture", test_picture);
  g_test_add_func ("/viz/holdings/divided-positions-count-once", test_divided);
  g_test_add_func ("/viz/holdings/positions-are-found-where-they-lie", test_find_position);
  g_test_add_func ("/viz/holdings/outside-the-window-by-the-rule", test_outside);
  return g_test_run ();
}
