/* Streams texts and ids through a vocabulary.
 *
 *   tokenize GGUF < requests > answers
 *
 * A request is a byte of flags, the number of bytes that follow as 32 bits, and the bytes: a text,
 * or ids where FROM_IDS is set. An answer is a number of bytes as 32 bits, and the ids or the text.
 */
#include "engine/vocab/vocab.h"

#include <stdio.h>
#include <string.h>

enum
{
  ADD_SPECIAL = 1,
  PARSE_SPECIAL = 2,
  FROM_IDS = 4,
};

static void
write_answer (gconstpointer bytes, gsize len)
{
  guint32 n = (guint32) len;

  fwrite (&n, sizeof n, 1, stdout);
  if (len > 0)
    fwrite (bytes, 1, len, stdout);
}

static void
answer_text (const KvasirVocab *vocab, const char *text, gsize len, guint8 flags)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;

  if (!kvasir_vocab_tokenize (vocab, text, (gssize) len, flags & ADD_SPECIAL,
                              (flags & PARSE_SPECIAL) != 0, ids, &error))
    fprintf (stderr, "%s\n", error->message);
  write_answer (ids->data, ids->len * sizeof (gint32));
}

static void
answer_ids (const KvasirVocab *vocab, const char *bytes, gsize len, guint8 flags)
{
  g_autofree gint32 *ids = g_memdup2 (bytes, len);
  g_autoptr (GString) text = g_string_new (NULL);

  kvasir_vocab_detokenize (vocab, ids, (guint) (len / sizeof *ids), (flags & PARSE_SPECIAL) != 0,
                           text);
  write_answer (text->str, text->len);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = argc == 2 ? kvasir_gguf_open (argv[1], &error) : NULL;
  g_autoptr (KvasirVocab) vocab = gguf ? kvasir_vocab_new (gguf, &error) : NULL;
  g_autoptr (GString) bytes = g_string_new (NULL);
  guint8 flags;
  guint32 n;

  if (!vocab)
    {
      fprintf (stderr, "%s\n", error ? error->message : "usage: tokenize GGUF");
      return 2;
    }
  while (fread (&flags, 1, 1, stdin) == 1 && fread (&n, sizeof n, 1, stdin) == 1)
    {
      g_string_set_size (bytes, n);
      if (fread (bytes->str, 1, n, stdin) != n)
        return 2;
      if (flags & FROM_IDS)
        answer_ids (vocab, bytes->str, n, flags);
      else
        answer_text (vocab, bytes->str, n, flags);
    }
  return 0;
}
