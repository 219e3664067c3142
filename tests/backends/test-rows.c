/* Rows of every type against what the Python package gguf makes of them (make-vectors.py), and the
 * type table against the file format. */
#include <math.h>
#include <string.h>

#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/isa.h"
#include "rig.h"

static void
test_type_sizes (void)
{
  static const struct
  {
    int type;
    int length, bytes;
    const char *name;
  } known[] = {
    { 0, 1, 4, "f32" },         { 1, 1, 2, "f16" },         { 2, 32, 18, "q4_0" },
    { 3, 32, 20, "q4_1" },      { 6, 32, 22, "q5_0" },      { 7, 32, 24, "q5_1" },
    { 8, 32, 34, "q8_0" },      { 10, 256, 84, "q2_K" },    { 11, 256, 110, "q3_K" },
    { 12, 256, 144, "q4_K" },   { 13, 256, 176, "q5_K" },   { 14, 256, 210, "q6_K" },
    { 15, 256, 292, "q8_K" },   { 16, 256, 66, "iq2_xxs" }, { 17, 256, 74, "iq2_xs" },
    { 18, 256, 98, "iq3_xxs" }, { 19, 256, 50, "iq1_s" },   { 20, 32, 18, "iq4_nl" },
    { 21, 256, 110, "iq3_s" },  { 22, 256, 82, "iq2_s" },   { 23, 256, 136, "iq4_xs" },
    { 24, 1, 1, "i8" },         { 25, 1, 2, "i16" },        { 26, 1, 4, "i32" },
    { 27, 1, 8, "i64" },        { 28, 1, 8, "f64" },        { 29, 256, 56, "iq1_m" },
    { 30, 1, 2, "bf16" },       { 34, 256, 54, "tq1_0" },   { 35, 256, 66, "tq2_0" },
    { 39, 32, 17, "mxfp4" },    { 40, 64, 36, "nvfp4" },    { 41, 128, 18, "q1_0" },
    { 42, 64, 18, "q2_0" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_assert_cmpstr (kvasir_type_get_name (known[i].type), ==, known[i].name);
      g_assert_cmpint (kvasir_type_get_block_len (known[i].type), ==, known[i].length);
      g_assert_cmpuint (kvasir_type_get_block_bytes (known[i].type), ==, (gsize) known[i].bytes);
      g_assert_cmpuint (kvasir_type_get_row_bytes (known[i].type, 3 * known[i].length), ==,
                        3 * (gsize) known[i].bytes);
    }
}

static void
test_removed_types (void)
{
  static const int removed[] = { -1, 4, 5, 31, 32, 33, 36, 37, 38, KVASIR_N_TYPES, 1 << 30 };

  for (gsize i = 0; i < G_N_ELEMENTS (removed); i++)
    {
      g_assert_null (kvasir_type_get_name (removed[i]));
      g_assert_cmpint (kvasir_type_get_block_len (removed[i]), ==, 0);
      g_assert_cmpuint (kvasir_type_get_row_bytes (removed[i], 256), ==, 0);
    }
}

static void
test_names (void)
{
  g_assert_cmpstr (kvasir_op_get_name (KVASIR_OP_MUL_MAT), ==, "mul_mat");
  for (int op = 0; op < KVASIR_N_OPS; op++)
    g_assert_nonnull (kvasir_op_get_name ((KvasirOp) op));
  g_assert_null (kvasir_op_get_name (KVASIR_N_OPS));
  g_assert_cmpstr (kvasir_status_get_text (KVASIR_STATUS_NO_MEMORY), ==, "not enough memory");
  for (int status = KVASIR_STATUS_OK; status <= KVASIR_STATUS_FAILED; status++)
    g_assert_cmpstr (kvasir_status_get_text ((KvasirStatus) status), !=, "unknown status");
}

typedef struct
{
  gint32 type, direction, n_elements, n_bytes;
} Header;

/* What a record is about, and how many there are of each. */
enum
{
  TO_FLOAT,
  FROM_FLOAT,
  TO_DIGEST /* a SHA-256 in place of the floats */
};
static const int n_records[] = { 27, 7, 12 };

typedef void (*RecordFn) (const Header *header,
                          const float *floats,
                          const guint8 *blocks,
                          const KvasirCpuKernels *kernels);

static void
for_each_record (RecordFn fn, int direction)
{
  g_autofree char *contents = NULL;
  gsize length, at = 0;
  int n = 0;

  g_assert_true (g_file_get_contents (KVASIR_TEST_VECTORS, &contents, &length, NULL));
  while (at < length)
    {
      Header header;
      memcpy (&header, contents + at, sizeof header);
      at += sizeof header;
      gsize float_bytes =
          header.direction == TO_DIGEST ? 32 : (gsize) header.n_elements * sizeof (float);
      g_autofree float *floats = g_memdup2 (contents + at, float_bytes);
      g_autofree guint8 *blocks = g_memdup2 (contents + at + float_bytes, (gsize) header.n_bytes);
      at += float_bytes + (gsize) header.n_bytes;
      if (header.direction != direction)
        continue;
      for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
        fn (&header, floats, blocks, kvasir_cpu_isa_get_kernels (*isa));
      n++;
    }
  g_assert_cmpint (n, ==, n_records[direction]);
}

/* Where the order of the products is the package's, so that every bit is. */
static gboolean
is_exact (int type)
{
  return type >= KVASIR_TYPE_TQ1_0 || type == KVASIR_TYPE_IQ1_M ||
         (type >= KVASIR_TYPE_IQ2_XXS && type < KVASIR_TYPE_IQ4_XS && type != KVASIR_TYPE_IQ4_NL);
}

static void
compare_to_float (const Header *header,
                  const float *floats,
                  const guint8 *blocks,
                  const KvasirCpuKernels *kernels)
{
  g_autofree float *out = g_new (float, (gsize) header->n_elements);

  kernels->to_float[header->type](blocks, out, header->n_elements);
  if (is_exact (header->type))
    g_assert_cmpmem (out, (gsize) header->n_elements * 4, floats, (gsize) header->n_elements * 4);
  /* The package multiplies in another order for some types: one rounding apart. */
  for (int i = 0; i < header->n_elements; i++)
    g_assert_cmpfloat_with_epsilon (out[i], floats[i], 1e-6f * fabsf (floats[i]) + 1e-7f);
}

static void
test_to_float (void)
{
  for_each_record (compare_to_float, TO_FLOAT);
}

static void
compare_digest (const Header *header,
                const float *digest,
                const guint8 *blocks,
                const KvasirCpuKernels *kernels)
{
  g_autofree float *out = g_new (float, (gsize) header->n_elements);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 found[32];
  gsize length = sizeof found;

  kernels->to_float[header->type](blocks, out, header->n_elements);
  g_checksum_update (checksum, (guchar *) out, (gssize) header->n_elements * 4);
  g_checksum_get_digest (checksum, found, &length);
  if (memcmp (found, digest, sizeof found) != 0)
    g_test_message ("%s differs", kvasir_type_get_name (header->type));
  g_assert_cmpmem (found, sizeof found, digest, sizeof found);
}

/* All points of the lattices, all scales of NVFP4, zeros and the largest scale. */
static void
test_every_point (void)
{
  for_each_record (compare_digest, TO_DIGEST);
}

static void
compare_from_float (const Header *header,
                    const float *floats,
                    const guint8 *blocks,
                    const KvasirCpuKernels *kernels)
{
  g_autofree guint8 *out = g_malloc0 ((gsize) header->n_bytes);

  kernels->from_float[header->type](floats, out, header->n_elements);
  g_assert_cmpmem (out, (gsize) header->n_bytes, blocks, (gsize) header->n_bytes);
}

static void
test_from_float (void)
{
  for_each_record (compare_from_float, FROM_FLOAT);
}

/* One block by hand: peak -2 gives d0 = 2 / 127, so x / d0 are multiples of 63.5. */
static void
test_iq4_nl_by_hand (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      const KvasirCpuKernels *kernels = kvasir_cpu_isa_get_kernels (*isa);
      float row[32] = { -2, 1, 0, -1, 0.5f };
      KvasirBlockIq4Nl block;

      kernels->from_float[KVASIR_TYPE_IQ4_NL](row, &block, 32);
      /* -127: entry 0; 63.5: nearest is 69, entry 13; 0: 1, entry 8; -63.5: -65, entry 3;
       * 31.75: nearest is 38, entry 11 (6.25 away; 25 is 6.75 away). */
      g_assert_cmpint (block.qs[0], ==, 0 | 8 << 4);
      g_assert_cmpint (block.qs[1], ==, 13 | 8 << 4);
      g_assert_cmpint (block.qs[2], ==, 8 | 8 << 4);
      g_assert_cmpint (block.qs[3], ==, 3 | 8 << 4);
      g_assert_cmpint (block.qs[4], ==, 11 | 8 << 4);
      double qx = 4 * 127 * 2 + 69 + 65 + 0.25 * 38 * 0.5;
      double qq = 4 * 127 * 127 + 69 * 69 + 65 * 65 + 0.25 * 38 * 38;
      g_assert_cmpfloat_with_epsilon (kvasir_f16_to_f32 (block.d), qx / qq, 1e-5);
    }
}

