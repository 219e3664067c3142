/* A draft's memory over the cells of its target's: layer 0 of the draft reads the target's layer 1,
 * layer 1 has rows of its own at the same cells. */
#include "engine/error.h"
#include "tests/engine/memory/support.h"

#define N_OWN_LAYER 1
#define N_LENT_LAYER 1

typedef struct
{
  TestHeap heap;
  KvasirMemory *target;
  KvasirMemory *draft;
  KvasirBatchPlan *plan;
} Fixture;

static const TestShape shape = {
  .n_ctx = 256, .n_seq_max = 3, .n_batch = 256, .n_ubatch = 16, .type = KVASIR_TYPE_F16
};

static gint
share_layer (gpointer user_data, guint layer)
{
  return layer == 0 ? N_LENT_LAYER : -1;
}

static KvasirMemory *
make_draft (Fixture *self, KvasirMemoryClass klass, GError **error)
{
  KvasirMemoryLayer layers[2];
  KvasirMemoryParams params = { .klass = klass,
                                .kv_size = 256,
                                .n_streams = 1,
                                .unified = TRUE,
                                .n_seq_max = shape.n_seq_max,
                                .n_ubatch = shape.n_ubatch,
                                .type_k = shape.type,
                                .type_v = shape.type,
                                .is_causal = TRUE,
                                .n_pos_per_token = 1,
                                .n_layers = 2,
                                .layers = layers,
                                .arch = "draft",
                                .other = self->target,
                                .share = share_layer };

  for (guint i = 0; i < 2; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                     .share = -1,
                                     .n_embd_k = 32,
                                     .n_embd_v = 32,
                                     .head_dim_k = 32,
                                     .head_dim_v = 32,
                                     .buffer_type = &self->heap.type };
  return kvasir_memory_new (&params, error);
}

static void
fixture_init (Fixture *self, gconstpointer data)
{
  test_heap_init (&self->heap);
  self->target = test_memory_new (&self->heap, &shape);
  self->draft = make_draft (self, KVASIR_MEMORY_KV, NULL);
  self->plan = test_plan_new (&shape);
  g_assert_nonnull (self->draft);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->draft);
  kvasir_memory_free (self->target);
  kvasir_batch_plan_free (self->plan);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
}

static guint8 *
peek_own_row (Fixture *self, gsize cell)
{
  KvasirTensor *k;
  KvasirTensor *v;
  guint cache;

  kvasir_memory_get_layer (self->draft, N_OWN_LAYER, &k, &v, &cache);
  return (guint8 *) k->data + cell * k->nb[1];
}

/* Lets the draft read @n tokens of @seq; the rows of its own tell their positions. Returns: as
 * test_decode(); @cells (nullable) [n]: where they lie */
static gint
read_draft (Fixture *self, gint seq, guint n, guint32 *cells)
{
  gint32 tokens[64] = { 0 };
  guint n_seqs[64];
  const gint32 *seqs[64];
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };
  const KvasirUbatch *ubatch;
  gint64 slots[64];
  guint n_done = 0;

  for (guint i = 0; i < n; i++)
    {
      seqs[i] = &seq;
      n_seqs[i] = 1;
    }
  if (!kvasir_batch_plan_init (self->plan, &batch, self->draft, NULL))
    return -1;
  if (kvasir_memory_init_batch (self->draft, self->plan) != KVASIR_PREPARE_OK)
    return 1;
  while (kvasir_memory_apply_next (self->draft, &ubatch))
    {
      kvasir_memory_fill_slots (self->draft, 0, slots);
      for (guint i = 0; i < ubatch->n_tokens; i++)
        {
          *peek_own_row (self, (gsize) slots[i]) = (guint8) (100 + ubatch->pos[i]);
          if (cells != NULL)
            cells[n_done + i] = (guint32) slots[i];
        }
      n_done += ubatch->n_tokens;
    }
  return 0;
}

/* Whether each position of @seq has its own row at the cell that holds it. */
static void
assert_own_rows (Fixture *self, guint seq, gint32 n)
{
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, (gint) seq), ==, n - 1);
  for (guint i = 0; i < 256; i++)
    {
      KvasirCell cell;

      kvasir_memory_get_cell (self->target, 0, 0, i, &cell);
      if (kvasir_seq_set_has (&cell.seqs, seq) && cell.pos < n)
        g_assert_cmpint (*peek_own_row (self, i), ==, 100 + cell.pos);
    }
}

static void
test_reads_rows (Fixture *self, gconstpointer data)
{
  KvasirTensor *lent[2];
  KvasirTensor *seen[2];
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint cache;

  kvasir_memory_get_layer (self->target, N_LENT_LAYER, &lent[0], &lent[1], &cache);
  kvasir_memory_get_layer (self->draft, 0, &seen[0], &seen[1], &cache);
  g_assert_true (lent[0] == seen[0] && lent[1] == seen[1]);
  kvasir_memory_get_layer (self->draft, N_OWN_LAYER, &seen[0], &seen[1], &cache);
  g_assert_true (seen[0] != NULL && seen[0] != lent[0]);
  /* Only the layer of its own takes bytes: K and V of 256 cells of 64 bytes. */
  kvasir_memory_append_breakdown (self->draft, rows);
  g_assert_cmpuint (rows->len, ==, 2);
  g_assert_cmpuint (g_array_index (rows, KvasirMemoryRow, 0).n_bytes, ==, 256 * 64);
}

