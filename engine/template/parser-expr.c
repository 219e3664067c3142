/* Operators, from the weakest to the strongest: if, or, and, not, comparisons, + -, ~, * / // %,
 * **, signs. As in Jinja, ** groups from the left and a sign binds tighter than it. */
#include "engine/template/parser.h"

typedef struct
{
  KvasirJinjaTokenType token;
  KvasirJinjaOp op;
  guint level;
} ChainOperator;

#define N_CHAIN_LEVELS 4

static const ChainOperator chain_operators[] = {
  { KVASIR_JINJA_TOKEN_ADD, KVASIR_JINJA_OP_ADD, 0 },
  { KVASIR_JINJA_TOKEN_SUB, KVASIR_JINJA_OP_SUB, 0 },
  { KVASIR_JINJA_TOKEN_TILDE, KVASIR_JINJA_OP_JOIN, 1 },
  { KVASIR_JINJA_TOKEN_MUL, KVASIR_JINJA_OP_MUL, 2 },
  { KVASIR_JINJA_TOKEN_DIV, KVASIR_JINJA_OP_DIV, 2 },
  { KVASIR_JINJA_TOKEN_FLOORDIV, KVASIR_JINJA_OP_FLOORDIV, 2 },
  { KVASIR_JINJA_TOKEN_MOD, KVASIR_JINJA_OP_MOD, 2 },
  { KVASIR_JINJA_TOKEN_POW, KVASIR_JINJA_OP_POW, 3 },
};

static const struct
{
  KvasirJinjaTokenType token;
  KvasirJinjaOp op;
} comparisons[] = {
  { KVASIR_JINJA_TOKEN_EQ, KVASIR_JINJA_OP_EQ }, { KVASIR_JINJA_TOKEN_NE, KVASIR_JINJA_OP_NE },
  { KVASIR_JINJA_TOKEN_LT, KVASIR_JINJA_OP_LT }, { KVASIR_JINJA_TOKEN_LE, KVASIR_JINJA_OP_LE },
  { KVASIR_JINJA_TOKEN_GT, KVASIR_JINJA_OP_GT }, { KVASIR_JINJA_TOKEN_GE, KVASIR_JINJA_OP_GE },
};

typedef KvasirJinjaNode *(*ParseFunc) (KvasirJinjaParser *self);

static KvasirJinjaNode *
parse_unary (KvasirJinjaParser *self, gboolean with_filters)
{
  KvasirJinjaNode *node;
  if (self->token.type == KVASIR_JINJA_TOKEN_SUB || self->token.type == KVASIR_JINJA_TOKEN_ADD)
    {
      node = kvasir_jinja_parser_node (self, self->token.type == KVASIR_JINJA_TOKEN_SUB
                                                 ? KVASIR_JINJA_NODE_NEGATE
                                                 : KVASIR_JINJA_NODE_PLUS);
      if (!kvasir_jinja_parser_advance (self) || !kvasir_jinja_heap_enter (self->heap))
        return NULL;
      node->object = parse_unary (self, FALSE);
      kvasir_jinja_heap_leave (self->heap);
      if (node->object == NULL)
        return NULL;
    }
  else
    node = kvasir_jinja_parse_primary (self);
  node = kvasir_jinja_parse_postfix (self, node);
  return with_filters ? kvasir_jinja_parse_filters (self, node) : node;
}

static gboolean
add_op (KvasirJinjaParser *self, KvasirJinjaNode *node, KvasirJinjaOp op)
{
  gpointer ops = kvasir_jinja_heap_grow (self->heap, node->ops, node->n_ops + 1, sizeof op,
                                         &node->ops_capacity);
  if (ops == NULL)
    return FALSE;
  node->ops = ops;
  node->ops[node->n_ops++] = op;
  return TRUE;
}

static const ChainOperator *
find_chain_operator (KvasirJinjaParser *self, guint level)
{
  for (guint i = 0; i < G_N_ELEMENTS (chain_operators); i++)
    if (chain_operators[i].token == self->token.type && chain_operators[i].level == level)
      return &chain_operators[i];
  return NULL;
}

static KvasirJinjaNode *
parse_chain (KvasirJinjaParser *self, guint level)
{
  if (level == N_CHAIN_LEVELS)
    return parse_unary (self, TRUE);
  KvasirJinjaNode *first = parse_chain (self, level + 1);
  if (first == NULL || find_chain_operator (self, level) == NULL)
    return first;
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_CHAIN);
  gboolean ok = kvasir_jinja_parser_add (self, &node->items, first);
  const ChainOperator *op;
  while (ok && (op = find_chain_operator (self, level)) != NULL)
    ok = add_op (self, node, op->op) && kvasir_jinja_parser_advance (self) &&
         kvasir_jinja_parser_add (self, &node->items, parse_chain (self, level + 1));
  return ok ? node : NULL;
}

