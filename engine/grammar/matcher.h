/* engine/grammar/matcher.h - holds an answer to a grammar, token by token
 *
 * A token may follow if its bytes may, the last character still being incomplete, or if the grammar
 * names it; one that ends the answer may follow where the grammar may end. The tokens of the whole
 * vocabulary are found in one walk over its trie and kept for states that come again.
 *
 * A grammar so ambiguous that the way on takes too much time or memory ends in a place that allows
 * nothing, and kvasir_matcher_explain() says so.
 *
 * Owner:  one per answer. Thread: that of the owner.
 */
#pragma once

#include "engine/grammar/grammar.h"
#include "engine/grammar/token-trie.h"
#include "engine/sampling/filter.h"

G_BEGIN_DECLS

typedef struct _KvasirMatcher KvasirMatcher;

/* @grammar, @trie: (unowned): outlive it. The names of tokens in the grammar are those of the
 * trie's vocabulary. */
KvasirMatcher *kvasir_matcher_new (const KvasirGrammar *grammar,
                                   const KvasirTokenTrie *trie) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_matcher_free (KvasirMatcher *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMatcher, kvasir_matcher_free)

gboolean kvasir_matcher_allows (KvasirMatcher *self, gint32 id);
/* @id stands in the answer. Where it was not allowed, nothing may follow any more. */
void kvasir_matcher_accept (KvasirMatcher *self, gint32 id);
/* Bytes that no token of their own stands for, as the rest of one behind a mark. */
void kvasir_matcher_accept_bytes (KvasirMatcher *self, const char *bytes, gsize n);
/* Sets each of @logits [@n] whose token may not follow to -INFINITY. */
void kvasir_matcher_mask (KvasirMatcher *self, float *logits, guint n);
/* KVASIR_ENGINE_ERROR_BAD_ARGUMENT: why nothing may follow, for people. */
void kvasir_matcher_explain (const KvasirMatcher *self, GError **error);

G_END_DECLS
