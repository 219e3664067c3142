/* What follows from a grammar's rules: which may be empty, which may begin with which, and which
 * code points are never told apart. */
#include "engine/error.h"
#include "engine/grammar/grammar-private.h"

static gboolean
fail (const KvasirRule *rule, const char *what, GError **error)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Grammar, line %u, column %u: the rule '%s' %s", rule->line, rule->column,
               rule->name, what);
  return FALSE;
}

static gboolean
check_defined (const KvasirGrammar *self, GError **error)
{
  for (guint32 i = 0; i < self->rules->len; i++)
    if (kvasir_grammar_rule (self, i)->n_alts == 0)
      return fail (kvasir_grammar_rule (self, i), "is used here but defined nowhere", error);
  return TRUE;
}

/* ---- which rules may be empty */

typedef struct
{
  KvasirGrammar *grammar; /* (unowned) */
  guint32 *waiting;       /* (owned) by alternative: elements not known to be nullable */
  guint32 *rule_of_alt;   /* (owned) */
  guint32 *first_use;     /* (owned) [rules + 1]: into uses */
  guint32 *uses;          /* (owned): alternatives that wait for a rule */
  GArray *found;          /* (owned) of guint32: rules whose users are still to be told */
} Nullable;

static const KvasirElement *
get_alternative (const KvasirGrammar *self, guint32 alt)
{
  return kvasir_grammar_element (self, g_array_index (self->alts, guint32, alt));
}

static gboolean
is_awaited_rule (const KvasirElement *element)
{
  return element->kind == KVASIR_ELEMENT_RULE && element->min > 0;
}

static void
set_nullable (Nullable *self, guint32 rule)
{
  KvasirRule *target = &g_array_index (self->grammar->rules, KvasirRule, rule);
  if (target->nullable)
    return;
  target->nullable = TRUE;
  g_array_append_val (self->found, rule);
}

/* Counts how often each rule is awaited, then lists where. */
static void
list_uses (Nullable *self)
{
  const KvasirGrammar *grammar = self->grammar;
  const KvasirElement *all = (const KvasirElement *) (gpointer) grammar->elements->data;
  guint32 n_rules = grammar->rules->len;
  self->first_use = g_new0 (guint32, n_rules + 1);
  for (guint32 i = 0; i < grammar->elements->len; i++)
    if (is_awaited_rule (&all[i]))
      self->first_use[all[i].index + 1]++;
  for (guint32 i = 0; i < n_rules; i++)
    self->first_use[i + 1] += self->first_use[i];
  self->uses = g_new (guint32, self->first_use[n_rules] + 1);
  g_autofree guint32 *next = g_memdup2 (self->first_use, n_rules * sizeof (guint32));
  for (guint32 alt = 0; alt < grammar->alts->len; alt++)
    for (const KvasirElement *e = get_alternative (grammar, alt); e->kind != KVASIR_ELEMENT_END;
         e++)
      {
        self->waiting[alt] += e->min > 0;
        if (is_awaited_rule (e))
          self->uses[next[e->index]++] = alt;
      }
}

static void
find_nullable (KvasirGrammar *grammar)
{
  Nullable self = { .grammar = grammar };
  self.waiting = g_new0 (guint32, grammar->alts->len);
  self.rule_of_alt = g_new (guint32, grammar->alts->len);
  self.found = g_array_new (FALSE, FALSE, sizeof (guint32));
  list_uses (&self);
  for (guint32 i = 0; i < grammar->rules->len; i++)
    for (guint32 k = 0; k < kvasir_grammar_rule (grammar, i)->n_alts; k++)
      {
        guint32 alt = kvasir_grammar_rule (grammar, i)->first_alt + k;
        self.rule_of_alt[alt] = i;
        if (self.waiting[alt] == 0)
          set_nullable (&self, i);
      }
  for (guint32 i = 0; i < self.found->len; i++)
    {
      guint32 rule = g_array_index (self.found, guint32, i);
      for (guint32 k = self.first_use[rule]; k < self.first_use[rule + 1]; k++)
        if (--self.waiting[self.uses[k]] == 0)
          set_nullable (&self, self.rule_of_alt[self.uses[k]]);
    }
  g_free (self.waiting);
  g_free (self.rule_of_alt);
  g_free (self.first_use);
  g_free (self.uses);
  g_array_unref (self.found);
}

/* ---- which rules may begin with which */

/* A rule on the way down, and where in it the search stands. */
typedef struct
{
  guint32 rule;
  guint32 alt; /* the next one */
  guint32 pos; /* in the one before it; 0: at its end */
} Step;

