/* backends/cpu/kernels.h - the inner loops, one table of them per instruction set
 *
 * Everything above this table is the same for all instruction sets, so that a path is tested by
 * putting its table beside the scalar one. All kernels accumulate in f32.
 *
 * Thread: any; kernels write only what their arguments name.
 */
#pragma once

#include <string.h>

#include "backends/backend.h"
#include "backends/cpu/rows.h"

/* Cells of the cache that attention handles at a time: the width of a mask word. */
#define KVASIR_TILE 64

/* Activations rounded to integers in blocks of 32, as the integer products want them. The arrays
 * are [n_tokens padded][k] and [n_tokens padded][k / 32] if nothing else is said; tokens are padded
 * to a multiple of KVASIR_ACT_PAD with zeros.
 *
 * Long steps, whose time is the products', round to eight bits: x = d q. Steps of up to
 * KVASIR_FEW_TOKENS wait for memory anyway and keep sixteen: x = d (256 q + fine). Eight bits there
 * would turn near ties in what a model writes. */
#define KVASIR_ACT_PAD 4
#define KVASIR_ACT_GROUP 256
#define KVASIR_FINE 256

typedef struct
{
  int8_t *q;
  int8_t *fine; /* NULL in long steps */
  float *d;     /* scale of a block */
  float *s;     /* sum of the block's rounded x: what a minimum or offset is multiplied with */
  float *s16;   /* [k / 16], the same of its two halves, never rounded */
  /* Sums of groups of KVASIR_ACT_GROUP elements, the last of which may be shorter; pairs of blocks
   * then have the same scale. NULL where each block has its own. */
  float *groups;
} KvasirActs;

/* One product dst[token][row] = weights[row] . x[token] (+ bias[row]). */
typedef struct
{
  KvasirType type;
  const uint8_t *weights; /* rows of k elements */
  size_t weight_stride;   /* bytes from row to row */
  bool is_packed;         /* the rows of the part are in the order of packed.h */
  int64_t k;
  int64_t n_rows;
  int64_t n_tokens;
  const float *x;    /* [n_tokens][k], for kernels that take f32 */
  size_t x_stride;   /* floats from token to token */
  KvasirActs acts;   /* for kernels that take int8 */
  const float *bias; /* [n_rows] or NULL */
  float *dst;
  size_t dst_stride; /* floats from token to token */
} KvasirProduct;

typedef struct
{
  int64_t row, row_end;
  int64_t token, token_end;
} KvasirProductPart;

/* Puts the bias where sums are added to what is there. */
static inline void
kvasir_product_fill_bias (const KvasirProduct *p, const KvasirProductPart *part)
{
  for (int64_t t = part->token; t < part->token_end; t++)
    memcpy (p->dst + (size_t) t * p->dst_stride + part->row, p->bias + part->row,
            (size_t) (part->row_end - part->row) * sizeof (float));
}

typedef void (*KvasirProductFn) (const KvasirProduct *product,
                                 const KvasirProductPart *part,
                                 const KvasirRowToFloat *to_float,
                                 uint8_t *scratch);

typedef struct
{
  bool takes_int8;
  /* For steps of at most KVASIR_FEW_TOKENS tokens, or of most_few if that is more: a few rows at a
   * time as they come from memory. */
  KvasirProductFn few;
  /* For longer steps: tiles of rows, unpacked once for all tokens. */
  KvasirProductFn many;
  int most_few;
} KvasirProductKernel;

/* Steps whose activations are rounded to sixteen bits where they are rounded. */
#define KVASIR_FEW_TOKENS 4

static inline KvasirProductFn
kvasir_product_kernel_choose (const KvasirProductKernel *kernel, int64_t n_tokens)
{
  bool is_few = n_tokens <= KVASIR_FEW_TOKENS || n_tokens <= kernel->most_few;

  return is_few ? kernel->few : kernel->many;
}

/* Rows of weights that a `many` kernel takes at most; parts begin at multiples of half as many. */
#define KVASIR_TILE_ROWS 64

/* Elements of a row that the f32 `many` kernels unpack at a time. */
#define KVASIR_TILE_K 256

