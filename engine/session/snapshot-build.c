#include "engine/session/snapshot-build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- sequence sets, each once */

typedef struct
{
  GArray *sets;       /* (owned) of KvasirSeqSet */
  GHashTable *places; /* (owned) set (its words) -> index */
} SetPool;

static guint
hash_set (gconstpointer data)
{
  const KvasirSeqSet *set = data;
  guint64 h = 0;
  for (guint i = 0; i < G_N_ELEMENTS (set->w); i++)
    h = (h ^ set->w[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (h >> 32);
}

static gboolean
equal_sets (gconstpointer a, gconstpointer b)
{
  return kvasir_seq_set_equal (a, b);
}

static guint32
intern_set (SetPool *self, const KvasirSeqSet *set)
{
  gpointer place;
  if (g_hash_table_lookup_extended (self->places, set, NULL, &place))
    return GPOINTER_TO_UINT (place);
  guint32 index = self->sets->len;
  g_array_append_val (self->sets, *set);
  g_hash_table_insert (self->places, g_memdup2 (set, sizeof *set), GUINT_TO_POINTER (index));
  return index;
}

/* ---- cells */

/* Whether the cell goes on where the span ends. */
static gboolean
continues (const KvasirSpan *span, const KvasirSeqSet *set, guint index, const KvasirCell *cell)
{
  return span->cell + span->n == index && span->pos + (gint32) span->n == cell->pos &&
         span->shift == cell->shift && kvasir_seq_set_equal (set, &cell->seqs);
}

static void
count_holes (KvasirStreamShot *stream, guint n_before)
{
  if (n_before == 0)
    return;
  stream->n_holes++;
  stream->largest_free_run = MAX (stream->largest_free_run, n_before);
}

/* Spans of one stream are appended to @spans; tokens and steps are written at @shot's place. */
static void
build_stream (const KvasirMemory *memory,
              guint cache,
              guint index,
              KvasirCacheShot *shot,
              GArray *spans,
              SetPool *pool)
{
  KvasirStreamShot *stream = &shot->streams[index];
  gsize base = (gsize) index * shot->size;
  guint first_free = 0;

  stream->head = kvasir_memory_get_head (memory, cache, index);
  stream->used = kvasir_memory_get_used (memory, cache, index);
  stream->used_max = kvasir_memory_get_used_max (memory, cache, index);
  stream->first_span = spans->len;
  for (guint i = 0; i < stream->used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (memory, cache, index, i, &cell);
      if (cell.pos < 0)
        continue;
      shot->tokens[base + i] = cell.token;
      shot->steps[base + i] = cell.step;
      count_holes (stream, i - first_free);
      first_free = i + 1;
      KvasirSpan *last = spans->len > stream->first_span
                             ? &g_array_index (spans, KvasirSpan, spans->len - 1)
                             : NULL;
      if (last != NULL &&
          continues (last, &g_array_index (pool->sets, KvasirSeqSet, last->set), i, &cell))
        {
          last->n++;
          continue;
        }
      KvasirSpan span = { i, 1, cell.pos, cell.shift, intern_set (pool, &cell.seqs) };
      g_array_append_val (spans, span);
    }
  stream->n_spans = spans->len - stream->first_span;
  stream->largest_free_run =
      MAX (stream->largest_free_run, shot->size - MIN (stream->used_max, shot->size));
}

static void
build_cache (KvasirSession *session, const KvasirMemory *memory, guint cache, KvasirCacheShot *shot)
{
  KvasirCacheInfo info;
  kvasir_memory_get_cache_info (memory, cache, &info);
  g_strlcpy (shot->name, info.name, sizeof shot->name);
  g_strlcpy (shot->type_k, kvasir_type_get_name (info.type_k), sizeof shot->type_k);
  g_strlcpy (shot->type_v, kvasir_type_get_name (info.type_v), sizeof shot->type_v);
  shot->size = info.size;
  shot->n_streams = info.n_streams;
  shot->is_recurrent = info.is_recurrent;
  shot->n_swa = info.n_swa;
  shot->n_layers = info.n_layers;
  shot->bytes_per_cell = info.bytes_per_cell;
  shot->k_bytes_per_cell = info.k_bytes_per_cell;

  gsize n_cells = (gsize) info.size * info.n_streams;
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (KvasirSpan));
  SetPool pool = {
    g_array_new (FALSE, FALSE, sizeof (KvasirSeqSet)),
    g_hash_table_new_full (hash_set, equal_sets, g_free, NULL),
  };
  shot->streams = g_new0 (KvasirStreamShot, info.n_streams);
  shot->tokens = g_new (gint32, n_cells);
  memset (shot->tokens, 0xff, n_cells * sizeof (gint32));
  shot->steps = g_new0 (guint32, n_cells);
  for (guint i = 0; i < info.n_streams; i++)
    {
      build_stream (memory, cache, i, shot, spans, &pool);
      shot->streams[i].n_kv =
          kvasir_mask_tap_get_n_kv (kvasir_session_get_mask_tap (session), cache, i);
    }

  shot->n_spans = spans->len;
  shot->spans = (KvasirSpan *) (void *) g_array_free (spans, FALSE);
  shot->n_sets = pool.sets->len;
  shot->sets = (KvasirSeqSet *) (void *) g_array_free (pool.sets, FALSE);
  g_hash_table_unref (pool.places);
}

/* What a sequence holds in the first cache. */
typedef struct
{
  guint n_cells;
  guint n_own;    /* by it alone */
  gint32 pos_min; /* where n_cells > 0 */
} Held;

static void
count_held (const KvasirCacheShot *cache, Held *held)
{
  for (guint i = 0; i < cache->n_spans; i++)
    {
      const KvasirSpan *span = &cache->spans[i];
      const KvasirSeqSet *set = &cache->sets[span->set];
      gboolean own = kvasir_seq_set_count (set) == 1;
      for (guint w = 0; w < G_N_ELEMENTS (set->w); w++)
        for (guint64 bits = set->w[w]; bits != 0; bits &= bits - 1)
          {
            Held *of_seq = &held[w * 64 + (guint) __builtin_ctzll (bits)];
            of_seq->pos_min = of_seq->n_cells == 0 ? span->pos : MIN (of_seq->pos_min, span->pos);
            of_seq->n_cells += span->n;
            of_seq->n_own += own ? span->n : 0;
          }
    }
}

/* The part of the record's runs that lies in positions that are there. */
static void
append_runs (const KvasirSeqRecord *record, const KvasirSeqShot *seq, GArray *runs)
{
  for (guint i = 0; i < record->runs->len; i++)
    {
      KvasirMessageRun run = g_array_index (record->runs, KvasirMessageRun, i);
      gint32 from = MAX (run.pos, seq->pos_min);
      gint32 to = MIN (run.pos + run.n, seq->pos_max + 1);
      run.seq = seq->seq;
      run.pos = from;
      run.n = to - from;
      if (run.n > 0)
        g_array_append_val (runs, run);
    }
}

static void
build_seqs (KvasirSession *session, const KvasirMemory *memory, KvasirCellsShot *cells)
{
  const KvasirSeqTable *table = kvasir_session_get_seqs (session);
  Held held[KVASIR_MAX_SEQS] = { { 0 } };
  GArray *seqs = g_array_new (FALSE, FALSE, sizeof (KvasirSeqShot));
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (KvasirMessageRun));

  count_held (&cells->caches[0], held);
  for (guint i = 0; i < kvasir_seq_table_get_n_seqs (table); i++)
    {
      const KvasirSeqRecord *record = kvasir_seq_table_get (table, (gint) i);
      KvasirSeqShot seq = {
        .seq = (gint) i,
        /* A state is made of all positions up to its own. */
        .pos_min = cells->caches[0].is_recurrent ? 0 : held[i].pos_min,
        .pos_max = kvasir_memory_seq_pos_max (memory, (gint) i),
        .n_cells = held[i].n_cells,
        .n_own = held[i].n_own,
        .chat_id = record->chat_id,
        .leaf_id = record->leaf_id,
        .parent = record->parent,
        .parent_pos = record->parent_pos,
      };
      if (seq.pos_max < 0)
        continue;
      g_array_append_val (seqs, seq);
      append_runs (record, &seq, runs);
    }
  cells->n_seqs = seqs->len;
  cells->seqs = (KvasirSeqShot *) (void *) g_array_free (seqs, FALSE);
  cells->n_message_runs = runs->len;
  cells->message_runs = (KvasirMessageRun *) (void *) g_array_free (runs, FALSE);
}

