/* States of recurrent layers: who shares one, when it may be taken back, what is written where.
 * What a removal returns follows the table of the placement rules; what a state holds follows from
 * the list of tokens read (state-rig.h). */
#include "engine/error.h"
#include "tests/engine/memory/state-rig.h"

#include <string.h>

#define VT(rig) ((rig)->part->vtable)
#define END KVASIR_POS_END

typedef struct
{
  StateRig rig;
} Fixture;

static void
fixture_init (Fixture *self, gconstpointer data)
{
  state_rig_init (&self->rig, 4, GPOINTER_TO_UINT (data), 16);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  state_rig_assert_mirror (&self->rig);
  state_rig_clear (&self->rig);
}

static gint32
get_pos (StateRig *rig, guint seq)
{
  gint32 pos = VT (rig)->pos_max (rig->part, seq);

  g_assert_cmpint (VT (rig)->pos_min (rig->part, seq), ==, pos);
  return pos;
}

/* Removes, if that may be. Returns: whether it may */
static gboolean
try_rm (StateRig *rig, gint seq, gint32 p0, gint32 p1)
{
  if (!VT (rig)->can_rm (rig->part, seq, p0, p1))
    return FALSE;
  VT (rig)->rm (rig->part, seq, p0, p1);
  return TRUE;
}

/* ---- reading and removing */

static void
test_reads_on (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11, 12, 13, 14 };
  KvasirCell cell;

  g_assert_cmpint (get_pos (rig, 2), ==, -1);
  state_rig_assert_state (rig, 2, NULL, 0);
  state_rig_read (rig, 2, 0, 10, 3);
  state_rig_read (rig, 2, 3, 13, 2);
  g_assert_cmpint (get_pos (rig, 2), ==, 4);
  state_rig_assert_state (rig, 2, tokens, 5);
  VT (rig)->get_cell (rig->part, 2, &cell);
  g_assert_cmpint (cell.pos, ==, 4);
  g_assert_cmpint (cell.token, ==, 14);
}

/* Longer than an ubatch: each goes on from the row that the one before it wrote. */
static void
test_reads_long_batches (Fixture *self, gconstpointer data)
{
  gint32 tokens[50];

  for (gint32 i = 0; i < 50; i++)
    tokens[i] = 100 + i;
  state_rig_read (&self->rig, 0, 0, 100, 50);
  state_rig_assert_state (&self->rig, 0, tokens, 50);
}

static void
test_removes_all_or_nothing (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11, 12, 13 };

  state_rig_read (rig, 0, 0, 10, 4);
  /* A range that misses the position is true and changes nothing. */
  g_assert_true (try_rm (rig, 0, 4, END));
  g_assert_true (try_rm (rig, 0, 0, 3));
  g_assert_true (try_rm (rig, 0, 1, 3));
  g_assert_true (try_rm (rig, 1, 0, END));
  /* One that holds it but not the start is refused; so are all sequences at once. */
  g_assert_false (try_rm (rig, 0, 1, END));
  g_assert_false (try_rm (rig, 0, 3, 4));
  g_assert_false (try_rm (rig, -1, 0, END));
  g_assert_cmpint (get_pos (rig, 0), ==, 3);
  state_rig_assert_state (rig, 0, tokens, 4);
  g_assert_true (try_rm (rig, 0, 0, 4));
  g_assert_cmpint (get_pos (rig, 0), ==, -1);
  state_rig_assert_state (rig, 0, NULL, 0);
}

/* ---- sharing */

static void
test_copies_without_data (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 shared[] = { 10, 11 };
  const gint32 own[] = { 10, 11, 50 };
  KvasirCell cell;

  state_rig_read (rig, 0, 0, 10, 2);
  state_rig_read (rig, 3, 0, 90, 2);
  /* Whatever the range. */
  g_assert_true (VT (rig)->can_cp (rig->part, 0, 3, 1, 2));
  VT (rig)->cp (rig->part, 0, 3, 1, 2);
  g_assert_cmpint (state_rig_get_row (rig, 0), ==, state_rig_get_row (rig, 3));
  VT (rig)->get_cell (rig->part, 0, &cell);
  g_assert_cmpuint (cell.seqs.w[0], ==, 9);
  VT (rig)->get_cell (rig->part, 3, &cell);
  g_assert_cmpint (cell.pos, ==, -1);

  state_rig_read (rig, 0, 2, 50, 1);
  state_rig_assert_state (rig, 0, own, 3);
  state_rig_assert_state (rig, 3, shared, 2);
  g_assert_cmpint (get_pos (rig, 3), ==, 1);
}