/* Small dense product c[r][j] (+)= sum over i of a[r][i] b[i][j]. */
typedef struct
{
  int n_rows, n_cols; /* rows of b are readable up to the next multiple of 16 columns */
  int depth;
  const float *a;
  const float *b;
  float *c;
  size_t a_stride, b_stride, c_stride; /* in floats */
  bool accumulate;
} KvasirDense;

#define KVASIR_FEW_QUERIES 8

/* 32 elements of a query as integers: q d. */
typedef struct
{
  int8_t q[32];
  float d;
  int32_t offset; /* -128 times the sum of q, what unsigned keys have to be made up with */
} KvasirQueryBlock;

/* Few queries or weights of some heads against one tile of a cache, read where it lies. */
typedef struct
{
  KvasirType type;     /* F32, F16, BF16 or Q8_0 */
  const uint8_t *rows; /* KVASIR_TILE rows, from the first element of the first head */
  size_t stride;       /* bytes from row to row */
  size_t head_bytes;   /* from head to head */
  const uint8_t *next; /* as many rows, alike, that will be wanted next and are fetched, or NULL */
  size_t next_stride, next_head_bytes;
  int width; /* of a head: a multiple of 16, or of whole blocks */
  int n_heads;
  int n; /* queries or rows of weights of a head */
  const float *in;
  const float *factors; /* [n_heads][n], what mix multiplies with what is there; score: NULL */
  float *out;
  size_t in_stride, out_stride; /* floats from head to head */
} KvasirTileProduct;

/* Queries that a long step handles together. */
#define KVASIR_BLOCK_QUERIES 64

/* A block of queries and a tile of cells, both as words of 16 bits with a scale for each query and
 * cell. Head sizes are multiples of 16. */
typedef struct
{
  int head_dim_k, head_dim_v;
  const int16_t *queries;    /* [head_dim_k / 2][KVASIR_BLOCK_QUERIES][2] */
  const int16_t *keys;       /* [KVASIR_TILE][head_dim_k] */
  const int16_t *values;     /* [KVASIR_TILE / 2][head_dim_v][2] */
  const float *query_scales; /* [KVASIR_BLOCK_QUERIES], such that scores are binary logarithms */
  const float *key_scales, *value_scales; /* [KVASIR_TILE] */
  const uint64_t *open; /* [KVASIR_TILE], bit q: query q sees the cell; NULL: all see all */
  float *scores;        /* [KVASIR_TILE][KVASIR_BLOCK_QUERIES] of scratch */
  int16_t *weights;     /* [KVASIR_TILE / 2][KVASIR_BLOCK_QUERIES][2] of scratch */
  float *max, *sum;     /* [KVASIR_BLOCK_QUERIES], of an online softmax by powers of 2 */
  float *out;           /* [head_dim_v][KVASIR_BLOCK_QUERIES] */
} KvasirWordTile;

/* One tile of the online softmax of some rows, at most KVASIR_FEW_QUERIES. */
typedef struct
{
  int n;
  float *scores; /* [n][KVASIR_TILE] */
  uint64_t open[KVASIR_FEW_QUERIES];
  float *max, *sum; /* [n] */
  float *factors;   /* [n] */
} KvasirTileSoftmax;

/* One line of a recurrent state: s = s decay + a u (+ b v). */
typedef struct
{
  int64_t n;
  const float *decay; /* [n] */
  const float *u;     /* [n] */
  const float *v;     /* [n] or NULL */
  const float *read;  /* [n], what the new line is multiplied with */
} KvasirUpdate;

/* Keys of rows of a cache, all turned by the same angles where they lie. */
typedef struct
{
  KvasirType type; /* F32 or F16 */
  int n_rows;
  size_t stride; /* bytes from row to row */
  int n_heads;
  int head_dim; /* elements from head to head */
  int n_rot;    /* a multiple of 32 */
  bool neox;
  const float *table; /* as rotate's */
} KvasirTurn;