static KvasirCellsShot *
build_cells (KvasirSession *session)
{
  const KvasirMemory *memory = kvasir_context_get_memory (kvasir_session_get_context (session));
  KvasirCellsShot *cells = g_new0 (KvasirCellsShot, 1);
  cells->n_caches = kvasir_memory_get_n_caches (memory);
  cells->caches = g_new0 (KvasirCacheShot, cells->n_caches);
  for (guint i = 0; i < cells->n_caches; i++)
    build_cache (session, memory, i, &cells->caches[i]);
  build_seqs (session, memory, cells);
  return cells;
}

/* ---- memory */

/* Of cells; states are not cells. */
static guint64
count_live_bytes (const KvasirMemory *memory)
{
  guint64 n_bytes = 0;
  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, c, &info);
      for (guint s = 0; !info.is_recurrent && s < info.n_streams; s++)
        n_bytes += kvasir_memory_get_used (memory, c, s) * info.bytes_per_cell;
    }
  return n_bytes;
}

static KvasirMemoryShot *
build_memory (KvasirSession *session, const KvasirSnapshotSpec *spec)
{
  KvasirContext *context = kvasir_session_get_context (session);
  KvasirMemoryShot *memory = g_new0 (KvasirMemoryShot, 1);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  gsize free_bytes = 0;
  gsize total_bytes = 0;

  kvasir_session_append_breakdown (session, rows);
  memory->n_rows = rows->len;
  memory->rows = (KvasirMemoryRow *) (void *) g_array_free (rows, FALSE);
  if (spec->planned != NULL)
    {
      memory->n_planned = spec->planned->len;
      memory->planned =
          g_memdup2 (spec->planned->data, memory->n_planned * sizeof (KvasirMemoryRow));
    }
  spec->device->vtable->get_memory (spec->device, &free_bytes, &total_bytes);
  memory->n_devices = 1;
  memory->devices = g_new0 (KvasirDeviceShot, 1);
  g_strlcpy (memory->devices[0].device, spec->device->name, sizeof memory->devices[0].device);
  memory->devices[0].free_bytes = free_bytes;
  memory->devices[0].total_bytes = total_bytes;
  memory->weights_resident_bytes = spec->weights_resident_bytes;
  memory->process_resident_bytes = spec->process_resident_bytes;
  memory->live_bytes = count_live_bytes (kvasir_context_get_memory (context));
  return memory;
}