static void
test_copying_nothing_empties (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;

  state_rig_read (rig, 0, 0, 10, 2);
  VT (rig)->cp (rig->part, 0, 0, 0, END);
  g_assert_cmpint (get_pos (rig, 0), ==, 1);
  VT (rig)->cp (rig->part, 1, 0, 0, END);
  g_assert_cmpint (get_pos (rig, 0), ==, -1);
}

static void
test_first_owner_leaves (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11 };
  KvasirCell cell;

  state_rig_read (rig, 1, 0, 10, 2);
  VT (rig)->cp (rig->part, 1, 2, 0, END);
  g_assert_true (try_rm (rig, 1, 0, END));
  VT (rig)->get_cell (rig->part, 1, &cell);
  g_assert_cmpint (cell.pos, ==, -1);
  VT (rig)->get_cell (rig->part, 2, &cell);
  g_assert_cmpint (cell.pos, ==, 1);
  state_rig_assert_state (rig, 2, tokens, 2);
}

static void
test_keeps_one (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11 };

  state_rig_read (rig, 1, 0, 10, 2);
  VT (rig)->cp (rig->part, 1, 2, 0, END);
  state_rig_read (rig, 0, 0, 20, 5);
  VT (rig)->keep (rig->part, 2);
  for (guint seq = 0; seq < 4; seq++)
    g_assert_cmpint (get_pos (rig, seq), ==, seq == 2 ? 1 : -1);
  state_rig_assert_state (rig, 2, tokens, 2);
}

/* A token of several sequences: they go on from the state of the one named first. */
static void
test_shared_token_reads_its_lead (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 20, 21, 77 };
  StateBatch batch = { 0 };

  state_rig_read (rig, 0, 0, 10, 2);
  state_rig_read (rig, 2, 0, 20, 2);
  state_batch_add (&batch, 77, 2, 2);
  batch.seqs[0][1] = 0;
  batch.n_seqs[0] = 2;
  state_rig_decode (rig, &batch);
  state_rig_assert_state (rig, 0, tokens, 3);
  state_rig_assert_state (rig, 2, tokens, 3);
  g_assert_cmpint (state_rig_get_row (rig, 0), ==, state_rig_get_row (rig, 2));
}

/* ---- positions */

static void
test_renumbers_for_all_owners (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;

  state_rig_read (rig, 0, 0, 10, 10);
  VT (rig)->cp (rig->part, 0, 1, 0, END);
  VT (rig)->add (rig->part, 1, 0, 9, 5);
  g_assert_cmpint (get_pos (rig, 0), ==, 9);
  VT (rig)->add (rig->part, 1, 9, END, 5);
  g_assert_cmpint (get_pos (rig, 0), ==, 14);
  VT (rig)->div (rig->part, 0, 0, END, 4);
  g_assert_cmpint (get_pos (rig, 1), ==, 3);
  VT (rig)->div (rig->part, 0, 4, END, 3);
  g_assert_cmpint (get_pos (rig, 1), ==, 3);

  g_assert_true (VT (rig)->can_add (rig->part, 0, 0, END, END - 4));
  g_assert_false (VT (rig)->can_add (rig->part, 0, 0, END, END - 3));
  g_assert_true (VT (rig)->can_add (rig->part, 0, 4, END, END - 1));
  VT (rig)->add (rig->part, 0, 0, END, -4);
  g_assert_cmpint (get_pos (rig, 0), ==, -1);
  g_assert_cmpint (get_pos (rig, 1), ==, -1);
}

/* ---- failed ubatches */

