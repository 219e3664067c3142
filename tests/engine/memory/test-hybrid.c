/* Memories of attention cells and a state: both halves change together or not at all. What each
 * half does alone is held by its own tests; what one refuses must leave the other as it was. */
#include "tests/engine/memory/hybrid-rig.h"

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
} Fixture;

static void
fixture_init (Fixture *self, gconstpointer data)
{
  test_heap_init (&self->heap);
  self->memory = hybrid_memory_new (&self->heap, data);
  self->plan = hybrid_plan_new ();
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
}

static void
assert_unchanged (const KvasirMemory *memory, const char *before)
{
  g_autofree char *now = hybrid_describe (memory);

  g_assert_cmpstr (now, ==, before);
}

static void
read_some (Fixture *self, gint32 seq, guint n)
{
  HybridTokens tokens = { .n = n };

  for (guint i = 0; i < n; i++)
    tokens.seqs[i] = seq;
  g_assert_cmpint (hybrid_decode (self->memory, self->plan, &tokens, G_MAXUINT), ==, 0);
}

static void
assert_span (Fixture *self, gint seq, gint32 first, gint32 last)
{
  g_assert_cmpint (kvasir_memory_seq_pos_min (self->memory, seq), ==, first);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, seq), ==, last);
}

/* ---- tests */

static void
test_caches (Fixture *self, gconstpointer data)
{
  KvasirCacheInfo attention, recurrent;
  KvasirTensor *k, *v, *r, *s;
  guint cache;

  g_assert_cmpuint (kvasir_memory_get_n_caches (self->memory), ==, 2);
  kvasir_memory_get_cache_info (self->memory, 0, &attention);
  kvasir_memory_get_cache_info (self->memory, 1, &recurrent);
  g_assert_cmpstr (attention.name, ==, "attn");
  g_assert_cmpstr (recurrent.name, ==, "recurrent");
  g_assert_cmpuint (attention.n_layers, ==, 2);
  g_assert_cmpuint (recurrent.n_layers, ==, 2);
  g_assert_true (recurrent.is_recurrent && !attention.is_recurrent);
  g_assert_cmpuint (recurrent.size, ==, HYBRID_N_SEQS);
  for (guint layer = 0; layer < HYBRID_N_LAYERS; layer++)
    {
      kvasir_memory_get_layer (self->memory, layer, &k, &v, &cache);
      kvasir_memory_get_state_layer (self->memory, layer, &r, &s);
      g_assert_cmpint (k != NULL && v != NULL, ==, layer != 1);
      g_assert_cmpint (r != NULL && s != NULL, ==, layer > 0);
    }
}

/* A state can't go back where cells could: neither changes. */
static void
test_refused_removal (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;

  read_some (self, 0, 10);
  read_some (self, 1, 4);
  before = hybrid_describe (self->memory);
  g_assert_false (kvasir_memory_seq_rm (self->memory, 0, 5, -1));
  g_assert_false (kvasir_memory_seq_rm (self->memory, 0, 9, 10));
  g_assert_false (kvasir_memory_seq_rm (self->memory, -1, -1, -1));
  assert_unchanged (self->memory, before);
  /* A middle part leaves the state alone. */
  g_assert_true (kvasir_memory_seq_rm (self->memory, 0, 2, 5));
  assert_span (self, 0, 9, 9);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 11);
  g_assert_true (kvasir_memory_seq_rm (self->memory, 0, -1, -1));
  assert_span (self, 0, -1, -1);
  assert_span (self, 1, 3, 3);
}

static void
test_goes_back_together (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;

  g_assert_cmpuint (kvasir_memory_get_n_keep (self->memory), ==, 3);
  read_some (self, 0, 8);
  before = hybrid_describe (self->memory);
  g_assert_false (kvasir_memory_seq_rm (self->memory, 0, 4, -1));
  g_assert_cmpint (kvasir_memory_get_rewind (self->memory, 0, 4), ==, 0);
  g_assert_cmpint (kvasir_memory_get_rewind (self->memory, 0, 5), ==, 5);
  assert_unchanged (self->memory, before);
  g_assert_true (kvasir_memory_seq_rm (self->memory, 0, 5, -1));
  assert_span (self, 0, 4, 4);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 5);
  read_some (self, 0, 1);
  assert_span (self, 0, 5, 5);
  g_assert_false (kvasir_memory_seq_rm (self->memory, 0, 5, -1));
}

/* The last 4 tokens of each sequence come in one ubatch. */
static void
test_keeps_tails_together (Fixture *self, gconstpointer data)
{
  const KvasirUbatch *ubatch;
  const guint expected[] = { 6, 4 };

  read_some (self, 0, 1);
  read_some (self, 0, 10);
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (self->plan), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      ubatch = kvasir_batch_plan_get_ubatch (self->plan, i);
      g_assert_cmpuint (ubatch->n_tokens, ==, expected[i]);
    }
}

