/* Targets of assignments, and macros with their parameters. */
#include "engine/template/parser.h"

static KvasirJinjaNode *parse_targets (KvasirJinjaParser *self, gboolean with_namespace);

static KvasirJinjaNode *
parse_group (KvasirJinjaParser *self)
{
  if (!kvasir_jinja_parser_advance (self) || !kvasir_jinja_heap_enter (self->heap))
    return NULL;
  KvasirJinjaNode *node = parse_targets (self, FALSE);
  kvasir_jinja_heap_leave (self->heap);
  if (node == NULL || !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_RPAREN))
    return NULL;
  return node;
}

static KvasirJinjaNode *
parse_one (KvasirJinjaParser *self, gboolean with_namespace)
{
  static const char *const reserved[] = { "true", "false", "none", "True", "False", "None" };
  if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN)
    return parse_group (self);
  for (guint i = 0; i < G_N_ELEMENTS (reserved); i++)
    if (kvasir_jinja_parser_is_name (self, reserved[i]))
      {
        kvasir_jinja_parser_fail (self, "'%s' cannot be assigned to", reserved[i]);
        return NULL;
      }
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_NAME);
  node->name = kvasir_jinja_parser_expect_name (self);
  if (node->name == NULL)
    return NULL;
  if (!with_namespace || self->token.type != KVASIR_JINJA_TOKEN_DOT)
    return node;
  KvasirJinjaNode *member = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_ATTR);
  member->object = node;
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  member->name = kvasir_jinja_parser_expect_name (self);
  return member->name != NULL ? member : NULL;
}

static KvasirJinjaNode *
parse_targets (KvasirJinjaParser *self, gboolean with_namespace)
{
  KvasirJinjaNode *tuple = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_TUPLE);
  KvasirJinjaNode *first = parse_one (self, with_namespace);
  if (first == NULL || self->token.type != KVASIR_JINJA_TOKEN_COMMA)
    return first;
  gboolean ok = kvasir_jinja_parser_add (self, &tuple->items, first);
  while (ok && kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_COMMA))
    ok = kvasir_jinja_parser_add (self, &tuple->items, parse_one (self, with_namespace));
  return ok && self->heap->failure == NULL ? tuple : NULL;
}

KvasirJinjaNode *
kvasir_jinja_parse_target (KvasirJinjaParser *self, gboolean with_namespace)
{
  return parse_targets (self, with_namespace);
}

static gboolean
parse_param (KvasirJinjaParser *self, KvasirJinjaMacro *macro)
{
  KvasirJinjaNode *param = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_ATTR);
  param->name = kvasir_jinja_parser_expect_name (self);
  if (param->name == NULL)
    return FALSE;
  guint n = macro->params.n;
  if (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_ASSIGN))
    {
      param->object = kvasir_jinja_parse_expression (self, TRUE);
      if (param->object == NULL)
        return FALSE;
    }
  else if (n > 0 && macro->params.items[n - 1]->object != NULL)
    return kvasir_jinja_parser_fail (self, "a parameter without default after one with");
  return kvasir_jinja_parser_add (self, &macro->params, param);
}

static gboolean
parse_params (KvasirJinjaParser *self, KvasirJinjaMacro *macro)
{
  if (!kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_LPAREN))
    return FALSE;
  while (self->token.type != KVASIR_JINJA_TOKEN_RPAREN)
    if ((macro->params.n > 0 && !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_COMMA)) ||
        !parse_param (self, macro))
      return FALSE;
  return kvasir_jinja_parser_advance (self);
}

/* The body is a world of its own for break, continue and the special names. */
static gboolean
parse_body (KvasirJinjaParser *self, KvasirJinjaMacro *macro, const char *end)
{
  KvasirJinjaMacro *outer = self->macro;
  guint n_loops = self->n_loops;
  KvasirJinjaNodes block = { 0 };
  self->macro = macro;
  self->n_loops = 0;
  gboolean ok = kvasir_jinja_parser_end_block (self, &block, end);
  self->macro = outer;
  self->n_loops = n_loops;
  if (!ok)
    return FALSE;
  macro->body = block.items[0];
  if (outer != NULL)
    {
      outer->takes_caller |= macro->takes_caller;
      outer->takes_varargs |= macro->takes_varargs;
      outer->takes_kwargs |= macro->takes_kwargs;
    }
  return TRUE;
}

KvasirJinjaNode *
kvasir_jinja_parse_macro (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_MACRO);
  node->macro = kvasir_jinja_heap_alloc (self->heap, sizeof *node->macro);
  node->name = kvasir_jinja_parser_expect_name (self);
  node->macro->name = node->name;
  if (node->name == NULL || !parse_params (self, node->macro) ||
      !parse_body (self, node->macro, "endmacro"))
    return NULL;
  return node;
}

KvasirJinjaNode *
kvasir_jinja_parse_call_block (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_CALL_BLOCK);
  node->macro = kvasir_jinja_heap_alloc (self->heap, sizeof *node->macro);
  if (self->token.type == KVASIR_JINJA_TOKEN_LPAREN && !parse_params (self, node->macro))
    return NULL;
  node->object = kvasir_jinja_parse_expression (self, TRUE);
  if (node->object == NULL)
    return NULL;
  if (node->object->kind != KVASIR_JINJA_NODE_CALL)
    {
      kvasir_jinja_parser_fail (self, "a call block needs the call of a macro");
      return NULL;
    }
  return parse_body (self, node->macro, "endcall") ? node : NULL;
}
