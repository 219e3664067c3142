/* Turns cached keys on to other positions, in place.
 *
 * Cells mostly move together, so there are few different shifts and every layer has the same ones.
 * Their angles are collected once in a table by shift; where there are more of them than it holds,
 * rows compute their own. */
#include <math.h>
#include <string.h>

#include "backends/cpu/ops.h"
#include "backends/cpu/rope-angles.h"

#define N_TABLES 512
/* Twice as many places as tables, so that a search ends soon. */
#define N_PLACES (2 * N_TABLES)
#define CELLS_PER_PIECE 64

/* The slot: what is known about a model's rope, then tables of n_rot floats. */
typedef struct
{
  int n_tables;
  int32_t shifts[N_PLACES];
  int16_t tables[N_PLACES]; /* table of a shift, or -1: the place is free */
} ShiftIndex;

typedef struct
{
  const KvasirRopeParams *params;
  double magnitude;
  ShiftIndex *index;
  double *frequencies; /* [n_rot / 2] */
  float *tables;       /* [N_TABLES][n_rot] */
} ShiftAngles;

static ShiftAngles
get_angles (const KvasirOpItem *item)
{
  const KvasirRopeParams *p = &item->node->params.rope;
  ShiftAngles angles = { .params = p, .magnitude = kvasir_rope_get_turn (item->node).magnitude };

  angles.frequencies = (double *) (void *) item->slot;
  angles.index = (ShiftIndex *) (void *) (angles.frequencies + p->n_rot / 2);
  angles.tables = (float *) (void *) (angles.index + 1);
  return angles;
}

static size_t
get_slot_bytes (const KvasirRopeParams *p)
{
  size_t n_rot = (size_t) p->n_rot;

  return n_rot / 2 * sizeof (double) + sizeof (ShiftIndex) + N_TABLES * n_rot * sizeof (float);
}

static void
fill_table (const ShiftAngles *angles, int32_t shift, float *table)
{
  int n_pairs = angles->params->n_rot / 2;

  for (int i = 0; i < n_pairs; i++)
    {
      double theta = shift * angles->frequencies[i];
      table[i] = (float) (cos (theta) * angles->magnitude);
      table[n_pairs + i] = (float) (sin (theta) * angles->magnitude);
    }
}

/* The place of @shift, or the free one where it would go. */
static int
find_place (const ShiftIndex *index, int32_t shift)
{
  uint32_t place = (uint32_t) shift * 2654435761u >> 16;

  for (;; place++)
    {
      place %= N_PLACES;
      if (index->tables[place] < 0 || index->shifts[place] == shift)
        return (int) place;
    }
}

static void
add_shift (const ShiftAngles *angles, int32_t shift)
{
  ShiftIndex *index = angles->index;
  int place = find_place (index, shift);

  if (index->tables[place] >= 0 || index->n_tables == N_TABLES)
    return;
  index->shifts[place] = shift;
  index->tables[place] = (int16_t) index->n_tables++;
  fill_table (angles, shift, angles->tables + index->tables[place] * angles->params->n_rot);
}

static int64_t
count_angles (const KvasirOpItem *item, const KvasirOpRun *run)
{
  (void) item;
  (void) run;
  return 1;
}

static void
run_angles (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *shifts = item->node->src[1];
  const int32_t *data = shifts->data;
  KvasirRopeTurn turn = kvasir_rope_get_turn (item->node);
  ShiftAngles angles = get_angles (item);

  (void) run;
  (void) piece;
  for (int i = 0; i < turn.params->n_rot / 2; i++)
    angles.frequencies[i] = kvasir_rope_get_frequency (&turn, i);
  angles.index->n_tables = 0;
  memset (angles.index->tables, 0xff, sizeof angles.index->tables);
  for (int64_t i = 0; i < shifts->ne[0]; i++)
    if (i == 0 || data[i] != data[i - 1])
      add_shift (&angles, data[i]);
}

/* The angles of the last shift that found no table. */
typedef struct
{
  float *table;
  int32_t shift;
  bool is_filled;
} OwnAngles;

static const float *
get_table (const ShiftAngles *angles, int32_t shift, OwnAngles *own)
{
  int table = angles->index->tables[find_place (angles->index, shift)];

  if (table >= 0)
    return angles->tables + table * angles->params->n_rot;
  if (!own->is_filled || own->shift != shift)
    fill_table (angles, shift, own->table);
  own->shift = shift;
  own->is_filled = true;
  return own->table;
}

static int32_t
get_head_dim (const KvasirRopeParams *p)
{
  return p->head_dim != 0 ? p->head_dim : p->n_rot;
}

/* Whether rows are converted as a whole. Elsewhere the elements beside those that turn keep their
 * bytes, and most of a row of latent keys is not even read. */
static bool
is_whole (const KvasirTensor *node)
{
  const KvasirRopeParams *p = &node->params.rope;
  int64_t block = kvasir_type_get_block_len ((int) node->src[0]->type);

  return p->hadamard != 0 || get_head_dim (p) == p->n_rot || get_head_dim (p) % block != 0 ||
         p->offset % block != 0 || p->n_rot % block != 0;
}

static void
transform_row (const KvasirOpRun *run, int n, float *row, int64_t width)
{
  for (int64_t i = 0; n > 0 && i < width; i += n)
    run->kernels->hadamard (row + i, n, row + i);
}

