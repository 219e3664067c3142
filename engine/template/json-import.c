/* The variables that a render is given. */
#include "engine/template/dict.h"
#include "engine/template/json.h"
#include "engine/template/unicode.h"

static gboolean
import_text (
    KvasirJinjaHeap *heap, const char *bytes, gsize len, guint origin, KvasirJinjaValue *out)
{
  if (!kvasir_jinja_is_utf8 (bytes, len))
    return kvasir_jinja_heap_fail (heap, "a text among the variables is not UTF-8");
  *out = kvasir_jinja_text (kvasir_jinja_text_new (heap, bytes, len, origin));
  return TRUE;
}

static gboolean
import_array (KvasirJinjaHeap *heap, const json_t *json, guint origin, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  for (size_t i = 0; i < json_array_size (json); i++)
    {
      KvasirJinjaValue item;
      if (!kvasir_jinja_from_json (heap, json_array_get (json, i), origin, &item) ||
          !kvasir_jinja_list_append (heap, list, item))
        return FALSE;
    }
  *out = kvasir_jinja_list (KVASIR_JINJA_LIST, list);
  return TRUE;
}

static gboolean
import_object (KvasirJinjaHeap *heap, const json_t *json, guint origin, KvasirJinjaValue *out)
{
  KvasirJinjaDict *dict = kvasir_jinja_dict_new (heap);
  /* Iterating takes no reference and changes nothing, but jansson's iterators are not const. */
  json_t *object = (json_t *) json;
  for (void *iter = json_object_iter (object); iter != NULL;
       iter = json_object_iter_next (object, iter))
    {
      KvasirJinjaValue key;
      KvasirJinjaValue value;
      if (!import_text (heap, json_object_iter_key (iter), json_object_iter_key_len (iter), origin,
                        &key) ||
          !kvasir_jinja_from_json (heap, json_object_iter_value (iter), origin, &value) ||
          !kvasir_jinja_dict_set (heap, dict, key, value))
        return FALSE;
    }
  *out = kvasir_jinja_dict (dict);
  return TRUE;
}

static gboolean
import (KvasirJinjaHeap *heap, const json_t *json, guint origin, KvasirJinjaValue *out)
{
  switch (json_typeof (json))
    {
    case JSON_OBJECT:
      return import_object (heap, json, origin, out);
    case JSON_ARRAY:
      return import_array (heap, json, origin, out);
    case JSON_STRING:
      return import_text (heap, json_string_value (json), json_string_length (json), origin, out);
    case JSON_INTEGER:
      *out = kvasir_jinja_int (json_integer_value (json));
      return TRUE;
    case JSON_REAL:
      *out = kvasir_jinja_float (json_real_value (json));
      return TRUE;
    case JSON_TRUE:
    case JSON_FALSE:
      *out = kvasir_jinja_bool (json_is_true (json));
      return TRUE;
    default:
      *out = kvasir_jinja_none ();
      return TRUE;
    }
}

gboolean
kvasir_jinja_from_json (KvasirJinjaHeap *heap,
                        const json_t *json,
                        guint origin,
                        KvasirJinjaValue *out)
{
  if (!kvasir_jinja_heap_enter (heap))
    return FALSE;
  gboolean ok = import (heap, json, origin, out);
  kvasir_jinja_heap_leave (heap);
  return ok;
}
