/* engine/template/value.h - the values of a template: a closed list of types
 *
 * Owner:  a heap. Thread: that of the heap.
 * A value is passed by copy; lists, dicts, namespaces and iterators are shared, as in Python.
 * There are no host objects and no attributes beyond the tables in methods.c, so a template can
 * reach nothing but what it was given.
 */
#pragma once

#include "engine/template/text.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_JINJA_UNDEFINED,
  KVASIR_JINJA_NONE,
  KVASIR_JINJA_BOOL,
  KVASIR_JINJA_INT,
  KVASIR_JINJA_FLOAT,
  KVASIR_JINJA_TEXT,
  KVASIR_JINJA_LIST,
  KVASIR_JINJA_TUPLE,
  KVASIR_JINJA_VIEW, /* what a dict's keys(), values() or items() were when asked */
  KVASIR_JINJA_DICT,
  KVASIR_JINJA_NAMESPACE,
  KVASIR_JINJA_RANGE,
  KVASIR_JINJA_ITERATOR, /* a list that can be read once, in place of Python's generators */
  KVASIR_JINJA_LOOP,
  KVASIR_JINJA_CALLABLE
} KvasirJinjaKind;

typedef struct _KvasirJinjaDict KvasirJinjaDict;
typedef struct _KvasirJinjaList KvasirJinjaList;
typedef struct _KvasirJinjaLoop KvasirJinjaLoop;
typedef struct _KvasirJinjaCallable KvasirJinjaCallable;

/* start, start + step, ... (@n of them) */
typedef struct
{
  gint64 start;
  gint64 stop; /* as given; only printed */

  gint64 step;
  gint64 n;
} KvasirJinjaRange;

/* Why a value is undefined, for the message when it is used after all. */
typedef struct
{
  const char *of;        /* (nullable): type of the object that lacks it */
  KvasirJinjaText *name; /* (nullable) */
  const char *hint;      /* (nullable): the whole message */
} KvasirJinjaUndefined;

typedef struct
{
  KvasirJinjaKind kind;
  union
  {
    const KvasirJinjaUndefined *undefined; /* (nullable): an argument that was not given */
    gboolean boolean;
    gint64 integer;
    double number;
    KvasirJinjaText *text;
    KvasirJinjaList *list; /* LIST, TUPLE, VIEW, ITERATOR */
    KvasirJinjaDict *dict; /* DICT, NAMESPACE */
    KvasirJinjaRange *range;
    KvasirJinjaLoop *loop;
    KvasirJinjaCallable *callable;
  };
} KvasirJinjaValue;

struct _KvasirJinjaList
{
  KvasirJinjaValue *items; /* [capacity], @n used */
  guint n;
  guint capacity;
  guint next;       /* ITERATOR: the first item not read yet */
  const char *type; /* VIEW: its Python name */
};

static inline KvasirJinjaValue
kvasir_jinja_none (void)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_NONE };
}

static inline KvasirJinjaValue
kvasir_jinja_bool (gboolean boolean)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_BOOL, .boolean = boolean != FALSE };
}

static inline KvasirJinjaValue
kvasir_jinja_int (gint64 integer)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_INT, .integer = integer };
}

static inline KvasirJinjaValue
kvasir_jinja_float (double number)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_FLOAT, .number = number };
}

static inline KvasirJinjaValue
kvasir_jinja_text (KvasirJinjaText *text)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_TEXT, .text = text };
}

static inline KvasirJinjaValue
kvasir_jinja_dict (KvasirJinjaDict *dict)
{
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_DICT, .dict = dict };
}

/* @kind: LIST, TUPLE, VIEW or ITERATOR */
static inline KvasirJinjaValue
kvasir_jinja_list (KvasirJinjaKind kind, KvasirJinjaList *list)
{
  return (KvasirJinjaValue){ .kind = kind, .list = list };
}

/* Whether the value is an argument that was not given; an undefined one that was has a reason. */
static inline gboolean
kvasir_jinja_is_missing (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_UNDEFINED && value.undefined == NULL;
}

/* BOOL counts as a number. */
static inline gboolean
kvasir_jinja_is_integral (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_INT || value.kind == KVASIR_JINJA_BOOL;
}

static inline gboolean
kvasir_jinja_is_number (KvasirJinjaValue value)
{
  return kvasir_jinja_is_integral (value) || value.kind == KVASIR_JINJA_FLOAT;
}

static inline gint64
kvasir_jinja_as_int (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_BOOL ? value.boolean : value.integer;
}

static inline double
kvasir_jinja_as_double (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_FLOAT ? value.number : (double) kvasir_jinja_as_int (value);
}

/* @hint: (nullable): a literal; else "'@name' is undefined" or, with @of, "... has no ...". */
KvasirJinjaValue kvasir_jinja_undefined (KvasirJinjaHeap *heap,
                                         const char *of,
                                         KvasirJinjaText *name,
                                         const char *hint);
/* Fails with the reason why @value is undefined. Always FALSE. */
gboolean kvasir_jinja_fail_undefined (KvasirJinjaHeap *heap, KvasirJinjaValue value);

/* As Python calls it: "str", "NoneType", ... */
const char *kvasir_jinja_type_name (KvasirJinjaValue value);
gboolean kvasir_jinja_truth (KvasirJinjaValue value);
/* len(); FALSE without a failure if the value has none. */
gboolean kvasir_jinja_length (KvasirJinjaValue value, gsize *n);

/* ==. Deep; beyond the depth limit a failure is left and FALSE returned. */
gboolean kvasir_jinja_equal (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b);
/* <, = or > as negative, 0, positive. FALSE with a failure for types that have no order. */
gboolean
kvasir_jinja_compare (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, int *order);
/* The same for NaN-free keys of sort: equal values of any type pass. */
gboolean kvasir_jinja_compare_keys (KvasirJinjaHeap *heap,
                                    KvasirJinjaValue a,
                                    KvasirJinjaValue b,
                                    int *order);
/* FALSE with a failure for what cannot be a key. Equal values have equal hashes. */
gboolean kvasir_jinja_hash (KvasirJinjaHeap *heap, KvasirJinjaValue value, guint *hash);

KvasirJinjaList *kvasir_jinja_list_new (KvasirJinjaHeap *heap);
gboolean
kvasir_jinja_list_append (KvasirJinjaHeap *heap, KvasirJinjaList *list, KvasirJinjaValue value);
gboolean kvasir_jinja_list_insert (KvasirJinjaHeap *heap,
                                   KvasirJinjaList *list,
                                   guint at,
                                   KvasirJinjaValue value);
void kvasir_jinja_list_remove (KvasirJinjaList *list, guint at);

G_END_DECLS
