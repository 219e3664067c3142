#include "engine/error.h"
#include "engine/vocab/text-key.h"
#include "tests/engine/vocab/support.h"

#include <string.h>

/* Long lists of merges, which several threads look up, and the keys of short texts. */

enum
{
  N_BYTES = 256,
  N_PAIRS = N_BYTES * N_BYTES,
};

/* All pairs of bytes, of which only every @step-th has a token. */
typedef struct
{
  GPtrArray *bytes; /* (owned) */
  GArray *tokens;   /* (owned) of TestToken */
  GPtrArray *texts; /* (owned) those of the tokens */
  GPtrArray *merges;
} AllPairs;

static void
all_pairs_clear (AllPairs *self)
{
  g_ptr_array_unref (self->bytes);
  g_array_unref (self->tokens);
  g_ptr_array_unref (self->texts);
  g_ptr_array_unref (self->merges);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AllPairs, all_pairs_clear)

static void
all_pairs_init (AllPairs *self, guint step)
{
  self->bytes = make_byte_texts ();
  self->tokens = g_array_new (FALSE, FALSE, sizeof (TestToken));
  self->texts = g_ptr_array_new_with_free_func (g_free);
  self->merges = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < N_PAIRS; i++)
    {
      const char *left = g_ptr_array_index (self->bytes, i / N_BYTES);
      const char *right = g_ptr_array_index (self->bytes, i % N_BYTES);
      TestToken token = { g_strconcat (left, right, NULL), NORMAL, 0 };

      g_ptr_array_add (self->merges, g_strconcat (left, " ", right, NULL));
      g_ptr_array_add (self->texts, (gpointer) token.text);
      if (i % step == 0)
        g_array_append_val (self->tokens, token);
    }
}

static KvasirVocab *
make (const AllPairs *pairs, GError **error)
{
  const TestVocab spec = { .model = "gpt2",
                           .pre = "gpt-2",
                           .tokens = (gconstpointer) pairs->tokens->data,
                           .n_tokens = pairs->tokens->len,
                           .merges = (const char *const *) pairs->merges->pdata,
                           .n_merges = pairs->merges->len,
                           .with_bytes = TRUE };

  return vocab_make (&spec, error);
}

/* Two letters, which no pre-tokenizer cuts apart. */
static void
test_all_pairs (gconstpointer data)
{
  const guint step = GPOINTER_TO_UINT (data);
  g_auto (AllPairs) pairs = { NULL };
  g_autoptr (KvasirVocab) vocab = NULL;
  g_autoptr (GError) error = NULL;

  all_pairs_init (&pairs, step);
  vocab = make (&pairs, &error);
  g_assert_no_error (error);
  for (guint left = 'A'; left <= 'z'; left++)
    for (guint right = 'A'; right <= 'z'; right++)
      {
        const guint i = left * N_BYTES + right;
        const char text[3] = { (char) left, (char) right, 0 };
        g_autofree char *expected =
            i % step == 0
                ? g_strdup_printf ("%u", i / step)
                : g_strdup_printf ("%u,%u", pairs.tokens->len + left, pairs.tokens->len + right);

        if (g_ascii_isalpha (left) && g_ascii_isalpha (right))
          assert_ids (vocab, text, FALSE, expected);
      }
}

/* Of two merges that cannot be read the first one is named, wherever they lie. */
static void
test_broken_merge (void)
{
  static const guint broken[][2] = { { 0, 1 }, { 40000, 60000 }, { 15000, 65535 } };

  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_auto (AllPairs) pairs = { NULL };
      g_autoptr (KvasirVocab) vocab = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *name = g_strdup_printf ("tokenizer.ggml.merges %u:", broken[i][0]);

      all_pairs_init (&pairs, 1);
      for (guint k = 0; k < 2; k++)
        {
          char *text = g_ptr_array_index (pairs.merges, broken[i][k]);

          *strchr (text, ' ') = '_';
        }
      vocab = make (&pairs, &error);
      g_assert_null (vocab);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
      g_assert_nonnull (strstr (error->message, name));
    }
}

/* A merge of two texts of any length, from the left letter by letter but for its last step: the
 * space between the halves is found wherever it is, and so are halves too long for a key. */
static void
test_lengths (void)
{
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV";

  for (gsize len = 2; len <= strlen (letters); len++)
    {
      g_autoptr (GPtrArray) merges = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *whole = g_strndup (letters, len);
      const TestToken tokens[] = { { whole, NORMAL, 0 } };
      TestVocab spec = {
        .model = "gpt2", .pre = "gpt-2", .tokens = tokens, .n_tokens = 1, .with_bytes = TRUE
      };
      g_autoptr (KvasirVocab) vocab = NULL;
      g_autoptr (GError) error = NULL;

      /* Both halves grow from their first letters, then they meet. */
      for (gsize half = 0; half < 2; half++)
        for (gsize i = 1, n = half == 0 ? len / 2 : len - len / 2; i < n; i++)
          {
            const char *start = letters + (half == 0 ? 0 : len / 2);

            g_ptr_array_add (merges, g_strdup_printf ("%.*s %c", (int) i, start, start[i]));
          }
      g_ptr_array_add (merges, g_strdup_printf ("%.*s %.*s", (int) (len / 2), letters,
                                                (int) (len - len / 2), letters + len / 2));
      spec.merges = (const char *const *) merges->pdata;
      spec.n_merges = merges->len;
      vocab = vocab_make (&spec, &error);
      g_assert_no_error (error);
      assert_ids (vocab, whole, FALSE, "0");
    }
}

static void
test_keys (void)
{
  char bytes[2 * KVASIR_TEXT_KEY_BYTES];

  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = (char) (0x81 + 7 * i);
  for (gsize len = 0; len <= KVASIR_TEXT_KEY_BYTES; len++)
    {
      g_autofree char *exact = g_memdup2 (bytes, MAX (len, 1));
      KvasirTextKey expected = { { 0, 0 } };
      KvasirTextKey key = kvasir_text_key_load (exact, len);
      KvasirTextKey padded = kvasir_text_key_load_padded (bytes, len);

      for (gsize i = 0; i < len; i++)
        expected.words[i / 8] |= (guint64) (guint8) bytes[i] << (8 * (i % 8));
      g_assert_true (kvasir_text_key_equals (&key, &expected));
      g_assert_true (kvasir_text_key_equals (&padded, &expected));
      for (gsize left = 1; left < len; left++)
        {
          KvasirTextKey a = kvasir_text_key_load (bytes, left);
          KvasirTextKey b = kvasir_text_key_load (bytes + left, len - left);
          KvasirTextKey joined = kvasir_text_key_join (&a, left, &b);

          g_assert_true (kvasir_text_key_equals (&joined, &expected));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/merges/keys-are-the-bytes", test_keys);
  g_test_add_data_func ("/engine/vocab/merges/all-pairs-of-bytes", GUINT_TO_POINTER (1),
                        test_all_pairs);
  g_test_add_data_func ("/engine/vocab/merges/pairs-without-tokens", GUINT_TO_POINTER (3),
                        test_all_pairs);
  g_test_add_func ("/engine/vocab/merges/first-broken-one-is-named", test_broken_merge);
  g_test_add_func ("/engine/vocab/merges/halves-of-any-length", test_lengths);
  return g_test_run ();
}
