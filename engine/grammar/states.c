#include "engine/grammar/closure.h"

KvasirStates *
kvasir_states_new (const KvasirGrammar *grammar)
{
  g_return_val_if_fail (grammar != NULL, NULL);

  const KvasirThread end = { .pos = KVASIR_POS_END };
  KvasirStates *self = g_new0 (KvasirStates, 1);
  g_autoptr (GArray) threads = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  self->grammar = grammar;
  self->row_of = g_array_new (FALSE, TRUE, sizeof (guint32));
  self->rows = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->closure = kvasir_closure_new (grammar);
  kvasir_thread_sets_init (&self->frames);
  kvasir_thread_sets_init (&self->states);
  /* The dead state is the first one, and the frame behind the whole text the first frame. */
  kvasir_thread_sets_intern (&self->states, threads);
  g_array_append_val (threads, end);
  kvasir_thread_sets_intern (&self->frames, threads);
  g_array_set_size (self->row_of, 1);
  return self;
}

void
kvasir_states_free (KvasirStates *self)
{
  if (self == NULL)
    return;
  kvasir_thread_sets_clear (&self->frames);
  kvasir_thread_sets_clear (&self->states);
  g_array_unref (self->row_of);
  g_array_unref (self->rows);
  kvasir_closure_free (self->closure);
  g_free (self);
}

/* Every state has its place in row_of. */
static guint32
note_state (KvasirStates *self, guint32 state)
{
  if (state >= self->row_of->len)
    g_array_set_size (self->row_of, state + 1);
  return state;
}

guint32
kvasir_states_start (KvasirStates *self)
{
  const KvasirThread end = { .pos = KVASIR_POS_END };
  guint32 root = self->grammar->root;
  kvasir_closure_call (self->closure, self, root, end);
  if (kvasir_grammar_rule (self->grammar, root)->nullable)
    kvasir_closure_visit (self->closure, end);
  return note_state (self, kvasir_closure_finish (self->closure, self));
}

static void
add_row (KvasirStates *self, guint32 state)
{
  guint from = self->rows->len;
  guint n = self->grammar->cuts->len;
  self->effort += n / 8;
  g_array_set_size (self->rows, from + n);
  for (guint i = 0; i < n; i++)
    g_array_index (self->rows, guint32, from + i) =
        state == KVASIR_STATE_DEAD ? KVASIR_STATE_DEAD : KVASIR_STATE_UNKNOWN;
  g_array_index (self->row_of, guint32, state) = from + 1;
}

guint32
kvasir_states_build_step (KvasirStates *self, guint32 state, guint32 klass)
{
  guint32 code = g_array_index (self->grammar->cuts, guint32, klass);
  guint n;
  if (g_array_index (self->row_of, guint32, state) == 0)
    add_row (self, state);
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, state, &n);
  self->effort += n;
  for (guint i = 0; i < n && threads[i].pos != KVASIR_POS_END; i++)
    {
      const KvasirElement *element = kvasir_grammar_element (self->grammar, threads[i].pos);
      if (element->kind == KVASIR_ELEMENT_SET &&
          kvasir_grammar_set_meets (self->grammar, element->index, code, code))
        kvasir_closure_visit (self->closure, kvasir_thread_advance (self->grammar, threads[i]));
    }
  guint32 next = note_state (self, kvasir_closure_finish (self->closure, self));
  /* What a limit cut short is no knowledge for later. */
  if (!kvasir_states_is_exhausted (self))
    g_array_index (self->rows, guint32, g_array_index (self->row_of, guint32, state) - 1 + klass) =
        next;
  return next;
}

static gboolean
reads_token (const KvasirElement *element, guint32 id, gboolean is_end)
{
  if (element->kind == KVASIR_ELEMENT_NOT_TOKEN)
    return element->index != id && !is_end;
  return element->kind == KVASIR_ELEMENT_TOKEN && element->index == id;
}

gboolean
kvasir_states_names (const KvasirStates *self, guint32 state, guint32 id, gboolean is_end)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, state, &n);
  for (guint i = 0; i < n && threads[i].pos != KVASIR_POS_END; i++)
    if (reads_token (kvasir_grammar_element (self->grammar, threads[i].pos), id, is_end))
      return TRUE;
  return FALSE;
}

