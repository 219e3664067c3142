/* Matching a request against what the sequences of its chat hold. */
#include <string.h>

#include "engine/session/session-private.h"

/* How many tokens of the sequence are the prompt's, from position 0 on and without a gap. @found:
 * scratch, [n tokens]. */
static guint
measure_cells (const KvasirSession *self, guint seq, const GArray *tokens, guint8 *found)
{
  const guint stream = kvasir_memory_get_stream (self->memory, 0, seq);
  const guint used_max = kvasir_memory_get_used_max (self->memory, 0, stream);
  guint n = 0;

  memset (found, 0, tokens->len);
  for (guint i = 0; i < used_max; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, stream, i, &cell);
      if (cell.pos >= 0 && (guint) cell.pos < tokens->len && kvasir_seq_set_has (&cell.seqs, seq))
        found[cell.pos] = cell.token == g_array_index (tokens, gint32, cell.pos);
    }
  while (n < tokens->len && found[n])
    n++;
  return n;
}

/* The same where a sequence has one state for all of its tokens; nothing, if what it was made of is
 * not known entirely. */
static guint
measure_known (const KvasirSession *self, guint seq, const GArray *tokens)
{
  const GArray *known = kvasir_seq_table_get (self->seqs, (gint) seq)->tokens;
  guint n = 0;

  if (kvasir_memory_seq_pos_max (self->memory, (gint) seq) + 1 != (gint32) known->len)
    return 0;
  while (n < known->len && n < tokens->len &&
         g_array_index (known, gint32, n) == g_array_index (tokens, gint32, n))
    n++;
  return n;
}

/* Whether going on at the end of @n tokens would lose nothing of the sequence. */
static gboolean
ends_there (const KvasirSession *self, guint seq, guint n)
{
  return kvasir_memory_seq_pos_max (self->memory, (gint) seq) + 1 == (gint32) n;
}

/* What of a sequence can be gone on from. */
typedef struct
{
  guint n_common;                     /* tokens that it has in common with the prompt */
  guint n_usable;                     /* of these, after which its memory is whole */
  const KvasirCheckpoint *checkpoint; /* (nullable): that takes it there */
} Match;

/* @n_common: tokens of the prompt that the cells hold, or all of them where cells do not matter.
 * The last token is always computed, since the logits after it are needed. */
static void
measure_usable (const KvasirSession *self, gint seq, const GArray *tokens, Match *match)
{
  const guint n = MIN (match->n_common, tokens->len - 1);
  const KvasirCheckpoint *checkpoint =
      kvasir_checkpoints_find (self->checkpoints, (const gint32 *) (gpointer) tokens->data, n);

  match->n_usable = seq < 0 ? 0 : (guint) kvasir_memory_get_rewind (self->memory, seq, (gint32) n);
  if (checkpoint == NULL || checkpoint->n_tokens <= match->n_usable)
    return;
  match->n_usable = checkpoint->n_tokens;
  match->checkpoint = checkpoint;
}

static Match
match_seq (const KvasirSession *self, guint seq, const GArray *tokens, guint8 *found)
{
  Match match = { 0 };

  match.n_common = self->has_cells ? measure_cells (self, seq, tokens, found)
                                   : measure_known (self, seq, tokens);
  if (match.n_common > 0)
    measure_usable (self, (gint) seq, tokens, &match);
  return match;
}

/* Whether @a goes on better than @b: with more that need not be read, or more in common, or from
 * its end, or it was used later. */
static gboolean
is_better (const KvasirSession *self, guint a, guint b, const Match *matches)
{
  gboolean a_ends;

  if (matches[a].n_usable != matches[b].n_usable)
    return matches[a].n_usable > matches[b].n_usable;
  if (matches[a].n_common != matches[b].n_common)
    return matches[a].n_common > matches[b].n_common;
  a_ends = ends_there (self, a, matches[a].n_common);
  if (a_ends != ends_there (self, b, matches[b].n_common))
    return a_ends;
  return kvasir_seq_table_get (self->seqs, (gint) a)->used_at >
         kvasir_seq_table_get (self->seqs, (gint) b)->used_at;
}

/* The best of the chat's sequences, and of those that came from a file and are nobody's yet. */
static gint
choose_source (const KvasirSession *self,
               const KvasirRequest *request,
               const GArray *tokens,
               Match *matches)
{
  KvasirSeqSet held = kvasir_session_get_held (self);
  g_autofree guint8 *found = g_malloc (tokens->len);
  gint source = -1;

  for (guint seq = 0; seq < self->n_seqs; seq++)
    {
      guint64 chat_id = kvasir_seq_table_get (self->seqs, (gint) seq)->chat_id;
      gboolean own = chat_id == request->chat_id;
      if (!own && (chat_id != 0 || !kvasir_seq_set_has (&held, seq)))
        continue;
      matches[seq] = match_seq (self, seq, tokens, found);
      if (!own && matches[seq].n_common == 0)
        continue;
      if (source < 0 || is_better (self, seq, (guint) source, matches))
        source = (gint) seq;
    }
  return source;
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
  if (plan->source < 0 || ends_there (self, (guint) plan->source, plan->n_common))
    return FALSE;
  if (request->keep_other ||
      kvasir_seq_table_get (self->seqs, plan->source)->chat_id != request->chat_id)
    return TRUE;
  if (plan->n_common == plan->prompt.tokens->len)
    return FALSE;
  const KvasirMessageRun *run =
      kvasir_seq_table_find (self->seqs, plan->source, (gint32) plan->n_common);
  return run != NULL && run->role == KVASIR_ROLE_ASSISTANT &&
         !is_on_path (request, run->message_id);
}

void
kvasir_session_match (const KvasirSession *self,
                      const KvasirRequest *request,
                      KvasirSessionPlan *plan)
{
  const GArray *tokens = plan->prompt.tokens;
  Match matches[KVASIR_MAX_SEQS], none = { .n_common = tokens->len };

  plan->source = choose_source (self, request, tokens, matches);
  /* A state without cells can be taken up by any sequence. */
  if (!self->has_cells)
    measure_usable (self, -1, tokens, &none);
  if (plan->source < 0)
    none.n_common = 0;
  if (plan->source < 0 || none.n_usable > matches[plan->source].n_usable)
    {
      plan->n_common = plan->source < 0 ? 0 : matches[plan->source].n_common;
      plan->n_shared = none.n_usable;
      plan->checkpoint = none.checkpoint;
    }
  else
    {
      plan->n_common = matches[plan->source].n_common;
      plan->n_shared = matches[plan->source].n_usable;
      plan->checkpoint = matches[plan->source].checkpoint;
    }
  plan->fork = must_fork (self, request, plan);
}
