/* The read-only side of memory.h: caches and their cells, for traces, snapshots and inputs. */
#include <string.h>

#include "engine/memory/memory-private.h"

static const KvasirCells *
peek_cells (const KvasirMemory *self, guint cache, guint stream)
{
  g_return_val_if_fail (self != NULL && cache < self->vtable->get_n_caches (self), NULL);
  return self->vtable->peek_cells (self, cache, stream);
}

guint
kvasir_memory_get_size (const KvasirMemory *self, guint cache)
{
  const KvasirCells *cells = peek_cells (self, cache, 0);

  return cells != NULL ? cells->size : 0;
}

void
kvasir_memory_fill_cell_pos (const KvasirMemory *self, guint cache, gint32 *pos)
{
  const KvasirCells *cells = peek_cells (self, cache, 0);

  g_return_if_fail (cells != NULL && pos != NULL);
  memcpy (pos, cells->pos, kvasir_memory_get_n_kv (self, cache) * sizeof *pos);
}

void
kvasir_memory_fill_shifts (const KvasirMemory *self, guint cache, gint32 *shifts)
{
  const KvasirCells *cells = peek_cells (self, cache, 0);

  g_return_if_fail (cells != NULL && shifts != NULL);
  memcpy (shifts, cells->shift, cells->size * sizeof *shifts);
}

void
kvasir_memory_get_cache_info (const KvasirMemory *self, guint cache, KvasirCacheInfo *info)
{
  g_return_if_fail (self != NULL && cache < self->vtable->get_n_caches (self) && info != NULL);
  self->vtable->get_cache_info (self, cache, info);
}

void
kvasir_memory_get_cell (
    const KvasirMemory *self, guint cache, guint stream, guint cell, KvasirCell *out)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);

  g_return_if_fail (cells != NULL && cell < cells->size && out != NULL);
  kvasir_cells_get (cells, cell, out);
}

gboolean
kvasir_memory_is_v_transposed (const KvasirMemory *self)
{
  return FALSE;
}

void
kvasir_memory_get_state_layer (const KvasirMemory *self,
                               guint layer,
                               KvasirTensor **r,
                               KvasirTensor **s)
{
  *r = *s = NULL;
}

guint
kvasir_memory_get_n_keep (const KvasirMemory *self)
{
  return 0;
}

void
kvasir_memory_fill_state_rows (const KvasirMemory *self, gint32 *rows)
{
}

void
kvasir_memory_get_streams (const KvasirMemory *self, guint *first, guint *n)
{
  *first = 0;
  *n = 1;
}

gboolean
kvasir_memory_apply_copies (KvasirMemory *self)
{
  return FALSE;
}

gint32
kvasir_memory_get_rewind (const KvasirMemory *self, gint seq, gint32 p0)
{
  return p0;
}

guint
kvasir_memory_get_head (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);

  return cells != NULL ? cells->head : 0;
}

guint
kvasir_memory_get_used (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);

  return cells != NULL ? cells->n_used : 0;
}

guint
kvasir_memory_get_used_max (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);

  return cells != NULL ? kvasir_cells_get_end (cells) : 0;
}

guint
kvasir_memory_get_stream (const KvasirMemory *self, guint cache, guint seq)
{
  g_return_val_if_fail (self != NULL && cache < self->vtable->get_n_caches (self), 0);
  g_return_val_if_fail (seq < self->n_seq_max, 0);
  return self->vtable->get_stream (self, cache, seq);
}

void
kvasir_memory_append_breakdown (const KvasirMemory *self, GArray *rows)
{
  g_return_if_fail (self != NULL && rows != NULL);
  self->vtable->append_breakdown (self, rows);
}
