/* ui/store/database.h - the history file, seen from the store's thread
 *
 * One connection, WAL with full synchronisation, locked exclusively: a commit that returned
 * survives a crash and a power cut, and no shared memory file is mapped. A file that is damaged is
 * moved aside, never overwritten; where the file can't be used the history lives in memory.
 *
 * Owner: the store. Thread: the store's; every call may wait for the disk.
 * Errors: KVASIR_STORE_ERROR, the message is SQLite's.
 */
#pragma once

#include <glib.h>

#include "ui/store/records.h"

G_BEGIN_DECLS

#define KVASIR_STORE_ERROR (kvasir_store_error_quark ())
GQuark kvasir_store_error_quark (void);

typedef enum
{
  KVASIR_STORE_ERROR_FULL,    /* no space, quota */
  KVASIR_STORE_ERROR_IO,      /* the disk or the folder's rights */
  KVASIR_STORE_ERROR_CORRUPT, /* found while running */
  KVASIR_STORE_ERROR_GONE     /* the chat that it belongs to was deleted */
} KvasirStoreError;

typedef enum
{
  KVASIR_STORE_KEPT,        /* normal */
  KVASIR_STORE_MOVED_ASIDE, /* the old file was damaged; a new one was begun */
  KVASIR_STORE_IN_USE,      /* another program holds it; in memory */
  KVASIR_STORE_NEWER,       /* a later Kvasir wrote it; in memory */
  KVASIR_STORE_IN_MEMORY    /* cannot be opened or written; in memory */
} KvasirStoreStatus;

typedef struct
{
  KvasirStoreStatus status;
  char *detail;        /* (owned) (nullable): SQLite's words */
  char *aside_path;    /* (owned) (nullable): where the damaged file is now */
  guint64 last_id;     /* the highest id in use, of chats and messages */
  guint n_interrupted; /* answers that were being written when the last run ended */
} KvasirStoreOpening;

void kvasir_store_opening_free (KvasirStoreOpening *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirStoreOpening, kvasir_store_opening_free)

typedef struct _KvasirDatabase KvasirDatabase;

/* Never fails: see KvasirStoreStatus. */
KvasirDatabase *kvasir_database_new (const char *path,
                                     KvasirStoreOpening *opening) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_database_free (KvasirDatabase *self);

/* Inserts or replaces. */
gboolean
kvasir_database_put_chat (KvasirDatabase *self, const KvasirChatRecord *chat, GError **error);
gboolean kvasir_database_put_message (KvasirDatabase *self,
                                      const KvasirMessageRecord *message,
                                      GError **error);
gboolean kvasir_database_delete_chat (KvasirDatabase *self, guint64 chat_id, GError **error);
gboolean kvasir_database_delete_message (KvasirDatabase *self, guint64 message_id, GError **error);

/* Of KvasirChatRecord, latest first. Returns: (transfer full) (nullable) */
GPtrArray *kvasir_database_list_chats (KvasirDatabase *self, GError **error);
/* Of KvasirMessageRecord, in order of creation, parents before children. */
GPtrArray *kvasir_database_list_messages (KvasirDatabase *self, guint64 chat_id, GError **error);
/* Of KvasirSearchHit: chats whose title or messages hold @text, whatever its case. */
GPtrArray *kvasir_database_search (KvasirDatabase *self, const char *text, GError **error);

G_END_DECLS
