/* viz/view.h - what the five views have in common
 *
 * A view turns frozen parts of a snapshot into a picture: update() lays out, draw() paints,
 * hit() says what lies under a point, describe() says it in words. It has no idea of widgets,
 * time or the engine's state.
 *
 * Owner:  the widget that shows it. Thread: one at a time; no locks.
 * Data:   what update() was given must stay until the next update(); views never change it.
 * Units:  logical pixels.
 */
#pragma once

#include <cairo.h>
#include <glib.h>

#include "engine/session/snapshot.h"
#include "viz/canvas.h"

G_BEGIN_DECLS

/* Parts of one snapshot or of several; each may be NULL. */
typedef struct
{
  const KvasirCellsShot *cells;
  const KvasirMaskShot *mask; /* and those of the next caches behind it */
  const KvasirMemoryShot *memory;
  guint32 step;
} KvasirVizData;

typedef enum
{
  KVASIR_THING_NONE,
  KVASIR_THING_CELL,     /* cache, stream, cell */
  KVASIR_THING_SEQUENCE, /* seq: a row of a legend or of positions */
  KVASIR_THING_SHARED,   /* all shared cells */
  KVASIR_THING_FREE,     /* all free cells */
  KVASIR_THING_POSITION, /* seq, pos */
  KVASIR_THING_HOLE,     /* seq, pos, n */
  KVASIR_THING_MASK,     /* cache, stream, row, cell */
  KVASIR_THING_DECODE,   /* cache, stream, row of the waterfall, cell */
  KVASIR_THING_BYTES,    /* index: a part of the memory page */
  KVASIR_THING_MESSAGE,  /* message_id: all its cells */
  KVASIR_THING_RUNS      /* the runs given to kvasir_view_set_runs() */
} KvasirThingKind;

typedef struct
{
  KvasirThingKind kind;
  guint cache;
  guint stream;
  guint cell;
  guint row;
  gint seq;
  gint32 pos;
  gint32 n;
  guint index;
  guint64 message_id;
} KvasirThing;

gboolean kvasir_thing_equal (const KvasirThing *a, const KvasirThing *b);

typedef struct
{
  guint cache;
  guint stream;
  guint cell;
  guint n;
} KvasirCellRun;

typedef enum
{
  KVASIR_MOVE_LEFT,
  KVASIR_MOVE_RIGHT,
  KVASIR_MOVE_UP,
  KVASIR_MOVE_DOWN,
  KVASIR_MOVE_PAGE_UP,
  KVASIR_MOVE_PAGE_DOWN,
  KVASIR_MOVE_FIRST,
  KVASIR_MOVE_LAST
} KvasirMove;

/* Returns: (transfer full): UTF-8 of one token, for people */
typedef char *(*KvasirTokenTextFunc) (gint32 token, gpointer user_data);

/* Returns: (transfer full) (nullable): the title of a chat */
typedef char *(*KvasirChatNameFunc) (guint64 chat_id, gpointer user_data);

typedef struct _KvasirView KvasirView;

KvasirView *kvasir_cells_view_new (void) G_GNUC_WARN_UNUSED_RESULT;
KvasirView *kvasir_positions_view_new (void) G_GNUC_WARN_UNUSED_RESULT;
KvasirView *kvasir_mask_view_new (void) G_GNUC_WARN_UNUSED_RESULT;
KvasirView *kvasir_memory_view_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_view_free (KvasirView *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirView, kvasir_view_free)

/* The parts of a snapshot that it draws. */
KvasirViews kvasir_view_get_needs (const KvasirView *self);
/* See kvasir_canvas_set_font(). */
void kvasir_view_set_font (KvasirView *self, const char *family, double size);
/* @func NULL: ids are shown instead. */
void kvasir_view_set_token_text (KvasirView *self, KvasirTokenTextFunc func, gpointer user_data);
/* @func NULL: chats have no names. */
void kvasir_view_set_chat_name (KvasirView *self, KvasirChatNameFunc func, gpointer user_data);
/* The cells that KVASIR_THING_RUNS stands for; copied. */
void kvasir_view_set_runs (KvasirView *self, const KvasirCellRun *runs, guint n_runs);
/* What the picture should bring out (a sequence among the cells, a row of the mask), NULL: nothing.
 * TRUE where the picture changes by it; an update is due then. */
gboolean kvasir_view_set_focus (KvasirView *self, const KvasirThing *thing);

/* Lays out for new data, or for a new size with the same data. @scale: device pixels per logical
 * one. */
void kvasir_view_update (
    KvasirView *self, const KvasirVizData *data, double width, double height, double scale);
/* Whether there is anything to draw. */
gboolean kvasir_view_has_data (const KvasirView *self);
double kvasir_view_get_min_width (const KvasirView *self);
/* The height below which something would not be shown; of the last update. */
double kvasir_view_get_min_height (const KvasirView *self);
void kvasir_view_draw (KvasirView *self, cairo_t *cr);

/* FALSE where nothing is. */
gboolean kvasir_view_hit (KvasirView *self, double x, double y, KvasirThing *thing);
/* Marks a thing over the picture: 1 px while hovered, 2 px when @locked, with a tooltip where the
 * view has one. FALSE, and nothing drawn, where the thing is not in the data any more. */
gboolean
kvasir_view_draw_mark (KvasirView *self, cairo_t *cr, const KvasirThing *thing, gboolean locked);
/* Moves the cursor; a thing of another kind is replaced by a first one. FALSE where it can't. */
gboolean kvasir_view_move (KvasirView *self, KvasirThing *thing, KvasirMove move);
/* Nearest thing of this view's own kind for one of another view (a cell for a position). */
gboolean
kvasir_view_translate (KvasirView *self, const KvasirThing *thing, KvasirThing *translated);

/* ---- words; lines end with \n. */
/* @thing NULL: the whole page in one or two lines. */
void kvasir_view_describe (KvasirView *self, const KvasirThing *thing, GString *out);
/* Everything the picture shows, as a text that can be read without it. */
void kvasir_view_append_text (KvasirView *self, GString *out);

/* ---- views that can zoom and scroll by themselves; the others ignore it. */
/* All return TRUE where an update is due. @delta 0: fit everything; else steps in or out, around
 * @anchor (nullable). */
gboolean kvasir_view_zoom (KvasirView *self, gint delta, const KvasirThing *anchor);
gboolean kvasir_view_scroll (KvasirView *self, double rows);
/* Brings what was written last into sight. */
gboolean kvasir_view_follow (KvasirView *self);
/* Brings a thing into sight. */
gboolean kvasir_view_reveal (KvasirView *self, const KvasirThing *thing);

G_END_DECLS
