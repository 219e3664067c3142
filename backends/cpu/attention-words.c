/* Tiles of a cache are turned into words once for all queries of a part; then each block of 64
 * queries that sees something of the tile is brought up to date. */
#include "backends/cpu/attention-words.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/attention-part.h"
#include "backends/cpu/attention-trace.h"

#define N_QUERIES KVASIR_BLOCK_QUERIES
#define MAX_BLOCKS (KVASIR_WORD_ROWS / N_QUERIES)
#define LOG2_E 1.44269504f

/* What a part keeps, and the memory of the tile at work. */
typedef struct
{
  const KvasirTensor *node;
  const KvasirOpRun *run;
  const KvasirAttentionPart *part;
  KvasirAttentionRows k, v;
  int64_t n_rows; /* of queries */
  int64_t row_width;
  float *rows; /* [64][row_width] */
  int16_t *keys, *values, *words;
  float *key_scales, *value_scales;
  uint64_t open[KVASIR_TILE];
  KvasirWordTile blocks[MAX_BLOCKS];
} Words;

bool
kvasir_attention_takes_words (const KvasirTensor *node, const KvasirOpRun *run)
{
  const KvasirAttentionParams *p = &node->params.attention;

  return run->kernels->attend_words != NULL && p->softcap == 0 && p->max_bias == 0 &&
         !p->v_transposed && p->head_dim_k % 16 == 0 && p->head_dim_v % 16 == 0 &&
         node->src[1]->type != KVASIR_TYPE_F32 && node->src[2]->type != KVASIR_TYPE_F32 &&
         kvasir_attention_get_group (p) <= KVASIR_WORD_ROWS &&
         !kvasir_attention_is_as_traces (node, run);
}

/* Floats of one block: queries, their scales, maximums and sums, and what is summed. */
static size_t
get_block_floats (const KvasirAttentionParams *p)
{
  return N_QUERIES * (size_t) (p->head_dim_k / 2 + 3 + p->head_dim_v);
}

size_t
kvasir_attention_get_word_scratch_floats (const KvasirAttentionParams *p)
{
  size_t tile = KVASIR_TILE * (size_t) (kvasir_attention_get_row_width (p) + p->head_dim_k / 2 +
                                        p->head_dim_v / 2 + 2);
  size_t work = KVASIR_TILE * N_QUERIES * 3 / 2;

  return tile + work + (size_t) (p->head_dim_k + p->head_dim_v + 32) +
         MAX_BLOCKS * get_block_floats (p);
}

static float *
take (float **memory, size_t n_floats)
{
  float *taken = *memory;

  *memory += n_floats;
  return taken;
}

static void
lay_out (Words *w, float *memory)
{
  const KvasirAttentionParams *p = &w->node->params.attention;
  size_t dk = (size_t) p->head_dim_k, dv = (size_t) p->head_dim_v;
  KvasirWordTile tile = { .head_dim_k = p->head_dim_k, .head_dim_v = p->head_dim_v };

  w->row_width = kvasir_attention_get_row_width (p);
  tile.scores = take (&memory, KVASIR_TILE * N_QUERIES);
  tile.weights = (void *) take (&memory, KVASIR_TILE * N_QUERIES / 2);
  tile.keys = w->keys = (void *) take (&memory, KVASIR_TILE * dk / 2);
  tile.values = w->values = (void *) take (&memory, KVASIR_TILE * dv / 2);
  tile.key_scales = w->key_scales = take (&memory, KVASIR_TILE);
  tile.value_scales = w->value_scales = take (&memory, KVASIR_TILE);
  w->rows = take (&memory, KVASIR_TILE * (size_t) w->row_width);
  w->words = (void *) take (&memory, dk + dv);
  for (int i = 0; i < MAX_BLOCKS; i++)
    {
      tile.queries = (void *) take (&memory, N_QUERIES * dk / 2);
      tile.query_scales = take (&memory, N_QUERIES);
      tile.max = take (&memory, N_QUERIES);
      tile.sum = take (&memory, N_QUERIES);
      tile.out = take (&memory, N_QUERIES * dv);
      w->blocks[i] = tile;
    }
}

static void
clear_block (const KvasirWordTile *block)
{
  memset ((void *) block->queries, 0, N_QUERIES * (size_t) block->head_dim_k * sizeof (int16_t));
  memset ((void *) block->query_scales, 0, N_QUERIES * sizeof (float));
  memset (block->sum, 0, N_QUERIES * sizeof (float));
  memset (block->out, 0, N_QUERIES * (size_t) block->head_dim_v * sizeof (float));
  for (int i = 0; i < N_QUERIES; i++)
    block->max[i] = -INFINITY;
}

/* Row @row of the part into its block, pairs of words under each other. */
static void
add_query (const Words *w, int64_t row, const float *query)
{
  const KvasirWordTile *block = &w->blocks[row / N_QUERIES];
  int32_t *pairs = (int32_t *) (void *) block->queries + row % N_QUERIES;
  float *scales = (float *) block->query_scales + row % N_QUERIES;
  const int32_t *words = (const void *) w->words;

  *scales = w->run->kernels->to_words (query, block->head_dim_k, true, w->words);
  for (int i = 0; i < block->head_dim_k / 2; i++)
    pairs[i * N_QUERIES] = words[i];
}

