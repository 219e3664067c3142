#include "engine/error.h"
#include "engine/session/context-private.h"

static void
add_inputs (KvasirContext *self, KvasirModelBuild *build)
{
  const gint64 n_tokens = self->params.n_ubatch;
  const gint64 n_outputs = MIN (self->params.n_ubatch, KVASIR_HEAD_ROWS);
  KvasirGraph *g = build->graph;

  build->tokens = kvasir_graph_input (g, "tokens", KVASIR_TYPE_I32, n_tokens, 0, KVASIR_DYN_TOKENS);
  build->positions =
      kvasir_graph_input (g, "positions", KVASIR_TYPE_I32, n_tokens, 0, KVASIR_DYN_TOKENS);
  build->out_ids =
      kvasir_graph_input (g, "out_ids", KVASIR_TYPE_I32, n_outputs, 0, KVASIR_DYN_OUTPUTS);
  for (guint c = 0; c < kvasir_memory_get_n_caches (build->memory); c++)
    {
      const gint64 n_words = kvasir_memory_get_size (build->memory, c) / 64;
      build->caches[c].slots =
          kvasir_graph_input (g, "slots", KVASIR_TYPE_I64, n_tokens, 0, KVASIR_DYN_TOKENS);
      build->caches[c].mask =
          kvasir_graph_input (g, "mask", KVASIR_TYPE_I64, n_words, n_tokens, KVASIR_DYN_TOKENS);
    }
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

/* Turns the keys of every layer by the pending shift of their cells. */
static gboolean
reserve_shift (KvasirContext *self, GError **error)
{
  KvasirTensor *factors = kvasir_model_get_rope_factors (self->model, self->step.long_context);
  KvasirGraph *g;

  if (kvasir_memory_get_shift_obstacle (self->memory) != NULL)
    return TRUE;
  g = kvasir_graph_new ();
  for (guint c = 0; c < kvasir_memory_get_n_caches (self->memory); c++)
    self->shifts[c] = kvasir_graph_input (
        g, "shifts", KVASIR_TYPE_I32, kvasir_memory_get_size (self->memory, c), 0, KVASIR_DYN_NONE);
  for (guint il = 0; il < self->model->hparams.n_layers; il++)
    {
      const KvasirLayerHparams *layer = &self->model->hparams.layers[il];
      KvasirRopeParams rope = layer->rope;
      KvasirTensor *k, *v;
      guint cache = 0;
      rope.head_dim = (gint32) layer->head_dim_k;
      rope.shift_scales = self->params.shift_scales;
      kvasir_memory_get_layer (self->memory, il, &k, &v, &cache);
      kvasir_graph_set_layer (g, (gint) il);
      if (k != NULL)
        kvasir_graph_rope_shift (g, "k_shift", k, self->shifts[cache],
                                 layer->has_rope_factors ? factors : NULL, &rope);
    }
  self->shift_plan = kvasir_graph_plan_new (self->model->device, g, self->params.no_alloc, error);
  return self->shift_plan != NULL;
}

gboolean
kvasir_context_reserve (KvasirContext *self, GError **error)
{
  g_return_val_if_fail (kvasir_memory_get_n_caches (self->memory) <= KVASIR_MAX_CACHES, FALSE);
  return reserve_step (self, error) && reserve_shift (self, error);
}

gboolean
kvasir_context_reserve_output (KvasirContext *self, guint n, GError **error)
{
  KvasirBufferType *type = self->model->device->host_buffer_type;
  const gsize row_bytes = self->model->hparams.n_vocab * sizeof (float);
  KvasirBuffer *buffer;
  gsize n_bytes;

  if (!g_size_checked_mul (&n_bytes, row_bytes, n))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "%u rows of logits do not fit into memory", n);
      return FALSE;
    }
  if (!self->params.no_alloc)
    {
      buffer = kvasir_buffer_alloc (type, n_bytes, "logits", error);
      if (buffer == NULL)
        return FALSE;
      kvasir_context_emit_output (self, -1);
      kvasir_buffer_free (self->output);
      self->output = buffer;
    }
  self->n_output_rows = n;
  kvasir_context_emit_output (self, 1);
  return TRUE;
}
