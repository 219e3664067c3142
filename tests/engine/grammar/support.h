/* tests/engine/grammar/support.h - grammars beside texts and tokens */
#pragma once

#include "engine/grammar/matcher.h"

G_BEGIN_DECLS

/* A part of Qwen2's vocabulary and its trie, kept until the program ends. */
const KvasirVocab *grammar_vocab (void);
const KvasirTokenTrie *grammar_trie (void);

KvasirGrammar *make_grammar (const char *text);
/* Whether @text, fed at once, may be followed by the end of the answer. */
gboolean matches (const KvasirGrammar *grammar, const char *text, gssize len);
gboolean may_end (KvasirMatcher *matcher);
/* Of the tokens that @matcher lets follow: [n_tokens] of TRUE and FALSE. Returns: (transfer full)
 */
guint8 *list_allowed (KvasirMatcher *matcher);

/* That @text is refused with @message. */
void assert_refused (const char *text, const char *message);

G_END_DECLS
