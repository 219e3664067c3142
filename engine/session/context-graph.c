#include "engine/session/context-private.h"

static gint64
count_cells (const KvasirMemory *memory, guint cache)
{
  KvasirCacheInfo info;

  kvasir_memory_get_cache_info (memory, cache, &info);
  return (gint64) info.size * info.n_streams;
}

static void
add_cache_inputs (const KvasirContext *self, KvasirModelBuild *build, guint cache)
{
  const gint64 n_tokens = self->params.n_ubatch;
  const gint64 n_words = kvasir_memory_get_size (build->memory, cache) / 64;
  KvasirCacheInputs *in = &build->caches[cache];
  KvasirGraph *g = build->graph;

  in->slots = kvasir_graph_input (g, "slots", KVASIR_TYPE_I64, n_tokens, 0, KVASIR_DYN_TOKENS);
  in->mask = kvasir_graph_input (g, "mask", KVASIR_TYPE_I64, n_words, n_tokens, KVASIR_DYN_TOKENS);
  if (self->model->hparams.max_bias != 0)
    in->distances =
        kvasir_graph_input (g, "distances", KVASIR_TYPE_I32,
                            count_cells (build->memory, cache) + n_tokens, 0, KVASIR_DYN_NONE);
}

static void
add_inputs (const KvasirContext *self, KvasirModelBuild *build)
{
  const gint64 n_tokens = self->params.n_ubatch;
  const gint64 n_outputs = MIN (self->params.n_ubatch, KVASIR_HEAD_ROWS);
  const gint64 n_planes = self->model->hparams.n_pos_per_token;
  KvasirGraph *g = build->graph;

  build->tokens = kvasir_graph_input (g, "tokens", KVASIR_TYPE_I32, n_tokens, 0, KVASIR_DYN_TOKENS);
  /* Several planes follow each other without a gap, whatever the step's tokens. */
  build->positions = kvasir_graph_input (g, "positions", KVASIR_TYPE_I32, n_planes * n_tokens, 0,
                                         n_planes > 1 ? KVASIR_DYN_NONE : KVASIR_DYN_TOKENS);
  build->out_ids =
      kvasir_graph_input (g, "out_ids", KVASIR_TYPE_I32, n_outputs, 0, KVASIR_DYN_OUTPUTS);
  for (guint c = 0; c < self->n_attention; c++)
    add_cache_inputs (self, build, c);
  if (self->n_attention < kvasir_memory_get_n_caches (build->memory))
    build->state_rows = kvasir_graph_input (g, "state_rows", KVASIR_TYPE_I32,
                                            2 + kvasir_memory_get_n_keep (build->memory),
                                            self->params.n_seq_max, KVASIR_DYN_NONE);
}

static gboolean
reserve_step (KvasirContext *self, GError **error)
{
  KvasirModelBuild *build = &self->step;

  build->graph = kvasir_graph_new ();
  build->memory = self->memory;
  add_inputs (self, build);
  kvasir_model_build (self->model, build);
  self->step_plan =
      kvasir_graph_plan_new (self->model->device, build->graph, self->params.no_alloc, error);
  return self->step_plan != NULL;
}

/* The rope of the layer's keys in a shift; n_rot 0: they stay as they are. */
static KvasirRopeParams
get_shift_rope (const KvasirContext *self, guint il)
{
  const KvasirHparams *hp = &self->model->hparams;
  KvasirRopeParams rope = hp->layers[il].rope;
  gboolean is_turned = FALSE;

  for (guint i = 0; i < hp->n_layers && self->params.shift_as_traces; i++)
    is_turned |= hp->layers[i].rope.n_rot > 0;
  if (rope.n_rot == 0 && is_turned)
    rope = hp->rope;
  rope.head_dim = (gint32) hp->layers[il].head_dim_k;
  rope.shift_scales = self->params.shift_as_traces;
  return rope;
}

/* Adds the turning of the layer's keys, if it has any of its own, by the pending shifts of their
 * cells. */
static void
add_shift (KvasirContext *self, KvasirGraph **graph, guint il)
{
  const KvasirLayerHparams *layer = &self->model->hparams.layers[il];
  KvasirTensor *factors = kvasir_model_get_rope_factors (self->model, self->step.long_context);
  KvasirRopeParams rope = get_shift_rope (self, il);
  KvasirTensor *k, *v;
  guint cache = 0;

  kvasir_memory_get_layer (self->memory, il, &k, &v, &cache);
  if (k == NULL || layer->share >= 0 || rope.n_rot == 0)
    return;
  if (*graph == NULL)
    *graph = kvasir_graph_new ();
  if (self->shifts[cache] == NULL)
    self->shifts[cache] = kvasir_graph_input (
        *graph, "shifts", KVASIR_TYPE_I32, count_cells (self->memory, cache), 0, KVASIR_DYN_NONE);
  rope.hadamard = self->step.rotate ? kvasir_model_get_rotation (k->type, layer->head_dim_k) : 0;
  kvasir_graph_set_layer (*graph, (gint) il);
  kvasir_graph_rope_shift (*graph, "k_shift", k, self->shifts[cache],
                           layer->has_rope_factors ? factors : NULL, &rope);
}

static gboolean
reserve_shift (KvasirContext *self, GError **error)
{
  KvasirGraph *g = NULL;

  if (kvasir_memory_get_shift_obstacle (self->memory) != NULL ||
      self->model->hparams.memory_class == KVASIR_MEMORY_NONE)
    return TRUE;
  for (guint il = 0; il < self->model->hparams.n_layers; il++)
    add_shift (self, &g, il);
  if (g == NULL)
    return TRUE;
  self->shift_plan = kvasir_graph_plan_new (self->model->device, g, self->params.no_alloc, error);
  return self->shift_plan != NULL;
}

gboolean
kvasir_context_reserve (KvasirContext *self, GError **error)
{
  g_return_val_if_fail (self->n_attention <= KVASIR_MAX_CACHES, FALSE);
  return reserve_step (self, error) && reserve_shift (self, error);
}
