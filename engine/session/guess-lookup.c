#include "engine/session/guess-lookup.h"

/* How many tokens before @a are as those before @b, a < b. */
static guint
count_alike (const gint32 *text, guint a, guint b)
{
  const guint max = MIN (a, KVASIR_LOOKUP_MAX);
  guint n = 0;

  while (n < max && text[a - 1 - n] == text[b - 1 - n])
    n++;
  return n;
}

/* A scan of the whole text takes microseconds where a step takes milliseconds; an index of it would
 * have to be kept for every request. */
guint
kvasir_guess_lookup (const gint32 *text, guint n, guint max, gint32 *guesses)
{
  guint best = KVASIR_LOOKUP_MIN - 1, at = 0;

  for (guint end = n; end-- > KVASIR_LOOKUP_MIN && best < KVASIR_LOOKUP_MAX;)
    {
      if (text[end - 1] != text[n - 1])
        continue;
      const guint n_alike = count_alike (text, end, n);
      if (n_alike > best)
        {
          best = n_alike;
          at = end;
        }
    }
  if (at == 0)
    return 0;
  for (guint i = 0; i < max; i++)
    guesses[i] = at + i < n ? text[at + i] : guesses[at + i - n];
  return best;
}
