/* backends/cpu/x86/few-avx2.h - rows of quantised weights with a few tokens
 *
 * As few-avx512.h: sixteen rows at once, a row in each lane, with what comes next fetched ahead.
 * Sixteen lanes are two vectors here, sides, which share the activations where registers allow.
 */
#pragma once

#include "backends/cpu/x86/eight-k-avx2.h"
#include "backends/cpu/x86/few-acts.h"

/* Tokens whose sums registers hold; four are two pairs, the second of which finds its weights in
 * the caches. */
#define MAX_FEW 2

/* What a product depends on; constants wherever it is used. */
typedef struct
{
  KvasirType type;
  bool is_packed;
  int n; /* tokens */
} Few;

/* Sums of products with activations of sixteen bits, q and fine. */
#ifdef __AVXVNNI__
typedef struct
{
  __m256i high, low;
} Dot;

/* Four products of each lane, the first of a sum at step 0. */
INLINE void
add_four (const KvasirType type, const int step, __m256i w, __m256i q, __m256i fine, Dot *dot)
{
  const __m256i zero = _mm256_setzero_si256 ();

  (void) type;
  dot->high = _mm256_dpbusd_avx_epi32 (step == 0 ? zero : dot->high, w, q);
  dot->low = _mm256_dpbusd_avx_epi32 (step == 0 ? zero : dot->low, w, fine);
}

INLINE __m256
get_dot (const Dot *dot)
{
  return _mm256_cvtepi32_ps (_mm256_add_epi32 (_mm256_slli_epi32 (dot->high, 8), dot->low));
}
#else
typedef struct
{
  __m256i high, low; /* of pairs, in 16 bits */
  __m256i sum;
} Dot;

/* How many products of pairs fit into 16 bits, 2 * 127 * weight each. */
INLINE int
get_fit (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_0:
    case KVASIR_TYPE_Q4_1:
    case KVASIR_TYPE_Q4_K:
      return 8;
    case KVASIR_TYPE_Q6_K:
      return 2;
    default:
      return 4;
    }
}

/* Otherwise the compiler adds in another order and keeps all products in memory. */
INLINE __m256i
keep (__m256i sum)
{
  __asm__("" : "+x"(sum));
  return sum;
}

INLINE __m256i
add_pairs (const bool is_first, __m256i sum, __m256i w, __m256i q)
{
  __m256i pairs = _mm256_maddubs_epi16 (w, q);

  return keep (is_first ? pairs : _mm256_add_epi16 (sum, pairs));
}

/* Four products of each lane, the first of a sum at step 0. Of types that take signs @q are the
 * activations of even elements and @fine those of odd ones, both whole. */
INLINE void
add_four (const KvasirType type, const int step, __m256i w, __m256i q, __m256i fine, Dot *dot)
{
  const int fit = get_fit (type);
  __m256i sum;

  if (takes_signs (type))
    {
      __m256i even = _mm256_srai_epi16 (_mm256_slli_epi16 (w, 8), 8);
      sum = _mm256_add_epi32 (_mm256_madd_epi16 (even, q),
                              _mm256_madd_epi16 (_mm256_srai_epi16 (w, 8), fine));
      dot->sum = keep (step == 0 ? sum : _mm256_add_epi32 (dot->sum, sum));
      return;
    }
  dot->high = add_pairs (step % fit == 0, dot->high, w, q);
  dot->low = add_pairs (step % fit == 0, dot->low, w, fine);
  if (step % fit < fit - 1)
    return;
  sum = _mm256_add_epi32 (_mm256_madd_epi16 (dot->high, _mm256_set1_epi16 (KVASIR_FINE)),
                          _mm256_madd_epi16 (dot->low, _mm256_set1_epi16 (1)));
  dot->sum = keep (step < fit ? sum : _mm256_add_epi32 (dot->sum, sum));
}

INLINE __m256
get_dot (const Dot *dot)
{
  return _mm256_cvtepi32_ps (dot->sum);
}
#endif

/* Activations of a block of 32, four of which each product takes. */
typedef struct
{
  const uint8_t *q[MAX_FEW], *fine[MAX_FEW];
  __m256i words[MAX_FEW][2]; /* of types that take signs: even ones, odd ones */
} BlockActs;

