/* Writes the cells of a cache and their rows. A section of a blob, little endian:
 *   K type | V type | layers | streams | words per sequence set | 0, u32 each
 *   per layer: number i32, 4 zero bytes, bytes of a K row u64, of a V row u64
 *   per stream: cells u32
 *   per cell, stream after stream, ascending: position i32, token i32, with several positions per
 *     token the place (x, y) i32 each, and for a whole memory its set, u64 each word
 *   per layer: the K rows of all cells, then the V rows
 * Of one sequence the cells that its last position still sees are written. */
#include "engine/memory/kv-cache-private.h"

guint64
kvasir_kv_section_get_head_bytes (const KvasirKvCache *self, guint n_streams)
{
  return 24 + 24 * (guint64) self->store.n_layers + 4 * (guint64) n_streams;
}

guint64
kvasir_kv_section_get_cell_bytes (const KvasirKvCache *self, guint n_set_words)
{
  return 8 + (self->n_pos > 1 ? 8 : 0) + 8 * (guint64) n_set_words;
}

/* Of one stream: those of @words at positions from @first on. Returns: how many */
static guint
list_cells (
    const KvasirKvCache *self, guint stream, const guint64 *words, gint32 first, guint32 *list)
{
  const KvasirCells *cells = &self->cells[stream];
  guint n = 0;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        guint cell = w * 64 + (guint) __builtin_ctzll (left);

        if (cells->pos[cell] >= first)
          list[n++] = stream * self->size + cell;
      }
  return n;
}

/* Cells numbered through all streams, and how many there are in each of @n_streams. */
static guint32 *
list_all (const KvasirKvCache *self, gint seq, guint *n_of_stream)
{
  guint n = 0;
  guint32 *list;

  if (seq >= 0)
    {
      const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, (guint) seq);
      KvasirSeqSpan span = kvasir_cells_get_span (cells, (guint) seq);
      gint32 first = kvasir_window_get_first (&self->window, MAX (span.max, 0));

      list = g_new (guint32, span.n_cells);
      n_of_stream[0] = list_cells (self, kvasir_kv_cache_get_stream (self, (guint) seq),
                                   kvasir_cells_owned_by (cells, (guint) seq), first, list);
      return list;
    }
  for (guint s = 0; s < self->n_streams; s++)
    n += self->cells[s].n_used;
  list = g_new (guint32, n);
  n = 0;
  for (guint s = 0; s < self->n_streams; s++)
    {
      n_of_stream[s] = list_cells (self, s, self->cells[s].used.words[0], 0, list + n);
      n += n_of_stream[s];
    }
  return list;
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

static void
put_cell (const KvasirKvCache *self, guint32 number, guint n_set_words, GByteArray *out)
{
  KvasirCell cell;

  kvasir_cells_get (&self->cells[number / self->size], number % self->size, &cell);
  kvasir_state_put_u32 (out, (guint32) cell.pos);
  kvasir_state_put_u32 (out, (guint32) cell.token);
  if (self->n_pos > 1)
    {
      kvasir_state_put_u32 (out, (guint32) cell.x);
      kvasir_state_put_u32 (out, (guint32) cell.y);
    }
  for (guint w = 0; w < n_set_words; w++)
    kvasir_state_put_u64 (out, cell.seqs.w[w]);
}

static void
put_rows (const KvasirKvCache *self, const guint32 *list, guint n_cells, GByteArray *out)
{
  guint start = out->len;
  KvasirRowMove rows = { .cells = list, .n_cells = n_cells };
  guint64 n_bytes = n_cells * kvasir_kv_store_get_bytes_per_cell (&self->store);

  g_byte_array_set_size (out, start + (guint) n_bytes);
  rows.to = out->data + start;
  kvasir_kv_rows_move (&self->store, &rows);
}

gboolean
kvasir_kv_cache_state_write (KvasirPart *part, gint seq, GByteArray *out, GError **error)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint n_of_stream[KVASIR_MAX_SEQS] = { 0 };
  guint n_streams = seq < 0 ? self->n_streams : 1;
  guint n_set_words = seq < 0 ? self->cells[0].n_set_words : 0;
  g_autofree guint32 *list = list_all (self, seq, n_of_stream);
  guint64 per_cell = kvasir_kv_section_get_cell_bytes (self, n_set_words);
  guint n_cells = 0;

  for (guint s = 0; s < n_streams; s++)
    n_cells += n_of_stream[s];
  per_cell += kvasir_kv_store_get_bytes_per_cell (&self->store);
  if (!kvasir_state_reserve (
          out, kvasir_kv_section_get_head_bytes (self, n_streams) + n_cells * per_cell, error))
    return FALSE;

  kvasir_state_put_u32 (out, self->store.type_k);
  kvasir_state_put_u32 (out, self->store.type_v);
  kvasir_state_put_u32 (out, self->store.n_layers);
  kvasir_state_put_u32 (out, n_streams);
  kvasir_state_put_u32 (out, n_set_words);
  kvasir_state_put_u32 (out, 0);
  put_layers (self, out);
  for (guint s = 0; s < n_streams; s++)
    kvasir_state_put_u32 (out, n_of_stream[s]);
  for (guint i = 0; i < n_cells; i++)
    put_cell (self, list[i], n_set_words, out);
  put_rows (self, list, n_cells, out);
  return TRUE;
}