typedef struct
{
  const char *name;
  const KvasirRowToFloat *to_float;     /* [KVASIR_N_TYPES] */
  const KvasirRowFromFloat *from_float; /* [KVASIR_N_TYPES] */

  void (*add) (const float *a, const float *b, float *y, int64_t n);
  void (*mul) (const float *a, const float *b, float *y, int64_t n);
  void (*scale) (const float *x, float scale, float bias, float *y, int64_t n);
  void (*unary) (KvasirUnary kind, const float *x, float *y, int64_t n);
  void (*glu) (KvasirUnary kind, const float *gate, const float *up, float *y, int64_t n);
  void (*rms_norm) (const float *x, const float *weight, float eps, float *y, int64_t n);
  float (*sum) (const float *x, int64_t n);
  /* sum of (x - mean)^2 */
  float (*squares) (const float *x, float mean, int64_t n);
  float (*dot) (const float *a, const float *b, int64_t n);
  /* y = exp (x) / sum of exp (x); x may be y. */
  void (*softmax_row) (const float *x, float *y, int64_t n);
  /* y += factor x */
  void (*add_scaled) (const float *x, float factor, float *y, int64_t n);
  /* Returns the product of the new line with @read. */
  float (*update) (const KvasirUpdate *update, float a, float b, float *line);
  /* One block times the Walsh-Hadamard matrix over sqrt (n); n is a power of two, x may be y. */
  void (*hadamard) (const float *x, int n, float *y);
  /* Turns @n_rot elements; @table holds n_rot / 2 cosines and as many sines. x may be y. */
  void (*rotate) (const float *x, const float *table, int n_rot, bool neox, float *y);
  /* @rows begins at the first element that turns. NULL: not there. */
  void (*turn) (const KvasirTurn *turn, uint8_t *rows);

  /* NULL where no product takes integers. With groups only where takes_groups. */
  void (*quantize) (const float *x, int64_t k, KvasirActs acts);
  const KvasirProductKernel *products; /* [KVASIR_N_TYPES]; few NULL: type not supported */
  bool reads_packed;                   /* whether products take weights in the order of packed.h */
  bool takes_groups;                   /* whether long steps want them with groups */

  /* dst[col][row] = src[row][col] for @n_rows <= KVASIR_TILE rows; rows missing to KVASIR_TILE
   * become 0. dst has rows of KVASIR_TILE floats. */
  void (*transpose) (const float *src, size_t src_stride, int n_rows, int n_cols, float *dst);
  void (*dense) (const KvasirDense *dense);
  /* Rounds @x as a row of Q8_0 is, and multiplies the scales with @scale; n is a multiple of 32. */
  void (*round_query) (const float *x, int64_t n, float scale, KvasirQueryBlock *blocks);
  /* For each head out[i][row] = in[i] . rows[row], in [n][width], out [n][KVASIR_TILE]. NULL: not
   * there. */
  void (*score) (const KvasirTileProduct *product);
  /* Queries for keys of Q8_0 are blocks, those of a query at the beginning of its floats. */
  bool scores_blocks;
  /* For each head out[i] = factors[i] out[i] + sum over rows of in[i][row] rows[row], in
   * [n][KVASIR_TILE], out [n][width]. NULL with score. */
  void (*mix) (const KvasirTileProduct *product);
  /* Adds a tile to the state of a block of queries. NULL: not there. */
  void (*attend_words) (const KvasirWordTile *tile);
  /* x = scale words; returns the scale. @n is a multiple of 16. @by_length: such that dot products
   * of two rows fit 32 bits. NULL with attend_words. */
  float (*to_words) (const float *x, int n, bool by_length, int16_t *words);
  /* Scores become exp (score - max) where the bit of a row's word is 1 and 0 elsewhere, max and sum
   * are brought up to date, and factors become what earlier sums are multiplied with. A row whose
   * word is 0 only has its scores cleared. */
  void (*softmax) (const KvasirTileSoftmax *softmax);
} KvasirCpuKernels;

extern const KvasirCpuKernels kvasir_scalar_kernels;
#ifdef KVASIR_CPU_X86
extern const KvasirCpuKernels kvasir_avx2_kernels;
extern const KvasirCpuKernels kvasir_avx_vnni_kernels;
extern const KvasirCpuKernels kvasir_avx512_kernels;
extern const KvasirCpuKernels kvasir_amx_kernels;
extern const KvasirCpuKernels kvasir_amx_emulated_kernels;
#endif
