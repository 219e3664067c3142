#include "tests/viz/fake.h"

#include <string.h>

#define BYTES_PER_CELL 23040 /* 30 layers of 3 heads of 64 in f16, K and V */
#define N_WATERFALL 256

Fake *
fake_new (guint size, guint n_streams)
{
  gsize n = (gsize) size * n_streams;
  Fake *self = g_new0 (Fake, 1);
  self->size = size;
  self->n_streams = n_streams;
  self->pos = g_new (gint32, n);
  self->shift = g_new0 (gint32, n);
  self->sets = g_new0 (KvasirSeqSet, n);
  self->tokens = g_new (gint32, n);
  self->steps = g_new0 (guint32, n);
  self->messages = g_array_new (FALSE, FALSE, sizeof (KvasirMessageRun));
  for (gsize i = 0; i < n; i++)
    self->pos[i] = self->tokens[i] = -1;
  for (guint i = 0; i < KVASIR_MAX_SEQS; i++)
    self->parents[i] = -1;
  return self;
}

void
fake_free (Fake *self)
{
  g_free (self->pos);
  g_free (self->shift);
  g_free (self->sets);
  g_free (self->tokens);
  g_free (self->steps);
  g_array_unref (self->messages);
  g_free (self);
}

void
fake_put (Fake *self, guint cell, guint n, gint32 pos, guint64 seqs, guint32 step)
{
  for (guint i = 0; i < n; i++)
    {
      self->pos[cell + i] = pos + (gint32) i;
      self->sets[cell + i] = (KvasirSeqSet){ { seqs } };
      self->tokens[cell + i] = (gint32) ((guint) (pos + (gint32) i) * 7919u % 49152u);
      self->steps[cell + i] = step;
      self->step = MAX (self->step, step);
    }
}

void
fake_add_message (Fake *self, gint seq, gint32 pos, gint32 n, guint64 id, guint8 role)
{
  KvasirMessageRun run = { seq, pos, n, id, role };
  g_array_append_val (self->messages, run);
}

static void
add_chat_messages (Fake *self)
{
  fake_add_message (self, 0, 0, 24, 1, 0);
  fake_add_message (self, 0, 24, 287, 2, 1);
  fake_add_message (self, 0, 311, 634, 3, 2);
  fake_add_message (self, 0, 945, 20, 4, 1);
  fake_add_message (self, 0, 965, 374, 5, 2);
  fake_add_message (self, 1, 0, 24, 1, 0);
  fake_add_message (self, 1, 24, 287, 2, 1);
  fake_add_message (self, 1, 311, 320, 6, 2);
  fake_add_message (self, 2, 0, 96, 7, 1);
}

Fake *
fake_new_chat (void)
{
  Fake *self = fake_new (4096, 1);
  fake_put (self, 0, 311, 0, 3, 1);
  fake_put (self, 311, 194, 311, 1, 195);
  fake_put (self, 505, 130, 311, 2, 330);
  fake_put (self, 660, 210, 505, 1, 400);
  fake_put (self, 870, 96, 0, 4, 420);
  fake_put (self, 1094, 230, 715, 1, 480);
  fake_put (self, 1324, 190, 441, 2, 520);
  fake_put (self, 1514, 394, 945, 1, 530);
  for (guint i = 0; i < 26; i++)
    self->steps[1908 - 26 + i] = self->step = 615 + i;
  self->parents[1] = 0;
  self->parent_pos[1] = 311;
  self->head = 1908;
  add_chat_messages (self);
  return self;
}

Fake *
fake_new_forks (void)
{
  Fake *self = fake_new (4096, 1);
  fake_put (self, 0, 384, 0, 11, 1);
  fake_put (self, 384, 516, 384, 1, 2);
  fake_put (self, 900, 420, 384, 10, 3);
  fake_put (self, 1320, 60, 0, 4, 4);
  fake_put (self, 1380, 100, 900, 1, 5);
  fake_put (self, 1544, 256, 1064, 1, 6);
  fake_put (self, 1800, 56, 804, 8, 7);
  fake_put (self, 1888, 216, 892, 8, 8);
  fake_put (self, 2104, 180, 804, 2, 9);
  fake_put (self, 1480, 64, 1320, 1, 10);
  fake_put (self, 2284, 136, 1384, 1, 11);
  self->parents[1] = 0;
  self->parent_pos[1] = 384;
  self->parents[3] = 1;
  self->parent_pos[3] = 804;
  self->head = 1856;
  return self;
}

