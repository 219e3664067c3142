/* engine/grammar/states.h - a grammar as an automaton that is built while it is walked
 *
 * A state is the set of threads that can read a next character or token; the empty one, number 0,
 * has no way on. Where a character leads is found out once and kept in the state's row. What was
 * built is thrown away when it takes more memory than it may, but for the states still needed.
 *
 * Reading one more character: every thread that can read it moves; threads at the end of a rule go
 * on where their frame says; threads before a rule call it. All calls of one rule that happen
 * behind the same character share one frame.
 *
 * Owner:  KvasirMatcher. Thread: that of the owner.
 */
#pragma once

#include "engine/grammar/grammar-private.h"
#include "engine/grammar/thread-sets.h"

G_BEGIN_DECLS

#define KVASIR_STATE_DEAD 0u
#define KVASIR_STATE_UNKNOWN G_MAXUINT32
/* What may be kept, and how many threads may be looked at for one token. */
#define KVASIR_STATES_MAX_BYTES (64u << 20)
#define KVASIR_STATES_MAX_EFFORT (20u * 1000 * 1000)

typedef struct _KvasirClosure KvasirClosure;

/* Open, as a walk over a vocabulary takes a million steps. */
typedef struct
{
  const KvasirGrammar *grammar; /* (unowned) */
  KvasirThreadSets frames;
  KvasirThreadSets states;
  GArray *row_of; /* (owned) of guint32: by state, where its row begins in rows, + 1; 0: none yet */
  GArray *rows;   /* (owned) of guint32: by class of characters, the state behind it */
  KvasirClosure *closure; /* (owned) */
  guint generation;       /* counts how often the numbers of states changed */
  guint64 effort;         /* threads looked at for the token at hand; its owner sets it to 0 */
} KvasirStates;

KvasirStates *kvasir_states_new (const KvasirGrammar *grammar) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_states_free (KvasirStates *self);

guint32 kvasir_states_start (KvasirStates *self);
/* Behind a character of @klass, without a look at the row. */
guint32 kvasir_states_build_step (KvasirStates *self, guint32 state, guint32 klass);
/* Behind the token @id, taken as a whole. */
guint32 kvasir_states_step_token (KvasirStates *self, guint32 state, guint32 id, gboolean is_end);
/* Whether the grammar names @id here; where it names another that may not be it, that does not
 * stand for those that end the answer. */
gboolean kvasir_states_names (const KvasirStates *self, guint32 state, guint32 id, gboolean is_end);
/* What either of two may read. */
guint32 kvasir_states_join (KvasirStates *self, guint32 a, guint32 b);
/* Whether the text may end here. */
gboolean kvasir_states_may_end (const KvasirStates *self, guint32 state);
/* Whether a character from @first to @last may follow. */
gboolean kvasir_states_meets (const KvasirStates *self, guint32 state, guint32 first, guint32 last);
/* Frees memory where too much is used: all but the states @keep [@n], whose numbers change. FALSE:
 * these alone take too much. */
gboolean kvasir_states_tidy (KvasirStates *self, guint32 *keep, guint n);

/* Then everything leads to the dead state. */
static inline gboolean
kvasir_states_is_exhausted (const KvasirStates *self)
{
  return self->effort > KVASIR_STATES_MAX_EFFORT;
}

static inline guint32
kvasir_states_step (KvasirStates *self, guint32 state, guint32 klass)
{
  guint32 row = g_array_index (self->row_of, guint32, state);
  guint32 next =
      row > 0 ? g_array_index (self->rows, guint32, row - 1 + klass) : KVASIR_STATE_UNKNOWN;
  return next != KVASIR_STATE_UNKNOWN ? next : kvasir_states_build_step (self, state, klass);
}

G_END_DECLS
