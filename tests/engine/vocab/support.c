#include "tests/engine/vocab/support.h"

#include "tests/engine/gguf/gguf-writer.h"

#include <string.h>

char *
vocab_data_path (const char *name, const char *suffix)
{
  g_autofree char *file = g_strconcat (name, suffix, NULL);

  return g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "vocab", file, NULL);
}

KvasirVocab *
vocab_open (const char *name)
{
  g_autofree char *path = vocab_data_path (name, ".gguf");
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);
  KvasirVocab *vocab;

  g_assert_no_error (error);
  vocab = kvasir_vocab_new (gguf, &error);
  g_assert_no_error (error);
  return vocab;
}

GPtrArray *
make_byte_texts (void)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  gunichar next = 256;

  for (guint b = 0; b < 256; b++)
    {
      gboolean prints = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      char text[7] = { 0 };

      g_unichar_to_utf8 (prints ? b : next++, text);
      g_ptr_array_add (texts, g_strdup (text));
    }
  return texts;
}

static void
put_tokens (GByteArray *out, const TestVocab *spec)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GArray) scores = g_array_new (FALSE, FALSE, sizeof (float));
  const gint32 normal = NORMAL;
  const float zero = 0;

  for (gsize i = 0; i < spec->n_tokens; i++)
    {
      g_ptr_array_add (texts, g_strdup (spec->tokens[i].text));
      g_array_append_val (kinds, spec->tokens[i].kind);
      g_array_append_val (scores, spec->tokens[i].score);
    }
  if (spec->with_bytes)
    g_ptr_array_extend_and_steal (texts, make_byte_texts ());
  while (kinds->len < texts->len)
    {
      g_array_append_val (kinds, normal);
      g_array_append_val (scores, zero);
    }
  put_key_texts (out, "tokenizer.ggml.tokens", (const char *const *) texts->pdata, texts->len);
  if (spec->texts_only)
    return;
  put_key_i32s (out, "tokenizer.ggml.token_type", (gconstpointer) kinds->data, kinds->len);
  put_key_f32s (out, "tokenizer.ggml.scores", (gconstpointer) scores->data, scores->len);
}

static guint
count_flags (const TestVocab *spec)
{
  guint n = 0;

  while (n < MAX_TEST_FLAGS && spec->flags[n].key)
    n++;
  return n;
}

static void
put_flags (GByteArray *out, const TestVocab *spec)
{
  for (guint i = 0; i < count_flags (spec); i++)
    {
      g_autofree char *key = g_strconcat ("tokenizer.ggml.", spec->flags[i].key, NULL);

      put_key_bool (out, key, spec->flags[i].value);
    }
}

KvasirVocab *
vocab_make (const TestVocab *spec, GError **error)
{
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autoptr (KvasirGguf) gguf = NULL;

  put_header (out, 3, 0,
              (spec->model != NULL) + (spec->pre != NULL) + (spec->merges != NULL) +
                  (spec->extra_key != NULL) + (spec->name != NULL) + count_flags (spec) +
                  (!spec->tokens      ? 0
                   : spec->texts_only ? 1
                                      : 3));
  if (spec->model)
    put_key_text (out, "tokenizer.ggml.model", spec->model);
  if (spec->pre)
    put_key_text (out, "tokenizer.ggml.pre", spec->pre);
  if (spec->merges)
    put_key_texts (out, "tokenizer.ggml.merges", spec->merges, spec->n_merges);
  if (spec->extra_key)
    put_key_u32 (out, spec->extra_key, spec->extra_value);
  if (spec->name)
    put_key_text (out, "general.name", spec->name);
  put_flags (out, spec);
  if (spec->tokens)
    put_tokens (out, spec);
  gguf = open_bytes (out->data, out->len, error);
  g_assert_nonnull (gguf);
  return kvasir_vocab_new (gguf, error);
}

char *
format_ids (const gint32 *ids, gsize n)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", ids[i]);
  return g_string_free (text, FALSE);
}

char *
tokenize (const KvasirVocab *vocab, const char *text, gssize len, gboolean parse_special)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;

  kvasir_vocab_tokenize (vocab, text, len, FALSE, parse_special, ids, &error);
  g_assert_no_error (error);
  return format_ids ((gconstpointer) ids->data, ids->len);
}
