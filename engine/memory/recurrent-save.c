/* Saves and restores states. A section of a blob, little endian:
 *   tensors u32, states u32
 *   per tensor: layer u32, 0 for r and 1 for s u32, bytes of a row u64
 *   per state: position i32, token i32, its owners 4 u64 (none in the state of one sequence)
 *   per tensor: the rows of all states
 * Earlier states that are kept for going back are not saved. */
#include <string.h>

#include "engine/memory/recurrent-private.h"

#define BYTES_PER_TENSOR 16
#define BYTES_PER_STATE 40

/* ---- saving */

/* The states to be saved, by their first owners. Returns: how many */
static guint
list_states (const KvasirRecurrent *self, gint seq, const KvasirState **states)
{
  guint n = 0;

  for (guint i = 0; i < self->n_seq_max; i++)
    {
      const KvasirState *state = kvasir_recurrent_find (self, i);
      gboolean is_first = state != NULL && kvasir_seq_set_next (&state->seqs, 0) == (gint) i;

      if (state != NULL && (seq < 0 ? is_first : (gint) i == seq))
        states[n++] = state;
    }
  return n;
}

static const KvasirStoredRows *
get_stored (const KvasirRecurrent *self, guint i)
{
  return &g_array_index (self->store.stored, KvasirStoredRows, i);
}

static guint64
measure_section (const KvasirRecurrent *self, guint n_states)
{
  guint64 n_bytes = 8 + (guint64) BYTES_PER_TENSOR * self->store.stored->len;

  n_bytes += (guint64) BYTES_PER_STATE * n_states;
  return n_bytes + n_states * kvasir_row_store_get_row_bytes (&self->store);
}

static void
put_head (const KvasirRecurrent *self,
          gint seq,
          const KvasirState *const *states,
          guint n_states,
          GByteArray *out)
{
  kvasir_state_put_u32 (out, self->store.stored->len);
  kvasir_state_put_u32 (out, n_states);
  for (guint i = 0; i < self->store.stored->len; i++)
    {
      gint layer = get_stored (self, i)->layer;

      kvasir_state_put_u32 (out, (guint32) layer);
      kvasir_state_put_u32 (out, self->s_of[layer] == (gint) i);
      kvasir_state_put_u64 (out, get_stored (self, i)->tensor.nb[1]);
    }
  for (guint i = 0; i < n_states; i++)
    {
      kvasir_state_put_u32 (out, (guint32) states[i]->kept[0].pos);
      kvasir_state_put_u32 (out, (guint32) states[i]->kept[0].token);
      for (guint w = 0; w < G_N_ELEMENTS (states[i]->seqs.w); w++)
        kvasir_state_put_u64 (out, seq < 0 ? states[i]->seqs.w[w] : 0);
    }
}

static void
put_row (const KvasirRecurrent *self, guint tensor, guint32 row, GByteArray *out)
{
  gsize row_bytes = get_stored (self, tensor)->tensor.nb[1];
  gsize offset;
  KvasirBuffer *buffer = kvasir_row_store_peek_buffer (&self->store, tensor, &offset);
  guint start = out->len;

  g_byte_array_set_size (out, start + (guint) row_bytes);
  buffer->vtable->get (buffer, offset + row * row_bytes, out->data + start, row_bytes);
}

gboolean
kvasir_recurrent_state_write (KvasirPart *part, gint seq, GByteArray *out, GError **error)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  const KvasirState *states[KVASIR_MAX_SEQS];
  guint n_states = list_states (self, seq, states);
  guint64 n_bytes = measure_section (self, n_states);

  if (!kvasir_state_reserve (out, n_bytes, error))
    return FALSE;
  put_head (self, seq, states, n_states, out);
  for (guint t = 0; t < self->store.stored->len; t++)
    for (guint i = 0; i < n_states; i++)
      put_row (self, t, states[i]->kept[0].row, out);
  return TRUE;
}

/* ---- restoring */

typedef struct
{
  gint32 pos;
  gint32 token;
  KvasirSeqSet seqs;
} SavedState;

typedef struct
{
  guint n_states;
  SavedState states[KVASIR_MAX_SEQS];
  const guint8 *rows; /* (unowned) in the blob */
} Restore;

static gboolean
check_tensors (const KvasirRecurrent *self, KvasirStateReader *reader, GError **error)
{
  for (guint i = 0; i < self->store.stored->len; i++)
    {
      const KvasirStoredRows *stored = get_stored (self, i);
      gboolean is_s = self->s_of[stored->layer] == (gint) i;

      if (!kvasir_state_check ("recurrent layer", kvasir_state_take_u32 (reader),
                               (guint32) stored->layer, error) ||
          !kvasir_state_check ("kind of state", kvasir_state_take_u32 (reader), is_s, error) ||
          !kvasir_state_check ("bytes of a state", kvasir_state_take_u64 (reader),
                               stored->tensor.nb[1], error))
        return FALSE;
    }
  return TRUE;
}

