/* Matrix products of every type against sums in double over the dequantised weights. */
#include <math.h>
#include <string.h>

#include "backends/cpu/half.h"
#include "rig.h"

static const KvasirType types[] = {
  KVASIR_TYPE_F32,     KVASIR_TYPE_F16,    KVASIR_TYPE_BF16,   KVASIR_TYPE_Q4_0,
  KVASIR_TYPE_Q4_1,    KVASIR_TYPE_Q5_0,   KVASIR_TYPE_Q5_1,   KVASIR_TYPE_Q8_0,
  KVASIR_TYPE_Q2_K,    KVASIR_TYPE_Q3_K,   KVASIR_TYPE_Q4_K,   KVASIR_TYPE_Q5_K,
  KVASIR_TYPE_Q6_K,    KVASIR_TYPE_IQ4_NL, KVASIR_TYPE_IQ4_XS, KVASIR_TYPE_MXFP4,
  KVASIR_TYPE_IQ2_XXS, KVASIR_TYPE_IQ2_XS, KVASIR_TYPE_IQ2_S,  KVASIR_TYPE_IQ3_XXS,
  KVASIR_TYPE_IQ3_S,   KVASIR_TYPE_IQ1_S,  KVASIR_TYPE_IQ1_M,  KVASIR_TYPE_TQ1_0,
  KVASIR_TYPE_TQ2_0,   KVASIR_TYPE_NVFP4,  KVASIR_TYPE_Q1_0,   KVASIR_TYPE_Q2_0,
};

/* Activations rounded to eight bits cost about 3e-5 of the power, to sixteen about 7e-10: with a
 * step of 1 / 127 (and 1 / 32512) of the largest, which is about three times the deviation, and an
 * error of step^2 / 12. Up to four tokens keep sixteen bits. Long steps may round weights to about
 * as many steps as activations, and with them larger groups, which the bound has room for. */
static double
get_bound (KvasirType type, gint64 n_tokens)
{
  gboolean is_plain =
      type == KVASIR_TYPE_F32 || type == KVASIR_TYPE_F16 || type == KVASIR_TYPE_BF16;

  if (is_plain)
    return 1e-10;
  return n_tokens <= 4 ? 1e-8 : 1e-4;
}

static double *
multiply (const float *w, const float *x, const float *bias, gint64 k, gint64 rows, gint64 n)
{
  double *y = g_new (double, (gsize) (rows * n));

  for (gint64 t = 0; t < n; t++)
    for (gint64 r = 0; r < rows; r++)
      {
        double sum = bias ? bias[r] : 0;
        for (gint64 i = 0; i < k; i++)
          sum += (double) w[r * k + i] * x[t * k + i];
        y[t * rows + r] = sum;
      }
  return y;
}

/* Mean square error over the power that products of such rows have on average: the power of the
 * result itself is small by chance where it has few elements. */
static double
get_error (
    const float *y, const double *expected, const float *w, const float *x, const gint64 shape[3])
{
  gint64 k = shape[0], rows = shape[1], n = shape[2];
  double error = 0, power_w = 0, power_x = 0;

  for (gint64 i = 0; i < rows * n; i++)
    error += (y[i] - expected[i]) * (y[i] - expected[i]);
  for (gint64 i = 0; i < k * rows; i++)
    power_w += (double) w[i] * w[i];
  for (gint64 i = 0; i < k * n; i++)
    power_x += (double) x[i] * x[i];
  return error / (power_w * power_x / (double) k);
}

/* What @type is multiplied with: beside halves the nearest halves. */
static float *
round_activations (KvasirType type, const KvasirTensor *x)
{
  gsize n = (gsize) (x->ne[0] * x->ne[1]);
  float *rounded = g_memdup2 (x->data, n * sizeof (float));

  for (gsize i = 0; type == KVASIR_TYPE_F16 && i < n; i++)
    rounded[i] = kvasir_f16_to_f32 (kvasir_f32_to_f16 (rounded[i]));
  return rounded;
}

