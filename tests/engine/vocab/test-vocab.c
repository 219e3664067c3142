#include "engine/error.h"
#include "engine/vocab/vocab.h"
#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/vocab/support.h"

#include <string.h>

/* ---- byte-level BPE ----------------------------------------------------------------------- */

static const TestToken bpe_tokens[] = {
  { "<s>", CONTROL },         /* 0 */
  { "<|im_end|>", CONTROL },  /* 1 */
  { "<|im", CONTROL },        /* 2 */
  { "<tool>", USER_DEFINED }, /* 3 */
  { "<unk>", UNKNOWN },       /* 4 */
  { "ab", NORMAL },           /* 5 */
  { "bc", NORMAL },           /* 6 */
  { "abc", NORMAL },          /* 7 */
  { "\xc4\xa0"
    "a",
    NORMAL },       /* 8: space and a */
  { "aa", NORMAL }, /* 9 */
};

#define N_BPE_TOKENS G_N_ELEMENTS (bpe_tokens)
/* The token of a printable byte, the first of which is '!'. */
#define BYTE_ID(c) ((int) N_BPE_TOKENS + (c))

/* The last one repeats the first and changes nothing. */
static const char *const bpe_merges[] = { "b c", "a b", "a bc", "\xc4\xa0 a", "a a", "b c" };

static const TestVocab bpe_spec = {
  .model = "gpt2",
  .pre = "smollm",
  .tokens = bpe_tokens,
  .n_tokens = N_BPE_TOKENS,
  .merges = bpe_merges,
  .n_merges = G_N_ELEMENTS (bpe_merges),
  .with_bytes = TRUE,
};

static KvasirVocab *
make (const TestVocab *spec)
{
  g_autoptr (GError) error = NULL;
  KvasirVocab *vocab = vocab_make (spec, &error);

  g_assert_no_error (error);
  return vocab;
}

static char *
bytes_as_ids (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p; p++)
    g_string_append_printf (out, "%s%d", p > text ? "," : "", BYTE_ID ((guint8) *p));
  return g_string_free (out, FALSE);
}

static void
test_lower_rank (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autofree char *left = g_strdup_printf ("5,%d", BYTE_ID ('b'));

  /* "b c" comes before "a b": a, bc, and then "a bc". */
  assert_ids (vocab, "abc", FALSE, "7");
  assert_ids (vocab, "abb", FALSE, left);
  assert_ids (vocab, "", FALSE, "");
}

static void
test_leftmost_tie (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autofree char *odd = g_strdup_printf ("9,9,%d", BYTE_ID ('a'));

  assert_ids (vocab, "aaaaa", FALSE, odd);
}

/* A merge may make a text that is no token; it falls apart into bytes where nothing larger comes of
 * it, and is a step on the way where something does. */
static void
test_merge_without_token (void)
{
  static const TestToken tokens[] = { { "xyz", NORMAL } };
  static const char *const merges[] = { "x y", "xy z" };
  const TestVocab spec = { .model = "gpt2",
                           .pre = "gpt-2",
                           .tokens = tokens,
                           .n_tokens = 1,
                           .merges = merges,
                           .n_merges = 2,
                           .with_bytes = TRUE };
  g_autoptr (KvasirVocab) vocab = make (&spec);
  g_autofree char *apart = g_strdup_printf ("%d,%d", 1 + 'x', 1 + 'y');

  g_assert_cmpuint (kvasir_vocab_get_n_tokens (vocab), ==, 257);
  assert_ids (vocab, "xyz", FALSE, "0");
  assert_ids (vocab, "xy", FALSE, apart);
}

static void
test_equal_texts (void)
{
  static const TestToken tokens[] = { { "zz", NORMAL }, { "zz", NORMAL } };
  static const char *const merges[] = { "z z" };
  const TestVocab spec = { .model = "gpt2",
                           .tokens = tokens,
                           .n_tokens = 2,
                           .merges = merges,
                           .n_merges = 1,
                           .with_bytes = TRUE };
  g_autoptr (KvasirVocab) vocab = make (&spec);

  assert_ids (vocab, "zz", FALSE, "1");
}

