/* The passes themselves, once for each width: included by passes.c with these macros defined.
 *
 * W: floats in a vector. NAME(x): of this width. VEC: a vector of floats. FLAGS: what comparing two
 * gives. */

#define N_LANES (16 / W) /* vectors that hold the sixteen lanes */
#define N_ROWS (KVASIR_BLOCK / 16)

/* 2^t for t = (logit - peak) * factor: 2^f by a polynomial (least relative error on [-0.5, 0.5],
 * 1e-7) where f is what rounding leaves, and the whole part into the exponent. */
static inline INLINE VEC
NAME (get_weight) (VEC logit, VEC peak, VEC factor, VEC *log2_weight)
{
  VEC t = MAX_OF (MUL (SUB (logit, peak), factor), SET (LEAST_LOG2));
  VEC rounded = ADD (t, SET (ROUNDING));
  VEC f = SUB (t, SUB (rounded, SET (ROUNDING)));
  VEC p = SET (0.00132647273f);
  p = ADD (MUL (p, f), SET (0.00967151299f));
  p = ADD (MUL (p, f), SET (0.0555073358f));
  p = ADD (MUL (p, f), SET (0.240222424f));
  p = ADD (MUL (p, f), SET (0.693147004f));
  p = ADD (MUL (p, f), SET (1.0f));
  *log2_weight = t;
  return ADD_EXPONENT (p, rounded);
}

static INLINE_TARGET void
NAME (scan) (const float *const *blocks, guint n_blocks, float *maxima, guint8 *odd)
{
  for (guint b = 0; b < n_blocks; b++)
    {
      VEC best[N_LANES];
      FLAGS bad = NO_FLAGS;
      for (guint i = 0; i < N_LANES; i++)
        best[i] = SET (-__builtin_inff ());
      for (guint row = 0; row < N_ROWS; row++)
        for (guint i = 0; i < N_LANES; i++)
          {
            VEC v = LOAD (blocks[b] + row * 16 + i * W);
            bad = OR (bad, NOT_USABLE (v));
            best[i] = MAX_OF (v, best[i]);
          }
      maxima[b] = REDUCE_MAX (best);
      odd[b] = IS_ANY (bad);
    }
}

static INLINE_TARGET void
NAME (weigh) (const float *const *blocks,
              const float *maxima,
              guint n_blocks,
              float peak,
              float scale,
              float *masses)
{
  const VEC peaks = SET (peak), factor = SET (scale * LOG2_E);
  for (guint b = 0; b < n_blocks; b++)
    {
      VEC sums[N_ROWS][N_LANES], unused;
      masses[b] = 0.0f;
      if ((maxima[b] - peak) * scale < LEAST_LOG)
        continue;
      for (guint row = 0; row < N_ROWS; row++)
        for (guint i = 0; i < N_LANES; i++)
          sums[row][i] =
              NAME (get_weight) (LOAD (blocks[b] + row * 16 + i * W), peaks, factor, &unused);
      for (guint i = 0; i < N_LANES; i++)
        sums[0][i] = ADD (ADD (sums[0][i], sums[1][i]), ADD (sums[2][i], sums[3][i]));
      masses[b] = REDUCE_ADD (sums[0]);
    }
}

static INLINE_TARGET double
NAME (moment) (
    const float *const *blocks, const float *maxima, guint n_blocks, float peak, float scale)
{
  const VEC peaks = SET (peak), factor = SET (scale * LOG2_E);
  double total = 0.0;
  for (guint b = 0; b < n_blocks; b++)
    {
      VEC sums[N_ROWS][N_LANES], t;
      if ((maxima[b] - peak) * scale < LEAST_LOG)
        continue;
      for (guint row = 0; row < N_ROWS; row++)
        for (guint i = 0; i < N_LANES; i++)
          {
            VEC w = NAME (get_weight) (LOAD (blocks[b] + row * 16 + i * W), peaks, factor, &t);
            sums[row][i] = MUL (w, t);
          }
      for (guint i = 0; i < N_LANES; i++)
        sums[0][i] = ADD (ADD (sums[0][i], sums[1][i]), ADD (sums[2][i], sums[3][i]));
      total += (double) REDUCE_ADD (sums[0]);
    }
  return total;
}

