/* Values and what follows them directly: members, indices, calls, filters, tests. */
#include "engine/template/callable.h"
#include "engine/template/parser.h"

/* Items up to @close, which is taken; a comma may be the last. */
static gboolean
parse_items (KvasirJinjaParser *self,
             KvasirJinjaNodes *items,
             KvasirJinjaTokenType close,
             gboolean pairs)
{
  while (self->token.type != close)
    {
      if (!kvasir_jinja_parser_add (self, items, kvasir_jinja_parse_expression (self, TRUE)))
        return FALSE;
      if (pairs &&
          (!kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_COLON) ||
           !kvasir_jinja_parser_add (self, items, kvasir_jinja_parse_expression (self, TRUE))))
        return FALSE;
      if (self->token.type != close && !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_COMMA))
        return FALSE;
    }
  return kvasir_jinja_parser_advance (self);
}

static KvasirJinjaNode *
parse_container (KvasirJinjaParser *self, KvasirJinjaNodeKind kind, KvasirJinjaTokenType close)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, kind);
  gboolean ok = kvasir_jinja_parser_advance (self) &&
                parse_items (self, &node->items, close, kind == KVASIR_JINJA_NODE_DICT);
  return ok ? node : NULL;
}

static KvasirJinjaNode *
parse_parens (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_TUPLE);
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  if (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_RPAREN))
    return node;
  node = kvasir_jinja_parse_tuple (self, TRUE);
  if (node == NULL || !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_RPAREN))
    return NULL;
  return node;
}

static gboolean
is_constant (KvasirJinjaParser *self, KvasirJinjaValue *value)
{
  static const struct
  {
    const char *name;
    KvasirJinjaValue value;
  } constants[] = {
    { "true", { KVASIR_JINJA_BOOL, .boolean = TRUE } },
    { "True", { KVASIR_JINJA_BOOL, .boolean = TRUE } },
    { "false", { KVASIR_JINJA_BOOL, .boolean = FALSE } },
    { "False", { KVASIR_JINJA_BOOL, .boolean = FALSE } },
    { "none", { KVASIR_JINJA_NONE } },
    { "None", { KVASIR_JINJA_NONE } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    if (kvasir_jinja_parser_is_name (self, constants[i].name))
      {
        *value = constants[i].value;
        return TRUE;
      }
  return FALSE;
}

/* A macro takes the special arguments that its body speaks of. */
static void
note_special_name (KvasirJinjaParser *self)
{
  if (self->macro == NULL)
    return;
  self->macro->takes_caller |= kvasir_jinja_parser_is_name (self, "caller");
  self->macro->takes_varargs |= kvasir_jinja_parser_is_name (self, "varargs");
  self->macro->takes_kwargs |= kvasir_jinja_parser_is_name (self, "kwargs");
}

static KvasirJinjaNode *
parse_name (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_NAME);
  if (is_constant (self, &node->value))
    node->kind = KVASIR_JINJA_NODE_CONST;
  else
    note_special_name (self);
  node->name = self->token.text;
  return kvasir_jinja_parser_advance (self) ? node : NULL;
}

/* A number, or one or more strings side by side. */
static KvasirJinjaNode *
parse_literal (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_CONST);
  if (self->token.type == KVASIR_JINJA_TOKEN_INTEGER)
    node->value = kvasir_jinja_int (self->token.integer);
  else if (self->token.type == KVASIR_JINJA_TOKEN_FLOAT)
    node->value = kvasir_jinja_float (self->token.number);
  if (self->token.type != KVASIR_JINJA_TOKEN_STRING)
    return kvasir_jinja_parser_advance (self) ? node : NULL;
  KvasirJinjaText *text = self->token.text;
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  while (text != NULL && self->token.type == KVASIR_JINJA_TOKEN_STRING)
    {
      text = kvasir_jinja_text_concat (self->heap, text, self->token.text);
      if (!kvasir_jinja_parser_advance (self))
        return NULL;
    }
  if (text == NULL)
    return NULL;
  /* Joined and hashed now, as renders of several threads will only read it. */
  kvasir_jinja_text_hash (self->heap, text);
  node->value = kvasir_jinja_text (text);
  return node;
}

