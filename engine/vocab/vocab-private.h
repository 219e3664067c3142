/* engine/vocab/vocab-private.h - what the files of the vocabulary share
 *
 * load.c builds it out of texts.c, vocab.c gives it out, special.c knows marks and cuts text at
 * them, bpe.c, spm.c, wpm.c, ugm.c and rwkv.c encode what lies between, encode.c leads them,
 * decode.c turns ids into text.
 */
#pragma once

#include "engine/vocab/charsmap.h"
#include "engine/vocab/joints.h"
#include "engine/vocab/merge-text.h"
#include "engine/vocab/pairs.h"
#include "engine/vocab/piece-cache.h"
#include "engine/vocab/pretokenizer.h"
#include "engine/vocab/text-table.h"
#include "engine/vocab/trie.h"
#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

#define KVASIR_VOCAB_NO_ID G_MAXUINT32
/* Offsets into a text are 32 bits wide, and a space can take three bytes. */
#define KVASIR_VOCAB_MAX_TEXT_BYTES (1 << 30)

/* Bits of a token. The kinds that the file states, and what follows from texts and model names. */
enum
{
  KVASIR_TOKEN_UNKNOWN = 1 << 0,
  KVASIR_TOKEN_CONTROL = 1 << 1,
  KVASIR_TOKEN_USER_DEFINED = 1 << 2,
  KVASIR_TOKEN_UNUSED = 1 << 3,
  KVASIR_TOKEN_BYTE = 1 << 4,
  KVASIR_TOKEN_EOG = 1 << 5,
  KVASIR_TOKEN_STRIPS_LEFT = 1 << 6, /* eats the white space before it */
  KVASIR_TOKEN_STRIPS_RIGHT = 1 << 7,
  /* Counts as user-defined, but a person's text must not be able to write it. */
  KVASIR_TOKEN_GUARDED = 1 << 8,
  /* What no text may be cut into, not even letter by letter: only a match of the whole mark where
   * marks count gives one. */
  KVASIR_TOKEN_OUT_OF_REACH = KVASIR_TOKEN_UNKNOWN | KVASIR_TOKEN_CONTROL | KVASIR_TOKEN_GUARDED,
  KVASIR_TOKEN_SPECIAL = KVASIR_TOKEN_UNKNOWN | KVASIR_TOKEN_CONTROL | KVASIR_TOKEN_USER_DEFINED,
};

struct _KvasirVocab
{
  gatomicrefcount ref_count;
  KvasirVocabKind kind;
  char *description;   /* (owned) */
  char *chat_template; /* (owned) (nullable) */

  /* The texts of the tokens, and behind them those of symbols that are none (number >= n_tokens):
   * parts of merges that have no token. */
  KvasirTextTable texts;
  guint n_tokens;
  gsize longest_bytes; /* of all tokens */
  guint16 *flags;      /* (owned) [n_tokens] */
  float *scores;       /* (owned) (nullable) [n_tokens] */

  KvasirTrie special_trie; /* the value of token i is n_tokens - 1 - i, see special-match.c */
  guint32 *special_lens;   /* (owned) (nullable) [n_special_lens], each once, the longest first */
  guint n_special_lens;
  guint8 special_starts[256];

  gint32 bos, eos, unk; /* -1 where there is none */
  gint32 last;          /* what ends a text where specials are added, or -1 */
  gboolean add_bos;
  gboolean add_space_prefix;
  gboolean cleans_spaces;
  gboolean has_mapped_bytes; /* token texts are those of byte-level BPE */
  gboolean escapes_spaces;   /* token texts write a space as U+2581 */

  guint32 byte_ids[256];                   /* the symbol of a byte, or KVASIR_VOCAB_NO_ID */
  const KvasirPreTokenizer *pre_tokenizer; /* (nullable) BPE only */
  KvasirPairs pairs;                       /* BPE only */

  KvasirJoints *joints; /* (owned) (nullable) SPM, and BPE without mapped bytes */

  KvasirTrie trie;         /* WPM, UGM and RWKV: the tokens that a text can have */
  gboolean lowers_case;    /* WPM, and BPE of plain text */
  gboolean strips_accents; /* WPM */
  gboolean joins_spaces;   /* UGM: several in a row are one */
  KvasirCharsMap chars_map;
  double unknown_score; /* UGM: of a character that has no token */
};

