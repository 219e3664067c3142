#include "tests/engine/memory/state-rig.h"

#include <string.h>

#define WIDTH_R 5
#define WIDTH_S 7
#define N_VOCAB 1000

void
state_rig_get_params (TestHeap *heap,
                      KvasirMemoryParams *params,
                      KvasirMemoryLayer layers[RIG_N_LAYERS])
{
  memset (layers, 0, RIG_N_LAYERS * sizeof *layers);
  for (guint i = 0; i < RIG_N_LAYERS; i++)
    layers[i].buffer_type = &heap->type;
  layers[0].n_embd_r = WIDTH_R;
  layers[0].n_embd_s = WIDTH_S;
  layers[1].n_embd_r = WIDTH_R;
  *params = (KvasirMemoryParams){ .klass = KVASIR_MEMORY_RECURRENT,
                                  .n_streams = 1,
                                  .n_seq_max = 4,
                                  .n_ubatch = 16,
                                  .n_pos_per_token = 1,
                                  .n_layers = RIG_N_LAYERS,
                                  .layers = layers,
                                  .arch = "test" };
}

static void
see_cells (gpointer data, const KvasirEvent *event, const gint32 *numbers, guint n_numbers)
{
  StateRig *self = data;
  KvasirCell *cell;

  if (event->type != KVASIR_EVENT_CELLS)
    return;
  g_assert_cmpint (event->n, ==, 1);
  g_assert_cmpint (event->cell, <, (gint) self->n_seq_max);
  cell = &self->mirror[event->cell];
  g_assert_cmpint (cell->pos, ==, event->before.pos);
  g_assert_true (kvasir_seq_set_equal (&cell->seqs, &event->before.seqs));
  if (cell->pos >= 0)
    g_assert_cmpint (cell->token, ==, *numbers++);
  cell->pos = event->after.pos;
  cell->seqs = event->after.seqs;
  cell->token = cell->pos >= 0 ? *numbers : -1;
  g_assert_cmpuint (n_numbers, ==, (event->before.pos >= 0) + (event->after.pos >= 0));
}

void
state_rig_init (StateRig *self, guint n_seq_max, guint n_rs_seq, guint n_ubatch)
{
  KvasirMemoryLayer layers[RIG_N_LAYERS];
  KvasirMemoryParams params;
  KvasirBatchLimits limits = { .n_batch = RIG_MAX_TOKENS,
                               .n_ubatch = n_ubatch,
                               .n_seq_max = n_seq_max,
                               .n_vocab = N_VOCAB,
                               .n_pos_per_token = 4 };
  g_autoptr (GError) error = NULL;

  *self = (StateRig){ .n_seq_max = n_seq_max, .n_keep = n_rs_seq };
  test_heap_init (&self->heap);
  state_rig_get_params (&self->heap, &params, layers);
  params.n_seq_max = n_seq_max;
  params.n_rs_seq = n_rs_seq;
  params.n_ubatch = n_ubatch;
  self->memory.sink = (KvasirEventSink){ see_cells, self };
  self->part = kvasir_recurrent_new (&params, &error);
  g_assert_no_error (error);
  self->part->memory = &self->memory;
  self->part->name = "recurrent";
  self->plan = kvasir_batch_plan_new (&limits);
  self->mirror = g_new0 (KvasirCell, n_seq_max);
  for (guint i = 0; i < n_seq_max; i++)
    self->mirror[i] = (KvasirCell){ .pos = -1, .token = -1 };
}

void
state_rig_clear (StateRig *self)
{
  self->part->vtable->free (self->part);
  kvasir_batch_plan_free (self->plan);
  g_free (self->mirror);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
}

void
state_batch_add (StateBatch *self, gint32 token, gint32 pos, gint seq)
{
  guint i = self->n++;

  g_assert_cmpuint (i, <, RIG_MAX_TOKENS);
  self->tokens[i] = token;
  self->pos[i] = pos;
  self->seqs[i][0] = seq;
  self->n_seqs[i] = 1;
}

guint
state_rig_prepare (StateRig *self, const StateBatch *batch)
{
  const gint32 *seqs[RIG_MAX_TOKENS];
  KvasirBatch given = { .n_tokens = batch->n,
                        .tokens = batch->tokens,
                        .pos = batch->pos,
                        .seqs = seqs,
                        .n_seqs = batch->n_seqs };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < batch->n; i++)
    seqs[i] = batch->seqs[i];
  g_assert_true (kvasir_batch_plan_init (self->plan, &given, NULL, &error));
  g_assert_true (kvasir_batch_plan_split (self->plan, KVASIR_SPLIT_EQUAL,
                                          self->n_keep > 0 ? self->n_keep + 1 : 0));
  g_assert_true (self->part->vtable->prepare (self->part, self->plan, FALSE));
  return kvasir_batch_plan_get_n_ubatches (self->plan);
}

static float
scan_value (float last, gint32 token, guint place)
{
  return (float) ((31 * (gint) last + token + (gint) place) % 65521);
}

static float *
peek_row (KvasirTensor *tensor, gint32 row)
{
  g_assert_cmpint (row, <, (gint) tensor->ne[1]);
  return (float *) tensor->data + row * tensor->ne[0];
}

