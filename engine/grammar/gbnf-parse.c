/* Rules, alternatives, sequences and repetitions of a grammar's text. */
#include <string.h>

#include "engine/error.h"
#include "engine/grammar/gbnf-private.h"

static gboolean read_alternatives (KvasirGbnfReader *self, guint32 rule, gboolean nested);

/* ---- rules */

static gboolean
add_rule (KvasirGbnfReader *self, const char *name, const char *at, guint32 *number)
{
  KvasirRule rule = { .name = name };
  if (self->grammar->rules->len >= KVASIR_GRAMMAR_MAX_RULES)
    return kvasir_gbnf_fail_with (self, at, "more than %u rules and groups",
                                  KVASIR_GRAMMAR_MAX_RULES);
  /* Places are counted where they are needed: a count for each rule would be quadratic. */
  rule.line = (guint32) (at - self->text);
  g_array_append_val (self->grammar->rules, rule);
  *number = self->grammar->rules->len - 1;
  return TRUE;
}

static gboolean
find_rule (KvasirGbnfReader *self, gsize len, guint32 *number)
{
  char *name = g_string_chunk_insert_len (self->grammar->names, self->at, (gssize) len);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (self->rules, name));
  if (known > 0)
    {
      *number = known - 1;
      return TRUE;
    }
  if (!add_rule (self, name, self->at, number))
    return FALSE;
  g_hash_table_insert (self->rules, name, GUINT_TO_POINTER (*number + 1));
  return TRUE;
}

/* ---- what a sequence is made of */

static void
append_element (GArray *sequence, KvasirElementKind kind, guint32 index)
{
  KvasirElement element = { kind, index, 1, 1 };
  g_array_append_val (sequence, element);
}

static gboolean
read_literal (KvasirGbnfReader *self, GArray *sequence)
{
  self->at++;
  while (*self->at != '"')
    {
      guint32 code;
      if (*self->at == '\0' || *self->at == '\n' || *self->at == '\r')
        return kvasir_gbnf_fail (self, self->at, "'\"' that ends the literal");
      if (!kvasir_gbnf_read_char (self, &code))
        return FALSE;
      append_element (sequence, KVASIR_ELEMENT_SET, kvasir_gbnf_add_set (self, code, code));
    }
  self->at++;
  return TRUE;
}

static gboolean
read_class (KvasirGbnfReader *self, GArray *sequence)
{
  guint32 set;
  self->at++;
  if (!kvasir_gbnf_read_class (self, &set))
    return FALSE;
  append_element (sequence, KVASIR_ELEMENT_SET, set);
  return TRUE;
}

static gboolean
read_reference (KvasirGbnfReader *self, GArray *sequence)
{
  guint32 rule = 0;
  gsize len = kvasir_gbnf_measure_name (self);
  if (!find_rule (self, len, &rule))
    return FALSE;
  self->at += len;
  append_element (sequence, KVASIR_ELEMENT_RULE, rule);
  return TRUE;
}

static gboolean
read_group (KvasirGbnfReader *self, GArray *sequence)
{
  const char *start = self->at++;
  guint32 rule = 0;
  if (++self->depth > KVASIR_GRAMMAR_MAX_DEPTH)
    return kvasir_gbnf_fail_with (self, start, "groups are nested more than %d deep",
                                  KVASIR_GRAMMAR_MAX_DEPTH);
  if (!add_rule (self, self->owner, start, &rule) || !read_alternatives (self, rule, TRUE))
    return FALSE;
  if (*self->at != ')')
    return kvasir_gbnf_fail (self, self->at, "')'");
  self->at++;
  self->depth--;
  append_element (sequence, KVASIR_ELEMENT_RULE, rule);
  return TRUE;
}

/* ---- tokens */

#define NO_TOKEN G_MAXUINT32

static gboolean
read_token_number (KvasirGbnfReader *self, const char *start, guint32 *id)
{
  self->at = start + 2;
  if (!kvasir_gbnf_read_number (self, id))
    return FALSE;
  if (self->at[0] != ']' || self->at[1] != '>')
    return kvasir_gbnf_fail (self, self->at, "']>' behind the token's number");
  self->at += 2;
  guint n_tokens = self->vocab != NULL ? kvasir_vocab_get_n_tokens (self->vocab) : G_MAXUINT32;
  if (*id >= n_tokens)
    return kvasir_gbnf_fail_with (self, start, "there is no token %u, the model has %u", *id,
                                  n_tokens);
  return TRUE;
}

