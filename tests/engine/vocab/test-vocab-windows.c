#include "tests/engine/vocab/support.h"

#include <string.h>

/* Texts of many windows against merging as the rule is written: of all pairs of neighbours the best
 * one, the leftmost of equals, again and again. The vocabularies are random and out of order: what
 * a pair becomes may join its neighbour sooner than the pair itself was joined. */

enum
{
  N_LETTERS = 4,
  MAX_TOKENS = 40,
  MAX_TOKEN_LEN = 12,
  N_ROUNDS = 12,
  TEXT_LEN = 9000,
};

typedef struct
{
  char texts[MAX_TOKENS][MAX_TOKEN_LEN + 1];
  guint n;
  guint ranks[MAX_TOKENS][MAX_TOKENS]; /* of pairs, G_MAXUINT where they do not join */
  guint merged[MAX_TOKENS][MAX_TOKENS];
} Rule;

static guint
find (const Rule *rule, const char *text)
{
  guint i = 0;

  while (i < rule->n && strcmp (rule->texts[i], text) != 0)
    i++;
  return i;
}

/* Letters, and texts that two of the texts before make. */
static void
make_texts (Rule *rule, GRand *random)
{
  rule->n = N_LETTERS;
  for (guint i = 0; i < N_LETTERS; i++)
    g_snprintf (rule->texts[i], sizeof rule->texts[i], "%c", 'a' + (char) i);
  while (rule->n < MAX_TOKENS)
    {
      const char *left = rule->texts[g_rand_int_range (random, 0, (gint32) rule->n)];
      const char *right = rule->texts[g_rand_int_range (random, 0, (gint32) rule->n)];
      g_autofree char *text = g_strconcat (left, right, NULL);

      if (strlen (text) <= MAX_TOKEN_LEN && find (rule, text) == rule->n)
        g_strlcpy (rule->texts[rule->n++], text, sizeof rule->texts[0]);
    }
  for (guint i = 0; i < MAX_TOKENS; i++)
    for (guint k = 0; k < MAX_TOKENS; k++)
      rule->ranks[i][k] = G_MAXUINT;
}

static GArray *
merge_slowly (const Rule *rule, const char *text)
{
  GArray *symbols = g_array_new (FALSE, FALSE, sizeof (guint));

  for (; *text; text++)
    {
      guint symbol = (guint) (*text - 'a');

      g_array_append_val (symbols, symbol);
    }
  for (;;)
    {
      const guint *ids = (gconstpointer) symbols->data;
      guint best = 0;
      guint best_rank = G_MAXUINT;

      for (guint i = 0; i + 1 < symbols->len; i++)
        if (rule->ranks[ids[i]][ids[i + 1]] < best_rank)
          {
            best = i;
            best_rank = rule->ranks[ids[i]][ids[i + 1]];
          }
      if (best_rank == G_MAXUINT)
        return symbols;
      g_array_index (symbols, guint, best) = rule->merged[ids[best]][ids[best + 1]];
      g_array_remove_index (symbols, best + 1);
    }
}

/* Random letters, runs and what repeats itself. */
static char *
make_text (GRand *random)
{
  GString *text = g_string_new (NULL);

  while (text->len < TEXT_LEN)
    {
      gint n = g_rand_int_range (random, 1, 2500);
      gint period = g_rand_int_range (random, 1, g_rand_boolean (random) ? 4 : 4000);
      gsize start = text->len;

      for (gint i = 0; i < n; i++)
        g_string_append_c (text, i < period ? (char) g_rand_int_range (random, 'a', 'a' + N_LETTERS)
                                            : text->str[start + (gsize) (i - period)]);
    }
  return g_string_free (text, FALSE);
}

/* A message with thousands of ids would help nobody. */
static void
check_ids (const KvasirVocab *vocab, const char *text, const char *expected)
{
  g_autofree char *ids = tokenize (vocab, text, -1, FALSE);

  g_assert_true (strcmp (ids, expected) == 0);
}

static void
check (const Rule *rule, const KvasirVocab *vocab, GRand *random, guint first_id, const char *start)
{
  g_autofree char *text = make_text (random);
  g_autoptr (GArray) symbols = merge_slowly (rule, text);
  g_autoptr (GString) expected = g_string_new (start);

  for (guint i = 0; i < symbols->len; i++)
    g_string_append_printf (expected, "%s%u", expected->len > 0 ? "," : "",
                            first_id + g_array_index (symbols, guint, i));
  check_ids (vocab, text, expected->str);
}