Fake *
fake_new_random (GRand *rand, guint size, guint n_streams, guint n_seqs)
{
  Fake *self = fake_new (size, n_streams);
  guint n = size * n_streams;
  for (guint cell = 0; cell < n;)
    {
      guint len = MIN (1 + (guint) g_rand_int_range (rand, 0, MAX (2, (gint) size / 12)), n - cell);
      len = MIN (len, size - cell % size);
      guint64 seqs = G_GUINT64_CONSTANT (1) << g_rand_int_range (rand, 0, (gint) n_seqs);
      if (g_rand_int_range (rand, 0, 3) == 0)
        seqs |= G_GUINT64_CONSTANT (1) << g_rand_int_range (rand, 0, (gint) n_seqs);
      if (g_rand_int_range (rand, 0, 4) != 0)
        {
          fake_put (self, cell, len, g_rand_int_range (rand, 0, (gint) n), seqs, cell + 1);
          if (g_rand_int_range (rand, 0, 5) == 0)
            self->shift[cell] = -3;
        }
      cell += len;
    }
  self->head = (guint) g_rand_int_range (rand, 0, (gint) size);
  return self;
}

/* ---- cells */

static guint
get_used_max (const Fake *self, guint stream)
{
  guint used_max = 0;
  for (guint i = 0; i < self->size; i++)
    if (self->pos[(gsize) stream * self->size + i] >= 0)
      used_max = i + 1;
  return used_max;
}

static guint
get_n_kv (const Fake *self, guint stream)
{
  if (self->n_kv > 0)
    return self->n_kv;
  return MIN (self->size, MAX (256, (get_used_max (self, stream) + 255) / 256 * 256));
}

static guint
find_set (KvasirCacheShot *cache, const KvasirSeqSet *set)
{
  for (guint i = 0; i < cache->n_sets; i++)
    if (kvasir_seq_set_equal (&cache->sets[i], set))
      return i;
  cache->sets[cache->n_sets] = *set;
  return cache->n_sets++;
}

static gboolean
continues (const Fake *self, gsize i)
{
  return self->pos[i] >= 0 && self->pos[i] == self->pos[i - 1] + 1 && self->pos[i - 1] >= 0 &&
         self->shift[i] == self->shift[i - 1] &&
         kvasir_seq_set_equal (&self->sets[i], &self->sets[i - 1]);
}

static void
fill_stream (const Fake *self, KvasirCacheShot *cache, guint stream)
{
  KvasirStreamShot *shot = &cache->streams[stream];
  guint free_run = 0;
  shot->head = self->head;
  shot->used_max = get_used_max (self, stream);
  shot->n_kv = get_n_kv (self, stream);
  shot->first_span = cache->n_spans;
  for (guint cell = 0; cell < self->size; cell++)
    {
      gsize i = (gsize) stream * self->size + cell;
      if (self->pos[i] < 0)
        {
          shot->n_holes += free_run == 0 && cell < shot->used_max;
          free_run++;
          shot->largest_free_run = MAX (shot->largest_free_run, free_run);
          continue;
        }
      free_run = 0;
      shot->used++;
      if (cell > 0 && continues (self, i))
        cache->spans[cache->n_spans - 1].n++;
      else
        cache->spans[cache->n_spans++] =
            (KvasirSpan){ cell, 1, self->pos[i], self->shift[i], find_set (cache, &self->sets[i]) };
    }
  shot->n_spans = cache->n_spans - shot->first_span;
}

static void
count_cell (const Fake *self, gsize i, KvasirSeqShot seqs[KVASIR_MAX_SEQS])
{
  gboolean own = kvasir_seq_set_count (&self->sets[i]) == 1;
  for (gint seq = kvasir_seq_set_next (&self->sets[i], 0); seq >= 0 && seq < 64;
       seq = kvasir_seq_set_next (&self->sets[i], (guint) seq + 1))
    {
      KvasirSeqShot *one = &seqs[seq];
      one->pos_min = one->n_cells == 0 ? self->pos[i] : MIN (one->pos_min, self->pos[i]);
      one->pos_max = one->n_cells == 0 ? self->pos[i] : MAX (one->pos_max, self->pos[i]);
      one->n_cells++;
      one->n_own += own;
    }
}