static void
test_bytes_without_tokens (void)
{
  static const TestToken tokens[] = { { "a", NORMAL }, { "b", NORMAL } };
  static const char *const merges[] = { "a b" };
  const TestVocab spec = {
    .model = "gpt2", .tokens = tokens, .n_tokens = 2, .merges = merges, .n_merges = 1
  };
  g_autoptr (KvasirVocab) vocab = make (&spec);

  assert_ids (vocab, "a?ab", FALSE, "0,0,1");
}

static void
test_ignores_merges (void)
{
  static const TestToken tokens[] = { { "hat", NORMAL }, { "ha", NORMAL } };
  static const char *const merges[] = { "h a" };
  TestVocab spec = { .model = "gpt2",
                     .pre = "llama-bpe",
                     .tokens = tokens,
                     .n_tokens = 2,
                     .merges = merges,
                     .n_merges = 1,
                     .with_bytes = TRUE };
  g_autoptr (KvasirVocab) whole = make (&spec);
  g_autoptr (KvasirVocab) merged = NULL;
  g_autofree char *apart = g_strdup_printf ("1,%d", 2 + 't');

  spec.pre = "qwen2";
  merged = make (&spec);
  assert_ids (whole, "hat", FALSE, "0");
  assert_ids (merged, "hat", FALSE, apart);
}

/* ---- special tokens ----------------------------------------------------------------------- */

static void
test_longest_special (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autofree char *expected = g_strdup_printf ("1,2,%d", BYTE_ID ('|'));

  assert_ids (vocab, "<|im_end|><|im|", TRUE, expected);
  assert_ids (vocab, "<s>ab<unk>", TRUE, "0,5,4");
}

static void
test_plain_text_is_plain (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autofree char *forged = bytes_as_ids ("<|im_end|>");
  g_autofree char *unknown = bytes_as_ids ("<unk>");

  assert_ids (vocab, "<|im_end|>", FALSE, forged);
  assert_ids (vocab, "<unk>", FALSE, unknown);
  assert_ids (vocab, "ab<tool>ab", FALSE, "5,3,5");
}

/* Two special tokens that overlap: the longer one wins though it begins later. */
static void
test_overlap (void)
{
  static const TestToken tokens[] = { { "[ab", CONTROL }, { "ab]]", CONTROL }, { "]]x", CONTROL } };
  static const char *const merges[] = { "a b" };
  const TestVocab spec = { .model = "gpt2",
                           .pre = "gpt-2",
                           .tokens = tokens,
                           .n_tokens = 3,
                           .merges = merges,
                           .n_merges = 1,
                           .with_bytes = TRUE };
  g_autoptr (KvasirVocab) vocab = make (&spec);
  g_autofree char *expected = g_strdup_printf ("%d,1,0", 3 + '[');
  g_autofree char *tail = g_strdup_printf ("1,%d", 3 + 'x');

  assert_ids (vocab, "[ab]][ab", TRUE, expected);
  assert_ids (vocab, "ab]]x", TRUE, tail);
}

static void
test_strips (void)
{
  const TestVocab spec = { .model = "gpt2",
                           .pre = "smollm",
                           .tokens = bpe_tokens,
                           .n_tokens = N_BPE_TOKENS,
                           .merges = bpe_merges,
                           .n_merges = G_N_ELEMENTS (bpe_merges),
                           .with_bytes = TRUE,
                           .name = "Phi-3 mini" };
  g_autoptr (KvasirVocab) vocab = make (&spec);

  assert_ids (vocab, "ab<|im_end|> \n ab<s> a", TRUE, "5,1,5,0,8");
}

typedef struct
{
  const char *text;
  KvasirTextSpan spans[4];
  guint n_spans;
  const char *ids; /* NULL: one for each byte */
} SpanCase;

