#include "engine/graph/placement.h"

/* A backend may fuse a node with those behind it and then reads the sources of the first while it
 * writes the result of the last. So a result keeps its bytes for some nodes after its last reader.
 */
#define FUSE_NODES 2

typedef struct
{
  guint tensor; /* index among the graph's tensors */
  guint first;  /* node that makes it */
  guint last;   /* last node that must find it untouched */
  gsize n_bytes;
  gsize offset;
} Life;

static gsize
align_up (gsize n, gsize alignment)
{
  return n > G_MAXSIZE - alignment ? G_MAXSIZE : (n + alignment - 1) & ~(alignment - 1);
}

/* Larger ones first; among equals the one that is made first, so that the result is the same on
 * every machine. */
static gint
compare_lives (gconstpointer a, gconstpointer b)
{
  const Life *x = a, *y = b;
  if (x->n_bytes != y->n_bytes)
    return x->n_bytes < y->n_bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static void
extend_life (GHashTable *lives_by_tensor, GArray *lives, const KvasirTensor *source, guint node)
{
  gpointer index;
  const KvasirTensor *root = source->view_src != NULL ? source->view_src : source;
  if (g_hash_table_lookup_extended (lives_by_tensor, root, NULL, &index))
    {
      Life *life = &g_array_index (lives, Life, GPOINTER_TO_UINT (index));
      life->last = MAX (life->last, node);
    }
}

/* One life for each node that owns its bytes, in the order of the nodes. */
static GArray *
find_lives (const KvasirGraph *graph, const KvasirBufferType *type)
{
  g_autoptr (GHashTable) by_tensor = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) number = g_hash_table_new (NULL, NULL);
  GArray *lives = g_array_new (FALSE, TRUE, sizeof (Life));
  guint n_nodes, n_tensors, head = kvasir_graph_get_head (graph);
  KvasirTensor *const *nodes = kvasir_graph_get_nodes (graph, &n_nodes);
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (graph, &n_tensors);

  for (guint i = 0; i < n_tensors; i++)
    g_hash_table_insert (number, tensors[i], GUINT_TO_POINTER (i));
  for (guint i = 0; i < n_nodes; i++)
    {
      /* The head runs several times over what the body left. */
      guint end = i + FUSE_NODES;
      for (guint s = 0; s < KVASIR_MAX_SRC; s++)
        if (nodes[i]->src[s] != NULL)
          extend_life (by_tensor, lives, nodes[i]->src[s], end);
      if (nodes[i]->view_src != NULL)
        continue;
      Life life = { GPOINTER_TO_UINT (g_hash_table_lookup (number, nodes[i])), i, end,
                    type->get_alloc_bytes (type, nodes[i]), 0 };
      g_hash_table_insert (by_tensor, nodes[i], GUINT_TO_POINTER (lives->len));
      g_array_append_val (lives, life);
    }
  for (guint i = 0; i < lives->len; i++)
    {
      Life *life = &g_array_index (lives, Life, i);
      if (life->first < head && life->last >= head)
        life->last = G_MAXUINT;
      if (life->first == n_nodes - 1)
        life->last = G_MAXUINT;
    }
  return lives;
}

/* The lowest offset at which @life meets none of the @n placed ones that live at the same time. */
static gsize
find_offset (const Life *life, const Life *placed, guint n, gsize alignment)
{
  gsize offset = 0;
  gboolean moved = TRUE;

  while (moved)
    {
      moved = FALSE;
      for (guint i = 0; i < n; i++)
        {
          const Life *other = &placed[i];
          gboolean together = life->first <= other->last && other->first <= life->last;
          if (together && offset < other->offset + other->n_bytes &&
              other->offset < offset + life->n_bytes)
            {
              offset = align_up (other->offset + other->n_bytes, alignment);
              moved = TRUE;
            }
        }
    }
  return offset;
}

gsize
kvasir_placement_of_nodes (const KvasirGraph *graph, const KvasirBufferType *type, gsize *offsets)
{
  g_autoptr (GArray) lives = find_lives (graph, type);
  Life *life = (Life *) (gpointer) lives->data;
  gsize total = 0;
  guint n_tensors;

  kvasir_graph_get_tensors (graph, &n_tensors);
  for (guint i = 0; i < n_tensors; i++)
    offsets[i] = G_MAXSIZE;
  g_array_sort (lives, compare_lives);
  for (guint i = 0; i < lives->len; i++)
    {
      gsize end;
      life[i].offset = find_offset (&life[i], life, i, type->alignment);
      if (!g_size_checked_add (&end, life[i].offset, life[i].n_bytes))
        return G_MAXSIZE;
      offsets[life[i].tensor] = life[i].offset;
      total = MAX (total, end);
    }
  return align_up (total, type->alignment);
}

gsize
kvasir_placement_of_inputs (const KvasirGraph *graph, const KvasirBufferType *type, gsize *offsets)
{
  guint n;
  gsize total = 0;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (graph, &n);

  for (guint i = 0; i < n; i++)
    {
      offsets[i] = G_MAXSIZE;
      if (tensors[i]->op != KVASIR_OP_NONE)
        continue;
      offsets[i] = total;
      if (!g_size_checked_add (&total, total, type->get_alloc_bytes (type, tensors[i])))
        return G_MAXSIZE;
      total = align_up (total, type->alignment);
    }
  return total;
}
