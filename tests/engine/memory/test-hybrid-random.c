/* A hybrid beside its halves: random operations on a memory of cells and states, on one of cells
 * and on one of states. Each half of the hybrid must be what its counterpart is, and an operation
 * that one half refuses must not have reached the other. */
#include "tests/engine/memory/hybrid-rig.h"

typedef struct
{
  KvasirMemory *memories[3]; /* the hybrid, cells alone, states alone */
  KvasirBatchPlan *plans[3];
  GRand *rand;
} Trio;

static gint
draw (Trio *self, gint low, gint high)
{
  return g_rand_int_range (self->rand, low, high + 1);
}

static void
assert_halves_agree (Trio *self)
{
  g_autoptr (GString) hybrid = g_string_new (NULL);
  g_autoptr (GString) halves = g_string_new (NULL);

  hybrid_describe_cache (self->memories[0], 0, hybrid);
  hybrid_describe_cache (self->memories[0], 1, hybrid);
  hybrid_describe_cache (self->memories[1], 0, halves);
  hybrid_describe_cache (self->memories[2], 0, halves);
  g_assert_cmpstr (hybrid->str, ==, halves->str);
}

/* Where the hybrid goes on, though a half alone might have gone on elsewhere. */
static void
decode_all (Trio *self)
{
  gint32 pos[HYBRID_N_BATCH], next[HYBRID_N_SEQS];
  HybridTokens tokens = { .n = (guint) draw (self, 1, 20), .pos = pos };
  guint fail_at = (guint) draw (self, 0, 9);
  gint ret;

  for (gint seq = 0; seq < HYBRID_N_SEQS; seq++)
    next[seq] = kvasir_memory_seq_pos_max (self->memories[0], seq) + 1;
  for (guint i = 0; i < tokens.n; i++)
    {
      tokens.seqs[i] = draw (self, 0, HYBRID_N_SEQS - 1);
      pos[i] = next[tokens.seqs[i]]++;
    }
  ret = hybrid_decode (self->memories[0], self->plans[0], &tokens, fail_at);
  for (guint m = 1; m < 3; m++)
    if (ret != 1)
      g_assert_cmpint (hybrid_decode (self->memories[m], self->plans[m], &tokens, fail_at), ==,
                       ret);
    else
      {
        /* No room, or cells without a state (a copy of nothing). Updates were done all the same. */
        kvasir_memory_apply_copies (self->memories[m]);
        kvasir_memory_update_done (self->memories[m], 0);
      }
}

static void
remove_range (Trio *self)
{
  gint seq = draw (self, -1, HYBRID_N_SEQS - 1);
  gint32 last = seq >= 0 ? kvasir_memory_seq_pos_max (self->memories[0], seq) : 5;
  gint32 p0 = draw (self, 0, 2) ? draw (self, -1, last + 1) : -1;
  gint32 p1 = draw (self, 0, 1) ? draw (self, -1, last + 1) : -1;
  gboolean done = kvasir_memory_seq_rm (self->memories[2], seq, p0, p1);

  g_assert_cmpint (kvasir_memory_seq_rm (self->memories[0], seq, p0, p1), ==, done);
  if (done)
    g_assert_true (kvasir_memory_seq_rm (self->memories[1], seq, p0, p1));
}

static void
copy_range (Trio *self)
{
  gint src = draw (self, 0, HYBRID_N_SEQS - 1), dst = draw (self, 0, HYBRID_N_SEQS - 1);
  gint32 p1 = draw (self, 0, 3) ? -1 : draw (self, 0, 9);
  gboolean done = kvasir_memory_seq_cp (self->memories[1], src, dst, -1, p1);

  g_assert_cmpint (kvasir_memory_seq_cp (self->memories[0], src, dst, -1, p1), ==, done);
  if (done)
    g_assert_true (kvasir_memory_seq_cp (self->memories[2], src, dst, -1, p1));
}

static void
change_all (Trio *self)
{
  gint seq = draw (self, 0, HYBRID_N_SEQS - 1), kind = draw (self, 0, 9);
  gint32 p0 = draw (self, -1, 9), number = draw (self, 1, 4);

  for (guint m = 0; m < 3; m++)
    if (kind == 0)
      kvasir_memory_seq_keep (self->memories[m], seq);
    else if (kind == 1)
      kvasir_memory_clear (self->memories[m], TRUE);
    else if (kind < 6)
      g_assert_true (kvasir_memory_seq_add (self->memories[m], seq, p0, -1, number));
    else
      g_assert_true (kvasir_memory_seq_div (self->memories[m], seq, p0, -1, number));
}

static void
test_random (void)
{
  const HybridShape shapes[] = { { KVASIR_MEMORY_HYBRID, HYBRID_N_SEQS, 0, NULL },
                                 { KVASIR_MEMORY_KV, HYBRID_N_SEQS, 0, NULL },
                                 { KVASIR_MEMORY_RECURRENT, HYBRID_N_SEQS, 0, NULL } };
  guint n_runs = g_test_slow () ? 2000 : 40;

  for (guint run = 0; run < n_runs; run++)
    {
      guint32 seed = (guint32) g_test_rand_int ();
      Trio self = { .rand = g_rand_new_with_seed (seed) };
      TestHeap heap;

      g_test_message ("seed %u", seed);
      test_heap_init (&heap);
      for (guint m = 0; m < 3; m++)
        {
          self.memories[m] = hybrid_memory_new (&heap, &shapes[m]);
          self.plans[m] = hybrid_plan_new ();
        }
      for (guint i = 0; i < 60; i++)
        {
          gint kind = draw (&self, 0, 9);

          if (kind < 5)
            decode_all (&self);
          else if (kind < 7)
            remove_range (&self);
          else if (kind < 9)
            copy_range (&self);
          else
            change_all (&self);
          assert_halves_agree (&self);
        }
      for (guint m = 0; m < 3; m++)
        {
          kvasir_memory_free (self.memories[m]);
          kvasir_batch_plan_free (self.plans[m]);
        }
      g_rand_free (self.rand);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/memory/hybrid/agrees-with-its-halves", test_random);
  return g_test_run ();
}
