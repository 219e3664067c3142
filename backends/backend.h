/* backends/backend.h - the contract between the engine and what computes for it
 *
 * A backend offers one or more devices. A device names its memory (buffer types), makes buffers,
 * compiles a list of tensors with operations (a plan) and computes it. The engine knows backends
 * by this header alone; the constructors (backends/cpu/cpu.h) are called by app/ only.
 *
 * Thread: every call that takes a device, buffer or plan is made by one thread at a time, the
 *   engine thread, unless its comment says otherwise. A backend may use threads of its own inside
 *   a call.
 * Units:  sizes and strides in bytes, extents in elements. Extent 0 is the fastest dimension.
 * Errors: KvasirStatus; the engine turns it into a GError and adds operation and tensor.
 *
 * The file is plain C that is also C++, so that a CUDA module can include it: no GLib, no
 * restrict, no array designated initializers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KVASIR_BEGIN_DECLS                                                                         \
  extern "C"                                                                                       \
  {
#define KVASIR_END_DECLS }
#else
#define KVASIR_BEGIN_DECLS
#define KVASIR_END_DECLS
#endif

KVASIR_BEGIN_DECLS

/* Raised whenever a struct or vtable below changes; a loaded module with another one is refused. */
#define KVASIR_BACKEND_ABI 5

#define KVASIR_MAX_DIMS 4
#define KVASIR_MAX_SRC 10
#define KVASIR_MAX_PARAMS 24
/* Caches that the attention of one model reads: full and sliding layers. */
#define KVASIR_MAX_CACHES 2
#define KVASIR_MAX_NAME 64

/* Tensor element types; the values are those of the GGUF file format. */
typedef enum
{
  KVASIR_TYPE_F32 = 0,
  KVASIR_TYPE_F16 = 1,
  KVASIR_TYPE_Q4_0 = 2,
  KVASIR_TYPE_Q4_1 = 3,
  KVASIR_TYPE_Q5_0 = 6,
  KVASIR_TYPE_Q5_1 = 7,
  KVASIR_TYPE_Q8_0 = 8,
  KVASIR_TYPE_Q8_1 = 9,
  KVASIR_TYPE_Q2_K = 10,
  KVASIR_TYPE_Q3_K = 11,
  KVASIR_TYPE_Q4_K = 12,
  KVASIR_TYPE_Q5_K = 13,
  KVASIR_TYPE_Q6_K = 14,
  KVASIR_TYPE_Q8_K = 15,
  KVASIR_TYPE_IQ2_XXS = 16,
  KVASIR_TYPE_IQ2_XS = 17,
  KVASIR_TYPE_IQ3_XXS = 18,
  KVASIR_TYPE_IQ1_S = 19,
  KVASIR_TYPE_IQ4_NL = 20,
  KVASIR_TYPE_IQ3_S = 21,
  KVASIR_TYPE_IQ2_S = 22,
  KVASIR_TYPE_IQ4_XS = 23,
  KVASIR_TYPE_I8 = 24,
  KVASIR_TYPE_I16 = 25,
  KVASIR_TYPE_I32 = 26,
  KVASIR_TYPE_I64 = 27,
  KVASIR_TYPE_F64 = 28,
  KVASIR_TYPE_IQ1_M = 29,
  KVASIR_TYPE_BF16 = 30,
  KVASIR_TYPE_TQ1_0 = 34,
  KVASIR_TYPE_TQ2_0 = 35,
  KVASIR_TYPE_MXFP4 = 39,
  KVASIR_TYPE_NVFP4 = 40,
  KVASIR_TYPE_Q1_0 = 41,
  KVASIR_TYPE_Q2_0 = 42,
  KVASIR_N_TYPES = 43
} KvasirType;