/* Takes a comparison operator, if there is one. */
static gboolean
take_comparison (KvasirJinjaParser *self, KvasirJinjaOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (comparisons); i++)
    if (kvasir_jinja_parser_skip (self, comparisons[i].token))
      {
        *op = comparisons[i].op;
        return TRUE;
      }
  if (kvasir_jinja_parser_skip_name (self, "in"))
    {
      *op = KVASIR_JINJA_OP_IN;
      return TRUE;
    }
  if (!kvasir_jinja_parser_is_name (self, "not") || !kvasir_jinja_parser_peek (self) ||
      self->ahead.type != KVASIR_JINJA_TOKEN_NAME ||
      !kvasir_jinja_text_is (self->heap, self->ahead.text, "in"))
    return FALSE;
  *op = KVASIR_JINJA_OP_NOT_IN;
  return kvasir_jinja_parser_advance (self) && kvasir_jinja_parser_advance (self);
}

static KvasirJinjaNode *
parse_compare (KvasirJinjaParser *self)
{
  KvasirJinjaNode *first = parse_chain (self, 0);
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_COMPARE);
  KvasirJinjaOp op;
  if (first == NULL || !take_comparison (self, &op))
    return first;
  if (!kvasir_jinja_parser_add (self, &node->items, first))
    return NULL;
  do
    if (!add_op (self, node, op) ||
        !kvasir_jinja_parser_add (self, &node->items, parse_chain (self, 0)))
      return NULL;
  while (take_comparison (self, &op));
  return node;
}

static KvasirJinjaNode *
parse_not (KvasirJinjaParser *self)
{
  if (!kvasir_jinja_parser_is_name (self, "not"))
    return parse_compare (self);
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_NOT);
  if (!kvasir_jinja_parser_advance (self) || !kvasir_jinja_heap_enter (self->heap))
    return NULL;
  node->object = parse_not (self);
  kvasir_jinja_heap_leave (self->heap);
  return node->object != NULL ? node : NULL;
}

/* @part joined by the word @name. */
static KvasirJinjaNode *
parse_logic (KvasirJinjaParser *self, const char *name, KvasirJinjaNodeKind kind, ParseFunc part)
{
  KvasirJinjaNode *first = part (self);
  if (first == NULL || !kvasir_jinja_parser_is_name (self, name))
    return first;
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, kind);
  gboolean ok = kvasir_jinja_parser_add (self, &node->items, first);
  while (ok && kvasir_jinja_parser_skip_name (self, name))
    ok = kvasir_jinja_parser_add (self, &node->items, part (self));
  return ok ? node : NULL;
}

static KvasirJinjaNode *
parse_and (KvasirJinjaParser *self)
{
  return parse_logic (self, "and", KVASIR_JINJA_NODE_AND, parse_not);
}

static KvasirJinjaNode *
parse_or (KvasirJinjaParser *self)
{
  return parse_logic (self, "or", KVASIR_JINJA_NODE_OR, parse_and);
}

static KvasirJinjaNode *
parse_cond (KvasirJinjaParser *self)
{
  KvasirJinjaNode *then = parse_or (self);
  while (then != NULL && kvasir_jinja_parser_is_name (self, "if"))
    {
      KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_COND);
      if (!kvasir_jinja_parser_advance (self) ||
          !kvasir_jinja_parser_add (self, &node->items, parse_or (self)) ||
          !kvasir_jinja_parser_add (self, &node->items, then))
        return NULL;
      if (kvasir_jinja_parser_skip_name (self, "else") &&
          !kvasir_jinja_parser_add (self, &node->items, kvasir_jinja_parse_expression (self, TRUE)))
        return NULL;
      then = node;
    }
  return self->heap->failure == NULL ? then : NULL;
}

KvasirJinjaNode *
kvasir_jinja_parse_expression (KvasirJinjaParser *self, gboolean with_cond)
{
  if (!kvasir_jinja_heap_enter (self->heap))
    return NULL;
  KvasirJinjaNode *node = with_cond ? parse_cond (self) : parse_or (self);
  kvasir_jinja_heap_leave (self->heap);
  return node;
}

/* Whether a tuple cannot go on here: a comma may be its last token. */
static gboolean
at_tuple_end (KvasirJinjaParser *self)
{
  return self->token.type == KVASIR_JINJA_TOKEN_PRINT_END ||
         self->token.type == KVASIR_JINJA_TOKEN_BLOCK_END ||
         self->token.type == KVASIR_JINJA_TOKEN_RPAREN ||
         kvasir_jinja_parser_is_name (self, "recursive");
}

KvasirJinjaNode *
kvasir_jinja_parse_tuple (KvasirJinjaParser *self, gboolean with_cond)
{
  KvasirJinjaNode *tuple = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_TUPLE);
  KvasirJinjaNode *first = kvasir_jinja_parse_expression (self, with_cond);
  if (first == NULL || self->token.type != KVASIR_JINJA_TOKEN_COMMA)
    return first;
  gboolean ok = kvasir_jinja_parser_add (self, &tuple->items, first);
  while (ok && kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_COMMA) && !at_tuple_end (self))
    ok = kvasir_jinja_parser_add (self, &tuple->items,
                                  kvasir_jinja_parse_expression (self, with_cond));
  return ok && self->heap->failure == NULL ? tuple : NULL;
}
