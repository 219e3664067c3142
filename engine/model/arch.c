#include <string.h>

#include "engine/error.h"
#include "engine/model/model-private.h"

#define POINT_TO_ROW(id) &kvasir_arch_##id,

static const KvasirArch *const archs[] = { KVASIR_ARCHS (POINT_TO_ROW) };

const KvasirArch *
kvasir_arch_find (const char *name, GError **error)
{
  g_autoptr (GString) supported = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (archs); i++)
    {
      if (strcmp (archs[i]->name, name) == 0)
        return archs[i];
      g_string_append_printf (supported, "%s%s", i > 0 ? ", " : "", archs[i]->name);
    }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "architecture \"%s\" is not supported; supported: %s", name, supported->str);
  return NULL;
}
