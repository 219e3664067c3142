/* engine/template/lexer.h - a template's source as tokens
 *
 * Owner:  the parser, on its stack. Thread: one.
 * Rules as in Jinja with trim_blocks and lstrip_blocks: a block or comment tag takes the white
 * space before it on its line and one newline after it, unless "+" is written; "-" takes all white
 * space on that side; print tags take nothing by themselves.
 */
#pragma once

#include "engine/template/text.h"

G_BEGIN_DECLS

/* Brackets open at one time inside a tag. */
#define KVASIR_JINJA_MAX_BRACKETS 100

typedef enum
{
  KVASIR_JINJA_TOKEN_END,
  KVASIR_JINJA_TOKEN_DATA,
  KVASIR_JINJA_TOKEN_BLOCK_BEGIN,
  KVASIR_JINJA_TOKEN_BLOCK_END,
  KVASIR_JINJA_TOKEN_PRINT_BEGIN,
  KVASIR_JINJA_TOKEN_PRINT_END,
  KVASIR_JINJA_TOKEN_NAME,
  KVASIR_JINJA_TOKEN_STRING,
  KVASIR_JINJA_TOKEN_INTEGER,
  KVASIR_JINJA_TOKEN_FLOAT,
  /* operators; their spelling stands in lexer.c in this order */
  KVASIR_JINJA_TOKEN_FLOORDIV,
  KVASIR_JINJA_TOKEN_POW,
  KVASIR_JINJA_TOKEN_EQ,
  KVASIR_JINJA_TOKEN_NE,
  KVASIR_JINJA_TOKEN_GE,
  KVASIR_JINJA_TOKEN_LE,
  KVASIR_JINJA_TOKEN_GT,
  KVASIR_JINJA_TOKEN_LT,
  KVASIR_JINJA_TOKEN_ADD,
  KVASIR_JINJA_TOKEN_SUB,
  KVASIR_JINJA_TOKEN_DIV,
  KVASIR_JINJA_TOKEN_MUL,
  KVASIR_JINJA_TOKEN_MOD,
  KVASIR_JINJA_TOKEN_TILDE,
  KVASIR_JINJA_TOKEN_LBRACKET,
  KVASIR_JINJA_TOKEN_RBRACKET,
  KVASIR_JINJA_TOKEN_LPAREN,
  KVASIR_JINJA_TOKEN_RPAREN,
  KVASIR_JINJA_TOKEN_LBRACE,
  KVASIR_JINJA_TOKEN_RBRACE,
  KVASIR_JINJA_TOKEN_ASSIGN,
  KVASIR_JINJA_TOKEN_DOT,
  KVASIR_JINJA_TOKEN_COLON,
  KVASIR_JINJA_TOKEN_PIPE,
  KVASIR_JINJA_TOKEN_COMMA,
  KVASIR_JINJA_TOKEN_SEMICOLON
} KvasirJinjaTokenType;

typedef struct
{
  KvasirJinjaTokenType type;
  guint offset; /* bytes into the source */
  guint len;
  KvasirJinjaText *text; /* DATA, NAME, STRING (its escapes resolved) */
  gint64 integer;
  double number;
} KvasirJinjaToken;

typedef enum
{
  KVASIR_JINJA_LEX_DATA,
  KVASIR_JINJA_LEX_BLOCK,
  KVASIR_JINJA_LEX_PRINT,
  KVASIR_JINJA_LEX_RAW
} KvasirJinjaLexMode;

typedef struct
{
  KvasirJinjaHeap *heap;
  const char *source; /* [len], UTF-8, newlines are \n */
  guint len;
  guint at; /* the next byte to read */
  guint fail_offset;
  KvasirJinjaLexMode mode;
  gboolean begin_pending; /* the tag's begin follows the text before it */
  gboolean at_line_start; /* the last tag ended with a newline */
  gboolean after_dot;     /* "a.0.1" holds no float */
  guint n_brackets;
  char brackets[KVASIR_JINJA_MAX_BRACKETS]; /* the closing ones that are due */
} KvasirJinjaLexer;

void kvasir_jinja_lexer_init (KvasirJinjaLexer *self,
                              KvasirJinjaHeap *heap,
                              const char *source,
                              guint len);
/* FALSE with a failure in the heap at fail_offset. */
gboolean kvasir_jinja_lexer_next (KvasirJinjaLexer *self, KvasirJinjaToken *token);
/* For messages: "name", "'=='", "the end of the template". */
const char *kvasir_jinja_token_name (KvasirJinjaTokenType type);

/* lexer-tag.c: a token inside a tag whose end has been ruled out; @at is on no white space. */
gboolean kvasir_jinja_lexer_tag_token (KvasirJinjaLexer *self, KvasirJinjaToken *token);
gboolean kvasir_jinja_lexer_fail (KvasirJinjaLexer *self, guint offset, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS
