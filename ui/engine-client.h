/* ui/engine-client.h - the main thread's end of the engine
 *
 * Owns the worker. Commands go out and return a request id; what comes back is drained by one
 * source of the main loop, at most one pending, and given on as signals after everything was
 * taken out of the mailbox. Nothing here ever waits for the engine, except when the object is
 * disposed: that stops the step that runs and joins the thread.
 *
 * Users keep the request id of what they asked for and drop notices of other ids. They connect
 * with g_signal_connect_object(), so that closing in the middle of an answer leaves nothing behind.
 *
 * Thread: main thread only.
 */
#pragma once

#include <glib-object.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

/* What the engine does, as far as the main thread has heard. */
typedef enum
{
  KVASIR_ENGINE_NO_MODEL,
  KVASIR_ENGINE_LOADING,
  KVASIR_ENGINE_READY,
  KVASIR_ENGINE_READING, /* a prompt; from the moment it was sent */
  KVASIR_ENGINE_WRITING  /* an answer */
} KvasirEngineState;

#define KVASIR_TYPE_ENGINE_STATE (kvasir_engine_state_get_type ())
GType kvasir_engine_state_get_type (void) G_GNUC_CONST;

/* KvasirModel as a boxed type, for properties. */
#define KVASIR_TYPE_MODEL (kvasir_model_get_type ())
GType kvasir_model_get_type (void) G_GNUC_CONST;

/* Properties, all read-only and notified on the main thread:
 *   "state"          KvasirEngineState
 *   "busy"           gboolean, reading or writing
 *   "model"          KvasirModel, boxed, NULL where none is loaded
 *   "load-fraction"  double, 0 ... 1
 *
 * Signals; the pointers hold during the emission only (snapshots may be referenced):
 *   "notice"    (const KvasirNotice *)    each one, in order
 *   "events"    (const KvasirMail *)      where events or a gap came; see kvasir_mail_next_event()
 *   "snapshot"  (const KvasirSnapshot *)  the newest, after the notices and events of its drain
 * A notice's effect on the properties is there before its signal. */
#define KVASIR_TYPE_ENGINE_CLIENT (kvasir_engine_client_get_type ())
G_DECLARE_FINAL_TYPE (KvasirEngineClient, kvasir_engine_client, KVASIR, ENGINE_CLIENT, GObject)

/* @device: outlives the client. */
KvasirEngineClient *kvasir_engine_client_new (KvasirDevice *device) G_GNUC_WARN_UNUSED_RESULT;

KvasirEngineState kvasir_engine_client_get_state (KvasirEngineClient *self);
gboolean kvasir_engine_client_get_busy (KvasirEngineClient *self);
double kvasir_engine_client_get_load_fraction (KvasirEngineClient *self);
/* Returns: (transfer none) (nullable) */
KvasirModel *kvasir_engine_client_get_model (KvasirEngineClient *self);
/* The settings that were asked for with the model that is loaded or loading, else the defaults. */
const KvasirContextParams *kvasir_engine_client_get_params (KvasirEngineClient *self);
/* The oldest request that was sent and has not ended, and its chat; 0: none. */
guint64 kvasir_engine_client_get_request (KvasirEngineClient *self);
guint64 kvasir_engine_client_get_chat (KvasirEngineClient *self);
/* The newest snapshot, for a page that was just opened. Returns: (transfer none) (nullable) */
const KvasirSnapshot *kvasir_engine_client_get_snapshot (KvasirEngineClient *self);

/* ---- commands; see engine/session/worker.h. Each returns its request id. */
guint64 kvasir_engine_client_load (KvasirEngineClient *self,
                                   const char *path,
                                   const KvasirContextParams *params);
guint64 kvasir_engine_client_set_guesses (KvasirEngineClient *self,
                                          const KvasirGuessParams *params);
guint64 kvasir_engine_client_unload (KvasirEngineClient *self);
/* (transfer full) request */
guint64 kvasir_engine_client_send (KvasirEngineClient *self, KvasirRequest *request);
/* Whatever runs: loading, reading or writing. */
void kvasir_engine_client_stop (KvasirEngineClient *self);
/* (transfer full) request */
guint64 kvasir_engine_client_count (KvasirEngineClient *self, KvasirRequest *request);
guint64 kvasir_engine_client_measure (KvasirEngineClient *self,
                                      const char *path,
                                      const KvasirContextParams *params);
guint64 kvasir_engine_client_drop_chat (KvasirEngineClient *self, guint64 chat_id);
guint64 kvasir_engine_client_clear (KvasirEngineClient *self);
guint64 kvasir_engine_client_seq_op (KvasirEngineClient *self, const KvasirSeqOp *op);
guint64
kvasir_engine_client_save_state (KvasirEngineClient *self, guint64 chat_id, const char *path);
guint64
kvasir_engine_client_load_state (KvasirEngineClient *self, guint64 chat_id, const char *path);

/* ---- views. Counted for each bit, so that several pages may show the same one; what nobody shows
 * is not built. Call in map and unmap. */
void kvasir_engine_client_add_views (KvasirEngineClient *self, KvasirViews views);
void kvasir_engine_client_remove_views (KvasirEngineClient *self, KvasirViews views);

G_END_DECLS
