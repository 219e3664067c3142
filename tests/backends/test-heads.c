/* Products with a matrix per head against sums in double, inputs and results with gaps. */
#include "rig.h"

static const KvasirType types[] = {
  KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,   KVASIR_TYPE_Q8_0,
  KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL, KVASIR_TYPE_Q6_K,
};

typedef struct
{
  gint64 k, rows, n_heads, n_tokens;
} Shape;

/* A tensor whose heads lie apart by more than they hold, in front of and behind other values. */
static KvasirTensor *
make_view (Rig *rig, KvasirTensor *whole, gint64 ne0)
{
  KvasirTensor *view = g_memdup2 (whole, sizeof *whole);

  view->op = KVASIR_OP_VIEW;
  view->src[0] = view->view_src = whole;
  view->view_offset = 8 * sizeof (float);
  view->data = (char *) whole->data + view->view_offset;
  view->ne[0] = ne0;
  g_ptr_array_add (rig->tensors, view);
  return view;
}

static float
get (const KvasirTensor *t, gint64 i, gint64 head, gint64 token)
{
  const char *bytes = t->data;

  return *(const float *) (const void *) (bytes + i * 4 + head * (gint64) t->nb[1] +
                                          token * (gint64) t->nb[2]);
}

/* Mean square error as a share of the mean square. */
static double
get_error (const KvasirTensor *y, const float *w, const KvasirTensor *x, const Shape *s)
{
  double error = 0, power = 0;

  for (gint64 t = 0; t < s->n_tokens; t++)
    for (gint64 head = 0; head < s->n_heads; head++)
      for (gint64 r = 0; r < s->rows; r++)
        {
          double sum = 0, distance;
          for (gint64 i = 0; i < s->k; i++)
            sum += (double) w[(head * s->rows + r) * s->k + i] * get (x, i, head, t);
          distance = sum - get (y, r, head, t);
          error += distance * distance;
          power += sum * sum;
        }
  return error / power;
}

static double
get_bound (KvasirType type, gint64 n_tokens)
{
  if (type == KVASIR_TYPE_F32 || type == KVASIR_TYPE_F16 || type == KVASIR_TYPE_BF16)
    return 1e-10;
  /* Activations are rounded to sixteen bits, in longer steps to eight. */
  return n_tokens <= 4 ? 1e-7 : 3e-4;
}

static void
check_heads (KvasirCpuIsa isa, KvasirType type, GRand *rand, const Shape *s)
{
  g_autoptr (Rig) rig = rig_new (isa, 2);
  KvasirTensor *w = rig_random (rig, rand, type, s->k, s->rows, s->n_heads);
  KvasirTensor *whole = rig_random (rig, rand, KVASIR_TYPE_F32, s->k + 16, s->n_heads, s->n_tokens);
  KvasirTensor *x = make_view (rig, whole, s->k);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT,
                              (gint64[]){ s->rows + 3, s->n_heads, s->n_tokens }, w, x, NULL);
  g_autofree float *weights = rig_get_floats (w);

  y->ne[0] = s->rows;
  g_assert_cmpint (rig_compute (rig, (int) s->n_tokens, 0), ==, KVASIR_STATUS_OK);
  g_assert_cmpfloat (get_error (y, weights, x, s), <, get_bound (type, s->n_tokens));
  for (gint64 t = 0; t < s->n_tokens; t++)
    for (gint64 i = s->rows; i < s->rows + 3; i++)
      g_assert_cmpfloat (get (y, i, s->n_heads - 1, t), ==, 0);
}

static void
test_heads (void)
{
  static const Shape shapes[] = {
    { 256, 70, 4, 1 }, { 256, 16, 3, 4 }, { 256, 33, 2, 9 }, { 512, 130, 2, 70 }
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
        check_heads (*isa, types[t], rand, &shapes[i]);
}

/* Widths of small models, where nothing fills a vector. */
static void
test_narrow (void)
{
  static const Shape shapes[] = { { 16, 32, 4, 1 }, { 32, 16, 4, 5 }, { 20, 7, 3, 2 },
                                  { 3, 5, 2, 6 },   { 32, 16, 1, 3 }, { 24, 40, 4, 200 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize t = 0; t < 3; t++)
      for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
        check_heads (*isa, types[t], rand, &shapes[i]);
}

static void
test_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirTensor *w = rig_random (rig, rand, KVASIR_TYPE_F16, 32, 16, 4);
  KvasirTensor *x = rig_random (rig, rand, KVASIR_TYPE_F32, 32, 4, 3);
  KvasirTensor *bias = rig_random (rig, rand, KVASIR_TYPE_F32, 16, 1, 1);
  KvasirTensor *y = rig_node (rig, KVASIR_OP_MUL_MAT, (gint64[]){ 16, 4, 3 }, w, x, NULL);

  g_assert_true (vtable->supports_op (rig->device, y));
  y->src[2] = bias;
  g_assert_false (vtable->supports_op (rig->device, y));
  y->src[2] = NULL;
  w->ne[2] = 3;
  g_assert_false (vtable->supports_op (rig->device, y));
  w->ne[2] = 1;
  g_assert_false (vtable->supports_op (rig->device, y));
  w->ne[2] = 4;
  y->ne[2] = 2;
  g_assert_false (vtable->supports_op (rig->device, y));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/heads/products-equal-sums", test_heads);
  g_test_add_func ("/backends/heads/narrow-heads", test_narrow);
  g_test_add_func ("/backends/heads/other-shapes-are-refused", test_refused);
  return g_test_run ();
}