static gboolean
read_token_text (KvasirGbnfReader *self, const char *start, guint32 *id)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  gsize len = strcspn (start, ">\r\n");
  if (start[len] != '>')
    return kvasir_gbnf_fail (self, start + len, "'>' that ends the token's text");
  len++;
  self->at = start + len;
  *id = NO_TOKEN;
  if (self->vocab == NULL)
    return TRUE;
  if (!kvasir_vocab_tokenize (self->vocab, start, (gssize) len, FALSE, TRUE, ids, self->error))
    return FALSE;
  if (ids->len != 1)
    return kvasir_gbnf_fail_with (self, start, "expected a text that is one token, %.*s is %u",
                                  (int) len, start, ids->len);
  *id = (guint32) g_array_index (ids, gint32, 0);
  return TRUE;
}

static gboolean
read_token (KvasirGbnfReader *self, GArray *sequence)
{
  guint32 id;
  gboolean negated = *self->at == '!';
  const char *start = self->at + negated;
  if (*start != '<')
    return kvasir_gbnf_fail (self, start, "a token in '<' and '>'");
  if (start[1] == '[' ? !read_token_number (self, start, &id) : !read_token_text (self, start, &id))
    return FALSE;
  append_element (sequence, negated ? KVASIR_ELEMENT_NOT_TOKEN : KVASIR_ELEMENT_TOKEN, id);
  return TRUE;
}

/* ---- repetition */

/* The rest of "{m}", "{m,}", "{m,n}" or "{,n}" behind the brace. */
static gboolean
read_bounds (KvasirGbnfReader *self, guint32 *min, guint32 *max)
{
  const char *start = self->at - 1;
  *min = 0;
  kvasir_gbnf_skip_space (self, TRUE);
  if (*self->at != ',' && !kvasir_gbnf_read_number (self, min))
    return FALSE;
  kvasir_gbnf_skip_space (self, TRUE);
  *max = *min;
  if (*self->at == ',')
    {
      self->at++;
      *max = KVASIR_NO_MAX;
      kvasir_gbnf_skip_space (self, TRUE);
      if (*self->at != '}' && !kvasir_gbnf_read_number (self, max))
        return FALSE;
      kvasir_gbnf_skip_space (self, TRUE);
    }
  if (*self->at != '}')
    return kvasir_gbnf_fail (self, self->at, "'}'");
  self->at++;
  if (*min > *max)
    return kvasir_gbnf_fail_with (self, start, "at least %u but at most %u times", *min, *max);
  return TRUE;
}

static gboolean
read_repetition (KvasirGbnfReader *self, guint32 *min, guint32 *max)
{
  char sign = *self->at++;
  *min = sign == '+';
  *max = sign == '?' ? 1 : KVASIR_NO_MAX;
  return sign != '{' || read_bounds (self, min, max);
}

/* Moves the elements from @from on into a rule of their own. */
static gboolean
wrap (KvasirGbnfReader *self, GArray *sequence, guint from, const char *at)
{
  KvasirGrammar *grammar = self->grammar;
  KvasirElement end = { .kind = KVASIR_ELEMENT_END };
  guint32 number = 0;
  if (!add_rule (self, self->owner, at, &number))
    return FALSE;
  KvasirRule *rule = &g_array_index (grammar->rules, KvasirRule, number);
  rule->first_alt = grammar->alts->len;
  rule->n_alts = 1;
  g_array_append_val (grammar->alts, grammar->elements->len);
  g_array_append_vals (grammar->elements, &g_array_index (sequence, KvasirElement, from),
                       sequence->len - from);
  g_array_append_val (grammar->elements, end);
  g_array_set_size (sequence, from);
  append_element (sequence, KVASIR_ELEMENT_RULE, number);
  return TRUE;
}