/* What a broken model makes must still be defined. */
static void
test_from_float_with_nan (void)
{
  static const KvasirType types[] = { KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                      KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };
  float row[32] = { 1, NAN, -INFINITY, 1e-40f, INFINITY };
  guint8 block[64];

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      kvasir_cpu_isa_get_kernels (*isa)->from_float[types[i]](row, block, 32);
}

static void
test_half_rounding (void)
{
  /* Every half survives; halfway values go to the even neighbour. */
  for (guint half = 0; half < 0x7c00; half++)
    {
      float value = kvasir_f16_to_f32 ((guint16) half);
      float next = kvasir_f16_to_f32 ((guint16) (half + 1));
      guint even = half % 2 == 0 ? half : half + 1;
      g_assert_cmpuint (kvasir_f32_to_f16 (value), ==, half);
      g_assert_cmpuint (kvasir_f32_to_f16 (-value), ==, half | 0x8000);
      if (half < 0x7bff)
        g_assert_cmpuint (kvasir_f32_to_f16 ((value + next) / 2), ==, even);
    }
  g_assert_cmpuint (kvasir_f32_to_f16 (65519), ==, 0x7bff);
  g_assert_cmpuint (kvasir_f32_to_f16 (65520), ==, 0x7c00);
  g_assert_cmpuint (kvasir_f32_to_f16 (INFINITY), ==, 0x7c00);
  g_assert_true (isnan (kvasir_f16_to_f32 (kvasir_f32_to_f16 (NAN))));

  guint16 bf16;
  float value = NAN;
  kvasir_scalar_from_float[KVASIR_TYPE_BF16](&value, &bf16, 1);
  kvasir_scalar_to_float[KVASIR_TYPE_BF16](&bf16, &value, 1);
  g_assert_true (isnan (value));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/types/sizes-are-those-of-the-format", test_type_sizes);
  g_test_add_func ("/backends/types/removed-ids-are-refused", test_removed_types);
  g_test_add_func ("/backends/types/operations-and-states-have-names", test_names);
  g_test_add_func ("/backends/rows/to-float-equals-gguf-package", test_to_float);
  g_test_add_func ("/backends/rows/every-point-equals-gguf-package", test_every_point);
  g_test_add_func ("/backends/rows/from-float-equals-gguf-package", test_from_float);
  g_test_add_func ("/backends/rows/iq4-nl-block-by-hand", test_iq4_nl_by_hand);
  g_test_add_func ("/backends/rows/from-float-survives-nan", test_from_float_with_nan);
  g_test_add_func ("/backends/rows/halves-round-to-even", test_half_rounding);
  return g_test_run ();
}
