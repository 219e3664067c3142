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

/* [ne0, n]: the rows of @table [ne0, rows] that @ids [n] names. */
KvasirTensor *
kvasir_graph_get_rows (KvasirGraph *self, const char *name, KvasirTensor *table, KvasirTensor *ids);
/* As @x; @weight [ne0]. */
KvasirTensor *kvasir_graph_rms_norm (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *weight, float eps);
/* [rows, n] = @weight [k, rows] . @x [k, n] + @bias [rows] (nullable) */
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
/* [dv * heads, n] of @q [dk, heads, n] over the caches @k and @v under @mask */
KvasirTensor *kvasir_graph_attention (KvasirGraph *self,
                                      KvasirTensor *q,
                                      KvasirTensor *k,
                                      KvasirTensor *v,
                                      KvasirTensor *mask,
                                      const KvasirAttentionParams *params);
/* Turns the keys of @cache by @shifts [cells] where they lie. */
KvasirTensor *kvasir_graph_rope_shift (KvasirGraph *self,
                                       const char *name,
                                       KvasirTensor *cache,
                                       KvasirTensor *shifts,
                                       KvasirTensor *factors,
                                       const KvasirRopeParams *params);
/* [w * m, n] as [w, m, n], and back; the same bytes. */
KvasirTensor *kvasir_graph_split (KvasirGraph *self, KvasirTensor *x, gint64 w);
KvasirTensor *kvasir_graph_join (KvasirGraph *self, KvasirTensor *x);

/* Results in the order of computing; views are not among them. */
KvasirTensor *const *kvasir_graph_get_nodes (const KvasirGraph *self, guint *n);
/* Index of the head's first node; the number of nodes where there is no head. */
guint kvasir_graph_get_head (const KvasirGraph *self);
/* Every tensor that the graph made, views included, sources before their users. */
KvasirTensor *const *kvasir_graph_get_tensors (const KvasirGraph *self, guint *n);

G_END_DECLS
