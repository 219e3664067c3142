/* tests/engine/memory/replay.h - plays the event log in both directions
 *
 * Knows nothing of the memory but its size and its events, as the timeline of a view does.
 */
#pragma once

#include "engine/memory/memory.h"

typedef struct
{
  guint size;
  KvasirCell *cells; /* (owned) [size]; step is not played */
  guint head;
  guint n_kv;
  GPtrArray *log; /* (owned) of entries */
  guint n_played; /* how much of the log the cells reflect */
} Replay;

Replay *replay_new (guint size);
void replay_free (Replay *self);

/* Appends events to the log of @user_data, a Replay. */
KvasirEventSink replay_get_sink (Replay *self);
const KvasirEvent *replay_peek_event (const Replay *self, guint i, const gint32 **data);
guint replay_get_n_events (const Replay *self);

/* Play to just before event @n of the log; every event must fit what it finds. */
void replay_seek (Replay *self, guint n);
/* Whether the cells played are those of @memory. */
void replay_assert_same (const Replay *self, const KvasirMemory *memory);
/* A hash of what is played. */
guint64 replay_hash (const Replay *self);
