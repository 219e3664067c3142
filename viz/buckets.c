#include "viz/buckets.h"

typedef struct
{
  guint n_categories; /* one past the highest that occurs */
  guint64 n_cells;
  guint64 cells[KVASIR_MAX_CATEGORIES];
  guint quota[KVASIR_MAX_CATEGORIES];   /* pixels left to hand out */
  double credit[KVASIR_MAX_CATEGORIES]; /* cells passed and not shown yet */
} Ledger;

static void
count_cells (Ledger *ledger, const KvasirCategoryRun *runs, guint n_runs)
{
  for (guint i = 0; i < n_runs; i++)
    {
      g_assert (runs[i].category < KVASIR_MAX_CATEGORIES);
      ledger->cells[runs[i].category] += runs[i].n;
      ledger->n_cells += runs[i].n;
      ledger->n_categories = MAX (ledger->n_categories, runs[i].category + 1);
    }
}

/* Whole pixels first, the rest to the largest remainders (Hamilton's rule). */
static void
set_quotas (Ledger *ledger, guint n_pixels)
{
  guint64 remainder[KVASIR_MAX_CATEGORIES];
  guint left = n_pixels;
  for (guint c = 0; c < ledger->n_categories; c++)
    {
      guint64 share = ledger->cells[c] * n_pixels;
      ledger->quota[c] = (guint) (share / ledger->n_cells);
      remainder[c] = share % ledger->n_cells;
      left -= ledger->quota[c];
    }
  for (; left > 0; left--)
    {
      guint best = 0;
      for (guint c = 1; c < ledger->n_categories; c++)
        if (remainder[c] > remainder[best])
          best = c;
      ledger->quota[best]++;
      remainder[best] = 0;
    }
}

/* The category with a pixel left that is owed most. */
static guint
choose (const Ledger *ledger)
{
  gint best = -1;
  for (guint c = 0; c < ledger->n_categories; c++)
    if (ledger->quota[c] > 0 && (best < 0 || ledger->credit[c] > ledger->credit[best]))
      best = (gint) c;
  return (guint) MAX (best, 0);
}

/* Where a walk over the runs stands. */
typedef struct
{
  const KvasirCategoryRun *runs;
  guint n_runs;
  guint run;
  double taken; /* of runs[run] */
} Cursor;

static void
step_over (Cursor *cursor, double taken)
{
  cursor->taken += taken;
  if (cursor->taken < cursor->runs[cursor->run].n)
    return;
  cursor->run++;
  cursor->taken = 0;
}

static void
credit_next (Ledger *ledger, Cursor *cursor, double want)
{
  while (want > 0 && cursor->run < cursor->n_runs)
    {
      const KvasirCategoryRun *run = &cursor->runs[cursor->run];
      double take = MIN (want, run->n - cursor->taken);
      ledger->credit[run->category] += take;
      want -= take;
      step_over (cursor, take);
    }
}

void
kvasir_buckets_share (const KvasirCategoryRun *runs, guint n_runs, guint8 *pixels, guint n_pixels)
{
  Ledger ledger = { 0 };
  Cursor cursor = { runs, n_runs, 0, 0 };
  count_cells (&ledger, runs, n_runs);
  g_return_if_fail (ledger.n_cells > 0 && n_pixels > 0);
  set_quotas (&ledger, n_pixels);

  double per_pixel = (double) ledger.n_cells / n_pixels;
  for (guint i = 0; i < n_pixels; i++)
    {
      credit_next (&ledger, &cursor, per_pixel);
      guint c = choose (&ledger);
      ledger.quota[c]--;
      ledger.credit[c] -= per_pixel;
      pixels[i] = (guint8) c;
    }
}
