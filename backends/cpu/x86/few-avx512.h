/* backends/cpu/x86/few-avx512.h - rows of quantised weights with a few tokens
 *
 * With u the unsigned bytes of a weight block, q and a the activations' bytes and scale:
 *   sum w x = d a sum (u q) + m a sum (q), m the minimum or - d offset,
 * where sum (u q) is integer and a sum (q) is kept with the activations.
 *
 * Blocks of 32 are taken from sixteen rows at once, those of 256 row by row as they lie in the
 * file (few-k-avx512.h). Either way what comes next is fetched ahead. Needs AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/dots-avx512.h"
#include "backends/cpu/x86/few-acts.h"

/* The nibbles of two blocks: each quarter takes one half of the bits of one block. */
INLINE __m512i
split_two (const uint8_t *qs0, const uint8_t *qs1)
{
  __m512i x = _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) qs0));

  x = _mm512_mask_broadcast_i32x4 (x, 0xff00, _mm_loadu_si128 ((const void *) qs1));
  x = _mm512_mask_srli_epi16 (x, 0xff00ff00, x, 4);
  return _mm512_and_si512 (x, _mm512_set1_epi8 (15));
}

#define MAX_FEW 4

/* 64 products, four of them in each lane, each lane with a scale of its own. */
INLINE __m512
add_dot (__m512i u, const FewActs *acts, int t, int64_t at, __m512 scale, __m512 sum)
{
  __m512i q = _mm512_loadu_si512 (acts->q[t] + at);
  __m512i fine = _mm512_loadu_si512 (acts->fine[t] + at);
  __m512i high = _mm512_dpbusd_epi32 (_mm512_setzero_si512 (), u, q);
  __m512i dot = _mm512_dpbusd_epi32 (_mm512_slli_epi32 (high, 8), u, fine);

  return _mm512_fmadd_ps (_mm512_cvtepi32_ps (dot), scale, sum);
}

/* Bytes that packed weights are fetched ahead: what a thread gets is this over the latency of
 * memory, and 4 KiB would hold it to a third of what memory gives. */
#define PACKED_FAR 16384
/* Those of 256 elements are fetched so far ahead into the second cache, which takes more lines from
 * memory at a time than the first, and into the first when they are as near as this. */
#define PACKED_NEAR 6144

/* Elements of a row that are added up at a time, as many as those of a tile. */
#define SUMMED (24 * 32)

/* Sixteen rows with n tokens. */
typedef struct
{
  const uint8_t *rows[16]; /* the first alone where they are packed */
  /* What is fetched meanwhile, or before what is: of rows as they lie in the file as many behind
   * these, since sixteen streams are too many for the processor to see by itself. */
  const uint8_t *next;
  LaneSums sums;
} Group;

/* The next block of sixteen rows, which are moved on. */
INLINE void
take_block (const KvasirType type, const bool is_packed, Group *group, Sixteen *s)
{
  const size_t size = get_block_bytes (type);

  if (is_packed)
    load_packed (type, group->rows[0], s);
  else
    load_sixteen (type, group->rows, s);
  for (int i = 0; i < (is_packed ? 1 : 16); i++)
    group->rows[i] += is_packed ? 16 * size : size;
  for (size_t at = 0; at < 16 * size; at += 64)
    _mm_prefetch ((const char *) group->next + at + (is_packed ? PACKED_FAR : 0), _MM_HINT_T0);
  group->next += 16 * size;
}

/* A block of sixteen rows. */
INLINE void
add_block (const KvasirType type,
           const bool is_packed,
           SixteenActs *acts,
           const int n,
           const bool is_fine,
           Group *group)
{
  Sixteen s;
  LaneDots dots;

  take_block (type, is_packed, group, &s);
  clear_dots (&dots, n);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    add_tokens (&dots, s.u[j], acts, 4 * j, n, is_fine);
  add_scaled_dots (&dots, s.d, s.m, acts, 0, 1, n, is_fine, &group->sums);
  advance_acts (acts, 1, 1, n, is_fine);
}

