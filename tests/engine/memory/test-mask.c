/* Rows of the mask that are followed from token to token are those that are written anew. */
#include <string.h>

#include "tests/engine/memory/support.h"

#define N_SEQS 3
#define N_CELLS 512
#define N_WORDS (N_CELLS / 64)
#define N_SWA 24

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  guint64 kept[2][16 * N_WORDS];
  guint64 stamps[2];
} Fixture;

static void
fixture_init (Fixture *self, gconstpointer data)
{
  const KvasirMemoryParams *given = data;
  KvasirMemoryParams params = *given;
  KvasirMemoryLayer layers[2];
  KvasirBatchLimits limits = {
    .n_batch = 64, .n_ubatch = 16, .n_seq_max = N_SEQS, .n_vocab = 100, .n_pos_per_token = 1
  };

  test_heap_init (&self->heap);
  for (guint i = 0; i < 2; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                     .is_swa = i == 1,
                                     .share = -1,
                                     .n_embd_k = 2,
                                     .n_embd_v = 2,
                                     .head_dim_k = 2,
                                     .head_dim_v = 2,
                                     .buffer_type = &self->heap.type };
  params.kv_size = N_CELLS;
  params.n_seq_max = N_SEQS;
  params.n_streams = params.unified ? 1 : N_SEQS;
  params.n_ubatch = 16;
  params.n_batch = 64;
  params.is_causal = TRUE;
  params.n_pos_per_token = 1;
  params.n_layers = 2;
  params.layers = layers;
  params.arch = "test";
  self->memory = kvasir_memory_new (&params, NULL);
  self->plan = kvasir_batch_plan_new (&limits);
  g_assert_nonnull (self->memory);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
}

static void
check_mask (Fixture *self, const KvasirUbatch *ubatch)
{
  for (guint c = 0; c < kvasir_memory_get_n_caches (self->memory); c++)
    {
      guint64 fresh[16 * N_WORDS] = { 0 };
      guint n_words = kvasir_memory_get_n_kv (self->memory, c) / 64;
      guint64 before = self->stamps[c];
      guint64 *kept = self->kept[c];

      kvasir_memory_fill_mask (self->memory, c, fresh, N_WORDS);
      self->stamps[c] = kvasir_memory_refresh_mask (self->memory, c, kept, N_WORDS, before);
      for (guint t = 0; t < ubatch->n_tokens; t++)
        g_assert_cmpmem (kept + t * N_WORDS, n_words * 8, fresh + t * N_WORDS, n_words * 8);
    }
}

static void
decode (Fixture *self, gint seq, guint n)
{
  gint32 tokens[64] = { 0 };
  guint n_seqs[64];
  const gint32 *seqs[64];
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };
  const KvasirUbatch *ubatch;

  for (guint i = 0; i < n; i++)
    {
      seqs[i] = &seq;
      n_seqs[i] = 1;
    }
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  kvasir_memory_apply_copies (self->memory);
  kvasir_memory_update_done (self->memory, 0);
  if (kvasir_memory_init_batch (self->memory, self->plan) != KVASIR_PREPARE_OK)
    {
      kvasir_memory_seq_rm (self->memory, -1, -1, -1);
      decode (self, seq, n);
      return;
    }
  while (kvasir_memory_apply_next (self->memory, &ubatch))
    check_mask (self, ubatch);
}

static void
play_one (Fixture *self, GRand *rand)
{
  gint seq = g_rand_int_range (rand, 0, N_SEQS);
  gint32 last = kvasir_memory_seq_pos_max (self->memory, seq);

  switch (g_rand_int_range (rand, 0, 24))
    {
    case 0:
      decode (self, seq, (guint) g_rand_int_range (rand, 2, 60));
      break;
    case 1:
      kvasir_memory_seq_rm (self->memory, seq, last - g_rand_int_range (rand, 0, 4), -1);
      break;
    case 2:
      kvasir_memory_seq_rm (self->memory, (seq + 1) % N_SEQS, -1, -1);
      kvasir_memory_seq_cp (self->memory, seq, (seq + 1) % N_SEQS, -1, -1);
      break;
    case 3:
      kvasir_memory_rollback (self->memory);
      break;
    case 4:
      decode (self, seq, 1);
      break;
    default:
      decode (self, 0, 1);
    }
}

static void
test_random (Fixture *self, gconstpointer data)
{
  GRand *rand = g_rand_new_with_seed (11);

  decode (self, 0, 1);
  for (guint i = 0; i < 3000; i++)
    {
      play_one (self, rand);
      /* So that there is always something to take back. */
      decode (self, 0, 1);
    }
  g_rand_free (rand);
}

/* Words that cannot have changed are not even written: a row of any length costs the same. */
static void
test_untouched (Fixture *self, gconstpointer data)
{
  gint32 token = 0;
  KvasirBatch batch = { .n_tokens = 1, .tokens = &token };
  const KvasirUbatch *ubatch;

  for (guint i = 0; i < 3; i++)
    decode (self, 0, 60);
  decode (self, 0, 1);
  self->kept[0][0] = 0xdead;
  self->kept[0][1] = 0xbeef;
  for (guint i = 0; i < 10; i++)
    {
      g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
      g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
      g_assert_true (kvasir_memory_apply_next (self->memory, &ubatch));
      self->stamps[0] =
          kvasir_memory_refresh_mask (self->memory, 0, self->kept[0], N_WORDS, self->stamps[0]);
      g_assert_cmphex (self->kept[0][0], ==, 0xdead);
      g_assert_cmphex (self->kept[0][1], ==, 0xbeef);
      g_assert_cmphex (self->kept[0][2], ==, (i < 10 ? (2ull << (53 + i)) - 1 : 0));
    }
  /* Another operation, and the row is written anew. */
  g_assert_true (kvasir_memory_seq_rm (self->memory, 0, 190, -1));
  decode (self, 0, 1);
  g_assert_cmphex (self->kept[0][0], ==, ~0ull);
}

int
main (int argc, char **argv)
{
  static const KvasirMemoryParams plain = { .klass = KVASIR_MEMORY_KV, .unified = TRUE };
  static const KvasirMemoryParams streams = { .klass = KVASIR_MEMORY_KV };
  static const KvasirMemoryParams pair = { .klass = KVASIR_MEMORY_KV_ISWA,
                                           .unified = TRUE,
                                           .window = KVASIR_WINDOW_STANDARD,
                                           .n_swa = N_SWA };
  static const KvasirMemoryParams chunks = {
    .klass = KVASIR_MEMORY_KV_ISWA, .unified = TRUE, .window = KVASIR_WINDOW_CHUNKED, .n_swa = N_SWA
  };

  g_test_init (&argc, &argv, NULL);
#define ADD(name, params, func)                                                                    \
  g_test_add ("/engine/memory/mask/" name, Fixture, &params, fixture_init, func, fixture_clear)
  ADD ("followed-rows-are-right", plain, test_random);
  ADD ("followed-rows-are-right-in-streams", streams, test_random);
  ADD ("followed-rows-are-right-in-windows", pair, test_random);
  ADD ("followed-rows-are-right-in-chunks", chunks, test_random);
  ADD ("rows-are-only-touched-where-they-change", plain, test_untouched);
  return g_test_run ();
}
