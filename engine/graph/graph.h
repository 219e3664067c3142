/* engine/graph/graph.h - the operations of one step as tensors, in the order of computing
 *
 * A graph is built once for the worst case. Extents that follow the step (tokens, outputs) are
 * marked when a leaf is made and inherited by every result, so that a step only patches them.
 * Weights and caches are leaves that belong to others; inputs and results belong to the graph.
 *
 * Owner:  KvasirContext. Thread: engine thread.
 * Shapes: in brackets, fastest extent first. Every constructor returns a tensor of the graph
 *   (transfer none) and takes shapes that fit as granted: a wrong one is a caller's mistake.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"

G_BEGIN_DECLS

typedef struct _KvasirGraph KvasirGraph;

KvasirGraph *kvasir_graph_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_graph_free (KvasirGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGraph, kvasir_graph_free)

/* The layer that names of the tensors made from now on carry; -1: none. */
void kvasir_graph_set_layer (KvasirGraph *self, gint layer);
/* Nodes made from now on are the head: it is computed apart from the body, once for every group of
 * output rows. What it reads of the body stays untouched until the step ends. */
void kvasir_graph_begin_head (KvasirGraph *self);

/* What the engine writes before computing. [ne0], or [ne0, ne1] where ne1 > 0; @dyn belongs to the
 * last extent. */
KvasirTensor *kvasir_graph_input (
    KvasirGraph *self, const char *name, KvasirType type, gint64 ne0, gint64 ne1, KvasirDyn dyn);

/* [ne0, n]: the rows of @table [ne0, rows] that @ids [n] names, with its scale. */
KvasirTensor *
kvasir_graph_get_rows (KvasirGraph *self, const char *name, KvasirTensor *table, KvasirTensor *ids);
/* As @x; @weight [ne0]. */
KvasirTensor *kvasir_graph_rms_norm (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *weight, float eps);
/* [rows, n] = @weight [k, rows], with its scale, . @x [k, n] + @bias [rows] (nullable) */
KvasirTensor *kvasir_graph_mul_mat (
    KvasirGraph *self, const char *name, KvasirTensor *weight, KvasirTensor *x, KvasirTensor *bias);
KvasirTensor *
kvasir_graph_add (KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b);
/* f (@gate) * @up */
KvasirTensor *kvasir_graph_glu (
    KvasirGraph *self, const char *name, KvasirUnary kind, KvasirTensor *gate, KvasirTensor *up);
/* @x [d, heads, n] turned by @positions [n]; @factors (nullable) [n_rot / 2] */
KvasirTensor *kvasir_graph_rope (KvasirGraph *self,
                                 const char *name,
                                 KvasirTensor *x,
                                 KvasirTensor *positions,
                                 KvasirTensor *factors,
                                 const KvasirRopeParams *params);
/* The rows of @x [ne0, n] go to the rows @slots [n] of @cache; what is returned is the cache
 * afterwards. */
KvasirTensor *kvasir_graph_set_rows (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *slots, KvasirTensor *cache);
/* What attention reads. */
typedef struct
{
  KvasirTensor *q;         /* [dk, heads, n] */
  KvasirTensor *k;         /* [dk * kv_heads, cells, streams], after the step's rows were set */
  KvasirTensor *v;         /* [dv * kv_heads, cells, streams], or transposed */
  KvasirTensor *mask;      /* I64 [cells / 64, n] */
  KvasirTensor *sinks;     /* [heads] (nullable) */
  KvasirTensor *distances; /* I32 [cells * streams + n] (nullable): for ALiBi */
} KvasirAttentionSources;

/* [dv * heads, n] */
KvasirTensor *kvasir_graph_attention (KvasirGraph *self,
                                      const KvasirAttentionSources *sources,
                                      const KvasirAttentionParams *params);
/* Turns the keys of @cache by @shifts [cells] where they lie. */
KvasirTensor *kvasir_graph_rope_shift (KvasirGraph *self,
                                       const char *name,
                                       KvasirTensor *cache,
                                       KvasirTensor *shifts,
                                       KvasirTensor *factors,
                                       const KvasirRopeParams *params);
/* As set_rows(), but @cache is [cells, ne0, streams]. */
KvasirTensor *kvasir_graph_set_columns (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *slots, KvasirTensor *cache);

/* ---- rows: as @a, which may be a view; @b is repeated along extents where it has 1 */
KvasirTensor *
kvasir_graph_mul (KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b);
/* [D, u, n] from @x [D, 1, n] and @factors [1, u, n]: both are repeated. */
KvasirTensor *
kvasir_graph_spread (KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *factors);
/* @x * scale + bias */
KvasirTensor *
kvasir_graph_scale (KvasirGraph *self, const char *name, KvasirTensor *x, float scale, float bias);
KvasirTensor *
kvasir_graph_unary (KvasirGraph *self, const char *name, KvasirUnary kind, KvasirTensor *x);
/* Layer norm; @weight, @bias (nullable) [ne0] */
KvasirTensor *kvasir_graph_norm (KvasirGraph *self,
                                 const char *name,
                                 KvasirTensor *x,
                                 KvasirTensor *weight,
                                 KvasirTensor *bias,
                                 float eps);
