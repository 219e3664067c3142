#include "engine/session/guess-pace.h"

#include <math.h>

/* Of which about as many tries are remembered, and with what it begins. */
#define MEMORY 12
#define FIRST_RIGHT 1.2
#define FIRST_TRIED 2.0
/* How much of a new time counts. */
#define NEW_SHARE 0.25
/* What another token of a step is thought to take before it was measured, of a step of one. */
#define EXTRA_SHARE 0.3
#define FADE 0.995
/* Guesses have to save this much: they are no use where they break even. */
#define LEAST_GAIN 1.02

void
kvasir_guess_pace_forget (KvasirGuessPace *self)
{
  for (guint i = 0; i < KVASIR_GUESS_STRENGTHS; i++)
    {
      self->n_right[i] = FIRST_RIGHT;
      self->n_tried[i] = FIRST_TRIED;
    }
}

/* The time of @width guesses and the step over them, as hope has it. */
static double
get_us (const KvasirGuessPace *self, guint width)
{
  const guint n_tokens = width + 1;
  double us = self->step_us[n_tokens];

  if (us <= 0)
    us = self->step_us[1] * (1 + EXTRA_SHARE * width);
  return (us + width * self->guess_us) * pow (FADE, self->n_passed[n_tokens]);
}

guint
kvasir_guess_pace_choose (KvasirGuessPace *self, guint strength, guint max)
{
  const double p = self->n_right[strength] / self->n_tried[strength];
  double n_tokens = 1, power = 1, best;
  guint width = 0;

  if (self->step_us[1] <= 0)
    return 0;
  best = LEAST_GAIN / self->step_us[1];
  for (guint w = 1; w <= max; w++)
    {
      power *= p;
      n_tokens += power;
      self->n_passed[w + 1]++;
      if (n_tokens / get_us (self, w) <= best)
        continue;
      best = n_tokens / get_us (self, w);
      width = w;
    }
  return width;
}

static void
mix (double *average, double value)
{
  *average = *average > 0 ? *average + NEW_SHARE * (value - *average) : value;
}

void
kvasir_guess_pace_note_step (KvasirGuessPace *self, guint n_tokens, double us)
{
  mix (&self->step_us[n_tokens], us);
  self->n_passed[n_tokens] = 0;
}

void
kvasir_guess_pace_note_guesses (KvasirGuessPace *self, guint n, double us)
{
  if (n > 0)
    mix (&self->guess_us, us / n);
}

void
kvasir_guess_pace_note_right (KvasirGuessPace *self, guint strength, gboolean right)
{
  const double keep = 1 - 1.0 / MEMORY;

  self->n_right[strength] = self->n_right[strength] * keep + (right ? 1 : 0);
  self->n_tried[strength] = self->n_tried[strength] * keep + 1;
}
