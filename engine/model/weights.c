#include "engine/model/weights.h"

#include <string.h>
#include <unistd.h>

#include "engine/error.h"
#include "engine/graph/graph-plan.h"
#include "engine/model/packing.h"
#include "engine/model/prefault.h"

#define NAME_LEN 64

/* A file of the model. */
typedef struct
{
  KvasirMapping *mapping; /* (owned) (nullable): NULL where the device has a copy */
  KvasirBuffer *buffer;   /* (owned) (nullable): the mapping as the device reads it */
  gsize mapped_offset;    /* from the start of the mapping to the buffer */
} Part;

/* Where a tensor lies in the files. */
typedef struct
{
  KvasirTensor *tensor; /* (owned) */
  guint part;
  guint64 offset;
  gsize n_bytes;
} Weight;

struct _KvasirWeights
{
  const KvasirGguf *gguf;   /* (unowned) */
  KvasirDevice *device;     /* (unowned) */
  GArray *weights;          /* (owned) of Weight */
  GHashTable *used;         /* (owned): the names asked for and found */
  GArray *parts;            /* (owned) of Part: empty before mapping */
  KvasirPrefault *prefault; /* (owned) (nullable) */
  KvasirBuffer *buffer;     /* (owned) (nullable): the copy where it was made */
  KvasirPacking *packing;   /* (owned) (nullable) */
  guint64 n_to_pack;        /* where that is only measured */
  const char *buffer_type;
  guint64 n_bytes;
};

static void
clear_weight (gpointer weight)
{
  g_free (((Weight *) weight)->tensor);
}

static void
clear_part (gpointer data)
{
  Part *part = data;

  if (part->buffer != NULL)
    kvasir_buffer_free (part->buffer);
  g_clear_pointer (&part->mapping, kvasir_mapping_free);
}

KvasirWeights *
kvasir_weights_new (const KvasirGguf *gguf, KvasirDevice *device)
{
  KvasirWeights *self = g_new0 (KvasirWeights, 1);
  self->gguf = gguf;
  self->device = device;
  self->weights = g_array_new (FALSE, TRUE, sizeof (Weight));
  g_array_set_clear_func (self->weights, clear_weight);
  self->used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->parts = g_array_new (FALSE, TRUE, sizeof (Part));
  g_array_set_clear_func (self->parts, clear_part);
  return self;
}

