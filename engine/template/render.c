#include "engine/template/render.h"

#include "engine/template/callable.h"

#define SCOPES_PER_STEP 4

gboolean
kvasir_jinja_render_fail_at (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  if (self->failed_at == NULL)
    self->failed_at = node;
  return FALSE;
}

void
kvasir_jinja_push_scope (KvasirJinjaRender *self, KvasirJinjaScope *scope)
{
  scope->parent = self->scope;
  self->scope = scope;
}

void
kvasir_jinja_pop_scope (KvasirJinjaRender *self)
{
  self->scope = self->scope->parent;
}

KvasirJinjaValue
kvasir_jinja_lookup (KvasirJinjaRender *self, KvasirJinjaText *name)
{
  KvasirJinjaValue value;
  guint n_scopes = 0;
  for (KvasirJinjaScope *scope = self->scope; scope != NULL; scope = scope->parent)
    {
      if (scope->vars != NULL &&
          kvasir_jinja_dict_get (&self->heap, scope->vars, kvasir_jinja_text (name), &value))
        return value;
      /* Far out names cost more, or deep nesting would make a step take long. */
      if (++n_scopes % SCOPES_PER_STEP == 0 && !kvasir_jinja_heap_step (&self->heap, 1))
        break;
    }

  const KvasirJinjaBuiltin *function = kvasir_jinja_find_function (&self->heap, name);
  if (function != NULL)
    return kvasir_jinja_callable_new (&self->heap, function, kvasir_jinja_none ());
  return kvasir_jinja_undefined (&self->heap, NULL, name, NULL);
}

gboolean
kvasir_jinja_set_var (KvasirJinjaRender *self, KvasirJinjaText *name, KvasirJinjaValue value)
{
  if (self->scope->vars == NULL)
    self->scope->vars = kvasir_jinja_dict_new (&self->heap);
  return kvasir_jinja_dict_set (&self->heap, self->scope->vars, kvasir_jinja_text (name), value);
}
