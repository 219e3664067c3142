/* engine/memory/events.h - what happened in the engine, in the order in which it happened
 *
 * One log feeds every view. Events speak of runs, never of single cells. Each operation emits one
 * event that names its cause and arguments, followed by one KVASIR_EVENT_CELLS for every run of
 * cells that it changed. A CELLS event carries the run before and after, so that the log can be
 * played in both directions without asking the engine.
 *
 * Thread: emitted on the engine thread; a sink must neither block nor allocate.
 */
#pragma once

#include <glib.h>

#include "engine/memory/seq-set.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_EVENT_STEP_BEGIN, /* a decode call: n tokens; a = number of outputs */
  KVASIR_EVENT_STEP_END,   /* a = return code, b = microseconds */
  KVASIR_EVENT_UBATCH, /* n tokens, a = index within the step, b = n_kv; data: per token id, pos,
                          seq */
  KVASIR_EVENT_SEARCH, /* cell = head before, n = cells wanted, a = cells tested, b = 1 if the
                          search restarted at 0; data: pairs (first cell, cells) taken */
  KVASIR_EVENT_SEARCH_FAILED, /* cell = head, n = needed, a = free cells, b = largest free run */
  KVASIR_EVENT_CELLS,         /* a run changed, see KvasirEvent; data: token ids before (if any were
                                 held), then after (if any are held) */
  KVASIR_EVENT_PURGE,    /* seq, pos = first, a = one past the last position removed, cell = the
                            cell whose reuse caused it */
  KVASIR_EVENT_SEQ_RM,   /* seq (-1 all), pos = p0, a = p1 */
  KVASIR_EVENT_SEQ_CP,   /* seq = source, b = destination, pos = p0, a = p1 */
  KVASIR_EVENT_SEQ_KEEP, /* seq */
  KVASIR_EVENT_SEQ_ADD,  /* seq, pos = p0, a = p1, b = delta */
  KVASIR_EVENT_SEQ_DIV,  /* seq, pos = p0, a = p1, b = divisor */
  KVASIR_EVENT_SHIFT_APPLIED, /* n cells whose keys were turned, b = microseconds */
  KVASIR_EVENT_HEAD,          /* cell = new head, a = old head */
  KVASIR_EVENT_HORIZON,       /* a = new n_kv, b = old n_kv */
  KVASIR_EVENT_CLEAR,         /* a = 1 if the buffers were zeroed */
  KVASIR_EVENT_ROLLBACK,      /* a failed or aborted ubatch was taken back: n tokens */
  KVASIR_EVENT_STATE_SAVE,    /* seq (-1 whole), n cells, a = bytes */
  KVASIR_EVENT_STATE_LOAD,    /* seq (-1 whole), n cells, a = bytes, b = 1 ok, 0 refused */
  KVASIR_EVENT_BUFFER, /* a = bytes (negative: freed), b = KvasirMemoryKind; text = buffer type */
  KVASIR_EVENT_SAMPLE, /* a = token id, seq, pos; data: pairs (id, probability in millionths) */
  KVASIR_EVENT_EVICT,  /* seq was dropped to make room, n cells, a = chat id low half */
  KVASIR_EVENT_NOTE,   /* text */
  KVASIR_EVENT_ERROR   /* text */
} KvasirEventType;

/* One side of a changed run. */
typedef struct
{
  gint32 pos;        /* of the first cell, rising by one along the run; -1: the run is empty */
  gint32 shift;      /* pending, the same along the run */
  KvasirSeqSet seqs; /* empty set where the run is empty */
} KvasirRunState;

#define KVASIR_EVENT_TEXT 48

typedef struct
{
  KvasirEventType type;
  guint16 cache; /* 0 base, 1 sliding, ... */
  guint16 stream;
  guint32 step;   /* decode calls since the memory was made */
  gint64 time_us; /* monotonic; filled by the sink's owner */
  gint32 seq;
  gint32 cell;
  gint32 n;
  gint32 pos;
  gint64 a;
  gint64 b;
  KvasirRunState before;        /* CELLS only */
  KvasirRunState after;         /* CELLS only */
  char text[KVASIR_EVENT_TEXT]; /* NUL-terminated */
} KvasirEvent;

typedef struct
{
  /* @data: @n_data further numbers, valid during the call. */
  void (*emit) (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data);
  gpointer user_data;
} KvasirEventSink;

G_END_DECLS
