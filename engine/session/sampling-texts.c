#include "engine/session/sampling-texts.h"

#include <math.h>
#include <string.h>

void
kvasir_sampling_texts_init (KvasirSamplingTexts *self)
{
  const char *const breakers[] = { "\n", ":", "\"", "*", NULL };

  *self = (KvasirSamplingTexts){ .breakers = g_strdupv ((char **) breakers) };
}

void
kvasir_sampling_texts_clear (KvasirSamplingTexts *self)
{
  g_clear_pointer (&self->stops, g_strfreev);
  g_clear_pointer (&self->breakers, g_strfreev);
  g_clear_pointer (&self->biases, g_strfreev);
  g_clear_pointer (&self->grammar, g_free);
  g_clear_pointer (&self->schema, g_free);
}

void
kvasir_sampling_texts_copy (const KvasirSamplingTexts *self, KvasirSamplingTexts *to)
{
  to->stops = g_strdupv (self->stops);
  to->breakers = g_strdupv (self->breakers);
  to->biases = g_strdupv (self->biases);
  to->grammar = g_strdup (self->grammar);
  to->schema = g_strdup (self->schema);
}

/* ---- one in a line */

static const char plain[] = "\n\t\\";
static const char letters[] = "nt\\";

char *
kvasir_sampling_text_escape (const char *text)
{
  g_return_val_if_fail (text != NULL, NULL);

  GString *line = g_string_new (NULL);
  for (; *text != '\0'; text++)
    {
      const char *at = strchr (plain, *text);
      if (at != NULL)
        g_string_append_printf (line, "\\%c", letters[at - plain]);
      else
        g_string_append_c (line, *text);
    }
  return g_string_free (line, FALSE);
}

char *
kvasir_sampling_text_unescape (const char *line)
{
  g_return_val_if_fail (line != NULL, NULL);

  GString *text = g_string_new (NULL);
  for (; *line != '\0'; line++)
    {
      const char *at = line[0] == '\\' && line[1] != '\0' ? strchr (letters, line[1]) : NULL;
      g_string_append_c (text, at != NULL ? plain[at - letters] : *line);
      line += at != NULL;
    }
  return g_string_free (text, FALSE);
}

/* ---- biases */

/* Where the last sign stands; NULL: nowhere behind the first character. */
static const char *
find_sign (const char *entry)
{
  for (const char *p = entry + strlen (entry); p > entry + 1; p--)
    if (p[-1] == '+' || p[-1] == '-')
      return p - 1;
  return NULL;
}

/* -1 where @text is no id. */
static gint32
read_id (const char *text, gsize len)
{
  gint64 id = 0;
  for (gsize i = 0; i < len; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return -1;
      id = id * 10 + g_ascii_digit_value (text[i]);
      if (id > G_MAXINT32)
        return -1;
    }
  return (gint32) id;
}

gboolean
kvasir_token_bias_parse (const char *entry, KvasirTokenBias *bias)
{
  g_return_val_if_fail (entry != NULL && bias != NULL, FALSE);

  const char *sign = find_sign (entry);
  char *end = NULL;
  /* Blanks between the sign and its number would be skipped. */
  if (sign == NULL || g_ascii_isspace (sign[1]))
    return FALSE;
  double value = g_ascii_strtod (sign, &end);
  if (end == sign || *end != '\0' || isnan (value))
    return FALSE;
  bias->len = (gsize) (sign - entry);
  bias->id = read_id (entry, bias->len);
  bias->bias = (float) value;
  return TRUE;
}

static void
add_bias (KvasirSampler *sampler, const KvasirVocab *vocab, const char *entry)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  KvasirTokenBias bias;

  if (!kvasir_token_bias_parse (entry, &bias))
    return;
  if (bias.id >= 0)
    g_array_append_val (ids, bias.id);
  else if (!kvasir_vocab_tokenize (vocab, entry, (gssize) bias.len, FALSE, TRUE, ids, NULL))
    return;
  for (guint i = 0; i < ids->len; i++)
    kvasir_sampler_add_bias (sampler, g_array_index (ids, gint32, i), bias.bias);
}

/* ---- breakers */

/* What is left of @breaker where the token @id, which reads @piece up to its end, begins it at
 * @from; NULL: it does not. */
static const char *
get_rest (const char *breaker, const GString *piece, gsize from)
{
  gsize len = piece->len - from;
  gboolean begins = strlen (breaker) > len && memcmp (piece->str + from, breaker, len) == 0;
  return begins && g_utf8_validate (breaker + len, -1, NULL) ? breaker + len : NULL;
}

static void
add_breaker_token (KvasirSampler *sampler,
                   const KvasirVocab *vocab,
                   const char *breaker,
                   const GString *piece,
                   gint32 id)
{
  if (memmem (piece->str, piece->len, breaker, strlen (breaker)) != NULL)
    {
      kvasir_sampler_add_breaker (sampler, id, NULL, 0);
      return;
    }
  for (gsize i = 0; i < piece->len; i++)
    {
      const char *rest = piece->str[i] == *breaker ? get_rest (breaker, piece, i) : NULL;
      if (rest == NULL)
        continue;
      g_autoptr (GArray) tail = g_array_new (FALSE, FALSE, sizeof (gint32));
      if (kvasir_vocab_tokenize (vocab, rest, -1, FALSE, FALSE, tail, NULL) && tail->len > 0)
        kvasir_sampler_add_breaker (sampler, id, (const gint32 *) (gpointer) tail->data, tail->len);
    }
}

static void
add_breakers (KvasirSampler *sampler, const KvasirVocab *vocab, char **breakers)
{
  g_autoptr (GString) piece = g_string_new (NULL);
  guint n_vocab = kvasir_vocab_get_n_tokens (vocab);

  for (guint id = 0; id < n_vocab; id++)
    {
      g_string_truncate (piece, 0);
      kvasir_vocab_append_token (vocab, (gint32) id, TRUE, piece);
      for (guint i = 0; breakers[i] != NULL; i++)
        if (breakers[i][0] != '\0')
          add_breaker_token (sampler, vocab, breakers[i], piece, (gint32) id);
    }
}

KvasirSampler *
kvasir_sampling_texts_make_sampler (const KvasirSamplingTexts *self,
                                    const KvasirSamplerParams *params,
                                    const KvasirVocab *vocab)
{
  KvasirSampler *sampler = kvasir_sampler_new (params, kvasir_vocab_get_n_tokens (vocab));

  for (guint i = 0; self->biases != NULL && self->biases[i] != NULL; i++)
    add_bias (sampler, vocab, self->biases[i]);
  /* A look at the whole vocabulary, so only where it is of use. */
  if (self->breakers != NULL && params->dry_multiplier != 0.0f)
    add_breakers (sampler, vocab, self->breakers);
  return sampler;
}
