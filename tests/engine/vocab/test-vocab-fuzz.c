#include "engine/vocab/pretokenizer.h"
#include "engine/vocab/vocab.h"
#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/vocab/support.h"

#include <string.h>
#include <time.h>

/* Byte-level vocabularies with a token for every byte, so that no text can get lost. */
static const char *const names[] = { "tiny-llama-tied", "tiny-qwen3", "tiny-bloom", "tiny-gpt-oss",
                                     "qwen2-part" };

/* Pieces of which random texts are made: what scanners and special tokens look for. */
static const char *const parts[] = {
  " ",  "  ", "\n", "\r\n", "\t",       "the",      "cache",         "'ll",      "'S", "1234",
  "7",  "!?", "=",  "é",    "中",       "😀",        "<|im_start|>",  "<|im_",    "|>", "</s>",
  "Ab", "aB", "…",  "\xff", "\xe4\xb8", "\xc0\x80", "<|endoftext|>", "\xc2\xa0", "/n", "eeeeee",
};

static GString *
make_text (GRand *random)
{
  GString *text = g_string_new (NULL);
  gint n = g_rand_int_range (random, 0, 12);

  for (gint i = 0; i < n; i++)
    if (g_rand_int_range (random, 0, 4) == 0)
      g_string_append_c (text, (char) g_rand_int_range (random, 0, 256));
    else
      g_string_append (text, parts[g_rand_int_range (random, 0, G_N_ELEMENTS (parts))]);
  return text;
}

static void
test_text_comes_back (gconstpointer data)
{
  g_autoptr (KvasirVocab) vocab = vocab_open (data);
  g_autoptr (GRand) random = g_rand_new_with_seed (3);

  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr (GString) text = make_text (random);
      g_autoptr (GString) back = g_string_new (NULL);
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      gboolean special = g_rand_boolean (random);

      g_assert_true (
          kvasir_vocab_tokenize (vocab, text->str, (gssize) text->len, FALSE, special, ids, NULL));
      for (guint i = 0; i < ids->len; i++)
        kvasir_vocab_append_token (vocab, g_array_index (ids, gint32, i), TRUE, back);
      g_assert_cmpmem (back->str, back->len, text->str, text->len);
    }
}

/* What the streaming detokenizer gives out is always valid, and all of it in the end. */
static void
test_stream_is_valid (void)
{
  g_autoptr (KvasirVocab) vocab = vocab_open ("tiny-qwen3");
  g_autoptr (KvasirDetokenizer) detokenizer = kvasir_detokenizer_new (vocab);
  g_autoptr (GRand) random = g_rand_new_with_seed (4);

  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      g_autoptr (GString) raw = g_string_new (NULL);
      gint n = g_rand_int_range (random, 0, 20);

      for (gint i = 0; i < n; i++)
        {
          gint32 id = g_rand_int_range (random, -2, 390);

          kvasir_detokenizer_push (detokenizer, id, out);
          kvasir_vocab_append_token (vocab, id, FALSE, raw);
          g_assert_true (g_utf8_validate (out->str, (gssize) out->len, NULL) ||
                         memchr (out->str, 0, out->len));
        }
      kvasir_detokenizer_flush (detokenizer, out);
      if (g_utf8_validate (raw->str, (gssize) raw->len, NULL))
        g_assert_cmpstr (out->str, ==, raw->str);
    }
}

/* ---- a second, slow encoder --------------------------------------------------------------- */

/* Merges looked up by text and searched anew after each, as the rule is written: of all pairs of
 * neighbours the one of lowest rank, the leftmost of equals. */
typedef struct
{
  const KvasirVocab *vocab;
  GHashTable *ranks; /* of "left right" */
  GHashTable *ids;   /* of texts */
  GPtrArray *byte_texts;
  const guint8 *next;
  GArray *out;
} Slow;

static void
merge_slowly (const Slow *slow, GPtrArray *symbols)
{
  for (;;)
    {
      guint best = G_MAXUINT;
      guint best_rank = G_MAXUINT;

      for (guint i = 0; i + 1 < symbols->len; i++)
        {
          g_autofree char *pair =
              g_strdup_printf ("%s %s", (char *) symbols->pdata[i], (char *) symbols->pdata[i + 1]);
          gpointer rank;

          if (g_hash_table_lookup_extended (slow->ranks, pair, NULL, &rank) &&
              GPOINTER_TO_UINT (rank) < best_rank)
            {
              best = i;
              best_rank = GPOINTER_TO_UINT (rank);
            }
        }
      if (best == G_MAXUINT)
        return;
      g_ptr_array_insert (symbols, (gint) best,
                          g_strconcat (symbols->pdata[best], symbols->pdata[best + 1], NULL));
      g_ptr_array_remove_range (symbols, best + 1, 2);
    }
}