KvasirTensor *
kvasir_graph_l2_norm (KvasirGraph *self, const char *name, KvasirTensor *x, float eps);
/* @x with the length of @like. */
KvasirTensor *kvasir_graph_match_norm (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *like, float eps);
KvasirTensor *kvasir_graph_softmax (KvasirGraph *self, const char *name, KvasirTensor *x);
/* @x over its sum, which counts as at least @eps. */
KvasirTensor *kvasir_graph_shares (KvasirGraph *self, const char *name, KvasirTensor *x, float eps);
KvasirTensor *
kvasir_graph_clamp (KvasirGraph *self, const char *name, KvasirTensor *x, float lo, float hi);
KvasirTensor *kvasir_graph_hadamard (KvasirGraph *self, const char *name, KvasirTensor *x, gint n);
KvasirTensor *
kvasir_graph_gauss_relu (KvasirGraph *self, const char *name, KvasirTensor *x, float z);
/* @x [d, heads, n] times a factor that grows with the positions [n]. */
KvasirTensor *kvasir_graph_temperature (KvasirGraph *self,
                                        const char *name,
                                        KvasirTensor *x,
                                        KvasirTensor *positions,
                                        const KvasirTemperatureParams *params);
/* @b behind @a along extent @dim. */
KvasirTensor *kvasir_graph_concat (
    KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b, gint dim);
/* @x, which may be a view, without gaps. */
KvasirTensor *kvasir_graph_dense (KvasirGraph *self, const char *name, KvasirTensor *x);

/* ---- experts */
/* I32 [k, n]: the largest of @x [experts, n]. @n_groups 1: no groups */
KvasirTensor *kvasir_graph_top_k (KvasirGraph *self,
                                  const char *name,
                                  KvasirTensor *x,
                                  gint64 k,
                                  gint n_groups,
                                  gint n_groups_used);
/* [k, n] = elements @ids [k, n] of @x [m, n] */
KvasirTensor *
kvasir_graph_gather (KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *ids);
/* [rows, k, n] = @weight [ne0, rows, experts] of expert @ids [k, n] . @x [ne0, k or 1, n] + @bias
 * [rows, experts] (nullable). The scale of @weight is left to the caller. */
KvasirTensor *kvasir_graph_mul_mat_id (KvasirGraph *self,
                                       const char *name,
                                       KvasirTensor *weight,
                                       KvasirTensor *x,
                                       KvasirTensor *ids,
                                       KvasirTensor *bias);
/* [ne0, n] = sum over j of @weights [k, n] * @x [ne0, k, n] */
KvasirTensor *kvasir_graph_weighted_sum (KvasirGraph *self,
                                         const char *name,
                                         KvasirTensor *x,
                                         KvasirTensor *weights);

/* ---- recurrent layers. A state begins at element @offset of the rows of @state [width, rows];
 * @rows I32 [2 + n_keep, seqs], as backend.h says. */
typedef struct
{
  KvasirTensor *state;
  KvasirTensor *rows;
  gint offset;
  gboolean by_group; /* delta only */
} KvasirStateSource;

/* [D, n] from @x [D, n]; @weight [c, D] or NULL: the previous token; @bias [D] (nullable) */
KvasirTensor *kvasir_graph_conv (KvasirGraph *self,
                                 const char *name,
                                 KvasirTensor *x,
                                 KvasirTensor *weight,
                                 KvasirTensor *bias,
                                 const KvasirStateSource *state);
/* Sources in the order of KVASIR_OP_SSM_SCAN, WKV7 and DELTA, without state and rows. Results have
 * the shape of x, of r, and of v. */
KvasirTensor *kvasir_graph_ssm_scan (KvasirGraph *self,
                                     const char *name,
                                     KvasirTensor *const sources[6],
                                     const KvasirStateSource *state);
KvasirTensor *kvasir_graph_wkv7 (KvasirGraph *self,
                                 const char *name,
                                 KvasirTensor *const sources[6],
                                 const KvasirStateSource *state);
KvasirTensor *kvasir_graph_delta (KvasirGraph *self,
                                  const char *name,
                                  KvasirTensor *const sources[5],
                                  const KvasirStateSource *state);

/* ---- other ways to look at the same bytes; nothing is computed */
/* [w * m, n] as [w, m, n], and back. */
KvasirTensor *kvasir_graph_split (KvasirGraph *self, KvasirTensor *x, gint64 w);
KvasirTensor *kvasir_graph_join (KvasirGraph *self, KvasirTensor *x);
/* Elements [first, first + n) of extent 0. */
KvasirTensor *kvasir_graph_slice (KvasirGraph *self, KvasirTensor *x, gint64 first, gint64 n);
/* [w, n]: row @i of each [w, m] of @x [w, m, n]. */
KvasirTensor *kvasir_graph_pick (KvasirGraph *self, KvasirTensor *x, gint64 i);
/* [w, n, tokens]: rows [first, first + n) of each [w, m] of @x [w, m, tokens]. */
KvasirTensor *kvasir_graph_pick_some (KvasirGraph *self, KvasirTensor *x, gint64 first, gint64 n);
/* [1, m, n] of @x [m, n]: a factor for each row of something [w, m, n]. */
KvasirTensor *kvasir_graph_as_factors (KvasirGraph *self, KvasirTensor *x);

/* Results in the order of computing; views are not among them. */
KvasirTensor *const *kvasir_graph_get_nodes (const KvasirGraph *self, guint *n);
/* Index of the head's first node; the number of nodes where there is no head. */
guint kvasir_graph_get_head (const KvasirGraph *self);
/* Every tensor that the graph made, views included, sources before their users. */
KvasirTensor *const *kvasir_graph_get_tensors (const KvasirGraph *self, guint *n);

G_END_DECLS