static void
test_takes_an_ubatch_back (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11 };
  StateBatch batch = { 0 };
  gint32 row;
  KvasirCell before, after;

  state_rig_read (rig, 0, 0, 10, 2);
  VT (rig)->cp (rig->part, 0, 1, 0, END);
  row = state_rig_get_row (rig, 0);
  VT (rig)->get_cell (rig->part, 0, &before);
  for (gint32 i = 0; i < 6; i++)
    state_batch_add (&batch, 30 + i, i < 3 ? 2 + i : i - 3, i < 3 ? 0 : 3);
  g_assert_cmpuint (state_rig_prepare (rig, &batch), ==, 1);
  state_rig_apply (rig, 0);
  g_assert_cmpint (get_pos (rig, 0), ==, 4);
  g_assert_cmpint (get_pos (rig, 3), ==, 2);
  VT (rig)->rollback (rig->part);

  g_assert_cmpint (state_rig_get_row (rig, 0), ==, row);
  g_assert_cmpint (state_rig_get_row (rig, 1), ==, row);
  g_assert_cmpint (get_pos (rig, 3), ==, -1);
  VT (rig)->get_cell (rig->part, 0, &after);
  g_assert_cmpmem (&before, sizeof before, &after, sizeof after);
  state_rig_assert_state (rig, 0, tokens, 2);
  state_rig_assert_state (rig, 3, NULL, 0);
}

/* The ubatches before a failed one stay. */
static void
test_keeps_what_came_before (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  gint32 tokens[16];
  StateBatch batch = { 0 };

  for (gint32 i = 0; i < 20; i++)
    state_batch_add (&batch, 30 + i, i, 0);
  for (gint32 i = 0; i < 16; i++)
    tokens[i] = 30 + i;
  g_assert_cmpuint (state_rig_prepare (rig, &batch), ==, 2);
  state_rig_apply (rig, 0);
  VT (rig)->commit (rig->part);
  state_rig_apply (rig, 1);
  VT (rig)->rollback (rig->part);
  g_assert_cmpint (get_pos (rig, 0), ==, 15);
  state_rig_assert_state (rig, 0, tokens, 16);
}

/* An ubatch in which a sequence comes twice can't be scanned. */
static void
test_refuses_other_splits (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  StateBatch batch = { 0 };

  state_batch_add (&batch, 1, 0, 0);
  state_batch_add (&batch, 2, 1, 0);
  state_rig_prepare (rig, &batch);
  g_assert_true (kvasir_batch_plan_split (rig->plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_false (VT (rig)->prepare (rig->part, rig->plan, FALSE));
}

/* ---- going back by what was kept; the fixture keeps 3 */

static void
test_goes_back_exactly (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11, 12, 13, 14, 15, 16, 17 };
  const gint32 others[] = { 10, 11, 12, 13, 14, 15, 90 };

  state_rig_read (rig, 0, 0, 10, 8);
  VT (rig)->cp (rig->part, 0, 1, 0, END);
  /* Two tokens, of seven that came in one ubatch. Only this sequence goes back. */
  g_assert_true (try_rm (rig, 0, 6, END));
  g_assert_cmpint (get_pos (rig, 0), ==, 5);
  state_rig_assert_state (rig, 0, tokens, 6);
  state_rig_assert_state (rig, 1, tokens, 8);
  /* Only once; the other one still may. */
  g_assert_false (try_rm (rig, 0, 5, END));
  state_rig_read (rig, 0, 6, 90, 1);
  state_rig_assert_state (rig, 0, others, 7);
  g_assert_true (try_rm (rig, 1, 5, 8));
  state_rig_assert_state (rig, 1, tokens, 5);
}

static void
test_goes_back_no_further (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11, 12, 13, 14, 15, 16, 17 };

  state_rig_read (rig, 0, 0, 10, 4);
  state_rig_read (rig, 0, 4, 14, 3);
  /* All of the last call: the state before it isn't kept. */
  g_assert_false (try_rm (rig, 0, 4, END));
  g_assert_true (VT (rig)->can_rm (rig->part, 0, 5, END));
  /* One token came alone. */
  state_rig_read (rig, 0, 7, 17, 1);
  g_assert_false (try_rm (rig, 0, 7, END));
  state_rig_assert_state (rig, 0, tokens, 8);
  /* More than are kept. */
  g_assert_true (try_rm (rig, 0, 0, END));
  state_rig_read (rig, 0, 0, 10, 8);
  g_assert_false (try_rm (rig, 0, 4, END));
  g_assert_true (try_rm (rig, 0, 5, END));
  state_rig_assert_state (rig, 0, tokens, 5);
}

