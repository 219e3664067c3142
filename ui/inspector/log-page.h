/* ui/inspector/log-page.h - the engine's events as a list
 *
 * New lines arrive at the bottom a few times a second; while a person has scrolled up they wait,
 * and the page says how many. A filter narrows the list to one kind.
 *
 * Signals: "selected" where a line was chosen (or none), "activated" where a line with cells was
 * double-clicked or Enter was pressed on it.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/engine-client.h"
#include "ui/inspector/log-model.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_LOG_PAGE (kvasir_log_page_get_type ())
G_DECLARE_FINAL_TYPE (KvasirLogPage, kvasir_log_page, KVASIR, LOG_PAGE, GtkWidget)

GtkWidget *kvasir_log_page_new (void) G_GNUC_WARN_UNUSED_RESULT;
KvasirLogModel *kvasir_log_page_get_model (KvasirLogPage *self);
void kvasir_log_page_add_mail (KvasirLogPage *self, const KvasirMail *mail);
void kvasir_log_page_set_following (KvasirLogPage *self, gboolean following);
GtkSingleSelection *kvasir_log_page_get_selection (KvasirLogPage *self);
/* The chosen line, or NULL. */
KvasirLogEntry *kvasir_log_page_get_selected (KvasirLogPage *self);
void kvasir_log_page_clear_selection (KvasirLogPage *self);
/* All lines that are shown. */
void kvasir_log_page_append_text (KvasirLogPage *self, GString *out);

G_END_DECLS
