/* Moves the K and V rows of scattered cells between buffers and a state. */
#include "engine/memory/kv-cache-private.h"

/* How many of @cells, numbered through all streams, lie one behind the other in one stream. */
static guint
measure_run (const KvasirKvStore *store, const guint32 *cells, guint n)
{
  guint n_run = 1;

  while (n_run < n && cells[n_run] == cells[0] + n_run && cells[n_run] % store->size != 0)
    n_run++;
  return n_run;
}

/* One direction or the other. */
static void
move (KvasirBuffer *buffer, gsize offset, KvasirRowMove *rows, gsize n_bytes)
{
  if (rows->to != NULL)
    buffer->vtable->get (buffer, offset, rows->to, n_bytes);
  else
    buffer->vtable->set (buffer, offset, rows->from, n_bytes);
  if (rows->to != NULL)
    rows->to += n_bytes;
  else
    rows->from += n_bytes;
}

static void
move_rows (const KvasirKvStore *store, const KvasirKvTensor *tensor, KvasirRowMove *rows)
{
  KvasirBuffer *buffer = kvasir_kv_store_peek_buffer (store, tensor);
  guint n_run;

  for (guint i = 0; i < rows->n_cells; i += n_run)
    {
      n_run = measure_run (store, rows->cells + i, rows->n_cells - i);
      move (buffer, tensor->offset + rows->cells[i] * tensor->row_bytes, rows,
            n_run * tensor->row_bytes);
    }
}

/* Value after value: cells lie side by side. */
static void
move_columns (const KvasirKvStore *store, const KvasirKvTensor *tensor, KvasirRowMove *rows)
{
  KvasirBuffer *buffer = kvasir_kv_store_peek_buffer (store, tensor);
  gsize value_bytes = tensor->row_bytes / tensor->n_embd;
  guint n_run;

  for (guint j = 0; j < tensor->n_embd; j++)
    for (guint i = 0; i < rows->n_cells; i += n_run)
      {
        gsize stream = rows->cells[i] / store->size;
        gsize cell = rows->cells[i] % store->size;
        gsize column = (stream * tensor->n_embd + j) * store->size + cell;

        n_run = measure_run (store, rows->cells + i, rows->n_cells - i);
        move (buffer, tensor->offset + column * value_bytes, rows, n_run * value_bytes);
      }
}

void
kvasir_kv_rows_move (const KvasirKvStore *store, KvasirRowMove *rows)
{
  for (guint i = 0; i < store->n_layers; i++)
    for (guint of_v = 0; of_v < 2; of_v++)
      {
        const KvasirKvTensor *tensor = of_v ? &store->rows[i].v : &store->rows[i].k;

        if (tensor->n_bytes == 0)
          continue;
        if (tensor->is_transposed)
          move_columns (store, tensor, rows);
        else
          move_rows (store, tensor, rows);
      }
}
