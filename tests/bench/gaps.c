#include "tests/bench/gaps.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

struct _Gaps
{
  GArray *late; /* of gint64, microseconds */
  gint64 last_us;
  gsize half_bytes; /* in use when half of the time was over */
  gsize end_bytes;
};

static gboolean
beat_cb (gpointer user_data)
{
  Gaps *self = user_data;
  gint64 now = g_get_monotonic_time ();
  gint64 late = now - self->last_us - GAPS_BEAT_MS * 1000;

  if (self->last_us != 0)
    g_array_append_val (self->late, late);
  self->last_us = now;
  return G_SOURCE_CONTINUE;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

Gaps *
gaps_new (void)
{
  Gaps *self = g_new0 (Gaps, 1);

  self->late = g_array_new (FALSE, FALSE, sizeof (gint64));
  return self;
}

void
gaps_free (Gaps *self)
{
  g_array_unref (self->late);
  g_free (self);
}

void
gaps_rest (double seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (200);
}

void
gaps_run (Gaps *self, double seconds)
{
  guint beat;

  self->last_us = 0;
  /* Lateness comes before what else is due. */
  beat = g_timeout_add_full (G_PRIORITY_HIGH, GAPS_BEAT_MS, beat_cb, self, NULL);
  gaps_rest (seconds / 2);
  self->half_bytes = mallinfo2 ().uordblks;
  gaps_rest (seconds / 2);
  self->end_bytes = mallinfo2 ().uordblks;
  g_source_remove (beat);
}

void
gaps_print (Gaps *self, const char *name)
{
  gint64 *late = (gint64 *) (gpointer) self->late->data;
  guint n = self->late->len;

  if (n == 0)
    return;
  qsort (late, n, sizeof *late, compare);
  printf ("%-40s p50 %5.1f  p99 %5.1f  max %6.1f ms, heap %+.1f KiB (%u beats)\n", name,
          (double) late[n / 2] / 1e3, (double) late[n * 99 / 100] / 1e3, (double) late[n - 1] / 1e3,
          ((double) self->end_bytes - (double) self->half_bytes) / 1024, n);
  fflush (stdout);
  g_array_set_size (self->late, 0);
}
