/* engine/memory/memory-private.h - the inside of a memory, for its own files and its parts
 *
 * memory.c holds the operations on sequences, memory-batch.c the two phases, memory-look.c what is
 * read, memory-new.c makes it. Thread: engine thread.
 */
#pragma once

#include "engine/error.h"
#include "engine/memory/memory-params.h"
#include "engine/memory/part.h"

G_BEGIN_DECLS

#define KVASIR_MAX_PARTS 3

struct _KvasirMemory
{
  KvasirMemoryClass klass;
  guint n_seq_max;
  guint n_streams;
  guint n_ubatch;
  guint n_rs_seq;
  gboolean is_unified;
  gboolean is_sliding; /* a part forgets what its window has passed */
  gboolean is_lenient; /* windows may come to miss cells */
  gboolean v_transposed;
  guint n_layers;
  KvasirMemoryLayer *layers;  /* (owned) [n_layers], by the model's layer number */
  const char *shift_obstacle; /* static, NULL: can shift */
  char *arch;                 /* (owned) */
  guint32 rope_hash;
  guint n_ctx_seq;
  guint n_pos_per_token;

  guint n_parts;
  KvasirPart *parts[KVASIR_MAX_PARTS]; /* (owned) attention first: full, sliding, recurrent */

  /* Two memories over the same cells, see memory-borrow.c. */
  KvasirMemory *other;    /* (unowned) (nullable) whose cells these are */
  KvasirMemory *borrower; /* (unowned) (nullable) to whom they are lent */
  gint *lent_layers; /* (owned) (nullable) [n_layers] the lender's layers, -1: rows of its own */
  gint32 *reached;   /* (owned) (nullable) [n_seq_max] up to where own rows follow the cells */

  /* The batch in flight. */
  KvasirBatchPlan *plan;      /* (unowned) (nullable): no ubatch is left */
  guint n_applied;            /* of its ubatches */
  const KvasirUbatch *ubatch; /* (unowned) (nullable): applied last */
  gboolean is_in_flight;      /* it can still be taken back */
  gint32 *numbers;            /* (owned) [3 * n_ubatch], data of the event in hand */

  KvasirEventSink sink; /* emit is NULL where nobody listens */
  guint32 step;
};

static inline gboolean
kvasir_memory_is_watched (const KvasirMemory *self)
{
  return self->sink.emit != NULL;
}

/* The ubatch applied last stays, and no other one of its batch follows: comes before everything
 * that changes the memory but the next ubatch. */
void kvasir_memory_finish_batch (KvasirMemory *self);

/* memory-borrow.c. Takes the cells of params->other, if there is one. */
gboolean
kvasir_memory_borrow (KvasirMemory *self, const KvasirMemoryParams *params, GError **error);
void kvasir_memory_give_back (KvasirMemory *self);
/* @seq, -1 all, has changed at @pos and behind. */
void kvasir_memory_lower_reach (KvasirMemory *self, gint seq, gint32 pos);
void kvasir_memory_lower_reach_to (KvasirMemory *self, const KvasirUbatch *ubatch);
/* The borrower's own rows of @ubatch are written. */
void kvasir_memory_raise_reach (KvasirMemory *self, const KvasirUbatch *ubatch);

/* Sets @error. Returns: FALSE, so that checks can end with it */
gboolean kvasir_memory_fail (GError **error, KvasirEngineError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Whether @seq holds cells of which no state tells, after an empty checkpoint. It is not empty, but
 * can only be read again from its start. Traces go by the state. */
gboolean kvasir_memory_lacks_state (const KvasirMemory *self, guint seq);

/* Gives @event, completed with the step, to the sink if there is one. */
void kvasir_memory_emit (KvasirMemory *self, KvasirEvent *event, const gint32 *data, guint n_data);

G_END_DECLS
