#include "engine/graph/graph-plan.h"

#include "engine/graph/placement.h"

/* An extent that follows the step. */
typedef struct
{
  gint64 *extent;
  KvasirDyn dyn;
} DynExtent;

struct _KvasirGraphPlan
{
  KvasirDevice *device;
  KvasirGraph *graph;     /* (owned) */
  KvasirBuffer *results;  /* (owned) (nullable): NULL where there are none, or with no_alloc */
  KvasirBuffer *inputs;   /* (owned) (nullable) */
  KvasirPlan *program;    /* (owned) (nullable) */
  DynExtent *dyn_extents; /* (owned) [n_dyn_extents] */
  guint n_dyn_extents;
  gint32 n_tokens; /* extents in force, -1: those of the worst case */
  gint32 n_outputs;
  KvasirGraphPlanBytes bytes;
};

KvasirBuffer *
kvasir_buffer_alloc (KvasirBufferType *type, gsize n_bytes, const char *what, GError **error)
{
  KvasirBuffer *buffer = n_bytes <= type->max_bytes ? type->alloc (type, n_bytes) : NULL;
  if (buffer == NULL)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                 "%s: %" G_GSIZE_FORMAT " bytes of %s memory cannot be had", what, n_bytes,
                 type->name);
  else if (buffer->vtable->settle != NULL)
    buffer->vtable->settle (buffer);
  return buffer;
}

void
kvasir_buffer_free (KvasirBuffer *buffer)
{
  if (buffer != NULL)
    buffer->vtable->free (buffer);
}

/* "f32 [576, 1] with q4_1 [576, 1536]": what a person needs to see why an operation is refused. */
static char *
describe_types (const KvasirTensor *t)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < KVASIR_MAX_SRC; i++)
    {
      const KvasirTensor *s = t->src[i];
      if (s == NULL)
        continue;
      g_string_append_printf (text, "%s%s [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]",
                              i > 0 ? ", " : "", kvasir_type_get_name (s->type), s->ne[0],
                              s->ne[1]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
check_support (KvasirDevice *device, const KvasirGraph *graph, GError **error)
{
  guint n;
  KvasirTensor *const *nodes = kvasir_graph_get_nodes (graph, &n);

  for (guint i = 0; i < n; i++)
    if (!device->vtable->supports_op (device, nodes[i]))
      {
        g_autofree char *types = describe_types (nodes[i]);
        g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                     "%s: %s cannot compute %s of %s", nodes[i]->name, device->name,
                     kvasir_op_get_name (nodes[i]->op), types);
        return FALSE;
      }
  return TRUE;
}

static void
collect_dyn_extents (KvasirGraphPlan *self)
{
  guint n;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (self->graph, &n);

  self->dyn_extents = g_new0 (DynExtent, (gsize) n * KVASIR_MAX_DIMS);
  for (guint i = 0; i < n; i++)
    for (guint d = 0; d < KVASIR_MAX_DIMS; d++)
      if (tensors[i]->dyn[d] != KVASIR_DYN_NONE)
        self->dyn_extents[self->n_dyn_extents++] =
            (DynExtent){ &tensors[i]->ne[d], tensors[i]->dyn[d] };
}

static void
put_into (KvasirGraph *graph, const gsize *offsets, KvasirBuffer *buffer)
{
  guint n;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (graph, &n);
  for (guint i = 0; i < n; i++)
    if (offsets[i] != G_MAXSIZE)
      {
        tensors[i]->buffer = buffer;
        tensors[i]->data = (char *) buffer->base + offsets[i];
      }
}

/* Views of results follow their roots; views of caches were placed when they were made. */
static void
put_views (KvasirGraph *graph)
{
  guint n;
  KvasirTensor *const *tensors = kvasir_graph_get_tensors (graph, &n);
  for (guint i = 0; i < n; i++)
    if (tensors[i]->view_src != NULL)
      {
        tensors[i]->buffer = tensors[i]->view_src->buffer;
        tensors[i]->data = (char *) tensors[i]->view_src->data + tensors[i]->view_offset;
      }
}

static gboolean
place (KvasirGraphPlan *self, gboolean no_alloc, GError **error)
{
  guint n;
  g_autofree gsize *node_offsets = NULL, *input_offsets = NULL;
  KvasirDevice *device = self->device;

  kvasir_graph_get_tensors (self->graph, &n);
  node_offsets = g_new (gsize, n);
  input_offsets = g_new (gsize, n);
  self->bytes.results = kvasir_placement_of_nodes (self->graph, device->buffer_type, node_offsets);
  self->bytes.inputs =
      kvasir_placement_of_inputs (self->graph, device->host_buffer_type, input_offsets);
  if (no_alloc)
    return TRUE;
  if (self->bytes.results > 0)
    {
      self->results = kvasir_buffer_alloc (device->buffer_type, self->bytes.results,
                                           "memory for computing", error);
      if (self->results == NULL)
        return FALSE;
      put_into (self->graph, node_offsets, self->results);
    }
  self->inputs = kvasir_buffer_alloc (device->host_buffer_type, self->bytes.inputs,
                                      "memory for inputs", error);
  if (self->inputs == NULL)
    return FALSE;
  put_into (self->graph, input_offsets, self->inputs);
  put_views (self->graph);
  return TRUE;
}

static gboolean
compile (KvasirGraphPlan *self, gboolean no_alloc, GError **error)
{
  guint n;
  KvasirTensor *const *nodes = kvasir_graph_get_nodes (self->graph, &n);
  const KvasirDeviceVtable *vtable = self->device->vtable;

  self->bytes.program = vtable->plan_get_bytes (self->device, nodes, n);
  if (no_alloc)
    return TRUE;
  self->program = vtable->plan_new (self->device, nodes, n);
  if (self->program == NULL)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "program of %u operations: %" G_GSIZE_FORMAT " bytes on %s cannot be had", n,
                   self->bytes.program, self->device->name);
      return FALSE;
    }
  return TRUE;
}

