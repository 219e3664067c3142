#include "engine/grammar/schema.h"
#include "engine/error.h"
char *
kvasir_schema_to_grammar (const char *schema, GError **error)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, 0, "not yet");
  return NULL;
}
