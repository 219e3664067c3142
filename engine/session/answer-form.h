/* engine/session/answer-form.h - holds an answer to the form that its request asks for
 *
 * Where the template has opened a model's reasoning, the form begins behind the reasoning: until
 * its end stands in the answer any token may follow but those that end the answer, and white space
 * right behind it is not yet of the form. In all other cases the form begins with the answer, so
 * that a model that would open its reasoning itself goes without. Models with channels (gpt-oss)
 * are held to it in the final one.
 *
 * Owner:  KvasirSession, one per answer. Thread: engine thread.
 */
#pragma once

#include "engine/grammar/token-trie.h"
#include "engine/sampling/filter.h"
#include "engine/session/sampling-texts.h"

G_BEGIN_DECLS

typedef struct _KvasirAnswerForm KvasirAnswerForm;

/* TRUE with *@form NULL where @texts ask for none. @trie: (inout) (transfer full) (nullable): made
 * where it is needed first, and outlives the form. Errors: those of kvasir_grammar_new() and
 * kvasir_schema_to_grammar(). */
gboolean kvasir_answer_form_make (KvasirAnswerForm **form,
                                  const KvasirSamplingTexts *texts,
                                  const KvasirVocab *vocab,
                                  KvasirTokenTrie **trie,
                                  GError **error);
void kvasir_answer_form_free (KvasirAnswerForm *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirAnswerForm, kvasir_answer_form_free)

/* @lead: what the template wrote behind the last message. Before the first token of the answer is
 * accepted. */
void kvasir_answer_form_begin (KvasirAnswerForm *self, const GString *lead);
/* (transfer none) */
const KvasirTokenFilter *kvasir_answer_form_get_filter (const KvasirAnswerForm *self);
/* Why no token may follow. */
void kvasir_answer_form_explain (const KvasirAnswerForm *self, GError **error);

G_END_DECLS
