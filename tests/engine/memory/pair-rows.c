#include "tests/engine/memory/pair-rows.h"

#include <string.h>

#include "engine/memory/memory-private.h"
#include "engine/memory/recurrent-private.h"

#define MAX_ROW_BYTES 512

/* ---- K and V */

static void
make_row (gint32 token, guint layer, gboolean of_v, guint8 *row, gsize n_bytes)
{
  guint8 start = (guint8) (token * 31 + token / 256 + (gint32) layer * 7 + (of_v ? 3 : 1));

  g_assert_cmpuint (n_bytes, <=, MAX_ROW_BYTES);
  for (gsize i = 0; i < n_bytes; i++)
    row[i] = (guint8) (start + i);
}

/* A row of @tensor, or column where it is kept transposed. Returns: its bytes */
static gsize
move_row (const KvasirTensor *tensor,
          gboolean is_transposed,
          gint64 slot,
          gint64 size,
          guint8 *row,
          gboolean write)
{
  guint8 *at = (guint8 *) tensor->data + (gsize) (slot / size) * tensor->nb[2];
  gsize n_pieces = is_transposed ? (gsize) tensor->ne[1] : 1;
  gsize n_bytes = is_transposed ? tensor->nb[0] : tensor->nb[1];

  at += (gsize) (slot % size) * (is_transposed ? tensor->nb[0] : tensor->nb[1]);
  for (gsize i = 0; i < n_pieces; i++)
    if (write)
      memcpy (at + i * tensor->nb[1], row + i * n_bytes, n_bytes);
    else
      memcpy (row + i * n_bytes, at + i * tensor->nb[1], n_bytes);
  return n_pieces * n_bytes;
}

typedef struct
{
  guint layer;
  gboolean of_v;
  gboolean is_transposed;
  KvasirTensor *tensor;
} Rows;

/* K and V of all layers of cache @c. Returns: how many */
static guint
list_rows (const KvasirMemory *memory, guint c, Rows *list)
{
  guint n = 0;

  for (guint layer = 0; layer < memory->n_layers; layer++)
    {
      KvasirTensor *tensors[2];
      guint cache;

      kvasir_memory_get_layer (memory, layer, &tensors[0], &tensors[1], &cache);
      for (guint v = 0; v < 2; v++)
        if (tensors[v] != NULL && cache == c)
          list[n++] = (Rows){ layer, v == 1, v == 1 && memory->v_transposed, tensors[v] };
    }
  return n;
}

void
pair_write_rows (KvasirMemory *memory,
                 const NaiveCache *cache,
                 guint c,
                 const NaiveToken *batch,
                 const NaiveUbatch *ubatch)
{
  Rows rows[8];
  guint n = list_rows (memory, c, rows);
  guint8 row[MAX_ROW_BYTES];

  for (guint r = 0; r < n; r++)
    for (guint i = 0; i < ubatch->n; i++)
      {
        const NaiveToken *token = &batch[ubatch->index[i]];
        guint slot =
            naive_cache_get_stream (cache, (guint) token->lead) * cache->size + ubatch->slots[c][i];

        make_row (token->token, rows[r].layer, rows[r].of_v, row, sizeof row);
        move_row (rows[r].tensor, rows[r].is_transposed, slot, cache->size, row, TRUE);
      }
}

void
pair_assert_rows (KvasirMemory *memory, const NaiveCache *cache, guint c, guint stream)
{
  Rows rows[8];
  guint n = list_rows (memory, c, rows);
  guint8 expected[MAX_ROW_BYTES];
  guint8 found[MAX_ROW_BYTES];

  for (guint r = 0; r < n; r++)
    for (guint i = 0; i < cache->size; i++)
      {
        const NaiveCell *cell = &cache->streams[stream].cells[i];
        gsize n_bytes;

        if (cell->pos < 0)
          continue;
        n_bytes = move_row (rows[r].tensor, rows[r].is_transposed, stream * cache->size + i,
                            cache->size, found, FALSE);
        make_row (cell->token, rows[r].layer, rows[r].of_v, expected, n_bytes);
        g_assert_cmpmem (found, n_bytes, expected, n_bytes);
      }
}

/* ---- states */

/* R and S of all layers. Returns: how many */
static guint
list_states (const KvasirMemory *memory, KvasirTensor **list)
{
  guint n = 0;

  for (guint layer = 0; layer < memory->n_layers; layer++)
    {
      KvasirTensor *tensors[2];

      kvasir_memory_get_state_layer (memory, layer, &tensors[0], &tensors[1]);
      for (guint i = 0; i < 2; i++)
        if (tensors[i] != NULL)
          list[n++] = tensors[i];
    }
  return n;
}

static void
assert_state_row (KvasirTensor *const *tensors, guint n, guint row, guint32 value)
{
  for (guint t = 0; t < n; t++)
    for (gint64 i = 0; i < tensors[t]->ne[0]; i++)
      g_assert_cmpint ((gint) ((float *) tensors[t]->data)[row * tensors[t]->ne[0] + i], ==,
                       (gint) value + i);
}

void
pair_scan_states (KvasirMemory *memory,
                  const Naive *before,
                  const Naive *after,
                  const NaiveToken *batch,
                  const NaiveUbatch *ubatch)
{
  guint width = 2 + kvasir_memory_get_n_keep (memory);
  g_autofree gint32 *rows = g_new (gint32, ubatch->n_seqs * width);
  KvasirTensor *tensors[8];
  guint n = list_states (memory, tensors);

  kvasir_memory_fill_state_rows (memory, rows);
  for (guint s = 0; s < ubatch->n_seqs; s++)
    {
      guint lead = (guint) batch[ubatch->index[s * ubatch->n_seq_tokens]].lead;
      const NaiveState *read = naive_find_state (before, lead);
      const NaiveState *state = naive_find_state (after, lead);
      const gint32 *of = rows + s * width;

      g_assert_cmpint (of[0] >= 0, ==, read != NULL);
      if (read != NULL)
        assert_state_row (tensors, n, (guint) of[0], read->value[0]);
      for (guint k = 0; k + 1 < width; k++)
        {
          g_assert_cmpint (of[1 + k] >= 0, ==, k < state->n_kept);
          for (guint t = 0; k < state->n_kept && t < n; t++)
            for (gint64 i = 0; i < tensors[t]->ne[0]; i++)
              ((float *) tensors[t]->data)[of[1 + k] * tensors[t]->ne[0] + i] =
                  (float) (state->value[k] + i);
        }
    }
}

void
pair_assert_states (KvasirMemory *memory, const Naive *naive)
{
  const KvasirRecurrent *part = (const KvasirRecurrent *) memory->parts[memory->n_parts - 1];
  KvasirTensor *tensors[8];
  guint n = list_states (memory, tensors);

  for (guint seq = 0; seq < naive->shape.n_seqs; seq++)
    {
      const KvasirState *found = kvasir_recurrent_find (part, seq);
      const NaiveState *state = naive_find_state (naive, seq);

      g_assert_cmpint (found != NULL, ==, state != NULL);
      if (state == NULL)
        continue;
      g_assert_cmpuint (found->n_kept, ==, state->n_kept);
      for (guint k = 0; k < state->n_kept; k++)
        {
          g_assert_cmpint (found->kept[k].pos, ==, state->pos[k]);
          assert_state_row (tensors, n, found->kept[k].row, state->value[k]);
        }
      for (guint other = 0; other < naive->shape.n_seqs; other++)
        g_assert_cmpint (kvasir_seq_set_has (&found->seqs, other), ==,
                         naive->state_of[other] == naive->state_of[seq]);
    }
}
