#include "engine/json-name.h"

const char *
kvasir_json_name_type (const json_t *value)
{
  if (value == NULL)
    return "nothing";
  switch (json_typeof (value))
    {
    case JSON_OBJECT:
      return "an object";
    case JSON_ARRAY:
      return "a list";
    case JSON_STRING:
      return "a text";
    case JSON_INTEGER:
      return "a whole number";
    case JSON_REAL:
      return "a number with a fraction";
    case JSON_TRUE:
      return "true";
    case JSON_FALSE:
      return "false";
    default:
      return "null";
    }
}
