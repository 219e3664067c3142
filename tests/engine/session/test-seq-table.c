#include "engine/session/seq-table.h"

static void
append (KvasirSeqTable *table, gint seq, gint32 pos, gint32 n, guint64 id)
{
  KvasirMessageRun run = { .seq = seq, .pos = pos, .n = n, .message_id = id, .role = 1 };
  kvasir_seq_table_append (table, &run);
}

static guint64
find (const KvasirSeqTable *table, gint seq, gint32 pos)
{
  const KvasirMessageRun *run = kvasir_seq_table_find (table, seq, pos);
  return run != NULL ? run->message_id : 0;
}

static void
test_runs (void)
{
  g_autoptr (KvasirSeqTable) table = kvasir_seq_table_new (3);
  append (table, 0, 0, 4, 7);
  append (table, 0, 4, 2, 8);
  append (table, 0, 6, 1, 8);
  g_assert_cmpuint (kvasir_seq_table_get (table, 0)->runs->len, ==, 2);
  g_assert_cmpuint (find (table, 0, 3), ==, 7);
  g_assert_cmpuint (find (table, 0, 6), ==, 8);
  g_assert_cmpuint (find (table, 0, 7), ==, 0);
  g_assert_cmpuint (find (table, 1, 0), ==, 0);
}

static void
test_erase (void)
{
  g_test_summary ("Each position is compared with an array in which ranges are zeroed");
  for (gint32 p0 = 0; p0 < 13; p0++)
    for (gint32 p1 = p0; p1 < 14; p1++)
      {
        guint64 expected[14] = { 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 4 };
        g_autoptr (KvasirSeqTable) table = kvasir_seq_table_new (1);
        append (table, 0, 0, 3, 1);
        append (table, 0, 3, 2, 2);
        append (table, 0, 5, 5, 3);
        append (table, 0, 10, 1, 4);
        kvasir_seq_table_erase (table, 0, p0, p1);
        for (gint32 p = p0; p < p1; p++)
          expected[p] = 0;
        for (gint32 p = 0; p < 14; p++)
          g_assert_cmpuint (find (table, 0, p), ==, expected[p]);
      }
}

static void
test_fork (void)
{
  g_autoptr (KvasirSeqTable) table = kvasir_seq_table_new (3);
  append (table, 0, 0, 4, 7);
  append (table, 0, 4, 5, 8);
  kvasir_seq_table_claim (table, 0, 100, 8);
  kvasir_seq_table_fork (table, 0, 2, 6);
  g_assert_cmpint (kvasir_seq_table_get (table, 2)->parent, ==, 0);
  g_assert_cmpint (kvasir_seq_table_get (table, 2)->parent_pos, ==, 6);
  g_assert_cmpuint (find (table, 2, 5), ==, 8);
  g_assert_cmpuint (find (table, 2, 6), ==, 0);
  g_assert_cmpuint (find (table, 0, 8), ==, 8);
  kvasir_seq_table_reset (table, 0);
  g_assert_cmpint (kvasir_seq_table_get (table, 2)->parent, ==, -1);
}

static void
test_oldest (void)
{
  guint64 chat = 0;
  KvasirSeqSet all = { { 15 } };
  KvasirSeqSet few = { { 2 + 8 } };
  g_autoptr (KvasirSeqTable) table = kvasir_seq_table_new (4);
  kvasir_seq_table_claim (table, 0, 10, 0);
  kvasir_seq_table_claim (table, 1, 20, 0);
  kvasir_seq_table_claim (table, 2, 10, 0);
  kvasir_seq_table_claim (table, 3, 30, 0);
  g_assert_true (kvasir_seq_table_find_oldest (table, 0, &all, &chat));
  g_assert_cmpuint (chat, ==, 20);
  g_assert_true (kvasir_seq_table_find_oldest (table, 20, &all, &chat));
  g_assert_cmpuint (chat, ==, 10);
  g_assert_true (kvasir_seq_table_find_oldest (table, 20, &few, &chat));
  g_assert_cmpuint (chat, ==, 30);
  kvasir_seq_table_reset (table, 3);
  g_assert_true (kvasir_seq_table_find_oldest (table, 20, &few, &chat));
  g_assert_cmpuint (chat, ==, 0);
  few.w[0] = 2;
  g_assert_false (kvasir_seq_table_find_oldest (table, 20, &few, &chat));
  g_assert_cmpuint (kvasir_seq_table_get_seqs (table, 10).w[0], ==, 1 + 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/seq-table/runs-join", test_runs);
  g_test_add_func ("/engine/session/seq-table/erase-any-range", test_erase);
  g_test_add_func ("/engine/session/seq-table/fork-shares-what-lies-before", test_fork);
  g_test_add_func ("/engine/session/seq-table/oldest-chat-by-its-newest-sequence", test_oldest);
  return g_test_run ();
}
