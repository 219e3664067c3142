/* engine/memory/window.h - which positions a token may read
 *
 * Pure; nothing is owned. Thread: any.
 */
#pragma once

#include "engine/memory/memory-params.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirWindow kind;
  guint n_swa; /* 0 where kind is NONE */
  gboolean is_causal;
} KvasirWindowRule;

/* A token at @query reads positions @first ... @last. */
static inline void
kvasir_window_get_range (const KvasirWindowRule *self, gint32 query, gint32 *first, gint32 *last)
{
  gint64 n_swa = self->n_swa;
  gint64 from = 0;
  gint64 to = G_MAXINT32;

  if (self->kind == KVASIR_WINDOW_STANDARD)
    from = query - n_swa + 1;
  else if (self->kind == KVASIR_WINDOW_CHUNKED)
    from = query / n_swa * n_swa;
  else if (self->kind == KVASIR_WINDOW_SYMMETRIC)
    {
      from = query - n_swa / 2;
      to = query + n_swa / 2;
    }
  *first = (gint32) MAX (from, 0);
  *last = self->is_causal ? query : (gint32) MIN (to, G_MAXINT32);
}

/* The first position that a token at @query reads. */
static inline gint32
kvasir_window_get_first (const KvasirWindowRule *self, gint32 query)
{
  gint32 first;
  gint32 last;

  kvasir_window_get_range (self, query, &first, &last);
  return first;
}

G_END_DECLS
