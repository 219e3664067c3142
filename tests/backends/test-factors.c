/* Rows times a factor that depends on their token: TEMPERATURE, and MUL that repeats both sides,
 * against their formulas in double. */
#include <math.h>

#include "rig.h"

#define LENGTH 8192
#define SCALE 0.1f

static float
get (const KvasirTensor *tensor, gint64 i, gint64 j, gint64 k)
{
  const char *data = tensor->data;

  return *(const float *) (const void *) (data + (gsize) i * 4 + (gsize) j * tensor->nb[1] +
                                          (gsize) k * tensor->nb[2]);
}

/* Around the places where the factor grows, and at the end of what a position can be. */
static const gint32 positions[] = { 0,      LENGTH - 2,     LENGTH - 1,
                                    LENGTH, 2 * LENGTH - 2, 2 * LENGTH - 1,
                                    100000, G_MAXINT32 };

static void
test_temperature (gconstpointer data)
{
  const gint32 offset = GPOINTER_TO_INT (data);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      const gint64 n = G_N_ELEMENTS (positions);
      g_autoptr (GRand) rand = g_rand_new_with_seed (9);
      g_autoptr (Rig) rig = rig_new (*isa, 2);
      KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 21, 3, n);
      KvasirTensor *at = rig_tensor (rig, KVASIR_TYPE_I32, n, 1, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_TEMPERATURE, (gint64[]){ 21, 3, n }, x, at, NULL);

      memcpy (at->data, positions, sizeof positions);
      y->params.temperature = (KvasirTemperatureParams){ LENGTH, SCALE, offset };
      g_assert_cmpint (rig_compute (rig, (int) n, 0), ==, KVASIR_STATUS_OK);
      for (gint64 k = 0; k < n; k++)
        for (gint64 j = 0; j < 3; j++)
          for (gint64 i = 0; i < 21; i++)
            {
              double whole = floor (((double) positions[k] + offset) / LENGTH);
              double expected = get (x, i, j, k) * (1 + SCALE * log (1 + whole));
              g_assert_cmpfloat_with_epsilon (get (y, i, j, k), expected, 1e-6);
            }
    }
}

/* [d, 1, n] and [1, u, n] make [d, u, n]. */
static void
test_spread (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (5);
      g_autoptr (Rig) rig = rig_new (*isa, 2);
      KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 35, 1, 6);
      KvasirTensor *factors = rig_random (rig, rand, KVASIR_TYPE_F32, 1, 4, 6);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL, (gint64[]){ 35, 4, 6 }, x, factors, NULL);

      g_assert_cmpint (rig_compute (rig, 6, 0), ==, KVASIR_STATUS_OK);
      for (gint64 k = 0; k < 6; k++)
        for (gint64 j = 0; j < 4; j++)
          for (gint64 i = 0; i < 35; i++)
            g_assert_cmpfloat (get (y, i, j, k), ==, get (x, i, 0, k) * get (factors, 0, j, k));
    }
}

static void
test_unsupported (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 64, 2, 4);
  KvasirTensor *at = rig_tensor (rig, KVASIR_TYPE_I32, 4, 1, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_TEMPERATURE, (gint64[]){ 64, 2, 4 }, x, at, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  g_assert_false (vtable->supports_op (rig->device, y));
  y->params.temperature = (KvasirTemperatureParams){ LENGTH, SCALE, 1 };
  g_assert_true (vtable->supports_op (rig->device, y));
  at->ne[0] = 3;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->src[1] = NULL;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->op = KVASIR_OP_MUL;
  y->src[1] = x;
  g_assert_true (vtable->supports_op (rig->device, y));
  x->ne[1] = 3;
  g_assert_false (vtable->supports_op (rig->device, y));
  x->ne[1] = 1;
  g_assert_true (vtable->supports_op (rig->device, y));
  x->ne[0] = 1;
  g_assert_false (vtable->supports_op (rig->device, y));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/backends/factors/temperature-grows-with-positions", GINT_TO_POINTER (0),
                        test_temperature);
  g_test_add_data_func ("/backends/factors/temperature-grows-one-earlier", GINT_TO_POINTER (1),
                        test_temperature);
  g_test_add_func ("/backends/factors/both-sides-repeated", test_spread);
  g_test_add_func ("/backends/factors/impossible-operands-are-not-supported", test_unsupported);
  return g_test_run ();
}
