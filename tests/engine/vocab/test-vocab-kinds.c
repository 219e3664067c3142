#include "engine/vocab/charsmap.h"
#include "engine/vocab/vocab.h"
#include "tests/engine/vocab/support.h"

#include <string.h>

/* Small vocabularies of the kinds that are no pair merges; expected ids follow from the rules of
 * the format by hand. */

#define SP "\xe2\x96\x81"

static char *
tokenize_whole (const KvasirVocab *vocab, const char *text)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;

  kvasir_vocab_tokenize (vocab, text, -1, TRUE, FALSE, ids, &error);
  g_assert_no_error (error);
  return format_ids ((gconstpointer) ids->data, ids->len);
}

static KvasirVocab *
make (const char *model, const TestToken *tokens, gsize n, const char *key, guint32 value)
{
  const TestVocab spec = {
    .model = model, .tokens = tokens, .n_tokens = n, .extra_key = key, .extra_value = value
  };
  g_autoptr (GError) error = NULL;
  KvasirVocab *vocab = vocab_make (&spec, &error);

  g_assert_no_error (error);
  g_assert_true (kvasir_vocab_can_tokenize (vocab));
  return vocab;
}

#define MAKE(model, tokens, key, value) make (model, tokens, G_N_ELEMENTS (tokens), key, value)

/* ---- WordPiece ---------------------------------------------------------------------------- */

static void
test_marks_of_bert (void)
{
  g_autofree TestToken *tokens = g_new0 (TestToken, 110);
  g_autoptr (KvasirVocab) vocab = NULL;
  g_autofree char *ids = NULL;
  g_autofree char *unknown = NULL;
  char names[110][8];

  for (guint i = 0; i < 110; i++)
    {
      g_snprintf (names[i], sizeof names[i], "[%u]", i);
      tokens[i] = (TestToken){ i == 104 ? SP "bee" : names[i], i == 104 ? NORMAL : CONTROL, 0 };
    }
  vocab = make ("bert", tokens, 110, NULL, 0);
  ids = tokenize_whole (vocab, "Bee");
  g_assert_cmpstr (ids, ==, "101,104,102");
  unknown = tokenize_whole (vocab, "wasp");
  g_assert_cmpstr (unknown, ==, "101,100,102");
}

static void
test_words_of_bert (void)
{
  static const TestToken tokens[] = {
    { "[UNK]", UNKNOWN, 0 },
    { SP "ab", NORMAL, 0 },
    { "c", NORMAL, 0 },
    { SP "a", NORMAL, 0 },
    { "bcd", NORMAL, 0 },
    { SP "!", NORMAL, 0 },
    { SP "\xe4\xb8\xad", NORMAL, 0 },
  };
  g_autoptr (KvasirVocab) vocab = MAKE ("bert", tokens, "tokenizer.ggml.unknown_token_id", 0);

  /* The longest piece is taken although a shorter one would leave nothing over. */
  assert_ids (vocab, "abc", FALSE, "1,2");
  assert_ids (vocab, "abcd", FALSE, "0");
  assert_ids (vocab, "abc!abc", FALSE, "1,2,5,1,2");
  assert_ids (vocab,
              "ab\xe4\xb8\xad"
              "ab",
              FALSE, "1,6,1");
  assert_ids (vocab,
              "A\xcc\x81\x42\xe2\x80\x8b"
              "C",
              FALSE, "1,2");
  assert_ids (vocab, " \t\n", FALSE, "");
}

/* ---- RWKV --------------------------------------------------------------------------------- */

static void
test_longest_bytes (void)
{
  static const TestToken tokens[] = {
    { "<s>", CONTROL, 0 }, { "a", NORMAL, 0 },          { "ab", NORMAL, 0 },
    { "\\n", NORMAL, 0 },  { "\\xe4\\xb8", NORMAL, 0 }, { "\\'s", NORMAL, 0 },
    { "\\\\", NORMAL, 0 }, { "abcd", NORMAL, 0 },
  };
  g_autoptr (KvasirVocab) vocab = MAKE ("rwkv", tokens, NULL, 0);
  g_autoptr (GString) text = g_string_new (NULL);
  const gint32 ids[] = { 2, 3, 5, 6, 4 };

  assert_ids (vocab, "abc\n", FALSE, "2,3");
  assert_ids (vocab, "abca", FALSE, "2,1");
  assert_ids (vocab, "ab's\\\xe4\xb8\xad", FALSE, "2,5,6,4");
  kvasir_vocab_detokenize (vocab, ids, 5, FALSE, text);
  g_assert_cmpstr (text->str, ==, "ab\n's\\\xe4\xb8");
}

