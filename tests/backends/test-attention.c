/* Attention against the plain formula in double: for each token and head a softmax over the open
 * cells. Masks have open and closed words, mixed ones, and rows that see nothing. */
#include <math.h>
#include <string.h>

#include "backends/cpu/half.h"
#include "rig.h"

typedef enum
{
  ROWS,       /* values lie as keys do */
  TRANSPOSED, /* a row holds one value of every cell */
  IN_KEYS     /* values are the first elements of the keys */
} Layout;

typedef struct
{
  const char *name;
  KvasirAttentionParams params;
  KvasirType type_k, type_v;
  gboolean has_sinks;
  Layout layout;
} Case;

#define F32 KVASIR_TYPE_F32
#define F16 KVASIR_TYPE_F16
#define BF16 KVASIR_TYPE_BF16
#define Q8_0 KVASIR_TYPE_Q8_0

static const Case cases[] = {
  { "f32", { 64, 64, 4, 4, 0.125f, 0, 0, 0, 0 }, F32, F32, FALSE, ROWS },
  { "f16-grouped", { 64, 64, 9, 3, 0.125f, 0, 0, 0, 0 }, F16, F16, FALSE, ROWS },
  { "bf16", { 32, 32, 4, 2, 0.2f, 0, 0, 0, 0 }, BF16, BF16, FALSE, ROWS },
  { "narrow", { 16, 16, 4, 2, 0.25f, 0, 0, 0, 0 }, F16, F16, FALSE, ROWS },
  { "narrow-f32", { 16, 16, 4, 4, 0.25f, 0, 0, 0, 0 }, F32, F32, FALSE, ROWS },
  { "eight", { 8, 8, 2, 1, 0.5f, 0, 0, 0, 0 }, F16, F16, FALSE, ROWS },
  { "uneven", { 24, 20, 6, 2, 0.2f, 0, 0, 0, 0 }, BF16, F16, FALSE, ROWS },
  { "wide", { 256, 256, 4, 1, 0.0625f, 0, 0, 0, 0 }, F16, F16, FALSE, ROWS },
  { "odd", { 80, 48, 6, 2, 0.1f, 0, 0, 0, 0 }, F16, F32, FALSE, ROWS },
  { "second-cache", { 64, 64, 4, 2, 0.125f, 0, 0, 1, 0 }, F16, F16, FALSE, ROWS },
  { "softcap", { 64, 64, 4, 2, 1, 2, 0, 0, 0 }, F16, F16, FALSE, ROWS },
  { "alibi", { 32, 32, 6, 6, 0.2f, 0, 8, 0, 0 }, F16, F16, FALSE, ROWS },
  { "sinks", { 64, 64, 8, 2, 0.125f, 0, 0, 0, 0 }, F16, F16, TRUE, ROWS },
  { "q8_0", { 64, 64, 9, 3, 0.125f, 0, 0, 0, 0 }, Q8_0, Q8_0, FALSE, ROWS },
  { "q8_0-narrow", { 16, 16, 4, 2, 0.25f, 0, 0, 0, 0 }, Q8_0, KVASIR_TYPE_Q4_0, FALSE, ROWS },
  { "q8_0-uneven", { 24, 40, 8, 4, 0.2f, 0, 0, 0, 0 }, Q8_0, Q8_0, FALSE, ROWS },
  { "q4", { 64, 64, 4, 2, 0.125f, 0, 0, 0, 0 }, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1, FALSE, ROWS },
  { "q5", { 64, 64, 4, 2, 0.125f, 0, 0, 0, 0 }, KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, FALSE, ROWS },
  { "iq4",
    { 64, 64, 4, 2, 0.125f, 0, 0, 0, 0 },
    KVASIR_TYPE_IQ4_NL,
    KVASIR_TYPE_IQ4_NL,
    FALSE,
    ROWS },
  { "transposed-f32", { 64, 64, 4, 2, 0.125f, 0, 0, 0, 1 }, F32, F32, FALSE, TRANSPOSED },
  { "transposed-f16", { 64, 64, 9, 3, 0.125f, 0, 0, 0, 1 }, F16, F16, TRUE, TRANSPOSED },
  { "transposed-bf16", { 16, 80, 4, 2, 0.25f, 0, 0, 0, 1 }, Q8_0, BF16, FALSE, TRANSPOSED },
  { "transposed-narrow", { 8, 24, 4, 1, 0.25f, 2, 8, 1, 1 }, F16, F16, FALSE, TRANSPOSED },
  { "latent", { 576, 512, 4, 1, 0.05f, 0, 0, 0, 0 }, F16, F16, FALSE, IN_KEYS },
  { "latent-q8_0", { 576, 512, 4, 1, 0.05f, 0, 0, 0, 0 }, Q8_0, Q8_0, FALSE, IN_KEYS },
  { "latent-narrow", { 40, 24, 16, 1, 0.2f, 0, 0, 0, 0 }, F32, F32, FALSE, IN_KEYS },
};