/* Repeats what stands in @sequence from @from on. */
static gboolean
repeat (KvasirGbnfReader *self, GArray *sequence, guint from)
{
  const char *start = self->at;
  guint32 min;
  guint32 max;
  if (!read_repetition (self, &min, &max))
    return FALSE;
  if (max == 0 || sequence->len == from)
    {
      g_array_set_size (sequence, from);
      return TRUE;
    }
  KvasirElement *only = &g_array_index (sequence, KvasirElement, from);
  if ((sequence->len > from + 1 || only->min != 1 || only->max != 1) &&
      !wrap (self, sequence, from, start))
    return FALSE;
  KvasirElement *element = &g_array_index (sequence, KvasirElement, from);
  element->min = min;
  element->max = max;
  return TRUE;
}

/* ---- sequences */

static gboolean
read_item (KvasirGbnfReader *self, GArray *sequence)
{
  switch (*self->at)
    {
    case '"':
      return read_literal (self, sequence);
    case '[':
      return read_class (self, sequence);
    case '(':
      return read_group (self, sequence);
    case '<':
    case '!':
      return read_token (self, sequence);
    case '.':
      self->at++;
      append_element (sequence, KVASIR_ELEMENT_SET, kvasir_gbnf_add_set (self, 0, KVASIR_MAX_CODE));
      return TRUE;
    default:
      return read_reference (self, sequence);
    }
}

static gboolean
is_item (const KvasirGbnfReader *self)
{
  return (*self->at != '\0' && strchr ("\"[(<!.", *self->at) != NULL) ||
         kvasir_gbnf_measure_name (self) > 0;
}

static gboolean
is_repetition (const KvasirGbnfReader *self)
{
  return *self->at != '\0' && strchr ("*+?{", *self->at) != NULL;
}

static gboolean
read_sequence (KvasirGbnfReader *self, GArray *sequence, gboolean nested)
{
  if (is_repetition (self))
    return kvasir_gbnf_fail (self, self->at, "something to repeat before it");
  while (is_item (self))
    {
      guint from = sequence->len;
      if (!read_item (self, sequence))
        return FALSE;
      kvasir_gbnf_skip_space (self, nested);
      while (is_repetition (self))
        {
          if (!repeat (self, sequence, from))
            return FALSE;
          kvasir_gbnf_skip_space (self, nested);
        }
    }
  return TRUE;
}

/* ---- alternatives */

/* Goes to the '|' of another alternative, that of a rule also where it begins the next line. */
static gboolean
find_bar (KvasirGbnfReader *self, gboolean nested)
{
  const char *before = self->at;
  if (!nested)
    kvasir_gbnf_skip_space (self, TRUE);
  if (*self->at == '|')
    return TRUE;
  self->at = before;
  return FALSE;
}

static gboolean
read_alternative (KvasirGbnfReader *self, GArray *starts, gboolean nested)
{
  KvasirGrammar *grammar = self->grammar;
  KvasirElement end = { .kind = KVASIR_ELEMENT_END };
  g_autoptr (GArray) sequence = g_array_new (FALSE, FALSE, sizeof (KvasirElement));
  if (!read_sequence (self, sequence, nested))
    return FALSE;
  g_array_append_val (starts, grammar->elements->len);
  g_array_append_vals (grammar->elements, sequence->data, sequence->len);
  g_array_append_val (grammar->elements, end);
  return TRUE;
}

static gboolean
read_alternatives (KvasirGbnfReader *self, guint32 rule, gboolean nested)
{
  KvasirGrammar *grammar = self->grammar;
  g_autoptr (GArray) starts = g_array_new (FALSE, FALSE, sizeof (guint32));
  do
    {
      kvasir_gbnf_skip_space (self, TRUE);
      if (!read_alternative (self, starts, nested))
        return FALSE;
    }
  while (find_bar (self, nested) && self->at++);
  KvasirRule *target = &g_array_index (grammar->rules, KvasirRule, rule);
  target->first_alt = grammar->alts->len;
  target->n_alts = starts->len;
  g_array_append_vals (grammar->alts, starts->data, starts->len);
  return TRUE;
}