KvasirGraphPlan *
kvasir_graph_plan_new (KvasirDevice *device, KvasirGraph *graph, gboolean no_alloc, GError **error)
{
  g_autoptr (KvasirGraphPlan) self = g_new0 (KvasirGraphPlan, 1);

  self->device = device;
  self->graph = graph;
  self->n_tokens = self->n_outputs = -1;
  if (!check_support (device, graph, error) || !place (self, no_alloc, error) ||
      !compile (self, no_alloc, error))
    return NULL;
  collect_dyn_extents (self);
  return g_steal_pointer (&self);
}

void
kvasir_graph_plan_free (KvasirGraphPlan *self)
{
  g_return_if_fail (self != NULL);
  if (self->program != NULL)
    self->device->vtable->plan_free (self->program);
  kvasir_buffer_free (self->results);
  kvasir_buffer_free (self->inputs);
  g_free (self->dyn_extents);
  kvasir_graph_free (self->graph);
  g_free (self);
}

KvasirGraphPlanBytes
kvasir_graph_plan_get_bytes (const KvasirGraphPlan *self)
{
  return self->bytes;
}

static void
patch_extents (KvasirGraphPlan *self, const KvasirStep *step)
{
  if (step->n_tokens == self->n_tokens && step->n_outputs == self->n_outputs)
    return;
  for (guint i = 0; i < self->n_dyn_extents; i++)
    *self->dyn_extents[i].extent =
        self->dyn_extents[i].dyn == KVASIR_DYN_TOKENS ? step->n_tokens : step->n_outputs;
  self->n_tokens = step->n_tokens;
  self->n_outputs = step->n_outputs;
}

static KvasirStatus
compute (KvasirGraphPlan *self, guint first, guint n, const KvasirStep *step)
{
  const KvasirDeviceVtable *vtable = self->device->vtable;
  KvasirStatus status;

  g_return_val_if_fail (self->program != NULL, KVASIR_STATUS_FAILED);
  patch_extents (self, step);
  status = vtable->plan_compute (self->program, first, n, step);
  return status == KVASIR_STATUS_OK ? vtable->synchronize (self->device) : status;
}

KvasirStatus
kvasir_graph_plan_compute_body (KvasirGraphPlan *self, const KvasirStep *step)
{
  return compute (self, 0, kvasir_graph_get_head (self->graph), step);
}

KvasirStatus
kvasir_graph_plan_compute_head (KvasirGraphPlan *self, const KvasirStep *step)
{
  guint n, head = kvasir_graph_get_head (self->graph);
  kvasir_graph_get_nodes (self->graph, &n);
  return compute (self, head, n - head, step);
}

void
kvasir_graph_plan_read (const KvasirGraphPlan *self, const KvasirTensor *t, void *to, gsize n_bytes)
{
  const KvasirBuffer *buffer = self->results;
  buffer->vtable->get (buffer, (gsize) ((const char *) t->data - (const char *) buffer->base), to,
                       n_bytes);
}
