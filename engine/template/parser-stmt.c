/* Statements, and blocks of text, print tags and statements. */
#include "engine/template/parser.h"

static const char *const until_endfor[] = { "endfor", NULL };
static const char *const until_else_endfor[] = { "else", "endfor", NULL };
static const char *const until_endif[] = { "endif", NULL };
static const char *const until_elif_else_endif[] = { "elif", "else", "endif", NULL };

/* The end of the tag, and the block behind it up to one of @ends. */
static gboolean
parse_body (KvasirJinjaParser *self, KvasirJinjaNodes *nodes, const char *const *ends)
{
  kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_COLON);
  return kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_BLOCK_END) &&
         kvasir_jinja_parser_add (self, nodes, kvasir_jinja_parse_block (self, ends));
}

gboolean
kvasir_jinja_parser_end_block (KvasirJinjaParser *self, KvasirJinjaNodes *nodes, const char *end)
{
  const char *const ends[] = { end, NULL };
  return parse_body (self, nodes, ends) && kvasir_jinja_parser_advance (self);
}

static gboolean
parse_branches (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  for (;;)
    {
      if (!kvasir_jinja_parser_add (self, &node->items, kvasir_jinja_parse_tuple (self, FALSE)) ||
          !parse_body (self, &node->items, until_elif_else_endif))
        return FALSE;
      if (!kvasir_jinja_parser_skip_name (self, "elif"))
        break;
    }
  if (!kvasir_jinja_parser_skip_name (self, "else"))
    return TRUE;
  /* The test of "else" is left empty. */
  if (!kvasir_jinja_parser_add (self, &node->items, node))
    return FALSE;
  node->items.items[node->items.n - 1] = NULL;
  return parse_body (self, &node->items, until_endif);
}

static KvasirJinjaNode *
parse_if (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_IF);
  if (!parse_branches (self, node) || !kvasir_jinja_parser_advance (self))
    return NULL;
  return node;
}

/* The loop's target, iterable and filter. */
static gboolean
parse_for_head (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  node->target = kvasir_jinja_parse_target (self, FALSE);
  if (node->target == NULL)
    return FALSE;
  if (!kvasir_jinja_parser_skip_name (self, "in"))
    return kvasir_jinja_parser_fail (self, "expected 'in', found %s",
                                     kvasir_jinja_token_name (self->token.type));
  if (!kvasir_jinja_parser_add (self, &node->items, kvasir_jinja_parse_tuple (self, FALSE)))
    return FALSE;
  if (!kvasir_jinja_parser_skip_name (self, "if"))
    return TRUE;
  node->object = kvasir_jinja_parse_expression (self, TRUE);
  return node->object != NULL;
}

static gboolean
parse_for_bodies (KvasirJinjaParser *self, KvasirJinjaNode *node)
{
  self->n_loops++;
  gboolean ok = parse_body (self, &node->items, until_else_endfor);
  self->n_loops--;
  if (ok && kvasir_jinja_parser_skip_name (self, "else"))
    ok = parse_body (self, &node->items, until_endfor);
  return ok && kvasir_jinja_parser_advance (self);
}

static KvasirJinjaNode *
parse_for (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_FOR);
  if (!parse_for_head (self, node))
    return NULL;
  if (kvasir_jinja_parser_is_name (self, "recursive"))
    {
      kvasir_jinja_parser_fail (self, "recursive loops are not supported");
      return NULL;
    }
  return parse_for_bodies (self, node) ? node : NULL;
}

static KvasirJinjaNode *
parse_set (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_SET);
  node->target = kvasir_jinja_parse_target (self, TRUE);
  if (node->target == NULL)
    return NULL;
  if (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_ASSIGN))
    {
      node->object = kvasir_jinja_parse_tuple (self, TRUE);
      return node->object != NULL ? node : NULL;
    }
  node->kind = KVASIR_JINJA_NODE_SET_BLOCK;
  while (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_PIPE))
    if ((node->object = kvasir_jinja_parse_filter (self, node->object)) == NULL)
      return NULL;
  return kvasir_jinja_parser_end_block (self, &node->items, "endset") ? node : NULL;
}

static KvasirJinjaNode *
parse_filter_block (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_FILTER_BLOCK);
  do
    if ((node->object = kvasir_jinja_parse_filter (self, node->object)) == NULL)
      return NULL;
  while (kvasir_jinja_parser_skip (self, KVASIR_JINJA_TOKEN_PIPE));
  return kvasir_jinja_parser_end_block (self, &node->items, "endfilter") ? node : NULL;
}

static KvasirJinjaNode *
parse_with (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_WITH);
  while (self->token.type != KVASIR_JINJA_TOKEN_BLOCK_END)
    {
      if (node->items.n > 0 && !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_COMMA))
        return NULL;
      KvasirJinjaNode *target = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_NAME);
      target->name = kvasir_jinja_parser_expect_name (self);
      if (target->name == NULL || !kvasir_jinja_parser_add (self, &node->items, target) ||
          !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_ASSIGN) ||
          !kvasir_jinja_parser_add (self, &node->items, kvasir_jinja_parse_expression (self, TRUE)))
        return NULL;
    }
  return kvasir_jinja_parser_end_block (self, &node->items, "endwith") ? node : NULL;
}

