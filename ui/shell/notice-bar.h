/* ui/shell/notice-bar.h - one thing to know, with what can be done about it
 *
 * A sentence, a detail and buttons; says itself to screen readers as an alert.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  KVASIR_NOTICE_BAR_WARNING, /* something was refused; all is as before */
  KVASIR_NOTICE_BAR_ERROR    /* something failed */
} KvasirNoticeBarTone;

#define KVASIR_TYPE_NOTICE_BAR (kvasir_notice_bar_get_type ())
G_DECLARE_FINAL_TYPE (KvasirNoticeBar, kvasir_notice_bar, KVASIR, NOTICE_BAR, GtkWidget)

GtkWidget *kvasir_notice_bar_new (void) G_GNUC_WARN_UNUSED_RESULT;
/* Shows it, without buttons. */
void kvasir_notice_bar_show (KvasirNoticeBar *self,
                             KvasirNoticeBarTone tone,
                             const char *title,
                             const char *detail);
/* A button that activates @action and closes the bar. */
void kvasir_notice_bar_add_action (KvasirNoticeBar *self, const char *label, const char *action);
void kvasir_notice_bar_hide (KvasirNoticeBar *self);
gboolean kvasir_notice_bar_is_shown (KvasirNoticeBar *self);

G_END_DECLS
