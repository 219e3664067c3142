/* engine/grammar/closure.h - all that can be read next, from threads that have just moved
 *
 * Owner:  KvasirStates. Thread: that of the owner.
 */
#pragma once

#include "engine/grammar/states.h"

G_BEGIN_DECLS

KvasirClosure *kvasir_closure_new (const KvasirGrammar *grammar) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_closure_free (KvasirClosure *self);

/* Adds @thread, which may stand anywhere. */
void kvasir_closure_visit (KvasirClosure *self, KvasirThread thread);
/* Adds a call of @rule, behind which @thread goes on. */
void
kvasir_closure_call (KvasirClosure *self, KvasirStates *states, guint32 rule, KvasirThread thread);
/* The state of what was added, after which nothing is. */
guint32 kvasir_closure_finish (KvasirClosure *self, KvasirStates *states);

/* @thread with its element read once more. */
KvasirThread kvasir_thread_advance (const KvasirGrammar *grammar, KvasirThread thread);

G_END_DECLS