/* Any thread, pure. An id outside the table or removed from the format: name NULL, sizes 0. */
const char *kvasir_type_get_name (int type);
/* Elements in one block; 1 for plain types. */
int64_t kvasir_type_get_block_len (int type);
/* Bytes of one block. */
size_t kvasir_type_get_block_bytes (int type);
/* Bytes of a row of @n_elements, which must be a multiple of the block length. */
size_t kvasir_type_get_row_bytes (int type, int64_t n_elements);

typedef enum
{
  KVASIR_STATUS_OK = 0,
  KVASIR_STATUS_ABORTED, /* the abort flag was seen between two phases */
  KVASIR_STATUS_NO_MEMORY,
  KVASIR_STATUS_UNSUPPORTED, /* supports_op() would have said no */
  KVASIR_STATUS_DEVICE_LOST, /* nothing on this device can be used any more */
  KVASIR_STATUS_FAILED
} KvasirStatus;

const char *kvasir_status_get_text (KvasirStatus status);

/* Operations. dst is the tensor that carries the op; s0 ... are its sources. Unless said
 * otherwise inputs and dst are F32 with nb[0] = 4, and rows may be strided. */
typedef enum
{
  KVASIR_OP_NONE = 0, /* a leaf: weight, input or cache */
  KVASIR_OP_VIEW,     /* same bytes as s0 at view_offset, other ne/nb; computes nothing */
  KVASIR_OP_GET_ROWS, /* dst[ne0, n] = dequantised rows of s0[ne0, rows] named by s1 I32 [n] */
  KVASIR_OP_RMS_NORM, /* dst = s0 / sqrt (mean over ne0 of s0^2 + eps), times s1 [ne0] if given */
  KVASIR_OP_MUL_MAT,  /* dst[rows, n] = s0[k, rows] (any type) . s1[k, n], plus s2 [rows] if given.
                         With s0 [k, rows, h] and s1 [k, h, n] each head has a matrix of its own:
                         dst [rows, h, n]; no s2 then */
  KVASIR_OP_ADD,      /* dst = s0 + s1; s1 is repeated along extents where it has 1, and s0 too, but
                         for extent 0 */
  KVASIR_OP_MUL,      /* dst = s0 * s1; as ADD */
  KVASIR_OP_SCALE,    /* dst = s0 * scale + bias */
  KVASIR_OP_UNARY,    /* dst = f (s0) */
  KVASIR_OP_GLU,      /* dst = f (s0) * s1; s0 gate, s1 up */
  KVASIR_OP_ROPE,     /* dst = s0 [d, heads, n] turned by position s1 I32 [n]; s2 optional [n_rot/2]
                         frequency factors */
  KVASIR_OP_SET_ROWS, /* row i of s0 [ne0, n] goes, converted, to row s1[i] (I64 [n]) of s2; dst is
                         a view of s2. s2 is of any cache type, [ne0, cells, streams], and its rows
                         are counted through all streams. With params.set_rows.transposed s2 is
                         [cells, ne0, streams] of a plain type and value j of row i goes to column
                         s1[i] % cells of row j in stream s1[i] / cells */
  KVASIR_OP_ATTENTION,  /* s0 q [dk, heads, n], s1 K cache [dk * kv_heads, cells, streams], s2 V
                           cache [dv * kv_heads, cells, streams], or, with v_transposed,
                           [cells, dv * kv_heads, streams]; s3 mask, s4 sinks [heads] or NULL, s5
                           distances for ALiBi or NULL; dst [dv * heads, n]. s2 may be a view of s1's
                           first elements. Where K is quantised queries are rounded to blocks of Q8_0
                          first. Only cells below the step's n_kv[cache] are read. The
                           step's tokens are split evenly, in order, over the streams first_stream
                           ... first_stream + n_streams - 1 and read their own stream's cells */
  KVASIR_OP_ROPE_SHIFT, /* in place on s0, a K cache [d * kv_heads, cells] of any cache type: row c
                           is turned by s1[c] positions (I32 [cells]); rows with 0 are not touched;
                           s2 optional frequency factors; dst is a view of s0. Magnitudes
                           (attn_factor) are not applied: the keys have them already. All streams
                           lie one behind the other, so cells counts through them */
  KVASIR_OP_CPY,        /* dst = s0 converted to dst's type, same shape */

  /* Rows (vectors along extent 0). */
  KVASIR_OP_NORM,       /* dst = (s0 - mean) / sqrt (variance + eps), times s1 [ne0], plus s2 [ne0],
                           each if given */
  KVASIR_OP_L2_NORM,    /* dst = s0 / sqrt (sum of s0^2 + eps) */
  KVASIR_OP_MATCH_NORM, /* dst = s0 * sqrt (max (sum of s1^2, eps) / max (sum of s0^2, eps)): s0
                           with the length of s1, same shapes */
  KVASIR_OP_SOFTMAX,    /* dst = exp (s0) / sum of exp (s0) */
  KVASIR_OP_SHARES,     /* dst = s0 / max (sum of s0, eps) */
  KVASIR_OP_CLAMP,      /* dst = min (max (s0, lo), hi) */
  KVASIR_OP_CONCAT,   /* s1 behind s0 along extent params.concat.dim; other extents are the same */
  KVASIR_OP_HADAMARD, /* each block of params.hadamard.n elements times the Walsh-Hadamard matrix in
                         natural order over sqrt (n); n is a power of two that divides ne0 */
  KVASIR_OP_GAUSS_RELU,  /* dst = max (0, s0 - (mean + z * deviation)) over ne0; the deviation is
                            that of a sample, sqrt (sum of squares / (ne0 - 1)) */
  KVASIR_OP_TEMPERATURE, /* dst = s0 [d, heads, n] * (1 + scale * ln (1 + floor ((p + offset) /
                            length))) with the position p of the token in s1 I32 [n], 0 or more */

  /* Mixtures of experts. u = experts used by a token. */
  KVASIR_OP_TOP_K,      /* dst I32 [u, n] = indices of the u largest of s0 [experts, n], falling;
                           equal ones by index. With n_groups > 1 first the n_groups_used groups
                           whose two best sum up highest are kept */
  KVASIR_OP_GATHER,     /* dst [u, n]: dst[j, t] = s0[s1[j, t], t]; s0 [m, n], s1 I32 [u, n] */
  KVASIR_OP_MUL_MAT_ID, /* dst [rows, u, n] = matrix s2[j, t] of s0 [k, rows, experts] (any type) .
                           s1 [k, u, n] or [k, 1, n], plus row s2[j, t] of s3 [rows, experts] if
                           given; s2 I32 [u, n] */
  KVASIR_OP_WEIGHTED_SUM, /* dst [ne0, n] = sum over j of s1[j, n] * s0[ne0, j, n] */

  /* Recurrent layers. A state lies in a row of a state tensor [width, rows] F32 at element
   * params.state.offset. The step's tokens are n_seqs sequences of n_tokens / n_seqs each, in
   * order. "rows" is I32 [2 + n_keep, max seqs]: of sequence s, element 0 is the row that its state
   * is read from, -1 for zeros; element 1 + j is the row that the state after its last token but j
   * is written to, -1 for none (j = 0 ... n_keep). A row that is written is never one that is read.
   */
  KVASIR_OP_CONV,     /* causal convolution per channel: dst [D, n], dst[d, t] = s4[d] + sum over
                         i < c of s1[i, d] * x[t - c + 1 + i, d] with x = s0 [D, n]; before the first
                         token stand the state's columns. s1 [c, D]; NULL: dst is the previous token
                         (c = 2, weights 1, 0). s2 state, layout [c - 1, D] (time fastest); s3 rows;
                         s4 bias or NULL */
  KVASIR_OP_SSM_SCAN, /* s0 x [p, H, n], s1 dt [H, n] (softplus is applied here), s2 A, s3 B [N, G,
                         n], s4 C [N, G, n], s5 D [H], s6 state, layout [N, p, H] (N fastest); s7
                         rows. dst [p, H, n]: S = S exp (dt A) + dt x B, y = sum over N of C S + D
                         x. A is [N, H] with p = 1 (Mamba 1) or [1, H] (Mamba 2); head h uses group
                         h / (H / G) */
  KVASIR_OP_WKV7,     /* s0 r, s1 w, s2 k, s3 v, s4 kappa, s5 a, all [d, H, n]; s6 state, layout
                         [d (key, fastest), d (value), H]; s7 rows. dst [d, H, n]: formats.md 5.3,
                         rwkv7; w is the decay itself */
  KVASIR_OP_DELTA,    /* gated delta rule: s0 q, s1 k [dk, Hk, n], s2 v [dv, Hv, n], s3 log decay
                         [Hv, n], s4 beta [Hv, n], s5 state, layout [dk (fastest), dv, Hv]; s6 rows.
                         dst [dv, Hv, n] = S q / sqrt (dk). Value head j uses key head j % Hk, or
                         j / (Hv / Hk) with params.state.by_group */
  KVASIR_N_OPS
} KvasirOp;

