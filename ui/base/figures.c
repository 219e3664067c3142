#include "ui/base/figures.h"

#include <glib/gi18n.h>

/* A rate over less than this is noise. */
#define MIN_ESTIMATE_US (300 * G_TIME_SPAN_MILLISECOND)

char *
kvasir_figure_rate (guint n_tokens, gint64 us)
{
  if (n_tokens == 0 || us <= 0)
    return g_strdup (_ ("– tok/s"));
  /* Translators: tokens per second */
  return g_strdup_printf (_ ("%.1f tok/s"), n_tokens * (double) G_USEC_PER_SEC / (double) us);
}

char *
kvasir_figure_time_left (double done, double total, gint64 us)
{
  double seconds;

  if (done <= 0 || total <= done || us < MIN_ESTIMATE_US)
    return NULL;
  seconds = (total - done) * ((double) us / G_USEC_PER_SEC) / done;
  if (seconds >= 90)
    return g_strdup_printf (_ ("%.0f min left"), seconds / 60);
  return g_strdup_printf (_ ("%.0f s left"), MAX (seconds, 1));
}
