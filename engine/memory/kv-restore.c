/* Restores the cells of a cache from its section (kv-save.c). Everything about a section is checked
 * before the first cell changes, room included, so that nothing ever has to be put back. */
#include <string.h>

#include "engine/memory/kv-cache-private.h"
#include "engine/memory/slots.h"

/* What a restore writes: the cells as a ubatch, so that they are placed as one is. */
typedef struct
{
  guint n_cells;
  guint n_streams;
  guint n_set_words;
  guint n_of_stream[KVASIR_MAX_SEQS];
  gint32 *pos;        /* (owned) [3][n_cells]: position, y, x */
  gint32 *tokens;     /* (owned) [n_cells] */
  KvasirSeqSet *seqs; /* (owned) [n_cells] */
  guint32 *slots;     /* (owned) [n_cells], in their stream */
  const guint8 *rows; /* (unowned) in the blob */
} Restore;

static void
restore_free (Restore *self)
{
  g_free (self->pos);
  g_free (self->tokens);
  g_free (self->seqs);
  g_free (self->slots);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Restore, restore_free)

/* ---- checking */

static gboolean
check_layers (const KvasirKvCache *self, KvasirStateReader *reader, GError **error)
{
  for (guint i = 0; i < self->store.n_layers; i++)
    {
      const KvasirKvRows *rows = &self->store.rows[i];

      if (!kvasir_state_check ("layer", kvasir_state_take_u32 (reader), (guint32) rows->layer,
                               error))
        return FALSE;
      kvasir_state_take_u32 (reader);
      if (!kvasir_state_check ("bytes of a K row", kvasir_state_take_u64 (reader),
                               rows->k.row_bytes, error) ||
          !kvasir_state_check ("bytes of a V row", kvasir_state_take_u64 (reader),
                               rows->v.row_bytes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_counts (const KvasirKvCache *self, Restore *restore, KvasirStateReader *reader, GError **error)
{
  for (guint s = 0; s < restore->n_streams; s++)
    {
      guint n = kvasir_state_take_u32 (reader);

      if (n > self->size)
        return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_ROOM,
                                   "Saved state: %u cells of cache \"%s\", but there are only %u",
                                   n, self->parent.name, self->size);
      restore->n_of_stream[s] = n;
      restore->n_cells += n;
    }
  return TRUE;
}

static gboolean
read_head (const KvasirKvCache *self,
           gint seq,
           Restore *restore,
           KvasirStateReader *reader,
           GError **error)
{
  guint64 n_most_words = seq < 0 ? G_N_ELEMENTS (restore->seqs->w) : 0;

  restore->n_streams = seq < 0 ? self->n_streams : 1;
  if (!kvasir_state_check_left (
          reader, "cells", kvasir_kv_section_get_head_bytes (self, restore->n_streams), error) ||
      !kvasir_state_check ("K type", kvasir_state_take_u32 (reader), self->store.type_k, error) ||
      !kvasir_state_check ("V type", kvasir_state_take_u32 (reader), self->store.type_v, error) ||
      !kvasir_state_check ("number of layers", kvasir_state_take_u32 (reader), self->store.n_layers,
                           error) ||
      !kvasir_state_check ("number of streams", kvasir_state_take_u32 (reader), restore->n_streams,
                           error))
    return FALSE;
  restore->n_set_words = kvasir_state_take_u32 (reader);
  kvasir_state_take_u32 (reader);
  if (restore->n_set_words > n_most_words || (seq < 0 && restore->n_set_words == 0))
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: %u words a set, expected %s", restore->n_set_words,
                               seq < 0 ? "1 to 4" : "0");
  return check_layers (self, reader, error) && read_counts (self, restore, reader, error);
}

/* With a stream for each sequence no other one holds its cells. */
static gboolean
is_set_valid (const KvasirKvCache *self, const KvasirSeqSet *seqs, guint stream)
{
  if (self->n_streams > 1)
    return kvasir_seq_set_count (seqs) == 1 && kvasir_seq_set_has (seqs, stream);
  return !kvasir_seq_set_is_empty (seqs) && kvasir_seq_set_next (seqs, self->n_seq_max) < 0;
}

static gboolean
read_cell (const KvasirKvCache *self,
           gint seq,
           guint i,
           Restore *restore,
           KvasirStateReader *reader,
           GError **error)
{
  KvasirSeqSet *seqs = &restore->seqs[i];

  restore->pos[i] = (gint32) kvasir_state_take_u32 (reader);
  restore->tokens[i] = (gint32) kvasir_state_take_u32 (reader);
  if (self->n_pos > 1)
    {
      restore->pos[2 * restore->n_cells + i] = (gint32) kvasir_state_take_u32 (reader);
      restore->pos[restore->n_cells + i] = (gint32) kvasir_state_take_u32 (reader);
    }
  if (seq >= 0)
    kvasir_seq_set_add (seqs, (guint) seq);
  for (guint w = 0; w < restore->n_set_words; w++)
    seqs->w[w] = kvasir_state_take_u64 (reader);
  if (restore->pos[i] >= 0 && restore->pos[i] < KVASIR_POS_END && restore->tokens[i] >= -1)
    return TRUE;
  return kvasir_memory_fail (
      error, KVASIR_ENGINE_ERROR_BAD_FILE,
      "Saved state: cell %u has position %d and token %d, expected at least 0, -1", i,
      restore->pos[i], restore->tokens[i]);
}

static gboolean
read_cells (const KvasirKvCache *self,
            gint seq,
            Restore *restore,
            KvasirStateReader *reader,
            GError **error)
{
  guint i = 0;

  for (guint s = 0; s < restore->n_streams; s++)
    for (guint end = i + restore->n_of_stream[s]; i < end; i++)
      {
        if (!read_cell (self, seq, i, restore, reader, error))
          return FALSE;
        if (seq < 0 && !is_set_valid (self, &restore->seqs[i], s))
          return kvasir_memory_fail (
              error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
              "Saved state: cell %u belongs to no sequence, to one of another stream, or to one "
              "above %u",
              i, self->n_seq_max - 1);
      }
  return TRUE;
}

/* Finds cells as if the destination were gone already, and leaves no trace. */
static gboolean
find_room (KvasirKvCache *self, guint seq, Restore *restore, GError **error)
{
  KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, seq);
  guint head = cells->head;
  guint emptied;
  guint n_usable;
  gboolean found = TRUE;

  self->changes.is_muted = TRUE;
  g_array_set_size (self->memos, 0);
  emptied = kvasir_kv_cache_remove (self, seq, 0, KVASIR_POS_END, TRUE);
  cells->head = MIN (head, emptied);
  n_usable = kvasir_slots_count_usable (cells, &self->window);
  if (restore->n_cells > 0 && kvasir_kv_cache_is_sliding (self))
    found =
        kvasir_slots_find_sliding (cells, &self->window, TRUE, restore->n_cells, restore->slots);
  else if (restore->n_cells > 0)
    found = kvasir_slots_find (cells, restore->n_cells, restore->slots);
  kvasir_kv_cache_recall (self, 0);
  kvasir_cells_settle (cells);
  cells->head = head;
  self->changes.is_muted = FALSE;
  return found || kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_ROOM,
                                      "Saved state: %u cells, but only %u are free",
                                      restore->n_cells, n_usable);
}