/* @is_packed: with the weights in the order of packed.h alone. */
static void
check_product (KvasirCpuIsa isa,
               int n_threads,
               KvasirType type,
               GRand *rand,
               const gint64 shape[3],
               gboolean is_packed)
{
  g_autoptr (Rig) rig = rig_new (isa, n_threads);
  gint64 k = shape[0], rows = shape[1], n = shape[2];
  KvasirTensor *w = rig_random (rig, rand, type, k, rows, 1);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, k, n, 1);
  KvasirTensor *bias = n % 2 ? rig_random (rig, rand, KVASIR_TYPE_F32, rows, 1, 1) : NULL;
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ rows, n, 1 }, w, x, bias);
  g_autofree float *weights = rig_get_floats (w);
  g_autofree float *rounded = round_activations (type, x);
  g_autofree double *expected = multiply (weights, rounded, bias ? bias->data : NULL, k, rows, n);

  KvasirBuffer *packed = NULL;

  if (is_packed)
    {
      packed = rig_pack (rig, w, w->nb[3]);
      memset (w->data, 0xa5, w->nb[3]);
    }
  g_assert_cmpint (rig_compute (rig, (int) n, 0), ==, KVASIR_STATUS_OK);
  double nmse = get_error (y->data, expected, weights, x->data, shape);
  if (!(nmse < get_bound (type, n)))
    g_test_message ("%s %s k %d rows %d tokens %d: nmse %g", kvasir_cpu_isa_get_name (isa),
                    kvasir_type_get_name ((int) type), (int) k, (int) rows, (int) n, nmse);
  g_assert_cmpfloat (nmse, <, get_bound (type, n));
  if (packed != NULL)
    packed->vtable->free (packed);
}

static void
test_shapes (void)
{
  static const gint64 n_tokens[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 21, 63, 64, 71, 74, 150 };
  static const gint64 n_rows[] = { 1, 15, 64, 70, 131, 48 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      for (gsize i = 0; i < G_N_ELEMENTS (n_tokens); i++)
        {
          gint64 block = kvasir_type_get_block_len ((int) types[t]);
          gint64 k = block == 1 ? g_rand_int_range (rand, 1, 700)
                                : block * g_rand_int_range (rand, 1, 1 + 1100 / (int) block);
          gint64 shape[3] = { k, n_rows[(i + t) % G_N_ELEMENTS (n_rows)], n_tokens[i] };
          check_product (*isa, 1 + (int) i % 2, types[t], rand, shape, FALSE);
        }
}

static gboolean
can_pack (KvasirCpuIsa isa, KvasirType type)
{
  g_autoptr (Rig) rig = rig_new (isa, 1);
  KvasirTensor *w = rig_tensor (rig, type, 256, 16, 1);

  return rig->device->vtable->can_pack (rig->device, w);
}

static void
test_packed (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      for (int n = 1; n <= 9 && can_pack (*isa, types[t]); n++)
        {
          gint64 block = kvasir_type_get_block_len ((int) types[t]);
          gint64 k = block * g_rand_int_range (rand, 1, 1 + 1100 / (int) block);
          check_product (*isa, 1 + n % 2, types[t], rand, (gint64[]){ k, 16 * (1 + n % 3), n },
                         TRUE);
        }
}

/* Rows that lie apart, in the activations and in the result. */
static void
test_strides (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 3; n <= 33; n += 30)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_Q8_0, 64, 40, 1);
        KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 96, n, 1);
        KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 50, n, 1 }, w, x, NULL);
        x->ne[0] = 64;
        y->ne[0] = 40;
        g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
        g_autofree float *weights = rig_get_floats (w);
        for (int t = 0; t < n; t++)
          {
            const float *row = (const float *) y->data + t * 50;
            g_autofree double *expected =
                multiply (weights, (float *) x->data + t * 96, NULL, 64, 40, 1);
            g_assert_cmpfloat (rig_get_nmse_double (row, expected, 40), <, 1e-3);
            for (int i = 40; i < 50; i++)
              g_assert_cmpfloat (row[i], ==, 0);
          }
      }
}

/* Activations that a half can't hold are not lost. */
static void
test_beyond_halves (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 33; n += 32)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        KvasirTensor *w = rig_tensor (rig, KVASIR_TYPE_F16, 64, 3, 1);
        KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 64, n, 1);
        KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 3, n, 1 }, w, x, NULL);
        for (int r = 0; r < 3; r++)
          ((guint16 *) w->data)[r * 64 + r] = kvasir_f32_to_f16 (0.5f);
        for (int t = 0; t < n; t++)
          {
            ((float *) x->data)[t * 64] = 1e6f;
            ((float *) x->data)[t * 64 + 1] = -1e6f;
            ((float *) x->data)[t * 64 + 2] = 65504;
          }
        g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
        for (int t = 0; t < n; t++)
          {
            const float *row = (const float *) y->data + t * 3;
            g_assert_cmpfloat (row[0], ==, 5e5f);
            g_assert_cmpfloat (row[1], ==, -5e5f);
            g_assert_cmpfloat (row[2], ==, 32752);
          }
      }
}