guint32
kvasir_states_step_token (KvasirStates *self, guint32 state, guint32 id, gboolean is_end)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, state, &n);
  for (guint i = 0; i < n && threads[i].pos != KVASIR_POS_END; i++)
    if (reads_token (kvasir_grammar_element (self->grammar, threads[i].pos), id, is_end))
      kvasir_closure_visit (self->closure, kvasir_thread_advance (self->grammar, threads[i]));
  return note_state (self, kvasir_closure_finish (self->closure, self));
}

guint32
kvasir_states_join (KvasirStates *self, guint32 a, guint32 b)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, a, &n);
  g_autoptr (GArray) both = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  if (a == b || b == KVASIR_STATE_DEAD)
    return a;
  g_array_append_vals (both, threads, n);
  threads = kvasir_thread_sets_get (&self->states, b, &n);
  g_array_append_vals (both, threads, n);
  return note_state (self, kvasir_thread_sets_intern (&self->states, both));
}

gboolean
kvasir_states_may_end (const KvasirStates *self, guint32 state)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, state, &n);
  /* It is sorted behind all others. */
  return n > 0 && threads[n - 1].pos == KVASIR_POS_END;
}

gboolean
kvasir_states_meets (const KvasirStates *self, guint32 state, guint32 first, guint32 last)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&self->states, state, &n);
  for (guint i = 0; i < n && threads[i].pos != KVASIR_POS_END; i++)
    {
      const KvasirElement *element = kvasir_grammar_element (self->grammar, threads[i].pos);
      if (element->kind == KVASIR_ELEMENT_SET &&
          kvasir_grammar_set_meets (self->grammar, element->index, first, last))
        return TRUE;
    }
  return FALSE;
}

/* ---- memory */

static gsize
get_bytes (const KvasirStates *self)
{
  return kvasir_thread_sets_get_bytes (&self->frames) +
         kvasir_thread_sets_get_bytes (&self->states) +
         (self->rows->len + self->row_of->len) * sizeof (guint32);
}

/* The frames of @set are needed too. */
static void
mark_frames (const KvasirThreadSets *sets, guint32 set, guint32 *needed)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (sets, set, &n);
  for (guint i = 0; i < n; i++)
    needed[threads[i].frame] = 1;
}

/* @set in @sets with the frames' new numbers, as a set of @target. */
static guint32
move_set (const KvasirThreadSets *sets, guint32 set, const guint32 *moved, KvasirThreadSets *target)
{
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (sets, set, &n);
  g_autoptr (GArray) copy = g_array_sized_new (FALSE, FALSE, sizeof (KvasirThread), n);
  g_array_append_vals (copy, threads, n);
  for (guint i = 0; i < n; i++)
    g_array_index (copy, KvasirThread, i).frame = moved[threads[i].frame];
  return kvasir_thread_sets_intern (target, copy);
}

/* A frame is made after those that its threads have, so that one walk down finds what is needed and
 * one walk up moves it. The frame behind the text is its own. */
static void
collect (KvasirStates *self, guint32 *keep, guint n)
{
  KvasirThreadSets frames;
  KvasirThreadSets states;
  guint n_frames = kvasir_thread_sets_get_n (&self->frames);
  g_autofree guint32 *moved = g_new0 (guint32, n_frames);
  kvasir_thread_sets_init (&frames);
  kvasir_thread_sets_init (&states);
  for (guint i = 0; i < n; i++)
    mark_frames (&self->states, keep[i], moved);
  for (guint32 i = n_frames; i-- > 1;)
    if (moved[i])
      mark_frames (&self->frames, i, moved);
  moved[0] = 0;
  for (guint32 i = 0; i < n_frames; i++)
    if (i == 0 || moved[i])
      moved[i] = move_set (&self->frames, i, moved, &frames);
  move_set (&self->states, KVASIR_STATE_DEAD, moved, &states);
  for (guint i = 0; i < n; i++)
    keep[i] = move_set (&self->states, keep[i], moved, &states);
  kvasir_thread_sets_clear (&self->frames);
  kvasir_thread_sets_clear (&self->states);
  self->frames = frames;
  self->states = states;
}

gboolean
kvasir_states_tidy (KvasirStates *self, guint32 *keep, guint n)
{
  if (get_bytes (self) <= KVASIR_STATES_MAX_BYTES)
    return TRUE;
  collect (self, keep, n);
  g_array_set_size (self->rows, 0);
  g_array_set_size (self->row_of, 0);
  g_array_set_size (self->row_of, kvasir_thread_sets_get_n (&self->states));
  self->generation++;
  return get_bytes (self) <= KVASIR_STATES_MAX_BYTES / 2;
}
