/* engine/memory/memory-private.h - what a kind of memory implements
 *
 * A kind embeds KvasirMemory as its first member and fills the table. memory.c checks arguments and
 * has brought ranges into [p0, p1) with 0 <= p0 and p1 <= KVASIR_POS_END before it calls; entries
 * mean what the functions of memory.h say. Thread: engine thread.
 */
#pragma once

#include "engine/error.h"
#include "engine/memory/cells.h"
#include "engine/memory/memory.h"

G_BEGIN_DECLS

typedef struct
{
  void (*free) (KvasirMemory *self);
  /* Emits BUFFER events: 1 they are there, -1 they go. */
  void (*report_buffers) (KvasirMemory *self, gint sign);

  gboolean (*seq_rm) (KvasirMemory *self, gint seq, gint32 p0, gint32 p1);
  gboolean (*seq_cp) (KvasirMemory *self, guint src, guint dst, gint32 p0, gint32 p1);
  void (*seq_keep) (KvasirMemory *self, guint seq);
  gboolean (*seq_add) (KvasirMemory *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
  gboolean (*seq_div) (KvasirMemory *self, guint seq, gint32 p0, gint32 p1, gint d);
  void (*clear) (KvasirMemory *self, gboolean data);
  gint32 (*seq_pos_min) (const KvasirMemory *self, guint seq);
  gint32 (*seq_pos_max) (const KvasirMemory *self, guint seq);
  const char *(*get_shift_obstacle) (const KvasirMemory *self);

  KvasirPrepare (*init_batch) (KvasirMemory *self, KvasirBatchPlan *plan);
  gboolean (*apply_next) (KvasirMemory *self, const KvasirUbatch **ubatch);
  void (*rollback) (KvasirMemory *self);
  KvasirRoom (*get_room) (const KvasirMemory *self, guint n_tokens);

  guint (*get_n_caches) (const KvasirMemory *self);
  void (*get_layer) (
      const KvasirMemory *self, guint layer, KvasirTensor **k, KvasirTensor **v, guint *cache);
  guint (*get_n_kv) (const KvasirMemory *self, guint cache);
  void (*fill_slots) (const KvasirMemory *self, guint cache, gint64 *slots);
  void (*fill_mask) (const KvasirMemory *self, guint cache, guint64 *words, gsize words_per_row);

  gboolean (*has_update) (const KvasirMemory *self);
  void (*update_done) (KvasirMemory *self, gint64 duration_us);

  gboolean (*state_write) (
      KvasirMemory *self, gint seq, gboolean partial, GByteArray *out, GError **error);
  gboolean (*state_read) (KvasirMemory *self,
                          gint seq,
                          gboolean partial,
                          const guint8 *bytes,
                          gsize n_bytes,
                          GError **error);

  void (*get_cache_info) (const KvasirMemory *self, guint cache, KvasirCacheInfo *info);
  const KvasirCells *(*peek_cells) (const KvasirMemory *self, guint cache, guint stream);
  guint (*get_stream) (const KvasirMemory *self, guint cache, guint seq);
  void (*append_breakdown) (const KvasirMemory *self, GArray *rows);
} KvasirMemoryVtable;

struct _KvasirMemory
{
  const KvasirMemoryVtable *vtable;
  KvasirMemoryClass klass;
  guint n_seq_max;
  KvasirEventSink sink; /* emit is NULL where nobody listens */
  guint32 step;
};

static inline gboolean
kvasir_memory_is_watched (const KvasirMemory *self)
{
  return self->sink.emit != NULL;
}

/* Sets @error. Returns: FALSE, so that checks can end with it */
gboolean kvasir_memory_fail (GError **error, KvasirEngineError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Gives @event, completed with the step, to the sink if there is one. */
void kvasir_memory_emit (KvasirMemory *self, KvasirEvent *event, const gint32 *data, guint n_data);

G_END_DECLS
