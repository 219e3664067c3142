#include "ui/shell/draft-status.h"

#include <glib/gi18n.h>

#include "ui/base/figures.h"
#include "viz/format.h"

char *
kvasir_draft_status_describe (const KvasirDraftCount *count)
{
  g_autofree char *draft =
      g_strdup_printf (ngettext ("draft %s token", "draft %s tokens", count->n_draft),
                       kvasir_format_count (count->n_draft).s);

  if (count->fits)
    return g_strdup_printf (_ ("%s · %s cells free · fits"), draft,
                            kvasir_format_count (count->n_free).s);
  /* Translators: the draft's tokens, cells needed, cells free, the difference */
  return g_strdup_printf (_ ("%s · needs %s, free %s · %s too many"), draft,
                          kvasir_format_count (count->n_needed).s,
                          kvasir_format_count (count->n_free).s,
                          kvasir_format_count (count->n_needed - count->n_free).s);
}

char *
kvasir_draft_status_describe_empty (const KvasirSnapshot *snapshot)
{
  const KvasirCacheShot *cache;
  guint n_free = 0;

  if (snapshot == NULL || snapshot->cells == NULL || snapshot->cells->n_caches == 0)
    return g_strdup (_ ("draft 0 tokens"));
  cache = &snapshot->cells->caches[0];
  for (guint i = 0; i < cache->n_streams; i++)
    n_free += cache->size - cache->streams[i].used;
  return g_strdup_printf (_ ("draft 0 tokens · %s cells free"), kvasir_format_count (n_free).s);
}

char *
kvasir_draft_status_describe_loading (double fraction, gint64 us)
{
  g_autofree char *left = kvasir_figure_time_left (fraction, 1, us);

  if (left == NULL)
    return g_strdup_printf (_ ("opening the model · %.0f %%"), fraction * 100);
  return g_strdup_printf (_ ("opening the model · %.0f %% · %s"), fraction * 100, left);
}