static INLINE_TARGET guint
NAME (spread) (const float *const *blocks, guint n_blocks, float peak, double *sum, double *squares)
{
  const VEC peaks = SET (peak), lowest = SET (-FLT_MAX);
  guint n = 0;
  *sum = *squares = 0.0;
  for (guint b = 0; b < n_blocks; b++)
    {
      VEC sums[N_LANES], powers[N_LANES];
      for (guint i = 0; i < N_LANES; i++)
        sums[i] = powers[i] = SET (0.0f);
      for (guint row = 0; row < N_ROWS; row++)
        for (guint i = 0; i < N_LANES; i++)
          {
            VEC v = LOAD (blocks[b] + row * 16 + i * W);
            FLAGS there = AT_LEAST (v, lowest);
            VEC x = KEEP_WHERE (there, SUB (v, peaks));
            n += COUNT (there);
            sums[i] = ADD (sums[i], x);
            powers[i] = ADD (powers[i], MUL (x, x));
          }
      *sum += (double) REDUCE_ADD (sums);
      *squares += (double) REDUCE_ADD (powers);
    }
  return n;
}

static INLINE_TARGET guint
NAME (count) (
    const float *const *blocks, const float *maxima, guint n_blocks, float bound, guint enough)
{
  const VEC bounds = SET (bound);
  guint n = 0;
  for (guint b = 0; b < n_blocks && n <= enough; b++)
    if (maxima[b] >= bound)
      for (guint i = 0; i < KVASIR_BLOCK; i += W)
        n += COUNT (AT_LEAST (LOAD (blocks[b] + i), bounds));
  return n;
}

static INLINE_TARGET guint64
NAME (find) (const float *block, float low, float high)
{
  const VEC lows = SET (low), highs = SET (high);
  guint64 found = 0;
  for (guint i = 0; i < KVASIR_BLOCK; i += W)
    {
      VEC v = LOAD (block + i);
      found |= GET_BITS (BOTH (AT_LEAST (v, lows), BELOW (v, highs))) << i;
    }
  return found;
}

static INLINE_TARGET guint
NAME (take) (const float *block, float bound, float *to)
{
  const VEC bounds = SET (bound);
  guint n = 0;
  for (guint i = 0; i < KVASIR_BLOCK; i += W)
    {
      VEC v = LOAD (block + i);
      FLAGS there = AT_LEAST (v, bounds);
      STORE_THOSE (to + n, there, v);
      n += COUNT (there);
    }
  return n;
}

static INLINE_TARGET guint64
NAME (floor) (const float *block, float bound, float *to)
{
  const VEC bounds = SET (bound), never = SET (-__builtin_inff ());
  guint64 equal = 0;
  for (guint i = 0; i < KVASIR_BLOCK; i += W)
    {
      VEC v = LOAD (block + i);
      STORE (to + i, SELECT (AT_LEAST (v, bounds), v, never));
      equal |= GET_BITS (EQUAL (v, bounds)) << i;
    }
  return equal;
}

static INLINE_TARGET void
NAME (sort) (const float *block, float peak, float scale, float *weights, gint32 *buckets)
{
  const VEC peaks = SET (peak), factor = SET (scale * LOG2_E), eighths = SET (scale * -8.0f);
  for (guint i = 0; i < KVASIR_BLOCK; i += W)
    {
      VEC v = LOAD (block + i), unused;
      VEC depth = MIN_OF (MUL (SUB (v, peaks), eighths), SET ((float) (KVASIR_BUCKETS - 1)));
      STORE (weights + i, NAME (get_weight) (v, peaks, factor, &unused));
      STORE_TRUNCATED (buckets + i, depth);
    }
}

static const KvasirPasses NAME (passes) = { NAME (scan),   NAME (weigh), NAME (moment),
                                            NAME (spread), NAME (count), NAME (find),
                                            NAME (take),   NAME (floor), NAME (sort) };

#undef N_LANES
#undef N_ROWS
#undef W
#undef NAME
#undef VEC
#undef FLAGS
#undef NO_FLAGS
#undef INLINE
#undef INLINE_TARGET
#undef SET
#undef LOAD
#undef STORE
#undef STORE_TRUNCATED
#undef STORE_THOSE
#undef ADD
#undef SUB
#undef MUL
#undef MAX_OF
#undef MIN_OF
#undef AT_LEAST
#undef BELOW
#undef EQUAL
#undef BOTH
#undef NOT_USABLE
#undef OR
#undef IS_ANY
#undef COUNT
#undef GET_BITS
#undef KEEP_WHERE
#undef SELECT
#undef ADD_EXPONENT
#undef REDUCE_MAX
#undef REDUCE_ADD
