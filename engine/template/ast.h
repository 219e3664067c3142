/* engine/template/ast.h - a parsed template as a tree
 *
 * Owner:  the heap of the KvasirTemplate. Thread: immutable once parsed.
 */
#pragma once

#include "engine/template/value.h"

G_BEGIN_DECLS

typedef struct _KvasirJinjaNode KvasirJinjaNode;
typedef struct _KvasirJinjaBuiltin KvasirJinjaBuiltin;

typedef enum
{
  /* expressions */
  KVASIR_JINJA_NODE_CONST,   /* value */
  KVASIR_JINJA_NODE_NAME,    /* name */
  KVASIR_JINJA_NODE_LIST,    /* items */
  KVASIR_JINJA_NODE_TUPLE,   /* items; as a target too */
  KVASIR_JINJA_NODE_DICT,    /* items: key, value, key, value, ... */
  KVASIR_JINJA_NODE_ATTR,    /* object.name; as a target: an attribute of a namespace */
  KVASIR_JINJA_NODE_ITEM,    /* object[items[0]] */
  KVASIR_JINJA_NODE_SLICE,   /* object[a:b:c]: items, each nullable */
  KVASIR_JINJA_NODE_CALL,    /* object(args) */
  KVASIR_JINJA_NODE_FILTER,  /* object | name(args); object NULL: the text of a block */
  KVASIR_JINJA_NODE_TEST,    /* object is name(args) */
  KVASIR_JINJA_NODE_NOT,     /* object */
  KVASIR_JINJA_NODE_NEGATE,  /* object */
  KVASIR_JINJA_NODE_PLUS,    /* object */
  KVASIR_JINJA_NODE_CHAIN,   /* items joined by ops, from the left */
  KVASIR_JINJA_NODE_COMPARE, /* items joined by ops, each pair compared */
  KVASIR_JINJA_NODE_AND,     /* items */
  KVASIR_JINJA_NODE_OR,      /* items */
  KVASIR_JINJA_NODE_COND,    /* items: test, then, else (nullable) */
  /* statements */
  KVASIR_JINJA_NODE_DATA,      /* value: the template's own text */
  KVASIR_JINJA_NODE_OUTPUT,    /* object */
  KVASIR_JINJA_NODE_IF,        /* items: test, block, test, block, ...; test NULL: else */
  KVASIR_JINJA_NODE_FOR,       /* target, object: filter (nullable); items: iterable, body, else */
  KVASIR_JINJA_NODE_SET,       /* target, object */
  KVASIR_JINJA_NODE_SET_BLOCK, /* target, object: filters (nullable); items: block */
  KVASIR_JINJA_NODE_FILTER_BLOCK, /* object: filters; items: block */
  KVASIR_JINJA_NODE_MACRO,        /* macro */
  KVASIR_JINJA_NODE_CALL_BLOCK,   /* object: the call; macro: what caller() runs */
  KVASIR_JINJA_NODE_WITH,         /* items: target, value, target, value, ..., block */
  KVASIR_JINJA_NODE_SCOPE,        /* items: block */
  KVASIR_JINJA_NODE_BREAK,
  KVASIR_JINJA_NODE_CONTINUE,
  KVASIR_JINJA_NODE_BLOCK /* items: statements */
} KvasirJinjaNodeKind;

typedef enum
{
  KVASIR_JINJA_OP_ADD,
  KVASIR_JINJA_OP_SUB,
  KVASIR_JINJA_OP_MUL,
  KVASIR_JINJA_OP_DIV,
  KVASIR_JINJA_OP_FLOORDIV,
  KVASIR_JINJA_OP_MOD,
  KVASIR_JINJA_OP_POW,
  KVASIR_JINJA_OP_JOIN, /* ~ */
  KVASIR_JINJA_OP_EQ,
  KVASIR_JINJA_OP_NE,
  KVASIR_JINJA_OP_LT,
  KVASIR_JINJA_OP_LE,
  KVASIR_JINJA_OP_GT,
  KVASIR_JINJA_OP_GE,
  KVASIR_JINJA_OP_IN,
  KVASIR_JINJA_OP_NOT_IN
} KvasirJinjaOp;

typedef struct
{
  KvasirJinjaNode **items; /* [n] */
  guint n;
  guint capacity;
} KvasirJinjaNodes;

typedef struct
{
  KvasirJinjaNodes values;
  KvasirJinjaNodes keywords; /* ATTR nodes: name = object */
  KvasirJinjaNode *star;     /* (nullable): *values */
  KvasirJinjaNode *stars;    /* (nullable): **keywords */
} KvasirJinjaArgNodes;

typedef struct
{
  KvasirJinjaText *name;   /* (nullable): the body of a call block has none */
  KvasirJinjaNodes params; /* ATTR nodes: name = default (object, nullable) */
  KvasirJinjaNode *body;   /* BLOCK */
  gboolean takes_caller;   /* the body speaks of caller, varargs, kwargs */
  gboolean takes_varargs;
  gboolean takes_kwargs;
} KvasirJinjaMacro;

struct _KvasirJinjaNode
{
  KvasirJinjaNodeKind kind;
  guint offset;       /* bytes into the source */
  KvasirJinjaOp *ops; /* [items.n - 1] */
  guint n_ops;
  guint ops_capacity;
  KvasirJinjaNodes items;
  KvasirJinjaNode *object;
  KvasirJinjaNode *target;
  KvasirJinjaText *name;
  KvasirJinjaValue value;
  const KvasirJinjaBuiltin *builtin; /* (nullable): the filter or test called @name, if known */
  KvasirJinjaArgNodes *args;         /* (nullable) */
  KvasirJinjaMacro *macro;
};

G_END_DECLS