/* texts.c */
/* Returns: the id of the text, of a symbol behind the tokens too, or -1 */
gint64 kvasir_vocab_find (const KvasirVocab *self, const char *text, gsize len);
gboolean kvasir_vocab_load_texts (KvasirVocab *self,
                                  const KvasirGguf *gguf,
                                  const KvasirGgufStrings *tokens,
                                  GError **error);
/* Learns which bytes stand side by side in tokens and in symbols that are none. */
gboolean kvasir_vocab_build_joints (KvasirVocab *self, GError **error);
/* @text with U+2581 for each space, and one before it where @prefix is set, replaces @out. */
void kvasir_vocab_escape_spaces (const char *text, gsize len, gboolean prefix, GString *out);
/* Indexes all tokens but those with one of the flags @excluded by their bytes. */
gboolean kvasir_vocab_build_trie (KvasirVocab *self, guint16 excluded, GError **error);

/* load.c */
gboolean kvasir_vocab_fail (const KvasirGguf *gguf, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
gboolean kvasir_vocab_no_memory (GError **error);

/* special.c */
void kvasir_vocab_mark_special (KvasirVocab *self, const KvasirGguf *gguf);

/* special-match.c */
gboolean kvasir_vocab_index_special (KvasirVocab *self, GError **error);

/* A special token in a text. */
typedef struct
{
  guint32 offset;
  guint32 id;
} KvasirSpecialMatch;

/* Whether the special token @id may be recognised in the @len bytes at @offset. */
typedef gboolean (*KvasirSpecialFilter) (gpointer data, guint32 id, gsize offset, gsize len);
/* Returns: (transfer full): the matches in order of the text */
GArray *kvasir_vocab_match_special (const KvasirVocab *self,
                                    const char *text,
                                    gsize len,
                                    KvasirSpecialFilter filter,
                                    gpointer data);

typedef struct _KvasirUnigramStep KvasirUnigramStep;

/* One call of the tokenizer. */
struct _KvasirEncoder
{
  const KvasirVocab *vocab;
  GArray *ids; /* (unowned) of gint32 */
  KvasirMerger merger;
  KvasirPieceCache pieces;
  KvasirChar *chars; /* (owned) [n_chars_alloc] */
  gsize n_chars_alloc;
  GString *scratch;         /* (owned) */
  KvasirUnigramStep *steps; /* (owned) [n_steps_alloc] */
  gsize n_steps_alloc;
};

/* merges.c */
gboolean kvasir_vocab_load_merges (KvasirVocab *self, const KvasirGguf *gguf, GError **error);

/* bpe.c */
gboolean kvasir_vocab_load_bpe (KvasirVocab *self, const KvasirGguf *gguf, GError **error);
/* What byte @b looks like in the texts of byte-level tokens. */
gunichar kvasir_bpe_get_byte_char (guint8 b);
/* The byte that @c stands for, or -1. */
int kvasir_bpe_get_char_byte (gunichar c);
/* Appends the ids of a text without special tokens. FALSE where there is no memory. */
gboolean kvasir_bpe_encode (KvasirEncoder *encoder, const char *text, gsize len);

/* spm.c */
/* Appends the tokens of single bytes, or the unknown token for those that have none. */
void kvasir_spm_append_bytes (KvasirEncoder *encoder, const guint8 *bytes, gsize len);
gboolean kvasir_spm_encode (KvasirEncoder *encoder, const char *text, gsize len);
/* The byte that a text like "<0x0A>" means, or -1. */
int kvasir_spm_parse_byte (const char *text, gsize len);

/* wpm.c */
gboolean kvasir_wpm_load (KvasirVocab *self, const KvasirGguf *gguf, GError **error);
gboolean kvasir_wpm_encode (KvasirEncoder *encoder, const char *text, gsize len);

/* ugm.c */
gboolean kvasir_ugm_load (KvasirVocab *self, const KvasirGguf *gguf, GError **error);
gboolean kvasir_ugm_encode (KvasirEncoder *encoder, const char *text, gsize len);

/* rwkv.c */
gboolean kvasir_rwkv_load (KvasirVocab *self, GError **error);
gboolean kvasir_rwkv_encode (KvasirEncoder *encoder, const char *text, gsize len);
/* Turns the escapes of a token's text into @bytes, which has room for @len. Returns: how many */
gsize kvasir_rwkv_unescape (const char *text, gsize len, char *bytes);

G_END_DECLS
