/* Products of quantised weights with many tokens, by AMX beside AVX-512 VNNI.
 *
 * Weights are unpacked as for vpdpbusd, which happens to be the layout of a right-hand tile; the
 * activations of sixteen tokens are a left-hand one as they lie. Scales go with 16 or 32 elements,
 * so that integer sums leave the tiles after as many and are scaled and added up by AVX-512: that
 * is the slower part, and the tiles of the next blocks work meanwhile. Offsets are subtracted from
 * the bytes once per tile of weights, which saves the scaling one multiplication in four. */
#include "backends/cpu/x86/many-amx.h"

#include "backends/cpu/x86/vec-avx512.h"

#include "backends/cpu/x86/tile-avx512.h"
#ifdef KVASIR_AMX_EMULATED
#include "backends/cpu/x86/tiles-emulated.h"
#else
#include "backends/cpu/x86/tiles-amx.h"
#endif

/* Runs of elements with one scale that are multiplied between two turns of scaling. */
#define N_RUNS 4
#define N_TOKENS TILE_HEIGHT

/* Integer sums of a run: 16 rows, then the other 16, each [tokens][16]. */
typedef int32_t Dots[2][N_TOKENS * 16];

/* A tile of rows with up to sixteen tokens. */
typedef struct
{
  const KvasirProduct *p;
  const KvasirProductPart *part; /* of this tile of rows */
  const Tile *tile;
  int64_t token;
  int n_tokens;
} Work;

typedef struct
{
  bool is_signed;
  int n_parts;
} Form;

/* Whether values are multiplied as they are; otherwise bytes are unsigned and have minimums. */
INLINE bool
is_signed (const KvasirType type)
{
  return type != KVASIR_TYPE_Q4_1 && type != KVASIR_TYPE_Q5_1 && type != KVASIR_TYPE_Q2_K &&
         type != KVASIR_TYPE_Q4_K && type != KVASIR_TYPE_Q5_K;
}

INLINE void
subtract_offset (const KvasirType type, const Tile *tile)
{
  int offset = is_k_type (type) ? get_k_offset (type) : get_offset (type);
  const __m512i shift = _mm512_set1_epi8 ((char) offset);

  for (int64_t i = 0; i < tile->n_blocks * 32 * TILE_ROWS; i += 64)
    {
      __m512i u = _mm512_load_si512 (tile->bytes + i);
      _mm512_store_si512 (tile->bytes + i, _mm512_sub_epi8 (u, shift));
    }
}

/* Tiles 0 and 5: activations; 1 and 2: weights; the others: sums. */
INLINE TileConfig
get_config (const Form form, int n_tokens)
{
  const int run = 32 / form.n_parts;
  TileConfig config = { .palette = 1 };

  for (int i = 0; i < N_TILES; i++)
    {
      bool is_weights = i == 1 || i == 2, is_acts = i == 0 || i == 5;
      config.n_rows[i] = (uint8_t) (is_weights ? run / 4 : n_tokens);
      config.row_bytes[i] = (uint16_t) (is_acts ? run : TILE_WIDTH);
    }
  return config;
}

/* One run of the rows with the tokens. Neighbouring runs take turns with the tiles, so that one
 * need not wait for the other. */
#define DEFINE_MULTIPLY(name, a, sums0, sums1)                                                     \
  INLINE void name (Tiles *tiles, const Form form, const Work *w, int64_t run, Dots dots)          \
  {                                                                                                \
    const int n = 32 / form.n_parts;                                                               \
    const uint8_t *bytes = w->tile->bytes + run * n * 16;                                          \
                                                                                                   \
    (void) tiles;                                                                                  \
    TILE_LOAD (tiles, a, w->p->acts.q + w->token * w->p->k + run * n, w->p->k);                    \
    TILE_LOAD (tiles, 1, bytes, 64);                                                               \
    TILE_LOAD (tiles, 2, bytes + w->tile->n_blocks * 512, 64);                                     \
    TILE_ZERO (tiles, sums0);                                                                      \
    TILE_ZERO (tiles, sums1);                                                                      \
    if (form.is_signed)                                                                            \
      {                                                                                            \
        TILE_DP_SS (tiles, sums0, a, 1);                                                           \
        TILE_DP_SS (tiles, sums1, a, 2);                                                           \
      }                                                                                            \
    else                                                                                           \
      {                                                                                            \
        TILE_DP_SU (tiles, sums0, a, 1);                                                           \
        TILE_DP_SU (tiles, sums1, a, 2);                                                           \
      }                                                                                            \
    TILE_STORE (tiles, sums0, dots[0], 64);                                                        \
    TILE_STORE (tiles, sums1, dots[1], 64);                                                        \
  }

