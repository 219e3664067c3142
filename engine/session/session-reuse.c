/* Carrying a plan out: making room, then forking or rewinding what is shared. */
#include "engine/error.h"
#include "engine/session/session-private.h"

static guint
count_cells (const KvasirSession *self, gint seq)
{
  guint n = 0;
  guint stream = kvasir_memory_get_stream (self->memory, 0, (guint) seq);
  guint used_max = kvasir_memory_get_used_max (self->memory, 0, stream);
  for (guint i = 0; i < used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, stream, i, &cell);
      n += cell.pos >= 0 && kvasir_seq_set_has (&cell.seqs, (guint) seq);
    }
  return n;
}

/* Of all streams of the first cache. */
static guint
count_used (const KvasirSession *self)
{
  KvasirCacheInfo info;
  guint n = 0;
  kvasir_memory_get_cache_info (self->memory, 0, &info);
  for (guint s = 0; s < info.n_streams; s++)
    n += kvasir_memory_get_used (self->memory, 0, s);
  return n;
}

static void
evict (KvasirSession *self, guint64 chat_id, const KvasirSeqSet *seqs)
{
  guint used = count_used (self);
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
  notice->n_total = used - count_used (self);
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

static gint
take_free_seq (KvasirSession *self, const KvasirRequest *request)
{
  gint seq = find_free_seq (self);
  if (seq < 0 && kvasir_session_evict_oldest (self, request->chat_id))
    seq = find_free_seq (self);
  g_assert (seq >= 0);
  kvasir_seq_table_reset (self->seqs, seq);
  return seq;
}

/* Cuts the sequence behind its first @n positions. FALSE: refused, nothing changed. */
static gboolean
cut (KvasirSession *self, gint seq, guint n)
{
  return kvasir_memory_seq_pos_max (self->memory, seq) < (gint32) n ||
         kvasir_memory_seq_rm (self->memory, seq, (gint32) n, -1);
}

static void
note_checkpoint (KvasirSession *self, const char *what, gint seq, guint n)
{
  KvasirEvent event = { .type = KVASIR_EVENT_NOTE, .seq = seq, .pos = (gint32) n };
  g_snprintf (event.text, sizeof event.text, "checkpoint %s at position %u", what, n);
  kvasir_session_emit (self, &event, NULL, 0);
}

/* The sequence goes back to where the checkpoint was made. FALSE: it has no room. The other half of
 * the memory still reaches beyond, whatever the last position is said to be. */
static gboolean
restore (KvasirSession *self, gint seq, const KvasirCheckpoint *checkpoint)
{
  const GByteArray *state = checkpoint->state;
  if (!kvasir_memory_state_read (self->memory, seq, TRUE, state->data, state->len, NULL) ||
      !kvasir_memory_seq_rm (self->memory, seq, (gint32) checkpoint->n_tokens, -1) ||
      kvasir_memory_seq_pos_max (self->memory, seq) + 1 != (gint32) checkpoint->n_tokens)
    return FALSE;
  kvasir_checkpoints_use (self->checkpoints, checkpoint);
  note_checkpoint (self, "restored", seq, checkpoint->n_tokens);
  return TRUE;
}

/* The cells of the source join @seq. Between streams, and where a state is shared, only all of them
 * can, of which the rest then leaves again. */
static gboolean
copy_shared (KvasirSession *self, const KvasirSessionPlan *plan, gint seq)
{
  const gboolean whole = self->has_streams || self->has_states;
  const gint32 end = whole ? -1 : (gint32) plan->n_shared;

  if (!self->has_cells && plan->checkpoint != NULL)
    return TRUE;
  if (!kvasir_memory_seq_cp (self->memory, plan->source, seq, whole ? -1 : 0, end))
    return FALSE;
  return plan->checkpoint != NULL || cut (self, seq, plan->n_shared);
}

/* Nothing of it can be used: everything is read again. */
static void
start_over (KvasirSession *self, gint seq, guint *n_shared)
{
  kvasir_memory_seq_rm (self->memory, seq, -1, -1);
  kvasir_seq_table_reset (self->seqs, seq);
  *n_shared = 0;
}

/* A new sequence with the shared part of the source. */
static gint
fork_source (KvasirSession *self,
             const KvasirRequest *request,
             const KvasirSessionPlan *plan,
             guint *n_shared)
{
  gint seq = take_free_seq (self, request);
  if (plan->n_shared == 0)
    return seq;
  if ((plan->source >= 0 && !copy_shared (self, plan, seq)) ||
      (plan->checkpoint != NULL && !restore (self, seq, plan->checkpoint)))
    start_over (self, seq, n_shared);
  else if (plan->source >= 0 && plan->n_common >= plan->n_shared)
    kvasir_seq_table_fork (self->seqs, plan->source, seq, (gint32) plan->n_shared);
  return seq;
}

/* Takes back what does not belong to the prompt. */
static void
rewind_source (KvasirSession *self, gint seq, const KvasirSessionPlan *plan, guint *n_shared)
{
  gboolean done = plan->checkpoint != NULL ? restore (self, seq, plan->checkpoint)
                                           : cut (self, seq, plan->n_shared);
  if (!done)
    start_over (self, seq, n_shared);
  kvasir_seq_table_erase (self->seqs, seq, (gint32) MIN (*n_shared, plan->n_common), G_MAXINT32);
}

/* What the prompt's first tokens were is known again, whoever read them. */
static void
note_shared (KvasirSession *self, gint seq, const KvasirSessionPlan *plan, guint n_shared)
{
  const gint32 *tokens = (const gint32 *) (gpointer) plan->prompt.tokens->data;
  guint n_known = kvasir_seq_table_get (self->seqs, seq)->tokens->len;

  if (!self->has_cells && n_known < n_shared)
    kvasir_seq_table_note_tokens (self->seqs, seq, (gint32) n_known, tokens + n_known,
                                  n_shared - n_known);
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
    rewind_source (self, seq, plan, n_shared);
  note_shared (self, seq, plan, *n_shared);
  return seq;
}

/* ---- checkpoints */

/* The sequence holds exactly the first @n tokens of the prompt. */
void
kvasir_session_keep_checkpoint (KvasirSession *self, guint n)
{
  const KvasirRun *run = &self->run;
  const gint32 *tokens = (const gint32 *) (gpointer) run->prompt.tokens->data;
  const KvasirCheckpoint *same = kvasir_checkpoints_find (self->checkpoints, tokens, n);
  gsize before = kvasir_checkpoints_get_bytes (self->checkpoints);
  GByteArray *state;

  if (same != NULL && same->n_tokens == n)
    {
      kvasir_checkpoints_use (self->checkpoints, same);
      return;
    }
  state = g_byte_array_new ();
  if (!kvasir_memory_state_write (self->memory, run->seq, TRUE, state, NULL))
    {
      g_byte_array_unref (state);
      return;
    }
  kvasir_checkpoints_add (self->checkpoints, run->request->chat_id, tokens, n, state);
  note_checkpoint (self, "kept", run->seq, n);
  kvasir_session_emit_checkpoints (self, before);
}
