/* What a request would need: its prompt, what of it is there already, and room for the rest. */
#include "engine/error.h"
#include "engine/session/session-private.h"

/* Once for each model, what its template does to the cells. */
static void
tell_of_stability (KvasirSession *self)
{
  static const char *const words[] = {
    [KVASIR_PREFIX_STABLE] = "template: each turn reads new text only",
    [KVASIR_PREFIX_REPLY_MOVES] = "template: each turn rereads the last reply",
    [KVASIR_PREFIX_PROMPT_MOVES] = "template: rewrites how the last reply begins",
    [KVASIR_PREFIX_ALL_MOVES] = "template: each turn rereads the whole chat",
    [KVASIR_PREFIX_UNKNOWN] = "template: refuses a plain chat of two turns",
  };
  KvasirModel *model = kvasir_context_get_model (self->context);
  KvasirEvent event = { .type = KVASIR_EVENT_NOTE };

  g_strlcpy (event.text, words[kvasir_model_get_info (model)->prefix_stability], sizeof event.text);
  kvasir_session_emit (self, &event, NULL, 0);
}

static const KvasirTemplate *
get_template (KvasirSession *self, GError **error)
{
  const KvasirTemplate *own =
      self->fallback == NULL
          ? kvasir_model_get_template (kvasir_context_get_model (self->context), error)
          : NULL;

  if (!self->told_of_template && self->fallback != NULL)
    {
      KvasirEvent event = { .type = KVASIR_EVENT_NOTE,
                            .text = "no chat template in the model, using ChatML" };
      kvasir_session_emit (self, &event, NULL, 0);
    }
  else if (!self->told_of_template && own != NULL)
    tell_of_stability (self);
  self->told_of_template = TRUE;
  return self->fallback != NULL ? self->fallback : own;
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
plan_shared_room (const KvasirSession *self, const KvasirRequest *request, KvasirSessionPlan *plan)
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

/* A sequence that has cells of its own: nobody else's would help. */
static void
plan_own_room (const KvasirSession *self, KvasirSessionPlan *plan)
{
  plan->n_free = self->n_cells - MIN (plan->n_shared, self->n_cells);
  plan->fits = plan->n_free >= plan->n_needed;
}

static void
plan_room (const KvasirSession *self, const KvasirRequest *request, KvasirSessionPlan *plan)
{
  if (self->has_cells && self->has_streams)
    plan_own_room (self, plan);
  else if (self->has_cells)
    plan_shared_room (self, request, plan);
  else
    {
      /* A state takes in any number of tokens. */
      plan->n_free = plan->n_needed;
      plan->fits = TRUE;
    }
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
  kvasir_session_match (self, request, plan);
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
