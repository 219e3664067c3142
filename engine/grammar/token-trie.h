/* engine/grammar/token-trie.h - the tokens of a vocabulary by their bytes
 *
 * The nodes stand in the order of a walk that goes down first, each with the place behind its
 * subtree: a walk over the whole vocabulary is one loop, and a prefix that is refused skips all
 * tokens that have it. Tokens without bytes, control tokens and those that end an answer are not in
 * it.
 *
 * Owner:  whoever made it. Immutable after creation: any thread may read.
 */
#pragma once

#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

/* Kinds of characters, as bits: those that grammars tell apart have one of their own. */
#define KVASIR_SEEN_OTHER (G_GUINT64_CONSTANT (1) << 62)  /* outside of ASCII */
#define KVASIR_SEEN_BROKEN (G_GUINT64_CONSTANT (1) << 63) /* no character, or half of one */

typedef struct
{
  guint64 seen;  /* in the tokens below this node, where a character ends with it */
  guint32 end;   /* the first node that is not below this one */
  guint32 token; /* the first of those that end here, in the order of the nodes */
  guint16 depth; /* bytes from the root on, at least 1 */
  guint8 byte;
} KvasirTrieNode;

/* Tokens beyond this many bytes are never allowed. */
#define KVASIR_TOKEN_TRIE_MAX_DEPTH 1024

/* The bit of an ASCII character. */
guint64 kvasir_token_trie_get_kind (guint8 byte);

typedef struct _KvasirTokenTrie KvasirTokenTrie;

KvasirTokenTrie *kvasir_token_trie_new (const KvasirVocab *vocab) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_token_trie_free (KvasirTokenTrie *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirTokenTrie, kvasir_token_trie_free)

guint kvasir_token_trie_get_n_tokens (const KvasirTokenTrie *self);
/* One more than there are, so that a node's tokens end where those of the next one begin. */
const KvasirTrieNode *kvasir_token_trie_get_nodes (const KvasirTokenTrie *self, guint32 *n_nodes);
/* In the order of the nodes. */
const gint32 *kvasir_token_trie_get_tokens (const KvasirTokenTrie *self);
/* 0 bytes: the token is not in it. */
const guint8 *kvasir_token_trie_get_bytes (const KvasirTokenTrie *self, gint32 id, guint32 *n);
gboolean kvasir_token_trie_is_end (const KvasirTokenTrie *self, gint32 id);

G_END_DECLS
