/* viz/event-text.h - events of the engine in plain words
 * Thread: any; pure.
 */
#pragma once

#include <glib.h>

#include "engine/memory/events.h"
#include "viz/view.h"

G_BEGIN_DECLS

/* What the log can be narrowed down to. */
typedef enum
{
  KVASIR_LOG_STEPS,     /* decode calls and their parts */
  KVASIR_LOG_PLACEMENT, /* searches, cells, head, horizon */
  KVASIR_LOG_SEQUENCES, /* operations on sequences, shifts */
  KVASIR_LOG_TOKENS,    /* samples */
  KVASIR_LOG_MEMORY,    /* buffers, saves, loads */
  KVASIR_LOG_TROUBLE,   /* failed searches, purges, rollbacks, evictions, errors, notes */
  KVASIR_N_LOG_KINDS
} KvasirLogKind;

KvasirLogKind kvasir_event_get_log_kind (KvasirEventType type);
const char *kvasir_log_kind_get_label (KvasirLogKind kind);

/* Names of the caches, for logs of memories that have several. */
#define KVASIR_MAX_PLACES 3
typedef struct
{
  guint n_caches;
  guint n_streams;
  char names[KVASIR_MAX_PLACES][16];
} KvasirEventPlaces;

void kvasir_event_places_init (KvasirEventPlaces *self, const KvasirCellsShot *cells);
/* "swa: " or "swa 2: " before the text of what happened in one cache, where there are several
 * caches or streams. */
void
kvasir_event_append_place (const KvasirEvent *event, const KvasirEventPlaces *places, GString *out);
/* One line, without its end. @data: the event's numbers. @token_text (nullable): for samples. */
void kvasir_event_append_text (const KvasirEvent *event,
                               const gint32 *data,
                               guint n_data,
                               KvasirTokenTextFunc token_text,
                               gpointer user_data,
                               GString *out);
/* Appends the KvasirCellRun that the event speaks of, if any. */
void kvasir_event_append_cells (const KvasirEvent *event,
                                const gint32 *data,
                                guint n_data,
                                GArray *runs);

G_END_DECLS
