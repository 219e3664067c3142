#include "engine/session/mask-tap.h"

#include <string.h>

/* One cache that attention reads. What is owned but NULL at first is taken when the view is shown
 * first. */
typedef struct
{
  guint cache;
  guint size;
  gsize stride;            /* words of a row that covers all cells of a stream */
  guint n_kv;              /* of the last batch */
  guint *n_kv_of_stream;   /* (owned) [n_streams], of its last batch */
  guint64 *words;          /* (owned) (nullable) [max_rows][stride] */
  gint32 *cell_pos;        /* (owned) (nullable) [size] */
  KvasirSeqSet *cell_seqs; /* (owned) (nullable) [size] */
  guint64 *waterfall;      /* (owned) (nullable) [KVASIR_WATERFALL_ROWS][stride], a ring */
} Cache;

struct _KvasirMaskTap
{
  const KvasirMemory *memory; /* (unowned) */
  guint max_rows;
  guint n_caches;
  Cache *caches; /* (owned) [n_caches] */
  gboolean shown;

  guint n_ubatches;
  gboolean stale;         /* cells have changed since the last batch */
  guint stream;           /* the first one of the last batch, whose rows are kept */
  guint n_rows;           /* 0: no batch yet */
  gint32 *row_tokens;     /* (owned) [max_rows] */
  gint32 *row_pos;        /* (owned) [max_rows] */
  KvasirSeqSet *row_seqs; /* (owned) [max_rows] */

  guint caught_ubatch; /* the last batch that was caught, counted from 1; 0: none */
  guint n_waterfall;
  guint next_waterfall;
};

static void
init_cache (Cache *self, const KvasirMemory *memory, guint cache)
{
  KvasirCacheInfo info;
  kvasir_memory_get_cache_info (memory, cache, &info);
  self->cache = cache;
  self->size = info.size;
  self->stride = (info.size + 63) / 64;
  self->n_kv_of_stream = g_new0 (guint, info.n_streams);
}

static void
clear_cache (Cache *self)
{
  g_free (self->n_kv_of_stream);
  g_free (self->words);
  g_free (self->cell_pos);
  g_free (self->cell_seqs);
  g_free (self->waterfall);
}

KvasirMaskTap *
kvasir_mask_tap_new (const KvasirMemory *memory, guint n_ubatch)
{
  const guint n_caches = kvasir_memory_get_n_caches (memory);
  KvasirMaskTap *self = g_new0 (KvasirMaskTap, 1);
  self->memory = memory;
  self->max_rows = n_ubatch;
  self->caches = g_new0 (Cache, n_caches);
  for (guint i = 0; i < n_caches; i++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, i, &info);
      if (!info.is_recurrent && info.n_layers > 0)
        init_cache (&self->caches[self->n_caches++], memory, i);
    }
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
  for (guint i = 0; i < self->n_caches; i++)
    clear_cache (&self->caches[i]);
  g_free (self->caches);
  g_free (self->row_tokens);
  g_free (self->row_pos);
  g_free (self->row_seqs);
  g_free (self);
}

static void
catch_cells (KvasirMaskTap *self, Cache *cache)
{
  for (guint i = 0; i < cache->n_kv; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, cache->cache, self->stream, i, &cell);
      cache->cell_pos[i] = cell.pos;
      cache->cell_seqs[i] = cell.seqs;
    }
}

static void
catch_waterfall (KvasirMaskTap *self, Cache *cache)
{
  guint64 *row = cache->waterfall + self->next_waterfall * cache->stride;
  memset (row, 0, cache->stride * sizeof *row);
  memcpy (row, cache->words, cache->n_kv / 64 * sizeof *row);
}

static void
make_buffers (KvasirMaskTap *self, Cache *cache)
{
  cache->words = g_new0 (guint64, self->max_rows * cache->stride);
  cache->cell_pos = g_new (gint32, cache->size);
  cache->cell_seqs = g_new (KvasirSeqSet, cache->size);
  cache->waterfall = g_new0 (guint64, KVASIR_WATERFALL_ROWS * cache->stride);
}

static void
catch_cache (KvasirMaskTap *self, Cache *cache)
{
  if (cache->words == NULL)
    make_buffers (self, cache);
  kvasir_memory_fill_mask (self->memory, cache->cache, cache->words, cache->stride);
  catch_cells (self, cache);
  if (self->n_rows == 1)
    catch_waterfall (self, cache);
}