/* ---- unigrams ----------------------------------------------------------------------------- */

static const TestToken unigrams[] = {
  { "<pad>", CONTROL, 0 },     { "</s>", CONTROL, 0 }, { "<unk>", UNKNOWN, 0 },
  { SP "a", NORMAL, -1 },      { "b", NORMAL, -1 },    { "ab", NORMAL, -1.5f },
  { SP "ab", NORMAL, -2.5f },  { SP, NORMAL, -3 },     { "a", NORMAL, -4 },
  { "<x>", USER_DEFINED, -9 },
};

static void
test_best_sum (void)
{
  g_autoptr (KvasirVocab) vocab = MAKE ("t5", unigrams, NULL, 0);
  g_autofree char *ids = NULL;

  /* " a" and "b" sum up to -2, " ab" to -2.5, " " and "ab" to -4.5. */
  assert_ids (vocab, " ab", FALSE, "3,4");
  assert_ids (vocab, "ab", FALSE, "5");
  /* Unknown neighbours are one. */
  assert_ids (vocab,
              "b\xc3\xa9\xc3\xa9\xff"
              "b",
              FALSE, "4,2,4");
  assert_ids (vocab, "b<x>b", FALSE, "4,9,4");
  ids = tokenize_whole (vocab, "b");
  g_assert_cmpstr (ids, ==, "4,1");
  assert_ids (vocab, "", FALSE, "");
}

static void
test_broken_chars_map (void)
{
  static const guint8 short_map[] = { 4, 0, 0 };
  static const guint8 long_trie[] = { 8, 0, 0, 0, 1, 2, 3, 4, 0 };
  KvasirCharsMap map = { NULL };

  g_assert_nonnull (kvasir_chars_map_init (&map, short_map, sizeof short_map));
  g_assert_nonnull (kvasir_chars_map_init (&map, long_trie, sizeof long_trie));
  kvasir_chars_map_clear (&map);
}

/* Whatever the units say, no index leaves the table. */
static void
test_random_chars_map (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (9);

  for (guint round = 0; round < 2000; round++)
    {
      guint8 bytes[4 + 4 * 16 + 7] = { 4 * 16 };
      KvasirCharsMap map = { NULL };
      char text[8];

      for (gsize i = 4; i < sizeof bytes; i++)
        bytes[i] = (guint8) g_rand_int_range (random, 0, g_rand_boolean (random) ? 8 : 256);
      for (gsize i = 0; i < sizeof text; i++)
        text[i] = (char) g_rand_int_range (random, 0, 16);
      g_assert_null (kvasir_chars_map_init (&map, bytes, sizeof bytes));
      for (gsize i = 0; i < sizeof text; i++)
        {
          const char *replacement = NULL;

          if (kvasir_chars_map_match (&map, text + i, sizeof text - i, &replacement) > 0)
            g_assert_cmpuint (strlen (replacement), <=, 7);
        }
      kvasir_chars_map_clear (&map);
    }
}

/* ---- what holds for all ------------------------------------------------------------------- */

/* A text cannot spell a control token, even where the vocabulary has all of its parts. */
static void
test_no_spelling (void)
{
  static const TestToken tokens[] = {
    { "<unk>", UNKNOWN, 0 }, { SP "cls", CONTROL, 0 }, { "cls", CONTROL, 0 },
    { "c", NORMAL, -1 },     { "ls", NORMAL, -1 },     { "l", NORMAL, -1 },
    { "s", NORMAL, -1 },     { SP "c", NORMAL, -1 },   { SP, NORMAL, -1 },
  };
  static const char *const models[] = { "llama", "t5", "bert", "rwkv" };

  for (gsize i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (KvasirVocab) vocab = MAKE (models[i], tokens, NULL, 0);
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

      g_assert_true (kvasir_vocab_tokenize (vocab, "cls cls", -1, FALSE, FALSE, ids, NULL));
      g_assert_cmpuint (ids->len, >, 0);
      for (guint k = 0; k < ids->len; k++)
        g_assert_false (kvasir_vocab_is_control (vocab, g_array_index (ids, gint32, k)));
    }
}

