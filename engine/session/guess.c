#include "engine/session/guess.h"

#include "engine/session/guess-lookup.h"
#include "engine/session/guess-model.h"
#include "engine/session/guess-pace.h"

struct _KvasirGuesser
{
  KvasirGuessParams params; /* without its path */
  KvasirGuessModel *model;  /* (owned) (nullable) */
  KvasirGuessPace pace;
  guint strength;    /* of the last guesses */
  gboolean is_tacit; /* the last guess was not read, only kept to see whether it comes right */
  guint tacit_at;    /* where in the text it belongs */
  gint32 tacit;
};

KvasirGuesser *
kvasir_guesser_new (const KvasirGuessParams *params, KvasirContext *context)
{
  g_return_val_if_fail (params->kind != KVASIR_GUESS_OFF, NULL);
  g_return_val_if_fail ((params->kind == KVASIR_GUESS_MODEL) == (context != NULL), NULL);

  KvasirGuesser *self = g_new0 (KvasirGuesser, 1);
  self->params = *params;
  self->params.path = NULL;
  if (context != NULL)
    self->model = kvasir_guess_model_new (context);
  kvasir_guess_pace_forget (&self->pace);
  return self;
}

void
kvasir_guesser_free (KvasirGuesser *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->model, kvasir_guess_model_free);
  g_free (self);
}

void
kvasir_guesser_begin (KvasirGuesser *self)
{
  kvasir_guess_pace_forget (&self->pace);
  self->is_tacit = FALSE;
}

void
kvasir_guesser_follow (KvasirGuesser *self, const gint32 *text, guint n)
{
  if (self->model != NULL)
    kvasir_guess_model_read (self->model, text, n);
}

/* Whether a guess that cost nothing to keep would have been right. */
static void
judge_tacit (KvasirGuesser *self, const gint32 *text, guint n)
{
  if (self->is_tacit && self->tacit_at < n)
    kvasir_guess_pace_note_right (&self->pace, self->strength, text[self->tacit_at] == self->tacit);
  self->is_tacit = FALSE;
}

static guint
look_up (KvasirGuesser *self, const gint32 *text, guint n, guint max, gint32 *guesses)
{
  judge_tacit (self, text, n);
  const guint n_alike = kvasir_guess_lookup (text, n, max, guesses);
  if (n_alike == 0)
    return 0;
  self->strength = MIN (n_alike - KVASIR_LOOKUP_MIN, KVASIR_GUESS_STRENGTHS - 1);
  if (self->params.always)
    return max;
  const guint width = kvasir_guess_pace_choose (&self->pace, self->strength, max);
  self->is_tacit = width == 0;
  self->tacit_at = n;
  self->tacit = guesses[0];
  return width;
}

static guint
ask_model (KvasirGuesser *self, const gint32 *text, guint n, guint max, gint32 *guesses)
{
  const gint64 start = g_get_monotonic_time ();
  self->strength = 0;
  if (!self->params.always)
    max = kvasir_guess_pace_choose (&self->pace, self->strength, max);
  if (max == 0)
    return 0;
  max = kvasir_guess_model_guess (self->model, text, n, max, guesses);
  kvasir_guess_pace_note_guesses (&self->pace, max, (double) (g_get_monotonic_time () - start));
  return max;
}

guint
kvasir_guesser_guess (KvasirGuesser *self, const gint32 *text, guint n, guint max, gint32 *guesses)
{
  max = MIN (max, self->params.width);
  if (max == 0)
    return 0;
  return self->model != NULL ? ask_model (self, text, n, max, guesses)
                             : look_up (self, text, n, max, guesses);
}

void
kvasir_guesser_note_step (KvasirGuesser *self, guint n_tokens, gint64 us)
{
  kvasir_guess_pace_note_step (&self->pace, n_tokens, (double) us);
}

void
kvasir_guesser_note_right (KvasirGuesser *self, guint n_right, gboolean is_over)
{
  for (guint i = 0; i < n_right; i++)
    kvasir_guess_pace_note_right (&self->pace, self->strength, TRUE);
  if (is_over)
    kvasir_guess_pace_note_right (&self->pace, self->strength, FALSE);
}

void
kvasir_guesser_append_breakdown (const KvasirGuesser *self, GArray *rows)
{
  if (self->model != NULL)
    kvasir_guess_model_append_breakdown (self->model, rows);
}