static void
test_spans (void)
{
  static const SpanCase cases[] = {
    /* What the template wrote. */
    { "<|im_end|>", { { 0, 10, 0 } }, 1, "1" },
    /* The same text from a person. */
    { "<|im_end|>", { { 0, 10, 1 } }, 1, NULL },
    /* A person cannot finish what the template began, only a shorter token counts there, nor begin
     * what it finishes. */
    { "<|im_end|>", { { 0, 9, 0 }, { 9, 1, 1 } }, 2, "2,105,111,120,110,134,72" },
    { "<|im_end|>", { { 0, 1, 1 }, { 1, 9, 0 } }, 2, NULL },
    { "<|im_end|>", { { 0, 3, 0 }, { 3, 2, 1 }, { 5, 5, 0 } }, 3, NULL },
    /* Two pieces of the template, with nothing between. */
    { "<|im_end|>", { { 0, 3, 0 }, { 3, 0, 2 }, { 3, 7, 0 } }, 3, "1" },
    /* User-defined tokens are for everyone. */
    { "<tool>", { { 0, 6, 1 } }, 1, "3" },
    /* Text goes on over the border of two pieces. */
    { "abc", { { 0, 1, 0 }, { 1, 1, 1 }, { 2, 1, 2 } }, 3, "7" },
    /* Bytes that no piece claims are a person's. */
    { "<s><s>", { { 0, 3, 0 }, { 6, 0, 0 } }, 2, "0,70,125,72" },
    { "<|im_end|>", { { 0, 3, 0 }, { 10, 0, 0 } }, 2, NULL },
    { "", { { 0, 0, 0 } }, 0, "" },
  };
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autoptr (GError) error = NULL;
      g_autofree char *expected =
          cases[i].ids ? g_strdup (cases[i].ids) : bytes_as_ids (cases[i].text);
      g_autofree char *found = NULL;

      kvasir_vocab_tokenize_spans (vocab, cases[i].text, cases[i].spans, cases[i].n_spans, ids,
                                   &error);
      g_assert_no_error (error);
      found = format_ids ((gconstpointer) ids->data, ids->len);
      g_assert_cmpstr (found, ==, expected);
    }
}

/* ---- end marks ---------------------------------------------------------------------------- */

static void
test_end_marks (void)
{
  static const TestToken tokens[] = {
    { "<|im_end|>", NORMAL },   { "<|fim_pad|>", NORMAL }, { "</s>", NORMAL },
    { "<fim_prefix>", NORMAL }, { "<|other|>", CONTROL },  { "x", NORMAL },
    { "<|file_sep|>", NORMAL },
  };
  const TestVocab spec = { .model = "llama",
                           .tokens = tokens,
                           .n_tokens = G_N_ELEMENTS (tokens),
                           .extra_key = "tokenizer.ggml.eot_token_id",
                           .extra_value = 5 };
  static const gboolean ends[] = { TRUE, TRUE, TRUE, FALSE, FALSE, TRUE, TRUE };
  static const gboolean controls[] = { TRUE, TRUE, TRUE, TRUE, TRUE, FALSE, TRUE };
  TestVocab given = spec;
  g_autoptr (KvasirVocab) vocab = make (&spec);
  g_autoptr (KvasirVocab) other = NULL;

  for (gint32 i = 0; i < (gint32) G_N_ELEMENTS (tokens); i++)
    {
      g_assert_cmpint (kvasir_vocab_is_eog (vocab, i), ==, ends[i]);
      g_assert_cmpint (kvasir_vocab_is_control (vocab, i), ==, controls[i]);
    }
  g_assert_false (kvasir_vocab_is_eog (vocab, -1));
  g_assert_false (kvasir_vocab_is_eog (vocab, 7));
  /* A kind of fill mark whose id the file gives is not searched by text. */
  given.extra_key = "tokenizer.ggml.fim_pad_token_id";
  other = make (&given);
  g_assert_false (kvasir_vocab_is_control (other, 1));
  g_assert_false (kvasir_vocab_is_eog (other, 1));
  g_assert_true (kvasir_vocab_is_eog (other, 5));
}

/* gpt-oss ends parts of an answer with <|end|>. */
static void
test_channels (void)
{
  static const TestToken tokens[] = {
    { "<|return|>", CONTROL }, { "<|call|>", CONTROL }, { "<|end|>", CONTROL },
    { "<|start|>", CONTROL },  { "x", NORMAL },
  };
  static const char *const merges[] = { "x x" };
  const KvasirTextSpan person = { 0, 9, 1 };
  const TestVocab spec = { .model = "gpt2",
                           .pre = "gpt-4o",
                           .tokens = tokens,
                           .n_tokens = G_N_ELEMENTS (tokens),
                           .merges = merges,
                           .n_merges = 1,
                           .with_bytes = TRUE };
  g_autoptr (KvasirVocab) vocab = make (&spec);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

  g_assert_true (kvasir_vocab_is_eog (vocab, 0) && kvasir_vocab_is_eog (vocab, 1));
  g_assert_false (kvasir_vocab_is_eog (vocab, 2));
  g_assert_false (kvasir_vocab_is_control (vocab, 2));
  assert_ids (vocab, "<|start|>", FALSE, "3");
  /* User-defined by its rules, and still nothing that a message can write. */
  g_assert_true (kvasir_vocab_tokenize_spans (vocab, "<|start|>", &person, 1, ids, NULL));
  g_assert_cmpuint (ids->len, ==, 9);
}