/* Many tokens at one position go together: their row is too far back, or not one position back. */
static void
test_goes_back_by_position (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 1, 2, 3, 4, 5, 6 };
  const gint32 pos[] = { 0, 1, 1, 1, 1, 2 };
  StateBatch batch = { 0 };

  for (guint i = 0; i < 6; i++)
    state_batch_add (&batch, tokens[i], pos[i], 0);
  state_rig_decode (rig, &batch);
  g_assert_false (try_rm (rig, 0, 1, END));
  g_assert_true (try_rm (rig, 0, 2, END));
  state_rig_assert_state (rig, 0, tokens, 5);
  g_assert_true (try_rm (rig, 0, 0, END));

  batch.n = 4;
  state_rig_decode (rig, &batch);
  g_assert_true (try_rm (rig, 0, 1, END));
  g_assert_cmpint (get_pos (rig, 0), ==, 0);
  state_rig_assert_state (rig, 0, tokens, 1);
}

/* A failed ubatch leaves what could be taken back before it. */
static void
test_rollback_keeps_snapshots (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  const gint32 tokens[] = { 10, 11, 12, 13 };

  state_rig_read (rig, 0, 0, 10, 6);
  g_assert_cmpint (state_rig_get_row (rig, 0), >=, 0);
  g_assert_true (try_rm (rig, 0, 4, END));
  state_rig_assert_state (rig, 0, tokens, 4);
}

static void
test_tells_where_to_cut (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;

  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 7), ==, 7);
  state_rig_read (rig, 0, 0, 10, 8);
  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 9), ==, 9);
  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 7), ==, 7);
  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 5), ==, 5);
  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 4), ==, 0);
  g_assert_true (try_rm (rig, 0, 7, END));
  g_assert_cmpint (VT (rig)->get_rewind (rig->part, 0, 6), ==, 0);
}

/* All sequences keep all they can while an ubatch with all of them is in flight. */
static void
test_never_runs_out_of_rows (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;

  for (gint32 round = 0; round < 20; round++)
    {
      StateBatch batch = { 0 };

      for (gint seq = 0; seq < 4; seq++)
        for (gint32 i = 0; i < 4; i++)
          state_batch_add (&batch, 10 + i, 4 * round + i, seq);
      g_assert_cmpuint (state_rig_prepare (rig, &batch), ==, 1);
      state_rig_apply (rig, 0);
      if (round % 3 == 1)
        {
          VT (rig)->rollback (rig->part);
          state_rig_apply (rig, 0);
        }
      VT (rig)->commit (rig->part);
    }
  g_assert_cmpint (get_pos (rig, 3), ==, 79);
}

/* ---- buffers */

static void
test_clear_zeroes (Fixture *self, gconstpointer data)
{
  StateRig *rig = &self->rig;
  KvasirTensor *r, *s;

  state_rig_read (rig, 0, 0, 10, 8);
  VT (rig)->clear (rig->part, FALSE);
  g_assert_cmpint (get_pos (rig, 0), ==, -1);
  state_rig_read (rig, 1, 0, 10, 8);
  VT (rig)->clear (rig->part, TRUE);
  VT (rig)->get_state_layer (rig->part, 0, &r, &s);
  for (gint64 i = 0; i < s->ne[0] * s->ne[1]; i++)
    g_assert_cmpfloat (((float *) s->data)[i], ==, 0);
  state_rig_assert_state (rig, 1, NULL, 0);
}

