/* The Walsh-Hadamard transform against its matrix: element (i, j) of the natural order is
 * (-1)^(number of ones in i & j) / sqrt (n). */
#include <math.h>

#include "rig.h"

static const int sizes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };

static double
get_element (int i, int j, int n)
{
  return (__builtin_popcount ((unsigned) (i & j)) % 2 != 0 ? -1 : 1) / sqrt (n);
}

static KvasirTensor *
add_transform (Rig *rig, KvasirTensor *x, int n)
{
  KvasirTensor *y =
      rig_node (rig, KVASIR_OP_HADAMARD, (gint64[]){ x->ne[0], x->ne[1], x->ne[2] }, x, NULL, NULL);

  y->params.hadamard.n = n;
  return y;
}

static const float *
get_row (const KvasirTensor *t, int row)
{
  const char *bytes = t->data;

  return (const float *) (const void *) (bytes + (gsize) (row % t->ne[1]) * t->nb[1] +
                                         (gsize) (row / t->ne[1]) * t->nb[2]);
}

/* Three blocks a row, rows with gaps between them, and the same again in place. */
static void
check_blocks (KvasirCpuIsa isa, int n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) n);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 3 * n + 5, 4, 3);
  x->ne[0] = 3 * n;
  KvasirTensor *y = add_transform (rig, x, n);
  KvasirTensor *back = rig_view_node (rig, KVASIR_OP_HADAMARD, add_transform (rig, x, n));
  back->src[0] = back->view_src;
  back->params.hadamard.n = n;

  g_assert_cmpint (rig_compute (rig, 3, 0), ==, KVASIR_STATUS_OK);
  for (int row = 0; row < 12; row++)
    for (int i = 0; i < 3 * n; i++)
      {
        const float *block = get_row (x, row) + i / n * n;
        double sum = 0;
        for (int j = 0; j < n; j++)
          sum += get_element (i % n, j, n) * block[j];
        g_assert_cmpfloat_with_epsilon (get_row (y, row)[i], sum, 2e-6);
        /* The matrix is its own inverse. */
        g_assert_cmpfloat_with_epsilon (get_row (back, row)[i], block[i % n], 2e-6);
      }
}

static void
test_blocks (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
      check_blocks (*isa, sizes[i]);
}

static void
test_refused (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 96, 2, 1);

  for (int n = -1; n <= 128; n++)
    g_assert_cmpint (rig->device->vtable->supports_op (rig->device, add_transform (rig, x, n)), ==,
                     n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || n == 32);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/hadamard/blocks-equal-the-matrix", test_blocks);
  g_test_add_func ("/backends/hadamard/other-sizes-are-refused", test_refused);
  return g_test_run ();
}