/* ---- SPM ---------------------------------------------------------------------------------- */

#define MARK "\xe2\x96\x81"

static const TestToken spm_tokens[] = {
  { "<unk>", UNKNOWN },     /* 0 */
  { "<s>", CONTROL },       /* 1 */
  { "</s>", CONTROL },      /* 2 */
  { "<0x41>", BYTE },       /* 3 */
  { MARK, NORMAL, -1 },     /* 4 */
  { "a", NORMAL, -2 },      /* 5 */
  { "b", NORMAL, -2 },      /* 6 */
  { MARK "a", NORMAL, -5 }, /* 7 */
  { "ab", NORMAL, -4 },     /* 8 */
  { "bb", NORMAL, -3 },     /* 9 */
  { "<0xC3>", BYTE },       /* 10 */
  { "<0xA9>", BYTE },       /* 11 */
  { "<0x-1>", BYTE },       /* 12 */
  { "hidden", UNUSED },     /* 13 */
};

static const TestVocab spm_spec = { .model = "llama",
                                    .tokens = spm_tokens,
                                    .n_tokens = G_N_ELEMENTS (spm_tokens) };

static void
test_spm_scores (void)
{
  g_autoptr (KvasirVocab) vocab = make (&spm_spec);

  /* ab (-4) goes before the mark and a (-5); bb (-3) before ab. */
  assert_ids (vocab, "ab", FALSE, "4,8");
  assert_ids (vocab, "abb", FALSE, "7,9");
  assert_ids (vocab, "a", FALSE, "7");
  assert_ids (vocab, "a b", FALSE, "7,4,6");
}

static void
test_spm_bytes (void)
{
  g_autoptr (KvasirVocab) vocab = make (&spm_spec);

  assert_ids (vocab, "A", FALSE, "4,3");
  assert_ids (vocab, "\xc3\xa9", FALSE, "4,10,11");
  assert_ids (vocab, "\xc3", FALSE, "4,10");
  assert_ids (vocab, "?", FALSE, "4,0");
}

static void
test_spm_prefix (void)
{
  g_autoptr (KvasirVocab) vocab = make (&spm_spec);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autofree char *found = NULL;

  assert_ids (vocab, "a</s>a", TRUE, "7,2,7");
  g_assert_true (kvasir_vocab_tokenize (vocab, "a", 1, TRUE, FALSE, ids, NULL));
  found = format_ids ((gconstpointer) ids->data, ids->len);
  g_assert_cmpstr (found, ==, "1,7");
}

/* ---- text of tokens ----------------------------------------------------------------------- */

static char *
detokenize (const KvasirVocab *vocab, const gint32 *ids, guint n, gboolean special)
{
  GString *out = g_string_new (NULL);

  kvasir_vocab_detokenize (vocab, ids, n, special, out);
  return g_string_free (out, FALSE);
}

#define assert_text(vocab, special, expected, ...)                                                 \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const gint32 assert_text_ids[] = { __VA_ARGS__ };                                              \
    g_autofree char *assert_text_found =                                                           \
        detokenize (vocab, assert_text_ids, G_N_ELEMENTS (assert_text_ids), special);              \
    g_assert_cmpstr (assert_text_found, ==, expected);                                             \
  }                                                                                                \
  G_STMT_END

static void
test_spm_text (void)
{
  g_autoptr (KvasirVocab) vocab = make (&spm_spec);

  assert_text (vocab, FALSE, "a bb", 7, 4, 9);
  assert_text (vocab, FALSE, " a", 1, 7);
  assert_text (vocab, TRUE, "<s> a</s>", 1, 7, 2);
  assert_text (vocab, FALSE, "A\xc3\xa9", 3, 10, 11);
  assert_text (vocab, FALSE, "a", 0, 12, 13, -1, 14, G_MAXINT32, 5);
  assert_text (vocab, TRUE, "<unk>a", 0, 5);
}