KvasirJinjaNode *
kvasir_jinja_parse_primary (KvasirJinjaParser *self)
{
  switch (self->token.type)
    {
    case KVASIR_JINJA_TOKEN_NAME:
      return parse_name (self);
    case KVASIR_JINJA_TOKEN_STRING:
    case KVASIR_JINJA_TOKEN_INTEGER:
    case KVASIR_JINJA_TOKEN_FLOAT:
      return parse_literal (self);
    case KVASIR_JINJA_TOKEN_LPAREN:
      return parse_parens (self);
    case KVASIR_JINJA_TOKEN_LBRACKET:
      return parse_container (self, KVASIR_JINJA_NODE_LIST, KVASIR_JINJA_TOKEN_RBRACKET);
    case KVASIR_JINJA_TOKEN_LBRACE:
      return parse_container (self, KVASIR_JINJA_NODE_DICT, KVASIR_JINJA_TOKEN_RBRACE);
    default:
      kvasir_jinja_parser_fail (self, "expected an expression, found %s",
                                kvasir_jinja_token_name (self->token.type));
      return NULL;
    }
}

static gboolean
parse_star (KvasirJinjaParser *self, KvasirJinjaNode **star)
{
  if (*star != NULL)
    return kvasir_jinja_parser_fail (self, "a second * or ** argument");
  if (!kvasir_jinja_parser_advance (self))
    return FALSE;
  *star = kvasir_jinja_parse_expression (self, TRUE);
  return *star != NULL;
}

static gboolean
parse_keyword (KvasirJinjaParser *self, KvasirJinjaArgNodes *args)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_ATTR);
  node->name = self->token.text;
  if (!kvasir_jinja_parser_advance (self) || !kvasir_jinja_parser_advance (self))
    return FALSE;
  node->object = kvasir_jinja_parse_expression (self, TRUE);
  return node->object != NULL && kvasir_jinja_parser_add (self, &args->keywords, node);
}

static gboolean
parse_arg (KvasirJinjaParser *self, KvasirJinjaArgNodes *args)
{
  if (self->token.type == KVASIR_JINJA_TOKEN_MUL)
    return parse_star (self, &args->star);
  if (self->token.type == KVASIR_JINJA_TOKEN_POW)
    return parse_star (self, &args->stars);
  if (self->token.type == KVASIR_JINJA_TOKEN_NAME)
    {
      if (!kvasir_jinja_parser_peek (self))
        return FALSE;
      if (self->ahead.type == KVASIR_JINJA_TOKEN_ASSIGN)
        return parse_keyword (self, args);
    }
  if (args->keywords.n > 0 || args->star != NULL || args->stars != NULL)
    return kvasir_jinja_parser_fail (self, "a positional argument after a keyword or * argument");
  return kvasir_jinja_parser_add (self, &args->values, kvasir_jinja_parse_expression (self, TRUE));
}

/* "(...)": NULL with a failure. */
static KvasirJinjaArgNodes *
parse_args (KvasirJinjaParser *self)
{
  KvasirJinjaArgNodes *args = kvasir_jinja_heap_alloc (self->heap, sizeof *args);
  if (!kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_LPAREN))
    return NULL;
  while (self->token.type != KVASIR_JINJA_TOKEN_RPAREN)
    if (!parse_arg (self, args) || (self->token.type != KVASIR_JINJA_TOKEN_RPAREN &&
                                    !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_COMMA)))
      return NULL;
  return kvasir_jinja_parser_advance (self) ? args : NULL;
}

static KvasirJinjaNode *
parse_member (KvasirJinjaParser *self, KvasirJinjaNode *object)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_ATTR);
  node->object = object;
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  if (self->token.type == KVASIR_JINJA_TOKEN_INTEGER)
    {
      node->kind = KVASIR_JINJA_NODE_ITEM;
      return kvasir_jinja_parser_add (self, &node->items, parse_literal (self)) ? node : NULL;
    }
  node->name = kvasir_jinja_parser_expect_name (self);
  return node->name != NULL ? node : NULL;
}

/* The part of a slice before ":" or "]", none if it is left out or not @given. */
static KvasirJinjaNode *
parse_bound (KvasirJinjaParser *self, gboolean given)
{
  if (given && self->token.type != KVASIR_JINJA_TOKEN_COLON &&
      self->token.type != KVASIR_JINJA_TOKEN_RBRACKET)
    return kvasir_jinja_parse_expression (self, TRUE);
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_CONST);
  node->value = kvasir_jinja_none ();
  return node;
}

static gboolean
parse_bounds (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  node->kind = KVASIR_JINJA_NODE_SLICE;
  while (node->items.n < 3)
    {
      gboolean given = kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_COLON);
      if (!kvasir_jinja_parser_add (self, &node->items, parse_bound (self, given)))
        return FALSE;
    }
  return TRUE;
}

