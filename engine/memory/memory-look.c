/* The read-only side of memory.h: caches and their cells, for traces, snapshots and inputs. */
#include <string.h>

#include "engine/memory/memory-private.h"

static const KvasirPart *
peek_part (const KvasirMemory *self, guint cache)
{
  g_return_val_if_fail (self != NULL && cache < self->n_parts, NULL);
  return self->parts[cache];
}

static const KvasirCells *
peek_cells (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirPart *part = peek_part (self, cache);

  if (part == NULL || part->vtable->peek_cells == NULL)
    return NULL;
  return part->vtable->peek_cells (part, stream);
}

guint
kvasir_memory_get_n_caches (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->n_parts;
}

void
kvasir_memory_get_cache_info (const KvasirMemory *self, guint cache, KvasirCacheInfo *info)
{
  const KvasirPart *part = peek_part (self, cache);

  g_return_if_fail (part != NULL && info != NULL);
  part->vtable->get_info (part, info);
}

guint
kvasir_memory_get_size (const KvasirMemory *self, guint cache)
{
  KvasirCacheInfo info = { 0 };

  kvasir_memory_get_cache_info (self, cache, &info);
  return info.size;
}

/* ---- ranges: of a pair what the sliding half holds, of a hybrid what both halves hold */

/* The part that speaks for attention, which comes first; of a pair the sliding half, unless it
 * holds nothing. */
static const KvasirPart *
peek_attention (const KvasirMemory *self, guint seq)
{
  const KvasirPart *sliding = self->is_sliding ? self->parts[1] : NULL;

  /* Traces go by the sliding half even where it has given up all that the other one holds. */
  if (sliding != NULL && (self->is_lenient || sliding->vtable->pos_max (sliding, seq) >= 0))
    return sliding;
  return self->parts[0];
}

static const KvasirPart *
peek_recurrent (const KvasirMemory *self)
{
  return self->klass == KVASIR_MEMORY_HYBRID || self->klass == KVASIR_MEMORY_HYBRID_ISWA
             ? self->parts[self->n_parts - 1]
             : NULL;
}

gboolean
kvasir_memory_lacks_state (const KvasirMemory *self, guint seq)
{
  const KvasirPart *recurrent = peek_recurrent (self);

  return recurrent != NULL && !self->is_lenient &&
         recurrent->vtable->pos_max (recurrent, seq) < 0 &&
         self->parts[0]->vtable->pos_max (self->parts[0], seq) >= 0;
}

gint32
kvasir_memory_seq_pos_min (const KvasirMemory *self, gint seq)
{
  const KvasirPart *attention, *recurrent;
  gint32 min;

  g_return_val_if_fail (self != NULL && seq >= 0 && (guint) seq < self->n_seq_max, -1);

  if (self->reached != NULL && kvasir_memory_seq_pos_max (self, seq) < 0)
    return -1;
  attention = peek_attention (self, (guint) seq);
  recurrent = peek_recurrent (self);
  min = attention->vtable->pos_min (attention, (guint) seq);
  if (recurrent == NULL || kvasir_memory_lacks_state (self, (guint) seq))
    return min;
  return MAX (min, recurrent->vtable->pos_min (recurrent, (guint) seq));
}

gint32
kvasir_memory_seq_pos_max (const KvasirMemory *self, gint seq)
{
  const KvasirPart *attention, *recurrent;
  gint32 max;

  g_return_val_if_fail (self != NULL && seq >= 0 && (guint) seq < self->n_seq_max, -1);

  attention = peek_attention (self, (guint) seq);
  recurrent = peek_recurrent (self);
  max = attention->vtable->pos_max (attention, (guint) seq);
  if (self->reached != NULL)
    max = MIN (max, self->reached[seq]);
  if (recurrent == NULL || kvasir_memory_lacks_state (self, (guint) seq))
    return max;
  return MIN (max, recurrent->vtable->pos_max (recurrent, (guint) seq));
}

const char *
kvasir_memory_get_shift_obstacle (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->shift_obstacle;
}

