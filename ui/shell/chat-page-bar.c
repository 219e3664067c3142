#include <glib/gi18n.h>

#include "engine/error.h"
#include "ui/shell/chat-page-private.h"
#include "ui/shell/explain.h"
#include "viz/format.h"

static void
add_room_actions (KvasirChatPage *self)
{
  KvasirNoticeBar *bar = KVASIR_NOTICE_BAR (self->bar);
  g_autofree char *larger = NULL;
  g_autofree char *draft = kvasir_composer_dup_text (kvasir_chat_page_get_composer (self));

  larger = g_strdup_printf (_ ("Window of %s cells"),
                            kvasir_format_count (kvasir_chat_page_get_n_cells (self) * 2).s);
  kvasir_notice_bar_add_action (bar, larger, "win.larger-window");
  kvasir_notice_bar_add_action (bar, _ ("New chat"), "win.new-chat");
  if (draft[0] != '\0')
    kvasir_notice_bar_add_action (bar, _ ("Shorten draft"), "win.focus-composer");
  kvasir_notice_bar_add_action (bar, _ ("Show in inspector"), "win.show-inspector");
}

void
kvasir_chat_page_show_too_long (KvasirChatPage *self)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_draft (&words, self->count.n_needed, self->count.n_free,
                        kvasir_chat_page_get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar), KVASIR_NOTICE_BAR_WARNING, words.title,
                          words.detail);
  add_room_actions (self);
}

void
kvasir_chat_page_show_failure (KvasirChatPage *self, const KvasirNotice *notice)
{
  gboolean room =
      g_error_matches (notice->error, KVASIR_ENGINE_ERROR, (int) KVASIR_ENGINE_ERROR_NO_ROOM);
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_answer (&words, notice, kvasir_chat_page_get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar),
                          room ? KVASIR_NOTICE_BAR_WARNING : KVASIR_NOTICE_BAR_ERROR, words.title,
                          words.detail);
  if (room)
    add_room_actions (self);
  else if (g_error_matches (notice->error, KVASIR_ENGINE_ERROR, (int) KVASIR_ENGINE_ERROR_TEMPLATE))
    kvasir_notice_bar_add_action (KVASIR_NOTICE_BAR (self->bar), _ ("Send in a simpler form"),
                                  "win.adapt-chat");
}

void
kvasir_chat_page_show_full (KvasirChatPage *self)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_full (&words, kvasir_chat_page_get_n_cells (self));
  kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->bar), KVASIR_NOTICE_BAR_WARNING, words.title,
                          words.detail);
  add_room_actions (self);
}
