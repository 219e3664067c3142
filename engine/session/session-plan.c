/* Matching a request against the cells, and making room for it. */
#include <string.h>

#include "engine/error.h"
#include "engine/session/session-private.h"

static const KvasirTemplate *
get_template (KvasirSession *self, GError **error)
{
  if (self->fallback == NULL)
    return kvasir_model_get_template (kvasir_context_get_model (self->context), error);
  if (!self->told_of_fallback)
    {
      KvasirEvent event = { .type = KVASIR_EVENT_NOTE,
                            .text = "no chat template in the model, using ChatML" };
      kvasir_session_emit (self, &event, NULL, 0);
      self->told_of_fallback = TRUE;
    }
  return self->fallback;
}

/* ---- the longest common prefix */

/* How many tokens of the sequence are the prompt's, from position 0 on and without a gap. @found:
 * scratch, [n tokens]. */
static guint
measure_prefix (const KvasirSession *self, guint seq, const GArray *tokens, guint8 *found)
{
  guint used_max = kvasir_memory_get_used_max (self->memory, 0, 0);
  memset (found, 0, tokens->len);
  for (guint i = 0; i < used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      if (cell.pos >= 0 && (guint) cell.pos < tokens->len && kvasir_seq_set_has (&cell.seqs, seq))
        found[cell.pos] = cell.token == g_array_index (tokens, gint32, cell.pos);
    }
  guint n = 0;
  while (n < tokens->len && found[n])
    n++;
  return n;
}

/* Whether going on at the end of @n_shared tokens would lose nothing of the sequence. */
static gboolean
ends_there (const KvasirSession *self, guint seq, guint n_shared)
{
  return kvasir_memory_seq_pos_max (self->memory, (gint) seq) + 1 == (gint32) n_shared;
}

/* Whether @a goes on better from its prefix than @b: more shared, or one that ends there, or the
 * one used later. */
static gboolean
is_better (const KvasirSession *self, guint a, guint b, const guint *n_shared)
{
  if (n_shared[a] != n_shared[b])
    return n_shared[a] > n_shared[b];
  gboolean a_ends = ends_there (self, a, n_shared[a]);
  if (a_ends != ends_there (self, b, n_shared[b]))
    return a_ends;
  return kvasir_seq_table_get (self->seqs, (gint) a)->used_at >
         kvasir_seq_table_get (self->seqs, (gint) b)->used_at;
}

/* The best of the chat's sequences, and of those that came from a file and are nobody's yet. */
static void
choose_source (const KvasirSession *self, const KvasirRequest *request, KvasirSessionPlan *plan)
{
  guint n_shared[KVASIR_MAX_SEQS];
  KvasirSeqSet held = kvasir_session_get_held (self);
  g_autofree guint8 *found = g_malloc (plan->prompt.tokens->len);
  plan->source = -1;
  for (guint seq = 0; seq < self->n_seqs; seq++)
    {
      guint64 chat_id = kvasir_seq_table_get (self->seqs, (gint) seq)->chat_id;
      gboolean own = chat_id == request->chat_id;
      if (!own && (chat_id != 0 || !kvasir_seq_set_has (&held, seq)))
        continue;
      n_shared[seq] = measure_prefix (self, seq, plan->prompt.tokens, found);
      if (!own && n_shared[seq] == 0)
        continue;
      if (plan->source < 0 || is_better (self, seq, (guint) plan->source, n_shared))
        plan->source = (gint) seq;
    }
  plan->n_shared = plan->source < 0 ? 0 : n_shared[plan->source];
}

static gboolean
is_on_path (const KvasirRequest *request, guint64 message_id)
{
  for (guint i = 0; i < request->messages->len; i++)
    {
      const KvasirMessage *message = g_ptr_array_index (request->messages, i);
      if (message->id == message_id)
        return TRUE;
    }
  return FALSE;
}

/* Whether what lies behind the shared part has to stay: an alternative is asked for, or the texts
 * part inside an answer that stands on another path. */
static gboolean
must_fork (const KvasirSession *self, const KvasirRequest *request, const KvasirSessionPlan *plan)
{
  if (plan->source < 0 || ends_there (self, (guint) plan->source, plan->n_shared))
    return FALSE;
  if (request->keep_other ||
      kvasir_seq_table_get (self->seqs, plan->source)->chat_id != request->chat_id)
    return TRUE;
  if (plan->n_shared == plan->prompt.tokens->len)
    return FALSE;
  const KvasirMessageRun *run =
      kvasir_seq_table_find (self->seqs, plan->source, (gint32) plan->n_shared);
  return run != NULL && run->role == KVASIR_ROLE_ASSISTANT &&
         !is_on_path (request, run->message_id);
}

