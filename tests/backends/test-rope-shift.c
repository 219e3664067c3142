/* Keys turned in their cache, against the formulas in double. Cells that don't move keep their
 * bytes, and so do elements of plain types that don't turn. */
#include <math.h>
#include <string.h>

#include "backends/cpu/rows.h"
#include "rig.h"
#include "turns.h"

enum
{
  N_HEADS = 8,
  N_CELLS = 64,
  N_STREAMS = 3,
  N_ALL = N_CELLS * N_STREAMS
};

typedef struct
{
  const TurnCase *c;
  KvasirRopeParams params;
  gsize width;
  KvasirTensor *cache, *shifts, *factors, *node;
} Problem;

static void
make_problem (Problem *p, Rig *rig, GRand *rand, const TurnCase *c, KvasirType type)
{
  p->c = c;
  p->params = c->params;
  p->width = (gsize) (c->head_dim * N_HEADS);
  p->cache = rig_random (rig, rand, type, (gint64) p->width, N_CELLS, N_STREAMS);
  p->shifts = rig_tensor (rig, KVASIR_TYPE_I32, N_ALL, 1, 1);
  for (int i = 0; i < N_ALL; i++)
    ((gint32 *) p->shifts->data)[i] = i % 5 == 0 ? 0
                                      : i < 100  ? -37
                                                 : g_rand_int_range (rand, -500, 500);
  p->factors = NULL;
  if (c->has_factors)
    p->factors = rig_tensor (rig, KVASIR_TYPE_F32, c->params.n_rot / 2, 1, 1);
  for (int i = 0; p->factors != NULL && i < c->params.n_rot / 2; i++)
    ((float *) p->factors->data)[i] = (float) g_rand_double_range (rand, 1, 8);
  p->node = rig_view_node (rig, KVASIR_OP_ROPE_SHIFT, p->cache);
  p->node->src[0] = p->cache;
  p->node->src[1] = p->shifts;
  p->node->src[2] = p->factors;
}

/* Each block of @n times the Walsh-Hadamard matrix, straight from its definition. */
static void
transform (double *row, gsize width, gsize n)
{
  g_autofree double *block = g_new (double, MAX (n, 1));

  for (gsize first = 0; n > 0 && first < width; first += n)
    {
      memcpy (block, row + first, n * sizeof *block);
      for (gsize i = 0; i < n; i++)
        {
          row[first + i] = 0;
          for (gsize j = 0; j < n; j++)
            row[first + i] += block[j] * (__builtin_popcountl (i & j) % 2 ? -1 : 1) / sqrt (n);
        }
    }
}

/* What the cache should hold, from what it holds now. */
static double *
get_expected (const Problem *p)
{
  g_autofree float *before = rig_get_floats (p->cache);
  const gint32 *shifts = p->shifts->data;
  const float *factors = p->factors ? p->factors->data : NULL;
  double magnitude = p->params.shift_scales ? turn_get_magnitude (&p->params) : 1;
  double *expected = g_new (double, p->width *N_ALL);

  for (gsize i = 0; i < p->width * N_ALL; i++)
    expected[i] = before[i];
  for (int cell = 0; cell < N_ALL; cell++)
    {
      double *row = expected + (gsize) cell * p->width, shift = shifts[cell];
      transform (row, p->width, (gsize) p->params.hadamard);
      for (int head = 0; head < N_HEADS; head++)
        turn_head (&p->params, factors, &shift, magnitude, row + head * p->c->head_dim);
      transform (row, p->width, (gsize) p->params.hadamard);
    }
  return expected;
}

static double
get_bound (KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_F32:
      return 1e-12;
    case KVASIR_TYPE_F16:
      return 1e-6;
    case KVASIR_TYPE_BF16:
      return 2e-5;
    case KVASIR_TYPE_Q8_0:
      return 1e-4;
    default:
      return 2e-2;
    }
}

static gboolean
is_turned (const Problem *p, int element)
{
  int at = element % p->c->head_dim;

  return at >= p->params.offset && at < p->params.offset + p->params.n_rot;
}

/* Bytes of rows that did not move, and of elements that do not turn. */
static void
check_untouched (const Problem *p, const guint8 *before)
{
  const gint32 *shifts = p->shifts->data;
  const guint8 *now = p->cache->data;
  gsize size = p->cache->nb[0];

  for (gsize cell = 0; cell < N_ALL; cell++)
    {
      gsize at = cell * p->cache->nb[1];
      if (shifts[cell] == 0 && !p->params.shift_scales)
        g_assert_cmpmem (now + at, p->cache->nb[1], before + at, p->cache->nb[1]);
      for (int i = 0; kvasir_type_get_block_len ((int) p->cache->type) == 1 && i < (int) p->width;
           i++)
        if (!is_turned (p, i))
          g_assert_cmpmem (now + at + (gsize) i * size, size, before + at + (gsize) i * size, size);
    }
}

static void
check_problem (Rig *rig, Problem *p)
{
  g_autofree double *expected = get_expected (p);
  g_autofree guint8 *before = g_memdup2 (p->cache->data, p->cache->nb[3]);

  p->node->params.rope = p->params;
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  g_autofree float *after = rig_get_floats (p->cache);
  g_assert_cmpfloat (rig_get_nmse_double (after, expected, p->width * N_ALL), <,
                     get_bound (p->cache->type));
  check_untouched (p, before);
}

static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                    KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                    KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };

static void
test_shift (gconstpointer data)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      for (int scales = 0; scales < 2; scales++)
        {
          g_autoptr (GRand) rand = g_rand_new_with_seed (4);
          g_autoptr (Rig) rig = rig_new (*isa, 2);
          Problem p;
          make_problem (&p, rig, rand, data, types[i]);
          p.params.shift_scales = scales;
          check_problem (rig, &p);
        }
}