static void
fill_seqs (const Fake *self, KvasirCellsShot *shot)
{
  KvasirSeqShot seqs[KVASIR_MAX_SEQS] = { 0 };
  shot->seqs = g_new0 (KvasirSeqShot, KVASIR_MAX_SEQS);
  for (gsize i = 0; i < (gsize) self->size * self->n_streams; i++)
    if (self->pos[i] >= 0)
      count_cell (self, i, seqs);
  for (guint seq = 0; seq < KVASIR_MAX_SEQS; seq++)
    if (seqs[seq].n_cells > 0)
      {
        seqs[seq].seq = (gint) seq;
        seqs[seq].chat_id = 1;
        seqs[seq].parent = self->parents[seq];
        seqs[seq].parent_pos = self->parent_pos[seq];
        shot->seqs[shot->n_seqs++] = seqs[seq];
      }
}

KvasirCellsShot *
fake_make_cells (const Fake *self)
{
  gsize n = (gsize) self->size * self->n_streams;
  KvasirCellsShot *shot = g_new0 (KvasirCellsShot, 1);
  KvasirCacheShot *cache = g_new0 (KvasirCacheShot, 1);
  shot->n_caches = 1;
  shot->caches = cache;
  g_strlcpy (cache->name, "base", sizeof cache->name);
  g_strlcpy (cache->type_k, "f16", sizeof cache->type_k);
  g_strlcpy (cache->type_v, "f16", sizeof cache->type_v);
  cache->size = self->size;
  cache->n_streams = self->n_streams;
  cache->n_swa = self->n_swa;
  cache->n_layers = 30;
  cache->bytes_per_cell = BYTES_PER_CELL;
  cache->k_bytes_per_cell = BYTES_PER_CELL / 2;
  cache->streams = g_new0 (KvasirStreamShot, self->n_streams);
  cache->spans = g_new0 (KvasirSpan, n + 1);
  cache->sets = g_new0 (KvasirSeqSet, n + 1);
  cache->tokens = g_memdup2 (self->tokens, n * sizeof (gint32));
  cache->steps = g_memdup2 (self->steps, n * sizeof (guint32));
  for (guint stream = 0; stream < self->n_streams; stream++)
    fill_stream (self, cache, stream);
  fill_seqs (self, shot);
  shot->n_message_runs = self->messages->len;
  shot->message_runs =
      g_memdup2 (self->messages->data, self->messages->len * sizeof (KvasirMessageRun));
  return shot;
}

void
fake_cells_free (KvasirCellsShot *shot)
{
  KvasirCacheShot *cache = shot->caches;
  g_free (cache->streams);
  g_free (cache->spans);
  g_free (cache->sets);
  g_free (cache->tokens);
  g_free (cache->steps);
  g_free (cache);
  g_free (shot->seqs);
  g_free (shot->message_runs);
  g_free (shot);
}

/* ---- the mask */

static gboolean
is_open (const Fake *self, guint cell, guint seq, gint32 row_pos)
{
  return self->pos[cell] >= 0 && kvasir_seq_set_has (&self->sets[cell], seq) &&
         self->pos[cell] <= row_pos &&
         (self->n_swa == 0 || row_pos - self->pos[cell] < (gint32) self->n_swa);
}

static void
fill_words (const Fake *self, guint64 *words, guint n_kv, guint seq, gint32 row_pos)
{
  for (guint cell = 0; cell < n_kv; cell++)
    if (is_open (self, cell, seq, row_pos))
      words[cell / 64] |= G_GUINT64_CONSTANT (1) << (cell % 64);
}

static gint32
get_pos_max (const Fake *self, guint seq)
{
  gint32 pos_max = -1;
  for (guint cell = 0; cell < self->size; cell++)
    if (self->pos[cell] >= 0 && kvasir_seq_set_has (&self->sets[cell], seq))
      pos_max = MAX (pos_max, self->pos[cell]);
  return pos_max;
}

static void
fill_rows (const Fake *self, KvasirMaskShot *shot, guint n_rows, guint64 seqs)
{
  for (guint seq = 0; seq < 64; seq++)
    {
      gint32 last = (seqs >> seq) & 1 ? get_pos_max (self, seq) : -1;
      for (gint32 pos = MAX (last - (gint32) n_rows + 1, 0); pos <= last; pos++)
        {
          guint row = shot->n_rows++;
          shot->row_pos[row] = pos;
          shot->row_tokens[row] = (gint32) ((guint) pos * 7919u % 49152u);
          kvasir_seq_set_add (&shot->row_seqs[row], seq);
          fill_words (self, shot->words + row * shot->words_per_row, shot->n_kv, seq, pos);
        }
    }
}

