/* engine/grammar/grammar-private.h - what the files of the grammar share
 *
 * gbnf-scan.c and gbnf-parse.c read the text, gbnf-check.c resolves and refuses, grammar.c holds it
 * together; states.c and matcher.c walk what came out.
 *
 * A rule has alternatives, each a run of elements up to an END. Repetition is a count on an
 * element, never a copy of it, so that x{1,1000000} is one element. Groups are rules without a name
 * of their own.
 *
 * Thread: any, once made.
 */
#pragma once

#include "engine/grammar/charset.h"
#include "engine/grammar/grammar.h"

G_BEGIN_DECLS

#define KVASIR_GRAMMAR_MAX_BYTES (16u << 20)
#define KVASIR_GRAMMAR_MAX_RULES (1u << 18)
#define KVASIR_GRAMMAR_MAX_DEPTH 200
#define KVASIR_GRAMMAR_MAX_CUTS (1u << 16)
#define KVASIR_NO_MAX G_MAXUINT32

typedef enum
{
  KVASIR_ELEMENT_END,
  KVASIR_ELEMENT_SET,       /* one code point of a set */
  KVASIR_ELEMENT_RULE,      /* what a rule derives */
  KVASIR_ELEMENT_TOKEN,     /* one token, whatever its text */
  KVASIR_ELEMENT_NOT_TOKEN, /* any other token that does not end the answer */
} KvasirElementKind;

typedef struct
{
  KvasirElementKind kind;
  guint32 index; /* of the set, the rule or the token */
  guint32 min;
  guint32 max; /* KVASIR_NO_MAX: as often as wanted */
} KvasirElement;

typedef struct
{
  const char *name;  /* (unowned): a group's is that of the rule it stands in */
  guint32 line;      /* where it is defined, or used first while it is not */
  guint32 column;    /* of characters */
  guint32 first_alt; /* index into alts */
  guint32 n_alts;    /* 0: not defined */
  guint32 rank;      /* a rule's is below that of every rule it may begin with */
  gboolean nullable; /* derives the empty text */
} KvasirRule;

typedef struct
{
  guint32 first; /* index into ranges */
  guint32 n;
} KvasirSet;

struct _KvasirGrammar
{
  GStringChunk *names; /* (owned) */
  GArray *rules;       /* (owned) of KvasirRule */
  GArray *alts;        /* (owned) of guint32: where each begins in elements */
  GArray *elements;    /* (owned) of KvasirElement */
  GArray *sets;        /* (owned) of KvasirSet */
  GArray *ranges;      /* (owned) of KvasirCodeRange, sorted in each set */
  GArray *cuts;        /* (owned) of guint32: code points between two cuts are never told apart */
  guint32 ascii_class[128];
  guint32 root;
};

static inline const KvasirRule *
kvasir_grammar_rule (const KvasirGrammar *self, guint32 rule)
{
  return &g_array_index (self->rules, KvasirRule, rule);
}

static inline const KvasirElement *
kvasir_grammar_element (const KvasirGrammar *self, guint32 pos)
{
  return &g_array_index (self->elements, KvasirElement, pos);
}

/* Whether @set has a code point from @first to @last. */
static inline gboolean
kvasir_grammar_set_meets (const KvasirGrammar *self, guint32 set, guint32 first, guint32 last)
{
  const KvasirSet *span = &g_array_index (self->sets, KvasirSet, set);
  return kvasir_code_ranges_meet (&g_array_index (self->ranges, KvasirCodeRange, span->first),
                                  span->n, first, last);
}

/* How often the element must be read at least where what it reads is not empty. */
static inline guint32
kvasir_grammar_get_min (const KvasirGrammar *self, const KvasirElement *element)
{
  return element->kind == KVASIR_ELEMENT_RULE &&
                 kvasir_grammar_rule (self, element->index)->nullable
             ? 0
             : element->min;
}

/* Among the cuts. */
guint32 kvasir_grammar_find_class (const KvasirGrammar *self, guint32 code);

/* Reads @text into an empty grammar. */
gboolean
kvasir_gbnf_parse (KvasirGrammar *self, const char *text, const KvasirVocab *vocab, GError **error);
/* Fills what follows from the rules: nullable, ranks, cuts. */
gboolean kvasir_grammar_check (KvasirGrammar *self, GError **error);

G_END_DECLS
