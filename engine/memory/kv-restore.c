/* Restores the unified cache. Everything about a blob is checked before the first cell changes,
 * room included, so that nothing ever has to be put back. */
#include <string.h>

#include "engine/memory/kv-cache-private.h"
#include "engine/memory/slots.h"

static gboolean
check_number (const char *what, guint64 found, guint64 expected, GError **error)
{
  return found == expected ||
         kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                             "Saved state: %s %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT,
                             what, found, expected);
}

static const char *
get_extent_name (const KvasirStateHeader *header)
{
  if (header->partial)
    return header->whole ? "the checkpoint of a whole memory" : "the checkpoint of one sequence";
  return header->whole ? "a whole memory" : "one sequence";
}

/* What was saved must be of the same kind, model and settings. */
static gboolean
check_header (const KvasirStateHeader *found, const KvasirStateHeader *expected, GError **error)
{
  if (found->whole != expected->whole || found->partial != expected->partial)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Saved state: holds %s, expected %s", get_extent_name (found),
                               get_extent_name (expected));
  if (memcmp (found->arch, expected->arch, KVASIR_STATE_ARCH) != 0)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Saved state: of another architecture, expected %.*s",
                               KVASIR_STATE_ARCH, expected->arch);
  return check_number ("memory class", found->klass, expected->klass, error) &&
         check_number ("K type", found->type_k, expected->type_k, error) &&
         check_number ("V type", found->type_v, expected->type_v, error) &&
         check_number ("rope settings", found->rope_hash, expected->rope_hash, error) &&
         check_number ("number of layers", found->n_layers, expected->n_layers, error);
}

static gboolean
check_layers (const KvasirKvCache *self, KvasirStateReader *reader, GError **error)
{
  for (guint i = 0; i < self->store.n_layers; i++)
    {
      const KvasirKvRows *rows = &self->store.rows[i];

      if (!check_number ("layer", kvasir_state_take_u32 (reader), (guint32) rows->layer, error))
        return FALSE;
      kvasir_state_take_u32 (reader);
      if (!check_number ("bytes of a K row", kvasir_state_take_u64 (reader), rows->k.row_bytes,
                         error) ||
          !check_number ("bytes of a V row", kvasir_state_take_u64 (reader), rows->v.row_bytes,
                         error))
        return FALSE;
    }
  return TRUE;
}

static guint
count_own_cells (const KvasirCells *cells, guint seq)
{
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  guint n = 0;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        KvasirSeqSet seqs;

        kvasir_cells_get_seqs (cells, w * 64 + (guint) __builtin_ctzll (left), &seqs);
        n += kvasir_seq_set_count (&seqs) == 1;
      }
  return n;
}

/* Whether so many cells will be free once what is replaced is gone. */
static gboolean
check_room (const KvasirKvCache *self, gint seq, guint n_cells, GError **error)
{
  const KvasirCells *cells = &self->cells[0];
  guint n_room = cells->size;

  if (seq >= 0)
    n_room = cells->size - cells->n_used + count_own_cells (cells, (guint) seq);
  return n_cells <= n_room ||
         kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_ROOM,
                             "Saved state: %u cells, but only %u are free", n_cells, n_room);
}

/* What the restore writes. */
typedef struct
{
  guint n_cells;
  KvasirCellEntry *entries; /* (owned) [n_cells] */
  KvasirSeqSet *seqs;       /* (owned) [n_cells], of the entries */
  guint32 *slots;           /* (owned) [n_cells], where they go */
} Restore;

static void
restore_clear (Restore *self)
{
  g_free (self->entries);
  g_free (self->seqs);
  g_free (self->slots);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

static gboolean
is_set_valid (const KvasirKvCache *self, const KvasirSeqSet *seqs)
{
  return !kvasir_seq_set_is_empty (seqs) && kvasir_seq_set_next (seqs, self->n_seq_max) < 0;
}

/* Reads cells whose bytes are there. */
static gboolean
read_cells (const KvasirKvCache *self,
            KvasirStateReader *reader,
            const KvasirStateHeader *header,
            gint seq,
            Restore *restore,
            GError **error)
{
  for (guint i = 0; i < restore->n_cells; i++)
    {
      KvasirCellEntry *entry = &restore->entries[i];
      KvasirSeqSet *seqs = &restore->seqs[i];

      entry->pos = (gint32) kvasir_state_take_u32 (reader);
      entry->token = (gint32) kvasir_state_take_u32 (reader);
      entry->step = self->parent.memory->step;
      entry->seqs = seqs;
      *seqs = (KvasirSeqSet){ 0 };
      if (seq >= 0)
        kvasir_seq_set_add (seqs, (guint) seq);
      for (guint w = 0; w < header->n_set_words; w++)
        seqs->w[w] = kvasir_state_take_u64 (reader);
      if (entry->pos < 0 || entry->pos >= KVASIR_POS_END || entry->token < -1)
        return kvasir_memory_fail (
            error, KVASIR_ENGINE_ERROR_BAD_FILE,
            "Saved state: cell %u has position %d and token %d, expected at least 0, -1", i,
            entry->pos, entry->token);
      if (!is_set_valid (self, seqs))
        return kvasir_memory_fail (
            error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
            "Saved state: cell %u belongs to no sequence, or to one above %u", i,
            self->n_seq_max - 1);
    }
  return TRUE;
}

/* Everything that can be wrong is found here. The rows are what @reader has left. */
static gboolean
check_and_read (const KvasirKvCache *self,
                gint seq,
                KvasirStateReader *reader,
                const KvasirStateHeader *header,
                Restore *restore,
                GError **error)
{
  gsize n_bytes;

  if (header->n_set_words > (seq < 0 ? G_N_ELEMENTS (restore->seqs->w) : 0) ||
      (header->partial && header->n_cells > 0) ||
      !kvasir_kv_cache_measure_state (self, header, &n_bytes) ||
      n_bytes != reader->n_bytes + kvasir_state_get_frame_bytes () - reader->pos)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                               "Saved state: %u cells and %u words a set do not make its length",
                               header->n_cells, header->n_set_words);
  if (!check_layers (self, reader, error) || !check_room (self, seq, header->n_cells, error))
    return FALSE;

  restore->n_cells = header->n_cells;
  restore->entries = g_new (KvasirCellEntry, header->n_cells);
  restore->seqs = g_new (KvasirSeqSet, header->n_cells);
  restore->slots = g_new (guint32, header->n_cells);
  return read_cells (self, reader, header, seq, restore, error);
}