static gboolean
encode_piece_slowly (gpointer data, const KvasirChar *chars, gsize n)
{
  Slow *slow = data;
  g_autoptr (GPtrArray) symbols = g_ptr_array_new_with_free_func (g_free);
  gsize len = 0;

  for (gsize i = 0; i < n; i++)
    len += kvasir_char_get_bytes (chars[i]);
  for (gsize i = 0; i < len; i++)
    g_ptr_array_add (symbols, g_strdup (slow->byte_texts->pdata[slow->next[i]]));
  slow->next += len;
  merge_slowly (slow, symbols);
  for (guint i = 0; i < symbols->len; i++)
    {
      gint32 id = GPOINTER_TO_INT (g_hash_table_lookup (slow->ids, symbols->pdata[i]));

      g_array_append_val (slow->out, id);
    }
  return TRUE;
}

static void
load_slow (Slow *slow, const char *name)
{
  g_autofree char *path = vocab_data_path (name, ".gguf");
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, NULL);
  KvasirGgufStrings strings;
  gsize len = 0;

  slow->ranks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  slow->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  slow->byte_texts = make_byte_texts ();
  g_assert_true (kvasir_gguf_get_strings (gguf, "tokenizer.ggml.merges", &strings));
  for (guint64 i = 0; i < strings.n; i++)
    {
      const char *text = kvasir_gguf_strings_get (&strings, i, &len);

      g_hash_table_insert (slow->ranks, g_strndup (text, len), GUINT_TO_POINTER ((guint) i));
    }
  g_assert_true (kvasir_gguf_get_strings (gguf, "tokenizer.ggml.tokens", &strings));
  for (guint64 i = 0; i < strings.n; i++)
    {
      const char *text = kvasir_gguf_strings_get (&strings, i, &len);

      g_hash_table_insert (slow->ids, g_strndup (text, len), GINT_TO_POINTER ((gint) i));
    }
}

static void
test_as_slow_encoder (void)
{
  g_autoptr (KvasirVocab) vocab = vocab_open ("qwen2-part");
  const KvasirPreTokenizer *pre_tokenizer = kvasir_pre_tokenizer_find ("qwen2");
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  Slow slow = { vocab };

  load_slow (&slow, "qwen2-part");
  for (guint round = 0; round < 2000; round++)
    {
      g_autoptr (GString) text = make_text (random);
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autofree KvasirChar *chars = g_new (KvasirChar, text->len + 1);
      gsize n = kvasir_chars_decode (text->str, text->len, chars);

      slow.out = g_array_new (FALSE, FALSE, sizeof (gint32));
      slow.next = (const guint8 *) text->str;
      kvasir_pre_tokenizer_split (pre_tokenizer, chars, n, encode_piece_slowly, &slow);
      g_assert_true (
          kvasir_vocab_tokenize (vocab, text->str, (gssize) text->len, FALSE, FALSE, ids, NULL));
      g_assert_cmpmem (ids->data, ids->len * 4, slow.out->data, slow.out->len * 4);
      g_array_unref (slow.out);
    }
  g_hash_table_unref (slow.ranks);
  g_hash_table_unref (slow.ids);
  g_ptr_array_unref (slow.byte_texts);
}

/* ---- hostile texts and files -------------------------------------------------------------- */

/* Processor time of this thread: others may be busy. */
static gint64
get_cpu_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (gint64) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static gint64
time_run (const KvasirVocab *vocab, char c, gsize len)
{
  g_autofree char *text = g_strnfill (len, c);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  gint64 start = get_cpu_us ();

  g_assert_true (kvasir_vocab_tokenize (vocab, text, (gssize) len, FALSE, TRUE, ids, NULL));
  return get_cpu_us () - start;
}

/* Sixteen times the text may take some more than sixteen times as long, but not 256 times. */
static void
test_long_runs (void)
{
  static const char runs[] = "a <\n1='";
  static const char *const kinds[] = { "qwen2-part", "tiny-bloom", "tiny-llama", "tiny-bert",
                                       "tiny-rwkv7" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (KvasirVocab) vocab = vocab_open (kinds[i]);

      for (const char *c = runs; *c; c++)
        {
          gint64 short_us = MAX (time_run (vocab, *c, 1 << 16), 10000);
          gint64 long_us = time_run (vocab, *c, 1 << 20);

          g_test_message ("%s '%c': %d and %d us", kinds[i], *c, (int) short_us, (int) long_us);
          g_assert_cmpint (long_us, <, 80 * short_us);
        }
    }
}