INLINE void
get_block_acts (const Few few, const FewActs *acts, int64_t b, BlockActs *block)
{
  for (int t = 0; t < few.n; t++)
    {
      block->q[t] = (const uint8_t *) acts->q[t] + 32 * b;
      block->fine[t] = (const uint8_t *) acts->fine[t] + 32 * b;
      if (!takes_signs (few.type))
        continue;
      __m256i q = _mm256_loadu_si256 ((const void *) block->q[t]);
      __m256i fine = _mm256_loadu_si256 ((const void *) block->fine[t]);
      __m256i odd = _mm256_andnot_si256 (_mm256_set1_epi16 (255), q);
      block->words[t][0] = _mm256_add_epi16 (_mm256_slli_epi16 (q, 8),
                                             _mm256_srai_epi16 (_mm256_slli_epi16 (fine, 8), 8));
      block->words[t][1] = _mm256_add_epi16 (odd, _mm256_srai_epi16 (fine, 8));
      block->q[t] = (const uint8_t *) &block->words[t][0];
      block->fine[t] = (const uint8_t *) &block->words[t][1];
    }
}

INLINE __m256i
spread_four (const uint8_t *four)
{
  return _mm256_set1_epi32 (load_dword (four));
}

/* Bytes that packed weights are fetched ahead: what a thread gets is this over the latency of
 * memory, and 4 KiB would hold it to a third of what memory gives. */
#define PACKED_AHEAD 16384

/* Sixteen rows with n tokens. */
typedef struct
{
  const uint8_t *rows[16]; /* the first alone where they are packed */
  /* What is fetched meanwhile: of rows as they lie in the file as many behind these, since sixteen
   * streams are too many for the processor to see by itself. */
  const uint8_t *next;
  __m256 sums[2][MAX_FEW];
  __m256 mins[2][MAX_FEW];
} Group;

/* Sides whose products are made together. */
INLINE int
get_n_sides (const Few few)
{
#ifdef __AVXVNNI__
  return few.n <= 2 ? 2 : 1;
#else
  return few.n == 1 ? 2 : 1;
#endif
}

/* Adds a run's products to the sums of a side. */
INLINE void
add_run (const Few few,
         const Dot *dots,
         const __m256 scales[2],
         const float *a[2],
         int side,
         Group *group)
{
  for (int t = 0; t < few.n; t++)
    {
      __m256 scale = _mm256_mul_ps (scales[0], _mm256_set1_ps (a[0][t]));
      __m256 *sum = &group->sums[side][t], *min = &group->mins[side][t];
      *sum = _mm256_fmadd_ps (get_dot (&dots[t]), scale, *sum);
      if (!takes_signs (few.type))
        *min = _mm256_fmadd_ps (scales[1], _mm256_set1_ps (a[1][t]), *min);
    }
}

/* A block of 32 of sixteen rows as they lie in the file, turned. */
typedef struct
{
  uint8_t bytes[2][256] __attribute__ ((aligned (32)));
  float d[2][SIDE_ROWS], m[2][SIDE_ROWS];
} Turned;

/* @block: packed, or a Turned. */
INLINE __m256i
load_vector (const Few few, const void *block, int side, const int j)
{
  const Turned *turned = block;

  if (few.is_packed)
    return load_packed_bytes (few.type, block, side, j);
  return _mm256_load_si256 ((const void *) (turned->bytes[side] + 32 * j));
}

INLINE void
load_scales (const Few few, const void *block, int side, __m256 scales[2])
{
  const Turned *turned = block;

  if (few.is_packed)
    {
      load_packed_scales (few.type, block, side, &scales[0], &scales[1]);
      return;
    }
  scales[0] = _mm256_load_ps (turned->d[side]);
  scales[1] = _mm256_load_ps (turned->m[side]);
}