DEFINE_MULTIPLY (multiply_even, 0, 3, 4)
DEFINE_MULTIPLY (multiply_odd, 5, 6, 7)

/* Runs [run, run + n). */
INLINE void
multiply_runs (Tiles *tiles, const Form form, const Work *w, int64_t run, const int n, Dots *dots)
{
  for (int i = 0; i < n; i++)
    if (i % 2 == 0)
      multiply_even (tiles, form, w, run + i, dots[i]);
    else
      multiply_odd (tiles, form, w, run + i, dots[i]);
}

/* The sums of blocks [b, b + n), scaled, are added to @sums, [tokens][32]. */
INLINE void
add_dots (const Form form, const Work *w, int64_t b, const int n, const Dots *dots, float *sums)
{
  const int n_parts = form.n_parts;
  const int64_t n_blocks = w->tile->n_blocks;
  const float *scales = w->p->acts.d + w->token * n_blocks + b;
  const float *x_sums = n_parts == 1 ? w->p->acts.s : w->p->acts.s16;
  __m512 d[N_RUNS][2], m[N_RUNS][2];

  x_sums += (w->token * n_blocks + b) * n_parts;
  for (int i = 0; i < n * n_parts; i++)
    for (int h = 0; h < 2; h++)
      {
        int64_t at = (b * n_parts + i) * TILE_ROWS + 16 * h;
        d[i][h] = _mm512_load_ps (w->tile->d + at);
        m[i][h] = _mm512_load_ps (w->tile->m + at);
      }
  for (int64_t t = 0; t < w->n_tokens; t++)
    for (int h = 0; h < 2; h++)
      {
        __m512 sum = _mm512_load_ps (sums + t * TILE_ROWS + 16 * h);
        for (int i = 0; i < n; i++)
          {
            __m512 x = _mm512_setzero_ps ();
            for (int j = i * n_parts; j < (i + 1) * n_parts; j++)
              {
                __m512 dot = _mm512_cvtepi32_ps (_mm512_load_si512 (dots[j][h] + 16 * t));
                x = j == i * n_parts ? _mm512_mul_ps (dot, d[j][h])
                                     : _mm512_fmadd_ps (dot, d[j][h], x);
                if (!form.is_signed)
                  sum = _mm512_fmadd_ps (m[j][h],
                                         _mm512_set1_ps (x_sums[t * n_blocks * n_parts + j]), sum);
              }
            sum = _mm512_fmadd_ps (x, _mm512_set1_ps (scales[t * n_blocks + i]), sum);
          }
        _mm512_store_ps (sums + t * TILE_ROWS + 16 * h, sum);
      }
}

/* How many of the blocks from @b on are taken together: constants, for the compiler to unroll. */
INLINE int
count_blocks (const Form form, const Work *w, int64_t b)
{
  const int most = N_RUNS / form.n_parts;

  return b + most <= w->tile->n_blocks ? most : 1;
}

INLINE void
multiply_from (Tiles *tiles, const Form form, const Work *w, int64_t b, Dots *dots)
{
  const int n_parts = form.n_parts;

  if (w->token == w->tile->first_token)
    fetch_tile (w->tile, 1, b, count_blocks (form, w, b));
  if (count_blocks (form, w, b) > 1)
    multiply_runs (tiles, form, w, b * n_parts, N_RUNS, dots);
  else
    multiply_runs (tiles, form, w, b * n_parts, n_parts, dots);
}

INLINE void
add_dots_from (const Form form, const Work *w, int64_t b, const Dots *dots, float *sums)
{
  if (count_blocks (form, w, b) > 1)
    add_dots (form, w, b, N_RUNS / form.n_parts, dots, sums);
  else
    add_dots (form, w, b, 1, dots, sums);
}

static void
store_sums (const Work *w, const float *sums)
{
  for (int h = 0; h < 2; h++)
    {
      int64_t row = w->part->row + 16 * h, left = w->part->row_end - row;
      int lanes = left < 0 ? 0 : left < 16 ? (int) left : 16;
      __m512 bias = w->p->bias && lanes > 0 ? vec_load_n (w->p->bias + row, lanes) : vec_set1 (0);
      for (int64_t t = 0; t < w->n_tokens && lanes > 0; t++)
        vec_store_n (w->p->dst + (size_t) (w->token + t) * w->p->dst_stride + row,
                     vec_add (vec_load (sums + t * TILE_ROWS + 16 * h), bias), lanes);
    }
}