const char *kvasir_op_get_name (KvasirOp op);

typedef enum
{
  KVASIR_UNARY_SILU,
  KVASIR_UNARY_GELU, /* the tanh form */
  KVASIR_UNARY_RELU,
  KVASIR_UNARY_SIGMOID,
  KVASIR_UNARY_TANH,
  KVASIR_UNARY_GELU_ERF,
  KVASIR_UNARY_RELU_SQR,
  KVASIR_UNARY_SOFTPLUS,
  KVASIR_UNARY_EXP,
  KVASIR_GLU_OAI /* GLU only: g = min (s0, 7), u = clamp (s1, -7, 7): g sigmoid (1.702 g) (u + 1) */
} KvasirUnary;

/* Rotary position embedding, formats.md 5.1. Pair i of n_rot / 2 has
 *   theta_i = pos * freq_base^(-2 i / n_rot) / factor_i
 * and yarn mixes theta and freq_scale * theta by the ramp between beta_fast and beta_slow. */
typedef struct
{
  int32_t n_rot;
  int32_t neox;       /* 0: pairs (2i, 2i+1); 1: pairs (i, i + n_rot / 2) */
  int32_t n_ctx_orig; /* yarn's original context */
  float freq_base;
  float freq_scale;  /* 1 / factor for linear and yarn */
  float ext_factor;  /* 0: no yarn mix */
  float attn_factor; /* times 1 + 0.1 ln (1 / freq_scale) where ext_factor is not 0 */
  float beta_fast;
  float beta_slow;
  int32_t head_dim;     /* ROPE_SHIFT only: elements of a head in the cache; 0: n_rot */
  int32_t shift_scales; /* ROPE_SHIFT only. 0: keys keep their length. 1: every row, turned or not,
                           is multiplied by the magnitude that ROPE applies */
  int32_t offset;       /* elements of a head before those that are turned; they pass unchanged */
  int32_t hadamard;     /* ROPE_SHIFT only: the rows are stored under HADAMARD blocks of so many
                           elements; 0: plain */
  int32_t sections[4];  /* M-RoPE: pairs per plane (t, h, w, e); all 0: one position per token.
                           Positions are then I32 [4 n], plane after plane */
  int32_t interleaved;  /* M-RoPE: planes take turns (IMROPE) instead of following each other */
} KvasirRopeParams;

