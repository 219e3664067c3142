/* engine/session/sampling-texts.h - what of the drawing of an answer is text
 *
 * Numbers and their order are KvasirSamplerParams; what is here only a vocabulary turns into
 * tokens. A plain value that owns its texts. Thread: any, one at a time.
 */
#pragma once

#include "engine/sampling/sampler.h"
#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

/* All lists are (owned) (nullable) and end with NULL; empty texts are ignored. */
typedef struct
{
  char **stops;    /* end an answer and are no part of it */
  char **breakers; /* end what DRY counts as repetition */
  char **biases;   /* as kvasir_token_bias_parse() reads them; others are ignored */
  char *grammar;   /* (owned) (nullable): what an answer is held to, in GBNF; empty: to nothing */
  char *schema;    /* (owned) (nullable): the same as a JSON schema; only one of them */
} KvasirSamplingTexts;

/* No stop texts, no biases, and the breakers that DRY is usually used with. */
void kvasir_sampling_texts_init (KvasirSamplingTexts *self);
void kvasir_sampling_texts_clear (KvasirSamplingTexts *self);
/* @to need not be initialised. */
void kvasir_sampling_texts_copy (const KvasirSamplingTexts *self, KvasirSamplingTexts *to);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirSamplingTexts, kvasir_sampling_texts_clear)

/* As a person reads and types one in a line: a line break is \n, a tab \t, a backslash \\; what
 * else follows a backslash stays with it. */
char *kvasir_sampling_text_escape (const char *text) G_GNUC_WARN_UNUSED_RESULT;
char *kvasir_sampling_text_unescape (const char *line) G_GNUC_WARN_UNUSED_RESULT;

/* What is added to the logit of a token, or of all tokens of a text. */
typedef struct
{
  gint32 id;  /* -1: see text */
  gsize len;  /* of the text, which is where the entry begins */
  float bias; /* -INFINITY: never */
} KvasirTokenBias;

/* "15043+1.5" is a token's id and its bias, "Certainly-inf" a text and its bias: what follows the
 * last sign is the number. FALSE where @entry is neither. */
gboolean kvasir_token_bias_parse (const char *entry, KvasirTokenBias *bias);

/* A sampler with the biases and breakers as tokens of @vocab. A token is a breaker where a breaking
 * text stands in it, or begins in it and would go on after it. */
KvasirSampler *
kvasir_sampling_texts_make_sampler (const KvasirSamplingTexts *self,
                                    const KvasirSamplerParams *params,
                                    const KvasirVocab *vocab) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