/* Marks what a model is trained on; for rendering only its scope matters. */
static KvasirJinjaNode *
parse_generation (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_SCOPE);
  return kvasir_jinja_parser_end_block (self, &node->items, "endgeneration") ? node : NULL;
}

static KvasirJinjaNode *
parse_loop_control (KvasirJinjaParser *self, KvasirJinjaNodeKind kind)
{
  if (self->n_loops > 0)
    return kvasir_jinja_parser_node (self, kind);
  kvasir_jinja_parser_fail (self, "'%s' outside of a loop",
                            kind == KVASIR_JINJA_NODE_BREAK ? "break" : "continue");
  return NULL;
}

static KvasirJinjaNode *
parse_break (KvasirJinjaParser *self)
{
  return parse_loop_control (self, KVASIR_JINJA_NODE_BREAK);
}

static KvasirJinjaNode *
parse_continue (KvasirJinjaParser *self)
{
  return parse_loop_control (self, KVASIR_JINJA_NODE_CONTINUE);
}

/* At the tag's name; the statement's closing "%}" is left to the caller. */
static KvasirJinjaNode *
parse_statement (KvasirJinjaParser *self)
{
  static const struct
  {
    const char *name;
    KvasirJinjaNode *(*parse) (KvasirJinjaParser *self);
  } statements[] = {
    { "if", parse_if },
    { "for", parse_for },
    { "set", parse_set },
    { "macro", kvasir_jinja_parse_macro },
    { "call", kvasir_jinja_parse_call_block },
    { "filter", parse_filter_block },
    { "with", parse_with },
    { "generation", parse_generation },
    { "break", parse_break },
    { "continue", parse_continue },
  };
  for (guint i = 0; i < G_N_ELEMENTS (statements); i++)
    if (kvasir_jinja_parser_is_name (self, statements[i].name))
      return kvasir_jinja_parser_advance (self) ? statements[i].parse (self) : NULL;
  if (self->token.type == KVASIR_JINJA_TOKEN_NAME)
    kvasir_jinja_parser_fail (self, "the tag '%.*s' is unknown here", (int) self->token.text->len,
                              self->token.text->bytes);
  else
    kvasir_jinja_parser_fail (self, "expected the name of a tag, found %s",
                              kvasir_jinja_token_name (self->token.type));
  return NULL;
}

static KvasirJinjaNode *
parse_print (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_OUTPUT);
  if (!kvasir_jinja_parser_advance (self))
    return NULL;
  node->object = kvasir_jinja_parse_tuple (self, TRUE);
  if (node->object == NULL || !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_PRINT_END))
    return NULL;
  return node;
}

static KvasirJinjaNode *
parse_data (KvasirJinjaParser *self)
{
  KvasirJinjaNode *node = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_DATA);
  node->value = kvasir_jinja_text (self->token.text);
  return kvasir_jinja_parser_advance (self) ? node : NULL;
}

static gboolean
at_end (KvasirJinjaParser *self, const char *const *ends)
{
  for (guint i = 0; ends != NULL && ends[i] != NULL; i++)
    if (kvasir_jinja_parser_is_name (self, ends[i]))
      return TRUE;
  return FALSE;
}

/* One piece of a block. *@done is set, and nothing given, at the block's end. */
static KvasirJinjaNode *
parse_piece (KvasirJinjaParser *self, const char *const *ends, gboolean *done)
{
  if (self->token.type == KVASIR_JINJA_TOKEN_DATA)
    return parse_data (self);
  if (self->token.type == KVASIR_JINJA_TOKEN_PRINT_BEGIN)
    return parse_print (self);
  if (!kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_BLOCK_BEGIN))
    return NULL;
  *done = at_end (self, ends);
  if (*done)
    return NULL;
  KvasirJinjaNode *node = parse_statement (self);
  if (node == NULL || !kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_BLOCK_END))
    return NULL;
  return node;
}

KvasirJinjaNode *
kvasir_jinja_parse_block (KvasirJinjaParser *self, const char *const *ends)
{
  KvasirJinjaNode *block = kvasir_jinja_parser_node (self, KVASIR_JINJA_NODE_BLOCK);
  if (!kvasir_jinja_heap_enter (self->heap))
    return NULL;
  gboolean done = FALSE;
  gboolean ok = TRUE;
  while (ok && !done && self->token.type != KVASIR_JINJA_TOKEN_END)
    {
      KvasirJinjaNode *piece = parse_piece (self, ends, &done);
      ok = done || kvasir_jinja_parser_add (self, &block->items, piece);
    }
  kvasir_jinja_heap_leave (self->heap);
  if (ok && !done && ends != NULL)
    ok = kvasir_jinja_parser_fail (self, "the template ends before '%s'", ends[0]);
  return ok && self->heap->failure == NULL ? block : NULL;
}