static void
catch_mask (KvasirMaskTap *self)
{
  for (guint i = 0; i < self->n_caches; i++)
    catch_cache (self, &self->caches[i]);
  self->caught_ubatch = self->n_ubatches;
  if (self->n_rows != 1)
    return;
  self->next_waterfall = (self->next_waterfall + 1) % KVASIR_WATERFALL_ROWS;
  self->n_waterfall = MIN (self->n_waterfall + 1, KVASIR_WATERFALL_ROWS);
}

void
kvasir_mask_tap_set_shown (KvasirMaskTap *self, gboolean shown)
{
  self->shown = shown;
  if (shown && self->n_rows > 0 && !self->stale && self->caught_ubatch != self->n_ubatches)
    catch_mask (self);
}

static void
note_n_kv (KvasirMaskTap *self, Cache *cache, guint n_streams)
{
  cache->n_kv = kvasir_memory_get_n_kv (self->memory, cache->cache);
  for (guint i = 0; i < n_streams; i++)
    cache->n_kv_of_stream[self->stream + i] = cache->n_kv;
}

void
kvasir_mask_tap_note (KvasirMaskTap *self, const KvasirUbatch *ubatch)
{
  guint n_streams = 1;

  g_assert (ubatch->n_tokens <= self->max_rows);

  self->n_ubatches++;
  self->stale = FALSE;
  kvasir_memory_get_streams (self->memory, &self->stream, &n_streams);
  /* The tokens lie evenly in the streams, those of the first one in front. */
  self->n_rows = ubatch->n_tokens / MAX (n_streams, 1u);
  for (guint i = 0; i < self->n_caches; i++)
    note_n_kv (self, &self->caches[i], n_streams);
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
copy_waterfall (const KvasirMaskTap *self, const Cache *cache, KvasirMaskShot *shot)
{
  shot->n_waterfall = self->n_waterfall;
  shot->waterfall_words = cache->stride;
  shot->waterfall = g_new (guint64, self->n_waterfall * cache->stride);
  guint first =
      (self->next_waterfall + KVASIR_WATERFALL_ROWS - self->n_waterfall) % KVASIR_WATERFALL_ROWS;
  for (guint i = 0; i < self->n_waterfall; i++)
    memcpy (shot->waterfall + i * cache->stride,
            cache->waterfall + (first + i) % KVASIR_WATERFALL_ROWS * cache->stride,
            cache->stride * sizeof (guint64));
}

static KvasirMaskShot *
build_shot (const KvasirMaskTap *self, const Cache *cache)
{
  KvasirCacheInfo info;
  kvasir_memory_get_cache_info (self->memory, cache->cache, &info);
  KvasirMaskShot *shot = g_new0 (KvasirMaskShot, 1);
  g_strlcpy (shot->cache_name, info.name, sizeof shot->cache_name);
  shot->cache = cache->cache;
  shot->stream = self->stream;
  shot->n_streams = info.n_streams;
  shot->ubatch = self->caught_ubatch;
  shot->n_rows = self->n_rows;
  shot->n_kv = cache->n_kv;
  shot->size = cache->size;
  shot->n_swa = info.n_swa;
  shot->row_tokens = g_memdup2 (self->row_tokens, shot->n_rows * sizeof (gint32));
  shot->row_pos = g_memdup2 (self->row_pos, shot->n_rows * sizeof (gint32));
  shot->row_seqs = g_memdup2 (self->row_seqs, shot->n_rows * sizeof (KvasirSeqSet));
  shot->words_per_row = shot->n_kv / 64;
  shot->words = copy_rows (cache->words, shot->n_rows, cache->stride, shot->words_per_row);
  shot->cell_pos = g_memdup2 (cache->cell_pos, shot->n_kv * sizeof (gint32));
  shot->cell_seqs = g_memdup2 (cache->cell_seqs, shot->n_kv * sizeof (KvasirSeqSet));
  copy_waterfall (self, cache, shot);
  return shot;
}

KvasirMaskShot *
kvasir_mask_tap_build (KvasirMaskTap *self)
{
  KvasirMaskShot *first = NULL;

  if (self->caught_ubatch == 0 || self->caught_ubatch != self->n_ubatches)
    return NULL;
  for (guint i = self->n_caches; i-- > 0;)
    {
      KvasirMaskShot *shot = build_shot (self, &self->caches[i]);
      shot->next = first;
      first = shot;
    }
  return first;
}

guint
kvasir_mask_tap_get_n_kv (const KvasirMaskTap *self, guint cache, guint stream)
{
  for (guint i = 0; i < self->n_caches; i++)
    if (self->caches[i].cache == cache)
      return self->caches[i].n_kv_of_stream[stream];
  return 0;
}