static void
test_mirrors_cells (Fixture *self, gconstpointer data)
{
  guint32 cells[13];
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  guint64 words[13 * 4];

  /* A free cell among those of the sequence, and cells of another one before them. */
  g_assert_cmpint (test_decode_some (self->target, self->plan, 1, 5, 3), ==, 0);
  g_assert_true (kvasir_memory_seq_rm (self->target, 1, 2, 3));
  g_assert_cmpint (test_decode_some (self->target, self->plan, 0, 10, 1), ==, 0);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, 0), ==, -1);
  before = test_memory_describe (self->target);
  g_assert_cmpint (read_draft (self, 0, 10, cells), ==, 0);
  after = test_memory_describe (self->target);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpuint (cells[0], ==, 2);
  for (guint i = 1; i < 10; i++)
    g_assert_cmpuint (cells[i], ==, 4 + i);
  assert_own_rows (self, 0, 10);
  kvasir_memory_fill_mask (self->draft, 0, words, 4);
  g_assert_cmphex (words[0], ==, 1u << 2);
  g_assert_cmphex (words[4], ==, 1u << 2 | 1u << 5);
  g_assert_cmphex (words[9 * 4], ==, 1u << 2 | 0x1ffu << 5);

  /* Behind the target it places tokens of its own, which the target sees and takes away. */
  g_assert_cmpint (read_draft (self, 0, 3, cells), ==, 0);
  g_assert_cmpuint (cells[0], ==, 14);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->target, 0), ==, 12);
  g_assert_true (kvasir_memory_seq_rm (self->target, 0, 10, -1));
  assert_own_rows (self, 0, 10);
}

static void
test_follows_changes (Fixture *self, gconstpointer data)
{
  g_assert_cmpint (test_decode_some (self->target, self->plan, 0, 20, 1), ==, 0);
  g_assert_cmpint (read_draft (self, 0, 20, NULL), ==, 0);

  /* Other tokens at the same positions are not what the draft has read. */
  g_assert_true (kvasir_memory_seq_rm (self->target, 0, 12, -1));
  g_assert_cmpint (test_decode_some (self->target, self->plan, 0, 8, 77), ==, 0);
  assert_own_rows (self, 0, 12);
  g_assert_cmpint (read_draft (self, 0, 8, NULL), ==, 0);
  assert_own_rows (self, 0, 20);

  /* Moved keys of its own would have to be turned too; they are read again instead. */
  g_assert_true (kvasir_memory_seq_rm (self->target, 0, 4, 6));
  g_assert_true (kvasir_memory_seq_add (self->target, 0, 6, -1, -2));
  assert_own_rows (self, 0, 4);
  g_assert_true (kvasir_memory_seq_cp (self->target, 0, 1, -1, -1));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, 1), ==, -1);
  kvasir_memory_clear (self->target, FALSE);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, 0), ==, -1);
}

static void
test_takes_back (Fixture *self, gconstpointer data)
{
  gint32 tokens[6] = { 0 };
  KvasirBatch batch = { .n_tokens = 6, .tokens = tokens };
  const KvasirUbatch *ubatch;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  g_assert_cmpint (test_decode_some (self->target, self->plan, 0, 4, 1), ==, 0);
  before = test_memory_describe (self->target);
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->draft, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->draft, self->plan), ==, KVASIR_PREPARE_OK);
  g_assert_true (kvasir_memory_apply_next (self->draft, &ubatch));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->target, 0), ==, 5);
  kvasir_memory_rollback (self->draft);
  after = test_memory_describe (self->target);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, 0), ==, -1);
}

static void
test_restores (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) of_target = g_byte_array_new ();
  g_autoptr (GByteArray) of_draft = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (test_decode_some (self->target, self->plan, 0, 9, 1), ==, 0);
  g_assert_cmpint (read_draft (self, 0, 9, NULL), ==, 0);
  g_assert_true (kvasir_memory_state_write (self->target, 0, FALSE, of_target, NULL));
  g_assert_true (kvasir_memory_state_write (self->draft, 0, FALSE, of_draft, NULL));
  kvasir_memory_clear (self->target, TRUE);
  kvasir_memory_clear (self->draft, TRUE);
  g_assert_cmpint (test_decode_some (self->target, self->plan, 2, 7, 5), ==, 0);

  g_assert_false (
      kvasir_memory_state_read (self->draft, 1, FALSE, of_draft->data, of_draft->len, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_true (
      kvasir_memory_state_read (self->target, 1, FALSE, of_target->data, of_target->len, NULL));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->draft, 1), ==, -1);
  g_assert_true (
      kvasir_memory_state_read (self->draft, 1, FALSE, of_draft->data, of_draft->len, NULL));
  assert_own_rows (self, 1, 9);
}

static void
test_refuses (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  /* There is a borrower already, and its kind has to be the lender's. */
  g_assert_null (make_draft (self, KVASIR_MEMORY_KV, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_clear_error (&error);
  g_assert_null (make_draft (self, KVASIR_MEMORY_HYBRID, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/sharing/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  ADD ("draft-reads-rows-of-its-target", test_reads_rows);
  ADD ("draft-mirrors-cells-of-its-target", test_mirrors_cells);
  ADD ("draft-follows-changes-of-its-target", test_follows_changes);
  ADD ("draft-takes-its-own-tokens-back", test_takes_back);
  ADD ("draft-is-restored-where-its-target-is", test_restores);
  ADD ("draft-needs-a-fitting-target", test_refuses);
  return g_test_run ();
}
