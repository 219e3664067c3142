/* ui/shell/window-private.h - the window's parts, shared by its files
 *
 * window.c makes it and follows the chats; window-engine.c opens models and shows what the engine
 * tells; window-actions.c, window-message-actions.c and window-guesses.c carry out what a person
 * asks for.
 * Thread: main thread.
 */
#pragma once

#include "ui/inspector/inspector.h"
#include "ui/shell/chat-list.h"
#include "ui/shell/chat-page.h"
#include "ui/shell/notice-bar.h"
#include "ui/shell/start-page.h"
#include "ui/shell/window.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/panes.h"

G_BEGIN_DECLS

struct _KvasirWindow
{
  AdwApplicationWindow parent_instance;

  GtkWidget *toasts;
  GtkWidget *header;
  GtkWidget *title;
  GtkWidget *chats_toggle;
  GtkWidget *inspector_toggle;
  GtkWidget *menu_button;
  GtkWidget *meter;
  GtkWidget *panes;
  GtkWidget *chats;
  GtkWidget *history_notice; /* apart, so that what is told of models takes nothing of it away */
  GtkWidget *banner;
  GtkWidget *start;
  GtkWidget *chat;
  GtkWidget *inspector;

  KvasirEngineClient *client;  /* (owned) */
  KvasirHistory *history;      /* (owned) */
  KvasirAnswers *answers;      /* (owned) */
  KvasirSettings *settings;    /* (owned) */
  KvasirModelLibrary *library; /* (owned) */
  char *build_facts;           /* (owned) */

  KvasirChat *current;        /* (owned) (nullable) */
  GSignalGroup *chat_signals; /* (owned) of current */
  char *loading_path;         /* (owned) (nullable) */
  guint64 load_request;
  guint snapshot_id; /* slow readers of snapshots wait for it, 0: none */
  gboolean views_added;
};

/* ---- window.c */
/* Shows the chat; NULL: the start page. */
void kvasir_window_show_chat (KvasirWindow *self, KvasirChat *chat);
/* A chat without a message, the one that is there already or a new one. */
void kvasir_window_show_new_chat (KvasirWindow *self);
void kvasir_window_update_title (KvasirWindow *self);
void kvasir_window_toast (KvasirWindow *self, const char *text);

/* ---- window-engine.c */
void kvasir_window_connect_engine (KvasirWindow *self);
/* Loads @path with @n_ctx cells, 0: the default. */
void kvasir_window_load (KvasirWindow *self, const char *path, guint n_ctx);
void kvasir_window_choose_file (KvasirWindow *self);
void kvasir_window_add_drop_target (KvasirWindow *self);

typedef void (*KvasirWindowPathFunc) (KvasirWindow *self, const char *path);
/* A chooser for files of models; @chosen is called where a person takes one. */
void
kvasir_window_ask_for_model (KvasirWindow *self, const char *title, KvasirWindowPathFunc chosen);

/* ---- window-guesses.c */
void kvasir_window_add_guess_actions (KvasirWindow *self);
/* As it was chosen in an earlier run, before a model is loaded. */
void kvasir_window_restore_guesses (KvasirWindow *self);
/* A GUESSES notice came. */
void kvasir_window_follow_guesses (KvasirWindow *self, const KvasirNotice *notice);

/* ---- window-actions.c, window-message-actions.c */
void kvasir_window_add_actions (KvasirWindow *self);
void kvasir_window_add_message_actions (KvasirWindow *self);
/* Sensitivity that follows the chat and the model. */
void kvasir_window_update_actions (KvasirWindow *self);

/* ---- window-dialogs.c */
void kvasir_window_ask_title (KvasirWindow *self, KvasirChat *chat);
void kvasir_window_ask_system_prompt (KvasirWindow *self);
void kvasir_window_ask_link (KvasirWindow *self, const char *uri);
void kvasir_window_show_about (KvasirWindow *self);

G_END_DECLS