/* Block @b of the sides from @first on. */
INLINE void
add_block_sides (
    const Few few, const void *block, const FewActs *acts, int64_t b, int first, Group *group)
{
  const int n_sides = get_n_sides (few);
  Dot dots[2][MAX_FEW];
  BlockActs x;

  get_block_acts (few, acts, b, &x);
#pragma GCC unroll 8
  for (int step = 0; step < 8; step++)
    {
      /* Both halves of a vector of nibbles, one after the other. */
      const int j = step / 2 + step % 2 * 4;
      for (int t = 0; t < few.n; t++)
        {
          __m256i q = spread_four (x.q[t] + 4 * j), fine = spread_four (x.fine[t] + 4 * j);
          for (int side = 0; side < n_sides; side++)
            add_four (few.type, step, load_vector (few, block, first + side, j), q, fine,
                      &dots[side][t]);
        }
    }
  for (int side = 0; side < n_sides; side++)
    {
      __m256 scales[2];
      float a[2][MAX_FEW];
      for (int t = 0; t < few.n; t++)
        {
          a[0][t] = acts->d[t][b];
          a[1][t] = acts->s[t][b];
        }
      load_scales (few, block, first + side, scales);
      add_run (few, dots[side], scales, (const float *[2]){ a[0], a[1] }, first + side, group);
    }
}

/* Lines of what is fetched ahead while part @i of @n is multiplied. */
INLINE void
fetch_part (const uint8_t *next, const size_t n_bytes, const int i, const int n)
{
  const size_t n_lines = (n_bytes + 63) / 64;

  for (size_t line = n_lines * (size_t) i / (size_t) n;
       line < n_lines * (size_t) (i + 1) / (size_t) n; line++)
    _mm_prefetch ((const char *) next + 64 * line, _MM_HINT_T0);
}

/* The next block of 32 of sixteen rows. */
INLINE void
add_block (const Few few, const FewActs *acts, int64_t b, Group *group)
{
  const size_t size = get_block_bytes (few.type);
  const void *block = group->rows[0];
  Turned turned;

  fetch_part (group->next, 16 * size, 0, 1);
  for (int side = 0; side < 2 && !few.is_packed; side++)
    unpack_block (few.type, group->rows + SIDE_ROWS * side, turned.bytes[side], turned.d[side],
                  turned.m[side]);
  if (!few.is_packed)
    block = &turned;
  for (int side = 0; side < 2; side += get_n_sides (few))
    add_block_sides (few, block, acts, b, side, group);
}

/* The run of 32 of block @b of 256 that a quarter's low or high nibbles are, of the sides from
 * @first on. */
typedef struct
{
  const uint8_t *block;
  const SideScales *scales; /* of each side */
  int64_t b;
  int first, quarter;
} Run;

INLINE void
add_k_run (const Few few, const Run *run, const int is_high, const FewActs *acts, Group *group)
{
  const int n_sides = get_n_sides (few), n_parts = get_n_parts (few.type), n_dwords = 8 / n_parts;
  const int64_t at = 8 * run->b + get_run (few.type, run->quarter, is_high);
  Dot dots[2][MAX_FEW];

#pragma GCC unroll 2
  for (int part = 0; part < n_parts; part++)
    {
#pragma GCC unroll 8
      for (int step = 0; step < n_dwords; step++)
        for (int t = 0; t < few.n; t++)
          {
            const int j = part * n_dwords + step;
            __m256i q = spread_four ((const uint8_t *) acts->q[t] + 32 * at + 4 * j);
            __m256i fine = spread_four ((const uint8_t *) acts->fine[t] + 32 * at + 4 * j);
            for (int side = 0; side < n_sides; side++)
              add_four (few.type, step,
                        load_four_elements (few.type, run->block, run->first + side, run->quarter,
                                            is_high, j),
                        q, fine, &dots[side][t]);
          }
      for (int side = 0; side < n_sides; side++)
        {
          __m256 scales[2];
          float a[2][MAX_FEW];
          for (int t = 0; t < few.n; t++)
            {
              a[0][t] = acts->d[t][at];
              a[1][t] = n_parts == 1 ? acts->s[t][at] : acts->s16[t][2 * at + part];
            }
          get_run_scales (few.type, &run->scales[side], run->quarter, is_high, part, scales);
          add_run (few, dots[side], scales, (const float *[2]){ a[0], a[1] }, run->first + side,
                   group);
        }
    }
}