static KvasirJinjaNode *
parse_subscript (KvasirJinjaParser *self, KvasirJinjaNode *object)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_ITEM);
  node->object = object;
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  KvasirJinjaNode *first = self->token.type == KVASIR_JINJA_TOKEN_COLON
                               ? parse_bound (self, TRUE)
                               : kvasir_jinja_parse_tuple (self, TRUE);
  if (!kvasir_jinja_parser_add (self, &node->items, first))
    return NULL;
  if (self->token.type == KVASIR_JINJA_TOKEN_COLON && !parse_bounds (self, node))
    return NULL;
  return kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_RBRACKET) ? node : NULL;
}

static KvasirJinjaNode *
parse_call (KvasirJinjaParser *self, KvasirJinjaNode *object)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_CALL);
  node->object = object;
  node->args = parse_args (self);
  return node->args != NULL ? node : NULL;
}

KvasirJinjaNode *
kvasir_jinja_parse_postfix (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  while (node != NULL)
    {
      if (self->token.type == KVASIR_JINJA_TOKEN_DOT)
        node = parse_member (self, node);
      else if (self->token.type == KVASIR_JINJA_TOKEN_LBRACKET)
        node = parse_subscript (self, node);
      else if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN)
        node = parse_call (self, node);
      else
        break;
    }
  return node;
}

KvasirJinjaNode *
kvasir_jinja_parse_filter (KvasirJinjaParser *self, KvasirJinjaNode *object)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_FILTER);
  node->object = object;
  node->name = kvasir_jinja_parser_expect_name (self);
  if (node->name == NULL)
    return NULL;
  node->builtin = kvasir_jinja_find_filter (self->heap, node->name);
  if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN && (node->args = parse_args (self)) == NULL)
    return NULL;
  return node;
}

/* A test's argument may stand without parentheses. */
static gboolean
starts_bare_argument (KvasirJinjaParser *self)
{
  static const char *const not_arguments[] = { "else", "or", "and", "if", "not" };
  for (guint i = 0; i < G_N_ELEMENTS (not_arguments); i++)
    if (kvasir_jinja_parser_is_name (self, not_arguments[i]))
      return FALSE;
  switch (self->token.type)
    {
    case KVASIR_JINJA_TOKEN_NAME:
    case KVASIR_JINJA_TOKEN_STRING:
    case KVASIR_JINJA_TOKEN_INTEGER:
    case KVASIR_JINJA_TOKEN_FLOAT:
    case KVASIR_JINJA_TOKEN_LBRACKET:
    case KVASIR_JINJA_TOKEN_LBRACE:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
parse_test_args (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN)
    {
      node->args = parse_args (self);
      return node->args != NULL;
    }
  if (!starts_bare_argument (self))
    return TRUE;
  if (kvasir_jinja_parser_is_name (self, "is"))
    return kvasir_jinja_parser_fail (self, "tests with 'is' cannot follow each other");
  node->args = kvasir_jinja_heap_alloc (self->heap, sizeof *node->args);
  KvasirJinjaNode *argument = kvasir_jinja_parse_primary (self);
  return kvasir_jinja_parser_add (self, &node->args->values,
                                  kvasir_jinja_parse_postfix (self, argument));
}

static KvasirJinjaNode *
parse_test (KvasirJinjaParser *self, KvasirJinjaNode *object)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_TEST);
  node->object = object;
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  KvasirJinjaNode *negated = NULL;
  if (kvasir_jinja_parser_is_name (self, "not"))
    negated = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_NOT);
  if (negated != NULL && !kvasir_jinja_parser_advance (self))
    return NULL;
  node->name = kvasir_jinja_parser_expect_name (self);
  if (node->name == NULL || !parse_test_args (self, node))
    return NULL;
  node->builtin = kvasir_jinja_find_test (self->heap, node->name);
  if (negated == NULL)
    return node;
  negated->object = node;
  return negated;
}

KvasirJinjaNode *
kvasir_jinja_parse_filters (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  while (node != NULL)
    {
      if (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_PIPE))
        node = kvasir_jinja_parse_filter (self, node);
      else if (kvasir_jinja_parser_is_name (self, "is"))
        node = parse_test (self, node);
      else if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN)
        node = parse_call (self, node);
      else
        break;
    }
  return node;
}
