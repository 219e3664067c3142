#include "engine/template/parser.h"

gboolean
kvasir_jinja_parser_fail (KvasirJinjaParser *self, const char *format, ...)
{
  if (self->heap->failure != NULL)
    return FALSE;
  self->fail_offset = self->token.offset;
  va_list args;
  va_start (args, format);
  self->heap->failure = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

static gboolean
lex (KvasirJinjaParser *self, KvasirJinjaToken *token)
{
  if (kvasir_jinja_lexer_next (&self->lexer, token))
    return TRUE;
  self->fail_offset = self->lexer.fail_offset;
  token->type = KVASIR_JINJA_TOKEN_END;
  return FALSE;
}

gboolean
kvasir_jinja_parser_advance (KvasirJinjaParser *self)
{
  if (!self->has_ahead)
    return lex (self, &self->token);
  self->token = self->ahead;
  self->has_ahead = FALSE;
  return TRUE;
}

gboolean
kvasir_jinja_parser_peek (KvasirJinjaParser *self)
{
  if (!self->has_ahead)
    self->has_ahead = lex (self, &self->ahead);
  return self->has_ahead;
}

gboolean
kvasir_jinja_parser_is_name (KvasirJinjaParser *self, const char *name)
{
  return self->token.type == KVASIR_JINJA_TOKEN_NAME &&
         kvasir_jinja_text_is (self->heap, self->token.text, name);
}

gboolean
kvasir_jinja_parser_skip (KvasirJinjaParser *self, KvasirJinjaTokenType type)
{
  return self->token.type == type && kvasir_jinja_parser_advance (self);
}

gboolean
kvasir_jinja_parser_skip_name (KvasirJinjaParser *self, const char *name)
{
  return kvasir_jinja_parser_is_name (self, name) && kvasir_jinja_parser_advance (self);
}

gboolean
kvasir_jinja_parser_expect (KvasirJinjaParser *self, KvasirJinjaTokenType type)
{
  if (self->token.type != type)
    return kvasir_jinja_parser_fail (self, "expected %s, found %s", kvasir_jinja_token_name (type),
                                     kvasir_jinja_token_name (self->token.type));
  return kvasir_jinja_parser_advance (self);
}

KvasirJinjaText *
kvasir_jinja_parser_expect_name (KvasirJinjaParser *self)
{
  KvasirJinjaText *name = self->token.text;
  return kvasir_jinja_parser_expect (self, KVASIR_JINJA_TOKEN_NAME) ? name : NULL;
}

KvasirJinjaNode *
kvasir_jinja_parser_node (KvasirJinjaParser *self, KvasirJinjaNodeKind kind)
{
  KvasirJinjaNode *node = kvasir_jinja_heap_alloc (self->heap, sizeof *node);
  node->kind = kind;
  node->offset = self->token.offset;
  return node;
}

gboolean
kvasir_jinja_parser_add (KvasirJinjaParser *self, KvasirJinjaNodes *nodes, KvasirJinjaNode *node)
{
  if (node == NULL)
    return FALSE;
  gpointer items = kvasir_jinja_heap_grow (self->heap, nodes->items, nodes->n + 1, sizeof node,
                                           &nodes->capacity);
  if (items == NULL)
    return FALSE;
  nodes->items = items;
  nodes->items[nodes->n++] = node;
  return kvasir_jinja_heap_step (self->heap, 1);
}

KvasirJinjaNode *
kvasir_jinja_parse (KvasirJinjaHeap *heap, const char *source, guint len, guint *fail_offset)
{
  KvasirJinjaParser parser = { .heap = heap };
  kvasir_jinja_lexer_init (&parser.lexer, heap, source, len);
  KvasirJinjaNode *root = NULL;
  if (kvasir_jinja_parser_advance (&parser))
    root = kvasir_jinja_parse_block (&parser, NULL);
  /* Limits that are hit do not know where they are. */
  *fail_offset = parser.fail_offset != 0 ? parser.fail_offset : parser.token.offset;
  return heap->failure == NULL ? root : NULL;
}
