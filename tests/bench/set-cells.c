#include "tests/bench/set-cells.h"

#include <math.h>

typedef struct
{
  gint32 pos;
  gint32 shift;
  GTree *seqs; /* (owned) */
} SetCell;

struct _SetCells
{
  guint size;
  guint n_seqs;
  guint head;
  SetCell *cells;    /* (owned) [size] */
  GTree *used;       /* (owned) of cells */
  GTree **positions; /* (owned) [n_seqs] position -> how many cells */
};

static gint
compare (gconstpointer a, gconstpointer b)
{
  return (GPOINTER_TO_INT (a) > GPOINTER_TO_INT (b)) - (GPOINTER_TO_INT (a) < GPOINTER_TO_INT (b));
}

static gboolean
holds (const SetCell *cell, guint seq)
{
  return g_tree_lookup_extended (cell->seqs, GUINT_TO_POINTER (seq), NULL, NULL);
}

static void
join (GTree *set, guint member)
{
  g_tree_insert (set, GUINT_TO_POINTER (member), NULL);
}

static void
count_position (SetCells *self, guint seq, gint32 pos, gint by)
{
  GTree *map = self->positions[seq];
  gint n = GPOINTER_TO_INT (g_tree_lookup (map, GINT_TO_POINTER (pos))) + by;

  if (n > 0)
    g_tree_insert (map, GINT_TO_POINTER (pos), GINT_TO_POINTER (n));
  else
    g_tree_remove (map, GINT_TO_POINTER (pos));
}

SetCells *
set_cells_new (guint size, guint n_seqs)
{
  SetCells *self = g_new0 (SetCells, 1);

  self->size = size;
  self->n_seqs = n_seqs;
  self->cells = g_new0 (SetCell, size);
  self->used = g_tree_new (compare);
  self->positions = g_new0 (GTree *, n_seqs);
  for (guint i = 0; i < size; i++)
    {
      self->cells[i].pos = -1;
      self->cells[i].seqs = g_tree_new (compare);
    }
  for (guint s = 0; s < n_seqs; s++)
    self->positions[s] = g_tree_new (compare);
  return self;
}

void
set_cells_free (SetCells *self)
{
  for (guint i = 0; i < self->size; i++)
    g_tree_destroy (self->cells[i].seqs);
  for (guint s = 0; s < self->n_seqs; s++)
    g_tree_destroy (self->positions[s]);
  g_tree_destroy (self->used);
  g_free (self->positions);
  g_free (self->cells);
  g_free (self);
}

gint
set_cells_find (const SetCells *self)
{
  for (guint tested = 0; tested < self->size; tested++)
    {
      guint i = (self->head + tested) % self->size;

      if (g_tree_nnodes (self->cells[i].seqs) == 0)
        return (gint) i;
    }
  return -1;
}

gboolean
set_cells_append (SetCells *self, guint seq, gint32 pos)
{
  gint i = set_cells_find (self);

  if (i < 0)
    return FALSE;
  self->cells[i].pos = pos;
  join (self->cells[i].seqs, seq);
  join (self->used, (guint) i);
  count_position (self, seq, pos, 1);
  self->head = (guint) i + 1;
  return TRUE;
}

void
set_cells_copy (SetCells *self, guint src, guint dst)
{
  for (guint i = 0; i < self->size; i++)
    if (holds (&self->cells[i], src) && !holds (&self->cells[i], dst))
      {
        join (self->cells[i].seqs, dst);
        count_position (self, dst, self->cells[i].pos, 1);
      }
}

static gboolean
is_meant (const SetCell *cell, guint seq, gint32 p0, gint32 p1)
{
  return cell->pos >= p0 && cell->pos < p1 && holds (cell, seq);
}

static gboolean
move_position (gpointer key, gpointer value, gpointer data)
{
  gpointer *args = data;
  gint32 from = GPOINTER_TO_INT (args[1]);
  gint32 to = GPOINTER_TO_INT (args[2]);

  count_position (args[0], GPOINTER_TO_UINT (key), from, -1);
  count_position (args[0], GPOINTER_TO_UINT (key), to, 1);
  return FALSE;
}

void
set_cells_add (SetCells *self, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  for (guint i = 0; i < self->size; i++)
    if (is_meant (&self->cells[i], seq, p0, p1))
      {
        SetCell *cell = &self->cells[i];
        gpointer args[] = { self, GINT_TO_POINTER (cell->pos),
                            GINT_TO_POINTER (cell->pos + delta) };

        g_tree_foreach (cell->seqs, move_position, args);
        cell->pos += delta;
        cell->shift += delta;
      }
  self->head = 0;
}

void
set_cells_remove (SetCells *self, guint seq, gint32 p0, gint32 p1)
{
  for (guint i = self->size; i-- > 0;)
    if (is_meant (&self->cells[i], seq, p0, p1))
      {
        SetCell *cell = &self->cells[i];

        g_tree_remove (cell->seqs, GUINT_TO_POINTER (seq));
        count_position (self, seq, cell->pos, -1);
        if (g_tree_nnodes (cell->seqs) > 0)
          continue;
        cell->pos = -1;
        g_tree_remove (self->used, GUINT_TO_POINTER (i));
        self->head = MIN (self->head, i);
      }
}

void
set_cells_fill_mask (const SetCells *self, guint seq, gint32 pos, float *row, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const SetCell *cell = &self->cells[i];

      row[i] = cell->pos >= 0 && cell->pos <= pos && holds (cell, seq) ? 0 : -INFINITY;
    }
}