static void
test_shapes (void)
{
  TestHeap heap;
  KvasirMemoryParams params;
  KvasirMemoryLayer layers[RIG_N_LAYERS];
  g_autoptr (GArray) real = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryRow));
  g_autoptr (GArray) measured = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryRow));
  g_autoptr (GError) error = NULL;
  KvasirTensor *r, *s;
  KvasirCacheInfo info;
  KvasirPart *part;
  gsize n_bytes = 0;

  test_heap_init (&heap);
  state_rig_get_params (&heap, &params, layers);
  params.n_rs_seq = 2;
  params.n_ubatch = 10;
  part = kvasir_recurrent_new (&params, &error);
  g_assert_no_error (error);
  part->vtable->get_state_layer (part, 0, &r, &s);
  g_assert_cmpint (r->ne[0], ==, 5);
  g_assert_cmpint (s->ne[0], ==, 7);
  /* 4 sequences with 3 states, and 10 rows that an ubatch of 10 tokens may write. */
  g_assert_cmpint (r->ne[1], ==, 22);
  g_assert_cmpint (s->ne[1], ==, 22);
  part->vtable->get_state_layer (part, 2, &r, &s);
  g_assert_true (r == NULL && s == NULL);
  part->vtable->get_info (part, &info);
  g_assert_cmpuint (info.size, ==, 4);
  g_assert_cmpuint (info.n_layers, ==, 2);
  g_assert_cmpuint (info.bytes_per_cell, ==, 4 * (5 + 7 + 5));
  g_assert_true (info.is_recurrent);
  part->vtable->append_breakdown (part, real);
  g_assert_cmpuint (heap.n_live, ==, 1);
  for (guint i = 0; i < real->len; i++)
    n_bytes += g_array_index (real, KvasirMemoryRow, i).n_bytes;
  g_assert_cmpuint (n_bytes, ==, heap.n_live_bytes);
  g_assert_cmpint (g_array_index (real, KvasirMemoryRow, 0).kind, ==, KVASIR_KIND_RECURRENT);
  part->vtable->free (part);

  params.no_alloc = TRUE;
  part = kvasir_recurrent_new (&params, NULL);
  g_assert_cmpuint (heap.n_live, ==, 0);
  part->vtable->append_breakdown (part, measured);
  g_assert_cmpmem (real->data, real->len * sizeof (KvasirMemoryRow), measured->data,
                   measured->len * sizeof (KvasirMemoryRow));
  part->vtable->free (part);
}

static void
test_no_memory (void)
{
  TestHeap heap;
  KvasirMemoryParams params;
  KvasirMemoryLayer layers[RIG_N_LAYERS];
  g_autoptr (GError) error = NULL;

  test_heap_init (&heap);
  state_rig_get_params (&heap, &params, layers);
  heap.fail_above = 300;
  g_assert_null (kvasir_recurrent_new (&params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  /* Rows of 5, 7 and 5 values, 8 of each, padded to 64 bytes. */
  g_assert_cmpstr (error->message, ==, "recurrent: no memory for 640 bytes of buffer type HEAP");
  g_assert_cmpuint (heap.n_live, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, n_rs_seq, func)                                                                  \
  g_test_add ("/engine/memory/recurrent/" name, Fixture, GUINT_TO_POINTER (n_rs_seq),              \
              fixture_init, func, fixture_clear)
  ADD ("reads-on", 0, test_reads_on);
  ADD ("reads-long-batches", 0, test_reads_long_batches);
  ADD ("removes-all-or-nothing", 0, test_removes_all_or_nothing);
  ADD ("copies-without-data", 0, test_copies_without_data);
  ADD ("copying-nothing-empties", 0, test_copying_nothing_empties);
  ADD ("first-owner-leaves", 0, test_first_owner_leaves);
  ADD ("keeps-one", 0, test_keeps_one);
  ADD ("shared-token-reads-its-lead", 0, test_shared_token_reads_its_lead);
  ADD ("renumbers-for-all-owners", 2, test_renumbers_for_all_owners);
  ADD ("takes-an-ubatch-back", 0, test_takes_an_ubatch_back);
  ADD ("takes-an-ubatch-back-with-snapshots", 2, test_takes_an_ubatch_back);
  ADD ("keeps-what-came-before", 0, test_keeps_what_came_before);
  ADD ("refuses-other-splits", 0, test_refuses_other_splits);
  ADD ("goes-back-exactly", 3, test_goes_back_exactly);
  ADD ("goes-back-no-further", 3, test_goes_back_no_further);
  ADD ("goes-back-by-position", 3, test_goes_back_by_position);
  ADD ("rollback-keeps-snapshots", 3, test_rollback_keeps_snapshots);
  ADD ("tells-where-to-cut", 3, test_tells_where_to_cut);
  ADD ("never-runs-out-of-rows", 3, test_never_runs_out_of_rows);
  ADD ("clear-zeroes", 3, test_clear_zeroes);
  g_test_add_func ("/engine/memory/recurrent/shapes", test_shapes);
  g_test_add_func ("/engine/memory/recurrent/names-missing-memory", test_no_memory);
  return g_test_run ();
}