/* ---- room */

/* Cells that become free when @gone leave and, unless forked, the source is cut at @n_shared. */
static guint
count_freed (const KvasirSession *self, const KvasirSessionPlan *plan, const KvasirSeqSet *gone)
{
  guint n = 0;
  guint used_max = kvasir_memory_get_used_max (self->memory, 0, 0);
  for (guint i = 0; i < used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      if (cell.pos < 0)
        continue;
      if (!plan->fork && plan->source >= 0 && cell.pos >= (gint32) plan->n_shared)
        kvasir_seq_set_remove (&cell.seqs, (guint) plan->source);
      cell.seqs = kvasir_seq_set_subtract (&cell.seqs, gone);
      n += kvasir_seq_set_is_empty (&cell.seqs);
    }
  return n;
}

/* Sequences that may be dropped for others: not those of the chat whose answer is written now. */
static KvasirSeqSet
get_idle (const KvasirSession *self)
{
  KvasirSeqSet idle = kvasir_session_get_held (self);
  if (self->run.request == NULL)
    return idle;
  KvasirSeqSet busy = kvasir_seq_table_get_seqs (self->seqs, kvasir_session_get_chat (self));
  return kvasir_seq_set_subtract (&idle, &busy);
}

/* How many of the oldest other chats have to go, and whether that is enough. */
static void
plan_room (const KvasirSession *self, const KvasirRequest *request, KvasirSessionPlan *plan)
{
  guint n_free = self->n_cells - kvasir_memory_get_used (self->memory, 0, 0);
  KvasirSeqSet idle = get_idle (self);
  KvasirSeqSet left = idle;
  KvasirSeqSet gone = { { 0 } };
  guint64 chat_id;

  plan->n_evict = 0;
  plan->n_free = n_free + count_freed (self, plan, &gone);
  while (plan->n_free < plan->n_needed &&
         kvasir_seq_table_find_oldest (self->seqs, request->chat_id, &left, &chat_id))
    {
      KvasirSeqSet seqs = kvasir_seq_table_get_seqs (self->seqs, chat_id);
      left = kvasir_seq_set_subtract (&left, &seqs);
      gone = kvasir_seq_set_subtract (&idle, &left);
      plan->n_evict++;
      plan->n_free = n_free + count_freed (self, plan, &gone);
    }
  plan->fits = plan->n_free >= plan->n_needed;
}

gboolean
kvasir_session_plan (KvasirSession *self,
                     const KvasirRequest *request,
                     KvasirSessionPlan *plan,
                     GError **error)
{
  *plan = (KvasirSessionPlan){ .source = -1 };
  const KvasirTemplate *chat_template = get_template (self, error);
  if (chat_template == NULL)
    return FALSE;
  if (!kvasir_prompt_build (&plan->prompt, self->vocab, chat_template, request, error))
    return FALSE;
  choose_source (self, request, plan);
  plan->fork = must_fork (self, request, plan);
  /* The logits after the last token are needed, so it is always computed. */
  plan->n_shared = MIN (plan->n_shared, plan->prompt.tokens->len - 1);
  plan->n_needed = plan->prompt.tokens->len - plan->n_shared;
  plan_room (self, request, plan);
  return TRUE;
}

void
kvasir_session_plan_clear (KvasirSessionPlan *plan)
{
  kvasir_prompt_clear (&plan->prompt);
}

void
kvasir_session_set_no_room (const KvasirSession *self,
                            const KvasirSessionPlan *plan,
                            GError **error)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
               "The prompt has %u tokens, of which %u must be read into as many cells; "
               "%u of %u cells can be had",
               plan->prompt.tokens->len, plan->n_needed, plan->n_free, self->n_cells);
}

/* ---- carrying it out */

static guint
count_cells (const KvasirSession *self, gint seq)
{
  guint n = 0;
  guint used_max = kvasir_memory_get_used_max (self->memory, 0, 0);
  for (guint i = 0; i < used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      n += cell.pos >= 0 && kvasir_seq_set_has (&cell.seqs, (guint) seq);
    }
  return n;
}