static void
test_no_merge_into_control (void)
{
  static const TestToken tokens[] = { { "cls", CONTROL, 0 }, { "ls", NORMAL, 0 } };
  static const char *const merges[] = { "l s", "c ls" };
  TestVocab spec = { .model = "gpt2",
                     .pre = "llama-bpe",
                     .tokens = tokens,
                     .n_tokens = G_N_ELEMENTS (tokens),
                     .merges = merges,
                     .n_merges = G_N_ELEMENTS (merges),
                     .with_bytes = TRUE };
  g_autoptr (KvasirVocab) vocab = vocab_make (&spec, NULL);
  g_autofree char *expected = g_strdup_printf ("%d,1", 2 + 'c');

  assert_ids (vocab, "cls", FALSE, expected);
  assert_ids (vocab, "cls", TRUE, "0");
}

/* Spaces in a row are joined by tokens of their own, and a word goes with the space before it. */
static void
test_runs_of_spaces (void)
{
  static const TestToken tokens[] = {
    { "<unk>", UNKNOWN, 0 },     { SP, NORMAL, -9 },  { SP SP, NORMAL, -1 },
    { SP SP SP SP, NORMAL, -2 }, { "a", NORMAL, -9 }, { SP "a", NORMAL, -5 },
    { SP SP "a", NORMAL, -6 },
  };
  g_autoptr (KvasirVocab) vocab = MAKE ("llama", tokens, "tokenizer.ggml.unknown_token_id", 0);

  /* One more space is put in front. */
  assert_ids (vocab, "   a", FALSE, "3,4");
  assert_ids (vocab, "    a", FALSE, "3,5");
  assert_ids (vocab, "a a", FALSE, "5,5");
  assert_ids (vocab, "a  a", FALSE, "5,6");
}

static void
test_text_with_ranks (void)
{
  static const TestToken tokens[] = {
    { "<bos>", CONTROL, 0 }, { "\n\n", NORMAL, 0 },
    { SP, NORMAL, 0 },       { "a", NORMAL, 0 },
    { SP "a", NORMAL, 0 },   { "<0xC3>", BYTE, 0 },
    { "<0xA9>", BYTE, 0 },   { "<0x0A>", BYTE, 0 },
    { "</s>", NORMAL, 0 },   { "<|tool_response>", CONTROL, 0 },
  };
  static const char *const merges[] = { SP " a" };
  TestVocab spec = { .model = "gemma4",
                     .tokens = tokens,
                     .n_tokens = G_N_ELEMENTS (tokens),
                     .merges = merges,
                     .n_merges = 1,
                     .extra_key = "tokenizer.ggml.bos_token_id" };
  g_autoptr (KvasirVocab) vocab = vocab_make (&spec, NULL);
  g_autofree char *ids = tokenize_whole (vocab, "a a\n\n\xc3\xa9\n a");
  g_autoptr (GString) text = g_string_new (NULL);
  const gint32 pieces[] = { 4, 1, 5, 6, 7, 3 };

  g_assert_cmpstr (ids, ==, "0,3,4,1,5,6,7,4");
  kvasir_vocab_detokenize (vocab, pieces, 6, FALSE, text);
  g_assert_cmpstr (text->str, ==, " a\n\n\xc3\xa9\na");
  g_assert_false (kvasir_vocab_is_eog (vocab, 8));
  g_assert_true (kvasir_vocab_is_eog (vocab, 9));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/kinds/wpm-lies-between-its-marks", test_marks_of_bert);
  g_test_add_func ("/engine/vocab/kinds/wpm-takes-longest-pieces", test_words_of_bert);
  g_test_add_func ("/engine/vocab/kinds/rwkv-takes-longest-bytes", test_longest_bytes);
  g_test_add_func ("/engine/vocab/kinds/ugm-takes-the-best-sum", test_best_sum);
  g_test_add_func ("/engine/vocab/kinds/ugm-refuses-broken-chars-map", test_broken_chars_map);
  g_test_add_func ("/engine/vocab/kinds/ugm-stays-inside-its-chars-map", test_random_chars_map);
  g_test_add_func ("/engine/vocab/kinds/text-cannot-spell-control", test_no_spelling);
  g_test_add_func ("/engine/vocab/kinds/merges-do-not-give-control", test_no_merge_into_control);
  g_test_add_func ("/engine/vocab/kinds/spm-joins-runs-of-spaces", test_runs_of_spaces);
  g_test_add_func ("/engine/vocab/kinds/bpe-of-plain-text", test_text_with_ranks);
  return g_test_run ();
}