typedef struct
{
  int32_t head_dim_k;
  int32_t head_dim_v;
  int32_t n_heads;
  int32_t n_kv_heads;
  float scale;
  float softcap;  /* 0: none; else softcap * tanh (score / softcap), before the mask */
  float max_bias; /* 0: no ALiBi */
  int32_t cache;  /* which n_kv of the step */
  int32_t v_transposed;
} KvasirAttentionParams;

typedef struct
{
  int32_t length; /* positions after which the factor grows; 1 or more */
  float scale;
  int32_t offset; /* added to positions */
} KvasirTemperatureParams;

/* The attention mask is bits, never floats: tensor I64 [n_cells / 64, n_tokens]; bit c % 64 of word
 * c / 64 of row t is 1 where token t may read cell c of its stream. A word of 0 closes 64 cells at
 * once, all ones opens them, so that kernels skip or hurry without looking at single cells. Bits at
 * or above the step's n_kv are 0. A row without any open cell gives zeros. For ALiBi the distance
 * |position of the cell - position of the token| is needed: s5 then is an I32 [cells * streams +
 * n_tokens] vector, the positions of the cells of all streams first. */

/* What an extent is bound to. The engine sets ne[] of bound extents before each compute; strides
 * are those of the worst case and never change. */
typedef enum
{
  KVASIR_DYN_NONE = 0,
  KVASIR_DYN_TOKENS,
  KVASIR_DYN_OUTPUTS
} KvasirDyn;

