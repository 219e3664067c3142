/* Products by AMX tiles, in plain C where the processor has none. */
#include <string.h>

#include "backends/cpu/x86/tiles-emulated.h"
#include "rig.h"

static const KvasirType types[] = {
  KVASIR_TYPE_Q4_0,   KVASIR_TYPE_Q4_1,   KVASIR_TYPE_Q5_0,  KVASIR_TYPE_Q5_1, KVASIR_TYPE_Q8_0,
  KVASIR_TYPE_Q2_K,   KVASIR_TYPE_Q3_K,   KVASIR_TYPE_Q4_K,  KVASIR_TYPE_Q5_K, KVASIR_TYPE_Q6_K,
  KVASIR_TYPE_IQ4_NL, KVASIR_TYPE_IQ4_XS, KVASIR_TYPE_MXFP4,
};

/* A left-hand tile has rows of bytes as they are, a right-hand one has four rows of bytes in each
 * of its rows, side by side: what comes out is a usual product of matrices. */
static void
check_tiles (GRand *rand, int height, int depth, int width, gboolean is_signed)
{
  gint8 a[16][64];
  guint8 b[64][16], packed[16][64];
  gint32 sums[16][16];
  TileConfig config = { .palette = 1,
                        .row_bytes = { (guint16) depth, (guint16) (4 * width),
                                       (guint16) (4 * width) },
                        .n_rows = { (guint8) height, (guint8) (depth / 4), (guint8) height } };
  Tiles tiles;

  for (int i = 0; i < 64; i++)
    for (int n = 0; n < 16; n++)
      {
        a[n][i] = (gint8) g_rand_int_range (rand, -128, 128);
        b[i][n] = packed[i / 4][4 * n + i % 4] = (guint8) g_rand_int_range (rand, 0, 256);
        sums[n][i % 16] = g_rand_int_range (rand, -1000, 1000);
      }
  tiles_configure (&tiles, &config);
  TILE_LOAD (&tiles, 0, a, 64);
  TILE_LOAD (&tiles, 1, packed, 64);
  TILE_ZERO (&tiles, 2);
  if (is_signed)
    TILE_DP_SS (&tiles, 2, 0, 1);
  else
    TILE_DP_SU (&tiles, 2, 0, 1);
  TILE_STORE (&tiles, 2, sums, 64);
  for (int m = 0; m < height; m++)
    for (int n = 0; n < width; n++)
      {
        int sum = 0;
        for (int i = 0; i < depth; i++)
          sum += a[m][i] * (is_signed ? (gint8) b[i][n] : b[i][n]);
        g_assert_cmpint (sums[m][n], ==, sum);
      }
  tiles_release (&tiles);
}

static void
test_tiles (void)
{
  static const int shapes[][3] = {
    { 16, 64, 16 }, { 16, 32, 16 }, { 5, 16, 16 }, { 1, 4, 1 }, { 3, 60, 7 }
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (int is_signed = 0; is_signed < 2; is_signed++)
      check_tiles (rand, shapes[i][0], shapes[i][1], shapes[i][2], is_signed);
}

/* What a device of @isa makes of always the same matrices. (transfer full) */
static float *
multiply (KvasirCpuIsa isa, KvasirType type, const gint64 shape[3], guint32 seed)
{
  g_autoptr (Rig) rig = rig_new (isa, 2);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  KvasirTensor *w = rig_random (rig, rand, type, shape[0], shape[1], 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, shape[0], shape[2], 1);
  KvasirTensor *bias = rig_random (rig, rand, KVASIR_TYPE_F32, shape[1], 1, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ shape[1], shape[2], 1 }, w, x,
                              seed % 2 ? bias : NULL);

  g_assert_cmpint (rig_compute (rig, (int) shape[2], 0), ==, KVASIR_STATUS_OK);
  return g_memdup2 (y->data, (gsize) (shape[1] * shape[2]) * sizeof (float));
}

typedef void (*CheckFn) (KvasirType type, const gint64 shape[3], guint32 seed);

/* Tokens and rows that fill no tile, blocks that fill no group. */
static void
check_shapes (CheckFn check)
{
  static const gint64 n_tokens[] = { 5, 15, 16, 17, 31, 32, 50, 63, 130 };
  static const gint64 n_rows[] = { 1, 16, 17, 33, 64, 131 };
  guint32 seed = 0;

  for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (n_tokens); i++, seed++)
      {
        gint64 block = kvasir_type_get_block_len ((int) types[t]);
        gint64 k = block * (1 + seed % (block == 32 ? 19 : 4));
        gint64 shape[3] = { k, n_rows[seed % G_N_ELEMENTS (n_rows)], n_tokens[i] };
        check (types[t], shape, seed);
      }
}

/* Without an offset, or with sums of activations for sixteen elements, the same sums are added up
 * in another order. Otherwise the AVX-512 products multiply the offset with sums that are rounded
 * to 11 bits, and the tiles multiply no offset: sums of 32 activations have about the power of 32
 * of them, so that the error is offset^2 over the weights' power, at most about 10, times 2^-24. */
static double
get_bound (KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_0:
    case KVASIR_TYPE_Q5_0:
    case KVASIR_TYPE_Q8_0:
    case KVASIR_TYPE_IQ4_NL:
    case KVASIR_TYPE_IQ4_XS:
    case KVASIR_TYPE_MXFP4:
      return 1e-6;
    default:
      return 1e-12;
    }
}

static void
check_avx512 (KvasirType type, const gint64 shape[3], guint32 seed)
{
  /* In long steps the products of AVX-512 round weights once more, those of AVX2 do not. */
  KvasirCpuIsa other = shape[2] < 64 ? KVASIR_CPU_ISA_AVX512_VNNI : KVASIR_CPU_ISA_AVX2;
  g_autofree float *expected = multiply (other, type, shape, seed);
  g_autofree float *y = multiply (KVASIR_CPU_ISA_AMX_EMULATED, type, shape, seed);
  double nmse = rig_get_nmse (y, expected, (gsize) (shape[1] * shape[2]));

  if (!(nmse < get_bound (type)))
    g_test_message ("%s k %d rows %d tokens %d: nmse %g", kvasir_type_get_name ((int) type),
                    (int) shape[0], (int) shape[1], (int) shape[2], nmse);
  g_assert_cmpfloat (nmse, <, get_bound (type));
}

static void
test_avx512 (void)
{
  if (!kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_AMX_EMULATED))
    g_test_skip ("no AVX-512 VNNI");
  else
    check_shapes (check_avx512);
}

static void
check_same_bits (KvasirType type, const gint64 shape[3], guint32 seed)
{
  g_autofree float *expected = multiply (KVASIR_CPU_ISA_AMX_EMULATED, type, shape, seed);
  g_autofree float *y = multiply (KVASIR_CPU_ISA_AMX, type, shape, seed);

  g_assert_cmpmem (y, (gsize) (shape[1] * shape[2]) * sizeof (float), expected,
                   (gsize) (shape[1] * shape[2]) * sizeof (float));
}

static void
test_instructions (void)
{
  if (!kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_AMX))
    g_test_skip ("no AMX");
  else
    check_shapes (check_same_bits);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/amx/tiles-multiply-like-matrices", test_tiles);
  g_test_add_func ("/backends/amx/as-avx512", test_avx512);
  g_test_add_func ("/backends/amx/instructions-as-emulated", test_instructions);
  return g_test_run ();
}
