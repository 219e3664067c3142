/* engine/sampling/filter.h - which tokens may come next, as told from outside
 *
 * A grammar is far dearer to ask than a chain of samplers, so the sampler first draws without it
 * and asks about the drawn token alone. Only where that is refused is the whole vocabulary
 * filtered and a second token drawn from what is left.
 *
 * Filled in by the maker of a filter, borrowed by the sampler. Thread: engine thread.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  /* Whether @id may stand next. Changes nothing that can be seen. */
  gboolean (*allows) (gpointer user, gint32 id);
  /* @id stands in the answer now; it need not have been allowed (forced by a person), after
   * which a filter may refuse everything. */
  void (*accept) (gpointer user, gint32 id);
  /* May be NULL, then allows() is asked for every token. Sets each of @logits [@n] whose token may
   * not stand next to -INFINITY and leaves the others as they are. Those that are -INFINITY
   * already need no look. */
  void (*mask) (gpointer user, float *logits, guint n);
  gpointer user;
} KvasirTokenFilter;

G_END_DECLS