KvasirMaskShot *
fake_make_mask (const Fake *self, guint n_rows, guint64 seqs)
{
  guint max_rows = n_rows * 64;
  gint32 last = get_pos_max (self, 0);
  KvasirMaskShot *shot = g_new0 (KvasirMaskShot, 1);
  g_strlcpy (shot->cache_name, "base", sizeof shot->cache_name);
  shot->ubatch = 265;
  shot->n_kv = get_n_kv (self, 0);
  shot->size = self->size;
  shot->n_swa = self->n_swa;
  shot->words_per_row = (shot->n_kv + 63) / 64;
  shot->row_tokens = g_new0 (gint32, max_rows);
  shot->row_pos = g_new0 (gint32, max_rows);
  shot->row_seqs = g_new0 (KvasirSeqSet, max_rows);
  shot->words = g_new0 (guint64, max_rows * shot->words_per_row);
  shot->cell_pos = g_memdup2 (self->pos, shot->n_kv * sizeof (gint32));
  shot->cell_seqs = g_memdup2 (self->sets, shot->n_kv * sizeof (KvasirSeqSet));
  fill_rows (self, shot, n_rows, seqs);
  shot->n_waterfall = (guint) CLAMP (last + 1, 0, N_WATERFALL);
  shot->waterfall_words = shot->words_per_row;
  shot->waterfall = g_new0 (guint64, N_WATERFALL * shot->waterfall_words);
  for (guint i = 0; i < shot->n_waterfall; i++)
    fill_words (self, shot->waterfall + i * shot->waterfall_words, shot->n_kv, 0,
                last - (gint32) (shot->n_waterfall - 1 - i));
  return shot;
}

void
fake_mask_free (KvasirMaskShot *shot)
{
  g_free (shot->row_tokens);
  g_free (shot->row_pos);
  g_free (shot->row_seqs);
  g_free (shot->words);
  g_free (shot->cell_pos);
  g_free (shot->cell_seqs);
  g_free (shot->waterfall);
  g_free (shot);
}

/* ---- memory */

static void
add_row (GArray *rows, const char *type, KvasirMemoryKind kind, gint layer, guint64 n_bytes)
{
  KvasirMemoryRow row = { "CPU", type, kind, layer, n_bytes };
  g_array_append_val (rows, row);
}

KvasirMemoryShot *
fake_make_memory (guint64 live_bytes)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  KvasirMemoryShot *shot = g_new0 (KvasirMemoryShot, 1);
  const guint64 mib = 1024 * 1024;
  add_row (rows, "CPU_Mapped", KVASIR_KIND_WEIGHTS, -1, 98362432);
  for (gint layer = 0; layer < 30; layer++)
    {
      add_row (rows, "CPU", KVASIR_KIND_KV_K, layer, 3 * mib / 2);
      add_row (rows, "CPU", KVASIR_KIND_KV_V, layer, 3 * mib / 2);
    }
  add_row (rows, "CPU", KVASIR_KIND_COMPUTE, -1, 243 * mib / 10);
  add_row (rows, "CPU", KVASIR_KIND_OUTPUT, -1, 37 * mib / 10);
  shot->n_rows = rows->len;
  shot->rows = g_memdup2 (rows->data, rows->len * sizeof (KvasirMemoryRow));
  shot->n_planned = rows->len;
  shot->planned = g_memdup2 (rows->data, rows->len * sizeof (KvasirMemoryRow));
  shot->planned[rows->len - 2].n_bytes -= mib;
  shot->n_devices = 1;
  shot->devices = g_new0 (KvasirDeviceShot, 1);
  g_strlcpy (shot->devices[0].device, "CPU", sizeof shot->devices[0].device);
  shot->devices[0].total_bytes = 2048 * mib;
  shot->devices[0].free_bytes = 1124 * mib;
  shot->weights_resident_bytes = 71 * mib;
  shot->live_bytes = live_bytes;
  shot->process_resident_bytes = 264 * mib;
  return shot;
}

void
fake_memory_free (KvasirMemoryShot *shot)
{
  g_free (shot->rows);
  g_free (shot->planned);
  g_free (shot->devices);
  g_free (shot);
}

char *
fake_dup_token_text (gint32 token, gpointer user_data)
{
  static const char *const words[] = { " the",       " light",       " scatter", ",",
                                       " blue",      " wavelengths", " short",   ".",
                                       " because",   " air",         " sun",     "\n",
                                       " molecules", " sensitive",   " eyes",    " red",
                                       " a" };
  return g_strdup (words[(guint) token % G_N_ELEMENTS (words)]);
}