/* How many tokens over how many cells of which streams. */
typedef struct
{
  int n_tokens, n_kv, first_stream, n_streams;
} Shape;

typedef struct
{
  const Case *c;
  Shape shape;
  int n_cells, n_streams; /* of the caches: more than are read */
  KvasirTensor *q, *k, *v, *mask, *sinks, *positions, *out;
  float *keys, *values; /* (owned) as floats, in the order of the tensors */
  double *queries;      /* (owned) as they count */
} Problem;

static void
fill_mask (GRand *rand, guint64 *row, int n_kv, int n_words, int token)
{
  for (int word = 0; word < n_words; word++)
    {
      int kind = g_rand_int_range (rand, 0, 4);
      guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
      if (word >= n_kv / 64 || token % 7 == 3)
        row[word] = 0;
      else if (token % 7 == 5)
        row[word] = word == (n_kv > 64) ? (guint64) 1 << 63 : 0;
      else
        row[word] = kind == 0 ? 0 : kind == 1 ? ~(guint64) 0 : bits;
    }
}

static KvasirTensor *
make_values (Rig *rig, GRand *rand, const Case *c, KvasirTensor *k)
{
  gint64 n_cells = k->ne[1], n_streams = k->ne[2];
  gint64 width = (gint64) c->params.head_dim_v * c->params.n_kv_heads;
  KvasirTensor *view;

  if (c->layout == ROWS)
    return rig_random (rig, rand, c->type_v, width, n_cells, n_streams);
  if (c->layout == TRANSPOSED)
    return rig_random (rig, rand, c->type_v, n_cells, width, n_streams);
  view = g_memdup2 (k, sizeof *k);
  view->op = KVASIR_OP_VIEW;
  view->view_src = view->src[0] = k;
  view->ne[0] = width;
  g_ptr_array_add (rig->tensors, view);
  return view;
}

/* Beside quantised keys queries count as rounded to Q8_0: scale = largest magnitude / 127, kept as
 * f16. */
static double
round_query (const Problem *p, const float *q, int i)
{
  double largest = 0;
  float scale;

  if (kvasir_type_get_block_len ((int) p->c->type_k) == 1)
    return q[i];
  for (int k = i / 32 * 32; k < MIN (i / 32 * 32 + 32, p->c->params.head_dim_k); k++)
    largest = fmax (largest, fabs ((double) q[k]));
  if (largest == 0)
    return 0;
  scale = kvasir_f16_to_f32 (kvasir_f32_to_f16 ((float) (largest / 127)));
  return round (q[i] / (largest / 127)) * (double) scale;
}

static double *
round_queries (const Problem *p)
{
  int width = p->c->params.head_dim_k;
  int n = width * p->c->params.n_heads * p->shape.n_tokens;
  double *queries = g_new (double, n);

  for (int i = 0; i < n; i++)
    queries[i] = round_query (p, (const float *) p->q->data + i / width * width, i % width);
  return queries;
}