/* One tensor, one sequence: as backend.h describes scans. */
static void
scan (const StateRig *self,
      KvasirTensor *tensor,
      const KvasirUbatch *ubatch,
      guint s,
      const gint32 *rows)
{
  guint width = (guint) tensor->ne[0];
  g_autofree float *state = g_new0 (float, width);
  guint n = ubatch->n_seq_tokens;

  if (rows[0] >= 0)
    memcpy (state, peek_row (tensor, rows[0]), width * sizeof *state);
  for (guint t = 0; t < n; t++)
    {
      for (guint i = 0; i < width; i++)
        state[i] = scan_value (state[i], ubatch->tokens[s * n + t], i);
      if (n - 1 - t <= self->n_keep && rows[1 + (n - 1 - t)] >= 0)
        memcpy (peek_row (tensor, rows[1 + (n - 1 - t)]), state, width * sizeof *state);
    }
}

static void
assert_rows_apart (const gint32 *rows, guint n_seqs, guint n_each)
{
  for (guint i = 0; i < n_seqs * n_each; i++)
    for (guint j = 0; j < n_seqs * n_each; j++)
      if (i % n_each != 0 && i != j && rows[i] >= 0)
        g_assert_cmpint (rows[i], !=, rows[j]);
}

const KvasirUbatch *
state_rig_apply (StateRig *self, guint i)
{
  const KvasirPartVtable *vtable = self->part->vtable;
  const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (self->plan, i);
  g_autofree gint32 *rows = g_new (gint32, ubatch->n_seqs * (2 + self->n_keep));

  vtable->apply (self->part, ubatch, i);
  vtable->fill_state_rows (self->part, rows);
  assert_rows_apart (rows, ubatch->n_seqs, 2 + self->n_keep);
  for (guint layer = 0; layer < RIG_N_LAYERS; layer++)
    {
      KvasirTensor *tensors[2];

      vtable->get_state_layer (self->part, layer, &tensors[0], &tensors[1]);
      for (guint k = 0; k < 2; k++)
        for (guint s = 0; tensors[k] != NULL && s < ubatch->n_seqs; s++)
          scan (self, tensors[k], ubatch, s, rows + s * (2 + self->n_keep));
    }
  return ubatch;
}

void
state_rig_decode (StateRig *self, const StateBatch *batch)
{
  guint n = state_rig_prepare (self, batch);

  for (guint i = 0; i < n; i++)
    {
      state_rig_apply (self, i);
      self->part->vtable->commit (self->part);
    }
}

void
state_rig_read (StateRig *self, gint seq, gint32 pos, gint32 first, guint n)
{
  StateBatch batch = { 0 };

  for (guint i = 0; i < n; i++)
    state_batch_add (&batch, first + (gint32) i, pos + (gint32) i, seq);
  state_rig_decode (self, &batch);
}

/* Where one more token would read from; it is taken back. */
gint32
state_rig_get_row (StateRig *self, gint seq)
{
  StateBatch batch = { 0 };
  g_autofree gint32 *rows = g_new (gint32, 2 + self->n_keep);
  const KvasirPartVtable *vtable = self->part->vtable;

  state_batch_add (&batch, 0, G_MAXINT32 - 1, seq);
  g_assert_cmpuint (state_rig_prepare (self, &batch), ==, 1);
  vtable->apply (self->part, kvasir_batch_plan_get_ubatch (self->plan, 0), 0);
  vtable->fill_state_rows (self->part, rows);
  vtable->rollback (self->part);
  return rows[0];
}

static void
assert_tensor (KvasirTensor *tensor, gint32 row, const gint32 *tokens, guint n_tokens)
{
  for (guint i = 0; i < tensor->ne[0]; i++)
    {
      float expected = 0;

      for (guint t = 0; t < n_tokens; t++)
        expected = scan_value (expected, tokens[t], i);
      g_assert_cmpfloat (peek_row (tensor, row)[i], ==, expected);
    }
}

void
state_rig_assert_state (StateRig *self, gint seq, const gint32 *tokens, guint n_tokens)
{
  gint32 row = state_rig_get_row (self, seq);

  g_assert_cmpint (row >= 0, ==, n_tokens > 0);
  for (guint layer = 0; row >= 0 && layer < RIG_N_LAYERS; layer++)
    {
      KvasirTensor *tensors[2];

      self->part->vtable->get_state_layer (self->part, layer, &tensors[0], &tensors[1]);
      for (guint k = 0; k < 2; k++)
        if (tensors[k] != NULL)
          assert_tensor (tensors[k], row, tokens, n_tokens);
    }
}

void
state_rig_assert_mirror (StateRig *self)
{
  for (guint i = 0; i < self->n_seq_max; i++)
    {
      KvasirCell cell;

      self->part->vtable->get_cell (self->part, i, &cell);
      g_assert_cmpint (cell.pos, ==, self->mirror[i].pos);
      g_assert_cmpint (cell.token, ==, self->mirror[i].token);
      g_assert_true (kvasir_seq_set_equal (&cell.seqs, &self->mirror[i].seqs));
      g_assert_cmpint (cell.pos >= 0, ==, !kvasir_seq_set_is_empty (&cell.seqs));
    }
}