/* Empties the cell and places @entry there, NULL nothing. */
static void
replace_cell (KvasirKvCache *self, guint cell, const KvasirCellEntry *entry)
{
  kvasir_changes_before (&self->changes, &self->cells[0], cell);
  if (self->cells[0].pos[cell] >= 0)
    kvasir_cells_empty (&self->cells[0], cell);
  if (entry != NULL)
    kvasir_cells_place (&self->cells[0], cell, entry);
  kvasir_changes_after (&self->changes, &self->cells[0], cell);
}

/* The memory becomes what was saved, from cell 0 on. */
static void
replace_all (KvasirKvCache *self, Restore *restore)
{
  guint end = MAX (kvasir_cells_get_end (&self->cells[0]), restore->n_cells);

  for (guint i = 0; i < end; i++)
    replace_cell (self, i, i < restore->n_cells ? &restore->entries[i] : NULL);
  for (guint i = 0; i < restore->n_cells; i++)
    restore->slots[i] = i;
  kvasir_changes_flush (&self->changes);
  kvasir_cells_settle (&self->cells[0]);
  kvasir_kv_cache_set_head (self, 0, 0);
}

/* The sequence goes, and what was saved is placed as one batch. */
static void
replace_seq (KvasirKvCache *self, guint seq, Restore *restore)
{
  KvasirCells *cells = &self->cells[0];
  gboolean found;

  kvasir_kv_cache_rm (&self->parent, (gint) seq, 0, KVASIR_POS_END);
  if (restore->n_cells == 0)
    return;
  found = kvasir_slots_find (cells, restore->n_cells, restore->slots);
  g_assert (found);
  for (guint i = 0; i < restore->n_cells; i++)
    kvasir_kv_cache_place (self, 0, restore->slots[i], &restore->entries[i]);
  kvasir_changes_flush (&self->changes);
  kvasir_kv_cache_set_head (self, 0, restore->slots[restore->n_cells - 1] + 1);
}

static void
take_rows (KvasirKvCache *self,
           const KvasirKvTensor *tensor,
           const Restore *restore,
           KvasirStateReader *reader)
{
  KvasirBuffer *buffer;
  guint n_run;

  if (tensor->n_bytes == 0)
    return;
  buffer = kvasir_kv_store_peek_buffer (&self->store, tensor);
  for (guint i = 0; i < restore->n_cells; i += n_run)
    {
      n_run = kvasir_kv_cache_measure_run (restore->slots + i, restore->n_cells - i);
      buffer->vtable->set (buffer, tensor->offset + restore->slots[i] * tensor->row_bytes,
                           kvasir_state_take (reader, n_run * tensor->row_bytes),
                           n_run * tensor->row_bytes);
    }
}

static void
restore_run (KvasirKvCache *self, gint seq, Restore *restore, KvasirStateReader *reader)
{
  if (seq < 0)
    replace_all (self, restore);
  else
    replace_seq (self, (guint) seq, restore);
  for (guint i = 0; i < self->store.n_layers; i++)
    {
      take_rows (self, &self->store.rows[i].k, restore, reader);
      take_rows (self, &self->store.rows[i].v, restore, reader);
    }
}

gboolean
kvasir_kv_cache_state_read (KvasirKvCache *self,
                            gint seq,
                            gboolean partial,
                            const guint8 *bytes,
                            gsize n_bytes,
                            GError **error)
{
  KvasirStateReader reader;
  KvasirStateHeader header;
  KvasirStateHeader expected;
  g_auto (Restore) restore = { 0 };
  gboolean ok;

  kvasir_kv_cache_describe_state (self, seq, partial, &expected);
  ok = kvasir_state_open (&reader, &header, bytes, n_bytes, error) &&
       check_header (&header, &expected, error) &&
       check_and_read (self, seq, &reader, &header, &restore, error);
  kvasir_kv_cache_emit (
      self, KVASIR_EVENT_STATE_LOAD,
      &(KvasirEvent){
          .seq = seq, .n = (gint32) restore.n_cells, .a = (gint64) n_bytes, .b = ok ? 1 : 0 });
  /* A plain cache keeps nothing that belongs into a checkpoint. */
  if (ok && !partial)
    restore_run (self, seq, &restore, &reader);
  return ok;
}
