/* Bookkeeping of cells, beside cells kept as ordered sets in the same run.
 *
 *   bench-cells                  the table, for 1 048 576 cells
 *   bench-cells count OPERATION  one operation alone, for counting instructions (count-cells.py)
 */
#include <stdio.h>
#include <string.h>

#include "engine/memory/slots.h"
#include "tests/bench/set-cells.h"
#include "tests/engine/memory/support.h"

#define N_CELLS (1u << 20)
#define N_SEQS 4
#define N_BATCH 8192
#define N_REPEATS 5
#define N_COUNTED 65536u

static double
now_ms (void)
{
  return (double) g_get_monotonic_time () / 1e3;
}

/* ---- a memory with rows of a few bytes */

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  gint32 *tokens;
} Bench;

static void
bench_init (Bench *self, guint n_cells, guint n_batch)
{
  const KvasirBatchLimits limits = { .n_batch = n_batch,
                                     .n_ubatch = n_batch,
                                     .n_seq_max = N_SEQS,
                                     .n_vocab = 1000,
                                     .n_pos_per_token = 1 };
  KvasirMemoryLayer layer = { .has_attention = TRUE,
                              .share = -1,
                              .n_embd_k = 2,
                              .head_dim_k = 2,
                              .buffer_type = &self->heap.type };
  const KvasirMemoryParams params = { .klass = KVASIR_MEMORY_KV,
                                      .kv_size = n_cells,
                                      .n_streams = 1,
                                      .unified = TRUE,
                                      .n_seq_max = N_SEQS,
                                      .n_ubatch = n_batch,
                                      .n_batch = n_batch,
                                      .type_k = KVASIR_TYPE_F16,
                                      .type_v = KVASIR_TYPE_F16,
                                      .is_causal = TRUE,
                                      .n_pos_per_token = 1,
                                      .n_layers = 1,
                                      .layers = &layer,
                                      .arch = "bench" };

  test_heap_init (&self->heap);
  self->memory = kvasir_memory_new (&params, NULL);
  self->plan = kvasir_batch_plan_new (&limits);
  self->tokens = g_new0 (gint32, n_batch);
  g_assert (self->memory != NULL);
}

static void
bench_clear (Bench *self)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  g_free (self->tokens);
}

/* Reads @n tokens of sequence 0 as one batch. */
static void
bench_read (Bench *self, guint n)
{
  const KvasirBatch batch = { .n_tokens = n, .tokens = self->tokens };
  const KvasirUbatch *ubatch;

  if (!kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL) ||
      kvasir_memory_init_batch (self->memory, self->plan) != KVASIR_PREPARE_OK)
    g_assert_not_reached ();
  while (kvasir_memory_apply_next (self->memory, &ubatch))
    ;
}

static void
bench_fill (Bench *self, guint n)
{
  for (guint done = 0; done < n;)
    {
      guint step = MIN (N_BATCH, n - done);

      bench_read (self, step);
      done += step;
    }
}

/* ---- the operations */

/* @search: the cell is searched for before it is taken, as a decode of one token does. */
static void
append_all (KvasirCells *cells, guint n, gboolean search)
{
  KvasirSeqSet seqs = { 0 };
  guint32 slot;

  kvasir_seq_set_add (&seqs, 0);
  for (guint i = 0; i < n; i++)
    {
      const KvasirCellEntry entry = { .pos = (gint32) i, .token = 1, .step = i, .seqs = &seqs };

      slot = i;
      if (search && !kvasir_slots_find (cells, 1, &slot))
        g_assert_not_reached ();
      kvasir_cells_place (cells, slot, &entry);
      cells->head = slot + 1;
    }
}

