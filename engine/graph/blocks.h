/* engine/graph/blocks.h - the feed-forward parts that transformer architectures share
 *
 * Shapes in brackets, fastest extent first; n tokens. Formulas: formats.md 5.1. Scales of weights
 * are applied here; experts that have one must not have a bias. Thread: engine thread.
 */
#pragma once

#include "engine/graph/graph.h"

G_BEGIN_DECLS

/* down (f (gate x) * up x); biases optional. Without a gate: down (f (up x)). */
typedef struct
{
  KvasirTensor *gate, *up; /* [n_embd, n_ff] */
  KvasirTensor *down;      /* [n_ff, n_embd] */
  KvasirTensor *gate_bias, *up_bias, *down_bias;
  KvasirUnary kind;
} KvasirGluBlock;

KvasirTensor *kvasir_block_glu (KvasirGraph *graph, const KvasirGluBlock *block, KvasirTensor *x);

/* How the router's logits become weights. */
typedef enum
{
  KVASIR_GATING_SOFTMAX = 1,
  KVASIR_GATING_SIGMOID = 2,
  KVASIR_GATING_SOFTMAX_CHOSEN = 3 /* softmax over the chosen ones */
} KvasirGating;

/* A mixture of experts. Biases, choice and scale optional. */
typedef struct
{
  KvasirTensor *router; /* [n_embd, experts] */
  KvasirTensor *router_bias;
  KvasirTensor *choice_bias; /* [experts], added for the choice alone */
  KvasirTensor *gate, *up;   /* [n_embd, n_ff, experts]; gate NULL: down (f (up x)) */
  KvasirTensor *down;        /* [n_ff, n_embd, experts] */
  KvasirTensor *gate_bias, *up_bias, *down_bias; /* [n_ff or n_embd, experts] */
  KvasirUnary kind;
  KvasirGating gating;
  guint n_used;
  guint n_groups, n_groups_used; /* 0 and 1: no groups */
  gboolean normalised;           /* weights over their sum */
  float scale;                   /* of the weights; 0 counts as 1 */
  gboolean weighs_input;         /* llama4: the expert's input is multiplied, not its output */
} KvasirMoeBlock;

/* @router_input (nullable): what the router looks at where that is not @x */
KvasirTensor *kvasir_block_moe (KvasirGraph *graph,
                                const KvasirMoeBlock *block,
                                KvasirTensor *x,
                                KvasirTensor *router_input);

G_END_DECLS
