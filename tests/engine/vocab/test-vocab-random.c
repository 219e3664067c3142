#include "engine/vocab/vocab.h"
#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/vocab/support.h"

#include <jansson.h>
#include <string.h>

/* Random texts against digests of the ids that other implementations give for them. The files are
 * written by tests/tools/make-vocab-checks.py, which makes the same texts. */

static guint32
draw (guint32 *state, guint32 n)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % n;
}

static void
make_text (guint32 *state, const json_t *parts, GString *text)
{
  guint32 n = draw (state, 13);

  g_string_truncate (text, 0);
  for (guint32 i = 0; i < n; i++)
    {
      guint32 k = draw (state, (guint32) json_array_size (parts));

      g_string_append (text, json_string_value (json_array_get (parts, k)));
    }
}

/* FNV-1a over the bytes of the ids, the least significant first, folded to 16 bits. */
static guint16
digest (const GArray *ids)
{
  guint32 value = 2166136261u;

  for (guint i = 0; i < ids->len; i++)
    for (guint shift = 0; shift < 32; shift += 8)
      {
        guint32 id = (guint32) g_array_index (ids, gint32, i);

        value = (value ^ (id >> shift & 0xff)) * 16777619u;
      }
  return (guint16) (value >> 16 ^ value);
}

static void
put_tokens (GByteArray *out, const json_t *tokens)
{
  gsize n = json_array_size (tokens);
  g_autofree const char **texts = g_new (const char *, n);
  g_autofree gint32 *kinds = g_new (gint32, n);
  g_autofree float *scores = g_new (float, n);

  for (gsize i = 0; i < n; i++)
    {
      const json_t *token = json_array_get (tokens, i);

      texts[i] = json_string_value (json_array_get (token, 0));
      kinds[i] = (gint32) json_integer_value (json_array_get (token, 1));
      scores[i] = (float) json_number_value (json_array_get (token, 2));
    }
  put_key_texts (out, "tokenizer.ggml.tokens", texts, n);
  put_key_i32s (out, "tokenizer.ggml.token_type", kinds, n);
  put_key_f32s (out, "tokenizer.ggml.scores", scores, n);
}

static void
put_merges (GByteArray *out, const json_t *merges)
{
  gsize n = json_array_size (merges);
  g_autofree const char **texts = g_new (const char *, n);

  for (gsize i = 0; i < n; i++)
    texts[i] = json_string_value (json_array_get (merges, i));
  put_key_texts (out, "tokenizer.ggml.merges", texts, n);
}

static void
put_chars_map (GByteArray *out, const char *coded)
{
  gsize n = 0;
  g_autofree guint8 *bytes = g_base64_decode (coded, &n);

  put_key (out, "tokenizer.ggml.precompiled_charsmap", KVASIR_GGUF_ARRAY);
  put_u32 (out, KVASIR_GGUF_U8);
  put_u64 (out, n);
  g_byte_array_append (out, bytes, (guint) n);
}

/* Writes a flag or number of the file where the description has one. */
static guint
put_rules (GByteArray *out, const json_t *file)
{
  static const char *const flags[][2] = {
    { "lowercase", "tokenizer.ggml.normalizer.lowercase" },
    { "joins", "tokenizer.ggml.remove_extra_whitespaces" },
    { "prefix", "tokenizer.ggml.add_space_prefix" },
  };
  guint n = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      const json_t *value = json_object_get (file, flags[i][0]);

      if (!value)
        continue;
      put_key_bool (out, flags[i][1], json_is_true (value));
      n++;
    }
  if (json_object_get (file, "unk"))
    {
      put_key_u32 (out, "tokenizer.ggml.unknown_token_id",
                   (guint32) json_integer_value (json_object_get (file, "unk")));
      n++;
    }
  return n;
}

static KvasirVocab *
make_vocab (const json_t *file)
{
  g_autoptr (GByteArray) rules = g_byte_array_new ();
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autoptr (KvasirGguf) gguf = NULL;
  g_autoptr (GError) error = NULL;
  const char *chars_map = json_string_value (json_object_get (file, "charsmap"));
  const json_t *merges = json_object_get (file, "merges");
  guint n = put_rules (rules, file);
  KvasirVocab *vocab;

  put_header (out, 3, 0, n + 4 + (chars_map != NULL) + (merges != NULL));
  g_byte_array_append (out, rules->data, rules->len);
  put_key_text (out, "tokenizer.ggml.model", json_string_value (json_object_get (file, "model")));
  put_tokens (out, json_object_get (file, "tokens"));
  if (merges)
    put_merges (out, merges);
  if (chars_map)
    put_chars_map (out, chars_map);
  gguf = open_bytes (out->data, out->len, &error);
  g_assert_no_error (error);
  vocab = kvasir_vocab_new (gguf, &error);
  g_assert_no_error (error);
  return vocab;
}

static void
check_texts (const KvasirVocab *vocab, const json_t *file)
{
  const json_t *parts = json_object_get (file, "parts");
  gsize n_bytes = 0;
  g_autofree guint8 *digests =
      g_base64_decode (json_string_value (json_object_get (file, "digests")), &n_bytes);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  guint32 state = 1;

  g_assert_cmpuint (n_bytes, >=, 40000);
  for (gsize i = 0; i < n_bytes; i += 2)
    {
      make_text (&state, parts, text);
      g_array_set_size (ids, 0);
      g_assert_true (
          kvasir_vocab_tokenize (vocab, text->str, (gssize) text->len, FALSE, FALSE, ids, NULL));
      if (digest (ids) == (digests[i] | digests[i + 1] << 8))
        continue;
      g_test_message ("text %u: \"%s\" became %s", (guint) i / 2, text->str,
                      format_ids ((gconstpointer) ids->data, ids->len));
      g_test_fail ();
      return;
    }
}

static void
test_file (gconstpointer name)
{
  g_autofree char *path = vocab_data_path (name, ".json");
  json_t *file = json_load_file (path, 0, NULL);
  g_autoptr (KvasirVocab) vocab = NULL;

  g_assert_nonnull (file);
  vocab = make_vocab (file);
  check_texts (vocab, file);
  json_decref (file);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/engine/vocab/random/as-bert", "random-wpm", test_file);
  g_test_add_data_func ("/engine/vocab/random/as-bert-cased", "random-wpm-cased", test_file);
  g_test_add_data_func ("/engine/vocab/random/as-sentencepiece", "random-ugm", test_file);
  g_test_add_data_func ("/engine/vocab/random/as-sentencepiece-keeping-spaces", "random-ugm-spaces",
                        test_file);
  g_test_add_data_func ("/engine/vocab/random/merges-as-sentencepiece", "random-spm", test_file);
  g_test_add_data_func ("/engine/vocab/random/ranked-merges-of-text", "random-text-bpe", test_file);
  g_test_add_data_func ("/engine/vocab/random/longest-match-of-rwkv", "random-rwkv", test_file);
  return g_test_run ();
}
