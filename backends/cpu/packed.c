#include "backends/cpu/packed.h"

#include <string.h>

#include "backends/cpu/ops.h"

#define ROWS KVASIR_PACKED_ROWS
#define MAX_BLOCK_BYTES 210

#define ALWAYS_INLINE static inline __attribute__ ((always_inline))

/* A block's elements, and the bytes of its parts in the order in which they follow each other. Of
 * blocks of 256 all whole dwords are quants here. */
typedef struct
{
  int64_t len;
  size_t scale, min, fifth, quants, tail;
  size_t all;
} Form;

static inline Form
get_form (KvasirType type)
{
  Form form = { .len = 32, .scale = 2, .quants = 16 };

  switch (type)
    {
    case KVASIR_TYPE_Q4_1:
      form.min = 2;
      break;
    case KVASIR_TYPE_Q5_0:
      form.fifth = 4;
      break;
    case KVASIR_TYPE_Q5_1:
      form.min = 2;
      form.fifth = 4;
      break;
    case KVASIR_TYPE_Q8_0:
      form.quants = 32;
      break;
    case KVASIR_TYPE_MXFP4:
      form.scale = 1;
      break;
    case KVASIR_TYPE_Q4_0:
    case KVASIR_TYPE_IQ4_NL:
      break;
    case KVASIR_TYPE_Q4_K:
      form = (Form){ .len = 256, .quants = 144 };
      break;
    case KVASIR_TYPE_Q5_K:
      form = (Form){ .len = 256, .quants = 176 };
      break;
    case KVASIR_TYPE_Q6_K:
      form = (Form){ .len = 256, .quants = 208, .tail = 2 };
      break;
    default:
      return (Form){ 0 };
    }
  form.all = form.scale + form.min + form.fifth + form.quants + form.tail;
  return form;
}

bool
kvasir_packed_is_possible (const KvasirTensor *tensor)
{
  Form form = get_form (tensor->type);

  return form.all > 0 && tensor->view_src == NULL && tensor->ne[1] % ROWS == 0 &&
         tensor->ne[0] % form.len == 0 &&
         tensor->nb[1] == (size_t) (tensor->ne[0] / form.len) * form.all &&
         tensor->nb[2] == tensor->nb[1] * (size_t) tensor->ne[1] && tensor->ne[3] == 1;
}

/* Four bits of every element from the fifth bits of a block to those of its group, or back. */
static void
move_fifth_bits (uint8_t *group, int row, uint8_t *bits, bool back)
{
  for (int j = 0; j < 8; j++)
    {
      uint8_t *to = group + 8 * j + row / 2, *from = bits + j / 2;
      int to_shift = row % 2 * 4, from_shift = j % 2 * 4;
      if (back)
        *from = (uint8_t) (*from | (*to >> to_shift & 15) << from_shift);
      else
        *to = (uint8_t) (*to | (*from >> from_shift & 15) << to_shift);
    }
}

/* One block of row @row into a group's block, which begins as zeros. */
ALWAYS_INLINE void
pack_block (const Form *form, uint8_t *group, int row, uint8_t *block)
{
  uint8_t *mins = group + ROWS * form->scale, *bits = mins + ROWS * form->min;
  uint8_t *quants = bits + ROWS * form->fifth;

  memcpy (group + form->scale * (size_t) row, block, form->scale);
  memcpy (mins + form->min * (size_t) row, block + form->scale, form->min);
  block += form->scale + form->min;
  if (form->fifth > 0)
    move_fifth_bits (bits, row, block, false);
  block += form->fifth;
  for (size_t at = 0; at < form->quants; at += 4)
    memcpy (quants + at * ROWS + 4 * (size_t) row, block + at, 4);
  memcpy (quants + ROWS * form->quants + form->tail * (size_t) row, block + form->quants,
          form->tail);
}

/* The other way round. */
static void
unpack_block (const Form *form, uint8_t *group, int row, uint8_t *block)
{
  uint8_t *mins = group + ROWS * form->scale, *bits = mins + ROWS * form->min;
  uint8_t *quants = bits + ROWS * form->fifth;

  memcpy (block, group + form->scale * (size_t) row, form->scale);
  memcpy (block + form->scale, mins + form->min * (size_t) row, form->min);
  block += form->scale + form->min;
  memset (block, 0, form->fifth);
  if (form->fifth > 0)
    move_fifth_bits (bits, row, block, true);
  block += form->fifth;
  for (size_t at = 0; at < form->quants; at += 4)
    memcpy (block + at, quants + at * ROWS + 4 * (size_t) row, 4);
  memcpy (block + form->quants, quants + ROWS * form->quants + form->tail * (size_t) row,
          form->tail);
}

