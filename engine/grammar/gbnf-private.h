/* engine/grammar/gbnf-private.h - reading the characters of a grammar's text
 *
 * Owner:  the stack of kvasir_gbnf_parse(). Functions that may fail return FALSE with the error
 * set.
 */
#pragma once

#include "engine/grammar/grammar-private.h"

G_BEGIN_DECLS

typedef struct
{
  const char *text;
  const char *at;
  KvasirGrammar *grammar;   /* (unowned) */
  const KvasirVocab *vocab; /* (nullable) (unowned) */
  GHashTable *rules;        /* (owned): name to number + 1 */
  GHashTable *sets;         /* (owned): code point + 1 to number + 1 of the set of it alone */
  const char *owner;        /* the rule that is read, NULL between two */
  guint depth;              /* of groups */
  GError **error;
} KvasirGbnfReader;

/* "Line 3, column 7: expected @expected, found 'x'". Always FALSE. */
gboolean kvasir_gbnf_fail (KvasirGbnfReader *self, const char *at, const char *expected);
/* The same place with another sentence behind it. */
gboolean kvasir_gbnf_fail_with (KvasirGbnfReader *self, const char *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void kvasir_gbnf_locate (const char *text, const char *at, guint *line, guint *column);

/* Spaces and comments, with @lines new lines too. */
void kvasir_gbnf_skip_space (KvasirGbnfReader *self, gboolean lines);
/* Bytes of the name at the reader's place, 0: there is none. */
gsize kvasir_gbnf_measure_name (const KvasirGbnfReader *self);
/* Digits, at most G_MAXUINT32 - 1. */
gboolean kvasir_gbnf_read_number (KvasirGbnfReader *self, guint32 *number);
/* One character of a literal or class, escapes resolved. */
gboolean kvasir_gbnf_read_char (KvasirGbnfReader *self, guint32 *code);
/* Behind its bracket, up to and with the closing one. */
gboolean kvasir_gbnf_read_class (KvasirGbnfReader *self, guint32 *set);
/* The set of one range. */
guint32 kvasir_gbnf_add_set (KvasirGbnfReader *self, guint32 first, guint32 last);

G_END_DECLS
