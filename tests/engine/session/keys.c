/* Block layouts as the formats define them, written down a second time. */
#include "tests/engine/session/keys.h"

#include <string.h>

static float
read_f16 (const guint8 *bytes)
{
  _Float16 value;

  memcpy (&value, bytes, sizeof value);
  return (float) value;
}

static float
read_bf16 (const guint8 *bytes)
{
  guint32 bits = (guint32) bytes[1] << 24 | (guint32) bytes[0] << 16;
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static float
read_f32 (const guint8 *bytes)
{
  float value;

  memcpy (&value, bytes, sizeof value);
  return value;
}

/* Value @i of a block: low halves of the bytes first, then high halves. */
static gint
get_nibble (const guint8 *nibbles, guint i)
{
  return i < 16 ? nibbles[i] & 15 : nibbles[i - 16] >> 4;
}

static gint
get_fifth_bit (const guint8 *bits, guint i)
{
  return (bits[i / 8] >> (i % 8) & 1) << 4;
}

static float
read_block_value (KvasirType type, const guint8 *block, guint i)
{
  static const gint8 curve[] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113 };

  switch (type)
    {
    case KVASIR_TYPE_Q8_0:
      return read_f16 (block) * (gint8) block[2 + i];
    case KVASIR_TYPE_Q4_0:
      return read_f16 (block) * (float) (get_nibble (block + 2, i) - 8);
    case KVASIR_TYPE_Q4_1:
      return read_f16 (block) * (float) get_nibble (block + 4, i) + read_f16 (block + 2);
    case KVASIR_TYPE_Q5_0:
      return read_f16 (block) *
             (float) (get_nibble (block + 6, i) + get_fifth_bit (block + 2, i) - 16);
    case KVASIR_TYPE_Q5_1:
      return read_f16 (block) * (float) (get_nibble (block + 8, i) + get_fifth_bit (block + 4, i)) +
             read_f16 (block + 2);
    case KVASIR_TYPE_IQ4_NL:
      return read_f16 (block) * curve[get_nibble (block + 2, i)];
    default:
      g_assert_not_reached ();
    }
}

static float
read_value (KvasirType type, const guint8 *row, gsize row_bytes, guint n, guint i)
{
  switch (type)
    {
    case KVASIR_TYPE_F32:
      return read_f32 (row + 4 * i);
    case KVASIR_TYPE_F16:
      return read_f16 (row + 2 * i);
    case KVASIR_TYPE_BF16:
      return read_bf16 (row + 2 * i);
    default:
      return read_block_value (type, row + i / 32 * (row_bytes / (n / 32)), i % 32);
    }
}

float *
keys_read (const KvasirMemory *memory, guint cell, guint *n)
{
  KvasirTensor *k;
  KvasirTensor *v;
  guint cache;
  float *values;

  kvasir_memory_get_layer (memory, 0, &k, &v, &cache);
  *n = (guint) k->ne[0];
  values = g_new (float, *n);
  for (guint i = 0; i < *n; i++)
    values[i] = read_value (k->type, (const guint8 *) k->data + cell * k->nb[1], k->nb[1], *n, i);
  return values;
}

float
keys_get_tolerance (KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_F32:
      return 1e-5f;
    case KVASIR_TYPE_F16:
      return 2e-3f;
    case KVASIR_TYPE_BF16:
      return 0.012f;
    case KVASIR_TYPE_Q8_0:
      return 0.02f;
    case KVASIR_TYPE_Q5_0:
    case KVASIR_TYPE_Q5_1:
      return 0.15f;
    default:
      return 0.35f;
    }
}
