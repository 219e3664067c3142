/* ui/store/store.h - the chat history, kept on a thread of its own
 *
 * Every call returns at once. What is written is copied, queued and committed in order on the
 * store's thread; what is read comes back on the main loop. A write that fails for want of space
 * or rights is kept and tried again every two seconds, in order, and "trouble" says so.
 *
 * Owner:  KvasirHistory. Thread: main thread; the store's thread is its own business.
 * Files:  one SQLite file, see ui/store/database.h.
 */
#pragma once

#include <gio/gio.h>

#include "ui/store/database.h"

G_BEGIN_DECLS

/* Signal "trouble" (const char *message): writing fails, with SQLite's words; NULL: it works
 * again. */
#define KVASIR_TYPE_STORE (kvasir_store_get_type ())
G_DECLARE_FINAL_TYPE (KvasirStore, kvasir_store, KVASIR, STORE, GObject)

/* Starts the thread, which opens @path. */
KvasirStore *kvasir_store_new (const char *path) G_GNUC_WARN_UNUSED_RESULT;

/* How opening went. Must be the first call, and be made once. */
void kvasir_store_open_async (KvasirStore *self, GAsyncReadyCallback callback, gpointer user_data);
KvasirStoreOpening *kvasir_store_open_finish (KvasirStore *self,
                                              GAsyncResult *result,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The next id for a chat or a message; both draw from one row of rising numbers. After opening. */
guint64 kvasir_store_take_id (KvasirStore *self);

/* ---- writes. @callback (nullable) is called when it is on the disk, or has failed once. */
void kvasir_store_put_chat_async (KvasirStore *self,
                                  const KvasirChatRecord *chat,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
void kvasir_store_put_message_async (KvasirStore *self,
                                     const KvasirMessageRecord *message,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
void kvasir_store_delete_chat_async (KvasirStore *self,
                                     guint64 chat_id,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
void kvasir_store_delete_message_async (KvasirStore *self,
                                        guint64 message_id,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);
gboolean kvasir_store_write_finish (KvasirStore *self, GAsyncResult *result, GError **error);

/* ---- reads, answered after all writes that were asked for before. */
/* Of KvasirChatRecord, latest first. */
void
kvasir_store_list_chats_async (KvasirStore *self, GAsyncReadyCallback callback, gpointer user_data);
/* Of KvasirMessageRecord, parents before children. */
void kvasir_store_list_messages_async (KvasirStore *self,
                                       guint64 chat_id,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);
/* Of KvasirSearchHit. */
void kvasir_store_search_async (KvasirStore *self,
                                const char *text,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);
/* Returns: (transfer full): rows with their free function set */
GPtrArray *kvasir_store_read_finish (KvasirStore *self,
                                     GAsyncResult *result,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Does what is queued and ends the thread; the one call that waits. Later calls are a caller's
 * mistake. */
void kvasir_store_close (KvasirStore *self);

G_END_DECLS