static gboolean
take_piece (gpointer data, const KvasirChar *chars, gsize n)
{
  return TRUE;
}

/* @n blanks, and then what keeps them from being the end. */
static gint64
time_split (const char *pre, gsize n)
{
  g_autofree KvasirChar *chars = g_new (KvasirChar, n + 4);
  g_autofree char *blanks = g_strnfill (n, ' ');
  g_autofree char *text = g_strconcat (blanks, "\xcc\x81 ", NULL);
  gsize n_chars = kvasir_chars_decode (text, n + 3, chars);
  gint64 start = get_cpu_us ();

  kvasir_pre_tokenizer_split (kvasir_pre_tokenizer_find (pre), chars, n_chars, take_piece, NULL);
  return get_cpu_us () - start;
}

static void
test_long_blanks (void)
{
  static const char *const pres[] = { "default",        "llama-bpe",   "gpt-4o", "deepseek-llm",
                                      "deepseek-coder", "deepseek-v3", "bloom",  "gemma4" };

  for (gsize i = 0; i < G_N_ELEMENTS (pres); i++)
    {
      gint64 short_us = MAX (time_split (pres[i], 1 << 14), 1000);
      gint64 long_us = time_split (pres[i], 1 << 18);

      g_test_message ("%s: %d and %d us", pres[i], (int) short_us, (int) long_us);
      g_assert_cmpint (long_us, <, 80 * short_us);
    }
}

/* A vocabulary out of a damaged file is refused, or serves. */
static void
use (const KvasirVocab *vocab)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GString) out = g_string_new (NULL);
  const KvasirTextSpan span = { 0, 20, 0 };

  kvasir_vocab_tokenize (vocab, "the <s>cache's 12\xff</s>", -1, TRUE, TRUE, ids, NULL);
  kvasir_vocab_tokenize_spans (vocab, "<|im_start|>the mead", &span, 1, ids, NULL);
  kvasir_vocab_detokenize (vocab, (gconstpointer) ids->data, ids->len, TRUE, out);
  for (guint i = 0; i < kvasir_vocab_get_n_tokens (vocab); i++)
    kvasir_vocab_append_token (vocab, (gint32) i, i & 1, out);
}

static void
test_damaged_files (gconstpointer data)
{
  g_autofree char *path = vocab_data_path (data, ".gguf");
  g_autofree char *bytes = NULL;
  g_autofree guint8 *copy = NULL;
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  gsize len = 0;

  g_assert_true (g_file_get_contents (path, &bytes, &len, NULL));
  copy = g_malloc (len);
  for (guint round = 0; round < 400; round++)
    {
      g_autoptr (KvasirGguf) gguf = NULL;
      g_autoptr (KvasirVocab) vocab = NULL;
      g_autoptr (GError) error = NULL;
      gint n = g_rand_int_range (random, 1, 40);

      memcpy (copy, bytes, len);
      for (gint i = 0; i < n; i++)
        copy[g_rand_int_range (random, 24, (gint32) len)] =
            (guint8) g_rand_int_range (random, 0, 256);
      gguf = open_bytes (copy, len, NULL);
      vocab = gguf ? kvasir_vocab_new (gguf, &error) : NULL;
      g_assert_true (!gguf || (vocab == NULL) == (error != NULL));
      if (vocab)
        use (vocab);
    }
}

static void
add_each (const char *prefix, const char *const *of, gsize n, GTestDataFunc test)
{
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat (prefix, of[i], NULL);

      g_test_add_data_func (path, of[i], test);
    }
}

int
main (int argc, char **argv)
{
  static const char *const files[] = { "tiny-llama", "tiny-llama-tied", "tiny-gpt-oss",
                                       "tiny-rwkv7", "tiny-bert" };

  g_test_init (&argc, &argv, NULL);
  add_each ("/engine/vocab/fuzz/text-comes-back/", names, G_N_ELEMENTS (names),
            test_text_comes_back);
  g_test_add_func ("/engine/vocab/fuzz/stream-is-valid", test_stream_is_valid);
  g_test_add_func ("/engine/vocab/fuzz/as-a-slow-encoder", test_as_slow_encoder);
  g_test_add_func ("/engine/vocab/fuzz/long-runs-stay-linear", test_long_runs);
  g_test_add_func ("/engine/vocab/fuzz/long-blanks-stay-linear", test_long_blanks);
  add_each ("/engine/vocab/fuzz/damaged-file/", files, G_N_ELEMENTS (files), test_damaged_files);
  return g_test_run ();
}
