#include "engine/vocab/utf8.h"
#include "tests/engine/vocab/support.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Lines with ids of texts and texts of ids, made by another implementation (tests/data/vocab). */

static gint32 *
get_ids (const json_t *array)
{
  gint32 *ids = g_new (gint32, json_array_size (array) + 1);

  for (gsize i = 0; i < json_array_size (array); i++)
    ids[i] = (gint32) json_integer_value (json_array_get (array, i));
  return ids;
}

static void
check_tokens (const KvasirVocab *vocab, const json_t *line)
{
  const json_t *text = json_object_get (line, "text");
  const json_t *expected = json_object_get (line, "ids");
  g_autofree gint32 *expected_ids = get_ids (expected);
  g_autofree char *expected_text = format_ids (expected_ids, json_array_size (expected));
  g_autofree char *found_text = NULL;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;

  kvasir_vocab_tokenize (vocab, json_string_value (text), (gssize) json_string_length (text),
                         json_is_true (json_object_get (line, "add_special")),
                         json_is_true (json_object_get (line, "parse_special")), ids, &error);
  g_assert_no_error (error);
  found_text = format_ids ((gconstpointer) ids->data, ids->len);
  g_test_message ("%s", json_string_value (text));
  g_assert_cmpstr (found_text, ==, expected_text);
}

static void
check_text (const KvasirVocab *vocab, const json_t *line)
{
  const json_t *tokens = json_object_get (line, "tokens");
  const json_t *expected = json_object_get (line, "text");
  g_autofree gint32 *ids = get_ids (tokens);
  g_autoptr (GString) raw = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  kvasir_vocab_detokenize (vocab, ids, (guint) json_array_size (tokens),
                           json_is_true (json_object_get (line, "special")), raw);
  kvasir_utf8_append_valid (raw->str, raw->len, FALSE, text);
  g_assert_cmpmem (text->str, text->len, json_string_value (expected),
                   json_string_length (expected));
}

static void
check_lines (const KvasirVocab *vocab, const char *name)
{
  g_autofree char *path = vocab_data_path (name, ".jsonl");
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  guint n_lines = 0;

  g_file_get_contents (path, &content, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (content, "\n", -1);
  for (char **text = lines; *text; text++)
    {
      json_t *line = json_loads (*text, JSON_ALLOW_NUL, NULL);

      if (**text == 0)
        continue;
      g_assert_nonnull (line);
      n_lines++;
      if (json_object_get (line, "ids"))
        check_tokens (vocab, line);
      else
        check_text (vocab, line);
      json_decref (line);
    }
  g_assert_cmpuint (n_lines, >, 100);
}

static void
test_file (gconstpointer data)
{
  const char *name = data;
  g_autoptr (KvasirVocab) vocab = vocab_open (name);

  check_lines (vocab, name);
}

/* The default model, where it is installed: its vocabulary is too large to be kept here. */
static void
test_smollm2 (void)
{
  g_autofree char *path = g_build_filename (g_get_user_data_dir (), "kvasir", "models",
                                            "SmolLM2-135M-Instruct.Q4_1.gguf", NULL);
  g_autoptr (KvasirGguf) gguf = NULL;
  g_autoptr (KvasirVocab) vocab = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the default model is not installed (./dev model)");
      return;
    }
  gguf = kvasir_gguf_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (kvasir_gguf_get_n_tensors (gguf), ==, 272);
  vocab = kvasir_vocab_new (gguf, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (kvasir_vocab_get_description (vocab), ==, "BPE (smollm)");
  g_assert_cmpuint (kvasir_vocab_get_n_tokens (vocab), ==, 49152);
  g_assert_true (kvasir_vocab_is_eog (vocab, 2));
  g_assert_true (kvasir_vocab_is_control (vocab, 1));
  g_assert_true (g_str_has_prefix (kvasir_vocab_get_chat_template (vocab), "{%"));
  check_lines (vocab, "smollm2");
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "tiny-llama",   "tiny-llama-tied", "tiny-qwen2",
                                       "tiny-qwen3",   "tiny-bloom",      "tiny-gemma3",
                                       "tiny-gpt-oss", "tiny-rwkv7",      "tiny-bert",
                                       "qwen2-part",   "bert-bge-part" };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/vocab/golden/", names[i], NULL);

      g_test_add_data_func (path, names[i], test_file);
    }
  g_test_add_func ("/engine/vocab/golden/smollm2", test_smollm2);
  return g_test_run ();
}
