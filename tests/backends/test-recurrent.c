/* Recurrent layers against their formulas in double: several sequences, fresh states, snapshots,
 * and steps that are cut in two. */
#include <math.h>
#include <string.h>

#include "layers.h"
#include "rig.h"

enum
{
  OFFSET = 5 /* of the state in its row */
};

static int
get_length (const Input *input)
{
  return input->ne0 * MAX (input->ne1, 1);
}

/* Inputs of whole sequences, from which steps take their tokens. */
typedef struct
{
  const Layer *layer;
  int n_seqs, n_tokens;
  float *values[LAYER_MAX_INPUTS]; /* [n_seqs][n_tokens][length], or [length] */
} Story;

static void
story_init (Story *self, const Layer *layer, int n_seqs, int n_tokens)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);

  *self = (Story){ layer, n_seqs, n_tokens, { NULL } };
  for (int i = 0; i < LAYER_MAX_INPUTS && layer->inputs[i].ne0 > 0; i++)
    {
      const Input *input = &layer->inputs[i];
      gsize n = (gsize) get_length (input);
      n *= input->is_per_token ? (gsize) (n_seqs * n_tokens) : 1;
      self->values[i] = g_new (float, n);
      for (gsize j = 0; j < n; j++)
        {
          double low = input->sign > 0 ? 0 : -1, high = input->sign < 0 ? 0 : 1;
          self->values[i][j] = (float) g_rand_double_range (rand, low, high) * input->scale;
        }
    }
}

static void
story_clear (Story *self)
{
  for (int i = 0; i < LAYER_MAX_INPUTS; i++)
    g_free (self->values[i]);
}

/* Tokens [from, to) of each sequence in turn, with a gap behind each token. */
static KvasirTensor *
story_make_input (const Story *self, Rig *rig, int i, int from, int to)
{
  const Input *input = &self->layer->inputs[i];
  int n = self->n_seqs * (to - from), length = get_length (input);
  gboolean is_flat = input->ne1 == 0;

  if (!input->is_per_token)
    {
      KvasirTensor *tensor = rig_tensor (rig, KVASIR_TYPE_F32, input->ne0, MAX (input->ne1, 1), 1);
      memcpy (tensor->data, self->values[i], (gsize) length * sizeof (float));
      return tensor;
    }
  KvasirTensor *tensor = is_flat ? rig_tensor (rig, KVASIR_TYPE_F32, length + 3, n, 1)
                                 : rig_tensor (rig, KVASIR_TYPE_F32, input->ne0, input->ne1 + 1, n);
  tensor->ne[is_flat ? 0 : 1] = is_flat ? input->ne0 : input->ne1;
  for (int t = 0; t < n; t++)
    {
      int sequence = t / (to - from), token = from + t % (to - from);
      memcpy ((char *) tensor->data + (gsize) t * tensor->nb[is_flat ? 1 : 2],
              self->values[i] + (gsize) ((sequence * self->n_tokens + token) * length),
              (gsize) length * sizeof (float));
    }
  return tensor;
}

/* A node of tokens [from, to) over @state and @rows. */
static KvasirTensor *
story_make_node (
    const Story *self, Rig *rig, KvasirTensor *state, KvasirTensor *rows, const int range[2])
{
  const Layer *l = self->layer;
  int n = self->n_seqs * (range[1] - range[0]);
  gint64 ne[3] = { l->ne0, l->ne1 > 0 ? l->ne1 : n, l->ne1 > 0 ? n : 1 };
  KvasirTensor *node = rig_node (rig, l->op, ne, NULL, NULL, NULL);

  for (int i = 0; i < LAYER_MAX_INPUTS && l->inputs[i].ne0 > 0; i++)
    node->src[l->inputs[i].src] = story_make_input (self, rig, i, range[0], range[1]);
  node->src[l->state_src] = state;
  node->src[l->state_src + 1] = rows;
  node->params.state.offset = OFFSET;
  node->params.state.by_group = l->by_group;
  return node;
}

static KvasirTensor *
make_state (const Layer *layer, Rig *rig, int n_rows)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  KvasirTensor *state =
      rig_random (rig, rand, KVASIR_TYPE_F32, OFFSET + layer->n_state + 2, n_rows, 1);

  return state;
}

static void
compute (Rig *rig, int n_tokens, int n_seqs)
{
  KvasirStep step = { .n_tokens = n_tokens, .n_seqs = n_seqs };

  g_assert_cmpint (rig_compute_step (rig, &step), ==, KVASIR_STATUS_OK);
}