/* A borrower's rows go where the lender, restored before it, holds their positions. */
static gboolean
find_lent (KvasirKvCache *self, Restore *restore, GError **error)
{
  guint from = 0;

  for (guint i = 0; i < restore->n_cells; i++)
    {
      guint seq = (guint) kvasir_seq_set_next (&restore->seqs[i], 0);
      gint held = kvasir_kv_cache_find_held (self, seq, restore->pos[i], from);

      if (held < 0)
        return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                                   "Saved state: position %d of sequence %u is not held by the "
                                   "memory whose cells are shared; restore that one first",
                                   restore->pos[i], seq);
      restore->slots[i] = (guint32) held;
      from = (guint) held + 1;
    }
  return TRUE;
}

static void
raise_reach (KvasirKvCache *self, gint seq, const Restore *restore)
{
  KvasirMemory *memory = self->parent.memory;
  const KvasirUbatch ubatch = { .n_tokens = restore->n_cells,
                                .pos = restore->pos,
                                .seqs = restore->seqs };

  kvasir_memory_lower_reach (memory, seq, 0);
  kvasir_memory_raise_reach (memory, &ubatch);
}

gpointer
kvasir_kv_cache_state_check (KvasirPart *part, gint seq, KvasirStateReader *reader, GError **error)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  g_autoptr (Restore) restore = g_new0 (Restore, 1);
  guint64 per_cell;
  guint64 n_row_bytes;

  if (!read_head (self, seq, restore, reader, error))
    return NULL;
  per_cell = kvasir_kv_section_get_cell_bytes (self, restore->n_set_words);
  n_row_bytes = restore->n_cells * kvasir_kv_store_get_bytes_per_cell (&self->store);
  if (!kvasir_state_check_left (reader, "cells", restore->n_cells * per_cell + n_row_bytes, error))
    return NULL;
  restore->pos = g_new0 (gint32, 3 * (gsize) restore->n_cells);
  restore->tokens = g_new (gint32, restore->n_cells);
  restore->seqs = g_new0 (KvasirSeqSet, restore->n_cells);
  restore->slots = g_new (guint32, restore->n_cells);
  if (!read_cells (self, seq, restore, reader, error) ||
      (self->is_borrower ? !find_lent (self, restore, error)
                         : seq >= 0 && !find_room (self, (guint) seq, restore, error)))
    return NULL;
  restore->rows = kvasir_state_take (reader, n_row_bytes);
  if (reader->n_cells == 0)
    reader->n_cells = restore->n_cells;
  return g_steal_pointer (&restore);
}

