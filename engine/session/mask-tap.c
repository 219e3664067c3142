#include "engine/session/mask-tap.h"

#include <string.h>

struct _KvasirMaskTap
{
  const KvasirMemory *memory; /* (unowned) */
  guint max_rows;
  guint size;
  gsize stride; /* words of a row that covers all cells */
  gboolean shown;

  guint n_ubatches;
  guint n_kv;
  gboolean stale;         /* cells have changed since the last batch */
  guint n_rows;           /* 0: no batch yet */
  gint32 *row_tokens;     /* (owned) [max_rows] */
  gint32 *row_pos;        /* (owned) [max_rows] */
  KvasirSeqSet *row_seqs; /* (owned) [max_rows] */

  /* Of the last batch that was caught; taken when the view is shown first. */
  guint caught_ubatch;     /* counted from 1, 0: none */
  guint64 *words;          /* (owned) (nullable) [max_rows][stride] */
  gint32 *cell_pos;        /* (owned) (nullable) [size] */
  KvasirSeqSet *cell_seqs; /* (owned) (nullable) [size] */
  guint64 *waterfall;      /* (owned) (nullable) [KVASIR_WATERFALL_ROWS][stride], a ring */
  guint n_waterfall;
  guint next_waterfall;
};

KvasirMaskTap *
kvasir_mask_tap_new (const KvasirMemory *memory, guint n_ubatch)
{
  KvasirMaskTap *self = g_new0 (KvasirMaskTap, 1);
  self->memory = memory;
  self->max_rows = n_ubatch;
  self->size = kvasir_memory_get_size (memory, 0);
  self->stride = (self->size + 63) / 64;
  self->row_tokens = g_new (gint32, n_ubatch);
  self->row_pos = g_new (gint32, n_ubatch);
  self->row_seqs = g_new (KvasirSeqSet, n_ubatch);
  return self;
}

void
kvasir_mask_tap_free (KvasirMaskTap *self)
{
  if (self == NULL)
    return;
  g_free (self->row_tokens);
  g_free (self->row_pos);
  g_free (self->row_seqs);
  g_free (self->words);
  g_free (self->cell_pos);
  g_free (self->cell_seqs);
  g_free (self->waterfall);
  g_free (self);
}

static void
catch_cells (KvasirMaskTap *self)
{
  for (guint i = 0; i < self->n_kv; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      self->cell_pos[i] = cell.pos;
      self->cell_seqs[i] = cell.seqs;
    }
}

static void
catch_waterfall (KvasirMaskTap *self)
{
  guint64 *row = self->waterfall + self->next_waterfall * self->stride;
  memset (row, 0, self->stride * sizeof *row);
  memcpy (row, self->words, self->n_kv / 64 * sizeof *row);
  self->next_waterfall = (self->next_waterfall + 1) % KVASIR_WATERFALL_ROWS;
  self->n_waterfall = MIN (self->n_waterfall + 1, KVASIR_WATERFALL_ROWS);
}

static void
make_buffers (KvasirMaskTap *self)
{
  self->words = g_new0 (guint64, self->max_rows * self->stride);
  self->cell_pos = g_new (gint32, self->size);
  self->cell_seqs = g_new (KvasirSeqSet, self->size);
  self->waterfall = g_new (guint64, KVASIR_WATERFALL_ROWS * self->stride);
}

static void
catch_mask (KvasirMaskTap *self)
{
  if (self->words == NULL)
    make_buffers (self);
  kvasir_memory_fill_mask (self->memory, 0, self->words, self->stride);
  catch_cells (self);
  self->caught_ubatch = self->n_ubatches;
  if (self->n_rows == 1)
    catch_waterfall (self);
}

void
kvasir_mask_tap_set_shown (KvasirMaskTap *self, gboolean shown)
{
  self->shown = shown;
  if (shown && self->n_rows > 0 && !self->stale && self->caught_ubatch != self->n_ubatches)
    catch_mask (self);
}

void
kvasir_mask_tap_note (KvasirMaskTap *self, const KvasirUbatch *ubatch)
{
  g_assert (ubatch->n_tokens <= self->max_rows);

  self->n_ubatches++;
  self->stale = FALSE;
  self->n_rows = ubatch->n_tokens;
  self->n_kv = kvasir_memory_get_n_kv (self->memory, 0);
  memcpy (self->row_tokens, ubatch->tokens, self->n_rows * sizeof (gint32));
  memcpy (self->row_pos, ubatch->pos, self->n_rows * sizeof (gint32));
  memcpy (self->row_seqs, ubatch->seqs, self->n_rows * sizeof (KvasirSeqSet));
  if (self->shown)
    catch_mask (self);
}

void
kvasir_mask_tap_invalidate (KvasirMaskTap *self)
{
  self->stale = TRUE;
}

static guint64 *
copy_rows (const guint64 *from, guint n_rows, gsize stride, gsize n_words)
{
  guint64 *rows = g_new (guint64, n_rows * n_words);
  for (guint i = 0; i < n_rows; i++)
    memcpy (rows + i * n_words, from + i * stride, n_words * sizeof *rows);
  return rows;
}

static void
copy_waterfall (const KvasirMaskTap *self, KvasirMaskShot *shot)
{
  shot->n_waterfall = self->n_waterfall;
  shot->waterfall_words = self->stride;
  shot->waterfall = g_new (guint64, self->n_waterfall * self->stride);
  guint first =
      (self->next_waterfall + KVASIR_WATERFALL_ROWS - self->n_waterfall) % KVASIR_WATERFALL_ROWS;
  for (guint i = 0; i < self->n_waterfall; i++)
    memcpy (shot->waterfall + i * self->stride,
            self->waterfall + (first + i) % KVASIR_WATERFALL_ROWS * self->stride,
            self->stride * sizeof (guint64));
}

KvasirMaskShot *
kvasir_mask_tap_build (KvasirMaskTap *self)
{
  if (self->caught_ubatch == 0 || self->caught_ubatch != self->n_ubatches)
    return NULL;

  KvasirCacheInfo info;
  kvasir_memory_get_cache_info (self->memory, 0, &info);
  KvasirMaskShot *shot = g_new0 (KvasirMaskShot, 1);
  g_strlcpy (shot->cache_name, info.name, sizeof shot->cache_name);
  shot->ubatch = self->caught_ubatch;
  shot->n_rows = self->n_rows;
  shot->n_kv = self->n_kv;
  shot->size = self->size;
  shot->n_swa = info.n_swa;
  shot->row_tokens = g_memdup2 (self->row_tokens, shot->n_rows * sizeof (gint32));
  shot->row_pos = g_memdup2 (self->row_pos, shot->n_rows * sizeof (gint32));
  shot->row_seqs = g_memdup2 (self->row_seqs, shot->n_rows * sizeof (KvasirSeqSet));
  shot->words_per_row = shot->n_kv / 64;
  shot->words = copy_rows (self->words, shot->n_rows, self->stride, shot->words_per_row);
  shot->cell_pos = g_memdup2 (self->cell_pos, shot->n_kv * sizeof (gint32));
  shot->cell_seqs = g_memdup2 (self->cell_seqs, shot->n_kv * sizeof (KvasirSeqSet));
  copy_waterfall (self, shot);
  return shot;
}

guint
kvasir_mask_tap_get_n_kv (const KvasirMaskTap *self)
{
  return self->n_kv;
}