static void
make_inputs (Problem *p, Rig *rig, GRand *rand)
{
  const KvasirAttentionParams *a = &p->c->params;
  int n = p->shape.n_tokens;

  p->q = rig_random (rig, rand, KVASIR_TYPE_F32, a->head_dim_k, a->n_heads, n);
  for (gsize i = 0; i < p->q->nb[3] / sizeof (float); i++)
    ((float *) p->q->data)[i] *= 4;
  p->k =
      rig_random (rig, rand, p->c->type_k, a->head_dim_k * a->n_kv_heads, p->n_cells, p->n_streams);
  p->v = make_values (rig, rand, p->c, p->k);
  p->mask = rig_tensor (rig, KVASIR_TYPE_I64, p->n_cells / 64, n, 1);
  for (int t = 0; t < n; t++)
    fill_mask (rand, (guint64 *) p->mask->data + t * (p->n_cells / 64), p->shape.n_kv,
               p->n_cells / 64, t);
  p->sinks = p->c->has_sinks ? rig_random (rig, rand, KVASIR_TYPE_F32, a->n_heads, 1, 1) : NULL;
  p->positions = rig_tensor (rig, KVASIR_TYPE_I32, p->n_cells * p->n_streams + n, 1, 1);
  for (int i = 0; i < p->n_cells * p->n_streams + n; i++)
    ((gint32 *) p->positions->data)[i] = g_rand_int_range (rand, 0, 40);
}

static Problem *
problem_new (Rig *rig, GRand *rand, const Case *c, Shape shape)
{
  Problem *p = g_new0 (Problem, 1);
  const KvasirAttentionParams *a = &c->params;

  p->c = c;
  p->shape = shape;
  p->n_cells = shape.n_kv + 64;
  p->n_streams = shape.first_stream + MAX (shape.n_streams, 1) + 1;
  make_inputs (p, rig, rand);
  p->out = rig_node (rig, KVASIR_OP_ATTENTION,
                     (gint64[]){ (gint64) a->head_dim_v * a->n_heads, shape.n_tokens, 1 }, p->q,
                     p->k, p->v);
  p->out->src[3] = p->mask;
  p->out->src[4] = p->sinks;
  p->out->src[5] = a->max_bias != 0 ? p->positions : NULL;
  p->out->params.attention = *a;
  p->keys = rig_get_floats (p->k);
  p->queries = round_queries (p);
  p->values = rig_get_floats (p->v);
  return p;
}

static void
problem_free (Problem *p)
{
  g_free (p->keys);
  g_free (p->queries);
  g_free (p->values);
  g_free (p);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Problem, problem_free)

static void
compute (Rig *rig, const Problem *p)
{
  KvasirStep step = { .n_tokens = p->shape.n_tokens,
                      .first_stream = p->shape.first_stream,
                      .n_streams = p->shape.n_streams };

  step.n_kv[p->c->params.cache] = p->shape.n_kv;
  g_assert_cmpint (rig_compute_step (rig, &step), ==, KVASIR_STATUS_OK);
}

/* The stream that @token reads. */
static int
get_stream (const Problem *p, int token)
{
  int n_streams = MAX (p->shape.n_streams, 1);

  return p->shape.first_stream + token / (p->shape.n_tokens / n_streams);
}

/* Value @i of the row of cell @cell of @stream. */
static double
get_value (const Problem *p, int stream, int cell, int i)
{
  int width = p->c->params.head_dim_v * p->c->params.n_kv_heads;

  if (p->c->layout == TRANSPOSED)
    return p->values[(stream * width + i) * p->n_cells + cell];
  return p->values[(stream * p->n_cells + cell) * width + i];
}

