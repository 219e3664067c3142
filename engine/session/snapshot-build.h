/* engine/session/snapshot-build.h - makes snapshots of a session
 *
 * Owner:  the caller gets one reference. Thread: engine thread, between steps or between physical
 * batches.
 */
#pragma once

#include "engine/session/session.h"
#include "engine/session/snapshot.h"

G_BEGIN_DECLS

/* A snapshot with its count; only the functions of snapshot.h look at it so. */
typedef struct
{
  KvasirSnapshot shot;
  gint n_refs; /* atomic */
} KvasirSnapshotOwned;

/* What a snapshot needs to know beside the session. */
typedef struct
{
  KvasirViews views;
  guint64 sequence;
  guint64 model_id;
  guint32 step;
  KvasirDevice *device;
  const GArray *planned; /* (nullable) of KvasirMemoryRow */
  /* Asking for these takes long, so they are asked for now and then only. */
  guint64 weights_resident_bytes;
  guint64 process_resident_bytes;
} KvasirSnapshotSpec;

/* @session: (nullable): without a model all parts are NULL. */
KvasirSnapshot *kvasir_snapshot_build (KvasirSession *session,
                                       const KvasirSnapshotSpec *spec) G_GNUC_WARN_UNUSED_RESULT;
/* Of this process, in bytes; 0 where the system does not tell. */
guint64 kvasir_process_get_resident_bytes (void);

G_END_DECLS