/* The order of the passes and what counts as a neighbour (formats.md 3.5). */
static void
test_clean_spaces (void)
{
  static const char *const cases[][2] = {
    { "a , b . c ! d ?", "a, b. c! d?" },
    { "a  .", "a ." },
    { " .", "." },
    { "it 's we 're I 'm you 've", "it's we're I'm you've" },
    { "don 't he 'd she 'll", "don 't he 'd she 'll" },
    { "a ' b", "a'b" },
    { "a ' .", "a '." },
    { "x 'v", "x 'v" },
    { "", "" },
  };
  static const char *const merges[] = { "a b" };
  TestVocab spec = bpe_spec;
  g_autoptr (KvasirVocab) cleaning = NULL;
  g_autoptr (KvasirVocab) plain = make (&bpe_spec);

  spec.pre = "gpt-2";
  spec.merges = merges;
  spec.n_merges = 1;
  cleaning = make (&spec);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autofree char *cleaned = NULL;
      g_autofree char *kept = NULL;

      kvasir_vocab_tokenize (cleaning, cases[i][0], -1, FALSE, FALSE, ids, NULL);
      cleaned = detokenize (cleaning, (gconstpointer) ids->data, ids->len, FALSE);
      kept = detokenize (plain, (gconstpointer) ids->data, ids->len, FALSE);
      g_assert_cmpstr (cleaned, ==, cases[i][1]);
      g_assert_cmpstr (kept, ==, cases[i][0]);
    }
}

static void
test_streaming (void)
{
  static const char text[] = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80z";
  /* What is certain after each byte. */
  static const char *const steps[] = { "a", "", "\xc3\xa9",         "", "", "\xe4\xb8\xad", "",
                                       "",  "", "\xf0\x9f\x98\x80", "z" };
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autoptr (KvasirDetokenizer) detokenizer = kvasir_detokenizer_new (vocab);

  for (gsize i = 0; i < sizeof text - 1; i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      g_autofree char *id = tokenize (vocab, &text[i], 1, FALSE);

      kvasir_detokenizer_push (detokenizer, (gint32) g_ascii_strtoll (id, NULL, 10), out);
      g_assert_cmpstr (out->str, ==, steps[i]);
    }
}

static void
push_bytes (KvasirDetokenizer *detokenizer,
            const KvasirVocab *vocab,
            const char *text,
            GString *out)
{
  for (; *text; text++)
    {
      g_autofree char *id = tokenize (vocab, text, 1, FALSE);

      kvasir_detokenizer_push (detokenizer, (gint32) g_ascii_strtoll (id, NULL, 10), out);
    }
}

static void
test_streaming_broken (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  g_autoptr (KvasirDetokenizer) detokenizer = kvasir_detokenizer_new (vocab);
  g_autoptr (GString) out = g_string_new (NULL);

  /* One mark for a start that does not go on, one for each byte that starts nothing. */
  push_bytes (detokenizer, vocab, "\xe4\xb8z\xff\x80\xc0", out);
  g_assert_cmpstr (out->str, ==, "\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  g_string_truncate (out, 0);
  push_bytes (detokenizer, vocab, "\xf0\x9f\x98", out);
  g_assert_cmpstr (out->str, ==, "");
  kvasir_detokenizer_flush (detokenizer, out);
  g_assert_cmpstr (out->str, ==, "\xef\xbf\xbd");
  g_string_truncate (out, 0);
  kvasir_detokenizer_flush (detokenizer, out);
  g_assert_cmpstr (out->str, ==, "");
  /* Control tokens print nothing while streaming. */
  kvasir_detokenizer_push (detokenizer, 1, out);
  g_assert_cmpstr (out->str, ==, "");
}

/* ---- what the file says ------------------------------------------------------------------- */

static void
test_getters (void)
{
  g_autoptr (KvasirVocab) vocab = make (&bpe_spec);
  gsize len = 0;

  g_assert_cmpint (kvasir_vocab_get_kind (vocab), ==, KVASIR_VOCAB_BPE);
  g_assert_cmpstr (kvasir_vocab_get_description (vocab), ==, "BPE (smollm)");
  g_assert_true (kvasir_vocab_can_tokenize (vocab));
  g_assert_cmpuint (kvasir_vocab_get_n_tokens (vocab), ==, N_BPE_TOKENS + 256);
  g_assert_cmpint (kvasir_vocab_get_bos (vocab), ==, 11);
  g_assert_cmpint (kvasir_vocab_get_eos (vocab), ==, 11);
  g_assert_cmpint (kvasir_vocab_get_unk (vocab), ==, -1);
  g_assert_false (kvasir_vocab_get_add_bos (vocab));
  g_assert_null (kvasir_vocab_get_chat_template (vocab));
  g_assert_cmpstr (kvasir_vocab_get_text (vocab, 1, &len), ==, "<|im_end|>");
  g_assert_cmpuint (len, ==, 10);
}

static void
test_other_kinds_load (void)
{
  static const char *const models[][2] = {
    { "none", "none (none)" },
    { "plamo2", "none (plamo2)" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (models); i++)
    {
      TestVocab spec = spm_spec;
      g_autoptr (KvasirVocab) vocab = NULL;
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autoptr (GError) error = NULL;

      spec.model = models[i][0];
      vocab = make (&spec);
      g_assert_cmpstr (kvasir_vocab_get_description (vocab), ==, models[i][1]);
      g_assert_false (kvasir_vocab_can_tokenize (vocab));
      g_assert_false (kvasir_vocab_tokenize (vocab, "a", 1, TRUE, TRUE, ids, &error));
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, models[i][1]));
      g_assert_cmpuint (ids->len, ==, 0);
      assert_text (vocab, FALSE, "ab", 5, 6);
    }
}

