/* engine/grammar/grammar.h - a grammar in GBNF, read and checked
 *
 * Errors are KVASIR_ENGINE_ERROR_BAD_ARGUMENT with line, column, what was expected and what was
 * found. Rules that call themselves before anything else was read are refused by name.
 *
 * Immutable after creation: any thread may read.
 */
#pragma once

#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

typedef struct _KvasirGrammar KvasirGrammar;

/* @text: NUL-terminated UTF-8. @vocab: (nullable): whose tokens are named (<think>, <[151667]>);
 * without one the names stand for none, which will do for a look at whether the text is right. */
KvasirGrammar *kvasir_grammar_new (const char *text,
                                   const KvasirVocab *vocab,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_grammar_free (KvasirGrammar *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGrammar, kvasir_grammar_free)

G_END_DECLS
