#include "tests/engine/vocab/support.h"

#include <string.h>

/* Rules that a file states by keys of its own, or by the name of its model: what each changes. The
 * expected ids follow from the format by hand. */

#define SP "\xe2\x96\x81"

static KvasirVocab *
make (const TestVocab *spec, const char *key, gboolean value)
{
  g_autoptr (GError) error = NULL;
  TestVocab changed = *spec;
  KvasirVocab *vocab;
  guint n = 0;

  while (changed.flags[n].key)
    n++;
  if (key)
    changed.flags[n] = (TestFlag){ key, value };
  vocab = vocab_make (&changed, &error);
  g_assert_no_error (error);
  return vocab;
}

/* With what the model's rule adds to a text. */
static void
assert_whole (const KvasirVocab *vocab, const char *text, const char *expected)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;
  g_autofree char *found = NULL;

  kvasir_vocab_tokenize (vocab, text, -1, TRUE, FALSE, ids, &error);
  g_assert_no_error (error);
  found = format_ids ((gconstpointer) ids->data, ids->len);
  g_assert_cmpstr (found, ==, expected);
}

static void
assert_text (const KvasirVocab *vocab, const gint32 *ids, guint n, const char *expected)
{
  g_autoptr (GString) out = g_string_new (NULL);

  kvasir_vocab_detokenize (vocab, ids, n, FALSE, out);
  g_assert_cmpstr (out->str, ==, expected);
}

/* ---- marks around a text ------------------------------------------------------------------ */

static const TestToken letters[] = {
  { "<unk>", UNKNOWN, 0 }, { "<s>", CONTROL, 0 }, { "</s>", CONTROL, 0 },
  { SP "a", NORMAL, -1 },  { "a", NORMAL, -2 },   { SP, NORMAL, -3 },
};

/* The rules of the kind, and both keys, where token 1 is BOS. A text for RWKV never has marks. */
typedef struct
{
  const char *model;
  const char *plain;   /* no key */
  const char *bos[2];  /* add_bos_token false and true */
  const char *last[2]; /* add_eos_token false and true */
} MarkCase;

