#include "engine/model/weights.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/error.h"
#include "engine/graph/graph-plan.h"

/* Large enough that the calls cost nothing, small enough for twenty reports on a small model. */
#define PREFAULT_BYTES (4u << 20)

#define NAME_LEN 64

/* Where a tensor lies in the file. */
typedef struct
{
  KvasirTensor *tensor; /* (owned) */
  guint64 offset;
  gsize n_bytes;
} Weight;

struct _KvasirWeights
{
  const KvasirGguf *gguf; /* (unowned) */
  KvasirDevice *device;   /* (unowned) */
  GArray *weights;        /* (owned) of Weight */
  KvasirMapping *mapping; /* (owned) (nullable) */
  KvasirBuffer *buffer;   /* (owned) (nullable): NULL when only measured */
  gsize mapped_offset;    /* from the start of the mapping to the buffer */
  const char *buffer_type;
  guint64 n_bytes;
};

static void
clear_weight (gpointer weight)
{
  g_free (((Weight *) weight)->tensor);
}

KvasirWeights *
kvasir_weights_new (const KvasirGguf *gguf, KvasirDevice *device)
{
  KvasirWeights *self = g_new0 (KvasirWeights, 1);
  self->gguf = gguf;
  self->device = device;
  self->weights = g_array_new (FALSE, TRUE, sizeof (Weight));
  g_array_set_clear_func (self->weights, clear_weight);
  return self;
}

void
kvasir_weights_free (KvasirWeights *self)
{
  g_return_if_fail (self != NULL);
  kvasir_buffer_free (self->buffer);
  if (self->mapping != NULL)
    kvasir_mapping_free (self->mapping);
  g_array_unref (self->weights);
  g_free (self);
}

static void
make_name (char *full, gint layer, const char *name)
{
  if (layer < 0)
    g_strlcpy (full, name, NAME_LEN);
  else
    g_snprintf (full, NAME_LEN, "blk.%d.%s", layer, name);
}

static KvasirTensor *
add_weight (KvasirWeights *self, const char *name, int type, const gint64 ne[3], guint64 offset)
{
  Weight weight = { g_new0 (KvasirTensor, 1), offset, 0 };
  KvasirTensor *t = weight.tensor;

  t->type = (KvasirType) type;
  t->ne[0] = ne[0];
  t->ne[1] = MAX (ne[1], 1);
  t->ne[2] = MAX (ne[2], 1);
  t->ne[3] = 1;
  t->nb[0] = kvasir_type_get_block_bytes (type);
  t->nb[1] = kvasir_type_get_row_bytes (type, ne[0]);
  t->nb[2] = t->nb[1] * (gsize) t->ne[1];
  t->nb[3] = t->nb[2] * (gsize) t->ne[2];
  g_strlcpy (t->name, name, sizeof t->name);
  weight.n_bytes = t->nb[3];
  g_array_append_val (self->weights, weight);
  return t;
}

static char *
format_shape (guint n_dims, const gint64 *ne)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < n_dims; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", ne[i]);
  return g_string_free (g_string_append (text, "]"), FALSE);
}

/* Files write some vectors and small matrices with extents of 1 before or between the others, which
 * do not change where the values lie. */
static gboolean
has_shape (const KvasirGgufTensor *found, const gint64 ne[3])
{
  guint d = 0;

  for (guint i = 0; i < 3; i++)
    {
      if (ne[i] <= 1)
        continue;
      while (d < 4 && found->ne[d] == 1)
        d++;
      if (d == 4 || found->ne[d] != ne[i])
        return FALSE;
      d++;
    }
  while (d < 4 && found->ne[d] == 1)
    d++;
  return d == 4;
}

static gboolean
check_plain (const KvasirWeights *self, const char *name, int type, GError **error)
{
  if (type == KVASIR_TYPE_F32)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: type f32 expected, %s found", kvasir_gguf_get_path (self->gguf), name,
               kvasir_type_get_name (type));
  return FALSE;
}

/* NVFP4 weights count times a number of their own tensor, which no product here applies: without it
 * they would only be wrong. */
static gboolean
check_scale (const KvasirWeights *self, const KvasirGgufTensor *found, GError **error)
{
  char scale[NAME_LEN];
  gsize n = strlen (found->name);

  if (found->type != KVASIR_TYPE_NVFP4 || !g_str_has_suffix (found->name, ".weight"))
    return TRUE;
  g_snprintf (scale, sizeof scale, "%.*s.scale", (int) (n - strlen (".weight")), found->name);
  if (kvasir_gguf_find_tensor (self->gguf, scale) == NULL)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: nvfp4 weights without a scale of their own expected, %s found",
               kvasir_gguf_get_path (self->gguf), found->name, scale);
  return FALSE;
}

