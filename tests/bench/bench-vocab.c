/* Speed of cutting text into tokens.
 *
 *   bench-vocab TEXT GGUF...     TEXT is a file of prose, repeated to some megabytes
 *
 * For each vocabulary: how long it takes to load, MB/s of the prose, and of one character repeated,
 * which must not be much slower by the byte. The best of some rounds counts. */
#include "engine/vocab/vocab.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES ((gsize) 8 << 20)
#define N_ROUNDS 3

/* Processor time of this thread: others may be busy. */
static double
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/* Returns: MB/s, or 0 where the text cannot be cut */
static double
measure (const KvasirVocab *vocab, const char *text, gsize len, guint *n_tokens)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  double best = G_MAXDOUBLE;

  for (guint i = 0; i < N_ROUNDS; i++)
    {
      double start = get_ms ();
      g_autoptr (GError) error = NULL;

      g_array_set_size (ids, 0);
      if (!kvasir_vocab_tokenize (vocab, text, (gssize) len, TRUE, FALSE, ids, &error))
        {
          fprintf (stderr, "%s\n", error->message);
          return 0;
        }
      best = MIN (best, get_ms () - start);
    }
  *n_tokens = ids->len;
  return (double) len / 1e3 / best;
}

static void
bench_vocab (const char *path, const char *prose)
{
  static const char letters[] = "a .\n1";
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);
  double start = get_ms ();
  g_autoptr (KvasirVocab) vocab = gguf ? kvasir_vocab_new (gguf, &error) : NULL;
  double load_ms = get_ms () - start;
  guint n = 0;
  double rate;

  if (!vocab)
    {
      fprintf (stderr, "%s\n", error->message);
      return;
    }
  rate = measure (vocab, prose, TEXT_BYTES, &n);
  printf ("%-18s %6u tokens, load %5.1f ms, prose %6.1f MB/s, %4.2f bytes a token; runs",
          kvasir_vocab_get_description (vocab), kvasir_vocab_get_n_tokens (vocab), load_ms, rate,
          (double) TEXT_BYTES / MAX (n, 1));
  for (const char *c = letters; *c; c++)
    {
      g_autofree char *run = g_strnfill (TEXT_BYTES, *c);
      g_autofree char *name = g_strescape ((char[]){ *c, 0 }, NULL);

      printf (" '%s' %.1f", name, measure (vocab, run, TEXT_BYTES, &n));
      fflush (stdout);
    }
  printf (" MB/s\n");
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
    bench_vocab (argv[i], prose->str);
  return 0;
}