/* The line that is wanted a while after @line. */
INLINE void
fetch_behind (const bool is_packed, const uint8_t *line)
{
  if (is_packed)
    _mm_prefetch ((const char *) line + PACKED_FAR, _MM_HINT_T1);
  _mm_prefetch ((const char *) line + (is_packed ? PACKED_NEAR : 0), _MM_HINT_T0);
}

/* Lines of what is fetched ahead while part @i of @n of a block is multiplied. */
INLINE void
fetch_part (
    const bool is_packed, const uint8_t *next, const size_t n_bytes, const int i, const int n)
{
  const size_t n_lines = (n_bytes + 63) / 64, parts = (size_t) n, part = (size_t) i;

  for (size_t line = n_lines * part / parts; line < n_lines * (part + 1) / parts; line++)
    fetch_behind (is_packed, next + 64 * line);
}

/* A block of sixteen rows with one token. */
INLINE void
add_sixteen_k_alone (const KvasirType type,
                     const bool is_packed,
                     const uint8_t *block,
                     SixteenActs *acts,
                     Group *group)
{
  const int n_parts = get_n_parts (type), n_dwords = 8 / n_parts;
  const SixteenScales s = load_sixteen_scales (type, block);

#pragma GCC unroll 16
  for (int run = 0; run < 8 * n_parts; run++)
    {
      const int i = run / n_parts, first = run % n_parts * n_dwords;
      LaneDots dots;
      __m512 d, m;
      if (first == 0)
        fetch_part (is_packed, group->next, 16 * get_k_block_bytes (type), i, 8);
      clear_dots (&dots, 1);
#pragma GCC unroll 8
      for (int j = first; j < first + n_dwords; j++)
        add_tokens (&dots, load_four_elements (type, block, i, j), acts, 32 * i + 4 * j, 1, true);
      get_run_scales (type, &s, run, &d, &m);
      add_scaled_dots (&dots, d, m, acts, run, n_parts, 1, true, &group->sums);
      /* Loads of all runs before the first product would be more than the registers hold. */
      __asm__ volatile("" ::: "memory");
    }
  group->next += 16 * get_k_block_bytes (type);
  advance_acts (acts, 8, n_parts, 1, true);
}

/* A block of sixteen rows with n tokens, some blocks of 32 at a time: all eight would be more code
 * than a processor keeps decoded. */
INLINE void
add_sixteen_k (const KvasirType type,
               const bool is_packed,
               const uint8_t *block,
               SixteenActs *acts,
               const int n,
               const bool is_fine,
               Group *group)
{
  const int n_parts = get_n_parts (type), n_dwords = 8 / n_parts, n_blocks = get_turn_blocks (type);
  const size_t n_bytes = 16 * get_k_block_bytes (type) / (size_t) (8 / n_blocks);
  SixteenTurn turn = begin_turn (type, block);
  __m512 scales[16][2];

  spread_scales (type, block, scales);
  for (const __m512 (*scale)[2] = scales; scale < scales + 8 * n_parts; scale += n_parts * n_blocks)
    {
#pragma GCC unroll 8
      for (int run = 0; run < n_blocks * n_parts; run++)
        {
          const int i = run / n_parts, first = run % n_parts * n_dwords;
          LaneDots dots;
          if (first == 0)
            fetch_part (is_packed, group->next, n_bytes, i, n_blocks);
          clear_dots (&dots, n);
#pragma GCC unroll 8
          for (int j = first; j < first + n_dwords; j++)
            add_tokens (&dots, load_four_of_turn (type, &turn, i, j), acts, 32 * i + 4 * j, n,
                        is_fine);
          add_scaled_dots (&dots, scale[run][0], scale[run][1], acts, run, n_parts, n, is_fine,
                           &group->sums);
        }
      group->next += n_bytes;
      advance_acts (acts, n_blocks, n_parts, n, is_fine);
      next_turn (type, &turn);
    }
}

