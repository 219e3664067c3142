/* tests/engine/vocab/support.h - vocabularies for tests: out of files, or made of a few tokens */
#pragma once

#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

/* Kinds of tokens as the file format numbers them. */
enum
{
  NORMAL = 1,
  UNKNOWN = 2,
  CONTROL = 3,
  USER_DEFINED = 4,
  UNUSED = 5,
  BYTE = 6,
};

typedef struct
{
  const char *text;
  gint32 kind;
  float score;
} TestToken;

/* A rule that the file states. */
typedef struct
{
  const char *key; /* without "tokenizer.ggml." */
  gboolean value;
} TestFlag;

#define MAX_TEST_FLAGS 3

/* What to write; fields that are NULL or 0 are left out of the file. */
typedef struct
{
  const char *model;
  const char *pre;
  const TestToken *tokens;
  gsize n_tokens;
  const char *const *merges;
  gsize n_merges;
  gboolean with_bytes;   /* append the 256 tokens of single bytes that byte-level BPE starts from */
  const char *extra_key; /* one more key with a number */
  guint32 extra_value;
  gboolean texts_only; /* leave out kinds and scores */
  const char *name;    /* general.name */
  TestFlag flags[MAX_TEST_FLAGS];
} TestVocab;

/* Vocabulary @name of the test data. */
KvasirVocab *vocab_open (const char *name);
/* The path of the data file. Returns: (transfer full) */
char *vocab_data_path (const char *name, const char *suffix);
KvasirVocab *vocab_make (const TestVocab *spec, GError **error);

/* GPT-2's table of bytes by its own rule: those that print stand for themselves, the others get the
 * next free numbers from 256 on. Returns: (transfer full): 256 texts */
GPtrArray *make_byte_texts (void);

/* Ids of a text as "1,2,3". Returns: (transfer full) */
char *tokenize (const KvasirVocab *vocab, const char *text, gssize len, gboolean parse_special);
char *format_ids (const gint32 *ids, gsize n);

#define assert_ids(vocab, text, parse_special, expected)                                           \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_autofree char *assert_ids_found = tokenize (vocab, text, -1, parse_special);                 \
    g_assert_cmpstr (assert_ids_found, ==, expected);                                              \
  }                                                                                                \
  G_STMT_END

G_END_DECLS
