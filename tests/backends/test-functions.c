/* Functions of single elements against their formulas in double, with odd lengths and gaps between
 * rows. */
#include <math.h>

#include "lengths.h"

static double
apply (KvasirUnary kind, double x)
{
  switch (kind)
    {
    case KVASIR_UNARY_SILU:
      return x / (1 + exp (-x));
    case KVASIR_UNARY_GELU:
      return 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
    case KVASIR_UNARY_RELU:
      return MAX (x, 0);
    case KVASIR_UNARY_SIGMOID:
      return 1 / (1 + exp (-x));
    case KVASIR_UNARY_TANH:
      return tanh (x);
    case KVASIR_UNARY_GELU_ERF:
      return 0.5 * x * erfc (-x / sqrt (2));
    case KVASIR_UNARY_RELU_SQR:
      return MAX (x, 0) * MAX (x, 0);
    case KVASIR_UNARY_SOFTPLUS:
      return MAX (x, 0) + log1p (exp (-fabs (x)));
    case KVASIR_UNARY_EXP:
      return exp (x);
    default:
      g_assert_not_reached ();
    }
}

/* Rows of n out of longer ones. */
static KvasirTensor *
random_view (Setup *setup)
{
  KvasirTensor *x = random_floats (setup, setup->n + 5, 4, 2);

  x->ne[0] = setup->n;
  return x;
}

/* Values that fill the functions' interesting part and some far outside. */
static void
spread (KvasirTensor *x, float far)
{
  float *values = x->data;

  for (gint64 i = 0; i < (gint64) (x->nb[3] / sizeof (float)); i++)
    values[i] *= i % 7 == 0 ? far : 5;
}

static KvasirTensor *
unary_node (Setup *setup, KvasirUnary kind, KvasirTensor *x, KvasirTensor *up)
{
  KvasirTensor *node = rig_node (setup->rig, up ? KVASIR_OP_GLU : KVASIR_OP_UNARY,
                                 (gint64[]){ setup->n, 4, 2 }, x, up, NULL);

  node->params.unary.kind = (gint32) kind;
  return node;
}

static void
check_unary_kind (Setup *setup, KvasirUnary kind)
{
  KvasirTensor *x = random_view (setup), *up = random_view (setup);
  KvasirTensor *y = unary_node (setup, kind, x, NULL), *z = unary_node (setup, kind, x, up);

  spread (x, kind == KVASIR_UNARY_EXP ? 80 : 100);
  compute_setup (setup);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 4; j++)
      for (gint64 i = 0; i < setup->n; i++)
        {
          double expected = apply (kind, get_float (x, i, j, k));
          assert_near (get_float (y, i, j, k), expected);
          assert_near (get_float (z, i, j, k), expected * get_float (up, i, j, k));
        }
}

static void
check_unary (Setup *setup)
{
  for (int kind = KVASIR_UNARY_SILU; kind <= KVASIR_UNARY_EXP; kind++)
    check_unary_kind (setup, (KvasirUnary) kind);
}

static void
test_unary (void)
{
  for_each_isa_and_length (check_unary);
}

static void
check_scale (Setup *setup)
{
  KvasirTensor *x = random_view (setup);
  KvasirTensor *y =
      rig_node (setup->rig, KVASIR_OP_SCALE, (gint64[]){ setup->n, 4, 2 }, x, NULL, NULL);

  y->params.scale.scale = 0.37f;
  y->params.scale.bias = -2;
  compute_setup (setup);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 4; j++)
      for (gint64 i = 0; i < setup->n; i++)
        assert_near (get_float (y, i, j, k), get_float (x, i, j, k) * 0.37f - 2);
}

static void
test_scale (void)
{
  for_each_isa_and_length (check_scale);
}

static void
check_oai (Setup *setup)
{
  KvasirTensor *x = random_view (setup), *up = random_view (setup);
  KvasirTensor *y = unary_node (setup, KVASIR_GLU_OAI, x, up);

  spread (x, 20);
  spread (up, 20);
  compute_setup (setup);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 4; j++)
      for (gint64 i = 0; i < setup->n; i++)
        {
          double g = MIN (get_float (x, i, j, k), 7), u = CLAMP (get_float (up, i, j, k), -7, 7);
          assert_near (get_float (y, i, j, k), g / (1 + exp (-1.702 * g)) * (u + 1));
        }
}

static void
test_oai (void)
{
  for_each_isa_and_length (check_oai);
}

/* Small results of functions that fall off keep their digits. */
static void
test_tails (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 32, 1, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_UNARY, (gint64[]){ 32, 1, 1 }, x, NULL, NULL);
      for (int i = 0; i < 32; i++)
        ((float *) x->data)[i] = -0.25f * (float) i;
      y->params.unary.kind = KVASIR_UNARY_SOFTPLUS;
      g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
      for (int i = 0; i < 32; i++)
        {
          double expected = log1p (exp (-0.25 * i));
          g_assert_cmpfloat_with_epsilon (get_float (y, i, 0, 0), expected, 1e-6 * expected);
        }
    }
}

static void
test_nan_survives (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 32, 1, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_UNARY, (gint64[]){ 32, 1, 1 }, x, NULL, NULL);
      y->params.unary.kind = KVASIR_UNARY_SIGMOID;
      ((float *) x->data)[5] = NAN;
      g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
      g_assert_true (isnan (get_float (y, 5, 0, 0)));
      g_assert_cmpfloat (get_float (y, 6, 0, 0), ==, 0.5f);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/functions/scale", test_scale);
  g_test_add_func ("/backends/functions/unary-and-glu", test_unary);
  g_test_add_func ("/backends/functions/glu-with-clamped-operands", test_oai);
  g_test_add_func ("/backends/functions/softplus-keeps-small-results", test_tails);
  g_test_add_func ("/backends/functions/nan-survives-functions", test_nan_survives);
  return g_test_run ();
}
