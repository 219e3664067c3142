/* What built-ins do with their arguments. */
#include "engine/template/callable.h"
#include "engine/template/repr.h"

gboolean
kvasir_jinja_call_fail (KvasirJinjaCall *call, const char *expected, KvasirJinjaValue found)
{
  return kvasir_jinja_heap_fail (call->heap, "%s: expected %s, found '%s'", call->builtin->name,
                                 expected, kvasir_jinja_type_name (found));
}

KvasirJinjaText *
kvasir_jinja_call_text (KvasirJinjaCall *call, KvasirJinjaValue value)
{
  KvasirJinjaText *text = kvasir_jinja_str (call->heap, value);
  if (text != NULL)
    kvasir_jinja_text_bytes (call->heap, text);
  return text;
}

gboolean
kvasir_jinja_call_int (KvasirJinjaCall *call, guint i, gint64 standard, gint64 *value)
{
  *value = standard;
  if (kvasir_jinja_is_missing (call->arg[i]) || call->arg[i].kind == KVASIR_JINJA_NONE)
    return TRUE;
  if (!kvasir_jinja_is_integral (call->arg[i]))
    return kvasir_jinja_call_fail (call, "an integer", call->arg[i]);
  *value = kvasir_jinja_as_int (call->arg[i]);
  return TRUE;
}

gboolean
kvasir_jinja_call_str (KvasirJinjaCall *call, guint i, KvasirJinjaText **text)
{
  *text = NULL;
  if (kvasir_jinja_is_missing (call->arg[i]) || call->arg[i].kind == KVASIR_JINJA_NONE)
    return TRUE;
  if (call->arg[i].kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "a str", call->arg[i]);
  *text = call->arg[i].text;
  kvasir_jinja_text_bytes (call->heap, *text);
  return TRUE;
}

gboolean
kvasir_jinja_call_truth (KvasirJinjaCall *call, guint i)
{
  return kvasir_jinja_truth (call->arg[i]);
}

gboolean
kvasir_jinja_give_text (KvasirJinjaText *text, KvasirJinjaValue *out)
{
  if (text == NULL)
    return FALSE;
  *out = kvasir_jinja_text (text);
  return TRUE;
}
