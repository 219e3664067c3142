/* The filters by name; each file brings its own table. */
#include "engine/template/filters.h"

const KvasirJinjaBuiltin *
kvasir_jinja_find_filter (KvasirJinjaHeap *heap, KvasirJinjaText *name)
{
  const KvasirJinjaBuiltin *const tables[] = {
    kvasir_jinja_text_filters,
    kvasir_jinja_list_filters,
    kvasir_jinja_select_filters,
    kvasir_jinja_value_filters,
  };
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      const KvasirJinjaBuiltin *filter = kvasir_jinja_find (heap, tables[i], name);
      if (filter != NULL)
        return filter;
    }
  return NULL;
}