static void
turn_whole_row (
    const KvasirTensor *node, const KvasirOpRun *run, const float *table, uint8_t *data, float *row)
{
  const KvasirTensor *cache = node->src[0];
  const KvasirRopeParams *p = &node->params.rope;
  int64_t width = cache->ne[0];

  run->kernels->to_float[cache->type](data, row, width);
  transform_row (run, p->hadamard, row, width);
  for (int64_t i = p->offset; i < width; i += get_head_dim (p))
    run->kernels->rotate (row + i, table, p->n_rot, p->neox != 0, row + i);
  transform_row (run, p->hadamard, row, width);
  run->kernels->from_float[cache->type](row, data, width);
}

static void
turn_parts (
    const KvasirTensor *node, const KvasirOpRun *run, const float *table, uint8_t *data, float *row)
{
  const KvasirTensor *cache = node->src[0];
  const KvasirRopeParams *p = &node->params.rope;

  for (int64_t i = p->offset; i < cache->ne[0]; i += get_head_dim (p))
    {
      uint8_t *part = data + kvasir_type_get_row_bytes ((int) cache->type, i);
      run->kernels->to_float[cache->type](part, row, p->n_rot);
      run->kernels->rotate (row, table, p->n_rot, p->neox != 0, row);
      run->kernels->from_float[cache->type](row, part, p->n_rot);
    }
}

/* Plain types in one pass, without a copy as floats. */
static bool
is_turned_in_place (const KvasirTensor *node, const KvasirOpRun *run)
{
  const KvasirRopeParams *p = &node->params.rope;
  KvasirType type = node->src[0]->type;

  return run->kernels->turn != NULL && p->hadamard == 0 && p->n_rot % 32 == 0 &&
         (type == KVASIR_TYPE_F16 || type == KVASIR_TYPE_F32);
}

static int64_t
count_shift (const KvasirOpItem *item, const KvasirOpRun *run)
{
  (void) run;
  return (item->node->src[1]->ne[0] + CELLS_PER_PIECE - 1) / CELLS_PER_PIECE;
}

/* Neighbouring cells that all turn by the same angles. */
static void
turn_cells (
    const KvasirTensor *node, const KvasirOpRun *run, const float *table, int64_t cell, int64_t end)
{
  const KvasirTensor *cache = node->src[0];
  const KvasirRopeParams *p = &node->params.rope;
  uint8_t *data = (uint8_t *) cache->data + (size_t) cell * cache->nb[1];
  float *row = (float *) (void *) run->scratch;
  KvasirTurn turn = { .type = cache->type,
                      .n_rows = (int) (end - cell),
                      .stride = cache->nb[1],
                      .n_heads = (int) (cache->ne[0] / get_head_dim (p)),
                      .head_dim = get_head_dim (p),
                      .n_rot = p->n_rot,
                      .neox = p->neox != 0,
                      .table = table };

  if (is_turned_in_place (node, run))
    {
      run->kernels->turn (&turn, data + kvasir_type_get_row_bytes ((int) cache->type, p->offset));
      return;
    }
  for (; cell < end; cell++, data += cache->nb[1])
    (is_whole (node) ? turn_whole_row : turn_parts) (node, run, table, data, row);
}

static void
run_shift (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const int32_t *shifts = node->src[1]->data;
  int64_t n_cells = node->src[1]->ne[0], cell = piece * CELLS_PER_PIECE, next;
  int64_t end = cell + CELLS_PER_PIECE < n_cells ? cell + CELLS_PER_PIECE : n_cells;
  ShiftAngles angles = get_angles (item);
  OwnAngles own = { .table = (float *) (void *) run->scratch + node->src[0]->ne[0] };

  for (; cell < end; cell = next)
    {
      next = cell + 1;
      while (next < end && shifts[next] == shifts[cell])
        next++;
      if (shifts[cell] != 0 || node->params.rope.shift_scales)
        turn_cells (node, run, get_table (&angles, shifts[cell], &own), cell, next);
    }
}

static const KvasirOpStage angles_stage = {
  .count = count_angles,
  .run = run_angles,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage shift_stage = {
  .count = count_shift,
  .run = run_shift,
  .reads_sources = true,
  .writes_dst = true,
  .reads_slot = true,
};

void
kvasir_rope_shift_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  const KvasirRopeParams *p = &node->params.rope;

  shape->stages[shape->n_stages++] = &angles_stage;
  shape->stages[shape->n_stages++] = &shift_stage;
  shape->slot_kind = KVASIR_SLOT_ANGLES;
  shape->slot_bytes = get_slot_bytes (p);
  shape->scratch_bytes = (size_t) (node->src[0]->ne[0] + p->n_rot) * sizeof (float);
}

bool
kvasir_rope_shift_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirRopeParams *p = &node->params.rope;
  const KvasirTensor *cache = node->src[0];
  int32_t n = p->hadamard;

  if (!kvasir_rope_are_params_supported (node) || kvasir_rope_has_planes (p))
    return false;
  if (kernels->to_float[cache->type] == NULL || kernels->from_float[cache->type] == NULL ||
      cache->ne[0] % kvasir_type_get_block_len ((int) cache->type) != 0 || cache->ne[3] != 1)
    return false;
  if (n < 0 || (n != 0 && ((n & (n - 1)) != 0 || get_head_dim (p) % n != 0)))
    return false;
  if (cache->ne[2] > 1 && cache->nb[2] != cache->nb[1] * (size_t) cache->ne[1])
    return false;
  return get_head_dim (p) >= (int64_t) p->offset + p->n_rot &&
         cache->ne[0] % get_head_dim (p) == 0 && node->src[1]->ne[0] <= cache->ne[1] * cache->ne[2];
}