void
kvasir_weights_free (KvasirWeights *self)
{
  g_return_if_fail (self != NULL);
  kvasir_packing_free (self->packing);
  kvasir_buffer_free (self->buffer);
  g_clear_pointer (&self->prefault, kvasir_prefault_free);
  g_array_unref (self->parts);
  g_array_unref (self->weights);
  g_hash_table_unref (self->used);
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
add_weight (KvasirWeights *self, const char *name, int type, const gint64 ne[3])
{
  Weight weight = { .tensor = g_new0 (KvasirTensor, 1) };
  KvasirTensor *t = weight.tensor;

  g_hash_table_add (self->used, g_strdup (name));
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

static guint
get_n_dims (const gint64 ne[3])
{
  return ne[2] > 0 ? 3 : ne[1] > 0 ? 2 : 1;
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

/* A vector is added or multiplied as it is, so it must be plain; a matrix may have any type that
 * the device can multiply, which the plan checks. */
static gboolean
check_tensor (KvasirWeights *self,
              const KvasirGgufTensor *found,
              const gint64 ne[3],
              GError **error)
{
  guint n_dims = get_n_dims (ne);

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

static gboolean find (KvasirWeights *self,
                      gint layer,
                      const char *name,
                      const gint64 ne[3],
                      KvasirTensor **tensor,
                      GError **error);

/* A file may hold NAME.scale beside the matrix NAME.weight: one number, or one for each expert,
 * that the values count times. NVFP4 needs it most, other types may have it. What has the name and
 * another shape is something else, as the factors of gemma4's router. */
static gboolean
find_scale (KvasirWeights *self,
            const KvasirGgufTensor *found,
            guint n_dims,
            KvasirTensor **scale,
            GError **error)
{
  gboolean is_stack = strstr (found->name, "_exps.") != NULL;
  const gint64 ne[3] = { is_stack ? found->ne[2] : 1, 0, 0 };
  const KvasirGgufTensor *beside;
  g_autofree char *stem = NULL;
  char name[NAME_LEN];

  *scale = NULL;
  if (n_dims < 2 || !g_str_has_suffix (found->name, ".weight"))
    return TRUE;
  stem = g_strndup (found->name, strlen (found->name) - strlen (".weight"));
  g_snprintf (name, sizeof name, "%s.scale", stem);
  beside = kvasir_gguf_find_tensor (self->gguf, name);
  if (beside == NULL || (found->type != KVASIR_TYPE_NVFP4 && !has_shape (beside, ne)))
    return TRUE;
  return find (self, -1, name, ne, scale, error);
}

static gboolean
find (KvasirWeights *self,
      gint layer,
      const char *name,
      const gint64 ne[3],
      KvasirTensor **tensor,
      GError **error)
{
  KvasirTensor *scale;
  char full[NAME_LEN];
  const KvasirGgufTensor *found;
  Weight *weight;

  make_name (full, layer, name);
  *tensor = NULL;
  found = kvasir_gguf_find_tensor (self->gguf, full);
  if (found == NULL)
    return TRUE;
  if (!check_tensor (self, found, ne, error) ||
      !find_scale (self, found, get_n_dims (ne), &scale, error))
    return FALSE;
  *tensor = add_weight (self, full, found->type, ne);
  weight = &g_array_index (self->weights, Weight, self->weights->len - 1);
  weight->part = found->part;
  weight->offset = found->offset;
  weight->tensor->scale = scale;
  return TRUE;
}

static gboolean
fail_missing (
    const KvasirWeights *self, gint layer, const char *name, const gint64 ne[3], GError **error)
{
  g_autofree char *shape = format_shape (get_n_dims (ne), ne);
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

void
kvasir_weights_leave (KvasirWeights *self, gint layer, const char *prefix)
{
  char full[NAME_LEN];

  make_name (full, layer, prefix);
  for (guint i = 0; i < kvasir_gguf_get_n_tensors (self->gguf); i++)
    {
      const char *name = kvasir_gguf_get_tensor (self->gguf, i)->name;

      if (g_str_has_prefix (name, full))
        g_hash_table_add (self->used, g_strdup (name));
    }
}

gboolean
kvasir_weights_is_used (const KvasirWeights *self, const char *name)
{
  return g_hash_table_contains (self->used, name) || g_str_has_suffix (name, ".input_scale") ||
         strstr (name, ".attn_rot_embd") != NULL || strstr (name, ".rotary_emb.") != NULL;
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
  KvasirTensor *t = add_weight (self, whole->name, whole->type, ne);

  for (guint i = 2; i < KVASIR_MAX_DIMS; i++)
    t->nb[i] = whole->nb[i];

  t->scale = whole->scale;
  t->view_src = whole;
  t->view_offset = (gsize) first * whole->nb[is_vector ? 0 : 1];
  return t;
}

static gboolean
map_part (KvasirWeights *self, const KvasirGguf *gguf, GError **error)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  Part part = { kvasir_mapping_new (kvasir_gguf_get_path (gguf), error), NULL, 0 };
  gsize n_bytes;

  if (part.mapping == NULL)
    return FALSE;
  n_bytes = kvasir_mapping_get_bytes (part.mapping);
  part.mapped_offset = MIN ((gsize) kvasir_gguf_get_data_offset (gguf), n_bytes) / page * page;
  g_array_append_val (self->parts, part);
  if (n_bytes == kvasir_gguf_get_file_bytes (gguf))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
               "%s: %" G_GUINT64_FORMAT " bytes expected, %" G_GSIZE_FORMAT
               " found: the file was changed while it was read",
               kvasir_gguf_get_path (gguf), kvasir_gguf_get_file_bytes (gguf), n_bytes);
  return FALSE;
}

gboolean
kvasir_weights_map (KvasirWeights *self, GError **error)
{
  for (guint i = 0; i < kvasir_gguf_get_n_parts (self->gguf); i++)
    if (!map_part (self, kvasir_gguf_get_part (self->gguf, i), error))
      return FALSE;
  return TRUE;
}

void
kvasir_weights_start_prefault (KvasirWeights *self)
{
  self->prefault = kvasir_prefault_new ();
  for (guint i = 0; i < self->parts->len; i++)
    kvasir_prefault_add (self->prefault, g_array_index (self->parts, Part, i).mapping);
  kvasir_prefault_start (self->prefault);
}

gboolean
kvasir_weights_finish_prefault (KvasirWeights *self, KvasirProgress progress, gpointer user_data)
{
  gboolean ok = kvasir_prefault_finish (self->prefault, progress, user_data);

  g_clear_pointer (&self->prefault, kvasir_prefault_free);
  return ok;
}

/* FALSE where the device does not read the host's memory. */
static gboolean
wrap_parts (KvasirWeights *self)
{
  self->n_bytes = 0;
  for (guint i = 0; i < self->parts->len; i++)
    {
      Part *part = &g_array_index (self->parts, Part, i);
      const guint8 *data = kvasir_mapping_get_data (part->mapping);
      gsize n_bytes = kvasir_mapping_get_bytes (part->mapping) - part->mapped_offset;

      /* The first part of a split model may hold keys alone. */
      if (n_bytes == 0)
        continue;
      if (part->buffer == NULL)
        part->buffer = self->device->vtable->buffer_from_host (
            self->device, (guint8 *) data + part->mapped_offset, n_bytes);
      if (part->buffer == NULL)
        return FALSE;
      self->buffer_type = part->buffer->type->name;
      self->n_bytes += n_bytes;
    }
  return TRUE;
}

/* Slices come after what they are part of. */
static void
place (Weight *weight, KvasirBuffer *buffer, gsize offset)
{
  KvasirTensor *t = weight->tensor;
  t->buffer = t->view_src != NULL ? t->view_src->buffer : buffer;
  t->data = t->view_src != NULL ? (char *) t->view_src->data + t->view_offset
                                : (char *) buffer->base + offset;
}

static const guint8 *
peek_data (const KvasirWeights *self, const Weight *weight)
{
  const Part *part = &g_array_index (self->parts, Part, weight->part);
  return kvasir_mapping_get_data (part->mapping) + weight->offset;
}

/* Returns: the bytes that all tensors take side by side */
static gsize
copy_tensors (KvasirWeights *self, const KvasirBufferType *type, gboolean measure)
{
  gsize end = 0;

  for (guint i = 0; i < self->weights->len; i++)
    {
      Weight *weight = &g_array_index (self->weights, Weight, i);
      if (!measure)
        place (weight, self->buffer, end);
      if (weight->tensor->view_src != NULL)
        continue;
      if (!measure)
        self->buffer->vtable->set (self->buffer, end, peek_data (self, weight), weight->n_bytes);
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
  if (self->prefault == NULL)
    g_array_set_size (self->parts, 0);
  return TRUE;
}

gboolean
kvasir_weights_load (KvasirWeights *self, gboolean no_alloc, GError **error)
{
  if (!wrap_parts (self))
    return copy_to_device (self, no_alloc, error);
  for (guint i = 0; i < self->weights->len; i++)
    {
      Weight *weight = &g_array_index (self->weights, Weight, i);
      Part *part = &g_array_index (self->parts, Part, weight->part);
      place (weight, part->buffer, (gsize) weight->offset - part->mapped_offset);
    }
  return TRUE;
}

gboolean
kvasir_weights_are_intact (const KvasirWeights *self)
{
  for (guint i = 0; i < self->parts->len; i++)
    if (kvasir_mapping_is_damaged (g_array_index (self->parts, Part, i).mapping))
      return FALSE;
  return TRUE;
}

guint64
kvasir_weights_get_resident_bytes (const KvasirWeights *self)
{
  guint64 n_mapped = self->n_bytes - kvasir_weights_get_packed_bytes (self);
  guint64 n_bytes = 0;

  for (guint i = 0; i < self->weights->len && self->parts->len > 0; i++)
    {
      const Weight *weight = &g_array_index (self->weights, Weight, i);
      const Part *part = &g_array_index (self->parts, Part, weight->part);
      gsize n_packed = __atomic_load_n (&weight->tensor->n_packed, __ATOMIC_RELAXED);
      if (weight->tensor->view_src == NULL && n_packed < weight->n_bytes)
        n_bytes += kvasir_mapping_get_resident_bytes (
            part->mapping, (gsize) weight->offset + n_packed, weight->n_bytes - n_packed);
    }
  /* A tensor that was asked for twice is there once, and packing goes on meanwhile. */
  return MIN (n_bytes, n_mapped);
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

/* Of these a step reads the rows of its tokens alone. */
static gboolean
is_table (const KvasirTensor *tensor)
{
  static const char *const names[] = { "token_embd.weight", "per_layer_token_embd.weight",
                                       "position_embd.weight", "token_types.weight" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (tensor->name, names[i]))
      return TRUE;
  return FALSE;
}

void
kvasir_weights_pack (KvasirWeights *self, const KvasirTensor *output, gboolean no_alloc)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();

  for (guint i = 0; i < self->weights->len && self->parts->len > 0; i++)
    {
      KvasirTensor *tensor = g_array_index (self->weights, Weight, i).tensor;
      /* A tensor that was asked for twice would take its place twice. */
      if ((tensor == output || !is_table (tensor)) && g_hash_table_add (seen, tensor->data))
        g_ptr_array_add (tensors, tensor);
    }
  self->n_to_pack = no_alloc ? kvasir_packing_measure (self->device, tensors) : 0;
  if (!no_alloc)
    self->packing = kvasir_packing_new (self->device, tensors);
}

guint64
kvasir_weights_get_packed_bytes (const KvasirWeights *self)
{
  return self->packing != NULL ? kvasir_packing_get_bytes (self->packing) : self->n_to_pack;
}

const char *
kvasir_weights_get_packed_type (const KvasirWeights *self)
{
  const KvasirBufferType *type = self->device->packed_buffer_type;
  return type != NULL ? type->name : NULL;
}