static double
get_slope (const KvasirAttentionParams *a, int head)
{
  double n2 = exp2 (floor (log2 (a->n_heads)));
  double m0 = exp2 (-a->max_bias / n2), m1 = exp2 (-a->max_bias / (2 * n2));

  return head < n2 ? pow (m0, head + 1) : pow (m1, 2 * (head - n2) + 1);
}

static double
get_score (const Problem *p, int head, int token, int cell)
{
  const KvasirAttentionParams *a = &p->c->params;
  const gint32 *positions = p->positions->data;
  int kv_head = head / (a->n_heads / a->n_kv_heads);
  int row = get_stream (p, token) * p->n_cells + cell;
  const double *q = p->queries + (token * a->n_heads + head) * a->head_dim_k;
  double score = 0;

  for (int i = 0; i < a->head_dim_k; i++)
    score += q[i] * p->keys[row * p->k->ne[0] + kv_head * a->head_dim_k + i];
  score *= a->scale;
  if (a->softcap != 0)
    score = a->softcap * tanh (score / a->softcap);
  if (a->max_bias != 0)
    score -=
        get_slope (a, head) * abs (positions[row] - positions[p->n_cells * p->n_streams + token]);
  return score;
}

static void
attend (const Problem *p, int head, int token, double *out)
{
  const KvasirAttentionParams *a = &p->c->params;
  const guint64 *row = (guint64 *) p->mask->data + token * (p->n_cells / 64);
  int kv_head = head / (a->n_heads / a->n_kv_heads);
  double sum = p->sinks ? exp (((float *) p->sinks->data)[head]) : 0;

  memset (out, 0, (gsize) a->head_dim_v * sizeof *out);
  for (int cell = 0; cell < p->n_cells; cell++)
    if (row[cell / 64] >> (cell % 64) & 1)
      {
        double weight = exp (get_score (p, head, token, cell));
        sum += weight;
        for (int i = 0; i < a->head_dim_v; i++)
          out[i] +=
              weight * get_value (p, get_stream (p, token), cell, kv_head * a->head_dim_v + i);
      }
  for (int i = 0; i < a->head_dim_v; i++)
    out[i] = sum > 0 ? out[i] / sum : 0;
}

/* Many queries are multiplied as words of 16 bits, whose errors are about those of rounding queries
 * to halves: (2^-12 / sqrt 3)^2 = 2e-8 for the queries of one score. */
static double
get_tolerance (const Case *c, KvasirCpuIsa isa, Shape shape)
{
  bool is_exact = c->type_k == F32 || c->type_v == F32 || isa == KVASIR_CPU_ISA_SCALAR;

  return is_exact || shape.n_tokens <= 8 ? 1e-9 : 1e-7;
}

static void
check_attention (const Case *c, KvasirCpuIsa isa, Shape shape)
{
  int n = shape.n_tokens;
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) (n + shape.n_kv));
  g_autoptr (Rig) rig = rig_new (isa, 2);
  g_autoptr (Problem) p = problem_new (rig, rand, c, shape);
  gsize width = (gsize) (c->params.head_dim_v * c->params.n_heads);
  g_autofree double *expected = g_new (double, width *(gsize) n);

  for (int t = 0; t < n; t++)
    for (int head = 0; head < c->params.n_heads; head++)
      attend (p, head, t, expected + (gsize) t * width + (gsize) (head * c->params.head_dim_v));
  compute (rig, p);
  g_assert_cmpfloat (rig_get_nmse_double (p->out->data, expected, width * (gsize) n), <,
                     get_tolerance (c, isa, shape));
  for (int t = 3; t < n && !c->has_sinks; t += 7)
    for (gsize i = 0; i < width; i++)
      g_assert_cmpfloat (((float *) p->out->data)[(gsize) t * width + i], ==, 0);
}

