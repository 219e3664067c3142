/* ui/inspector/log-entry.h - one line of the log
 *
 * An entry is immutable; a place is one that shows another entry from time to time, so that what is
 * on screen can be replaced without a new layout.
 * Signal: "changed", of places.
 * Thread: main thread.
 */
#pragma once

#include <gio/gio.h>

#include "viz/event-text.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_LOG_ENTRY (kvasir_log_entry_get_type ())
G_DECLARE_FINAL_TYPE (KvasirLogEntry, kvasir_log_entry, KVASIR, LOG_ENTRY, GObject)

KvasirLogEntry *kvasir_log_entry_new (const KvasirEvent *event,
                                      const gint32 *data,
                                      guint n_data,
                                      const KvasirEventPlaces *places,
                                      KvasirTokenTextFunc token_text,
                                      gpointer user_data) G_GNUC_WARN_UNUSED_RESULT;

KvasirLogEntry *kvasir_log_entry_new_place (void) G_GNUC_WARN_UNUSED_RESULT;
/* @self, a place, says from now on what @entry, no place, says. */
void kvasir_log_entry_show (KvasirLogEntry *self, KvasirLogEntry *entry);

const char *kvasir_log_entry_get_text (KvasirLogEntry *self);
/* The number of the step, "" for what belongs to none. */
const char *kvasir_log_entry_get_step (KvasirLogEntry *self);
KvasirLogKind kvasir_log_entry_get_kind (KvasirLogEntry *self);
/* Of KvasirCellRun; may be empty. */
const GArray *kvasir_log_entry_get_runs (KvasirLogEntry *self);

G_END_DECLS