static gboolean
read_rule (KvasirGbnfReader *self)
{
  const char *start = self->at;
  guint32 number = 0;
  gsize len = kvasir_gbnf_measure_name (self);
  if (len == 0)
    return kvasir_gbnf_fail (self, start, "the name of a rule");
  if (!find_rule (self, len, &number))
    return FALSE;
  KvasirRule *rule = &g_array_index (self->grammar->rules, KvasirRule, number);
  self->owner = rule->name;
  if (rule->n_alts > 0)
    return kvasir_gbnf_fail_with (self, start, "the rule '%s' is there twice", rule->name);
  rule->line = (guint32) (start - self->text);
  self->at += len;
  kvasir_gbnf_skip_space (self, FALSE);
  if (!g_str_has_prefix (self->at, "::="))
    return kvasir_gbnf_fail (self, self->at, "'::='");
  self->at += 3;
  if (!read_alternatives (self, number, FALSE))
    return FALSE;
  if (*self->at != '\0' && *self->at != '\n' && *self->at != '\r')
    return kvasir_gbnf_fail (self, self->at, "more of the rule or a new line");
  return TRUE;
}

/* ---- the whole */

static gboolean
check_text (KvasirGbnfReader *self)
{
  const char *end;
  gsize len = strlen (self->text);
  if (len > KVASIR_GRAMMAR_MAX_BYTES)
    {
      g_set_error (self->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The grammar has %" G_GSIZE_FORMAT " bytes, at most %u are read", len,
                   KVASIR_GRAMMAR_MAX_BYTES);
      return FALSE;
    }
  if (!g_utf8_validate (self->text, (gssize) len, &end))
    return kvasir_gbnf_fail_with (self, end, "expected UTF-8, found the byte 0x%02X",
                                  (guint8) *end);
  return TRUE;
}

/* Places as people count them, in one walk over the text. */
static int
compare_places (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GArray *rules = user_data;
  guint32 x = g_array_index (rules, KvasirRule, *(const guint32 *) a).line;
  guint32 y = g_array_index (rules, KvasirRule, *(const guint32 *) b).line;
  return x < y ? -1 : x > y;
}

static void
locate_rules (KvasirGbnfReader *self)
{
  GArray *rules = self->grammar->rules;
  g_autoptr (GArray) order = g_array_sized_new (FALSE, FALSE, sizeof (guint32), rules->len);
  const char *from = self->text;
  guint line = 1;
  guint column = 1;
  for (guint32 i = 0; i < rules->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, compare_places, rules);
  for (guint i = 0; i < order->len; i++)
    {
      KvasirRule *rule = &g_array_index (rules, KvasirRule, g_array_index (order, guint32, i));
      guint n_lines;
      guint n_columns;
      const char *at = self->text + rule->line;
      kvasir_gbnf_locate (from, at, &n_lines, &n_columns);
      column = n_lines > 1 ? n_columns : column + n_columns - 1;
      line += n_lines - 1;
      from = at;
      rule->line = line;
      rule->column = column;
    }
}

static gboolean
parse (KvasirGbnfReader *self)
{
  if (!check_text (self))
    return FALSE;
  for (kvasir_gbnf_skip_space (self, TRUE); *self->at != '\0'; kvasir_gbnf_skip_space (self, TRUE))
    if (!read_rule (self))
      return FALSE;
  guint root = GPOINTER_TO_UINT (g_hash_table_lookup (self->rules, "root"));
  if (root == 0)
    return kvasir_gbnf_fail_with (self, self->at, "there is no rule called 'root'");
  self->grammar->root = root - 1;
  locate_rules (self);
  return TRUE;
}

gboolean
kvasir_gbnf_parse (KvasirGrammar *self, const char *text, const KvasirVocab *vocab, GError **error)
{
  KvasirGbnfReader reader = {
    .text = text,
    .at = text,
    .grammar = self,
    .vocab = vocab,
    .rules = g_hash_table_new (g_str_hash, g_str_equal),
    .sets = g_hash_table_new (NULL, NULL),
    .error = error,
  };
  gboolean ok = parse (&reader);
  g_hash_table_unref (reader.rules);
  g_hash_table_unref (reader.sets);
  return ok;
}
