/* backends/cpu/x86/vec-turns.h - the Walsh-Hadamard transform, and keys turned where they lie
 *
 * Included after vec-tiles.h.
 */
#pragma once

#include "backends/cpu/x86/vec-tiles.h"

typedef int32_t VecInts __attribute__ ((vector_size (sizeof (Vec))));

/* Of two lanes @h apart the sum goes to the lower, the difference to the upper one. */
INLINE Vec
mix_lanes (Vec x, const int h)
{
  VecInts partners = { 0 };
  Vec signs = vec_set1 (1);

  for (int i = 0; i < LANES; i++)
    {
      partners[i] = i ^ h;
      signs[i] = i & h ? -1 : 1;
    }
  return vec_fma (x, signs, __builtin_shuffle (x, partners));
}

static void
hadamard (const float *x, int n, float *y)
{
  Vec factor = vec_set1 (1 / sqrtf ((float) n));

  if (n < LANES)
    {
      kvasir_scalar_kernels.hadamard (x, n, y);
      return;
    }
  for (int i = 0; i < n; i += LANES)
    {
      Vec v = vec_mul (vec_load (x + i), factor);
      v = mix_lanes (mix_lanes (mix_lanes (v, 1), 2), 4);
      if (LANES == 16)
        v = mix_lanes (v, 8);
      vec_store (y + i, v);
    }
  for (int h = LANES; h < n; h *= 2)
    for (int i = 0; i < n; i += 2 * h)
      for (int j = i; j < i + h; j += LANES)
        {
          Vec a = vec_load (y + j), b = vec_load (y + j + h);
          vec_store (y + j, vec_add (a, b));
          vec_store (y + j + h, vec_sub (a, b));
        }
}

INLINE void
store_elements (const KvasirType type, uint8_t *row, int64_t i, Vec x)
{
  if (type == KVASIR_TYPE_F16)
    vec_store_f16 ((uint16_t *) (void *) row + i, x);
  else
    vec_store ((float *) (void *) row + i, x);
}

/* Each of the first LANES / 2 values twice. */
INLINE Vec
load_twice (const float *p)
{
  VecInts lanes = { 0 };

  for (int i = 0; i < LANES; i++)
    lanes[i] = i / 2;
  return __builtin_shuffle (vec_load_n (p, LANES / 2), lanes);
}

/* Rows are turned a few at a time, so that angles are loaded for all of them, and fetched that far
 * ahead. */
#define TURN_BYTES 4096

INLINE void
fetch_row (const KvasirTurn *t, const uint8_t *row)
{
  size_t n_bytes = t->stride < TURN_BYTES ? t->stride : TURN_BYTES;

  for (size_t at = 0; at < n_bytes; at += 64)
    _mm_prefetch ((const char *) row + TURN_BYTES + at, _MM_HINT_T0);
}

/* Pairs side by side: x c + x' s, where x' is the other of the pair and s has its sign. */
INLINE void
turn_neighbours (const KvasirTurn *t, const KvasirType type, uint8_t *rows, int n_rows)
{
  VecInts partners = { 0 };
  Vec signs = vec_set1 (1);

  for (int i = 0; i < LANES; i++)
    {
      partners[i] = i ^ 1;
      signs[i] = i & 1 ? 1 : -1;
    }
  for (int i = 0; i < t->n_rot; i += LANES)
    {
      Vec c = load_twice (t->table + i / 2);
      Vec s = vec_mul (load_twice (t->table + (t->n_rot + i) / 2), signs);
      for (int r = 0; r < n_rows; r++)
        {
          uint8_t *row = rows + (size_t) r * t->stride;
          if (i == 0)
            fetch_row (t, row);
          for (int at = i; at < t->n_heads * t->head_dim; at += t->head_dim)
            {
              Vec x = load_elements (type, row, at), other = __builtin_shuffle (x, partners);
              store_elements (type, row, at, vec_fma (other, s, vec_mul (x, c)));
            }
        }
    }
}

/* Pairs half of n_rot apart. */
INLINE void
turn_halves (const KvasirTurn *t, const KvasirType type, uint8_t *rows, int n_rows)
{
  int half = t->n_rot / 2;

  for (int i = 0; i < half; i += LANES)
    {
      Vec c = vec_load (t->table + i), s = vec_load (t->table + half + i);
      Vec minus = vec_sub (vec_set1 (0), s);
      for (int r = 0; r < n_rows; r++)
        {
          uint8_t *row = rows + (size_t) r * t->stride;
          if (i == 0)
            fetch_row (t, row);
          for (int at = i; at < t->n_heads * t->head_dim; at += t->head_dim)
            {
              Vec x0 = load_elements (type, row, at), x1 = load_elements (type, row, at + half);
              store_elements (type, row, at, vec_fma (x1, minus, vec_mul (x0, c)));
              store_elements (type, row, at + half, vec_fma (x0, s, vec_mul (x1, c)));
            }
        }
    }
}

static void
turn (const KvasirTurn *t, uint8_t *rows)
{
  int at_once = (int) (TURN_BYTES / t->stride) + 1, n;

  for (int row = 0; row < t->n_rows; row += n, rows += (size_t) n * t->stride)
    {
      n = t->n_rows - row < at_once ? t->n_rows - row : at_once;
      if (t->type == KVASIR_TYPE_F16 && t->neox)
        turn_halves (t, KVASIR_TYPE_F16, rows, n);
      else if (t->type == KVASIR_TYPE_F16)
        turn_neighbours (t, KVASIR_TYPE_F16, rows, n);
      else if (t->neox)
        turn_halves (t, KVASIR_TYPE_F32, rows, n);
      else
        turn_neighbours (t, KVASIR_TYPE_F32, rows, n);
    }
}