/* A vector is added or multiplied as it is, so it must be plain; a matrix may have any type that
 * the device can multiply, which the plan checks. */
static gboolean
check_tensor (KvasirWeights *self,
              const KvasirGgufTensor *found,
              const gint64 ne[3],
              GError **error)
{
  guint n_dims = ne[2] > 0 ? 3 : ne[1] > 0 ? 2 : 1;

  if (!check_scale (self, found, error))
    return FALSE;
  if (!has_shape (found, ne))
    {
      g_autofree char *expected = format_shape (n_dims, ne);
      g_autofree char *actual = format_shape (found->n_dims, found->ne);
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
                   "%s: %s: shape %s expected, %s found", kvasir_gguf_get_path (self->gguf),
                   found->name, expected, actual);
      return FALSE;
    }
  return n_dims > 1 || check_plain (self, found->name, found->type, error);
}

static gboolean
find (KvasirWeights *self,
      gint layer,
      const char *name,
      const gint64 ne[3],
      KvasirTensor **tensor,
      GError **error)
{
  char full[NAME_LEN];
  const KvasirGgufTensor *found;

  make_name (full, layer, name);
  *tensor = NULL;
  found = kvasir_gguf_find_tensor (self->gguf, full);
  if (found == NULL)
    return TRUE;
  if (!check_tensor (self, found, ne, error))
    return FALSE;
  *tensor = add_weight (self, full, found->type, ne, found->offset);
  return TRUE;
}

static gboolean
fail_missing (
    const KvasirWeights *self, gint layer, const char *name, const gint64 ne[3], GError **error)
{
  g_autofree char *shape = format_shape (ne[2] > 0 ? 3 : ne[1] > 0 ? 2 : 1, ne);
  char full[NAME_LEN];

  make_name (full, layer, name);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
               "%s: %s: a tensor %s expected, none found", kvasir_gguf_get_path (self->gguf), full,
               shape);
  return FALSE;
}

gboolean
kvasir_weights_get_stack (KvasirWeights *self,
                          gint layer,
                          const char *name,
                          const gint64 ne[3],
                          gboolean optional,
                          KvasirTensor **tensor,
                          GError **error)
{
  return find (self, layer, name, ne, tensor, error) &&
         (*tensor != NULL || optional || fail_missing (self, layer, name, ne, error));
}

gboolean
kvasir_weights_get_optional (KvasirWeights *self,
                             gint layer,
                             const char *name,
                             const gint64 ne[2],
                             KvasirTensor **tensor,
                             GError **error)
{
  const gint64 shape[3] = { ne[0], ne[1], 0 };
  return find (self, layer, name, shape, tensor, error);
}

gboolean
kvasir_weights_get (KvasirWeights *self,
                    gint layer,
                    const char *name,
                    const gint64 ne[2],
                    KvasirTensor **tensor,
                    GError **error)
{
  const gint64 shape[3] = { ne[0], ne[1], 0 };
  return kvasir_weights_get_stack (self, layer, name, shape, FALSE, tensor, error);
}

gboolean
kvasir_weights_get_plain (KvasirWeights *self,
                          gint layer,
                          const char *name,
                          const gint64 ne[2],
                          KvasirTensor **tensor,
                          GError **error)
{
  return kvasir_weights_get (self, layer, name, ne, tensor, error) &&
         check_plain (self, (*tensor)->name, (int) (*tensor)->type, error);
}

gboolean
kvasir_weights_has (const KvasirWeights *self, gint layer, const char *name)
{
  char full[NAME_LEN];
  make_name (full, layer, name);
  return kvasir_gguf_find_tensor (self->gguf, full) != NULL;
}

gint64
kvasir_weights_get_extent (const KvasirWeights *self, gint layer, const char *name, guint dim)
{
  const KvasirGgufTensor *found;
  char full[NAME_LEN];

  make_name (full, layer, name);
  found = kvasir_gguf_find_tensor (self->gguf, full);
  return found != NULL ? found->ne[dim] : 0;
}

KvasirTensor *
kvasir_weights_slice (KvasirWeights *self, KvasirTensor *whole, gint64 first, gint64 n)
{
  gboolean is_vector = whole->ne[1] == 1;
  gint64 ne[3] = { is_vector ? n : whole->ne[0], is_vector ? 0 : n, whole->ne[2] };
  KvasirTensor *t = add_weight (self, whole->name, whole->type, ne, 0);

  for (guint i = 2; i < KVASIR_MAX_DIMS; i++)
    t->nb[i] = whole->nb[i];

  t->view_src = whole;
  t->view_offset = (gsize) first * whole->nb[is_vector ? 0 : 1];
  return t;
}