/* The next @k elements of sixteen rows. */
INLINE void
add_blocks (int64_t k,
            const KvasirType type,
            const bool is_packed,
            SixteenActs *acts,
            const int n,
            const bool is_fine,
            Group *group)
{
  uint8_t turned[MAX_SIXTEEN_K] __attribute__ ((aligned (64)));

  if (!is_sixteen_k (type))
    {
      for (int64_t b = 0; b < k / 32; b++)
        add_block (type, is_packed, acts, n, is_fine, group);
      return;
    }
  for (int64_t b = 0; b < k / 256; b++)
    {
      const size_t size = get_k_block_bytes (type);
      if (!is_packed)
        turn_sixteen_k (type, group->rows, turned);
      const uint8_t *block = is_packed ? group->rows[0] : turned;
      if (n == 1)
        add_sixteen_k_alone (type, is_packed, block, acts, group);
      else
        add_sixteen_k (type, is_packed, block, acts, n, is_fine, group);
      for (int i = 0; i < (is_packed ? 1 : 16); i++)
        group->rows[i] += is_packed ? 16 * size : size;
    }
}

INLINE void
begin_group (const KvasirProduct *p, int64_t r, int n_rows, const int n, Group *group)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;

  for (int i = 0; i < 16; i++)
    group->rows[i] = row + (size_t) (i < n_rows ? i : n_rows - 1) * p->weight_stride;
  group->next = row + (p->is_packed ? 0 : 16 * p->weight_stride);
  for (int t = 0; t < n; t++)
    group->sums.sums[t] = group->sums.mins[t] = _mm512_setzero_ps ();
}

/* Sixteen packed rows, added up in the order of tiles: what a token gets in steps of five and more
 * is the same either way. */
INLINE void
add_runs (const KvasirProduct *p,
          const KvasirType type,
          const KvasirProductPart *part,
          const int n,
          SixteenActs *acts,
          __m512 bias,
          Group *group)
{
  const int n_rows = (int) (part->row_end - part->row);

  for (int64_t k = 0; k < p->k; k += SUMMED)
    {
      add_blocks (p->k - k < SUMMED ? p->k - k : SUMMED, type, true, acts, n, false, group);
#pragma GCC unroll 8
      for (int t = 0; t < n; t++)
        if (part->token + t < part->token_end)
          {
            float *dst = p->dst + (size_t) (part->token + t) * p->dst_stride + part->row;
            __m512 before = k > 0 ? vec_load_n (dst, n_rows) : bias;
            vec_store_n (dst, _mm512_add_ps (group->sums.sums[t], before), n_rows);
          }
      for (int t = 0; t < n; t++)
        group->sums.sums[t] = _mm512_setzero_ps ();
    }
}

/* Up to sixteen rows with n tokens; rows behind the last one are its copies. */
INLINE void
int8_group (const KvasirProduct *p,
            const KvasirType type,
            const KvasirProductPart *part,
            const int n,
            const bool is_fine)
{
  const int64_t r = part->row, token = part->token;
  const int n_rows = (int) (part->row_end - r);
  SixteenActs acts = get_sixteen_acts (p, type, token, n, is_fine);
  __m512 bias = p->bias ? vec_load_n (p->bias + r, n_rows) : _mm512_setzero_ps ();
  Group group;

  begin_group (p, r, n_rows, n, &group);
  if (!is_fine)
    {
      add_runs (p, type, part, n, &acts, bias, &group);
      return;
    }
  if (p->is_packed)
    add_blocks (p->k, type, true, &acts, n, true, &group);
  else
    add_blocks (p->k, type, false, &acts, n, true, &group);
#pragma GCC unroll 8
  for (int t = 0; t < n; t++)
    {
      __m512 sum = _mm512_add_ps (group.sums.sums[t], group.sums.mins[t]);
      if (token + t < part->token_end)
        vec_store_n (p->dst + (size_t) (token + t) * p->dst_stride + r, _mm512_add_ps (sum, bias),
                     n_rows);
    }
}

