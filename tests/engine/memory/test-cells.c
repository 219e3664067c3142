/* Bit trees against a plain array, and the cells' summaries on sizes that use every level. */
#include "engine/memory/cells.h"
#include "engine/memory/slots.h"

static gint
find_next (const gboolean *members, guint n, guint from)
{
  for (guint i = from; i < n; i++)
    if (members[i])
      return (gint) i;
  return -1;
}

static gint
find_last (const gboolean *members, guint n)
{
  for (guint i = n; i-- > 0;)
    if (members[i])
      return (gint) i;
  return -1;
}

static void
check_tree (GRand *rand, guint n, gint32 density)
{
  KvasirBitTree tree;
  g_autofree gboolean *members = g_new0 (gboolean, n);

  g_assert_true (kvasir_bit_tree_init (&tree, n));
  for (guint round = 0; round < 300; round++)
    {
      guint i = (guint) g_rand_int_range (rand, 0, (gint32) n);
      guint from = (guint) g_rand_int_range (rand, 0, (gint32) n + 100);

      members[i] = g_rand_int_range (rand, 0, 10) < density;
      if (members[i])
        kvasir_bit_tree_add (&tree, i);
      else
        kvasir_bit_tree_remove (&tree, i);
      g_assert_cmpint (kvasir_bit_tree_has (&tree, i), ==, members[i]);
      g_assert_cmpint (kvasir_bit_tree_next (&tree, from), ==, find_next (members, n, from));
      g_assert_cmpint (kvasir_bit_tree_last (&tree), ==, find_last (members, n));
    }
  kvasir_bit_tree_clear (&tree);
}

static void
test_tree (void)
{
  /* One word, several, and a second word on each of the upper levels. */
  static const guint sizes[] = { 64, 256, 4160, 70000, 300000 };
  GRand *rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check_tree (rand, sizes[i], 8);
      check_tree (rand, sizes[i], 2);
    }
  g_rand_free (rand);
}

static void
place (KvasirCells *cells, guint cell, gint32 pos, guint seq)
{
  KvasirSeqSet seqs = { 0 };
  KvasirCellEntry entry = { .pos = pos, .token = 1, .seqs = &seqs };

  kvasir_seq_set_add (&seqs, seq);
  kvasir_cells_place (cells, cell, &entry);
}

/* Gaps and repeated positions are legal, and the extremes follow whatever leaves. */
static void
test_extremes (void)
{
  KvasirCells cells;

  g_assert_true (kvasir_cells_init (&cells, 256, 200));
  place (&cells, 3, 40, 199);
  place (&cells, 100, 7, 199);
  place (&cells, 101, 7, 199);
  place (&cells, 255, 90, 199);
  g_assert_cmpint (cells.spans[199].min, ==, 7);
  g_assert_cmpint (cells.spans[199].max, ==, 90);
  g_assert_cmpuint (kvasir_cells_get_end (&cells), ==, 256);

  kvasir_cells_leave_bits (&cells, 100 / 64, KVASIR_BIT (100), 199);
  kvasir_cells_empty (&cells, 255);
  kvasir_cells_settle (&cells);
  g_assert_cmpint (cells.spans[199].min, ==, 7);
  g_assert_cmpint (cells.spans[199].max, ==, 40);
  g_assert_cmpuint (cells.spans[199].n_cells, ==, 2);
  g_assert_cmpuint (kvasir_cells_get_end (&cells), ==, 102);

  kvasir_cells_move (&cells, 101, 50);
  kvasir_cells_settle (&cells);
  g_assert_cmpint (cells.spans[199].min, ==, 40);
  g_assert_cmpint (cells.spans[199].max, ==, 50);
  g_assert_cmpuint (cells.n_shifted, ==, 1);
  kvasir_cells_move (&cells, 101, 7);
  g_assert_cmpuint (cells.n_shifted, ==, 0);
  kvasir_cells_clear (&cells);
}

static void
test_largest_vacant_run (void)
{
  KvasirCells cells;

  g_assert_true (kvasir_cells_init (&cells, 512, 1));
  g_assert_cmpuint (kvasir_cells_get_largest_vacant_run (&cells), ==, 512);
  place (&cells, 100, 0, 0);
  g_assert_cmpuint (kvasir_cells_get_largest_vacant_run (&cells), ==, 411);
  place (&cells, 511, 0, 0);
  g_assert_cmpuint (kvasir_cells_get_largest_vacant_run (&cells), ==, 410);
  for (guint i = 0; i < 512; i++)
    if (i != 100 && i != 511)
      place (&cells, i, 0, 0);
  g_assert_cmpuint (kvasir_cells_get_largest_vacant_run (&cells), ==, 0);
  kvasir_cells_clear (&cells);
}

/* Rule 1: above used + 2 n the search starts again at cell 0, up to it at the head. */
static void
test_search_start (void)
{
  KvasirCells cells;
  guint32 slots[6];
  gboolean restarted;

  g_assert_true (kvasir_cells_init (&cells, 256, 1));
  place (&cells, 0, 0, 0);
  cells.head = 9;
  g_assert_cmpuint (kvasir_slots_get_start (&cells, 4, &restarted), ==, 9);
  g_assert_false (restarted);
  cells.head = 10;
  g_assert_cmpuint (kvasir_slots_get_start (&cells, 4, &restarted), ==, 0);
  g_assert_true (restarted);

  /* From the last cell around the end, over the cell that is held. */
  for (guint i = 3; i < 252; i++)
    place (&cells, i, 0, 0);
  cells.head = 254;
  g_assert_true (kvasir_slots_find (&cells, 4, slots));
  g_assert_cmpuint (slots[0], ==, 254);
  g_assert_cmpuint (slots[1], ==, 255);
  g_assert_cmpuint (slots[2], ==, 1);
  g_assert_cmpuint (slots[3], ==, 2);
  g_assert_true (kvasir_slots_find (&cells, 6, slots));
  g_assert_cmpuint (slots[4], ==, 252);
  g_assert_cmpuint (slots[5], ==, 253);
  cells.head = 256;
  g_assert_true (kvasir_slots_find (&cells, 2, slots));
  g_assert_cmpuint (slots[0], ==, 1);
  g_assert_false (kvasir_slots_find (&cells, 7, NULL));
  g_assert_true (kvasir_slots_find (&cells, 6, NULL));
  g_assert_false (kvasir_slots_find (&cells, 257, NULL));
  kvasir_cells_clear (&cells);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/memory/bit-tree/agrees-with-array", test_tree);
  g_test_add_func ("/engine/memory/cells/extremes-follow-changes", test_extremes);
  g_test_add_func ("/engine/memory/cells/largest-vacant-run", test_largest_vacant_run);
  g_test_add_func ("/engine/memory/slots/search-starts-by-rule", test_search_start);
  return g_test_run ();
}