static double
time_append (gboolean search)
{
  double best = 1e9;

  for (guint r = 0; r < N_REPEATS; r++)
    {
      KvasirCells cells;
      double start;

      if (!kvasir_cells_init (&cells, N_CELLS, N_SEQS))
        g_assert_not_reached ();
      /* Pages that were never touched would be measured otherwise. */
      append_all (&cells, N_CELLS, search);
      kvasir_cells_clear (&cells);
      if (!kvasir_cells_init (&cells, N_CELLS, N_SEQS))
        g_assert_not_reached ();
      start = now_ms ();
      append_all (&cells, N_CELLS, search);
      best = MIN (best, now_ms () - start);
      kvasir_cells_clear (&cells);
    }
  return best;
}

static double
time_naive_append (SetCells *sets)
{
  double start = now_ms ();

  for (guint i = 0; i < N_CELLS; i++)
    set_cells_append (sets, 0, (gint32) i);
  return now_ms () - start;
}

static double
time_copy (Bench *bench)
{
  double start = now_ms ();

  kvasir_memory_seq_cp (bench->memory, 0, 1, -1, -1);
  start = now_ms () - start;
  kvasir_memory_seq_rm (bench->memory, 1, -1, -1);
  return start;
}

static double
time_shift (Bench *bench)
{
  double start = now_ms ();

  kvasir_memory_seq_add (bench->memory, 0, N_CELLS / 2, -1, 7);
  start = now_ms () - start;
  kvasir_memory_seq_add (bench->memory, 0, N_CELLS / 2 + 7, -1, -7);
  return start;
}

/* A quarter of the cells, which are read again afterwards. */
static double
time_remove (Bench *bench)
{
  double start = now_ms ();

  kvasir_memory_seq_rm (bench->memory, 0, N_CELLS / 2, N_CELLS / 4 * 3);
  start = now_ms () - start;
  kvasir_memory_seq_rm (bench->memory, 0, N_CELLS / 2, -1);
  bench_fill (bench, N_CELLS / 2);
  return start;
}

static double
time_find (Bench *bench)
{
  const guint n = 1000;
  const KvasirBatch batch = { .n_tokens = 1, .tokens = bench->tokens };
  double start;

  if (!kvasir_batch_plan_init (bench->plan, &batch, bench->memory, NULL))
    g_assert_not_reached ();
  start = now_ms ();
  for (guint i = 0; i < n; i++)
    if (kvasir_memory_init_batch (bench->memory, bench->plan) != KVASIR_PREPARE_NO_ROOM)
      g_assert_not_reached ();
  return (now_ms () - start) / n;
}

static double
best_of (double (*time) (Bench *), Bench *bench)
{
  double best = 1e9;

  for (guint r = 0; r < N_REPEATS; r++)
    {
      double ms = time (bench);

      best = MIN (best, ms);
    }
  return best;
}

static void
print_row (const char *name, double ms, double naive_ms, double target)
{
  printf ("%-34s %12.4f %12.3f %9.0f %9.0f\n", name, ms, naive_ms, naive_ms / ms, target);
}

static void
bench_operations (void)
{
  Bench bench;
  SetCells *sets = set_cells_new (N_CELLS, N_SEQS);
  double start;
  double naive;

  printf ("%u cells %36s %12s %9s %9s\n", N_CELLS, "ms", "as sets, ms", "times", "target");
  naive = time_naive_append (sets);
  print_row ("place all, one by one", time_append (FALSE), naive, 40);
  print_row ("search for and place all", time_append (TRUE), naive, 40);
  bench_init (&bench, N_CELLS, N_BATCH);
  bench_fill (&bench, N_CELLS);

  start = now_ms ();
  set_cells_copy (sets, 0, 1);
  naive = now_ms () - start;
  print_row ("copy a sequence", best_of (time_copy, &bench), naive, 50);
  set_cells_remove (sets, 1, 0, G_MAXINT32);

  start = now_ms ();
  set_cells_add (sets, 0, N_CELLS / 2, G_MAXINT32, 7);
  naive = now_ms () - start;
  set_cells_add (sets, 0, N_CELLS / 2 + 7, G_MAXINT32, -7);
  print_row ("shift half", best_of (time_shift, &bench), naive, 50);

  start = now_ms ();
  for (guint i = 0; i < 3; i++)
    g_assert (set_cells_find (sets) < 0);
  naive = (now_ms () - start) / 3;
  print_row ("find a slot in a full cache", best_of (time_find, &bench), naive, 50);

  start = now_ms ();
  set_cells_remove (sets, 0, N_CELLS / 2, N_CELLS / 4 * 3);
  naive = now_ms () - start;
  print_row ("remove a range (a quarter)", best_of (time_remove, &bench), naive, 50);
  set_cells_free (sets);
  bench_clear (&bench);
}

