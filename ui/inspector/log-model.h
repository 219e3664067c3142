/* ui/inspector/log-model.h - the newest events as a list of lines
 *
 * A ring of the newest entries; older ones leave at the front. Events are appended cheaply and
 * become rows with kvasir_log_model_flush(), so that a list is told about a thousand events once.
 * Words are only made for rows that somebody looks at.
 * Thread: main thread.
 */
#pragma once

#include <gio/gio.h>

#include "ui/inspector/log-entry.h"

G_BEGIN_DECLS

/* Entries kept; what is older is gone, and kvasir_log_model_get_n_dropped() says how much. */
#define KVASIR_LOG_CAPACITY 5000
/* A filter that lets everything through. */
#define KVASIR_LOG_ALL KVASIR_N_LOG_KINDS

/* A GListModel of KvasirLogEntry, oldest first. */
#define KVASIR_TYPE_LOG_MODEL (kvasir_log_model_get_type ())
G_DECLARE_FINAL_TYPE (KvasirLogModel, kvasir_log_model, KVASIR, LOG_MODEL, GObject)

KvasirLogModel *kvasir_log_model_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_log_model_set_token_text (KvasirLogModel *self,
                                      KvasirTokenTextFunc func,
                                      gpointer user_data);

/* Names the caches of the lines that are made from now on. */
void kvasir_log_model_set_places (KvasirLogModel *self, const KvasirEventPlaces *places);

void kvasir_log_model_append (KvasirLogModel *self,
                              const KvasirEvent *event,
                              const gint32 *data,
                              guint n_data);
/* A line of the interface's own, as a note. */
void kvasir_log_model_append_note (KvasirLogModel *self, const char *text);
/* From the next flush on the list has only the newest @n_rows, in places of which each shows
 * another line when rows come; 0: all rows, at once. What is kept stays the same. */
void kvasir_log_model_set_limit (KvasirLogModel *self, guint n_rows);
/* Rows before the first one of the list. */
guint kvasir_log_model_get_n_hidden (KvasirLogModel *self);
/* TRUE where rows came. */
gboolean kvasir_log_model_flush (KvasirLogModel *self);
guint kvasir_log_model_get_n_pending (KvasirLogModel *self);
guint64 kvasir_log_model_get_n_dropped (KvasirLogModel *self);
/* A KvasirLogKind or KVASIR_LOG_ALL. */
void kvasir_log_model_set_filter (KvasirLogModel *self, guint kind);

G_END_DECLS
