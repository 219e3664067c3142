#include "engine/graph/blocks.h"

/* The reference's floor of the sum of chosen weights. */
#define LEAST_SUM 6.103515625e-5f

KvasirTensor *
kvasir_block_glu (KvasirGraph *graph, const KvasirGluBlock *block, KvasirTensor *x)
{
  KvasirTensor *up = kvasir_graph_mul_mat (graph, "ffn_up", block->up, x, block->up_bias);
  KvasirTensor *gate, *act;

  if (block->gate != NULL)
    {
      gate = kvasir_graph_mul_mat (graph, "ffn_gate", block->gate, x, block->gate_bias);
      act = kvasir_graph_glu (graph, "ffn_act", block->kind, gate, up);
    }
  else
    act = kvasir_graph_unary (graph, "ffn_act", block->kind, up);
  return kvasir_graph_mul_mat (graph, "ffn_out", block->down, act, block->down_bias);
}

/* What a router says. */
typedef struct
{
  KvasirTensor *logits;  /* [experts, n] */
  KvasirTensor *ids;     /* [n_used, n] */
  KvasirTensor *weights; /* [n_used, n] */
} Route;

/* [n_used, n]: of @scale [experts] those of the chosen ones. */
static KvasirTensor *
choose_scales (KvasirGraph *g, const Route *chosen, KvasirTensor *scale)
{
  /* Chosen from a row for each token, as scores are. */
  KvasirTensor *rows = kvasir_graph_scale (g, "moe_ones", chosen->logits, 0, 1);

  rows = kvasir_graph_mul (g, "moe_factors", rows, scale);
  return kvasir_graph_gather (g, "moe_factor", rows, chosen->ids);
}

/* [rows, n_used, n] of @weight, with its scale. */
static KvasirTensor *
multiply (KvasirGraph *g,
          const char *name,
          const Route *chosen,
          KvasirTensor *weight,
          KvasirTensor *x,
          KvasirTensor *bias)
{
  KvasirTensor *y = kvasir_graph_mul_mat_id (g, name, weight, x, chosen->ids, bias), *scales;

  if (weight->scale == NULL)
    return y;
  scales = choose_scales (g, chosen, weight->scale);
  return kvasir_graph_mul (g, name, y, kvasir_graph_as_factors (g, scales));
}

static Route
route (KvasirGraph *g, const KvasirMoeBlock *block, KvasirTensor *x)
{
  KvasirTensor *logits =
      kvasir_graph_mul_mat (g, "moe_router", block->router, x, block->router_bias);
  KvasirTensor *scores = logits, *choice, *ids, *w;

  if (block->gating == KVASIR_GATING_SOFTMAX)
    scores = kvasir_graph_softmax (g, "moe_probs", logits);
  else if (block->gating == KVASIR_GATING_SIGMOID)
    scores = kvasir_graph_unary (g, "moe_probs", KVASIR_UNARY_SIGMOID, logits);
  choice = scores;
  if (block->choice_bias != NULL)
    choice = kvasir_graph_add (g, "moe_choice", scores, block->choice_bias);
  ids = kvasir_graph_top_k (g, "moe_ids", choice, block->n_used, (gint) MAX (block->n_groups, 1),
                            (gint) MAX (block->n_groups_used, 1));
  w = kvasir_graph_gather (g, "moe_weights", scores, ids);
  if (block->gating == KVASIR_GATING_SOFTMAX_CHOSEN)
    w = kvasir_graph_softmax (g, "moe_softmax", w);
  if (block->normalised)
    w = kvasir_graph_shares (g, "moe_shares", w, LEAST_SUM);
  if (block->scale != 0 && block->scale != 1)
    w = kvasir_graph_scale (g, "moe_scaled", w, block->scale, 0);
  return (Route){ .logits = logits, .ids = ids, .weights = w };
}

KvasirTensor *
kvasir_block_moe (KvasirGraph *g,
                  const KvasirMoeBlock *block,
                  KvasirTensor *x,
                  KvasirTensor *router_input)
{
  const Route chosen = route (g, block, router_input != NULL ? router_input : x);
  KvasirTensor *weights = chosen.weights, *up, *act, *out;

  /* [n_embd, 1, n], and a copy for each expert where it is weighed before. */
  x = kvasir_graph_split (g, x, x->ne[0]);
  if (block->weighs_input)
    x = kvasir_graph_spread (g, "moe_in", x, kvasir_graph_as_factors (g, weights));
  up = multiply (g, "moe_up", &chosen, block->up, x, block->up_bias);
  if (block->gate != NULL)
    {
      KvasirTensor *gate = multiply (g, "moe_gate", &chosen, block->gate, x, block->gate_bias);
      act = kvasir_graph_glu (g, "moe_act", block->kind, gate, up);
    }
  else
    act = kvasir_graph_unary (g, "moe_act", block->kind, up);
  /* What comes out is weighed anyway, so its scale joins the weights. */
  out = kvasir_graph_mul_mat_id (g, "moe_down", block->down, act, chosen.ids, block->down_bias);
  if (block->weighs_input)
    weights = kvasir_graph_scale (g, "moe_ones", weights, 0, 1);
  if (block->down->scale != NULL)
    weights = kvasir_graph_mul (g, "moe_rescaled", weights,
                                choose_scales (g, &chosen, block->down->scale));
  return kvasir_graph_weighted_sum (g, "moe_out", out, weights);
}