typedef struct KvasirDevice KvasirDevice;
typedef struct KvasirBufferType KvasirBufferType;
typedef struct KvasirBuffer KvasirBuffer;
typedef struct KvasirPlan KvasirPlan;
typedef struct KvasirFence KvasirFence;
typedef struct KvasirTensor KvasirTensor;

struct KvasirTensor
{
  KvasirType type;
  KvasirOp op;
  int64_t ne[KVASIR_MAX_DIMS];  /* extents, unused ones 1 */
  size_t nb[KVASIR_MAX_DIMS];   /* strides in bytes; nb[0] is the block size */
  uint8_t dyn[KVASIR_MAX_DIMS]; /* KvasirDyn of each extent */
  KvasirTensor *src[KVASIR_MAX_SRC];
  union
  {
    int32_t i[KVASIR_MAX_PARAMS];
    float f[KVASIR_MAX_PARAMS];
    KvasirRopeParams rope;           /* ROPE, ROPE_SHIFT */
    KvasirAttentionParams attention; /* ATTENTION */
    struct
    {
      float eps;
    } norm; /* RMS_NORM, NORM, L2_NORM, MATCH_NORM, SHARES */
    struct
    {
      float scale, bias;
    } scale; /* SCALE */
    struct
    {
      int32_t kind;
    } unary; /* UNARY, GLU: KvasirUnary */
    struct
    {
      float lo, hi;
    } clamp; /* CLAMP */
    struct
    {
      int32_t dim;
    } concat; /* CONCAT */
    struct
    {
      int32_t n;
    } hadamard; /* HADAMARD */
    struct
    {
      float z;
    } gauss;                             /* GAUSS_RELU */
    KvasirTemperatureParams temperature; /* TEMPERATURE */
    struct
    {
      int32_t n_groups, n_groups_used;
    } top_k; /* TOP_K */
    struct
    {
      int32_t transposed;
    } set_rows; /* SET_ROWS */
    struct
    {
      int32_t offset; /* elements of a row before this state */
      int32_t by_group;
    } state; /* CONV, SSM_SCAN, WKV7, DELTA */
  } params;
  KvasirTensor *view_src; /* root owner of the bytes, NULL if this is one */
  size_t view_offset;
  KvasirBuffer *buffer; /* NULL until placed */
  void *data;           /* address inside the buffer; for host buffers readable by the CPU */
  /* Weights that a device also keeps in an order of its own, see pack(): memory of its
   * packed_buffer_type (NULL: none), and how many of the tensor's bytes are already there. Atomic:
   * the latter grows while others compute. */
  void *packed;
  size_t n_packed;
  /* Of weights: F32 [1] or, for a stack of experts, [ne[2]], what their values count times;
   * NULL: 1. Devices know nothing of it: a graph multiplies what they give. */
  KvasirTensor *scale;
  char name[KVASIR_MAX_NAME];
};