gint32
kvasir_memory_get_rewind (const KvasirMemory *self, gint seq, gint32 p0)
{
  gint32 before;

  g_return_val_if_fail (self != NULL && seq >= 0 && (guint) seq < self->n_seq_max, 0);
  p0 = MAX (p0, 0);
  if (kvasir_memory_lacks_state (self, (guint) seq))
    return 0;
  /* Going further back for one part may be too far for another one. */
  do
    {
      before = p0;
      for (guint i = 0; i < self->n_parts; i++)
        p0 = MIN (p0, self->parts[i]->vtable->get_rewind (self->parts[i], (guint) seq, p0));
    }
  while (p0 != before);
  return p0;
}

/* ---- what a graph needs */

/* Which cache holds the attention of @layer. */
static guint
get_cache_of (const KvasirMemory *self, guint layer)
{
  KvasirCacheInfo second = { .is_recurrent = TRUE };

  if (self->n_parts > 1)
    kvasir_memory_get_cache_info (self, 1, &second);
  return !second.is_recurrent && self->layers[layer].is_swa ? 1 : 0;
}

void
kvasir_memory_get_layer (
    const KvasirMemory *self, guint layer, KvasirTensor **k, KvasirTensor **v, guint *cache)
{
  const KvasirPart *part;
  gint share;

  g_return_if_fail (self != NULL && k != NULL && v != NULL && cache != NULL);

  *k = *v = NULL;
  *cache = 0;
  if (layer >= self->n_layers)
    return;
  if (self->lent_layers != NULL && self->lent_layers[layer] >= 0)
    {
      kvasir_memory_get_layer (self->other, (guint) self->lent_layers[layer], k, v, cache);
      return;
    }
  *cache = get_cache_of (self, layer);
  part = *cache < self->n_parts ? self->parts[*cache] : NULL;
  share = self->layers[layer].share;
  if (part != NULL && part->vtable->get_layer != NULL && self->layers[layer].has_attention)
    part->vtable->get_layer (part, share >= 0 ? (guint) share : layer, k, v);
}

gboolean
kvasir_memory_is_v_transposed (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return self->v_transposed;
}

void
kvasir_memory_get_state_layer (const KvasirMemory *self,
                               guint layer,
                               KvasirTensor **r,
                               KvasirTensor **s)
{
  g_return_if_fail (self != NULL && layer < self->n_layers && r != NULL && s != NULL);

  *r = *s = NULL;
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->get_state_layer != NULL)
      self->parts[i]->vtable->get_state_layer (self->parts[i], layer, r, s);
}

guint
kvasir_memory_get_n_keep (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, 0);
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->get_n_keep != NULL)
      return self->parts[i]->vtable->get_n_keep (self->parts[i]);
  return 0;
}

void
kvasir_memory_fill_state_rows (const KvasirMemory *self, gint32 *rows)
{
  g_return_if_fail (self != NULL && rows != NULL);
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->fill_state_rows != NULL)
      self->parts[i]->vtable->fill_state_rows (self->parts[i], rows);
}

void
kvasir_memory_get_streams (const KvasirMemory *self, guint *first, guint *n)
{
  g_return_if_fail (self != NULL && first != NULL && n != NULL);

  *first = 0;
  *n = 1;
  if (self->n_streams == 1 || self->ubatch == NULL)
    return;
  *first = (guint) self->ubatch->leads[0];
  *n = self->ubatch->n_seqs;
}

guint
kvasir_memory_get_n_kv (const KvasirMemory *self, guint cache)
{
  const KvasirPart *part = peek_part (self, cache);

  g_return_val_if_fail (part != NULL, 0);
  return part->vtable->get_n_kv != NULL ? part->vtable->get_n_kv (part) : 0;
}

void
kvasir_memory_fill_slots (const KvasirMemory *self, guint cache, gint64 *slots)
{
  const KvasirPart *part = peek_part (self, cache);

  g_return_if_fail (part != NULL && part->vtable->fill_slots != NULL && slots != NULL);
  part->vtable->fill_slots (part, slots);
}

void
kvasir_memory_fill_mask (const KvasirMemory *self, guint cache, guint64 *words, gsize words_per_row)
{
  const KvasirPart *part = peek_part (self, cache);

  g_return_if_fail (part != NULL && part->vtable->fill_mask != NULL && words != NULL);
  g_return_if_fail (words_per_row >= kvasir_memory_get_n_kv (self, cache) / 64);
  part->vtable->fill_mask (part, words, words_per_row);
}

