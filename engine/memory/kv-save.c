/* Writes the cells of the unified cache, and their rows range by range. */
#include <string.h>

#include "engine/memory/kv-cache-private.h"

#define LAYER_BYTES 24

void
kvasir_kv_cache_describe_state (const KvasirKvCache *self,
                                gint seq,
                                gboolean partial,
                                KvasirStateHeader *header)
{
  *header = (KvasirStateHeader){ .whole = seq < 0,
                                 .partial = partial,
                                 .klass = self->parent.memory->klass,
                                 .type_k = self->store.type_k,
                                 .type_v = self->store.type_v,
                                 .rope_hash = self->parent.memory->rope_hash,
                                 .n_layers = self->store.n_layers,
                                 .n_set_words = seq < 0 ? self->cells[0].n_set_words : 0 };
  memcpy (header->arch, self->parent.memory->arch,
          MIN (strlen (self->parent.memory->arch), KVASIR_STATE_ARCH));
  if (!partial)
    header->n_cells = seq < 0 ? self->cells[0].n_used : self->cells[0].spans[seq].n_cells;
}

gboolean
kvasir_kv_cache_measure_state (const KvasirKvCache *self,
                               const KvasirStateHeader *header,
                               gsize *n_bytes)
{
  gsize per_cell = 8 + 8 * (gsize) header->n_set_words;
  gsize n_cell_bytes;

  per_cell += kvasir_kv_store_get_bytes_per_cell (&self->store);
  return g_size_checked_mul (&n_cell_bytes, per_cell, header->n_cells) &&
         g_size_checked_add (n_bytes, n_cell_bytes,
                             kvasir_state_get_frame_bytes () +
                                 LAYER_BYTES * (gsize) self->store.n_layers);
}

/* The cells of @seq or all, ascending. */
static guint32 *
list_cells (const KvasirKvCache *self, gint seq, guint n_cells)
{
  const KvasirCells *cells = &self->cells[0];
  const guint64 *words =
      seq < 0 ? cells->used.words[0] : kvasir_cells_owned_by (cells, (guint) seq);
  guint32 *list = g_new (guint32, n_cells);
  guint n = 0;

  for (guint w = 0; n < n_cells; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      list[n++] = w * 64 + (guint32) __builtin_ctzll (left);
  return list;
}

guint
kvasir_kv_cache_measure_run (const guint32 *cells, guint n)
{
  guint n_run = 1;

  while (n_run < n && cells[n_run] == cells[0] + n_run)
    n_run++;
  return n_run;
}

static void
put_cells (const KvasirKvCache *self,
           const guint32 *list,
           const KvasirStateHeader *header,
           GByteArray *out)
{
  for (guint i = 0; i < header->n_cells; i++)
    {
      KvasirCell cell;

      kvasir_cells_get (&self->cells[0], list[i], &cell);
      kvasir_state_put_u32 (out, (guint32) cell.pos);
      kvasir_state_put_u32 (out, (guint32) cell.token);
      for (guint w = 0; w < header->n_set_words; w++)
        kvasir_state_put_u64 (out, cell.seqs.w[w]);
    }
}

static void
put_rows (const KvasirKvCache *self,
          const KvasirKvTensor *tensor,
          const guint32 *list,
          guint n_cells,
          GByteArray *out)
{
  KvasirBuffer *buffer;
  guint n_run;

  if (tensor->n_bytes == 0)
    return;
  buffer = kvasir_kv_store_peek_buffer (&self->store, tensor);
  for (guint i = 0; i < n_cells; i += n_run)
    {
      guint start = out->len;

      n_run = kvasir_kv_cache_measure_run (list + i, n_cells - i);
      g_byte_array_set_size (out, start + (guint) (n_run * tensor->row_bytes));
      buffer->vtable->get (buffer, tensor->offset + list[i] * tensor->row_bytes, out->data + start,
                           n_run * tensor->row_bytes);
    }
}

static void
put_layers (const KvasirKvCache *self, GByteArray *out)
{
  for (guint i = 0; i < self->store.n_layers; i++)
    {
      const KvasirKvRows *rows = &self->store.rows[i];

      kvasir_state_put_u32 (out, (guint32) rows->layer);
      kvasir_state_put_u32 (out, 0);
      kvasir_state_put_u64 (out, rows->k.row_bytes);
      kvasir_state_put_u64 (out, rows->v.row_bytes);
    }
}

/* Makes room in @out for a blob of @n_bytes, so that it is written without moving. */
static gboolean
reserve (GByteArray *out, gsize n_bytes, GError **error)
{
  guint start = out->len;

  if (n_bytes > G_MAXUINT - start)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "Saved state: %" G_GSIZE_FORMAT " bytes, expected at most %u", n_bytes,
                   G_MAXUINT - start);
      return FALSE;
    }
  g_byte_array_set_size (out, start + (guint) n_bytes);
  g_byte_array_set_size (out, start);
  return TRUE;
}

gboolean
kvasir_kv_cache_state_write (
    KvasirKvCache *self, gint seq, gboolean partial, GByteArray *out, GError **error)
{
  KvasirStateHeader header;
  g_autofree guint32 *list = NULL;
  gsize start = out->len;
  gsize n_bytes = G_MAXSIZE;

  kvasir_kv_cache_describe_state (self, seq, partial, &header);
  if (!kvasir_kv_cache_measure_state (self, &header, &n_bytes) || !reserve (out, n_bytes, error))
    return FALSE;

  kvasir_state_put_header (out, &header, n_bytes);
  put_layers (self, out);
  list = list_cells (self, seq, header.n_cells);
  put_cells (self, list, &header, out);
  for (guint i = 0; i < self->store.n_layers; i++)
    {
      put_rows (self, &self->store.rows[i].k, list, header.n_cells, out);
      put_rows (self, &self->store.rows[i].v, list, header.n_cells, out);
    }
  kvasir_state_seal (out, start);
  g_assert (out->len - start == n_bytes);

  kvasir_kv_cache_emit (
      self, KVASIR_EVENT_STATE_SAVE,
      &(KvasirEvent){ .seq = seq, .n = (gint32) header.n_cells, .a = (gint64) n_bytes });
  return TRUE;
}