/* Scales of 1; beside those of the runs of a block of 256, which are up to 128, of 1 / 64. */
static void
set_scales (KvasirType type, guint8 *block)
{
  gsize bytes = kvasir_type_get_block_bytes ((int) type);
  gboolean is_wide = kvasir_type_get_block_len ((int) type) == 256;
  gboolean is_last = type == KVASIR_TYPE_Q3_K || type == KVASIR_TYPE_Q6_K;
  gsize at = type == KVASIR_TYPE_Q2_K ? 80 : is_last ? bytes - 2 : 0;

  if (type == KVASIR_TYPE_MXFP4)
    {
      block[0] = 128;
      return;
    }
  block[at] = 0;
  block[at + 1] = is_wide ? 0x24 : 0x3c;
  if (type == KVASIR_TYPE_Q4_1 || type == KVASIR_TYPE_Q5_1)
    block[at + 2] = block[at + 3] = 0;
  if (type == KVASIR_TYPE_Q2_K || type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K)
    memcpy (block + at + 2, block + at, 2);
}

/* Weights and activations at the ends of their ranges: integer sums must not overflow. A sum of
 * 16 bits that wraps or stays at its end is wrong by 2^15 / 127 = 258 or more. Long steps round the
 * activations' scale to a half, by 2^-11 of at most 256 products of 255. Steps that
 * round weights again have sums of 32 bits, but may round all 256 alike, by half of one of the 254
 * steps from -255 to 255. */
static void
check_extremes (KvasirCpuIsa isa, KvasirType type, guint8 bits, float sign, int n)
{
  g_autoptr (Rig) rig = rig_new (isa, 1);
  KvasirTensor *w = rig_tensor (rig, type, 256, 40, 1);
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 256, n, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 40, n, 1 }, w, x, NULL);
  gsize block = kvasir_type_get_block_bytes ((int) type);
  guint8 *bytes = w->data;

  memset (bytes, bits, w->nb[2]);
  for (gsize i = 0; i < w->nb[2]; i += block)
    set_scales (type, bytes + i);
  for (int i = 0; i < 256 * n; i++)
    ((float *) x->data)[i] = sign;
  g_autofree float *weights = rig_get_floats (w);
  g_autofree double *expected = multiply (weights, x->data, NULL, 256, 40, n);
  g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
  double tolerance = n > 4 && isa != KVASIR_CPU_ISA_SCALAR ? 256 * 255 / 2048.0 : 0.01;

  if (n >= 64)
    tolerance += 256 * 510 / 254.0 / 2;
  for (int i = 0; i < 40 * n; i++)
    g_assert_cmpfloat_with_epsilon (((float *) y->data)[i], expected[i], tolerance);
}

static void
test_extremes (void)
{
  static const KvasirType int8_types[] = { KVASIR_TYPE_Q4_0,  KVASIR_TYPE_Q4_1, KVASIR_TYPE_Q5_0,
                                           KVASIR_TYPE_Q5_1,  KVASIR_TYPE_Q8_0, KVASIR_TYPE_IQ4_NL,
                                           KVASIR_TYPE_MXFP4, KVASIR_TYPE_Q2_K, KVASIR_TYPE_Q3_K,
                                           KVASIR_TYPE_Q4_K,  KVASIR_TYPE_Q5_K, KVASIR_TYPE_Q6_K,
                                           KVASIR_TYPE_IQ4_XS };
  static const guint8 bits[] = { 0x00, 0xff, 0x80, 0x7f, 0x0f, 0xf0 };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (int8_types); t++)
      for (gsize i = 0; i < G_N_ELEMENTS (bits); i++)
        for (int n = 1; n <= 65; n += 16)
          {
            check_extremes (*isa, int8_types[t], bits[i], 1, n);
            check_extremes (*isa, int8_types[t], bits[i], -1, n);
          }
}

/* Activations whose sums are beyond what a half can hold. Long steps may round each of the 64
 * weights between -1 and 1 by half of one of 254 steps. */