typedef enum
{
  NEW,
  OPEN,
  DONE
} Colour;

/* The next rule that the step's may begin with. FALSE: there is none. */
static gboolean
find_next_corner (const KvasirGrammar *self, Step *step, guint32 *rule)
{
  const KvasirRule *own = kvasir_grammar_rule (self, step->rule);
  for (;;)
    {
      if (step->pos == 0 && step->alt == own->n_alts)
        return FALSE;
      if (step->pos == 0)
        step->pos = 1 + g_array_index (self->alts, guint32, own->first_alt + step->alt++);
      const KvasirElement *element = kvasir_grammar_element (self, step->pos - 1);
      gboolean more =
          element->kind != KVASIR_ELEMENT_END && kvasir_grammar_get_min (self, element) == 0;
      step->pos = more ? step->pos + 1 : 0;
      if (element->kind == KVASIR_ELEMENT_RULE)
        {
          *rule = element->index;
          return TRUE;
        }
    }
}

/* Depth first; a rule that is reached while it is open begins with itself. */
static gboolean
rank_from (KvasirGrammar *self, guint32 start, guint8 *colours, guint32 *rank, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Step));
  Step first = { start, 0, 0 };
  g_array_append_val (steps, first);
  colours[start] = OPEN;
  while (steps->len > 0)
    {
      Step *step = &g_array_index (steps, Step, steps->len - 1);
      Step next = { 0, 0, 0 };
      if (!find_next_corner (self, step, &next.rule))
        {
          colours[step->rule] = DONE;
          g_array_index (self->rules, KvasirRule, step->rule).rank = --*rank;
          g_array_set_size (steps, steps->len - 1);
        }
      else if (colours[next.rule] == OPEN)
        return fail (kvasir_grammar_rule (self, next.rule), "begins with itself (left recursion)",
                     error);
      else if (colours[next.rule] == NEW)
        {
          colours[next.rule] = OPEN;
          g_array_append_val (steps, next);
        }
    }
  return TRUE;
}

static gboolean
rank_rules (KvasirGrammar *self, GError **error)
{
  g_autofree guint8 *colours = g_new0 (guint8, self->rules->len);
  guint32 rank = self->rules->len;
  for (guint32 i = 0; i < self->rules->len; i++)
    if (colours[i] == NEW && !rank_from (self, i, colours, &rank, error))
      return FALSE;
  return TRUE;
}

/* ---- which code points are never told apart */

static int
compare_codes (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a;
  guint32 y = *(const guint32 *) b;
  return x < y ? -1 : x > y;
}

guint32
kvasir_grammar_find_class (const KvasirGrammar *self, guint32 code)
{
  guint32 low = 0;
  guint32 high = self->cuts->len;
  while (high - low > 1)
    {
      guint32 middle = low + (high - low) / 2;
      if (g_array_index (self->cuts, guint32, middle) <= code)
        low = middle;
      else
        high = middle;
    }
  return low;
}

static gboolean
find_cuts (KvasirGrammar *self, GError **error)
{
  GArray *cuts = self->cuts;
  guint32 n = 0;
  guint32 zero = 0;
  g_array_append_val (cuts, zero);
  for (guint i = 0; i < self->ranges->len; i++)
    {
      const KvasirCodeRange *range = &g_array_index (self->ranges, KvasirCodeRange, i);
      guint32 end = range->last + 1;
      g_array_append_val (cuts, range->first);
      g_array_append_val (cuts, end);
    }
  g_array_sort (cuts, compare_codes);
  for (guint32 i = 0; i < cuts->len; i++)
    if (n == 0 || g_array_index (cuts, guint32, i) != g_array_index (cuts, guint32, n - 1))
      g_array_index (cuts, guint32, n++) = g_array_index (cuts, guint32, i);
  g_array_set_size (cuts, n);
  for (guint32 c = 0; c < G_N_ELEMENTS (self->ascii_class); c++)
    self->ascii_class[c] = kvasir_grammar_find_class (self, c);
  if (n <= KVASIR_GRAMMAR_MAX_CUTS)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "The grammar tells %u kinds of characters apart, at most %u can be", n,
               KVASIR_GRAMMAR_MAX_CUTS);
  return FALSE;
}

gboolean
kvasir_grammar_check (KvasirGrammar *self, GError **error)
{
  if (!check_defined (self, error))
    return FALSE;
  find_nullable (self);
  return rank_rules (self, error) && find_cuts (self, error);
}
