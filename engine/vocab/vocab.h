/* engine/vocab/vocab.h - tokens of a model: text to ids and back
 *
 * Owner:  KvasirModel. Immutable after creation: any thread may read, so the main thread can count
 * a draft's tokens while the engine works. Errors: KVASIR_ENGINE_ERROR_BAD_FILE for a broken
 * vocabulary, _UNSUPPORTED from tokenizing where the kind of tokenizer or of pre-tokenizer is none
 * that this program knows. Such a vocabulary still loads, and ids can be fed.
 */
#pragma once

#include <glib.h>

#include "engine/gguf/gguf.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_VOCAB_NONE,
  KVASIR_VOCAB_SPM,
  KVASIR_VOCAB_BPE,
  KVASIR_VOCAB_WPM,
  KVASIR_VOCAB_UGM,
  KVASIR_VOCAB_RWKV
} KvasirVocabKind;

/* A piece of a text with its origin. Control tokens are only recognised in pieces that come from
 * the template, so that what a person types can never forge one. */
typedef struct
{
  gsize offset; /* bytes into the text */
  gsize len;
  guint origin; /* 0: the template; i + 1: content of message i (a person, or the model's answer) */
} KvasirTextSpan;

typedef struct _KvasirVocab KvasirVocab;
typedef struct _KvasirDetokenizer KvasirDetokenizer;

KvasirVocab *kvasir_vocab_new (const KvasirGguf *gguf, GError **error) G_GNUC_WARN_UNUSED_RESULT;
KvasirVocab *kvasir_vocab_ref (KvasirVocab *self);
void kvasir_vocab_unref (KvasirVocab *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirVocab, kvasir_vocab_unref)

KvasirVocabKind kvasir_vocab_get_kind (const KvasirVocab *self);
/* The name for people: "BPE (smollm)". */
const char *kvasir_vocab_get_description (const KvasirVocab *self);
gboolean kvasir_vocab_can_tokenize (const KvasirVocab *self);
guint kvasir_vocab_get_n_tokens (const KvasirVocab *self);
/* -1 where the model has none. */
gint32 kvasir_vocab_get_bos (const KvasirVocab *self);
gint32 kvasir_vocab_get_eos (const KvasirVocab *self);
gint32 kvasir_vocab_get_unk (const KvasirVocab *self);
gboolean kvasir_vocab_get_add_bos (const KvasirVocab *self);
/* Whether the id ends a generation: eos, eot, eom and the texts that models use for it. */
gboolean kvasir_vocab_is_eog (const KvasirVocab *self, gint32 id);
gboolean kvasir_vocab_is_control (const KvasirVocab *self, gint32 id);
/* The token's text as stored in the file (transfer none). */
const char *kvasir_vocab_get_text (const KvasirVocab *self, gint32 id, gsize *len);
/* The model's own chat template, or NULL. */
const char *kvasir_vocab_get_chat_template (const KvasirVocab *self);

/* Appends the ids of @text to @ids, a GArray of gint32. @add_special adds what the model's own rule
 * asks for (BOS, EOS). @parse_special recognises control tokens in the text. */
gboolean kvasir_vocab_tokenize (const KvasirVocab *self,
                                const char *text,
                                gssize len,
                                gboolean add_special,
                                gboolean parse_special,
                                GArray *ids,
                                GError **error);

/* The same for a rendered prompt: control tokens are recognised only where @spans say "template".
 * Neighbouring pieces without a control token between them are split as one text, as a model's own
 * tokenizer does. Adds no BOS (the template has written it where it wants it). */
gboolean kvasir_vocab_tokenize_spans (const KvasirVocab *self,
                                      const char *text,
                                      const KvasirTextSpan *spans,
                                      guint n_spans,
                                      GArray *ids,
                                      GError **error);

/* Appends the bytes that @id stands for. Control and unknown tokens print nothing unless @special.
 * The bytes of one token need not be whole characters. */
void kvasir_vocab_append_token (const KvasirVocab *self, gint32 id, gboolean special, GString *out);
/* The text of @ids, with the model's clean-up rules. Ids outside the vocabulary are skipped. */
void kvasir_vocab_detokenize (
    const KvasirVocab *self, const gint32 *ids, guint n_ids, gboolean special, GString *out);

/* Streaming: gives out whole UTF-8 characters only; bytes that can never become one are replaced by
 * U+FFFD. One per answer; one thread at a time. */
KvasirDetokenizer *kvasir_detokenizer_new (KvasirVocab *vocab) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_detokenizer_free (KvasirDetokenizer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirDetokenizer, kvasir_detokenizer_free)
/* Appends what became certain. */
void kvasir_detokenizer_push (KvasirDetokenizer *self, gint32 id, GString *out);
/* Appends the rest, incomplete characters replaced, and starts over. */
void kvasir_detokenizer_flush (KvasirDetokenizer *self, GString *out);

G_END_DECLS