INLINE void
multiply_work (Tiles *tiles, const Form form, const Work *w)
{
  Dots dots[2][N_RUNS] __attribute__ ((aligned (64)));
  float sums[N_TOKENS * TILE_ROWS] __attribute__ ((aligned (64)));
  int64_t before = 0;
  int turn = 0;

  memset (sums, 0, sizeof sums);
  multiply_from (tiles, form, w, 0, dots[0]);
  for (int64_t b = count_blocks (form, w, 0); b < w->tile->n_blocks; turn ^= 1)
    {
      int n = count_blocks (form, w, b);
      multiply_from (tiles, form, w, b, dots[turn ^ 1]);
      add_dots_from (form, w, before, dots[turn], sums);
      before = b;
      b += n;
    }
  add_dots_from (form, w, before, dots[turn], sums);
  store_sums (w, sums);
}

INLINE void
multiply_tokens (const Form form,
                 const KvasirProduct *p,
                 const KvasirProductPart *part,
                 const Tile *tile)
{
  Work w = { .p = p, .part = part, .tile = tile };
  int n_configured = 0;
  Tiles tiles = { 0 };

  for (w.token = part->token; w.token < part->token_end; w.token += N_TOKENS)
    {
      int64_t left = part->token_end - w.token;
      w.n_tokens = left < N_TOKENS ? (int) left : N_TOKENS;
      if (w.n_tokens != n_configured)
        {
          TileConfig config = get_config (form, w.n_tokens);
          tiles_configure (&tiles, &config);
          n_configured = w.n_tokens;
        }
      multiply_work (&tiles, form, &w);
    }
  if (n_configured > 0)
    tiles_release (&tiles);
}

#define MULTIPLY(name, is_signed, n_parts)                                                         \
  static void multiply_##name (const KvasirProduct *p, const KvasirProductPart *part,              \
                               const Tile *tile, int64_t b, int64_t end)                           \
  {                                                                                                \
    (void) b;                                                                                      \
    (void) end;                                                                                    \
    if (is_signed)                                                                                 \
      subtract_offset (p->type, tile);                                                             \
    multiply_tokens ((Form){ is_signed, n_parts }, p, part, tile);                                 \
  }

MULTIPLY (blocks, false, 1)
MULTIPLY (signed_blocks, true, 1)
MULTIPLY (halves, false, 2)
MULTIPLY (signed_halves, true, 2)

INLINE MultiplyFn
get_multiply (const KvasirType type)
{
  if (get_n_parts (type) == 1)
    return is_signed (type) ? multiply_signed_blocks : multiply_blocks;
  return is_signed (type) ? multiply_signed_halves : multiply_halves;
}

/* Rows are multiplied whole: what passes through the first cache is sums. */
#undef TILE_BLOCKS
#define TILE_BLOCKS (1 << 30)
#include "backends/cpu/x86/many-x86.h"

#ifdef KVASIR_AMX_EMULATED
#define MANY kvasir_amx_emulated_many
#else
#define MANY kvasir_amx_many
#endif

#define TYPE_CASE(type)                                                                            \
  case type:                                                                                       \
    int8_many (p, part, type, scratch);                                                            \
    break

void
MANY (const KvasirProduct *p,
      const KvasirProductPart *part,
      const KvasirRowToFloat *to_float,
      uint8_t *scratch)
{
  (void) to_float;
  switch (p->type)
    {
      TYPE_CASE (KVASIR_TYPE_Q4_0);
      TYPE_CASE (KVASIR_TYPE_Q4_1);
      TYPE_CASE (KVASIR_TYPE_Q5_0);
      TYPE_CASE (KVASIR_TYPE_Q5_1);
      TYPE_CASE (KVASIR_TYPE_Q8_0);
      TYPE_CASE (KVASIR_TYPE_IQ4_NL);
      TYPE_CASE (KVASIR_TYPE_MXFP4);
      TYPE_CASE (KVASIR_TYPE_Q2_K);
      TYPE_CASE (KVASIR_TYPE_Q3_K);
      TYPE_CASE (KVASIR_TYPE_Q4_K);
      TYPE_CASE (KVASIR_TYPE_Q5_K);
      TYPE_CASE (KVASIR_TYPE_Q6_K);
      TYPE_CASE (KVASIR_TYPE_IQ4_XS);
    default:
      break;
    }
}
