/* engine/template/render.h - the state of one rendering, and evaluation
 *
 * Owner:  kvasir_template_render(). Thread: one.
 * Functions that return gboolean leave the reason of a FALSE in the heap's failure.
 */
#pragma once

#include "engine/template/ast.h"
#include "engine/template/dict.h"

G_BEGIN_DECLS

typedef struct _KvasirJinjaScope KvasirJinjaScope;

/* Variables of a block; a macro keeps the scope that it was defined in. */
struct _KvasirJinjaScope
{
  KvasirJinjaScope *parent; /* (nullable) */
  KvasirJinjaDict *vars;    /* (nullable): until the first is set */
};

typedef struct
{
  KvasirJinjaHeap heap;
  KvasirJinjaScope *scope;
  KvasirJinjaBuilder *out;          /* where output goes */
  const char *now;                  /* (nullable): for strftime_now */
  const KvasirJinjaNode *failed_at; /* (nullable): the innermost node that failed */
} KvasirJinjaRender;

typedef enum
{
  KVASIR_JINJA_FLOW_NEXT,
  KVASIR_JINJA_FLOW_BREAK,
  KVASIR_JINJA_FLOW_CONTINUE,
  KVASIR_JINJA_FLOW_FAIL
} KvasirJinjaFlow;

/* Notes where a failure happened, if it is the first place to do so. Always FALSE. */
gboolean kvasir_jinja_render_fail_at (KvasirJinjaRender *self, const KvasirJinjaNode *node);

void kvasir_jinja_push_scope (KvasirJinjaRender *self, KvasirJinjaScope *scope);
void kvasir_jinja_pop_scope (KvasirJinjaRender *self);
/* The variable, a global function, or undefined. */
KvasirJinjaValue kvasir_jinja_lookup (KvasirJinjaRender *self, KvasirJinjaText *name);
gboolean
kvasir_jinja_set_var (KvasirJinjaRender *self, KvasirJinjaText *name, KvasirJinjaValue value);

gboolean
kvasir_jinja_eval (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out);
/* A FILTER node's filters applied to @input in place of the missing innermost object. */
gboolean kvasir_jinja_eval_filters (KvasirJinjaRender *self,
                                    const KvasirJinjaNode *node,
                                    KvasirJinjaValue input,
                                    KvasirJinjaValue *out);
/* Sets a NAME, TUPLE or ATTR target. */
gboolean kvasir_jinja_assign (KvasirJinjaRender *self,
                              const KvasirJinjaNode *target,
                              KvasirJinjaValue value);
KvasirJinjaFlow kvasir_jinja_exec (KvasirJinjaRender *self, const KvasirJinjaNode *node);
KvasirJinjaFlow kvasir_jinja_exec_for (KvasirJinjaRender *self, const KvasirJinjaNode *node);
/* Runs a block with its output caught in @out (set if the flow is NEXT). */
KvasirJinjaFlow
kvasir_jinja_capture (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out);

/* Operators and access, on values. */
gboolean kvasir_jinja_operate (KvasirJinjaHeap *heap,
                               KvasirJinjaOp op,
                               KvasirJinjaValue a,
                               KvasirJinjaValue b,
                               KvasirJinjaValue *out);

/* object.name: a method before a member; undefined if there is neither. */
gboolean kvasir_jinja_get_attr (KvasirJinjaHeap *heap,
                                KvasirJinjaValue object,
                                KvasirJinjaText *name,
                                KvasirJinjaValue *out);
/* object[key]: a member before a method; undefined if there is neither. */
gboolean kvasir_jinja_get_item (KvasirJinjaHeap *heap,
                                KvasirJinjaValue object,
                                KvasirJinjaValue key,
                                KvasirJinjaValue *out);
/* object[a:b:c]; @bounds are none where left out. */
gboolean kvasir_jinja_get_slice (KvasirJinjaHeap *heap,
                                 KvasirJinjaValue object,
                                 const KvasirJinjaValue bounds[3],
                                 KvasirJinjaValue *out);
/* Attributes of the loop variable; FALSE if there is no such attribute, or with a failure. */
gboolean kvasir_jinja_loop_attr (KvasirJinjaHeap *heap,
                                 KvasirJinjaLoop *loop,
                                 KvasirJinjaText *name,
                                 KvasirJinjaValue *out);

G_END_DECLS
