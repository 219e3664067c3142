/* backends/cpu/ops.h - operations as work for the pool
 *
 * Each node of a plan becomes one or more items: steps whose pieces may be done in any order by
 * any thread. Items of one node follow each other and hand data on through a slot, memory that
 * the plan owns. Sizes are those of the tensors' current extents, the slots those of the largest.
 *
 * Thread: count runs on the caller of a compute, run on any thread of the pool.
 */
#pragma once

#include "backends/cpu/kernels.h"

/* An item that is not more than this many simple element operations is one piece: handing it out
 * would cost more than doing it. */
#define KVASIR_PIECE_ELEMENTS 8192

/* So few that a thread that fetches between looks at whether it still waits is not late. */
#define KVASIR_FETCH_BYTES 2048

typedef struct
{
  const KvasirCpuKernels *kernels;
  const KvasirStep *step;
  int n_threads;    /* that share the step: may decide how work is cut, never what comes out */
  bool as_traces;   /* as the device was made, cpu.h */
  uint8_t *scratch; /* this thread's own */
  const struct KvasirBlas *blas; /* or NULL */
} KvasirOpRun;

typedef struct KvasirOpItem KvasirOpItem;

typedef struct
{
  /* Pieces with the extents as they are now; 0: nothing to do, 1: better not shared. */
  int64_t (*count) (const KvasirOpItem *item, const KvasirOpRun *run);
  void (*run) (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece);
  /* Fetches KVASIR_FETCH_BYTES of the bytes that a piece will read and that no earlier item writes,
   * from the @at-th on, by a thread that waits. FALSE: there are no more. NULL: not worth it. */
  bool (*fetch) (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece, size_t at);
  /* Asks for all that an item of one piece touches, which other threads have in their caches: one
   * line after the other would be waited for. NULL: not worth it. */
  void (*claim) (const KvasirOpItem *item, const KvasirOpRun *run);
  /* As run and fetch, of elements [begin, end) of the row that an item of one token makes. Both are
   * multiples of 32, but for the end of the row. NULL: it is made as a whole. */
  void (*run_part) (const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end);
  bool (*fetch_part) (
      const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end, size_t at);
  /* Needs the same elements of its sources alone for them. */
  bool is_elementwise;
  /* What it does with the node's slot and tensors, for ordering. */
  bool reads_sources;
  int first_source; /* those before it are not read */
  bool writes_dst;
  bool reads_slot;
  bool writes_slot;
  /* What it leaves in the slot depends on the sources it reads alone and serves later nodes too. */
  bool is_shareable;
} KvasirOpStage;

struct KvasirOpItem
{
  const KvasirOpStage *stage;
  const KvasirTensor *node;
  uint8_t *slot;
  int slot_id; /* 0: none */
  /* The earlier item that leaves the same in the same slot, or -1. */
  int same_as;
  /* The last earlier item that this one must not overtake, or -1. */
  int after;
  /* The first of the items that are made part by part together with this one where a step has one
   * token, or -1; and the last one not of them that it must not overtake. */
  int chain;
  int chain_after;
};

#define KVASIR_MAX_STAGES 2

typedef enum
{
  KVASIR_SLOT_NONE,
  KVASIR_SLOT_ACTS,   /* int8 activations */
  KVASIR_SLOT_INNER,  /* the same of what is computed element by element from products */
  KVASIR_SLOT_ANGLES, /* cosines and sines of a step's positions */
  KVASIR_SLOT_PARTS   /* attention over parts of the cells */
} KvasirSlotKind;

/* How the plan sees an operation on one node. */
typedef struct
{
  int n_stages;
  const KvasirOpStage *stages[KVASIR_MAX_STAGES];
  KvasirSlotKind slot_kind;
  size_t slot_bytes;
  size_t scratch_bytes; /* per thread */
} KvasirOpShape;

/* Fills @shape for a supported node; n_stages 0 where there is nothing to do. */
void kvasir_op_describe (const KvasirTensor *node,
                         const KvasirCpuKernels *kernels,
                         KvasirOpShape *shape);
