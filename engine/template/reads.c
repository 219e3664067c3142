#include "engine/template/reads.h"

#include <string.h>

static gboolean
any_reads (const KvasirJinjaNodes *nodes, const char *name)
{
  for (guint i = 0; i < nodes->n; i++)
    if (kvasir_jinja_reads (nodes->items[i], name))
      return TRUE;
  return FALSE;
}

static gboolean
args_read (const KvasirJinjaArgNodes *args, const char *name)
{
  return args != NULL &&
         (any_reads (&args->values, name) || any_reads (&args->keywords, name) ||
          kvasir_jinja_reads (args->star, name) || kvasir_jinja_reads (args->stars, name));
}

static gboolean
macro_reads (const KvasirJinjaMacro *macro, const char *name)
{
  return macro != NULL &&
         (any_reads (&macro->params, name) || kvasir_jinja_reads (macro->body, name));
}

static gboolean
is_name (const KvasirJinjaNode *node, const char *name)
{
  return node->kind == KVASIR_JINJA_NODE_NAME && node->name->len == strlen (name) &&
         memcmp (node->name->bytes, name, node->name->len) == 0;
}

gboolean
kvasir_jinja_reads (const KvasirJinjaNode *node, const char *name)
{
  if (node == NULL)
    return FALSE;
  return is_name (node, name) || any_reads (&node->items, name) ||
         kvasir_jinja_reads (node->object, name) || args_read (node->args, name) ||
         macro_reads (node->macro, name);
}
