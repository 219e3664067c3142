/* engine/template/parser.h - tokens to a tree
 *
 * Owner:  kvasir_template_new(), on its stack. Thread: one.
 * Recursive descent; every level of nesting is counted in the heap, so that no source can overflow
 * the C stack. Functions give NULL (or FALSE) with a failure in the heap.
 */
#pragma once

#include "engine/template/ast.h"
#include "engine/template/lexer.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirJinjaHeap *heap;
  KvasirJinjaLexer lexer;
  KvasirJinjaToken token; /* the current one */
  KvasirJinjaToken ahead; /* the one after it, if @has_ahead */
  gboolean has_ahead;
  guint n_loops;           /* loops around the current statement, within its macro */
  KvasirJinjaMacro *macro; /* (nullable): the innermost around it */
  guint fail_offset;
} KvasirJinjaParser;

/* The whole template as a BLOCK; on failure @fail_offset says where in the source. */
KvasirJinjaNode *
kvasir_jinja_parse (KvasirJinjaHeap *heap, const char *source, guint len, guint *fail_offset);

/* For the parts of the parser. */
gboolean kvasir_jinja_parser_fail (KvasirJinjaParser *self, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
gboolean kvasir_jinja_parser_advance (KvasirJinjaParser *self);
gboolean kvasir_jinja_parser_peek (KvasirJinjaParser *self);
gboolean kvasir_jinja_parser_is_name (KvasirJinjaParser *self, const char *name);
/* Takes the token if it is this one; FALSE also on failure, which the next expect reports. */
gboolean kvasir_jinja_parser_skip (KvasirJinjaParser *self, KvasirJinjaTokenType type);
gboolean kvasir_jinja_parser_skip_name (KvasirJinjaParser *self, const char *name);
gboolean kvasir_jinja_parser_expect (KvasirJinjaParser *self, KvasirJinjaTokenType type);
/* Takes a name token, whatever the name. */
KvasirJinjaText *kvasir_jinja_parser_expect_name (KvasirJinjaParser *self);
KvasirJinjaNode *kvasir_jinja_parser_node (KvasirJinjaParser *self, KvasirJinjaNodeKind kind);
/* Appends @node, which may be NULL after a failure. */
gboolean
kvasir_jinja_parser_add (KvasirJinjaParser *self, KvasirJinjaNodes *nodes, KvasirJinjaNode *node);

/* parser-expr.c; @with_cond: "a if b" is part of the expression. */
KvasirJinjaNode *kvasir_jinja_parse_expression (KvasirJinjaParser *self, gboolean with_cond);
/* One expression, or several with commas between as a TUPLE. */
KvasirJinjaNode *kvasir_jinja_parse_tuple (KvasirJinjaParser *self, gboolean with_cond);
/* parser-postfix.c: a name, literal, list, dict or parenthesis */
KvasirJinjaNode *kvasir_jinja_parse_primary (KvasirJinjaParser *self);
/* What follows a value directly: .name, [index], (arguments). */
KvasirJinjaNode *kvasir_jinja_parse_postfix (KvasirJinjaParser *self, KvasirJinjaNode *node);
/* What binds a little weaker: |filter, is test. */
KvasirJinjaNode *kvasir_jinja_parse_filters (KvasirJinjaParser *self, KvasirJinjaNode *node);
/* One filter, at its name; @node NULL: on the text of a block. */
KvasirJinjaNode *kvasir_jinja_parse_filter (KvasirJinjaParser *self, KvasirJinjaNode *node);
/* parser-stmt.c: statements up to one of the block names in @ends, which becomes the token. */
KvasirJinjaNode *kvasir_jinja_parse_block (KvasirJinjaParser *self, const char *const *ends);
/* parser-target.c: what can be assigned to */
KvasirJinjaNode *kvasir_jinja_parse_target (KvasirJinjaParser *self, gboolean with_namespace);
/* "(a, b=1)" and the body up to @end. */
KvasirJinjaNode *kvasir_jinja_parse_macro (KvasirJinjaParser *self);
KvasirJinjaNode *kvasir_jinja_parse_call_block (KvasirJinjaParser *self);
gboolean
kvasir_jinja_parser_end_block (KvasirJinjaParser *self, KvasirJinjaNodes *nodes, const char *end);

G_END_DECLS
