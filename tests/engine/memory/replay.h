/* tests/engine/memory/replay.h - plays the event log in both directions
 *
 * Knows nothing of the memory but the sizes of its caches and its events, as the timeline of a view
 * does.
 */
#pragma once

#include "engine/memory/memory.h"

#define REPLAY_MAX_CACHES 3

typedef struct
{
  guint size;
  guint n_streams;
  KvasirCell *cells; /* (owned) [n_streams * size]; step is not played */
  guint *heads;      /* (owned) [n_streams] */
  guint n_kv;
} ReplayCache;

typedef struct
{
  guint n_caches;
  ReplayCache caches[REPLAY_MAX_CACHES];
  GPtrArray *log; /* (owned) of entries */
  guint n_played; /* how much of the log the cells reflect */
} Replay;

/* @memory: (nullable): events are only recorded */
Replay *replay_new (const KvasirMemory *memory);
void replay_free (Replay *self);

/* Appends events to the log of @user_data, a Replay. */
KvasirEventSink replay_get_sink (Replay *self);
const KvasirEvent *replay_peek_event (const Replay *self, guint i, const gint32 **data);
guint replay_get_n_events (const Replay *self);

/* Play to just before event @n of the log; every event must fit what it finds. */
void replay_seek (Replay *self, guint n);
/* Whether what was played is what @memory holds. */
void replay_assert_same (const Replay *self, const KvasirMemory *memory);
void replay_assert_empty (const Replay *self);
/* A hash of what is played. */
guint64 replay_hash (const Replay *self);
