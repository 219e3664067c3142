/* engine/memory/part.h - what a memory is made of
 *
 * A memory is one to three parts: a KV cache, a pair of them (base and sliding), a recurrent one,
 * or a mixture. memory.c asks all parts before it changes the first, so that they change together
 * or not at all; a part therefore never fails in the middle. Ranges have been brought into [p0, p1)
 * with 0 <= p0 and p1 <= KVASIR_POS_END; sequences and streams are checked.
 *
 * Events: memory.c emits the one event of an operation (SEQ_RM, CLEAR, UBATCH, ROLLBACK, ...);
 * parts emit what follows from it, with their cache number: SEARCH, CELLS, PURGE, HEAD, HORIZON,
 * SHIFT_APPLIED, BUFFER.
 * Making one: a kind has a function such as
 *   KvasirPart *kvasir_recurrent_new (const KvasirMemoryParams *params, GError **error);
 * kvasir_memory_new() then sets memory, cache and name, before anything else is called.
 *
 * Owner: its memory. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/memory.h"
#include "engine/memory/state-io.h"

G_BEGIN_DECLS

typedef struct _KvasirPart KvasirPart;

typedef struct
{
  void (*free) (KvasirPart *self);
  /* Emits BUFFER events: 1 they are there, -1 they go. */
  void (*report_buffers) (KvasirPart *self, gint sign);
  void (*append_breakdown) (const KvasirPart *self, GArray *rows);
  void (*get_info) (const KvasirPart *self, KvasirCacheInfo *info);

  /* ---- sequences. can_* changes nothing; the operation itself then may not fail. */
  gboolean (*can_rm) (const KvasirPart *self, gint seq, gint32 p0, gint32 p1);
  void (*rm) (KvasirPart *self, gint seq, gint32 p0, gint32 p1);
  gboolean (*can_cp) (const KvasirPart *self, guint src, guint dst, gint32 p0, gint32 p1);
  void (*cp) (KvasirPart *self, guint src, guint dst, gint32 p0, gint32 p1);
  void (*keep) (KvasirPart *self, guint seq);
  /* NULL: always. */
  gboolean (*can_add) (const KvasirPart *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
  gboolean (*can_div) (const KvasirPart *self, guint seq, gint32 p0, gint32 p1, gint d);
  void (*add) (KvasirPart *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
  void (*div) (KvasirPart *self, guint seq, gint32 p0, gint32 p1, gint d);
  void (*clear) (KvasirPart *self, gboolean data);
  gint32 (*pos_min) (const KvasirPart *self, guint seq);
  gint32 (*pos_max) (const KvasirPart *self, guint seq);
  /* As kvasir_memory_get_rewind(), of this part alone. */
  gint32 (*get_rewind) (const KvasirPart *self, guint seq, gint32 p0);

  /* ---- the two phases, over a plan that was split already */
  /* Finds room for every ubatch, keeps it inside and takes everything back, heads included. FALSE:
   * no room. @relaxed: cells outside the window of all their owners may be taken where the plain
   * rule finds too few. */
  gboolean (*prepare) (KvasirPart *self, const KvasirBatchPlan *plan, gboolean relaxed);
  /* After a prepare that found no room: emits SEARCH_FAILED for the whole batch. NULL: silent. */
  void (*report_failure) (KvasirPart *self, guint n_tokens);
  /* n_kv of ubatch @i, known since prepare; NULL: this part has none. */
  guint (*get_planned_n_kv) (const KvasirPart *self, guint i);
  /* Occupies the places of ubatch @i. @ubatch holds until the next apply. */
  void (*apply) (KvasirPart *self, const KvasirUbatch *ubatch, guint i);
  /* The ubatch applied last was computed; nothing of it has to be taken back any more. Comes before
   * the next apply and before every other operation. NULL: nothing to do. */
  void (*commit) (KvasirPart *self);
  /* Takes the ubatch applied last back: cells, heads, purged positions, states. */
  void (*rollback) (KvasirPart *self);
  KvasirRoom (*get_room) (const KvasirPart *self, guint seq, guint n_tokens);

  /* ---- what a graph needs, as in memory.h. NULL where a part has nothing of the kind; get_layer
   * and get_state_layer leave NULL in their outputs for layers without rows here. */
  void (*get_layer) (const KvasirPart *self, guint layer, KvasirTensor **k, KvasirTensor **v);
  guint (*get_n_kv) (const KvasirPart *self);
  void (*fill_slots) (const KvasirPart *self, gint64 *slots);
  void (*fill_mask) (const KvasirPart *self, guint64 *words, gsize words_per_row);
  guint64 (*refresh_mask) (KvasirPart *self, guint64 *words, gsize words_per_row, guint64 stamp);
  void (*get_state_layer) (const KvasirPart *self, guint layer, KvasirTensor **r, KvasirTensor **s);
  guint (*get_n_keep) (const KvasirPart *self);
  void (*fill_state_rows) (const KvasirPart *self, gint32 *rows);

  /* ---- pending updates; NULL where there are none */
  gboolean (*has_update) (const KvasirPart *self);
  gboolean (*apply_copies) (KvasirPart *self);
  void (*update_done) (KvasirPart *self, gint64 duration_us);

  /* ---- state: a section of a blob. Reading has two steps, so that all parts have agreed before
   * the first one changes. */
  /* Appends this part's section. */
  gboolean (*state_write) (KvasirPart *self, gint seq, GByteArray *out, GError **error);
  /* Checks a section entirely, room included, and returns what is to be restored. NULL: @error. */
  gpointer (*state_check) (KvasirPart *self, gint seq, KvasirStateReader *reader, GError **error);
  /* Takes what state_check() returned, and frees it; @restore with apply FALSE: only frees. */
  void (*state_apply) (KvasirPart *self, gint seq, gpointer restore, gboolean apply);

  /* ---- looking, for parts whose cells are KvasirCells; NULL: get_cell answers */
  const KvasirCells *(*peek_cells) (const KvasirPart *self, guint stream);
  void (*get_cell) (const KvasirPart *self, guint cell, KvasirCell *out);
} KvasirPartVtable;

struct _KvasirPart
{
  const KvasirPartVtable *vtable;
  KvasirMemory *memory; /* (unowned) whose sink and step events get */
  guint16 cache;        /* number among the memory's caches, for events */
  const char *name;     /* "base", "swa", "attn", "attn_base", "attn_swa", "recurrent" */
};

G_END_DECLS