static void
test_failed_ubatch (Fixture *self, gconstpointer data)
{
  const HybridTokens tokens = { .n = 12, .seqs = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 } };
  g_autofree char *before = NULL;

  read_some (self, 0, 3);
  g_assert_true (kvasir_memory_seq_cp (self->memory, 0, 1, -1, -1));
  kvasir_memory_apply_copies (self->memory);
  before = hybrid_describe (self->memory);
  g_assert_cmpint (hybrid_decode (self->memory, self->plan, &tokens, 0), ==, -3);
  assert_unchanged (self->memory, before);
  /* The first ubatch, 4 tokens of each, stays. */
  g_assert_cmpint (hybrid_decode (self->memory, self->plan, &tokens, 1), ==, -3);
  assert_span (self, 0, 6, 6);
  assert_span (self, 1, 6, 6);
}

/* No room for cells: the state does not move on either. */
static void
test_no_room (Fixture *self, gconstpointer data)
{
  HybridTokens tokens = { .n = 17 };
  g_autofree char *before = NULL;

  for (guint i = 0; i < 4; i++)
    read_some (self, 0, 60);
  before = hybrid_describe (self->memory);
  g_assert_cmpint (hybrid_decode (self->memory, self->plan, &tokens, G_MAXUINT), ==, 1);
  assert_unchanged (self->memory, before);
  read_some (self, 0, 16);
}

static void
test_obstacle_stops_both (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;

  read_some (self, 0, 5);
  before = hybrid_describe (self->memory);
  g_assert_false (kvasir_memory_seq_add (self->memory, 0, -1, -1, 7));
  g_assert_false (kvasir_memory_seq_div (self->memory, 0, -1, -1, 2));
  assert_unchanged (self->memory, before);
}

static void
test_moves_both (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;

  read_some (self, 0, 6);
  before = hybrid_describe (self->memory);
  g_assert_false (kvasir_memory_seq_add (self->memory, 0, -1, -1, G_MAXINT32 - 5));
  assert_unchanged (self->memory, before);
  g_assert_true (kvasir_memory_seq_add (self->memory, 0, -1, -1, 7));
  assert_span (self, 0, 12, 12);
  g_assert_true (kvasir_memory_seq_div (self->memory, 0, -1, -1, 3));
  assert_span (self, 0, 4, 4);
}

/* Part of a range goes within a stream, where the state is shared whole; not between streams. */
static void
test_copies (Fixture *self, gconstpointer data)
{
  const HybridShape *shape = data;
  g_autofree char *before = NULL;

  read_some (self, 0, 6);
  before = hybrid_describe (self->memory);
  g_assert_cmpint (kvasir_memory_seq_cp (self->memory, 0, 1, 0, 4), ==, shape->n_streams == 1);
  if (shape->n_streams > 1)
    {
      assert_unchanged (self->memory, before);
      g_assert_true (kvasir_memory_seq_cp (self->memory, 0, 1, -1, -1));
      assert_span (self, 1, 5, 5);
    }
  else
    /* The smaller last and the larger first position of both halves. */
    assert_span (self, 1, 5, 3);
}

int
main (int argc, char **argv)
{
  static const HybridShape unified = { KVASIR_MEMORY_HYBRID, 1, 0, NULL };
  static const HybridShape streams = { KVASIR_MEMORY_HYBRID, HYBRID_N_SEQS, 0, NULL };
  static const HybridShape snapshots = { KVASIR_MEMORY_HYBRID, 1, 3, NULL };
  static const HybridShape obstacle = { KVASIR_MEMORY_HYBRID, 1, 0, "four positions" };

  g_test_init (&argc, &argv, NULL);
#define ADD(name, shape, func)                                                                     \
  g_test_add ("/engine/memory/hybrid/" name, Fixture, &shape, fixture_init, func, fixture_clear)
  ADD ("has-both-caches", unified, test_caches);
  ADD ("refused-removal-changes-neither", unified, test_refused_removal);
  ADD ("goes-back-together", snapshots, test_goes_back_together);
  ADD ("keeps-tails-together", snapshots, test_keeps_tails_together);
  ADD ("takes-both-back", unified, test_failed_ubatch);
  ADD ("takes-both-back-in-streams", streams, test_failed_ubatch);
  ADD ("no-room-changes-neither", unified, test_no_room);
  ADD ("obstacle-stops-both", obstacle, test_obstacle_stops_both);
  ADD ("moves-both", unified, test_moves_both);
  ADD ("copies-a-range", unified, test_copies);
  ADD ("refuses-a-range-between-streams", streams, test_copies);
  return g_test_run ();
}