static void
assert_near (const float *got, const double *expected, int n)
{
  for (int i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (got[i], expected[i], 2e-5 * (1 + fabs (expected[i])));
}

/* Sequence @sequence from its state @before on; leaves the results and the state after each token
 * (the first one behind the state before all). */
static void
tell (const Story *self, int sequence, const float *before, double *results, double *states)
{
  const Layer *l = self->layer;
  int n_result = l->ne0 * MAX (l->ne1, 1);
  float *x[LAYER_MAX_INPUTS];

  for (int i = 0; i < l->n_state; i++)
    states[i] = before ? before[i] : 0;
  for (int t = 0; t < self->n_tokens; t++)
    {
      double *state = states + (gsize) (t + 1) * (gsize) l->n_state;
      for (int i = 0; i < LAYER_MAX_INPUTS; i++)
        {
          int at = (sequence * self->n_tokens + t) * get_length (&l->inputs[i]);
          x[i] = self->values[i] ? self->values[i] + (l->inputs[i].is_per_token ? at : 0) : NULL;
        }
      memcpy (state, state - l->n_state, (gsize) l->n_state * sizeof (double));
      l->step (l, x, state, results + t * n_result);
    }
}

/* Row @row of @state as it should be and as it was: only the layer's part of it changed. */
static void
check_row (const Layer *l, const KvasirTensor *state, const float *was, int row, const double *want)
{
  int width = OFFSET + l->n_state + 2;
  const float *now = (const float *) state->data + (gsize) row * (gsize) width;

  was += (gsize) row * (gsize) width;
  g_assert_cmpmem (now, OFFSET * sizeof (float), was, OFFSET * sizeof (float));
  g_assert_cmpmem (now + width - 2, 2 * sizeof (float), was + width - 2, 2 * sizeof (float));
  if (want != NULL)
    assert_near (now + OFFSET, want, l->n_state);
  else
    g_assert_cmpmem (now, (gsize) width * sizeof (float), was, (gsize) width * sizeof (float));
}

/* Sequence s reads row s, the second one starts fresh; snapshots go to the rows behind those, the
 * one but one of them nowhere. */
static void
fill_rows (KvasirTensor *rows, int n_seqs, int n_keep)
{
  gint32 *row = rows->data;

  for (int s = 0; s < n_seqs; s++, row += 2 + n_keep)
    {
      row[0] = s == 1 ? -1 : s;
      for (int j = 0; j <= n_keep; j++)
        row[1 + j] = j == 1 ? -1 : n_seqs + s * (1 + n_keep) + j;
    }
}

static void
check_story (KvasirCpuIsa isa, const Story *story, int n_keep, int n_threads)
{
  const Layer *l = story->layer;
  int n_seqs = story->n_seqs, n_rows = n_seqs * (2 + n_keep), n = story->n_tokens;
  gsize n_result = (gsize) (l->ne0 * MAX (l->ne1, 1)), n_state = (gsize) l->n_state;
  g_autoptr (Rig) rig = rig_new (isa, n_threads);
  KvasirTensor *state = make_state (l, rig, n_rows);
  KvasirTensor *rows = rig_tensor (rig, KVASIR_TYPE_I32, 2 + n_keep, n_seqs + 1, 1);
  g_autofree float *was = g_memdup2 (state->data, state->nb[2]);
  g_autofree double *results = g_new (double, (gsize) n *n_result);
  g_autofree double *states = g_new (double, (gsize) (n + 1) * n_state);
  KvasirTensor *node = story_make_node (story, rig, state, rows, (int[]){ 0, n });

  fill_rows (rows, n_seqs, n_keep);
  compute (rig, n_seqs * n, n_seqs);
  for (int s = 0; s < n_seqs; s++)
    {
      gsize width = (gsize) state->ne[0];
      tell (story, s, s == 1 ? NULL : was + (gsize) s * width + OFFSET, results, states);
      assert_near ((float *) node->data + (gsize) (s * n) * n_result, results, n * (int) n_result);
      check_row (l, state, was, s, NULL);
      for (int j = 0; j <= n_keep; j++)
        check_row (l, state, was, n_seqs + s * (1 + n_keep) + j,
                   j == 1 || j >= n ? NULL : states + (gsize) (n - j) * n_state);
    }
}

static void
check_layers (KvasirOp op)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < n_layers; i++)
      for (int n = 1; layers[i].op == op && n <= 7; n += 3)
        for (int n_seqs = 1; n_seqs <= 3; n_seqs += 2)
          {
            Story story;
            story_init (&story, &layers[i], n_seqs, n);
            check_story (*isa, &story, 0, 1);
            check_story (*isa, &story, 3, 2);
            story_clear (&story);
          }
}

