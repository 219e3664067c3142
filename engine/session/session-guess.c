/* Guesses in the cells: read behind the token that is known, kept or taken back one by one. */
#include "engine/error.h"
#include "engine/session/guess-model.h"
#include "engine/session/session-private.h"

/* How many tokens can be guessed at a time: the row of each must be, bit for bit, what it would be
 * in a step of its own, the step must be one part, which is taken back whole, and what is wrong
 * must be able to leave. */
static guint
get_max_width (const KvasirSession *self)
{
  const KvasirDevice *device = kvasir_context_get_device (self->context);
  guint width = MIN ((guint) MAX (device->n_alike, 1), self->n_ubatch) - 1;

  if (self->has_states)
    width = MIN (width, kvasir_memory_get_n_keep (self->memory));
  return MIN (width, KVASIR_MAX_GUESSES);
}

static gboolean
check_width (const KvasirSession *self, GError **error)
{
  const KvasirDevice *device = kvasir_context_get_device (self->context);
  const char *arch = kvasir_model_get_info (kvasir_context_get_model (self->context))->arch;

  if (get_max_width (self) > 0)
    return TRUE;
  if (self->has_states && kvasir_memory_get_n_keep (self->memory) == 0)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                 "Nothing is guessed: the states of architecture %s keep no earlier ones here, so "
                 "that a wrong guess could not be taken back",
                 arch);
  else
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                 "Nothing is guessed: %s with parts of %u tokens does not give tokens that are "
                 "read together what each gets alone",
                 device->name, self->n_ubatch);
  return FALSE;
}

static void
emit_guessing_bytes (KvasirSession *self, gint sign)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));

  if (self->guesser != NULL)
    kvasir_guesser_append_breakdown (self->guesser, rows);
  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      KvasirEvent event = { .type = KVASIR_EVENT_BUFFER,
                            .a = sign * (gint64) row->n_bytes,
                            .b = row->kind };
      g_strlcpy (event.text, row->buffer_type, sizeof event.text);
      kvasir_session_emit (self, &event, NULL, 0);
    }
}

/* A step's rows lie in memory that is there from now on. */
static gboolean
start_guessing (KvasirSession *self,
                const KvasirGuessParams *params,
                KvasirContext *context,
                GError **error)
{
  KvasirGuessParams own = *params;

  if (!check_width (self, error))
    return FALSE;
  own.width = CLAMP (params->width, 1, get_max_width (self));
  if (context != NULL && !kvasir_guess_model_check (
                             context, kvasir_context_get_model (self->context), own.width, error))
    return FALSE;
  if (!kvasir_context_reserve_rows (self->context, own.width + 1, error))
    return FALSE;
  if (context != NULL)
    kvasir_context_set_abort_flag (context, self->abort_flag);
  self->guess_width = own.width;
  self->guesser = kvasir_guesser_new (&own, context);
  emit_guessing_bytes (self, 1);
  return TRUE;
}

gboolean
kvasir_session_set_guesses (KvasirSession *self,
                            const KvasirGuessParams *params,
                            KvasirContext *context,
                            GError **error)
{
  g_return_val_if_fail (self->run.request == NULL, FALSE);
  g_return_val_if_fail ((params->kind == KVASIR_GUESS_MODEL) == (context != NULL), FALSE);

  emit_guessing_bytes (self, -1);
  g_clear_pointer (&self->guesser, kvasir_guesser_free);
  self->guess_width = 0;
  if (params->kind == KVASIR_GUESS_OFF || start_guessing (self, params, context, error))
    return TRUE;
  g_clear_pointer (&context, kvasir_context_free);
  return FALSE;
}

guint
kvasir_session_get_guess_width (const KvasirSession *self)
{
  return self->guess_width;
}

/* ---- while writing */

/* More than the answer may have, or the sequence can hold, is not asked for. */
static guint
get_most (const KvasirSession *self)
{
  const KvasirRun *run = &self->run;
  guint most = self->guess_width;

  if (run->request->max_tokens > 0)
    most = MIN (most, run->request->max_tokens - run->n_generated - 1);
  if (self->has_cells)
    most = MIN (most, self->n_cells - MIN (self->n_cells, (guint) run->pos + 1));
  return most;
}

guint
kvasir_session_guess (KvasirSession *self, gint32 *guesses)
{
  const GArray *text = self->run.text;
  guint n = 0;

  if (self->guesser == NULL)
    return 0;
  const guint n_guesses = kvasir_guesser_guess (
      self->guesser, (const gint32 *) (gpointer) text->data, text->len, get_most (self), guesses);
  /* The end token is never in the cells, and nothing follows it. */
  while (n < n_guesses && !kvasir_vocab_is_eog (self->vocab, guesses[n]))
    n++;
  return n;
}

void
kvasir_session_note_guesses (KvasirSession *self, const gint32 *guesses, guint n, gint64 us)
{
  KvasirRun *run = &self->run;

  if (self->guesser == NULL)
    return;
  kvasir_guesser_note_step (self->guesser, 1 + n, us);
  for (guint i = 0; i < n; i++)
    run->guesses[i] = guesses[i];
  run->n_guesses = n;
  run->next_guess = 0;
  run->n_guessed += n;
}

gboolean
kvasir_session_check_guess (KvasirSession *self, gint32 id)
{
  KvasirRun *run = &self->run;
  const guint n_right = run->next_guess;

  if (run->n_guesses == 0)
    return FALSE;
  if (n_right < run->n_guesses && run->guesses[n_right] == id)
    return TRUE;
  kvasir_guesser_note_right (self->guesser, n_right, n_right < run->n_guesses);
  kvasir_session_drop_guesses (self);
  return FALSE;
}

void
kvasir_session_keep_guess (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  const gint32 *id = &run->guesses[run->next_guess];

  if (!self->has_cells)
    kvasir_seq_table_note_tokens (self->seqs, run->seq, run->pos, id, 1);
  run->next_guess++;
  run->n_right++;
  run->pos++;
  run->logits_index++;
}

void
kvasir_session_drop_guesses (KvasirSession *self)
{
  KvasirRun *run = &self->run;

  if (run->next_guess < run->n_guesses)
    {
      KvasirEvent event = { .type = KVASIR_EVENT_NOTE, .seq = run->seq, .pos = run->pos };
      g_snprintf (event.text, sizeof event.text, "%u of %u guesses kept", run->next_guess,
                  run->n_guesses);
      kvasir_session_emit (self, &event, NULL, 0);
      kvasir_mask_tap_invalidate (self->mask_tap);
      kvasir_memory_seq_rm (self->memory, run->seq,
                            kvasir_memory_get_rewind (self->memory, run->seq, run->pos), -1);
    }
  run->n_guesses = run->next_guess = 0;
}
