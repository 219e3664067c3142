#include "engine/sampling/select.h"

#define DIGIT_BITS 11
#define N_DIGITS (1u << DIGIT_BITS)
#define FEW 64

typedef struct
{
  double goal;                    /* kept is what has less than this before it */
  const KvasirPickWeight *weight; /* (nullable): each counts as one */
} Rule;

static inline double
weigh (const Rule *rule, guint64 pick)
{
  const KvasirPickWeight *by = rule->weight;
  if (by == NULL)
    return 1.0;
  guint32 id = kvasir_pick_get_id (pick);
  float logit = by->blocks != NULL ? by->blocks[id / 64][id % 64] : kvasir_pick_get_logit (pick);
  return (double) kvasir_exp_negative ((logit - by->peak) * by->scale);
}

static inline guint
get_digit (guint64 pick, guint shift)
{
  return (guint) (pick >> shift) & (N_DIGITS - 1);
}

void
kvasir_pick_sort_few (guint64 *picks, guint n)
{
  for (guint i = 1; i < n; i++)
    {
      guint64 pick = picks[i];
      guint j = i;
      for (; j > 0 && picks[j - 1] > pick; j--)
        picks[j] = picks[j - 1];
      picks[j] = pick;
    }
}

/* The digit in which the goal is reached; N_DIGITS where it is not. Adds what lies before it to
 * @done. */
static guint
find_digit (const Rule *rule, const guint64 *picks, guint n, guint shift, double *done)
{
  double sums[N_DIGITS] = { 0.0 };
  for (guint i = 0; i < n; i++)
    sums[get_digit (picks[i], shift)] += weigh (rule, picks[i]);
  guint digit = 0;
  for (; digit < N_DIGITS && *done + sums[digit] < rule->goal; digit++)
    *done += sums[digit];
  return digit;
}

/* Moves the picks with a smaller digit to the front, then those with @digit; the others are
 * dropped. Returns the number of smaller ones, @n becomes that of both. */
static guint
partition (guint64 *picks, guint *n, guint shift, guint digit)
{
  guint n_smaller = 0;
  guint i = 0;
  while (i < *n)
    {
      guint d = get_digit (picks[i], shift);
      if (d > digit)
        picks[i] = picks[--*n];
      else
        {
          if (d < digit)
            {
              guint64 pick = picks[i];
              picks[i] = picks[n_smaller];
              picks[n_smaller++] = pick;
            }
          i++;
        }
    }
  return n_smaller;
}

static guint
keep (guint64 *picks, guint n, const Rule *rule)
{
  guint n_kept = 0;
  double done = 0.0;
  gint shift = 64 - DIGIT_BITS;

  while (n - n_kept > FEW && shift >= 0)
    {
      guint digit = find_digit (rule, picks + n_kept, n - n_kept, (guint) shift, &done);
      if (digit == N_DIGITS)
        return n;
      guint n_left = n - n_kept;
      guint n_smaller = partition (picks + n_kept, &n_left, (guint) shift, digit);
      n = n_kept + n_left;
      n_kept += n_smaller;
      shift = shift == 0 ? -1 : MAX (shift - DIGIT_BITS, 0);
    }

  kvasir_pick_sort_few (picks + n_kept, n - n_kept);
  for (; n_kept < n && done < rule->goal; n_kept++)
    done += weigh (rule, picks[n_kept]);
  return n_kept;
}

guint
kvasir_pick_keep_best (guint64 *picks, guint n, guint n_wanted)
{
  if (n <= n_wanted)
    return n;
  Rule rule = { .goal = n_wanted };
  return keep (picks, n, &rule);
}

guint
kvasir_pick_keep_mass (guint64 *picks, guint n, double mass, const KvasirPickWeight *weight)
{
  Rule rule = { .goal = mass, .weight = weight };
  return keep (picks, n, &rule);
}