/* Rows that are stored under the transform, in blocks of half a head and of a whole one. */
static void
test_hadamard (void)
{
  static const KvasirRopeParams params = {
    .n_rot = 64, .freq_base = 1e4f, .freq_scale = 1, .attn_factor = 1, .head_dim = 128
  };
  static const TurnCase c = { "hadamard", params, FALSE, 128 };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      for (int n = 64; n <= 128; n *= 2)
        {
          g_autoptr (GRand) rand = g_rand_new_with_seed (5);
          g_autoptr (Rig) rig = rig_new (*isa, 2);
          Problem p;
          make_problem (&p, rig, rand, &c, types[i]);
          p.params.hadamard = n;
          /* What turns spreads over all elements of a block. */
          p.params.offset = 64;
          p.node->params.rope = p.params;
          g_autofree double *expected = get_expected (&p);
          g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
          g_autofree float *after = rig_get_floats (p.cache);
          g_assert_cmpfloat (rig_get_nmse_double (after, expected, p.width * N_ALL), <,
                             get_bound (types[i]));
        }
}

/* Bytes that no rounding would give, in a cache of which only the last cell moves. */
static void
test_still_cells (void)
{
  gsize n;
  const TurnCase *cases = turn_get_cases (&n);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (8);
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        Problem p;
        make_problem (&p, rig, rand, &cases[0], types[i]);
        gsize n_bytes = p.cache->nb[3] - p.cache->nb[1];
        memset (p.shifts->data, 0, (N_ALL - 1) * sizeof (gint32));
        ((gint32 *) p.shifts->data)[N_ALL - 1] = 3;
        for (gsize j = 0; j < n_bytes; j++)
          ((guint8 *) p.cache->data)[j] = (guint8) g_rand_int (rand);
        g_autofree guint8 *before = g_memdup2 (p.cache->data, p.cache->nb[3]);
        p.node->params.rope = p.params;
        g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
        g_assert_cmpmem (p.cache->data, n_bytes, before, n_bytes);
        g_assert_true (
            memcmp ((guint8 *) p.cache->data + n_bytes, before + n_bytes, p.cache->nb[1]) != 0);
      }
}

/* More different shifts than there are tables for; the other layer has the same ones. */
static void
test_many_shifts (void)
{
  enum
  {
    N = 2000,
    WIDTH = 64
  };
  static const KvasirRopeParams params = {
    .n_rot = 32, .freq_base = 1e4f, .freq_scale = 1, .attn_factor = 1
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 2);
  KvasirTensor *shifts = rig_tensor (rig, KVASIR_TYPE_I32, N, 1, 1);
  g_autofree double *all = g_new (double, 2 * WIDTH * N);
  double *expected[2] = { all, all + WIDTH * N };
  KvasirTensor *caches[2];

  for (int i = 0; i < N; i++)
    ((gint32 *) shifts->data)[i] = -i / 2;
  for (int layer = 0; layer < 2; layer++)
    {
      caches[layer] = rig_random (rig, rand, KVASIR_TYPE_F32, WIDTH, N, 1);
      KvasirTensor *node = rig_view_node (rig, KVASIR_OP_ROPE_SHIFT, caches[layer]);
      node->src[0] = caches[layer];
      node->src[1] = shifts;
      node->params.rope = params;
      for (int i = 0; i < WIDTH * N; i++)
        expected[layer][i] = ((float *) caches[layer]->data)[i];
      for (int i = 0; i < N * WIDTH / 32; i++)
        {
          double shift = ((gint32 *) shifts->data)[i * 32 / WIDTH];
          turn_head (&params, NULL, &shift, 1, expected[layer] + i * 32);
        }
    }
  g_assert_cmpint (rig_compute (rig, 1, 0), ==, KVASIR_STATUS_OK);
  for (int layer = 0; layer < 2; layer++)
    g_assert_cmpfloat (rig_get_nmse_double (caches[layer]->data, expected[layer], WIDTH * N), <,
                       1e-12);
}

static gboolean
is_supported (Rig *rig, Problem *p)
{
  p->node->params.rope = p->params;
  return rig->device->vtable->supports_op (rig->device, p->node);
}

static void
test_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  gsize n;
  const TurnCase *cases = turn_get_cases (&n);
  Problem p;

  make_problem (&p, rig, rand, &cases[0], KVASIR_TYPE_Q8_0);
  g_assert_true (is_supported (rig, &p));
  p.params.hadamard = 48;
  g_assert_false (is_supported (rig, &p));
  p.params.hadamard = 128;
  g_assert_false (is_supported (rig, &p));
  p.params.hadamard = 0;
  p.params.offset = 2;
  g_assert_false (is_supported (rig, &p));
  p.params.offset = 0;
  p.params.sections[0] = 16;
  g_assert_false (is_supported (rig, &p));
  p.params.sections[0] = 0;
  p.cache->ne[2]--;
  g_assert_false (is_supported (rig, &p));
}

int
main (int argc, char **argv)
{
  gsize n;
  const TurnCase *cases = turn_get_cases (&n);

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/backends/rope-shift/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_shift);
    }
  g_test_add_func ("/backends/rope-shift/under-the-hadamard-transform", test_hadamard);
  g_test_add_func ("/backends/rope-shift/still-cells-keep-their-bytes", test_still_cells);
  g_test_add_func ("/backends/rope-shift/more-shifts-than-tables", test_many_shifts);
  g_test_add_func ("/backends/rope-shift/impossible-shifts-are-refused", test_refused);
  return g_test_run ();
}
