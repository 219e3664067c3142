#include "viz/holdings.h"

#include <stdlib.h>

#include "viz/palette.h"

/* Cells, own cells and runs per sequence id. */
typedef struct
{
  guint n_cells;
  guint n_own;
  guint n_runs;
} Count;

static void
count_span (KvasirHoldings *self, const KvasirSpan *span, Count counts[KVASIR_MAX_SEQS])
{
  const KvasirSeqSet *set = &self->cache->sets[span->set];
  gboolean shared = kvasir_seq_set_count (set) > 1;
  self->n_used += span->n;
  self->n_shared += shared ? span->n : 0;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0;
       seq = kvasir_palette_next_seq (set, seq))
    {
      counts[seq].n_cells += span->n;
      counts[seq].n_own += shared ? 0 : span->n;
      counts[seq].n_runs++;
    }
}

static void
make_seqs (KvasirHoldings *self, const Count counts[KVASIR_MAX_SEQS])
{
  guint n_runs = 0;
  for (guint seq = 0; seq < KVASIR_MAX_SEQS; seq++)
    self->n_seqs += counts[seq].n_runs > 0;
  self->seqs = g_new0 (KvasirHolding, self->n_seqs + 1);
  KvasirHolding *next = self->seqs;
  for (guint seq = 0; seq < KVASIR_MAX_SEQS; seq++)
    {
      if (counts[seq].n_runs == 0)
        continue;
      *next++ = (KvasirHolding){
        .seq = seq, .n_cells = counts[seq].n_cells, .n_own = counts[seq].n_own, .first_run = n_runs
      };
      n_runs += counts[seq].n_runs;
    }
  self->runs = g_new (KvasirPosRun, n_runs + 1);
}

static KvasirHolding *
find (const KvasirHoldings *self, guint seq)
{
  for (guint i = 0; i < self->n_seqs; i++)
    if (self->seqs[i].seq == seq)
      return &self->seqs[i];
  return NULL;
}

static void
add_span (KvasirHoldings *self, guint stream, const KvasirSpan *span)
{
  const KvasirSeqSet *set = &self->cache->sets[span->set];
  const KvasirPosRun run = { span->pos, span->n, span->cell, stream, span->set, span->shift };
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0;
       seq = kvasir_palette_next_seq (set, seq))
    {
      KvasirHolding *holding = find (self, (guint) seq);
      self->runs[holding->first_run + holding->n_runs++] = run;
    }
}

static void
fill_runs (KvasirHoldings *self, guint stream)
{
  const KvasirStreamShot *shot = &self->cache->streams[stream];
  for (guint i = 0; i < shot->n_spans; i++)
    add_span (self, stream, &self->cache->spans[shot->first_span + i]);
}

static int
compare_runs (const void *a, const void *b)
{
  const KvasirPosRun *x = a;
  const KvasirPosRun *y = b;
  if (x->pos != y->pos)
    return x->pos < y->pos ? -1 : 1;
  return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* Distinct positions and holes of sorted runs, which may overlap after a division. */
static void
measure_positions (KvasirHoldings *self, KvasirHolding *holding)
{
  const KvasirPosRun *runs = &self->runs[holding->first_run];
  gint32 end = runs[0].pos;
  holding->pos_min = runs[0].pos;
  for (guint i = 0; i < holding->n_runs; i++)
    {
      gint32 run_end = runs[i].pos + (gint32) runs[i].n;
      holding->n_holes += runs[i].pos > end;
      if (run_end > end)
        holding->n_positions += (guint) (run_end - MAX (end, runs[i].pos));
      end = MAX (end, run_end);
    }
  holding->pos_max = end - 1;
}

/* A state is made of all positions up to its own. */
static void
measure_state (KvasirHoldings *self, KvasirHolding *holding)
{
  holding->pos_max = self->runs[holding->first_run].pos;
  holding->n_positions = (guint) holding->pos_max + 1;
}

KvasirHoldings *
kvasir_holdings_new (const KvasirCacheShot *cache)
{
  Count counts[KVASIR_MAX_SEQS] = { 0 };
  KvasirHoldings *self = g_new0 (KvasirHoldings, 1);
  self->cache = cache;
  self->n_cells = cache->size * cache->n_streams;
  for (guint i = 0; i < cache->n_spans; i++)
    count_span (self, &cache->spans[i], counts);
  make_seqs (self, counts);
  for (guint stream = 0; stream < cache->n_streams; stream++)
    fill_runs (self, stream);
  for (guint i = 0; i < self->n_seqs; i++)
    {
      KvasirHolding *holding = &self->seqs[i];
      qsort (&self->runs[holding->first_run], holding->n_runs, sizeof (KvasirPosRun), compare_runs);
      if (cache->is_recurrent)
        measure_state (self, holding);
      else
        measure_positions (self, holding);
    }
  return self;
}

void
kvasir_holdings_free (KvasirHoldings *self)
{
  if (self == NULL)
    return;
  g_free (self->seqs);
  g_free (self->runs);
  g_free (self);
}

const KvasirHolding *
kvasir_holdings_find (const KvasirHoldings *self, guint seq)
{
  return find (self, seq);
}

const KvasirPosRun *
kvasir_holdings_find_position (const KvasirHoldings *self, guint seq, gint32 pos)
{
  const KvasirHolding *holding = find (self, seq);
  for (guint i = 0; holding != NULL && i < holding->n_runs; i++)
    {
      const KvasirPosRun *run = &self->runs[holding->first_run + i];
      if (pos >= run->pos && pos < run->pos + (gint32) run->n)
        return run;
    }
  return NULL;
}

void
kvasir_holdings_foreach_hole (const KvasirHoldings *self,
                              const KvasirHolding *holding,
                              KvasirHoleFunc func,
                              gpointer user_data)
{
  const KvasirPosRun *runs = &self->runs[holding->first_run];
  gint32 end = runs[0].pos;
  for (guint i = 0; i < holding->n_runs; i++)
    {
      if (runs[i].pos > end)
        func (end, runs[i].pos - end, user_data);
      end = MAX (end, runs[i].pos + (gint32) runs[i].n);
    }
}
