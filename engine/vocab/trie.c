#include "engine/vocab/trie.h"

#include <string.h>

enum
{
  N_BYTES = 256,
  /* So many cells are tried for the first child of a node before it goes to the end. */
  MAX_TRIES = 64,
  NO_PARENT = G_MAXUINT32,
};

/* Strings that begin alike, and how far. */
typedef struct
{
  guint32 cell;
  guint32 start; /* into the sorted keys */
  guint32 end;
  guint32 depth;
} Node;

typedef struct
{
  KvasirTrie *trie;
  gsize n_alloc;
  gsize free; /* cells before this one are taken, or given up */
  const KvasirTrieKey *keys;
  GArray *nodes; /* of Node: those whose children have no cells yet */
} Builder;

/* Shorter before longer, and of equals the larger value last. */
static int
compare_keys (gconstpointer a, gconstpointer b)
{
  const KvasirTrieKey *key_a = a;
  const KvasirTrieKey *key_b = b;
  int order = memcmp (key_a->text, key_b->text, MIN (key_a->len, key_b->len));

  if (order != 0)
    return order;
  if (key_a->len != key_b->len)
    return key_a->len < key_b->len ? -1 : 1;
  return key_a->value < key_b->value ? -1 : key_a->value > key_b->value;
}

/* Makes cells up to and without @n. */
static gboolean
grow (Builder *builder, gsize n)
{
  KvasirTrie *trie = builder->trie;
  const KvasirTrieCell empty = { 0, NO_PARENT, KVASIR_TRIE_NO_VALUE };

  if (n >= G_MAXUINT32)
    return FALSE;
  if (n > builder->n_alloc)
    {
      gsize n_alloc = MAX (n, builder->n_alloc + builder->n_alloc / 2);
      gpointer grown = g_try_realloc_n (trie->cells, n_alloc, sizeof *trie->cells);

      if (!grown)
        return FALSE;
      trie->cells = grown;
      builder->n_alloc = n_alloc;
    }
  while (trie->n_cells < n)
    trie->cells[trie->n_cells++] = empty;
  return TRUE;
}

static gboolean
is_free (const KvasirTrie *trie, gsize cell)
{
  return cell >= trie->n_cells || trie->cells[cell].parent == NO_PARENT;
}

static gboolean
fits (const KvasirTrie *trie, gsize first, const guint8 *bytes, guint n)
{
  for (guint i = 0; i < n; i++)
    if (!is_free (trie, first + bytes[i]))
      return FALSE;
  return TRUE;
}

/* Where children for the @n bytes, in order, find room: behind the first free cell, but the search
 * gives up soon. Cells that not even one or two children fit into are left for good, so that all
 * searches together stay linear. */
static gsize
find_room (Builder *builder, const guint8 *bytes, guint n)
{
  const KvasirTrie *trie = builder->trie;
  gsize end;

  while (builder->free < trie->n_cells && !is_free (trie, builder->free))
    builder->free++;
  end = MIN (builder->free + MAX_TRIES, trie->n_cells);
  for (gsize cell = MAX (builder->free, (gsize) bytes[0] + 1); cell < end; cell++)
    if (is_free (trie, cell) && fits (trie, cell - bytes[0], bytes, n))
      return cell - bytes[0];
  if (n <= 2)
    builder->free = end;
  return trie->n_cells - bytes[0];
}

/* The bytes that follow in the strings of @node, and where the strings for each begin. */
static guint
collect (const Builder *builder, Node *node, guint8 *bytes, guint32 *starts)
{
  const KvasirTrieKey *keys = builder->keys;
  guint n = 0;

  for (; node->start < node->end && keys[node->start].len == node->depth; node->start++)
    builder->trie->cells[node->cell].value = keys[node->start].value;
  for (guint32 i = node->start; i < node->end; i++)
    {
      guint8 byte = (guint8) keys[i].text[node->depth];

      if (n == 0 || bytes[n - 1] != byte)
        {
          bytes[n] = byte;
          starts[n++] = i;
        }
    }
  starts[n] = node->end;
  return n;
}

static gboolean
add_children (Builder *builder, Node node)
{
  KvasirTrie *trie = builder->trie;
  guint8 bytes[N_BYTES];
  guint32 starts[N_BYTES + 1];
  guint n = collect (builder, &node, bytes, starts);
  gsize first = n > 0 ? find_room (builder, bytes, n) : 0;

  if (!grow (builder, MAX (first + N_BYTES, trie->n_cells)))
    return FALSE;
  trie->cells[node.cell].first = (guint32) first;
  for (guint i = 0; i < n; i++)
    {
      Node child = { (guint32) first + bytes[i], starts[i], starts[i + 1], node.depth + 1 };

      trie->cells[child.cell].parent = node.cell;
      g_array_append_val (builder->nodes, child);
    }
  return TRUE;
}

gboolean
kvasir_trie_build (KvasirTrie *self, KvasirTrieKey *keys, gsize n_keys)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  Builder builder = { .trie = self, .free = 1, .keys = keys, .nodes = nodes };
  Node root = { KVASIR_TRIE_ROOT, 0, (guint32) n_keys, 0 };

  g_return_val_if_fail (n_keys < G_MAXUINT32, FALSE);

  qsort (keys, n_keys, sizeof *keys, compare_keys);
  if (!grow (&builder, N_BYTES))
    return FALSE;
  /* The root is nobody's child, and its cell is not free either. */
  self->cells[KVASIR_TRIE_ROOT].parent = NO_PARENT - 1;
  g_array_append_val (nodes, root);
  while (nodes->len > 0)
    {
      Node node = g_array_index (nodes, Node, nodes->len - 1);

      g_array_set_size (nodes, nodes->len - 1);
      if (!add_children (&builder, node))
        return FALSE;
    }
  return TRUE;
}

void
kvasir_trie_clear (KvasirTrie *self)
{
  g_clear_pointer (&self->cells, g_free);
  self->n_cells = 0;
}

gsize
kvasir_trie_match (const KvasirTrie *self, const char *text, gsize len, guint32 *value)
{
  guint32 cell = KVASIR_TRIE_ROOT;
  gsize longest = 0;

  for (gsize i = 0; i < len; i++)
    {
      cell = kvasir_trie_step (self, cell, (guint8) text[i]);
      if (cell == KVASIR_TRIE_ROOT)
        break;
      if (self->cells[cell].value != KVASIR_TRIE_NO_VALUE)
        {
          *value = self->cells[cell].value;
          longest = i + 1;
        }
    }
  return longest;
}
