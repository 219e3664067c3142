/* engine/template/callable.h - what can be called: built-ins, methods, macros
 *
 * Thread: the tables are constant; calls belong to one render.
 * Filters, tests, methods and global functions share one shape. A table entry names its
 * parameters, the binding of arguments is done once for all (call.c), and the function finds them
 * in order in its call.
 */
#pragma once

#include "engine/template/ast.h"
#include "engine/template/render.h"

G_BEGIN_DECLS

#define KVASIR_JINJA_MAX_PARAMS 6

typedef struct
{
  KvasirJinjaText *name;
  KvasirJinjaValue value;
} KvasirJinjaKeyword;

typedef struct
{
  KvasirJinjaValue *values; /* [n_values] */
  guint n_values;
  KvasirJinjaKeyword *keywords; /* [n_keywords] */
  guint n_keywords;
} KvasirJinjaArgs;

typedef struct
{
  KvasirJinjaRender *render;
  KvasirJinjaHeap *heap; /* the render's */
  const KvasirJinjaBuiltin *builtin;
  KvasirJinjaValue self;                         /* what is filtered, tested, or has the method */
  KvasirJinjaValue arg[KVASIR_JINJA_MAX_PARAMS]; /* missing ones: kvasir_jinja_is_missing() */
  const KvasirJinjaArgs *args;                   /* as given, for those without params */
} KvasirJinjaCall;

/* Tests give their answer as a BOOL. */
typedef gboolean (*KvasirJinjaFunc) (KvasirJinjaCall *call, KvasirJinjaValue *out);

struct _KvasirJinjaBuiltin
{
  const char *name;
  KvasirJinjaFunc func;
  guint n_required;
  const char *params[KVASIR_JINJA_MAX_PARAMS]; /* params[0] "*": takes the arguments as given */
};

struct _KvasirJinjaCallable
{
  const KvasirJinjaBuiltin *builtin; /* (nullable) */
  KvasirJinjaValue self;             /* of a method */
  const KvasirJinjaMacro *macro;     /* (nullable) */
  KvasirJinjaScope *scope;           /* where the macro was defined */
};

KvasirJinjaValue kvasir_jinja_callable_new (KvasirJinjaHeap *heap,
                                            const KvasirJinjaBuiltin *builtin,
                                            KvasirJinjaValue self);

/* The tables; NULL if there is no such name. */
const KvasirJinjaBuiltin *kvasir_jinja_find_filter (KvasirJinjaHeap *heap, KvasirJinjaText *name);
const KvasirJinjaBuiltin *kvasir_jinja_find_test (KvasirJinjaHeap *heap, KvasirJinjaText *name);
const KvasirJinjaBuiltin *kvasir_jinja_find_function (KvasirJinjaHeap *heap, KvasirJinjaText *name);
const KvasirJinjaBuiltin *
kvasir_jinja_find_method (KvasirJinjaHeap *heap, KvasirJinjaValue self, KvasirJinjaText *name);
/* In a table that ends with an entry without a name. */
const KvasirJinjaBuiltin *
kvasir_jinja_find (KvasirJinjaHeap *heap, const KvasirJinjaBuiltin *table, KvasirJinjaText *name);

gboolean kvasir_jinja_call_builtin (KvasirJinjaRender *render,
                                    const KvasirJinjaBuiltin *builtin,
                                    KvasirJinjaValue self,
                                    const KvasirJinjaArgs *args,
                                    KvasirJinjaValue *out);
/* Any value; fails if it cannot be called. */
gboolean kvasir_jinja_call (KvasirJinjaRender *render,
                            KvasirJinjaValue function,
                            const KvasirJinjaArgs *args,
                            KvasirJinjaValue *out);
/* Evaluates arguments; @nodes may be NULL for none. */
gboolean kvasir_jinja_eval_args (KvasirJinjaRender *render,
                                 const KvasirJinjaArgNodes *nodes,
                                 KvasirJinjaArgs *args);

/* For built-ins. Each fails with a message that names the built-in and the argument. */
/* str() of the value. */
KvasirJinjaText *kvasir_jinja_call_text (KvasirJinjaCall *call, KvasirJinjaValue value);
/* Argument @i as an integer, or @standard if missing or none. */
gboolean kvasir_jinja_call_int (KvasirJinjaCall *call, guint i, gint64 standard, gint64 *value);
/* Argument @i as a str; NULL without a failure if missing or none. */
gboolean kvasir_jinja_call_str (KvasirJinjaCall *call, guint i, KvasirJinjaText **text);
gboolean kvasir_jinja_call_truth (KvasirJinjaCall *call, guint i);
gboolean
kvasir_jinja_call_fail (KvasirJinjaCall *call, const char *expected, KvasirJinjaValue found);
/* Sets items from the call's arguments as given, as Python's dict() takes them (function.c). */
gboolean kvasir_jinja_fill_dict (KvasirJinjaCall *call, KvasirJinjaDict *dict);
/* Puts a text that may be NULL (failure) into @out. */
gboolean kvasir_jinja_give_text (KvasirJinjaText *text, KvasirJinjaValue *out);

G_END_DECLS