static void
test_attention (gconstpointer data)
{
  static const Shape shapes[] = { { 1, 64, 0, 0 },   { 1, 256, 2, 1 },  { 1, 1280, 0, 0 },
                                  { 6, 320, 0, 0 },  { 37, 192, 0, 0 }, { 3, 384, 1, 3 },
                                  { 8, 192, 0, 2 },  { 12, 128, 0, 4 }, { 140, 64, 2, 2 },
                                  { 201, 128, 0, 0 } };

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
      check_attention (data, *isa, shapes[i]);
}

/* A node for token @token of the problem alone. */
static KvasirTensor *
make_alone (Rig *rig, const Problem *p, int token)
{
  const KvasirAttentionParams *a = &p->c->params;
  int n_places = p->n_cells * p->n_streams;
  KvasirTensor *q = rig_tensor (rig, KVASIR_TYPE_F32, a->head_dim_k, a->n_heads, 1);
  KvasirTensor *mask = rig_tensor (rig, KVASIR_TYPE_I64, p->n_cells / 64, 1, 1);
  KvasirTensor *positions = rig_tensor (rig, KVASIR_TYPE_I32, n_places + 1, 1, 1);
  gint64 shape[3] = { (gint64) a->head_dim_v * a->n_heads, 1, 1 };
  KvasirTensor *out;

  memcpy (q->data, (guint8 *) p->q->data + (gsize) token * p->q->nb[2], p->q->nb[2]);
  memcpy (mask->data, (guint8 *) p->mask->data + (gsize) token * p->mask->nb[1], p->mask->nb[1]);
  memcpy (positions->data, p->positions->data, (gsize) n_places * sizeof (gint32));
  ((gint32 *) positions->data)[n_places] = ((gint32 *) p->positions->data)[n_places + token];
  out = rig_node (rig, KVASIR_OP_ATTENTION, shape, q, p->k, p->v);
  out->src[3] = mask;
  out->src[4] = p->sinks;
  out->src[5] = a->max_bias != 0 ? positions : NULL;
  out->params.attention = *a;
  return out;
}

static void
check_alone (const Case *c, KvasirCpuIsa isa, int n_kv)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (Rig) rig = rig_new (isa, 2);
  Shape shape = { rig->device->n_alike, n_kv, 0, 0 };
  g_autoptr (Problem) p = problem_new (rig, rand, c, shape);
  g_autoptr (GPtrArray) alone = g_ptr_array_new ();
  gsize n_bytes = p->out->nb[1];

  for (int t = 0; t < shape.n_tokens; t++)
    g_ptr_array_add (alone, make_alone (rig, p, t));
  compute (rig, p);
  for (int t = 0; t < shape.n_tokens; t++)
    {
      const KvasirTensor *one = g_ptr_array_index (alone, t);
      g_assert_cmpmem (one->data, n_bytes, (guint8 *) p->out->data + (gsize) t * n_bytes, n_bytes);
    }
}

/* What a token gets in a short step is what it would get alone, bit for bit. */
static void
test_alone (gconstpointer data)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n_kv = 320; n_kv <= 1280; n_kv += 960)
      check_alone (data, *isa, n_kv);
}

static float *
compute_with_threads (KvasirCpuIsa isa, int n_threads, Shape shape)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (Rig) rig = rig_new (isa, n_threads);
  g_autoptr (Problem) p = problem_new (rig, rand, &cases[1], shape);

  compute (rig, p);
  return rig_get_floats (p->out);
}

static void
test_threads_agree (void)
{
  static const Shape shapes[] = {
    { 1, 1280, 0, 1 }, { 17, 1280, 0, 1 }, { 33, 1280, 0, 1 }, { 4, 640, 0, 4 }, { 12, 640, 1, 3 }
  };
  gsize width = (gsize) (cases[1].params.head_dim_v * cases[1].params.n_heads) * sizeof (float);

  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
      {
        gsize n_bytes = width * (gsize) shapes[i].n_tokens;
        g_autofree float *one = compute_with_threads (*isa, 1, shapes[i]);
        g_autofree float *two = compute_with_threads (*isa, 2, shapes[i]);
        g_assert_cmpmem (one, n_bytes, two, n_bytes);
      }
}