/* ---- masks */

/* The row of one token behind @n_cells - 1 others. */
static void
bench_mask (guint n_cells)
{
  const guint n = 200;
  Bench bench;
  SetCells *sets = set_cells_new (n_cells, 1);
  g_autofree guint64 *words = g_new0 (guint64, n_cells / 64);
  g_autofree float *row = g_new (float, n_cells);
  double start;
  double ms;

  bench_init (&bench, n_cells, N_BATCH);
  bench_fill (&bench, n_cells - 1);
  bench_read (&bench, 1);
  for (guint i = 0; i < n_cells; i++)
    set_cells_append (sets, 0, (gint32) i);
  start = now_ms ();
  for (guint i = 0; i < n; i++)
    kvasir_memory_fill_mask (bench.memory, 0, words, n_cells / 64);
  ms = (now_ms () - start) / n;
  start = now_ms ();
  set_cells_fill_mask (sets, 0, (gint32) n_cells - 1, row, n_cells);
  start = now_ms () - start;
  printf ("mask of a decode row, %6u cells   %12.5f %12.3f %9.0f\n", n_cells, ms, start,
          start / ms);
  set_cells_free (sets);
  bench_clear (&bench);
}

/* A whole step of one token: check, search, place, mask. */
static void
bench_step (guint n_cells)
{
  const guint n = 200;
  Bench bench;
  g_autofree guint64 *words = g_new0 (guint64, n_cells / 64);
  double start;

  bench_init (&bench, n_cells, N_BATCH);
  bench_fill (&bench, n_cells - n);
  start = now_ms ();
  for (guint i = 0; i < n; i++)
    {
      bench_read (&bench, 1);
      kvasir_memory_fill_mask (bench.memory, 0, words, n_cells / 64);
    }
  printf ("whole step of one token, %6u cells %10.5f\n", n_cells, (now_ms () - start) / n);
  bench_clear (&bench);
}

/* ---- counted alone. Not static, so that a profiler finds them. */

void bench_count_shift (KvasirMemory *memory);
void bench_count_set_append (SetCells *sets);

__attribute__ ((noinline)) void
bench_count_shift (KvasirMemory *memory)
{
  kvasir_memory_seq_add (memory, 0, 0, -1, 7);
}

__attribute__ ((noinline)) void
bench_count_set_append (SetCells *sets)
{
  for (guint i = 0; i < N_COUNTED; i++)
    set_cells_append (sets, 0, (gint32) i);
}

static int
count (const char *operation)
{
  if (strcmp (operation, "append") == 0)
    {
      KvasirCells cells;

      if (!kvasir_cells_init (&cells, N_COUNTED, N_SEQS))
        return 1;
      append_all (&cells, N_COUNTED, TRUE);
      kvasir_cells_clear (&cells);
    }
  else if (strcmp (operation, "shift") == 0)
    {
      Bench bench;

      bench_init (&bench, N_COUNTED, N_BATCH);
      bench_fill (&bench, N_COUNTED);
      bench_count_shift (bench.memory);
      bench_clear (&bench);
    }
  else
    {
      SetCells *sets = set_cells_new (N_COUNTED, N_SEQS);

      bench_count_set_append (sets);
      set_cells_free (sets);
    }
  printf ("%u\n", N_COUNTED);
  return 0;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "count") == 0)
    return count (argv[2]);
  bench_operations ();
  bench_mask (16384);
  bench_mask (131072);
  bench_step (16384);
  bench_step (131072);
  return 0;
}