/* Up to four tokens of sixteen bits. */
INLINE void
multiply_fine (const KvasirProduct *p, const KvasirType type, const KvasirProductPart *part)
{
  switch (part->token_end - part->token)
    {
    case 1:
      int8_group (p, type, part, 1, true);
      break;
    case 2:
      int8_group (p, type, part, 2, true);
      break;
    case 3:
      int8_group (p, type, part, 3, true);
      break;
    default:
      int8_group (p, type, part, 4, true);
      break;
    }
}

/* Up to eight tokens of eight bits, and one that they are padded with. */
INLINE void
multiply_coarse (const KvasirProduct *p, const KvasirType type, const KvasirProductPart *part)
{
  switch ((part->token_end - part->token + 1) / 2)
    {
    case 1:
      int8_group (p, type, part, 2, false);
      break;
    case 2:
      int8_group (p, type, part, 4, false);
      break;
    case 3:
      int8_group (p, type, part, 6, false);
      break;
    default:
      int8_group (p, type, part, 8, false);
      break;
    }
}

/* Sixteen rows, which are turned for more tokens than are taken at a time, as packed ones. */
INLINE KvasirProduct
turn_group (const KvasirProduct *p,
            const KvasirType type,
            const KvasirProductPart *part,
            uint8_t *scratch)
{
  const size_t size = is_sixteen_k (type) ? get_k_block_bytes (type) : get_block_bytes (type);
  const int64_t n = p->k / (is_sixteen_k (type) ? 256 : 32);
  KvasirProduct turned = *p;
  Group group;

  begin_group (p, part->row, (int) (part->row_end - part->row), 0, &group);
  for (int64_t b = 0; b < n; b++)
    {
      uint8_t *to = scratch + 16 * size * (size_t) b;
      if (is_sixteen_k (type))
        turn_sixteen_k (type, group.rows, to);
      else
        turn_sixteen (type, group.rows, to);
      for (int i = 0; i < 16; i++)
        group.rows[i] += size;
      for (size_t at = 0; at < 16 * size; at += 64)
        _mm_prefetch ((const char *) group.next + at, _MM_HINT_T0);
      group.next += 16 * size;
    }
  turned.weight_stride = size * (size_t) n;
  turned.weights = scratch - (size_t) part->row * turned.weight_stride;
  turned.is_packed = true;
  return turned;
}

INLINE void
multiply_fine_sixteens (const KvasirProduct *p,
                        const KvasirProductPart *part,
                        const KvasirType type)
{
  KvasirProductPart group = *part;

  for (; group.row < part->row_end; group.row = group.row_end)
    {
      group.row_end = group.row + 16 < part->row_end ? group.row + 16 : part->row_end;
      for (group.token = part->token; group.token < part->token_end; group.token += MAX_FEW)
        multiply_fine (p, type, &group);
    }
}

/* As many times as there are eights of tokens, each time with about as many. */
INLINE void
multiply_coarse_sixteens (const KvasirProduct *p,
                          const KvasirProductPart *part,
                          const KvasirType type,
                          uint8_t *scratch)
{
  const int64_t n_tokens = part->token_end - part->token;
  const int64_t n_times = (n_tokens + MAX_TOKENS - 1) / MAX_TOKENS;
  const int64_t n = (n_tokens + 2 * n_times - 1) / (2 * n_times) * 2;
  KvasirProductPart group = *part;

  for (; group.row < part->row_end; group.row = group.row_end)
    {
      group.row_end = group.row + 16 < part->row_end ? group.row + 16 : part->row_end;
      const KvasirProduct packed = p->is_packed ? *p : turn_group (p, type, &group, scratch);
      for (group.token = part->token; group.token < part->token_end; group.token = group.token_end)
        {
          group.token_end = group.token + n < part->token_end ? group.token + n : part->token_end;
          multiply_coarse (&packed, type, &group);
        }
    }
}

INLINE void
int8_few_sixteens (const KvasirProduct *p,
                   const KvasirProductPart *part,
                   const KvasirType type,
                   uint8_t *scratch)
{
  if (p->acts.fine != NULL)
    multiply_fine_sixteens (p, part, type);
  else
    multiply_coarse_sixteens (p, part, type, scratch);
}