/* Closed words are skipped unread, and so are the other streams: what a cell holds that nobody
 * sees must not matter. */
static void
check_closed_cells (KvasirCpuIsa isa, const Case *c, int n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (Rig) rig = rig_new (isa, 1);
  g_autoptr (Problem) p = problem_new (rig, rand, c, (Shape){ n, 128, 1, 1 });
  KvasirTensor *caches[] = { p->k, p->v };

  for (int t = 0; t < n; t++)
    {
      guint64 *row = (guint64 *) p->mask->data + t * (p->n_cells / 64);
      row[0] = 0;
      row[1] = ~(guint64) 0;
    }
  for (int i = 0; i < 2; i++)
    for (gsize j = 0; j < caches[i]->nb[3] / sizeof (float); j++)
      {
        gsize value = j % (caches[i]->nb[2] / sizeof (float));
        gsize row = value / (gsize) caches[i]->ne[0], column = value % (gsize) caches[i]->ne[0];
        gsize cell = i == 1 && c->layout == TRANSPOSED ? column : row;
        if (j / (caches[i]->nb[2] / sizeof (float)) != 1 || cell < 64 || cell >= 128)
          ((float *) caches[i]->data)[j] = NAN;
      }
  compute (rig, p);
  for (gsize i = 0; i < p->out->nb[3] / sizeof (float); i++)
    g_assert_false (isnan (((float *) p->out->data)[i]));
}

static const Case *
get_case (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (strcmp (cases[i].name, name) == 0)
      return &cases[i];
  g_assert_not_reached ();
}

static void
test_closed_cells_are_not_read (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (int n = 1; n <= 20; n += 19)
      {
        check_closed_cells (*isa, get_case ("f32"), n);
        check_closed_cells (*isa, get_case ("transposed-f32"), n);
      }
}

static gboolean
is_supported (Rig *rig, const Problem *p)
{
  return rig->device->vtable->supports_op (rig->device, p->out);
}

static void
test_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  Shape shape = { 4, 128, 0, 1 };
  g_autoptr (Problem) rows = problem_new (rig, rand, get_case ("f32"), shape);
  g_autoptr (Problem) columns = problem_new (rig, rand, get_case ("transposed-f32"), shape);
  g_autoptr (Problem) distances = problem_new (rig, rand, get_case ("alibi"), shape);

  g_assert_true (is_supported (rig, rows) && is_supported (rig, columns));
  rows->out->params.attention.v_transposed = 1;
  g_assert_false (is_supported (rig, rows));
  rows->out->params.attention.v_transposed = 0;
  rows->out->params.attention.cache = KVASIR_MAX_CACHES;
  g_assert_false (is_supported (rig, rows));
  rows->out->params.attention.cache = 0;
  rows->v->ne[2]--;
  g_assert_false (is_supported (rig, rows));
  rows->v->ne[2]++;
  rows->mask->ne[0]--;
  g_assert_false (is_supported (rig, rows));
  columns->v->type = KVASIR_TYPE_Q8_0;
  g_assert_false (is_supported (rig, columns));
  /* Distances are needed for the cells of all streams. */
  g_assert_true (is_supported (rig, distances));
  distances->positions->ne[0]--;
  g_assert_false (is_supported (rig, distances));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/backends/attention/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_attention);
      g_autofree char *alone = g_strconcat ("/backends/attention/alone/", cases[i].name, NULL);
      g_test_add_data_func (alone, &cases[i], test_alone);
    }
  g_test_add_func ("/backends/attention/threads-do-not-change-results", test_threads_agree);
  g_test_add_func ("/backends/attention/closed-words-are-not-read", test_closed_cells_are_not_read);
  g_test_add_func ("/backends/attention/impossible-caches-are-refused", test_refused);
  return g_test_run ();
}