static void
test_marks (void)
{
  static const MarkCase cases[] = {
    { "llama", "1,3", { "3", "1,3" }, { "1,3", "1,3,2" } },
    { "t5", "4,1", { "4,1", "1,4,1" }, { "4", "4,1" } },
    { "rwkv", "4", { "4", "4" }, { "4", "4" } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const TestVocab spec = { .model = cases[i].model,
                               .tokens = letters,
                               .n_tokens = G_N_ELEMENTS (letters),
                               .extra_key = "tokenizer.ggml.bos_token_id",
                               .extra_value = 1 };
      g_autoptr (KvasirVocab) plain = make (&spec, NULL, FALSE);

      assert_whole (plain, "a", cases[i].plain);
      for (guint value = 0; value < 2; value++)
        {
          g_autoptr (KvasirVocab) bos = make (&spec, "add_bos_token", (gboolean) value);
          g_autoptr (KvasirVocab) last = make (&spec, "add_eos_token", (gboolean) value);

          assert_whole (bos, "a", cases[i].bos[value]);
          assert_whole (last, "a", cases[i].last[value]);
        }
    }
}

/* The kind that has no BOS of its own adds the one that the file names. */
static void
test_named_mark (void)
{
  const TestVocab spec = { .model = "t5",
                           .tokens = letters,
                           .n_tokens = G_N_ELEMENTS (letters),
                           .extra_key = "tokenizer.ggml.bos_token_id",
                           .extra_value = 2 };
  g_autoptr (KvasirVocab) with = make (&spec, "add_bos_token", TRUE);
  g_autoptr (KvasirVocab) without = make (&spec, NULL, FALSE);

  assert_whole (with, "a", "2,4,1");
  assert_whole (without, "a", "4,1");
}

/* Marks of byte-level files go by the pre-tokenizer: some begin a text with BOS, and the key
 * decides. */
static void
test_marks_of_pre_tokenizers (void)
{
  static const TestToken tokens[] = { { "<s>", CONTROL, 0 } };
  static const char *const merges[] = { "a b" };
  TestVocab spec = { .model = "gpt2",
                     .pre = "llama-bpe",
                     .tokens = tokens,
                     .n_tokens = 1,
                     .merges = merges,
                     .n_merges = 1,
                     .with_bytes = TRUE,
                     .extra_key = "tokenizer.ggml.bos_token_id" };
  g_autoptr (KvasirVocab) begins = make (&spec, NULL, FALSE);
  g_autoptr (KvasirVocab) told_not_to = make (&spec, "add_bos_token", FALSE);
  g_autoptr (KvasirVocab) does_not = NULL;
  g_autoptr (KvasirVocab) told_to = NULL;
  g_autofree char *a = g_strdup_printf ("%d", 1 + 'a');
  g_autofree char *marked = g_strconcat ("0,", a, NULL);

  spec.pre = "qwen2";
  does_not = make (&spec, NULL, FALSE);
  told_to = make (&spec, "add_bos_token", TRUE);
  assert_whole (begins, "a", marked);
  assert_whole (told_not_to, "a", a);
  assert_whole (does_not, "a", a);
  assert_whole (told_to, "a", marked);
}

/* A text for BERT lies between its two marks, whatever the keys say. */
static void
test_marks_of_bert (void)
{
  static const TestToken tokens[] = { { "[UNK]", UNKNOWN, 0 },
                                      { "[CLS]", CONTROL, 0 },
                                      { SP "a", NORMAL, 0 } };
  static const char *const keys[] = { "add_bos_token", "add_eos_token", "add_sep_token" };
  const TestVocab spec = { .model = "bert",
                           .tokens = tokens,
                           .n_tokens = G_N_ELEMENTS (tokens),
                           .extra_key = "tokenizer.ggml.bos_token_id",
                           .extra_value = 1 };

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    for (guint value = 0; value < 2; value++)
      {
        g_autoptr (KvasirVocab) vocab = make (&spec, keys[i], (gboolean) value);

        /* There is no token 102 here, which would be the second. */
        assert_whole (vocab, "a", "1,2");
      }
}

/* ---- spaces ------------------------------------------------------------------------------- */

static void
test_space_prefix (void)
{
  const TestVocab spec = { .model = "llama",
                           .tokens = letters,
                           .n_tokens = G_N_ELEMENTS (letters) };
  g_autoptr (KvasirVocab) with = make (&spec, "add_space_prefix", TRUE);
  g_autoptr (KvasirVocab) without = make (&spec, "add_space_prefix", FALSE);
  const gint32 ids[] = { 3, 3 };

  assert_ids (with, "a a", FALSE, "3,3");
  assert_ids (without, "a a", FALSE, "4,3");
  assert_ids (with, "a</s>a", TRUE, "3,2,3");
  assert_ids (without, "a</s>a", TRUE, "4,2,4");
  /* One space is taken away again where one was put in front. */
  assert_text (with, ids, 2, "a a");
  assert_text (without, ids, 2, " a a");
}

static void
test_extra_spaces (void)
{
  TestVocab spec = { .model = "t5",
                     .tokens = letters,
                     .n_tokens = G_N_ELEMENTS (letters),
                     .flags = { { "add_space_prefix", TRUE } } };
  g_autoptr (KvasirVocab) joins = make (&spec, "remove_extra_whitespaces", TRUE);
  g_autoptr (KvasirVocab) keeps = make (&spec, "remove_extra_whitespaces", FALSE);

  assert_ids (joins, "  a   a  ", FALSE, "3,3");
  /* A space each, and the prefix before the word. */
  assert_ids (keeps, "a  a", FALSE, "3,5,3");
  assert_ids (keeps, "a ", FALSE, "3,5");
}

/* ---- tokens of other kinds ---------------------------------------------------------------- */

/* User-defined tokens are found in plain text, the longest first, and printed as they are written;
 * control tokens only where they count. */
static void
test_user_defined (void)
{
  static const TestToken tokens[] = {
    { "<unk>", UNKNOWN, 0 },    { "<s>", CONTROL, 0 },      { "</s>", CONTROL, 0 },
    { SP "a", NORMAL, -1 },     { "a", NORMAL, -2 },        { SP, NORMAL, -3 },
    { "<x", NORMAL, -4 },       { "<x>", USER_DEFINED, 0 }, { "<x><x>", USER_DEFINED, 0 },
    { SP SP, USER_DEFINED, 0 },
  };
  const gint32 ids[] = { 3, 7, 9, 2, 4 };

  for (guint kind = 0; kind < 2; kind++)
    {
      const TestVocab spec = { .model = kind == 0 ? "llama" : "t5",
                               .tokens = tokens,
                               .n_tokens = G_N_ELEMENTS (tokens),
                               .flags = { { "add_space_prefix", TRUE } } };
      g_autoptr (KvasirVocab) vocab = make (&spec, NULL, FALSE);

      assert_ids (vocab, "a<x>a", FALSE, "3,7,3");
      assert_ids (vocab, "<x><x><x>", FALSE, "8,7");
      assert_ids (vocab, "a<s>", TRUE, "3,1");
      /* It is a text that holds U+2581, not two spaces, and is printed so. */
      assert_ids (vocab, SP SP, FALSE, "9");
      assert_text (vocab, ids, 5, "a<x>" SP SP "a");
    }
}

/* One of a unigram file counts where the whole of it stands: what only begins like it is read as
 * ever. */
static void
test_torn_characters (void)
{
  static const TestToken tokens[] = {
    { "<pad>", CONTROL, 0 },
    { "</s>", CONTROL, 0 },
    { "<unk>", UNKNOWN, 0 },
    /* U+2014 U+2014 and U+2026 begin with the same two bytes. */
    { "\xe2\x80\x94\xe2\x80\x94", USER_DEFINED, 0 },
    { "\xe2\x80\xa6", NORMAL, -1 },
    { "\xe2\x80\x94", NORMAL, -1 },
  };
  const TestVocab spec = { .model = "t5", .tokens = tokens, .n_tokens = G_N_ELEMENTS (tokens) };
  g_autoptr (KvasirVocab) vocab = make (&spec, NULL, FALSE);

  assert_ids (vocab, "\xe2\x80\xa6", FALSE, "4");
  assert_ids (vocab, "\xe2\x80\x94\xe2\x80\xa6", FALSE, "5,4");
  assert_ids (vocab, "\xe2\x80\x94\xe2\x80\x94\xe2\x80\x94", FALSE, "3,5");
}

/* Unused tokens print nothing. */
static void
test_unused (void)
{
  static const TestToken tokens[] = {
    { "<unk>", UNKNOWN, 0 }, { "<s>", CONTROL, 0 }, { "</s>", CONTROL, 0 },
    { "a", NORMAL, 0 },      { "b", UNUSED, 0 },
  };
  const TestVocab spec = { .model = "llama",
                           .tokens = tokens,
                           .n_tokens = G_N_ELEMENTS (tokens),
                           .flags = { { "add_space_prefix", FALSE } } };
  g_autoptr (KvasirVocab) vocab = make (&spec, NULL, FALSE);
  const gint32 ids[] = { 3, 4, 3 };

  assert_text (vocab, ids, 3, "aa");
}

/* The mask of some encoders eats the white space before it. */
static void
test_left_strip (void)
{
  static const TestToken tokens[] = { { "<mask>", CONTROL, 0 }, { "<s>", CONTROL, 0 } };
  static const char *const merges[] = { "a b" };
  TestVocab spec = { .model = "gpt2",
                     .pre = "jina-v2-de",
                     .tokens = tokens,
                     .n_tokens = 2,
                     .merges = merges,
                     .n_merges = 1,
                     .with_bytes = TRUE };
  g_autoptr (KvasirVocab) strips = make (&spec, NULL, FALSE);
  g_autoptr (KvasirVocab) keeps = NULL;
  g_autofree char *stripped = g_strdup_printf ("%d,0,%d,%d", 2 + 'a', 2 + ' ', 2 + 'a');
  g_autofree char *kept = g_strdup_printf ("%d,%d,0,%d,%d", 2 + 'a', 2 + ' ', 2 + ' ', 2 + 'a');
  g_autofree char *other = g_strdup_printf ("%d,%d,1,%d,%d", 2 + 'a', 2 + ' ', 2 + ' ', 2 + 'a');

  spec.pre = "gpt-2";
  keeps = make (&spec, NULL, FALSE);
  assert_ids (strips, "a <mask> a", TRUE, stripped);
  assert_ids (strips, "a <s> a", TRUE, other);
  assert_ids (keeps, "a <mask> a", TRUE, kept);
}

/* ---- case and accents --------------------------------------------------------------------- */

static void
test_case_of_bert (void)
{
  static const TestToken tokens[] = {
    { "[UNK]", UNKNOWN, 0 },          { SP "e", NORMAL, 0 }, { SP "E", NORMAL, 0 },
    { SP "\xc3\xa9", NORMAL, 0 },     /* e with an acute accent */
    { SP "\xe2\x85\xb3", NORMAL, 0 }, /* small Roman four */
    { SP "\xe2\x93\x90", NORMAL, 0 }, /* circled small a */
    { SP "\xe2\x85\xa3", NORMAL, 0 }, /* Roman four */
    { SP "\xc3\x89", NORMAL, 0 },     /* E with an acute accent */
  };
  static const char text[] = "E \xc3\x89 \xe2\x85\xa3 \xe2\x92\xb6";
  TestVocab spec = { .model = "bert",
                     .tokens = tokens,
                     .n_tokens = G_N_ELEMENTS (tokens),
                     .extra_key = "tokenizer.ggml.unknown_token_id" };
  g_autoptr (KvasirVocab) plain = make (&spec, NULL, FALSE);
  g_autoptr (KvasirVocab) cased = make (&spec, "normalizer.lowercase", FALSE);
  g_autoptr (KvasirVocab) accents = make (&spec, "normalizer.strip_accents", FALSE);
  g_autoptr (KvasirVocab) cased_only = NULL;

  /* Accents go with the case unless a key says otherwise. */
  assert_ids (plain, text, FALSE, "1,1,4,5");
  assert_ids (cased, text, FALSE, "2,7,6,0");
  assert_ids (accents, text, FALSE, "1,3,4,5");
  spec.flags[0] = (TestFlag){ "normalizer.lowercase", FALSE };
  cased_only = make (&spec, "normalizer.strip_accents", TRUE);
  assert_ids (cased_only, text, FALSE, "2,2,6,0");
}

/* The pre-tokenizer `whitespace` merges plain text, word by word; what is no token is left out. */
static void
test_whitespace (void)
{
  static const TestToken tokens[] = {
    { "<s>", CONTROL, 0 },
    { "</s>", CONTROL, 0 },
    { "a", NORMAL, 0 },
    { "\xe4\xb8\xad", NORMAL, 0 },
    { "\n", NORMAL, 0 },
    { "\xe4\xb8\xad"
      "a",
      NORMAL, 0 },
    { "A", NORMAL, 0 },
    { "a a", NORMAL, 0 },
  };
  static const char *const merges[] = { "\xe4\xb8\xad a", "a  a" };
  const TestVocab spec = { .model = "gpt2",
                           .pre = "whitespace",
                           .tokens = tokens,
                           .n_tokens = G_N_ELEMENTS (tokens),
                           .merges = merges,
                           .n_merges = G_N_ELEMENTS (merges) };
  g_autoptr (KvasirVocab) vocab = make (&spec, NULL, FALSE);
  g_autoptr (KvasirVocab) lower = make (&spec, "normalizer.lowercase", TRUE);
  const gint32 ids[] = { 5, 4, 6 };

  assert_ids (vocab,
              "\xe4\xb8\xad"
              "aa",
              FALSE, "5,2");
  assert_ids (vocab, "a a\na A", FALSE, "2,2,4,2,6");
  assert_ids (vocab,
              "\xe4\xb8\xad\xe3\x80\x80"
              "a?",
              FALSE, "3,2");
  assert_ids (lower,
              "a\xe4\xb8\xad"
              "A",
              FALSE, "2,5");
  assert_text (vocab, ids, 3,
               "\xe4\xb8\xad"
               "a\nA");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/flags/marks-around-a-text", test_marks);
  g_test_add_func ("/engine/vocab/flags/mark-that-the-file-names", test_named_mark);
  g_test_add_func ("/engine/vocab/flags/marks-of-pre-tokenizers", test_marks_of_pre_tokenizers);
  g_test_add_func ("/engine/vocab/flags/marks-of-bert", test_marks_of_bert);
  g_test_add_func ("/engine/vocab/flags/space-prefix", test_space_prefix);
  g_test_add_func ("/engine/vocab/flags/extra-spaces", test_extra_spaces);
  g_test_add_func ("/engine/vocab/flags/user-defined-tokens", test_user_defined);
  g_test_add_func ("/engine/vocab/flags/user-defined-tokens-as-a-whole", test_torn_characters);
  g_test_add_func ("/engine/vocab/flags/unused-tokens", test_unused);
  g_test_add_func ("/engine/vocab/flags/mask-strips-left", test_left_strip);
  g_test_add_func ("/engine/vocab/flags/case-and-accents-of-bert", test_case_of_bert);
  g_test_add_func ("/engine/vocab/flags/whitespace-merges-words", test_whitespace);
  return g_test_run ();
}