static gboolean
map_file (KvasirWeights *self, GError **error)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  const guint8 *data;

  self->mapping = kvasir_mapping_new (kvasir_gguf_get_path (self->gguf), error);
  if (self->mapping == NULL)
    return FALSE;
  if (kvasir_mapping_get_bytes (self->mapping) != kvasir_gguf_get_file_bytes (self->gguf))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
                   "%s: %" G_GUINT64_FORMAT " bytes expected, %" G_GSIZE_FORMAT
                   " found: the file was changed while it was read",
                   kvasir_gguf_get_path (self->gguf), kvasir_gguf_get_file_bytes (self->gguf),
                   kvasir_mapping_get_bytes (self->mapping));
      return FALSE;
    }
  data = kvasir_mapping_get_data (self->mapping);
  self->mapped_offset = (gsize) kvasir_gguf_get_data_offset (self->gguf) / page * page;
  self->n_bytes = kvasir_mapping_get_bytes (self->mapping) - self->mapped_offset;
  self->buffer = self->device->vtable->buffer_from_host (
      self->device, (guint8 *) data + self->mapped_offset, self->n_bytes);
  return TRUE;
}

/* Slices come after what they are part of. */
static void
place (KvasirWeights *self, Weight *weight, gsize offset)
{
  KvasirTensor *t = weight->tensor;
  t->buffer = self->buffer;
  t->data = t->view_src != NULL ? (char *) t->view_src->data + t->view_offset
                                : (char *) self->buffer->base + offset;
}

/* Returns: the bytes that all tensors take side by side */
static gsize
copy_tensors (KvasirWeights *self, const KvasirBufferType *type, gboolean measure)
{
  gsize end = 0;
  const guint8 *data = kvasir_mapping_get_data (self->mapping);

  for (guint i = 0; i < self->weights->len; i++)
    {
      Weight *weight = &g_array_index (self->weights, Weight, i);
      if (!measure)
        place (self, weight, end);
      if (weight->tensor->view_src != NULL)
        continue;
      if (!measure)
        self->buffer->vtable->set (self->buffer, end, data + weight->offset, weight->n_bytes);
      end += type->get_alloc_bytes (type, weight->tensor);
      end = (end + type->alignment - 1) & ~(type->alignment - 1);
    }
  return end;
}

static gboolean
copy_to_device (KvasirWeights *self, gboolean no_alloc, GError **error)
{
  KvasirBufferType *type = self->device->buffer_type;

  self->buffer_type = type->name;
  self->n_bytes = copy_tensors (self, type, TRUE);
  if (!no_alloc)
    {
      self->buffer = kvasir_buffer_alloc (type, self->n_bytes, "weights", error);
      if (self->buffer == NULL)
        return FALSE;
      copy_tensors (self, type, FALSE);
    }
  g_clear_pointer (&self->mapping, kvasir_mapping_free);
  return TRUE;
}

gboolean
kvasir_weights_load (KvasirWeights *self, gboolean no_alloc, GError **error)
{
  if (!map_file (self, error))
    return FALSE;
  if (self->buffer == NULL)
    return copy_to_device (self, no_alloc, error);
  self->buffer_type = self->buffer->type->name;
  for (guint i = 0; i < self->weights->len; i++)
    {
      Weight *weight = &g_array_index (self->weights, Weight, i);
      place (self, weight, (gsize) weight->offset - self->mapped_offset);
    }
  return TRUE;
}

gboolean
kvasir_weights_prefault (KvasirWeights *self, KvasirProgress progress, gpointer user_data)
{
  const guint8 *data;
  gsize n_bytes;

  if (self->mapping == NULL)
    return progress == NULL || progress (1, user_data);
  data = kvasir_mapping_get_data (self->mapping);
  n_bytes = kvasir_mapping_get_bytes (self->mapping);
  for (gsize at = 0; at < n_bytes; at += PREFAULT_BYTES)
    {
      gsize n = MIN (PREFAULT_BYTES, n_bytes - at);
      /* Where the kernel can't (before 5.14) or the file was cut short, the first use of a page
       * reads it. */
      (void) madvise ((void *) (data + at), n, MADV_POPULATE_READ);
      if (progress != NULL && !progress ((double) (at + n) / (double) n_bytes, user_data))
        return FALSE;
    }
  return TRUE;
}

const KvasirMapping *
kvasir_weights_get_mapping (const KvasirWeights *self)
{
  return self->mapping;
}

const char *
kvasir_weights_get_buffer_type (const KvasirWeights *self)
{
  return self->buffer_type;
}

guint64
kvasir_weights_get_bytes (const KvasirWeights *self)
{
  return self->n_bytes;
}
