/* Speed of cutting text into tokens.
 *
 *   bench-vocab TEXT GGUF...     TEXT is a file of prose, repeated to some megabytes
 *
 * For each vocabulary: how long the header and the vocabulary take to load, and MB/s of prose, of
 * one character repeated, which must take at most 1.5 times as long by the byte, and of other texts
 * that are hard on tokenizers. The best of some rounds counts. */
#include "engine/vocab/vocab.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES ((gsize) 10000000)
#define N_LOADS 5
#define N_ROUNDS 3
#define ENOUGH_MS 700

/* Time by the clock: a loader may use several threads. */
static double
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

typedef struct
{
  const char *name;
  const char *unit; /* repeated */
} Run;

static const Run characters[] = {
  { "a", "a" },
  { "space", " " },
  { "newline", "\n" },
  { ".", "." },
  { "1", "1" },
  { "=", "=" },
  { "NUL", "" },
  { "U+00E9", "\xc3\xa9" },
  { "U+0301", "\xcc\x81" },
  { "U+4E2D", "\xe4\xb8\xad" },
  { "U+1F600", "\xf0\x9f\x98\x80" },
};

static const Run others[] = {
  { "ab", "ab" },
  { "aA", "aA" },
  { "a space", "a " },
  { "a1", "a1" },
  { "newline space", "\n " },
  { "space tab", " \t" },
  { "a with marks", "a\xcc\x81\xcc\xa3\xcc\x88" },
  { "byte FF", "\xff" },
  { "half a character", "\xe4\xb8" },
  { "family", "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7" },
  { "<", "<" },
  { "<|", "<|" },
  { "</s>", "</s>" },
  { "bnxzq", "bnxzqnb" },
};

static GString *
repeat (const char *unit)
{
  gsize len = MAX (strlen (unit), 1);
  GString *text = g_string_sized_new (TEXT_BYTES + len);

  while (text->len + len <= TEXT_BYTES)
    g_string_append_len (text, unit, (gssize) len);
  return text;
}

/* Letters without a break, or bytes, drawn at random. */
static GString *
make_random (gint first, gint end)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  GString *text = g_string_sized_new (TEXT_BYTES);

  while (text->len < TEXT_BYTES)
    g_string_append_c (text, (char) g_rand_int_range (random, first, end));
  return text;
}

/* Prose without anything but its letters: one long word. */
static GString *
make_word (const GString *prose)
{
  GString *text = g_string_sized_new (TEXT_BYTES);

  for (gsize i = 0; text->len < TEXT_BYTES; i = (i + 1) % prose->len)
    if (g_ascii_isalpha (prose->str[i]))
      g_string_append_c (text, prose->str[i]);
  return text;
}

/* Returns: MB/s, or 0 where the text cannot be cut */
static double
measure (const KvasirVocab *vocab, const GString *text, guint *n_tokens)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  double best = G_MAXDOUBLE;
  double first = get_ms ();

  for (guint i = 0; i < N_ROUNDS && get_ms () - first < ENOUGH_MS; i++)
    {
      double start = get_ms ();
      g_autoptr (GError) error = NULL;

      g_array_set_size (ids, 0);
      if (!kvasir_vocab_tokenize (vocab, text->str, (gssize) text->len, TRUE, FALSE, ids, &error))
        {
          fprintf (stderr, "%s\n", error->message);
          return 0;
        }
      best = MIN (best, get_ms () - start);
    }
  *n_tokens = ids->len;
  return (double) text->len / 1e3 / best;
}

static void
bench_text (const KvasirVocab *vocab, const char *name, GString *text, double prose)
{
  guint n = 0;
  double rate = measure (vocab, text, &n);

  printf ("  %-18s %7.1f MB/s %5.2f times as long by the byte as prose\n", name, rate,
          prose / rate);
  fflush (stdout);
  g_string_free (text, TRUE);
}

static void
bench_texts (const KvasirVocab *vocab, const GString *text)
{
  guint n = 0;
  double prose = measure (vocab, text, &n);

  printf ("  %-18s %7.1f MB/s, %.2f bytes a token\n", "prose", prose,
          (double) text->len / MAX (n, 1));
  for (gsize i = 0; i < G_N_ELEMENTS (characters); i++)
    bench_text (vocab, characters[i].name, repeat (characters[i].unit), prose);
  printf ("  others:\n");
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    bench_text (vocab, others[i].name, repeat (others[i].unit), prose);
  bench_text (vocab, "random letters", make_random ('a', 'z' + 1), prose);
  bench_text (vocab, "random digits", make_random ('0', '9' + 1), prose);
  bench_text (vocab, "random bytes", make_random (0, 256), prose);
  bench_text (vocab, "prose in one word", make_word (text), prose);
}

/* The vocabulary, with how long the quickest of some loads took: of the header, and in all. */
static KvasirVocab *
load (const char *path, double *header_ms, double *ms, GError **error)
{
  KvasirVocab *vocab = NULL;

  *header_ms = *ms = G_MAXDOUBLE;
  for (guint i = 0; i < N_LOADS; i++)
    {
      double start = get_ms ();
      g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, error);
      double middle = get_ms ();

      g_clear_pointer (&vocab, kvasir_vocab_unref);
      vocab = gguf ? kvasir_vocab_new (gguf, error) : NULL;
      if (!vocab)
        return NULL;
      *header_ms = MIN (*header_ms, middle - start);
      *ms = MIN (*ms, get_ms () - start);
    }
  return vocab;
}

static void
bench_vocab (const char *path, const GString *prose)
{
  g_autoptr (GError) error = NULL;
  double header_ms;
  double ms;
  g_autoptr (KvasirVocab) vocab = load (path, &header_ms, &ms, &error);

  if (!vocab)
    {
      fprintf (stderr, "%s\n", error->message);
      return;
    }
  printf ("%s: %u tokens, loaded in %.1f ms, of which the header of the file %.1f ms\n",
          kvasir_vocab_get_description (vocab), kvasir_vocab_get_n_tokens (vocab), ms, header_ms);
  bench_texts (vocab, prose);
}

int
main (int argc, char **argv)
{
  g_autofree char *part = NULL;
  g_autoptr (GString) prose = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  if (argc < 3 || !g_file_get_contents (argv[1], &part, NULL, &error) || *part == 0)
    {
      fprintf (stderr, "usage: bench-vocab TEXT GGUF...\n");
      return 2;
    }
  while (prose->len < TEXT_BYTES)
    g_string_append (prose, part);
  for (int i = 2; i < argc; i++)
    bench_vocab (argv[i], prose);
  return 0;
}