static void
evict (KvasirSession *self, guint64 chat_id, const KvasirSeqSet *seqs)
{
  guint used = kvasir_memory_get_used (self->memory, 0, 0);
  for (guint seq = 0; seq < self->n_seqs; seq++)
    {
      if (!kvasir_seq_set_has (seqs, seq))
        continue;
      KvasirEvent event = { .type = KVASIR_EVENT_EVICT,
                            .seq = (gint32) seq,
                            .n = (gint32) count_cells (self, (gint) seq),
                            .a = (gint64) (chat_id & G_MAXUINT32) };
      kvasir_session_emit (self, &event, NULL, 0);
    }
  kvasir_session_drop_seqs (self, seqs);
  KvasirNotice *notice = kvasir_session_new_notice (self, KVASIR_NOTICE_EVICTED);
  notice->chat_id = chat_id;
  notice->n_total = used - kvasir_memory_get_used (self->memory, 0, 0);
  kvasir_session_post (self, notice);
}

gboolean
kvasir_session_evict_oldest (KvasirSession *self, guint64 except)
{
  guint64 chat_id;
  KvasirSeqSet held = kvasir_session_get_held (self);
  if (!kvasir_seq_table_find_oldest (self->seqs, except, &held, &chat_id))
    return FALSE;
  KvasirSeqSet seqs = kvasir_seq_table_get_seqs (self->seqs, chat_id);
  seqs = kvasir_seq_set_intersect (&seqs, &held);
  evict (self, chat_id, &seqs);
  return TRUE;
}

static gint
find_free_seq (const KvasirSession *self)
{
  KvasirSeqSet held = kvasir_session_get_held (self);
  for (guint seq = 0; seq < self->n_seqs; seq++)
    if (!kvasir_seq_set_has (&held, seq))
      return (gint) seq;
  return -1;
}

/* Whether a new sequence can be had at all. */
static gboolean
check_seqs (const KvasirSession *self,
            const KvasirRequest *request,
            const KvasirSessionPlan *plan,
            GError **error)
{
  guint64 chat_id;
  KvasirSeqSet held = kvasir_session_get_held (self);
  if (plan->source >= 0 && !plan->fork)
    return TRUE;
  if (find_free_seq (self) >= 0 ||
      kvasir_seq_table_find_oldest (self->seqs, request->chat_id, &held, &chat_id))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
               "All %u sequences hold answers of this chat; another answer needs one more",
               self->n_seqs);
  return FALSE;
}

/* A new sequence with the shared part of the source. */
static gint
fork_source (KvasirSession *self,
             const KvasirRequest *request,
             const KvasirSessionPlan *plan,
             guint *n_shared)
{
  gint seq = find_free_seq (self);
  if (seq < 0 && kvasir_session_evict_oldest (self, request->chat_id))
    seq = find_free_seq (self);
  g_assert (seq >= 0);
  kvasir_seq_table_reset (self->seqs, seq);
  if (plan->source < 0 || plan->n_shared == 0)
    return seq;
  if (kvasir_memory_seq_cp (self->memory, plan->source, seq, 0, (gint32) plan->n_shared))
    kvasir_seq_table_fork (self->seqs, plan->source, seq, (gint32) plan->n_shared);
  else
    *n_shared = 0;
  return seq;
}

/* Takes back what does not belong to the prompt. */
static void
rewind_source (KvasirSession *self, gint seq, guint *n_shared)
{
  gint32 from = (gint32) *n_shared;
  if (kvasir_memory_seq_pos_max (self->memory, seq) >= from &&
      !kvasir_memory_seq_rm (self->memory, seq, from, -1))
    {
      /* This kind of memory cannot go back into the middle: everything is read again. */
      kvasir_memory_seq_rm (self->memory, seq, -1, -1);
      *n_shared = 0;
    }
  kvasir_seq_table_erase (self->seqs, seq, (gint32) *n_shared, G_MAXINT32);
}

gint
kvasir_session_prepare (KvasirSession *self,
                        const KvasirRequest *request,
                        const KvasirSessionPlan *plan,
                        guint *n_shared,
                        GError **error)
{
  if (!plan->fits)
    {
      kvasir_session_set_no_room (self, plan, error);
      return -1;
    }
  if (!check_seqs (self, request, plan, error))
    return -1;

  kvasir_mask_tap_invalidate (self->mask_tap);
  for (guint i = 0; i < plan->n_evict; i++)
    kvasir_session_evict_oldest (self, request->chat_id);
  gint seq = plan->source;
  *n_shared = plan->n_shared;
  if (seq < 0 || plan->fork)
    seq = fork_source (self, request, plan, n_shared);
  else
    rewind_source (self, seq, n_shared);
  return seq;
}
