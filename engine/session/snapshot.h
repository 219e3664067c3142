/* engine/session/snapshot.h - frozen pictures of the engine for the views
 *
 * Built on the engine thread between steps, only for views that are subscribed, latest wins. A
 * snapshot never changes after it was published; it is shared by reference count (atomic) and read
 * by any thread. The structs are plain values for reading.
 */
#pragma once

#include <glib.h>

#include "engine/memory/memory.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_VIEW_CELLS = 1 << 0, /* also feeds Positions, meter and headline */
  KVASIR_VIEW_MASK = 1 << 1,
  KVASIR_VIEW_MEMORY = 1 << 2,
  KVASIR_VIEW_LOG = 1 << 3 /* events are passed on */
} KvasirViews;

/* A maximal run of cells: occupied, rising by one, one sequence set, one pending shift. */
typedef struct
{
  guint32 cell;
  guint32 n;
  gint32 pos;
  gint32 shift;
  guint32 set; /* index into sets */
} KvasirSpan;

typedef struct
{
  guint head;
  guint used;
  guint used_max;   /* one past the last occupied cell */
  guint n_kv;       /* horizon of the last ubatch, 0 before the first */
  guint first_span; /* spans of this stream: [first_span, first_span + n_spans) */
  guint n_spans;
  guint n_holes; /* runs of free cells below used_max */
  guint largest_free_run;
} KvasirStreamShot;

typedef struct
{
  char name[16];
  guint size; /* cells of a stream */
  guint n_streams;
  gboolean is_recurrent; /* a cell is the state of a sequence after all of its tokens */
  guint n_swa;
  guint n_layers;
  guint64 bytes_per_cell;
  guint64 k_bytes_per_cell; /* K alone: all of it where V is a part of K; 0: states */
  char type_k[8];
  char type_v[8];
  KvasirStreamShot *streams; /* [n_streams] */
  KvasirSpan *spans;
  guint n_spans;
  KvasirSeqSet *sets;
  guint n_sets;
  gint32 *tokens; /* [n_streams * size], -1: empty or unknown */
  guint32 *steps; /* [n_streams * size], when written */
} KvasirCacheShot;

/* Who a sequence is. */
typedef struct
{
  gint seq;
  gint32 pos_min; /* of what the first cache holds; with states alone 0 */
  gint32 pos_max;
  guint n_cells;     /* held in the first cache */
  guint n_own;       /* of these, held by nobody else */
  guint64 chat_id;   /* 0: none */
  guint64 leaf_id;   /* message at the end of its path, 0: none */
  gint parent;       /* sequence it was forked from, -1 */
  gint32 parent_pos; /* first position that is its own */
} KvasirSeqShot;

/* Which message a position belongs to. Runs, ascending by sequence and position. */
typedef struct
{
  gint seq;
  gint32 pos;
  gint32 n;
  guint64 message_id;
  guint8 role; /* 0 system, 1 user, 2 assistant, 3 template text between messages */
} KvasirMessageRun;

typedef struct
{
  guint n_caches;
  KvasirCacheShot *caches;
  guint n_seqs;
  KvasirSeqShot *seqs; /* the non-empty ones, ascending */
  guint n_message_runs;
  KvasirMessageRun *message_runs;
} KvasirCellsShot;

/* Mask of one ubatch over one stream of one cache, as the kernel read it. */
typedef struct _KvasirMaskShot KvasirMaskShot;
struct _KvasirMaskShot
{
  KvasirMaskShot *next; /* (owned) (nullable): of the same ubatch over the next cache */
  char cache_name[16];
  guint cache;
  guint stream; /* whose cells the columns are */
  guint n_streams;
  guint ubatch; /* counted since the memory was made */
  guint n_rows;
  guint n_kv;
  guint size;
  guint n_swa;
  gint32 *row_tokens; /* [n_rows] */
  gint32 *row_pos;
  KvasirSeqSet *row_seqs;
  gsize words_per_row;
  guint64 *words;   /* [n_rows][words_per_row] */
  gint32 *cell_pos; /* [n_kv], -1: empty */
  KvasirSeqSet *cell_seqs;
  /* The last single-token steps, newest last, for the waterfall: rows of open cells. */
  guint n_waterfall;
  gsize waterfall_words;
  guint64 *waterfall; /* [n_waterfall][waterfall_words] */
};

typedef struct
{
  char device[16];
  guint64 total_bytes;
  guint64 free_bytes;
} KvasirDeviceShot;

typedef struct
{
  guint n_rows;
  KvasirMemoryRow *rows; /* measured: what was allocated */
  guint n_planned;
  KvasirMemoryRow *planned; /* what the planner said before loading */
  guint n_devices;
  KvasirDeviceShot *devices;
  guint64 weights_resident_bytes; /* of the mapped file */
  guint64 live_bytes;             /* live cells * bytes per cell */
  guint64 process_resident_bytes;
} KvasirMemoryShot;

typedef struct
{
  guint64 sequence;   /* rises with every snapshot */
  guint64 request_id; /* the request that was running, 0: none */
  guint64 model_id;   /* the load that it belongs to; stale ones are dropped */
  guint32 step;
  KvasirViews views;      /* which parts are there */
  KvasirCellsShot *cells; /* NULL if not asked for */
  KvasirMaskShot *mask;
  KvasirMemoryShot *memory;
} KvasirSnapshot;

const KvasirSnapshot *kvasir_snapshot_ref (const KvasirSnapshot *self);
void kvasir_snapshot_unref (const KvasirSnapshot *self);

/* The span that holds @cell of @stream, or NULL where it is free. */
const KvasirSpan *kvasir_cache_shot_find (const KvasirCacheShot *self, guint stream, guint cell);
/* The message run that holds the position, or NULL. */
const KvasirMessageRun *
kvasir_cells_shot_find_message (const KvasirCellsShot *self, gint seq, gint32 pos);

/* Why one entry of the mask is closed, by the tests in the order in which the mask is filled. */
typedef enum
{
  KVASIR_MASK_OPEN,
  KVASIR_MASK_EMPTY,
  KVASIR_MASK_OTHER_SEQUENCE,
  KVASIR_MASK_FUTURE,
  KVASIR_MASK_OUTSIDE_WINDOW,
  KVASIR_MASK_PADDING /* an empty cell above the last used one, below n_kv */
} KvasirMaskReason;

KvasirMaskReason kvasir_mask_shot_get_reason (const KvasirMaskShot *self, guint row, guint cell);

G_END_DECLS