/* Extents of one compute call. */
typedef struct
{
  int32_t n_tokens;
  int32_t n_outputs;
  int32_t n_kv[KVASIR_MAX_CACHES]; /* cells that attention reads, per stream, multiples of 64 */
  int32_t first_stream;
  int32_t n_streams;     /* 0 counts as 1; divides n_tokens */
  int32_t n_seqs;        /* recurrent layers: divides n_tokens; 0 counts as 1 */
  const int *abort_flag; /* may be NULL; read atomically between phases, non-zero stops */
} KvasirStep;

/* ---- buffers ---------------------------------------------------------------------------- */

struct KvasirBufferType
{
  const char *name; /* "CPU", "CPU_Mapped", "CUDA0", "CUDA_Host" */
  KvasirDevice *device;
  size_t alignment; /* of tensors inside, a power of two */
  size_t max_bytes; /* largest single buffer; SIZE_MAX: no limit */
  bool is_host;     /* data pointers are readable and writable by the CPU */
  bool is_pinned;   /* page-locked: asynchronous copies from it really overlap */
  /* Bytes that @tensor takes in this type, padding and kernel slack included; never less than the
   * tensor's own. Pure: the planner calls it without any buffer. */
  size_t (*get_alloc_bytes) (const KvasirBufferType *type, const KvasirTensor *tensor);
  /* A buffer of @n_bytes, cleared to zero, or NULL where the memory is not there. */
  KvasirBuffer *(*alloc) (KvasirBufferType *type, size_t n_bytes);
};

struct KvasirBuffer
{
  KvasirBufferType *type;
  void *base; /* aligned to the type's alignment */
  size_t n_bytes;
  const struct KvasirBufferVtable *vtable;
};

typedef struct KvasirBufferVtable
{
  void (*free) (KvasirBuffer *buffer);
  /* Synchronous; @offset and @n_bytes lie inside the buffer. Waits for work that uses it. */
  void (*set) (KvasirBuffer *buffer, size_t offset, const void *bytes, size_t n_bytes);
  void (*get) (const KvasirBuffer *buffer, size_t offset, void *bytes, size_t n_bytes);
  void (*clear) (KvasirBuffer *buffer, uint8_t value);
  /* Within one device, ranges may not overlap. False: this pair can't, go through the host. */
  bool (*copy) (const KvasirBuffer *src,
                size_t src_offset,
                KvasirBuffer *dst,
                size_t dst_offset,
                size_t n_bytes);
  /* As set and get, but only queued; the caller keeps @bytes until the fence is reached. NULL on
   * backends that compute synchronously: the engine then uses set and get. */
  void (*set_async) (KvasirBuffer *buffer, size_t offset, const void *bytes, size_t n_bytes);
  void (*get_async) (const KvasirBuffer *buffer, size_t offset, void *bytes, size_t n_bytes);
  /* Much of the buffer is in use or will be at once: what makes its use faster may be spent now.
   * Contents stay. Buffers of which a little may be all that is ever used are better left alone
   * until then. NULL where nothing can be done. */
  void (*settle) (KvasirBuffer *buffer);
} KvasirBufferVtable;

/* ---- devices ---------------------------------------------------------------------------- */

typedef enum
{
  KVASIR_DEVICE_CPU,
  KVASIR_DEVICE_GPU
} KvasirDeviceKind;

/* Counters of the waiting policy, for views and tests. Zero on devices that have none. */
typedef struct
{
  uint64_t n_spins;
  uint64_t n_yields;
  uint64_t n_parks;
} KvasirDeviceCounters;