static void
test_large_activations (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 65; n += 16)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 1);
        g_autoptr (GRand) rand = g_rand_new_with_seed (3);
        KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_Q4_1, 64, 40, 1);
        KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 64, n, 1);
        KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 40, n, 1 }, w, x, NULL);
        for (int i = 0; i < 64 * n; i++)
          ((float *) x->data)[i] = 2e7f;
        g_autofree float *weights = rig_get_floats (w);
        g_autofree double *expected = multiply (weights, x->data, NULL, 64, 40, n);
        g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
        for (int i = 0; i < 40 * n; i++)
          g_assert_cmpfloat_with_epsilon (((float *) y->data)[i], expected[i],
                                          n < 64 ? 2e4 : 64 * 2e7 / 254);
      }
}

static void
test_threads_agree (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      for (int n = 1; n <= 81; n += 20)
        {
          float *results[2];
          for (int i = 0; i < 2; i++)
            {
              g_autoptr (GRand) rand = g_rand_new_with_seed (9);
              g_autoptr (Rig) rig = rig_new (*isa, i + 1);
              KvasirTensor *w = rig_random (rig, rand, types[t], 256, 200, 1);
              KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 256, n, 1);
              KvasirTensor *y =
                  rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 200, n, 1 }, w, x, NULL);
              g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
              results[i] = rig_get_floats (y);
            }
          g_assert_cmpmem (results[0], 200 * (gsize) n * sizeof (float), results[1],
                           200 * (gsize) n * sizeof (float));
          g_free (results[0]);
          g_free (results[1]);
        }
}

/* What a token gets in a short step is what it would get alone, bit for bit: the device says up to
 * how many. */
static void
test_alone (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      {
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        int n = rig->device->n_alike;
        KvasirTensor *w = rig_random (rig, rand, types[i], 768, 70, 1);
        KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 768, n, 1);
        KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 70, n, 1 }, w, x, NULL);
        g_autoptr (GPtrArray) alone = g_ptr_array_new ();

        g_assert_cmpint (n, >=, 4);
        for (int t = 0; t < n; t++)
          {
            KvasirTensor *one = rig_tensor (rig, KVASIR_TYPE_F32, 768, 1, 1);
            memcpy (one->data, (float *) x->data + 768 * t, 768 * sizeof (float));
            g_ptr_array_add (
                alone, rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 70, 1, 1 }, w, one, NULL));
          }
        g_assert_cmpint (rig_compute (rig, n, 0), ==, KVASIR_STATUS_OK);
        for (int t = 0; t < n; t++)
          {
            const KvasirTensor *one = g_ptr_array_index (alone, t);
            g_assert_cmpmem (one->data, 70 * sizeof (float), (float *) y->data + 70 * t,
                             70 * sizeof (float));
          }
      }
}

static void
test_unsupported (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *w = rig_tensor (rig, KVASIR_TYPE_F32, 64, 8, 1);
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 64, 2, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 8, 2, 1 }, w, x, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  g_assert_true (vtable->supports_op (rig->device, y));
  w->type = KVASIR_TYPE_IQ2_XS;
  g_assert_false (vtable->supports_op (rig->device, y));
  w->type = KVASIR_TYPE_F32;
  x->ne[0] = 32;
  g_assert_false (vtable->supports_op (rig->device, y));
  x->ne[0] = 64;
  y->src[1] = NULL;
  g_assert_false (vtable->supports_op (rig->device, y));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/mul-mat/activations-beyond-halves", test_beyond_halves);
  g_test_add_func ("/backends/mul-mat/every-type-and-tail-equals-double", test_shapes);
  g_test_add_func ("/backends/mul-mat/extremes-do-not-overflow", test_extremes);
  g_test_add_func ("/backends/mul-mat/large-activations-stay-finite", test_large_activations);
  g_test_add_func ("/backends/mul-mat/packed-rows-equal-double", test_packed);
  g_test_add_func ("/backends/mul-mat/rows-may-lie-apart", test_strides);
  g_test_add_func ("/backends/mul-mat/short-steps-are-as-single-tokens", test_alone);
  g_test_add_func ("/backends/mul-mat/threads-do-not-change-results", test_threads_agree);
  g_test_add_func ("/backends/mul-mat/impossible-shapes-are-not-supported", test_unsupported);
  return g_test_run ();
}