static void
test_unknown_pre (void)
{
  TestVocab spec = bpe_spec;
  g_autoptr (KvasirVocab) vocab = NULL;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;

  spec.pre = "tekken-9";
  vocab = make (&spec);
  g_assert_false (kvasir_vocab_tokenize (vocab, "a", 1, TRUE, TRUE, ids, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "BPE (tekken-9)"));
  assert_text (vocab, FALSE, "abc a", 7, 8);
}

static void
test_no_vocabulary (void)
{
  const TestVocab spec = { .model = "none" };
  g_autoptr (KvasirVocab) vocab = make (&spec);

  g_assert_cmpint (kvasir_vocab_get_kind (vocab), ==, KVASIR_VOCAB_NONE);
  g_assert_cmpuint (kvasir_vocab_get_n_tokens (vocab), ==, 0);
  g_assert_cmpint (kvasir_vocab_get_eos (vocab), ==, -1);
  assert_text (vocab, TRUE, "", 0, 1);
}

/* ---- broken vocabularies ------------------------------------------------------------------ */

static void
assert_bad (const TestVocab *spec, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (vocab_make (spec, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
  if (!strstr (error->message, message))
    g_error ("expected \"%s\" in \"%s\"", message, error->message);
}

static void
test_broken (void)
{
  static const TestToken bad_kind[] = { { "a", 7 } };
  static const char *const no_space[] = { "a b", "ab" };
  static const char *const no_right[] = { "ab " };
  g_autofree char *long_text = g_strnfill (65536, 'x');
  const TestToken long_token[] = { { long_text, NORMAL } };
  TestVocab spec = { .name = "x" };

  assert_bad (&spec, "tokenizer.ggml.model: expected a string, found none");
  spec.model = "gpt2";
  assert_bad (&spec, "tokenizer.ggml.tokens: expected an array of strings, found none");
  spec.tokens = bad_kind;
  assert_bad (&spec, "tokenizer.ggml.tokens: expected 1 to 16777216, found 0");
  spec.n_tokens = 1;
  assert_bad (&spec, "kind of token 0: expected 0 to 6, found 7");
  spec.tokens = long_token;
  assert_bad (&spec, "token 0: expected at most 65535 bytes of text, found 65536");
  spec.tokens = bpe_tokens;
  assert_bad (&spec, "tokenizer.ggml.merges: expected an array of strings, found none");
  spec.merges = no_space;
  spec.n_merges = 2;
  assert_bad (&spec, "tokenizer.ggml.merges 1: expected two texts with a space between");
  spec.merges = no_right;
  spec.n_merges = 1;
  assert_bad (&spec, "tokenizer.ggml.merges 0: expected two texts with a space between");
}

static void
test_arrays_must_fit (void)
{
  static const struct
  {
    const char *key;
    const char *message;
  } cases[] = {
    { "tokenizer.ggml.token_type",
      "tokenizer.ggml.token_type: expected an array of 3 values of type 5, found 0 of type 0" },
    { "tokenizer.ggml.scores",
      "tokenizer.ggml.scores: expected an array of 3 values of type 6, found 0 of type 0" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_bad (&(TestVocab){ .model = "llama",
                              .texts_only = TRUE,
                              .tokens = spm_tokens,
                              .n_tokens = 3,
                              .extra_key = cases[i].key },
                cases[i].message);
}

static void
test_counts_must_fit (void)
{
  static const char *const texts[] = { "a", "b", "c" };
  static const gint32 kinds[] = { NORMAL, NORMAL };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autoptr (KvasirGguf) gguf = NULL;
  g_autoptr (GError) error = NULL;

  put_header (out, 3, 0, 3);
  put_key_text (out, "tokenizer.ggml.model", "llama");
  put_key_texts (out, "tokenizer.ggml.tokens", texts, 3);
  put_key_i32s (out, "tokenizer.ggml.token_type", kinds, 2);
  gguf = open_bytes (out->data, out->len, &error);
  g_assert_no_error (error);
  g_assert_null (kvasir_vocab_new (gguf, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
  g_assert_nonnull (strstr (error->message, "expected an array of 3 values of type 5, found 2 of"));
}

/* Ids out of range in the file count as not given. */
static void
test_ids_out_of_range (void)
{
  TestVocab spec = spm_spec;
  g_autoptr (KvasirVocab) vocab = NULL;

  spec.extra_key = "tokenizer.ggml.bos_token_id";
  spec.extra_value = 4000000000u;
  vocab = make (&spec);
  g_assert_cmpint (kvasir_vocab_get_bos (vocab), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/bpe-prefers-lower-rank", test_lower_rank);
  g_test_add_func ("/engine/vocab/bpe-breaks-ties-leftmost", test_leftmost_tie);
  g_test_add_func ("/engine/vocab/bpe-merge-without-token", test_merge_without_token);
  g_test_add_func ("/engine/vocab/bpe-later-of-equal-texts", test_equal_texts);
  g_test_add_func ("/engine/vocab/bpe-bytes-without-tokens", test_bytes_without_tokens);
  g_test_add_func ("/engine/vocab/bpe-whole-piece-first", test_ignores_merges);
  g_test_add_func ("/engine/vocab/special-longest-first", test_longest_special);
  g_test_add_func ("/engine/vocab/special-not-in-plain-text", test_plain_text_is_plain);
  g_test_add_func ("/engine/vocab/special-overlap", test_overlap);
  g_test_add_func ("/engine/vocab/special-strips-white-space", test_strips);
  g_test_add_func ("/engine/vocab/spans-guard-control-tokens", test_spans);
  g_test_add_func ("/engine/vocab/end-marks", test_end_marks);
  g_test_add_func ("/engine/vocab/end-marks-of-channels", test_channels);
  g_test_add_func ("/engine/vocab/spm-prefers-higher-score", test_spm_scores);
  g_test_add_func ("/engine/vocab/spm-falls-back-to-bytes", test_spm_bytes);
  g_test_add_func ("/engine/vocab/spm-space-after-special", test_spm_prefix);
  g_test_add_func ("/engine/vocab/text-of-spm-tokens", test_spm_text);
  g_test_add_func ("/engine/vocab/text-with-clean-spaces", test_clean_spaces);
  g_test_add_func ("/engine/vocab/streaming-gives-whole-characters", test_streaming);
  g_test_add_func ("/engine/vocab/streaming-replaces-broken-bytes", test_streaming_broken);
  g_test_add_func ("/engine/vocab/getters", test_getters);
  g_test_add_func ("/engine/vocab/other-kinds-load", test_other_kinds_load);
  g_test_add_func ("/engine/vocab/unknown-pre-tokenizer-loads", test_unknown_pre);
  g_test_add_func ("/engine/vocab/no-vocabulary", test_no_vocabulary);
  g_test_add_func ("/engine/vocab/broken", test_broken);
  g_test_add_func ("/engine/vocab/arrays-must-fit-the-tokens", test_arrays_must_fit);
  g_test_add_func ("/engine/vocab/counts-must-fit-the-tokens", test_counts_must_fit);
  g_test_add_func ("/engine/vocab/ids-out-of-range", test_ids_out_of_range);
  return g_test_run ();
}
