/* ui/inspector/inspector-private.h - the parts of the inspector; only inspector*.c include it */
#pragma once

#include "ui/inspector/inspector.h"
#include "ui/inspector/log-page.h"
#include "ui/inspector/view-page.h"

G_BEGIN_DECLS

#define KVASIR_N_VIEW_PAGES KVASIR_INSPECTOR_LOG

struct _KvasirInspector
{
  AdwBin parent_instance;

  KvasirEngineClient *client; /* (owned) */
  GtkWidget *headline;
  GtkWidget *follow; /* the pill */
  GtkWidget *states; /* stack: empty, loading, pages */
  GtkWidget *loading;
  GtkWidget *progress;
  GtkWidget *forms; /* stack: picture, text */
  GtkWidget *pages; /* stack, named by number */
  GtkWidget *text;  /* text view */
  GtkWidget *details;
  KvasirViewPage *views[KVASIR_N_VIEW_PAGES];
  GtkWidget *nothing[KVASIR_N_VIEW_PAGES]; /* shown where a view has no data */
  KvasirLogPage *log;

  KvasirParts parts;      /* (owned): what is shown */
  KvasirParts latest;     /* (owned): what came last; newer than parts while paused */
  KvasirViews subscribed; /* asked for at the client */
  gboolean following;
  KvasirThing locked;
  gint64 words_us; /* when the details and the text form were last made */
  guint words_source;

  KvasirChatNameFunc chat_name;
  gpointer chat_name_data;
  GDestroyNotify chat_name_destroy;
};

/* inspector-build.c */
void kvasir_inspector_build (KvasirInspector *self);

/* inspector-data.c */
void kvasir_inspector_connect (KvasirInspector *self);
/* What is subscribed follows from the page and from being on screen. */
void kvasir_inspector_update_views (KvasirInspector *self);
/* The newest snapshot, as far as it is wanted. */
void kvasir_inspector_take_snapshot (KvasirInspector *self, const KvasirSnapshot *snapshot);
void kvasir_inspector_show_parts (KvasirInspector *self);
/* With the picture, so that both name the same number of cells. */
void kvasir_inspector_update_headline (KvasirInspector *self);
/* Headline, details and text form: at once after a person did something, else a few times a second.
 */
void kvasir_inspector_update_words (KvasirInspector *self);
void kvasir_inspector_queue_words (KvasirInspector *self);
/* KvasirTokenTextFunc and KvasirChatNameFunc; @user_data is the inspector. */
char *kvasir_inspector_dup_token_text (gint32 token, gpointer user_data);
char *kvasir_inspector_dup_chat_name (guint64 chat_id, gpointer user_data);

/* inspector.c */
void kvasir_inspector_lock (KvasirInspector *self, const KvasirThing *thing);
gboolean kvasir_inspector_get_text_form (KvasirInspector *self);

G_END_DECLS