static void
add_queries (Words *w)
{
  const KvasirAttentionParams *p = &w->node->params.attention;
  int64_t group = kvasir_attention_get_group (p), row = 0;

  for (int64_t i = 0; i < w->n_rows; i += N_QUERIES)
    clear_block (&w->blocks[i / N_QUERIES]);
  for (int64_t t = w->part->token; t < w->part->token_end; t++)
    for (int64_t g = 0; g < group; g++, row++)
      {
        kvasir_attention_scale_query (
            w->node, w->run, &w->k, LOG2_E,
            (void *) kvasir_tensor_get_row (w->node->src[0], w->part->head * group + g, t, 0),
            w->rows);
        add_query (w, row, w->rows);
      }
}

/* The head's elements of a tile of @rows, as floats. */
static const float *
expand (const Words *w, const KvasirAttentionRows *rows, int64_t cell)
{
  int64_t next_cell = cell + KVASIR_TILE < w->part->cell_end ? cell + KVASIR_TILE : -1;

  return kvasir_attention_expand (w->run, rows, cell, next_cell, w->part->head, w->rows,
                                  w->row_width);
}

static void
add_keys (const Words *w, int64_t cell)
{
  const float *rows = expand (w, &w->k, cell);
  int n = (int) w->k.head_dim;

  for (int i = 0; i < KVASIR_TILE; i++)
    w->key_scales[i] =
        w->run->kernels->to_words (rows + i * w->row_width, n, true, w->keys + i * n);
}

static void
add_values (const Words *w, int64_t cell)
{
  const float *rows = expand (w, &w->v, cell);
  int n = (int) w->v.head_dim;
  int16_t *even = w->words, *odd = w->words + n, *pairs = w->values;

  for (int i = 0; i < KVASIR_TILE; i += 2, pairs += 2 * n)
    {
      const float *row = rows + i * w->row_width;
      w->value_scales[i] = w->run->kernels->to_words (row, n, false, even);
      w->value_scales[i + 1] = w->run->kernels->to_words (row + w->row_width, n, false, odd);
      for (int j = 0; j < n; j++)
        {
          pairs[2 * j] = even[j];
          pairs[2 * j + 1] = odd[j];
        }
    }
}

/* Bit j of word i to bit i of word j. */
static void
transpose_bits (uint64_t words[64])
{
  uint64_t mask = 0xffffffff;

  for (int width = 32; width > 0; width /= 2, mask ^= mask << width)
    for (int i = 0; i < 64; i = (i + width + 1) & ~width)
      {
        uint64_t swapped = (words[i] >> width ^ words[i + width]) & mask;
        words[i] ^= swapped << width;
        words[i + width] ^= swapped;
      }
}

/* Which queries of a block see which cells. Returns: whether any sees one */
static bool
find_open_cells (Words *w, int64_t block, int64_t cell, bool *all)
{
  int64_t group = kvasir_attention_get_group (&w->node->params.attention);
  int64_t first = block * N_QUERIES,
          n = w->n_rows - first < N_QUERIES ? w->n_rows - first : N_QUERIES;
  uint64_t any = 0, every = ~(uint64_t) 0;

  for (int64_t i = 0; i < N_QUERIES; i++)
    {
      int64_t token = w->part->token + (first + i) / group;
      w->open[i] = i < n ? kvasir_attention_get_word (w->node, token, cell) : 0;
      any |= w->open[i];
      every &= i < n ? w->open[i] : ~(uint64_t) 0;
    }
  *all = ~every == 0;
  if (any != 0 && !*all)
    transpose_bits (w->open);
  return any != 0;
}

static void
add_tile (Words *w, int64_t cell)
{
  bool is_expanded = false, all;

  for (int64_t i = 0; i * N_QUERIES < w->n_rows; i++)
    {
      if (!find_open_cells (w, i, cell, &all))
        continue;
      if (!is_expanded)
        {
          add_keys (w, cell);
          add_values (w, cell);
        }
      is_expanded = true;
      w->blocks[i].open = all ? NULL : w->open;
      w->run->kernels->attend_words (&w->blocks[i]);
    }
}

static void
finish_rows (const Words *w, KvasirFinishRowFn finish)
{
  int64_t group = kvasir_attention_get_group (&w->node->params.attention);

  for (int64_t row = 0; row < w->n_rows; row++)
    {
      const KvasirWordTile *block = &w->blocks[row / N_QUERIES];
      int64_t at = row % N_QUERIES;
      for (int i = 0; i < block->head_dim_v; i++)
        w->rows[i] = block->out[i * N_QUERIES + at];
      finish (w->node, w->part->head * group + row % group, w->part->token + row / group,
              block->max[at] / LOG2_E, block->sum[at], w->rows);
    }
}

void
kvasir_attention_run_words (const KvasirTensor *node,
                            const KvasirOpRun *run,
                            const KvasirAttentionPart *part,
                            KvasirFinishRowFn finish)
{
  const KvasirAttentionParams *p = &node->params.attention;
  Words w = { .node = node, .run = run, .part = part };

  w.k = kvasir_attention_get_rows (node->src[1], part->stream, p->head_dim_k);
  w.v = kvasir_attention_get_rows (node->src[2], part->stream, p->head_dim_v);
  w.n_rows = (part->token_end - part->token) * kvasir_attention_get_group (p);
  lay_out (&w, (float *) (void *) run->scratch);
  add_queries (&w);
  for (int64_t cell = 0; cell < part->cell_end; cell += KVASIR_TILE)
    add_tile (&w, cell);
  finish_rows (&w, finish);
}