guint64
kvasir_process_get_resident_bytes (void)
{
  unsigned long pages = 0;
  FILE *file = fopen ("/proc/self/statm", "re");
  if (file == NULL)
    return 0;
  if (fscanf (file, "%*s %lu", &pages) != 1)
    pages = 0;
  fclose (file);
  return (guint64) pages * (guint64) sysconf (_SC_PAGESIZE);
}

KvasirSnapshot *
kvasir_snapshot_build (KvasirSession *session, const KvasirSnapshotSpec *spec)
{
  KvasirSnapshotOwned *owned = g_new0 (KvasirSnapshotOwned, 1);
  KvasirSnapshot *self = &owned->shot;
  owned->n_refs = 1;
  self->sequence = spec->sequence;
  self->model_id = spec->model_id;
  self->step = spec->step;
  self->views = spec->views;
  if (session == NULL)
    return self;
  self->request_id = kvasir_session_get_request (session);
  if (spec->views & KVASIR_VIEW_CELLS)
    self->cells = build_cells (session);
  if (spec->views & KVASIR_VIEW_MASK)
    self->mask = kvasir_mask_tap_build (kvasir_session_get_mask_tap (session));
  if (spec->views & KVASIR_VIEW_MEMORY)
    self->memory = build_memory (session, spec);
  return self;
}