typedef struct KvasirDeviceVtable
{
  void (*free) (KvasirDevice *device);
  /* What the device has and what is free now, in bytes. Any thread. */
  void (*get_memory) (KvasirDevice *device, size_t *free_bytes, size_t *total_bytes);
  /* Whether dst with this op, these types and shapes can be computed here. Pure, any thread. */
  bool (*supports_op) (KvasirDevice *device, const KvasirTensor *dst);
  /* Compiles @nodes (in an order that computes every source before its user) for repeated use. The
   * tensors stay the caller's, outlive the plan, and are placed already. May fuse. NULL: no memory.
   * All memory that computing needs is taken here, for the worst case that the extents name. */
  KvasirPlan *(*plan_new) (KvasirDevice *device, KvasirTensor *const *nodes, size_t n_nodes);
  void (*plan_free) (KvasirPlan *plan);
  /* Bytes that plan_new takes beside the tensors, the same for a plan that is only measured
   * (unplaced tensors). Pure. */
  size_t (*plan_get_bytes) (KvasirDevice *device, KvasirTensor *const *nodes, size_t n_nodes);
  /* Computes nodes [first, first + n) with the extents of @step. Allocates nothing. Returns when
   * the work is queued; on the CPU, when it is done. */
  KvasirStatus (*plan_compute) (KvasirPlan *plan, size_t first, size_t n, const KvasirStep *step);
  /* Waits for everything queued. */
  KvasirStatus (*synchronize) (KvasirDevice *device);
  /* Fences order work between devices and tell when an asynchronous copy is done. NULL on
   * devices that compute synchronously. */
  KvasirFence *(*fence_new) (KvasirDevice *device);
  void (*fence_free) (KvasirFence *fence);
  void (*fence_record) (KvasirFence *fence, KvasirDevice *device);
  KvasirStatus (*fence_wait) (KvasirFence *fence);
  /* A buffer over memory of the caller's (a mapped file), which outlives it and is only read.
   * NULL where the device can't. */
  KvasirBuffer *(*buffer_from_host) (KvasirDevice *device, void *base, size_t n_bytes);
  /* Threads used for steps of one token and for longer ones; no-op where meaningless. */
  void (*set_n_threads) (KvasirDevice *device, int n_decode, int n_prefill);
  /* As many of the processors that its threads compute on are wanted for something else now: so
   * many of the threads stop where nobody waits for them, until less is wanted. Any thread, at any
   * time; NULL on devices that have none. */
  void (*lend_threads) (KvasirDevice *device, int n_threads);
  void (*get_counters) (KvasirDevice *device, KvasirDeviceCounters *counters);
  /* Whether weights of this type and shape are multiplied faster in an order of the device's own,
   * which takes as many bytes and gives the same results bit for bit. Pure, any thread. */
  bool (*can_pack) (KvasirDevice *device, const KvasirTensor *tensor);
  /* Puts the next rows of @tensor, @n_bytes of them or a little more, from data to the same place
   * behind packed, and says so in n_packed: from then on they are read there alone. In any one
   * thread, also while others compute. Returns how many bytes were put there, 0 at the end. */
  size_t (*pack) (KvasirDevice *device, KvasirTensor *tensor, size_t n_bytes);
} KvasirDeviceVtable;

struct KvasirDevice
{
  uint32_t abi; /* KVASIR_BACKEND_ABI of the module that made it */
  KvasirDeviceKind kind;
  const char *name;                   /* "CPU", "CUDA0" */
  const char *description;            /* for people: processor and instruction set in use */
  KvasirBufferType *buffer_type;      /* where results and caches live */
  KvasirBufferType *host_buffer_type; /* pinned memory for copies, or buffer_type */
  int32_t n_alike; /* up to so many tokens of a step each get, bit for bit, what they would get in a
                      step of their own over as many cells */
  /* Memory for packed weights; NULL: the device has no order of its own. */
  KvasirBufferType *packed_buffer_type;
  const KvasirDeviceVtable *vtable;
};

KVASIR_END_DECLS
