/* tests/engine/memory/hybrid-rig.h - memories with a state, of which only the books are kept */
#pragma once

#include "tests/engine/memory/support.h"

#define HYBRID_N_LAYERS 3
#define HYBRID_N_SEQS 3
#define HYBRID_N_BATCH 64
#define HYBRID_N_UBATCH 8

typedef struct
{
  KvasirMemoryClass klass;
  guint n_streams;
  guint n_rs_seq;
  const char *shift_obstacle;
} HybridShape;

/* Layers 0 and 2 have attention, 1 and 2 a state, as far as the class has them; 256 cells. */
KvasirMemory *hybrid_memory_new (TestHeap *heap, const HybridShape *shape);
KvasirBatchPlan *hybrid_plan_new (void);

/* Tokens of one sequence each. Where their positions are given they are not checked. */
typedef struct
{
  guint n;
  gint32 seqs[HYBRID_N_BATCH];
  const gint32 *pos;
} HybridTokens;

/* @fail_at: this ubatch is taken back. Returns: what decode does, 0, 1, -1 or -3 */
gint hybrid_decode (KvasirMemory *memory,
                    KvasirBatchPlan *plan,
                    const HybridTokens *given,
                    guint fail_at);

/* Everything that can be seen, as text. */
void hybrid_describe_cache (const KvasirMemory *memory, guint cache, GString *text);
char *hybrid_describe (const KvasirMemory *memory);
