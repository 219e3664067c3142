/* ui/base/figures.h - rates and remaining times as a person reads them
 *
 * Counts and sizes come from viz/format.h. The decimal sign is the locale's.
 * Thread: any. All strings returned are owned by the caller.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "41.2 tok/s"; "– tok/s" where nothing was measured. */
char *kvasir_figure_rate (guint n_tokens, gint64 us) G_GNUC_WARN_UNUSED_RESULT;
/* "3 s left", "2 min left"; NULL while too little is known. @done and @total in any unit. */
char *kvasir_figure_time_left (double done, double total, gint64 us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