guint64
kvasir_memory_refresh_mask (
    KvasirMemory *self, guint cache, guint64 *words, gsize words_per_row, guint64 stamp)
{
  g_return_val_if_fail (self != NULL && cache < self->n_parts, 0);

  if (self->parts[cache]->vtable->refresh_mask != NULL)
    return self->parts[cache]->vtable->refresh_mask (self->parts[cache], words, words_per_row,
                                                     stamp);
  kvasir_memory_fill_mask (self, cache, words, words_per_row);
  return 0;
}

void
kvasir_memory_fill_cell_pos (const KvasirMemory *self, guint cache, gint32 *pos)
{
  g_return_if_fail (self != NULL && pos != NULL);
  for (guint s = 0; s < self->n_streams; s++)
    {
      const KvasirCells *cells = peek_cells (self, cache, s);

      g_return_if_fail (cells != NULL);
      memcpy (pos + (gsize) s * cells->size, cells->pos, cells->size * sizeof *pos);
    }
}

void
kvasir_memory_fill_shifts (const KvasirMemory *self, guint cache, gint32 *shifts)
{
  g_return_if_fail (self != NULL && shifts != NULL);
  for (guint s = 0; s < self->n_streams; s++)
    {
      const KvasirCells *cells = peek_cells (self, cache, s);

      g_return_if_fail (cells != NULL);
      memcpy (shifts + (gsize) s * cells->size, cells->shift, cells->size * sizeof *shifts);
    }
}

/* ---- cells */

void
kvasir_memory_get_cell (
    const KvasirMemory *self, guint cache, guint stream, guint cell, KvasirCell *out)
{
  const KvasirPart *part = peek_part (self, cache);
  const KvasirCells *cells = peek_cells (self, cache, stream);

  g_return_if_fail (part != NULL && out != NULL);
  if (cells != NULL)
    kvasir_cells_get (cells, cell, out);
  else if (part->vtable->get_cell != NULL)
    part->vtable->get_cell (part, cell, out);
  else
    *out = (KvasirCell){ .pos = -1, .token = -1 };
}

guint
kvasir_memory_get_head (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);

  return cells != NULL ? cells->head : 0;
}

/* Of a part that keeps no KvasirCells. @n: occupied ones; @end: one past the last */
static void
count_cells (const KvasirMemory *self, guint cache, guint *n, guint *end)
{
  const KvasirPart *part = peek_part (self, cache);
  guint size = kvasir_memory_get_size (self, cache);
  KvasirCell cell;

  *n = *end = 0;
  for (guint i = 0; part->vtable->get_cell != NULL && i < size; i++)
    {
      part->vtable->get_cell (part, i, &cell);
      if (cell.pos < 0)
        continue;
      (*n)++;
      *end = i + 1;
    }
}

guint
kvasir_memory_get_used (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);
  guint n;
  guint end;

  g_return_val_if_fail (self != NULL && cache < self->n_parts, 0);
  if (cells != NULL)
    return cells->n_used;
  count_cells (self, cache, &n, &end);
  return n;
}

guint
kvasir_memory_get_used_max (const KvasirMemory *self, guint cache, guint stream)
{
  const KvasirCells *cells = peek_cells (self, cache, stream);
  guint n;
  guint end;

  g_return_val_if_fail (self != NULL && cache < self->n_parts, 0);
  if (cells != NULL)
    return kvasir_cells_get_end (cells);
  count_cells (self, cache, &n, &end);
  return end;
}

guint
kvasir_memory_get_stream (const KvasirMemory *self, guint cache, guint seq)
{
  KvasirCacheInfo info = { 0 };

  g_return_val_if_fail (self != NULL && seq < self->n_seq_max, 0);
  kvasir_memory_get_cache_info (self, cache, &info);
  return info.n_streams > 1 ? seq : 0;
}

void
kvasir_memory_append_breakdown (const KvasirMemory *self, GArray *rows)
{
  g_return_if_fail (self != NULL && rows != NULL);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->append_breakdown (self->parts[i], rows);
}