/* ---- restoring */

/* Empties a cell and places entry @i there, or nothing. */
static void
replace_cell (KvasirKvCache *self, guint stream, guint cell, const Restore *restore, guint i)
{
  KvasirCells *cells = &self->cells[stream];

  kvasir_changes_before (&self->changes, cells, cell);
  if (cells->pos[cell] >= 0)
    kvasir_cells_empty (cells, cell);
  if (i < restore->n_cells)
    kvasir_cells_place (cells, cell,
                        &(KvasirCellEntry){ .pos = restore->pos[i],
                                            .y = restore->pos[restore->n_cells + i],
                                            .x = restore->pos[2 * restore->n_cells + i],
                                            .token = restore->tokens[i],
                                            .step = self->parent.memory->step,
                                            .seqs = &restore->seqs[i] });
  kvasir_changes_after (&self->changes, cells, cell);
}

/* Each stream becomes what was saved, from cell 0 on. */
static void
replace_all (KvasirKvCache *self, const Restore *restore)
{
  guint first = 0;

  for (guint s = 0; s < self->n_streams; s++)
    {
      guint n = restore->n_of_stream[s];
      guint end = MAX (kvasir_cells_get_end (&self->cells[s]), n);

      self->changes.stream = (guint16) s;
      for (guint cell = 0; cell < end; cell++)
        {
          replace_cell (self, s, cell, restore, cell < n ? first + cell : G_MAXUINT);
          if (cell < n)
            restore->slots[first + cell] = cell;
        }
      kvasir_changes_flush (&self->changes);
      kvasir_cells_settle (&self->cells[s]);
      kvasir_kv_cache_set_head (self, s, 0);
      first += n;
    }
}

/* The sequence goes, and what was saved is placed as one batch where it found room. */
static void
replace_seq (KvasirKvCache *self, guint seq, const Restore *restore)
{
  const KvasirUbatch ubatch = { .n_tokens = restore->n_cells,
                                .tokens = restore->tokens,
                                .pos = restore->pos,
                                .seqs = restore->seqs };
  const KvasirKvSlice slice = { .stream = kvasir_kv_cache_get_stream (self, seq),
                                .n = restore->n_cells };

  kvasir_kv_cache_rm (&self->parent, (gint) seq, 0, KVASIR_POS_END);
  if (restore->n_cells == 0)
    return;
  g_array_set_size (self->memos, 0);
  kvasir_kv_cache_occupy (self, &ubatch, &slice, restore->slots);
  kvasir_kv_cache_set_head (self, slice.stream, restore->slots[restore->n_cells - 1] + 1);
}

/* Slots become numbers through all streams, and the rows go there. */
static void
put_rows (KvasirKvCache *self, gint seq, Restore *restore)
{
  KvasirRowMove rows = { .cells = restore->slots,
                         .n_cells = restore->n_cells,
                         .from = restore->rows };
  guint i = 0;

  for (guint s = 0; s < restore->n_streams; s++)
    {
      guint stream = seq < 0 ? s : kvasir_kv_cache_get_stream (self, (guint) seq);

      for (guint end = i + restore->n_of_stream[s]; i < end; i++)
        restore->slots[i] += stream * self->size;
    }
  kvasir_kv_rows_move (&self->store, &rows);
}

void
kvasir_kv_cache_state_apply (KvasirPart *part, gint seq, gpointer data, gboolean apply)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  g_autoptr (Restore) restore = data;

  if (!apply)
    return;
  self->ubatch = NULL;
  kvasir_kv_trace_break (&self->trace);
  /* Traces were made with copies that wait for the next update and then cover what was restored. */
  if (!part->memory->is_lenient)
    kvasir_kv_cache_flush_copies (self);
  if (self->is_borrower)
    raise_reach (self, seq, restore);
  else if (seq < 0)
    replace_all (self, restore);
  else
    replace_seq (self, (guint) seq, restore);
  put_rows (self, seq, restore);
}
