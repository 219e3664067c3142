/* ui/store/records.h - rows of the history as plain values
 *
 * What crosses between the main thread and the store's thread. Owner: whoever holds it; copies are
 * deep. Thread: one at a time.
 */
#pragma once

#include <glib.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

/* How an answer ended. The values are stored: never renumber. */
typedef enum
{
  KVASIR_MESSAGE_COMPLETE = 0,
  KVASIR_MESSAGE_WRITING = 1,
  KVASIR_MESSAGE_STOPPED = 2,
  KVASIR_MESSAGE_LENGTH = 3,
  KVASIR_MESSAGE_NO_ROOM = 4,
  KVASIR_MESSAGE_FAILED = 5,
  KVASIR_MESSAGE_INTERRUPTED = 6, /* the app ended while it was written */
  KVASIR_MESSAGE_STOP_TEXT = 7,
  KVASIR_MESSAGE_REFUSED = 8 /* no token was allowed */
} KvasirMessageState;

typedef struct
{
  guint64 id;
  char *title;          /* (owned) */
  gboolean title_fixed; /* a person named it */
  gint64 created_us;    /* Unix time */
  gint64 updated_us;
  char *system_prompt;   /* (owned) */
  char *draft;           /* (owned) */
  char *sampling;        /* (owned): as ui/history/sampling.h writes it; "": the defaults */
  guint64 selected_root; /* first message of the path shown, 0: none */
} KvasirChatRecord;

typedef struct
{
  guint64 id;
  guint64 chat_id;
  guint64 parent_id; /* 0: a first message */
  KvasirRole role;
  KvasirMessageState state;
  char *content;  /* (owned) */
  gint32 *tokens; /* (owned) (nullable): generated ids, [n_tokens] */
  guint n_tokens;
  gint64 created_us;
  char *model_title; /* (owned) (nullable) */
  guint n_reused;
  guint n_read;
  gint64 generate_us;
  gint64 prefill_us;
  guint64 selected_child; /* next message of the path shown, 0: none */
  gboolean reasons;       /* the text begins inside the model's reasoning */
} KvasirMessageRecord;

/* A chat that holds the text looked for. */
typedef struct
{
  guint64 chat_id;
  char *snippet; /* (owned) (nullable): where it stands, NULL: in the title */
} KvasirSearchHit;

KvasirChatRecord *kvasir_chat_record_copy (const KvasirChatRecord *self) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_chat_record_free (KvasirChatRecord *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirChatRecord, kvasir_chat_record_free)

KvasirMessageRecord *
kvasir_message_record_copy (const KvasirMessageRecord *self) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_message_record_free (KvasirMessageRecord *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMessageRecord, kvasir_message_record_free)

void kvasir_search_hit_free (KvasirSearchHit *self);

G_END_DECLS
