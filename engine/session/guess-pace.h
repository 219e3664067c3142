/* engine/session/guess-pace.h - how many guesses are worth their time
 *
 * A step over w guesses gives 1 + p + ... + p^w tokens, p the share of guesses that come right, and
 * takes the time of w + 1 tokens. Both are learned while writing, p for each strength that a guess
 * can have; the width with the most tokens for its time is taken, which may be 0.
 *
 * Thread: engine thread.
 */
#pragma once

#include "engine/session/guess.h"

G_BEGIN_DECLS

#define KVASIR_GUESS_STRENGTHS 4

typedef struct
{
  /* For each strength what came right, and what was tried, newer ones counting more. */
  double n_right[KVASIR_GUESS_STRENGTHS];
  double n_tried[KVASIR_GUESS_STRENGTHS];
  double step_us[KVASIR_MAX_GUESSES + 2]; /* of so many tokens, 0: not known yet */
  guint n_passed[KVASIR_MAX_GUESSES + 2]; /* times that it was not taken since it was measured */
  double guess_us;                        /* of making one guess */
} KvasirGuessPace;

void kvasir_guess_pace_forget (KvasirGuessPace *self);
/* At most @max. What is not taken is thought a little faster afterwards, so that it is tried again
 * some time. */
guint kvasir_guess_pace_choose (KvasirGuessPace *self, guint strength, guint max);
void kvasir_guess_pace_note_step (KvasirGuessPace *self, guint n_tokens, double us);
void kvasir_guess_pace_note_guesses (KvasirGuessPace *self, guint n, double us);
void kvasir_guess_pace_note_right (KvasirGuessPace *self, guint strength, gboolean right);

G_END_DECLS