bool kvasir_op_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);
/* Whether what @a leaves in a slot of its kind serves @b. */
bool kvasir_op_shares_slot (const KvasirTensor *a, const KvasirTensor *b);

/* Bytes from the first to behind the last element. */
size_t kvasir_tensor_get_span (const KvasirTensor *tensor);
int64_t kvasir_tensor_get_n_rows (const KvasirTensor *tensor);
bool kvasir_tensor_is_float (const KvasirTensor *tensor); /* and not NULL */
bool kvasir_tensor_has_shape_of (const KvasirTensor *a, const KvasirTensor *b);
/* The address of row (i1, i2, i3). */
uint8_t *kvasir_tensor_get_row (const KvasirTensor *tensor, int64_t i1, int64_t i2, int64_t i3);

/* Asks for the lines of @memory, up to a page of them, to be read or written soon. */
static inline void
kvasir_claim (const void *memory, size_t n_bytes, bool writes)
{
  for (size_t at = 0; at < n_bytes && at < 4096; at += 64)
    if (writes)
      __builtin_prefetch ((const uint8_t *) memory + at, 1, 3);
    else
      __builtin_prefetch ((const uint8_t *) memory + at, 0, 3);
}

/* Whether the first source comes from a product with a quantised matrix. It then differs from a
 * recorded one by more than what rounding alike could mend; as_traces would only add noise. */
bool kvasir_op_is_rough (const KvasirTensor *node);

/* Row (at[0], at[1], at[2]) of a result. */
typedef void (*KvasirRowFn) (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3]);

/* op-norm.c, op-choice.c: NULL for operations that are not theirs */
KvasirRowFn kvasir_norm_get_row_fn (KvasirOp op);
bool kvasir_norm_is_supported (const KvasirTensor *node);
KvasirRowFn kvasir_choice_get_row_fn (KvasirOp op);
bool kvasir_choice_is_supported (const KvasirTensor *node);

/* op-rows.c: operations whose rows are independent */
extern const KvasirOpStage kvasir_rows_stage;
extern const KvasirOpStage kvasir_elements_stage; /* of GLU and UNARY */
bool kvasir_rows_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);

/* op-mul-mat.c */
void kvasir_mul_mat_describe (const KvasirTensor *node,
                              const KvasirCpuKernels *kernels,
                              KvasirOpShape *shape);
bool kvasir_mul_mat_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);
/* What the product kernels need of scratch: a row in f32, or a tile of rows as f32 in both orders,
 * or a tile of bytes with scales and minimums. */
size_t kvasir_mul_mat_get_scratch_bytes (int64_t k);

/* op-experts.c */
void kvasir_experts_describe (const KvasirTensor *node,
                              const KvasirCpuKernels *kernels,
                              KvasirOpShape *shape);
bool kvasir_experts_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);

/* op-heads.c: MUL_MAT with a matrix per head */
bool kvasir_heads_have_matrices (const KvasirTensor *node);
void kvasir_heads_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_heads_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);

/* recurrent.c: the source that the operation also writes, and the source that says which rows of
 * it; NULL for operations without a state. */
const KvasirTensor *kvasir_op_get_state (const KvasirTensor *node);
const KvasirTensor *kvasir_op_get_state_rows (const KvasirTensor *node);
/* Whether there are both, and place for a state of @n_floats. */
bool kvasir_op_is_state_supported (const KvasirTensor *node, int64_t n_floats);

/* op-conv.c */
void kvasir_conv_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_conv_is_supported (const KvasirTensor *node);

/* op-scan.c: SSM_SCAN, WKV7, DELTA */
void kvasir_scan_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_scan_is_supported (const KvasirTensor *node);

/* op-rope.c */
void kvasir_rope_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_rope_is_supported (const KvasirTensor *node);
/* Of ROPE and ROPE_SHIFT. */
bool kvasir_rope_shares_angles (const KvasirTensor *a, const KvasirTensor *b);
bool kvasir_rope_are_params_supported (const KvasirTensor *node);

/* op-rope-shift.c */
void kvasir_rope_shift_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_rope_shift_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);

/* op-attention.c */
void kvasir_attention_describe (const KvasirTensor *node, KvasirOpShape *shape);
bool kvasir_attention_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels);
