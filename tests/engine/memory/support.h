/* tests/engine/memory/support.h - a memory to test with: buffers on the heap and a decode loop
 *
 * Rows written by test_decode() tell which token at which position of which layer they belong to,
 * so that a restore can be checked cell by cell.
 */
#pragma once

#include "engine/memory/memory-params.h"

typedef struct
{
  KvasirBufferType type; /* first: buffers know their heap by it */
  KvasirDevice device;
  gsize fail_above; /* larger buffers are refused */
  guint n_live;     /* buffers not freed yet */
  gsize n_live_bytes;
  guint n_settled; /* calls */
} TestHeap;

void test_heap_init (TestHeap *self);

#define TEST_N_LAYERS 3
#define TEST_N_VOCAB 384

typedef struct
{
  guint n_ctx;
  guint n_seq_max;
  guint n_batch;
  guint n_ubatch;
  KvasirType type;
} TestShape;

KvasirMemory *test_memory_new (TestHeap *heap, const TestShape *shape);
KvasirBatchPlan *test_plan_new (const TestShape *shape);

/* What decode returns, as in scenario files. @seen may be NULL; it is called for each ubatch. */
typedef void (*TestUbatchFunc) (const KvasirMemory *memory,
                                const KvasirUbatch *ubatch,
                                gpointer data);
gint test_decode (KvasirMemory *memory,
                  KvasirBatchPlan *plan,
                  const KvasirBatch *batch,
                  TestUbatchFunc seen,
                  gpointer data);
/* Decodes @n tokens of one sequence; their ids are made up from @seed. */
gint test_decode_some (KvasirMemory *memory, KvasirBatchPlan *plan, gint seq, guint n, guint seed);

/* Writes rows as a computation of @token would. */
void test_write_rows (const KvasirMemory *memory, guint cell, gint32 token);
/* Whether the rows of @cell are those that were written for @token. Positions are left out, so that
 * a cell can be moved. */
void test_assert_rows (KvasirMemory *memory, guint cell, gint32 token);

/* Everything that can be seen of the cells, as text. */
char *test_memory_describe (KvasirMemory *memory);
/* A hash over all bytes of the buffers. */
guint64 test_memory_hash_rows (KvasirMemory *memory);