static void
test_conv (void)
{
  check_layers (KVASIR_OP_CONV);
}

static void
test_ssm (void)
{
  check_layers (KVASIR_OP_SSM_SCAN);
}

static void
test_wkv7 (void)
{
  check_layers (KVASIR_OP_WKV7);
}

static void
test_delta (void)
{
  check_layers (KVASIR_OP_DELTA);
}

/* Two nodes of one plan; the second goes on where the first has stopped, from its states. */
static void
check_cut (KvasirCpuIsa isa, const Layer *l, int n_threads)
{
  enum
  {
    N = 9,
    CUT = 4,
    N_SEQS = 2
  };
  static const gint32 first[] = { 0, 2, -1, 3 }, second[] = { 2, 4, 3, 5 },
                      whole[] = { 0, 6, -1, 7 };
  g_autoptr (Rig) rig = rig_new (isa, n_threads);
  KvasirTensor *state = make_state (l, rig, 8);
  gsize n_result = (gsize) (l->ne0 * MAX (l->ne1, 1)), width = (gsize) state->ne[0];
  KvasirTensor *rows[3], *nodes[3];
  Story story;

  story_init (&story, l, N_SEQS, N);
  for (int i = 0; i < 3; i++)
    {
      rows[i] = rig_tensor (rig, KVASIR_TYPE_I32, 2, N_SEQS, 1);
      memcpy (rows[i]->data, i == 0 ? first : i == 1 ? second : whole, sizeof first);
      nodes[i] = story_make_node (&story, rig, state, rows[i],
                                  (int[]){ i == 1 ? CUT : 0, i == 0 ? CUT : N });
    }
  compute (rig, N_SEQS * N, N_SEQS);
  for (gsize s = 0; s < N_SEQS; s++)
    {
      const float *a = nodes[0]->data, *b = nodes[1]->data, *all = nodes[2]->data;
      gsize head = CUT * n_result, tail = (N - CUT) * n_result;
      const float *states = state->data;
      g_assert_cmpmem (a + s * head, head * 4, all + s * (head + tail), head * 4);
      g_assert_cmpmem (b + s * tail, tail * 4, all + s * (head + tail) + head, tail * 4);
      g_assert_cmpmem (states + (4 + s) * width + OFFSET, (gsize) l->n_state * 4,
                       states + (6 + s) * width + OFFSET, (gsize) l->n_state * 4);
    }
  story_clear (&story);
}

static void
test_cut (void)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < n_layers; i++)
      for (int n_threads = 1; n_threads <= 4; n_threads++)
        check_cut (*isa, &layers[i], n_threads);
}

static void
test_unsupported (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  const KvasirDeviceVtable *vtable = rig->device->vtable;

  for (gsize i = 0; i < n_layers; i++)
    {
      const Layer *l = &layers[i];
      Story story;
      story_init (&story, l, 1, 3);
      KvasirTensor *state = make_state (l, rig, 2);
      KvasirTensor *rows = rig_tensor (rig, KVASIR_TYPE_I32, 2, 1, 1);
      KvasirTensor *node = story_make_node (&story, rig, state, rows, (int[]){ 0, 3 });
      g_assert_true (vtable->supports_op (rig->device, node));
      node->params.state.offset += 3;
      g_assert_false (vtable->supports_op (rig->device, node));
      node->params.state.offset = OFFSET;
      rows->ne[0] = 1;
      g_assert_false (vtable->supports_op (rig->device, node));
      rows->ne[0] = 2;
      node->src[0]->ne[0]--;
      g_assert_false (vtable->supports_op (rig->device, node));
      node->src[0] = NULL;
      g_assert_false (vtable->supports_op (rig->device, node));
      story_clear (&story);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/recurrent/conv-and-shift", test_conv);
  g_test_add_func ("/backends/recurrent/ssm-scan-of-both-kinds", test_ssm);
  g_test_add_func ("/backends/recurrent/wkv7", test_wkv7);
  g_test_add_func ("/backends/recurrent/delta-rule", test_delta);
  g_test_add_func ("/backends/recurrent/two-steps-are-one", test_cut);
  g_test_add_func ("/backends/recurrent/impossible-operands-are-not-supported", test_unsupported);
  return g_test_run ();
}
