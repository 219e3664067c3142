/* Operations that measure a row first, and CONCAT, against their formulas in double: odd lengths,
 * gaps between rows. */
#include <math.h>
#include <string.h>

#include "rig.h"

#define EPS 1e-3f

static const gint64 lengths[] = { 2, 7, 8, 16, 31, 64, 100, 577, 1000 };

typedef struct
{
  KvasirTensor *s0, *s1, *s2;
} Sources;

/* One row in double. */
typedef void (*FormulaFn) (const double *a, const double *b, const double *c, int n, double *y);

static double
get_mean (const double *a, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += a[i];
  return sum / n;
}

static double
get_power (const double *a, double mean, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += (a[i] - mean) * (a[i] - mean);
  return sum;
}

static void
norm (const double *a, const double *b, const double *c, int n, double *y)
{
  double mean = get_mean (a, n), variance = get_power (a, mean, n) / n;

  for (int i = 0; i < n; i++)
    y[i] = (a[i] - mean) / sqrt (variance + EPS) * b[i] + c[i];
}

static void
l2_norm (const double *a, const double *b, const double *c, int n, double *y)
{
  for (int i = 0; i < n; i++)
    y[i] = a[i] / sqrt (get_power (a, 0, n) + EPS);
}

static void
match_norm (const double *a, const double *b, const double *c, int n, double *y)
{
  double own = MAX (get_power (a, 0, n), EPS), wanted = MAX (get_power (b, 0, n), EPS);

  for (int i = 0; i < n; i++)
    y[i] = a[i] * sqrt (wanted / own);
}

static void
softmax (const double *a, const double *b, const double *c, int n, double *y)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += exp (a[i]);
  for (int i = 0; i < n; i++)
    y[i] = exp (a[i]) / sum;
}

static void
shares (const double *a, const double *b, const double *c, int n, double *y)
{
  double sum = get_mean (a, n) * n;

  for (int i = 0; i < n; i++)
    y[i] = a[i] / MAX (sum, EPS);
}

static void
clamp (const double *a, const double *b, const double *c, int n, double *y)
{
  for (int i = 0; i < n; i++)
    y[i] = CLAMP (a[i], -0.25, 0.5);
}

static void
gauss_relu (const double *a, const double *b, const double *c, int n, double *y)
{
  double mean = get_mean (a, n), deviation = sqrt (get_power (a, mean, n) / (n - 1));

  for (int i = 0; i < n; i++)
    y[i] = MAX (0, a[i] - (mean + 0.7 * deviation));
}

static double *
get_row (const KvasirTensor *tensor, gint64 n, int j, int k)
{
  double *row = g_new0 (double, (gsize) n);
  const char *data = tensor ? tensor->data : NULL;

  for (gint64 i = 0; data != NULL && i < n; i++)
    row[i] = *(const float *) (const void *) (data + i * 4 + (gsize) j * tensor->nb[1] +
                                              (gsize) k * tensor->nb[2]);
  return row;
}

static void
compare (const KvasirTensor *y, const Sources *s, FormulaFn formula)
{
  gsize n = (gsize) y->ne[0];
  g_autofree double *expected = g_new (double, n);

  for (int k = 0; k < y->ne[2]; k++)
    for (int j = 0; j < y->ne[1]; j++)
      {
        g_autofree double *a = get_row (s->s0, y->ne[0], j, k);
        gboolean is_row = s->s1 != NULL && s->s1->ne[1] > 1;
        g_autofree double *b = get_row (s->s1, y->ne[0], is_row ? j : 0, is_row ? k : 0);
        g_autofree double *c = get_row (s->s2, y->ne[0], 0, 0);
        g_autofree double *got = get_row (y, y->ne[0], j, k);
        formula (a, b, c, (int) n, expected);
        for (gsize i = 0; i < n; i++)
          g_assert_cmpfloat_with_epsilon (got[i], expected[i], 3e-6 * (1 + fabs (expected[i])));
      }
}

/* Rows of n out of longer ones, 5 of them out of 6. */
static KvasirTensor *
random_view (Rig *rig, GRand *rand, gint64 n)
{
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, n + 3, 6, 3);

  x->ne[0] = n;
  x->ne[1] = 5;
  return x;
}

/* Sums of both signs would be as inexact as they are small. */
static void
make_positive (KvasirTensor *x)
{
  float *values = x->data;

  for (gsize i = 0; i < x->nb[3] / sizeof (float); i++)
    values[i] = fabsf (values[i]);
}

/* Rows that are as good as zero, in one of the planes: there the small number under the division
 * counts. */
static void
make_tiny (KvasirTensor *x, gsize plane)
{
  gsize n = x->nb[2] / sizeof (float);
  float *values = (float *) x->data + plane * n;

  for (gsize i = 0; i < n; i++)
    values[i] *= 1e-4f;
}

static void
check (KvasirOp op, FormulaFn formula, int n_vectors, gboolean has_second)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (lengths); i++)
      {
        gint64 n = lengths[i];
        g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) n);
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        Sources s = { random_view (rig, rand, n), NULL, NULL };
        if (n_vectors > 0 || has_second)
          s.s1 = has_second ? random_view (rig, rand, n)
                            : rig_random (rig, rand, KVASIR_TYPE_F32, n, 1, 1);
        if (n_vectors > 1)
          s.s2 = rig_random (rig, rand, KVASIR_TYPE_F32, n, 1, 1);
        KvasirTensor *y = rig_node (rig, op, (gint64[]){ n, 5, 3 }, s.s0, s.s1, s.s2);
        y->params.norm.eps = EPS;
        make_tiny (s.s0, 0);
        if (has_second)
          make_tiny (s.s1, 1);
        if (op == KVASIR_OP_SHARES)
          make_positive (s.s0);
        if (op == KVASIR_OP_CLAMP)
          y->params.clamp.lo = -0.25f, y->params.clamp.hi = 0.5f;
        if (op == KVASIR_OP_GAUSS_RELU)
          y->params.gauss.z = 0.7f;
        g_assert_cmpint (rig_compute (rig, 3, 0), ==, KVASIR_STATUS_OK);
        compare (y, &s, formula);
      }
}

