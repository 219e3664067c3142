/* Rows into caches of several streams, stored as rows and as columns: every value is where the
 * contract puts it, and nothing else has changed. */
#include <string.h>

#include "backends/cpu/rows.h"
#include "rig.h"

enum
{
  WIDTH = 320,
  N_CELLS = 64,
  N_STREAMS = 3,
  N_ROWS = 5
};

/* First and last cells of streams, and the middle of one. */
static const gint64 slots[N_ROWS] = { 0, 63, 64, 100, 191 };

typedef struct
{
  KvasirTensor *rows, *ids, *cache, *node;
} Store;

static void
make_store (Store *store, Rig *rig, KvasirType type, gboolean transposed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  gint64 ne0 = transposed ? N_CELLS : WIDTH, ne1 = transposed ? WIDTH : N_CELLS;

  store->rows = rig_random (rig, rand, KVASIR_TYPE_F32, WIDTH, N_ROWS, 1);
  store->ids = rig_tensor (rig, KVASIR_TYPE_I64, N_ROWS, 1, 1);
  memcpy (store->ids->data, slots, sizeof slots);
  store->cache = rig_random (rig, rand, type, ne0, ne1, N_STREAMS);
  store->node = rig_view_node (rig, KVASIR_OP_SET_ROWS, store->cache);
  store->node->src[0] = store->rows;
  store->node->src[1] = store->ids;
  store->node->src[2] = store->cache;
  store->node->params.set_rows.transposed = transposed;
}

/* What the bytes of the cache must be, from those that it has now. */
static guint8 *
get_expected (const Store *store, gboolean transposed)
{
  const KvasirTensor *cache = store->cache;
  guint8 *bytes = g_memdup2 (cache->data, cache->nb[3]);
  g_autofree guint8 *row = g_malloc (WIDTH * sizeof (float));

  for (gsize i = 0; i < N_ROWS; i++)
    {
      gsize stream = (gsize) slots[i] / N_CELLS, cell = (gsize) slots[i] % N_CELLS;
      guint8 *at = bytes + stream * cache->nb[2];
      kvasir_scalar_from_float[cache->type]((float *) store->rows->data + i * WIDTH, row, WIDTH);
      if (transposed)
        for (gsize j = 0; j < WIDTH; j++)
          memcpy (at + j * cache->nb[1] + cell * cache->nb[0], row + j * cache->nb[0],
                  cache->nb[0]);
      else
        memcpy (at + cell * cache->nb[1], row, cache->nb[1]);
    }
  return bytes;
}

static void
check_store (KvasirCpuIsa isa, KvasirType type, gboolean transposed)
{
  g_autoptr (Rig) rig = rig_new (isa, 2);
  Store store;

  make_store (&store, rig, type, transposed);
  g_autofree guint8 *expected = get_expected (&store, transposed);
  g_assert_cmpint (rig_compute (rig, N_ROWS, 0), ==, KVASIR_STATUS_OK);
  g_assert_cmpmem (store.cache->data, store.cache->nb[3], expected, store.cache->nb[3]);
}

static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                    KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                    KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };

static void
test_streams (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      check_store (*isa, types[i], FALSE);
}

static void
test_transposed (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < 3; i++)
      check_store (*isa, types[i], TRUE);
}

enum
{
  DIM = 512,
  N_HEADS = 8,
  N_TOKENS = 96
};

/* Keys of two streams that are stored and read by one plan, the values as a view of them. Returns:
 * the result; @cache is what the keys go to. */
static KvasirTensor *
make_layer (Rig *rig, KvasirTensor **cache)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  KvasirTensor *keys = rig_random (rig, rand, KVASIR_TYPE_F32, DIM, N_TOKENS, 1);
  KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I64, N_TOKENS, 1, 1);
  KvasirTensor *mask = rig_tensor (rig, KVASIR_TYPE_I64, 1, N_TOKENS, 1);
  KvasirTensor *q = rig_random (rig, rand, KVASIR_TYPE_F32, DIM, N_HEADS, N_TOKENS);
  gint64 ne[3] = { DIM / 2 * N_HEADS, N_TOKENS, 1 };

  *cache = rig_tensor (rig, KVASIR_TYPE_F32, DIM, N_CELLS, N_STREAMS);
  KvasirTensor *set = rig_view_node (rig, KVASIR_OP_SET_ROWS, *cache);
  KvasirTensor *values = rig_view_node (rig, KVASIR_OP_VIEW, *cache);
  KvasirTensor *out = rig_node (rig, KVASIR_OP_ATTENTION, ne, q, set, values);
  memset (mask->data, 0xff, mask->nb[3]);
  /* The last cells of both streams. */
  for (int i = 0; i < N_TOKENS; i++)
    ((gint64 *) ids->data)[i] =
        (2 + i / (N_TOKENS / 2)) * N_CELLS - N_TOKENS / 2 + i % (N_TOKENS / 2);
  set->src[0] = keys;
  set->src[1] = ids;
  set->src[2] = *cache;
  values->src[0] = *cache;
  values->ne[0] = DIM / 2;
  out->src[3] = mask;
  out->params.attention = (KvasirAttentionParams){
    .head_dim_k = DIM, .head_dim_v = DIM / 2, .n_heads = N_HEADS, .n_kv_heads = 1, .scale = 0.05f
  };
  return out;
}

/* Done at once or node by node, attention finds what was stored. Several rounds, because a race
 * may end well. */
static void
test_stored_before_read (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 2);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirStep step = {
    .n_tokens = N_TOKENS, .n_kv = { N_CELLS }, .first_stream = 1, .n_streams = 2
  };
  KvasirTensor *cache, *out = make_layer (rig, &cache);
  KvasirPlan *plan =
      vtable->plan_new (rig->device, (KvasirTensor *const *) rig->nodes->pdata, rig->nodes->len);

  for (gsize i = 0; i < rig->nodes->len; i++)
    g_assert_cmpint (vtable->plan_compute (plan, i, 1, &step), ==, KVASIR_STATUS_OK);
  g_autofree float *expected = rig_get_floats (out);
  for (int round = 0; round < 40; round++)
    {
      memset (cache->data, 0, cache->nb[3]);
      g_assert_cmpint (vtable->plan_compute (plan, 0, rig->nodes->len, &step), ==,
                       KVASIR_STATUS_OK);
      g_assert_cmpmem (expected, out->nb[2], out->data, out->nb[2]);
    }
  vtable->plan_free (plan);
}

static void
test_refused (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  Store store;

  /* Blocks of 32 cells can't be written one cell at a time. */
  make_store (&store, rig, KVASIR_TYPE_Q8_0, TRUE);
  g_assert_false (vtable->supports_op (rig->device, store.node));
  make_store (&store, rig, KVASIR_TYPE_F16, TRUE);
  g_assert_true (vtable->supports_op (rig->device, store.node));
  store.node->params.set_rows.transposed = 0;
  g_assert_false (vtable->supports_op (rig->device, store.node));
  make_store (&store, rig, KVASIR_TYPE_F16, FALSE);
  store.ids->ne[0] = N_ROWS - 1;
  g_assert_false (vtable->supports_op (rig->device, store.node));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/caches/rows-are-counted-through-streams", test_streams);
  g_test_add_func ("/backends/caches/transposed-rows-are-columns", test_transposed);
  g_test_add_func ("/backends/caches/rows-are-stored-before-they-are-read",
                   test_stored_before_read);
  g_test_add_func ("/backends/caches/impossible-stores-are-refused", test_refused);
  return g_test_run ();
}
