#include "engine/vocab/pretokenizer.h"
#include "tests/engine/vocab/support.h"

#include <jansson.h>
#include <string.h>

/* Pieces that the models' regular expressions make of random texts, by the regex module of Python
 * (tests/data/vocab/README.md). */

typedef struct
{
  const json_t *expected;
  gsize n_pieces;
  const char *next;
} Walk;

static gboolean
check_piece (gpointer data, const KvasirChar *chars, gsize n)
{
  Walk *walk = data;
  const json_t *expected = json_array_get (walk->expected, walk->n_pieces++);
  gsize len = 0;

  for (gsize i = 0; i < n; i++)
    len += kvasir_char_get_bytes (chars[i]);
  g_assert_nonnull (expected);
  g_assert_cmpmem (walk->next, len, json_string_value (expected), json_string_length (expected));
  walk->next += len;
  return TRUE;
}

static void
check_line (const json_t *line)
{
  const char *pre = json_string_value (json_object_get (line, "pre"));
  const KvasirPreTokenizer *pre_tokenizer = kvasir_pre_tokenizer_find (pre);
  const json_t *pieces = json_object_get (line, "pieces");
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree KvasirChar *chars = NULL;
  Walk walk = { pieces, 0, NULL };
  gsize n;

  for (gsize i = 0; i < json_array_size (pieces); i++)
    {
      const json_t *piece = json_array_get (pieces, i);

      g_string_append_len (text, json_string_value (piece), (gssize) json_string_length (piece));
    }
  g_test_message ("%s: %s", pre, text->str);
  g_assert_nonnull (pre_tokenizer);
  walk.next = text->str;
  chars = g_new (KvasirChar, text->len);
  n = kvasir_chars_decode (text->str, text->len, chars);
  g_assert_true (kvasir_pre_tokenizer_split (pre_tokenizer, chars, n, check_piece, &walk));
  g_assert_cmpuint (walk.n_pieces, ==, json_array_size (pieces));
}

static void
test_pieces (void)
{
  g_autofree char *path = vocab_data_path ("pieces", ".jsonl");
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  guint n_lines = 0;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  lines = g_strsplit (content, "\n", -1);
  for (char **text = lines; *text; text++)
    {
      json_t *line = json_loads (*text, JSON_ALLOW_NUL, NULL);

      if (**text == 0)
        continue;
      g_assert_nonnull (line);
      check_line (line);
      json_decref (line);
      n_lines++;
    }
  g_assert_cmpuint (n_lines, ==, 4350);
}

static gboolean
stop_at_once (gpointer data, const KvasirChar *chars, gsize n)
{
  guint *n_calls = data;

  ++*n_calls;
  return FALSE;
}

static void
test_stops (void)
{
  KvasirChar chars[16];
  gsize n = kvasir_chars_decode ("one two three", 13, chars);
  guint n_calls = 0;

  g_assert_false (kvasir_pre_tokenizer_split (kvasir_pre_tokenizer_find ("smollm"), chars, n,
                                              stop_at_once, &n_calls));
  g_assert_cmpuint (n_calls, ==, 1);
}

/* All names of the format's table, with what it says of their rows. */
static void
test_names (void)
{
  static const char *const with_marks[] = { "llama-bpe",    "llama3",  "llama-v3", "falcon3",
                                            "falcon-h1",    "pixtral", "midm-2.0", "lfm2",
                                            "jina-v5-nano", "tekken" };
  static const char *const others[] = {
    "dbrx",           "smaug-bpe",    "glm4",
    "chatglm-bpe",    "qwen2",        "stablelm2",
    "hunyuan",        "kormo",        "deepseek-r1-qwen",
    "qwen35",         "smollm",       "starcoder",
    "refact",         "command-r",    "codeshell",
    "exaone",         "minerva",      "mellum2",
    "gpt-2",          "phi-2",        "mpt",
    "olmo",           "jais",         "gigachat",
    "modern-bert",    "roberta-bpe",  "trillion",
    "falcon",         "default",      "deepseek-llm",
    "deepseek-coder", "deepseek-v3",  "hunyuan-dense",
    "joyai-llm",      "gpt-4o",       "llama4",
    "kanana2",        "minimax-m2",   "bloom",
    "poro-chat",      "gpt3-finnish", "viking",
    "gemma4",         "kimi-k2",      "afmoe",
    "superbpe",       "bailingmoe",   "seed-coder",
    "exaone-moe",     "laguna",       "tiny_aya",
    "minicpm5",       "youtu",        "jais-2",
    "chameleon",      "whitespace",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (with_marks); i++)
    {
      const KvasirPreTokenizer *found = kvasir_pre_tokenizer_find (with_marks[i]);

      g_assert_nonnull (found);
      g_assert_true (kvasir_pre_tokenizer_ignores_merges (found));
      g_assert_true (kvasir_pre_tokenizer_adds_bos (found));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    if (!kvasir_pre_tokenizer_find (others[i]))
      g_error ("no row for %s", others[i]);
}

static void
test_unknown_name (void)
{
  g_assert_null (kvasir_pre_tokenizer_find ("tekken-9"));
}

/* Every byte of broken text belongs to exactly one character. */
static void
test_broken_text (void)
{
  static const char text[] = "a\xff\xe4\xb8z\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe4\xb8\xad";
  KvasirChar chars[sizeof text];
  gsize n = kvasir_chars_decode (text, sizeof text - 1, chars);
  gsize n_bytes = 0;

  for (gsize i = 0; i < n; i++)
    n_bytes += kvasir_char_get_bytes (chars[i]);
  g_assert_cmpuint (n_bytes, ==, sizeof text - 1);
  g_assert_cmpuint (n, ==, 1 + 1 + 2 + 1 + 2 + 3 + 4 + 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/pieces/as-the-regular-expressions", test_pieces);
  g_test_add_func ("/engine/vocab/pieces/stops-when-told", test_stops);
  g_test_add_func ("/engine/vocab/pieces/all-names", test_names);
  g_test_add_func ("/engine/vocab/pieces/unknown-name", test_unknown_name);
  g_test_add_func ("/engine/vocab/pieces/broken-text-loses-no-byte", test_broken_text);
  return g_test_run ();
}
