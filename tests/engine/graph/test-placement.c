/* Placement against its rules, by looking at every pair of results of a made-up graph. */
#include "engine/graph/placement.h"

static gsize
get_alloc_bytes (const KvasirBufferType *type, const KvasirTensor *tensor)
{
  return tensor->nb[3] * (gsize) tensor->ne[3];
}

static const KvasirBufferType buffer_type = {
  .name = "test",
  .alignment = 64,
  .max_bytes = G_MAXSIZE,
  .get_alloc_bytes = get_alloc_bytes,
};

/* A chain of layers with a residual, as models have them, the last two of them in the head. */
static KvasirGraph *
make_layers (guint n_layers)
{
  KvasirGraph *g = kvasir_graph_new ();
  KvasirTensor *x = kvasir_graph_input (g, "x", KVASIR_TYPE_F32, 24, 5, KVASIR_DYN_TOKENS);
  KvasirTensor *ids = kvasir_graph_input (g, "ids", KVASIR_TYPE_I32, 5, 0, KVASIR_DYN_OUTPUTS);
  KvasirTensor *wide = kvasir_graph_input (g, "w", KVASIR_TYPE_F32, 24, 100, KVASIR_DYN_NONE);
  KvasirTensor *narrow = kvasir_graph_input (g, "v", KVASIR_TYPE_F32, 100, 24, KVASIR_DYN_NONE);

  for (guint i = 0; i < n_layers; i++)
    {
      KvasirTensor *y;
      if (i == n_layers - 2)
        {
          kvasir_graph_begin_head (g);
          x = kvasir_graph_get_rows (g, "rows", x, ids);
        }
      y = kvasir_graph_rms_norm (g, "norm", x, NULL, 1e-5f);
      y = kvasir_graph_mul_mat (g, "up", wide, y, NULL);
      y = kvasir_graph_mul_mat (g, "down", narrow, y, NULL);
      x = kvasir_graph_add (g, "res", x, y);
    }
  return g;
}

static guint
find_index (KvasirTensor *const *list, guint n, const KvasirTensor *t)
{
  for (guint i = 0; i < n; i++)
    if (list[i] == t)
      return i;
  return G_MAXUINT;
}

/* The last node that reads @t, or any view of it. */
static guint
find_last_reader (const KvasirGraph *g, const KvasirTensor *t, guint own)
{
  guint n, last = own;
  KvasirTensor *const *nodes = kvasir_graph_get_nodes (g, &n);

  for (guint i = 0; i < n; i++)
    for (guint s = 0; s < KVASIR_MAX_SRC; s++)
      {
        const KvasirTensor *source = nodes[i]->src[s];
        if (source == t || (source != NULL && source->view_src == t))
          last = i;
      }
  return last;
}

typedef struct
{
  guint first, last;
  gsize begin, end;
} Placed;

static GArray *
place (const KvasirGraph *g, gsize *total)
{
  GArray *placed = g_array_new (FALSE, FALSE, sizeof (Placed));
  guint n_nodes, n_tensors, head = kvasir_graph_get_head (g);
  KvasirTensor *const *nodes = kvasir_graph_get_nodes (g, &n_nodes);
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (g, &n_tensors);
  g_autofree gsize *offsets = g_new (gsize, n_tensors);

  *total = kvasir_placement_of_nodes (g, &buffer_type, offsets);
  for (guint i = 0; i < n_nodes; i++)
    {
      gsize offset = offsets[find_index (tensors, n_tensors, nodes[i])];
      Placed p = { i, find_last_reader (g, nodes[i], i), offset,
                   offset + get_alloc_bytes (&buffer_type, nodes[i]) };
      g_assert_cmpuint (offset % buffer_type.alignment, ==, 0);
      g_assert_cmpuint (p.end, <=, *total);
      /* The head runs several times: what it reads of the body must outlive all of it. */
      if (i < head && p.last >= head)
        p.last = n_nodes - 1;
      g_array_append_val (placed, p);
    }
  return placed;
}

static void
test_lives_do_not_meet (void)
{
  g_autoptr (KvasirGraph) g = make_layers (6);
  gsize total;
  g_autoptr (GArray) placed = place (g, &total);

  for (guint i = 0; i < placed->len; i++)
    for (guint j = i + 1; j < placed->len; j++)
      {
        const Placed *a = &g_array_index (placed, Placed, i);
        const Placed *b = &g_array_index (placed, Placed, j);
        if (b->first <= a->last)
          g_assert_true (a->end <= b->begin || b->end <= a->begin);
      }
}

static void
test_logits_stay (void)
{
  g_autoptr (KvasirGraph) g = make_layers (3);
  gsize total;
  g_autoptr (GArray) placed = place (g, &total);
  const Placed *last = &g_array_index (placed, Placed, placed->len - 1);
  guint head = kvasir_graph_get_head (g);

  /* What the body leaves for the head is not overwritten by the result, so that a second round
   * finds it. */
  for (guint i = 0; i < head; i++)
    {
      const Placed *p = &g_array_index (placed, Placed, i);
      if (p->last >= head)
        g_assert_true (p->end <= last->begin || last->end <= p->begin);
    }
}

static void
test_depth_is_free (void)
{
  g_autoptr (KvasirGraph) shallow = make_layers (6), deep = make_layers (60);
  gsize a, b;
  g_autoptr (GArray) first = place (shallow, &a), second = place (deep, &b);

  g_assert_cmpuint (a, >, 0);
  g_assert_cmpuint (a, ==, b);
}

static void
test_inputs_lie_apart (void)
{
  g_autoptr (KvasirGraph) g = make_layers (2);
  guint n;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (g, &n);
  g_autofree gsize *offsets = g_new (gsize, n);
  gsize total = kvasir_placement_of_inputs (g, &buffer_type, offsets), sum = 0;

  for (guint i = 0; i < n; i++)
    if (tensors[i]->op == KVASIR_OP_NONE)
      {
        g_assert_cmpuint (offsets[i], ==, sum);
        sum += (get_alloc_bytes (&buffer_type, tensors[i]) + 63) / 64 * 64;
      }
    else
      g_assert_cmpuint (offsets[i], ==, G_MAXSIZE);
  g_assert_cmpuint (total, ==, sum);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/graph/placement/lives-do-not-meet", test_lives_do_not_meet);
  g_test_add_func ("/engine/graph/placement/body-outlives-head", test_logits_stay);
  g_test_add_func ("/engine/graph/placement/depth-is-free", test_depth_is_free);
  g_test_add_func ("/engine/graph/placement/inputs-lie-apart", test_inputs_lie_apart);
  return g_test_run ();
}