static void
test_bpe (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (21);

  for (guint round = 0; round < N_ROUNDS; round++)
    {
      g_autofree Rule *rule = g_new0 (Rule, 1);
      g_autoptr (GPtrArray) merges = g_ptr_array_new_with_free_func (g_free);
      TestToken tokens[MAX_TOKENS] = { { NULL } };
      TestVocab spec = {
        .model = "gpt2", .pre = "qwen2", .tokens = tokens, .n_tokens = MAX_TOKENS
      };
      g_autoptr (KvasirVocab) vocab = NULL;

      make_texts (rule, random);
      for (guint i = 0; i < MAX_TOKENS; i++)
        tokens[i] = (TestToken){ rule->texts[i], NORMAL, 0 };
      for (guint tries = 0; tries < 6000; tries++)
        {
          guint left = (guint) g_rand_int_range (random, 0, MAX_TOKENS);
          guint right = (guint) g_rand_int_range (random, 0, MAX_TOKENS);
          g_autofree char *text = g_strconcat (rule->texts[left], rule->texts[right], NULL);
          guint merged = find (rule, text);

          if (merged == MAX_TOKENS || rule->ranks[left][right] != G_MAXUINT)
            continue;
          rule->ranks[left][right] = merges->len;
          rule->merged[left][right] = merged;
          g_ptr_array_add (merges, g_strconcat (rule->texts[left], " ", rule->texts[right], NULL));
        }
      spec.merges = (const char *const *) merges->pdata;
      spec.n_merges = merges->len;
      vocab = vocab_make (&spec, NULL);
      check (rule, vocab, random, 0, "");
    }
}

static void
test_spm (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (22);

  for (guint round = 0; round < N_ROUNDS; round++)
    {
      g_autofree Rule *rule = g_new0 (Rule, 1);
      TestToken tokens[1 + MAX_TOKENS] = { { "<unk>", UNKNOWN, 0 } };
      TestVocab spec = { .model = "llama", .tokens = tokens, .n_tokens = 1 + MAX_TOKENS };
      g_autoptr (KvasirVocab) vocab = NULL;

      make_texts (rule, random);
      for (guint i = 0; i < MAX_TOKENS; i++)
        tokens[1 + i] =
            (TestToken){ rule->texts[i], NORMAL, (float) -g_rand_int_range (random, 0, 12) };
      for (guint i = 0; i < MAX_TOKENS; i++)
        for (guint k = 0; k < MAX_TOKENS; k++)
          {
            g_autofree char *text = g_strconcat (rule->texts[i], rule->texts[k], NULL);
            guint merged = find (rule, text);

            if (merged == MAX_TOKENS)
              continue;
            rule->merged[i][k] = merged;
            rule->ranks[i][k] = (guint) -tokens[1 + merged].score;
          }
      vocab = vocab_make (&spec, NULL);
      /* The space in front has no token, nor have its three bytes. */
      check (rule, vocab, random, 1, "0,0,0");
    }
}

/* Of a row of characters the last pair is the best one, then the one two before: the end of the row
 * tells what becomes of its start, far away. */
static void
test_far_ends (void)
{
  enum
  {
    N_CHARS = 299,
    N_ROWS = 40,
  };
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree TestToken *tokens = g_new0 (TestToken, 2 * N_CHARS);
  TestVocab spec = { .model = "llama", .tokens = tokens, .n_tokens = 2 * N_CHARS };
  g_autoptr (KvasirVocab) vocab = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) expected = g_string_new ("0,0,0");

  tokens[0] = (TestToken){ "<unk>", UNKNOWN, 0 };
  for (guint i = 0; i < 2 * N_CHARS - 1; i++)
    {
      char pair[13] = { 0 };
      int len = g_unichar_to_utf8 (0x4e00 + i % N_CHARS, pair);

      if (i >= N_CHARS)
        g_unichar_to_utf8 (0x4e01 + i % N_CHARS, pair + len);
      g_ptr_array_add (texts, g_strdup (pair));
      tokens[1 + i] = (TestToken){ texts->pdata[i], NORMAL, (float) i };
    }
  for (guint row = 0; row < N_ROWS; row++)
    {
      /* A shorter row at the start, so that windows do not end with a row. */
      guint n = row == 0 ? 100 : N_CHARS;

      for (guint i = 0; i < n; i++)
        g_string_append (text, texts->pdata[i]);
      if (n % 2 == 1)
        g_string_append (expected, ",1");
      for (guint i = n % 2; i < n; i += 2)
        g_string_append_printf (expected, ",%u", 1 + N_CHARS + i);
    }
  vocab = vocab_make (&spec, NULL);
  check_ids (vocab, text->str, expected->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/vocab/windows/bpe-as-merged-in-one", test_bpe);
  g_test_add_func ("/engine/vocab/windows/spm-as-merged-in-one", test_spm);
  g_test_add_func ("/engine/vocab/windows/grow-where-ends-are-far", test_far_ends);
  return g_test_run ();
}