/* The next block of 256 of sixteen rows. */
INLINE void
add_k_block_of_group (const Few few, const FewActs *acts, int64_t b, Group *group)
{
  uint8_t turned[MAX_PACKED_K] __attribute__ ((aligned (64)));
  Run run = { .block = few.is_packed ? group->rows[0] : turned, .b = b };
  SideScales scales[2];

  for (int side = 0; side < 2; side++)
    {
      if (!few.is_packed)
        turn_k_block (few.type, group->rows + SIDE_ROWS * side, side, turned);
      scales[side] = load_side_scales (few.type, run.block, side);
    }
#pragma GCC unroll 1
  for (run.first = 0; run.first < 2; run.first += get_n_sides (few))
    {
      run.scales = scales + run.first;
#pragma GCC unroll 1
      for (run.quarter = 0; run.quarter < N_QUARTERS; run.quarter++)
        {
          if (run.first == 0)
            fetch_part (group->next, 16 * get_k_block_bytes (few.type), run.quarter, N_QUARTERS);
          add_k_run (few, &run, 0, acts, group);
          add_k_run (few, &run, 1, acts, group);
        }
    }
}

/* All blocks of sixteen rows. */
INLINE void
add_group (const KvasirProduct *p, const Few few, const FewActs *acts, Group *group)
{
  const bool is_k = is_k_type (few.type);
  const size_t size = is_k ? get_k_block_bytes (few.type) : get_block_bytes (few.type);

  for (int64_t b = 0; b < p->k / (is_k ? 256 : 32); b++)
    {
      if (is_k)
        add_k_block_of_group (few, acts, b, group);
      else
        add_block (few, acts, b, group);
      for (int i = 0; i < (few.is_packed ? 1 : 16); i++)
        group->rows[i] += few.is_packed ? 16 * size : size;
      group->next += 16 * size;
    }
}

INLINE void
begin_group (const KvasirProduct *p, int64_t r, int n_rows, const int n, Group *group)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;

  for (int i = 0; i < 16; i++)
    group->rows[i] = row + (size_t) (i < n_rows ? i : n_rows - 1) * p->weight_stride;
  group->next = row + (p->is_packed ? PACKED_AHEAD : 16 * p->weight_stride);
  for (int side = 0; side < 2; side++)
    for (int t = 0; t < n; t++)
      group->sums[side][t] = group->mins[side][t] = _mm256_setzero_ps ();
}

/* Up to sixteen rows with n tokens; rows behind the last one are its copies. */
INLINE void
int8_group (const KvasirProduct *p,
            const KvasirType type,
            int64_t r,
            int n_rows,
            int64_t token,
            const int n)
{
  FewActs acts = get_few_acts (p, token, n);
  Group group;

  begin_group (p, r, n_rows, n, &group);
  if (p->is_packed)
    add_group (p, (Few){ type, true, n }, &acts, &group);
  else
    add_group (p, (Few){ type, false, n }, &acts, &group);
  for (int side = 0; side < 2 && n_rows > SIDE_ROWS * side; side++)
    {
      int64_t row = r + SIDE_ROWS * side;
      int lanes = n_rows - SIDE_ROWS * side;
      lanes = lanes < SIDE_ROWS ? lanes : SIDE_ROWS;
      __m256 bias = p->bias ? vec_load_n (p->bias + row, lanes) : _mm256_setzero_ps ();
      for (int t = 0; t < n; t++)
        vec_store_n (p->dst + (size_t) (token + t) * p->dst_stride + row,
                     _mm256_add_ps (_mm256_add_ps (group.sums[side][t], group.mins[side][t]), bias),
                     lanes);
    }
}

INLINE void
int8_few_sides (const KvasirProduct *p, const KvasirProductPart *part, const KvasirType type)
{
  for (int64_t r = part->row; r < part->row_end; r += 16)
    {
      int n_rows = part->row_end - r < 16 ? (int) (part->row_end - r) : 16;
      int64_t t = part->token;
      for (; t + MAX_FEW <= part->token_end; t += MAX_FEW)
        int8_group (p, type, r, n_rows, t, MAX_FEW);
      if (t < part->token_end)
        int8_group (p, type, r, n_rows, t, 1);
    }
}