ALWAYS_INLINE void
pack_rows (const KvasirType type, uint8_t *from, uint8_t *to, size_t row_bytes)
{
  const Form form = get_form (type);

  memset (to, 0, row_bytes * ROWS);
  for (int row = 0; row < ROWS; row++, from += row_bytes)
    for (size_t at = 0; at < row_bytes; at += form.all)
      pack_block (&form, to + at * ROWS, row, from + at);
}

/* Sizes are constants in each case: with calls for every few bytes it would take three times as
 * long. */
static void
pack_group (KvasirType type, uint8_t *from, uint8_t *to, size_t row_bytes)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_1:
      pack_rows (KVASIR_TYPE_Q4_1, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q5_0:
      pack_rows (KVASIR_TYPE_Q5_0, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q5_1:
      pack_rows (KVASIR_TYPE_Q5_1, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q8_0:
      pack_rows (KVASIR_TYPE_Q8_0, from, to, row_bytes);
      break;
    case KVASIR_TYPE_MXFP4:
      pack_rows (KVASIR_TYPE_MXFP4, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q4_K:
      pack_rows (KVASIR_TYPE_Q4_K, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q5_K:
      pack_rows (KVASIR_TYPE_Q5_K, from, to, row_bytes);
      break;
    case KVASIR_TYPE_Q6_K:
      pack_rows (KVASIR_TYPE_Q6_K, from, to, row_bytes);
      break;
    default:
      pack_rows (KVASIR_TYPE_Q4_0, from, to, row_bytes);
      break;
    }
}

size_t
kvasir_packed_pack (KvasirTensor *tensor, size_t n_bytes)
{
  size_t group = tensor->nb[1] * ROWS, begin = tensor->n_packed, end = begin;

  for (; end < tensor->nb[3] && end - begin < n_bytes; end += group)
    pack_group (tensor->type, (uint8_t *) tensor->data + end, (uint8_t *) tensor->packed + end,
                tensor->nb[1]);
  if (end > begin)
    __atomic_store_n (&tensor->n_packed, end, __ATOMIC_RELEASE);
  return end - begin;
}

const uint8_t *
kvasir_packed_find (const KvasirTensor *tensor, const uint8_t *row, size_t n_bytes)
{
  const KvasirTensor *root = tensor->view_src != NULL ? tensor->view_src : tensor;

  if (root->packed == NULL || tensor->ne[0] != root->ne[0] || tensor->nb[1] != root->nb[1])
    return NULL;
  size_t at = (size_t) (row - (const uint8_t *) root->data);
  if (at % (root->nb[1] * ROWS) != 0 ||
      at + n_bytes > __atomic_load_n (&root->n_packed, __ATOMIC_ACQUIRE))
    return NULL;
  return (const uint8_t *) root->packed + at;
}

void
kvasir_packed_use (const KvasirTensor *tensor, KvasirProduct *product, int64_t row, int64_t row_end)
{
  size_t before = (size_t) row * product->weight_stride;
  const uint8_t *found = kvasir_packed_find (tensor, product->weights + before,
                                             (size_t) (row_end - row) * product->weight_stride);

  if (found == NULL)
    return;
  product->weights = found - before;
  product->is_packed = true;
}

bool
kvasir_packed_to_float (const KvasirTensor *tensor,
                        int64_t id,
                        KvasirRowToFloat to_float,
                        float *out)
{
  Form form = get_form (tensor->type);
  const uint8_t *row = kvasir_tensor_get_row (tensor, id / ROWS * ROWS, 0, 0);
  const uint8_t *group = kvasir_packed_find (tensor, row, tensor->nb[1] * ROWS);
  uint8_t block[MAX_BLOCK_BYTES];

  if (group == NULL)
    return false;
  for (int64_t i = 0; i < tensor->ne[0]; i += form.len, group += form.all * ROWS)
    {
      unpack_block (&form, (uint8_t *) group, (int) (id % ROWS), block);
      to_float (block, out + i, form.len);
    }
  return true;
}