static void
plain_norm (const double *a, const double *b, const double *c, int n, double *y)
{
  g_autofree double *ones = g_new (double, (gsize) n);

  for (int i = 0; i < n; i++)
    ones[i] = 1;
  norm (a, ones, c, n, y);
}

static void
test_norm (void)
{
  check (KVASIR_OP_NORM, plain_norm, 0, FALSE);
  check (KVASIR_OP_NORM, norm, 1, FALSE);
  check (KVASIR_OP_NORM, norm, 2, FALSE);
}

static void
test_lengths (void)
{
  check (KVASIR_OP_L2_NORM, l2_norm, 0, FALSE);
  check (KVASIR_OP_MATCH_NORM, match_norm, 0, TRUE);
}

static void
test_softmax (void)
{
  check (KVASIR_OP_SOFTMAX, softmax, 0, FALSE);
}

static void
test_shares (void)
{
  check (KVASIR_OP_SHARES, shares, 0, FALSE);
}

static void
test_clamp (void)
{
  check (KVASIR_OP_CLAMP, clamp, 0, FALSE);
  check (KVASIR_OP_GAUSS_RELU, gauss_relu, 0, FALSE);
}

/* Large logits may not overflow, and closed ones count nothing. */
static void
test_softmax_extremes (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    {
      g_autoptr (Rig) rig = rig_new (*isa, 1);
      KvasirTensor *x = rig_tensor (rig, KVASIR_TYPE_F32, 37, 1, 1);
      KvasirTensor *y = rig_node (rig, KVASIR_OP_SOFTMAX, (gint64[]){ 37, 1, 1 }, x, NULL, NULL);
      float *in = x->data, *out = y->data;
      for (int i = 0; i < 37; i++)
        in[i] = i == 3 || i == 35 ? 5000 : i % 2 ? -INFINITY : -5000;
      g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
      for (int i = 0; i < 37; i++)
        g_assert_cmpfloat_with_epsilon (out[i], i == 3 || i == 35 ? 0.5 : 0, 1e-6);
    }
}

/* Element (i, j, k) of the whole is that of a part. */
static void
check_concat (KvasirCpuIsa isa, int dim)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *a = random_view (rig, rand, 35), *b = random_view (rig, rand, 35);
  gint64 ne[3] = { 35, 5, 3 };

  b->ne[dim] -= 1;
  ne[dim] += ne[dim] - 1;
  KvasirTensor *y = rig_node (rig, KVASIR_OP_CONCAT, ne, a, b, NULL);
  y->params.concat.dim = dim;
  g_assert_cmpint (rig_compute (rig, 3, 0), ==, KVASIR_STATUS_OK);
  for (int k = 0; k < ne[2]; k++)
    for (int j = 0; j < ne[1]; j++)
      for (int i = 0; i < ne[0]; i++)
        {
          int at[3] = { i, j, k };
          const KvasirTensor *part = at[dim] < a->ne[dim] ? a : b;
          at[dim] -= part == b ? (int) a->ne[dim] : 0;
          g_autofree double *row = get_row (part, part->ne[0], at[1], at[2]);
          g_autofree double *got = get_row (y, ne[0], j, k);
          g_assert_cmpfloat (got[i], ==, row[at[0]]);
        }
}

static void
test_concat (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int dim = 0; dim < 3; dim++)
      check_concat (*isa, dim);
}

static void
test_unsupported (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirTensor *a = rig_tensor (rig, KVASIR_TYPE_F32, 64, 4, 1);
  KvasirTensor *b = rig_tensor (rig, KVASIR_TYPE_F32, 63, 4, 1);
  KvasirTensor *node = rig_node (rig, KVASIR_OP_NORM, (gint64[]){ 64, 4, 1 }, a, b, NULL);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  g_assert_false (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_MATCH_NORM;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->src[1] = NULL;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->op = KVASIR_OP_CONCAT;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->src[1] = b;
  g_assert_false (vtable->supports_op (rig->device, node));
  node->ne[0] = 127;
  g_assert_true (vtable->supports_op (rig->device, node));
  node->params.concat.dim = 4;
  g_assert_false (vtable->supports_op (rig->device, node));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/norm/norm-with-weight-and-bias", test_norm);
  g_test_add_func ("/backends/norm/l2-norm-and-match-norm", test_lengths);
  g_test_add_func ("/backends/norm/softmax", test_softmax);
  g_test_add_func ("/backends/norm/softmax-of-extreme-logits", test_softmax_extremes);
  g_test_add_func ("/backends/norm/shares", test_shares);
  g_test_add_func ("/backends/norm/clamp-and-gauss-relu", test_clamp);
  g_test_add_func ("/backends/norm/concat-along-any-extent", test_concat);
  g_test_add_func ("/backends/norm/impossible-operands-are-not-supported", test_unsupported);
  return g_test_run ();
}