/* Owners must exist, and none may own two states. */
static gboolean
check_owners (const KvasirRecurrent *self, const Restore *restore, guint i, GError **error)
{
  const KvasirSeqSet *seqs = &restore->states[i].seqs;
  gboolean ok = !kvasir_seq_set_is_empty (seqs) && kvasir_seq_set_next (seqs, self->n_seq_max) < 0;

  for (guint k = 0; k < i; k++)
    {
      KvasirSeqSet both = kvasir_seq_set_intersect (seqs, &restore->states[k].seqs);

      ok = ok && kvasir_seq_set_is_empty (&both);
    }
  return ok || kvasir_memory_fail (
                   error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "Saved state: recurrent state %u belongs to no sequence, to one that has "
                   "another one, or to one above %u",
                   i, self->n_seq_max - 1);
}

static gboolean
read_states (const KvasirRecurrent *self,
             gint seq,
             KvasirStateReader *reader,
             Restore *restore,
             GError **error)
{
  for (guint i = 0; i < restore->n_states; i++)
    {
      SavedState *state = &restore->states[i];

      state->pos = (gint32) kvasir_state_take_u32 (reader);
      state->token = (gint32) kvasir_state_take_u32 (reader);
      for (guint w = 0; w < G_N_ELEMENTS (state->seqs.w); w++)
        state->seqs.w[w] = kvasir_state_take_u64 (reader);
      if (seq >= 0)
        {
          state->seqs = (KvasirSeqSet){ 0 };
          kvasir_seq_set_add (&state->seqs, (guint) seq);
        }
      if (state->pos < 0 || state->pos >= KVASIR_POS_END || state->token < -1)
        return kvasir_memory_fail (
            error, KVASIR_ENGINE_ERROR_BAD_FILE,
            "Saved state: recurrent state %u has position %d and token %d, expected at least 0, -1",
            i, state->pos, state->token);
      if (!check_owners (self, restore, i, error))
        return FALSE;
    }
  return TRUE;
}

gpointer
kvasir_recurrent_state_check (KvasirPart *part, gint seq, KvasirStateReader *reader, GError **error)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  g_autofree Restore *restore = g_new0 (Restore, 1);
  guint32 n_most = seq < 0 ? self->n_seq_max : 1;

  if (!kvasir_state_check_left (reader, "recurrent states", 8, error) ||
      !kvasir_state_check ("number of state tensors", kvasir_state_take_u32 (reader),
                           self->store.stored->len, error))
    return NULL;
  restore->n_states = kvasir_state_take_u32 (reader);
  if (restore->n_states > n_most)
    {
      kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                          "Saved state: %u recurrent states, expected at most %u",
                          restore->n_states, n_most);
      return NULL;
    }
  if (!kvasir_state_check_left (reader, "recurrent states",
                                measure_section (self, restore->n_states) - 8, error) ||
      !check_tensors (self, reader, error) || !read_states (self, seq, reader, restore, error))
    return NULL;
  restore->rows =
      kvasir_state_take (reader, restore->n_states * kvasir_row_store_get_row_bytes (&self->store));
  return g_steal_pointer (&restore);
}

static void
put_state (KvasirRecurrent *self, const SavedState *saved)
{
  KvasirState *state = kvasir_recurrent_take_state (self);

  kvasir_recurrent_add_row (self, state, saved->pos, saved->token);
  for (gint seq = kvasir_seq_set_next (&saved->seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (&saved->seqs, (guint) seq + 1))
    kvasir_recurrent_join (self, state, (guint) seq);
}

static void
write_rows (KvasirRecurrent *self, const Restore *restore)
{
  const guint8 *from = restore->rows;

  for (guint t = 0; t < self->store.stored->len; t++)
    for (guint i = 0; i < restore->n_states; i++)
      {
        guint owner = (guint) kvasir_seq_set_next (&restore->states[i].seqs, 0);
        guint32 row = kvasir_recurrent_find (self, owner)->kept[0].row;
        gsize row_bytes = get_stored (self, t)->tensor.nb[1];
        gsize offset;
        KvasirBuffer *buffer = kvasir_row_store_peek_buffer (&self->store, t, &offset);

        buffer->vtable->set (buffer, offset + row * row_bytes, from, row_bytes);
        from += row_bytes;
      }
}

void
kvasir_recurrent_state_apply (KvasirPart *part, gint seq, gpointer data, gboolean apply)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  g_autofree Restore *restore = data;

  if (!apply)
    return;
  for (guint i = 0; i < self->n_seq_max; i++)
    if (seq < 0 || (guint) seq == i)
      kvasir_recurrent_drop_unowned (self, kvasir_recurrent_leave (self, i));
  for (guint i = 0; i < restore->n_states; i++)
    put_state (self, &restore->states[i]);
  write_rows (self, restore);
  kvasir_recurrent_report (self);
}
