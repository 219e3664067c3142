/* Saves and loads: of a sequence what its last token still reads, of the whole everything. */
#include "tests/engine/memory/naive.h"

struct _NaiveSave
{
  gboolean whole;
  gboolean partial;
  guint first_cache;  /* partial saves leave the full half out */
  GPtrArray *cells;   /* (owned) of GArray of NaiveCell: caches, each with its streams */
  gboolean has_state; /* of the sequence */
  NaiveState state;   /* of the sequence */
  Naive *states_of;   /* (owned) (nullable): of the whole, where its states are */
};

static GArray *
list_cells (const NaiveCache *self, guint stream, gint seq)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (NaiveCell));
  gint32 last = seq >= 0 ? naive_cache_last (self, (guint) seq) : -1;

  for (guint i = 0; i < self->size; i++)
    {
      const NaiveCell *cell = &self->streams[stream].cells[i];

      if (cell->pos < 0)
        continue;
      if (seq >= 0 && (!kvasir_seq_set_has (&cell->seqs, (guint) seq) ||
                       naive_cache_masks (self, cell->pos, last)))
        continue;
      g_array_append_val (list, *cell);
    }
  return list;
}

NaiveSave *
naive_save (const Naive *self, gint seq, gboolean partial)
{
  NaiveSave *saved = g_new0 (NaiveSave, 1);

  saved->whole = seq < 0;
  saved->partial = partial;
  saved->first_cache = partial ? 1 : 0;
  saved->cells = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint c = saved->first_cache; c < self->n_caches; c++)
    {
      const NaiveCache *cache = &self->caches[c];

      if (seq >= 0)
        g_ptr_array_add (saved->cells,
                         list_cells (cache, naive_cache_get_stream (cache, (guint) seq), seq));
      else
        for (guint s = 0; s < cache->n_streams; s++)
          g_ptr_array_add (saved->cells, list_cells (cache, s, -1));
    }
  if (seq < 0 && self->has_states)
    saved->states_of = naive_copy (self);
  else if (seq >= 0 && naive_find_state (self, (guint) seq) != NULL)
    {
      saved->has_state = TRUE;
      saved->state = *naive_find_state (self, (guint) seq);
    }
  return saved;
}

void
naive_save_free (NaiveSave *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->cells);
  naive_free (self->states_of);
  g_free (self);
}

static void
load_whole (NaiveCache *self, guint first_list, const NaiveSave *saved)
{
  naive_cache_clear (self);
  for (guint s = 0; s < self->n_streams; s++)
    {
      const GArray *list = g_ptr_array_index (saved->cells, first_list + s);

      for (guint i = 0; i < list->len; i++)
        {
          self->streams[s].cells[i] = g_array_index (list, NaiveCell, i);
          self->streams[s].cells[i].shift = 0;
        }
    }
}

static gboolean
load_seq (NaiveCache *self, guint seq, const GArray *list)
{
  g_autofree NaiveCell *cells = g_new0 (NaiveCell, list->len);
  g_autofree guint *slots = g_new0 (guint, self->size);
  guint stream = naive_cache_get_stream (self, seq);

  naive_cache_remove (self, (gint) seq, 0, NAIVE_NO_END);
  if (list->len == 0)
    return TRUE;
  if (!naive_cache_search (self, stream, list->len, TRUE, slots))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    {
      cells[i] = g_array_index (list, NaiveCell, i);
      cells[i].shift = 0;
      cells[i].seqs = (KvasirSeqSet){ 0 };
      kvasir_seq_set_add (&cells[i].seqs, seq);
    }
  naive_cache_place (self, stream, cells, list->len, slots);
  return TRUE;
}

static void
load_states (Naive *self, gint seq, const NaiveSave *saved)
{
  if (seq < 0)
    for (guint s = 0; s < self->shape.n_seqs; s++)
      {
        self->states[s] = saved->states_of->states[s];
        self->states[s].n_kept = MIN (self->states[s].n_kept, 1);
        self->state_of[s] = saved->states_of->state_of[s];
      }
  else if (saved->has_state)
    naive_states_set (self, (guint) seq, &saved->state);
  else
    self->state_of[seq] = -1;
}

gboolean
naive_load (Naive *self, gint seq, gboolean partial, const NaiveSave *saved)
{
  g_autoptr (Naive) after = naive_copy (self);
  guint n_streams = seq < 0 ? self->shape.n_streams : 1;

  if (saved->whole != (seq < 0) || saved->partial != partial)
    return FALSE;
  for (guint c = saved->first_cache; c < self->n_caches; c++)
    {
      guint first = (c - saved->first_cache) * n_streams;

      if (seq < 0)
        load_whole (&after->caches[c], first, saved);
      else if (!load_seq (&after->caches[c], (guint) seq, g_ptr_array_index (saved->cells, first)))
        return FALSE;
    }
  if (self->has_states)
    load_states (after, seq, saved);
  naive_take (self, g_steal_pointer (&after));
  return TRUE;
}
