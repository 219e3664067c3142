#include "rig.h"

#include <string.h>

#include "backends/cpu/ops.h"

const KvasirCpuIsa *
rig_get_isas (void)
{
  static KvasirCpuIsa isas[KVASIR_CPU_N_ISAS];
  gsize n = 0;

  if (isas[0] == KVASIR_CPU_ISA_AUTO)
    for (int isa = KVASIR_CPU_ISA_SCALAR; isa < KVASIR_CPU_N_ISAS; isa++)
      if (kvasir_cpu_isa_is_available ((KvasirCpuIsa) isa))
        isas[n++] = (KvasirCpuIsa) isa;
  return isas;
}

static void
free_tensor (gpointer data)
{
  KvasirTensor *tensor = data;

  if (tensor->view_src == NULL)
    tensor->buffer->vtable->free (tensor->buffer);
  g_free (tensor);
}

static Rig *
new_rig (const KvasirCpuOptions *options)
{
  Rig *rig = g_new0 (Rig, 1);

  rig->device = kvasir_cpu_device_new (options);
  g_assert_nonnull (rig->device);
  rig->tensors = g_ptr_array_new_with_free_func (free_tensor);
  rig->nodes = g_ptr_array_new ();
  return rig;
}

Rig *
rig_new (KvasirCpuIsa isa, int n_threads)
{
  return new_rig (&(KvasirCpuOptions){ isa, n_threads, false });
}

Rig *
rig_new_as_traces (KvasirCpuIsa isa, int n_threads)
{
  return new_rig (&(KvasirCpuOptions){ isa, n_threads, true });
}

Rig *
rig_new_with_blas (KvasirCpuIsa isa, int n_threads, KvasirCpuBlas blas)
{
  return new_rig (&(KvasirCpuOptions){ isa, n_threads, false, blas });
}

void
rig_free (Rig *rig)
{
  g_ptr_array_unref (rig->nodes);
  g_ptr_array_unref (rig->tensors);
  rig->device->vtable->free (rig->device);
  g_free (rig);
}

static KvasirTensor *
new_tensor (KvasirType type, gint64 ne0, gint64 ne1, gint64 ne2)
{
  KvasirTensor *tensor = g_new0 (KvasirTensor, 1);

  tensor->type = type;
  tensor->ne[0] = ne0;
  tensor->ne[1] = ne1;
  tensor->ne[2] = ne2;
  tensor->ne[3] = 1;
  tensor->nb[0] = kvasir_type_get_block_bytes ((int) type);
  tensor->nb[1] = kvasir_type_get_row_bytes ((int) type, ne0);
  tensor->nb[2] = tensor->nb[1] * (gsize) ne1;
  tensor->nb[3] = tensor->nb[2] * (gsize) ne2;
  return tensor;
}

KvasirTensor *
rig_tensor (Rig *rig, KvasirType type, gint64 ne0, gint64 ne1, gint64 ne2)
{
  KvasirTensor *tensor = new_tensor (type, ne0, ne1, ne2);
  KvasirBufferType *buffer_type = rig->device->buffer_type;

  tensor->buffer =
      buffer_type->alloc (buffer_type, buffer_type->get_alloc_bytes (buffer_type, tensor));
  g_assert_nonnull (tensor->buffer);
  tensor->data = tensor->buffer->base;
  g_ptr_array_add (rig->tensors, tensor);
  return tensor;
}

KvasirBuffer *
rig_pack (Rig *rig, KvasirTensor *w, gsize n_bytes)
{
  KvasirBufferType *type = rig->device->packed_buffer_type;
  KvasirBuffer *buffer = type->alloc (type, type->get_alloc_bytes (type, w));

  g_assert_nonnull (buffer);
  g_assert_true (rig->device->vtable->can_pack (rig->device, w));
  w->packed = buffer->base;
  rig->device->vtable->pack (rig->device, w, n_bytes);
  return buffer;
}

/* Where the type keeps its scales, halves all, in a block of @n_bytes. */
static gsize
get_scale_offset (KvasirType type, gsize n_bytes)
{
  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
      return 80;
    case KVASIR_TYPE_Q3_K:
    case KVASIR_TYPE_Q6_K:
    case KVASIR_TYPE_TQ1_0:
    case KVASIR_TYPE_TQ2_0:
      return n_bytes - 2;
    default:
      return 0;
    }
}

/* Scales that are no halves; FALSE if they are. */
static gboolean
fill_odd_scales (GRand *rand, KvasirType type, guint8 *block)
{
  switch (type)
    {
    case KVASIR_TYPE_MXFP4:
      block[0] = (guint8) g_rand_int_range (rand, 118, 124);
      return TRUE;
    case KVASIR_TYPE_NVFP4:
      for (int i = 0; i < 4; i++)
        block[i] = (guint8) g_rand_int_range (rand, 40, 70);
      return TRUE;
    case KVASIR_TYPE_IQ1_M:
      /* The upper two nibbles of the half, in the last two words. */
      block[53] = (guint8) ((block[53] & 0x0f) | g_rand_int_range (rand, 4, 8) << 4);
      block[55] = (guint8) ((block[55] & 0x0f) | 0x10);
      return TRUE;
    default:
      return FALSE;
    }
}

/* Random bits with scales of a usable size. */
static void
fill_blocks (GRand *rand, KvasirType type, guint8 *data, gsize n_bytes)
{
  gsize block = kvasir_type_get_block_bytes ((int) type);
  gsize scale = get_scale_offset (type, block);
  gsize n_scales =
      type == KVASIR_TYPE_Q2_K || type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K ? 2 : 1;

  for (gsize i = 0; i < n_bytes; i++)
    data[i] = (guint8) g_rand_int (rand);
  for (gsize i = 0; i < n_bytes; i += block)
    for (gsize j = 0; j < n_scales && !fill_odd_scales (rand, type, data + i); j++)
      {
        data[i + scale + 2 * j] = (guint8) g_rand_int (rand);
        data[i + scale + 2 * j + 1] = (guint8) (0x14 + g_rand_int_range (rand, 0, 4));
      }
}

KvasirTensor *
rig_random (Rig *rig, GRand *rand, KvasirType type, gint64 ne0, gint64 ne1, gint64 ne2)
{
  KvasirTensor *tensor = rig_tensor (rig, type, ne0, ne1, ne2);
  KvasirRowFromFloat from_float = kvasir_scalar_from_float[type];
  g_autofree float *row = g_new (float, (gsize) ne0);

  if (from_float == NULL)
    {
      fill_blocks (rand, type, tensor->data, tensor->nb[3]);
      return tensor;
    }
  for (gint64 i = 0; i < ne1 * ne2; i++)
    {
      for (gint64 j = 0; j < ne0; j++)
        row[j] = (float) (g_rand_double (rand) + g_rand_double (rand) - 1);
      from_float (row, (guint8 *) tensor->data + (gsize) i * tensor->nb[1], ne0);
    }
  return tensor;
}

KvasirTensor *
rig_node (
    Rig *rig, KvasirOp op, const gint64 ne[3], KvasirTensor *s0, KvasirTensor *s1, KvasirTensor *s2)
{
  KvasirTensor *node = rig_tensor (rig, KVASIR_TYPE_F32, ne[0], ne[1], ne[2]);

  node->op = op;
  node->src[0] = s0;
  node->src[1] = s1;
  node->src[2] = s2;
  g_ptr_array_add (rig->nodes, node);
  return node;
}

KvasirTensor *
rig_view_node (Rig *rig, KvasirOp op, KvasirTensor *root)
{
  KvasirTensor *node = g_memdup2 (root, sizeof *root);

  node->op = op;
  memset (node->src, 0, sizeof node->src);
  node->view_src = root;
  g_ptr_array_add (rig->tensors, node);
  g_ptr_array_add (rig->nodes, node);
  return node;
}

KvasirStatus
rig_compute_step (Rig *rig, const KvasirStep *step)
{
  const KvasirDeviceVtable *vtable = rig->device->vtable;
  KvasirTensor *const *nodes = (KvasirTensor *const *) rig->nodes->pdata;
  KvasirStatus status;

  for (guint i = 0; i < rig->nodes->len; i++)
    g_assert_true (vtable->supports_op (rig->device, nodes[i]));
  KvasirPlan *plan = vtable->plan_new (rig->device, nodes, rig->nodes->len);
  g_assert_nonnull (plan);
  status = vtable->plan_compute (plan, 0, rig->nodes->len, step);
  vtable->plan_free (plan);
  return status;
}

KvasirStatus
rig_compute (Rig *rig, int n_tokens, int n_kv)
{
  KvasirStep step = { .n_tokens = n_tokens, .n_outputs = n_tokens, .n_kv = { n_kv } };

  return rig_compute_step (rig, &step);
}

float *
rig_get_floats (const KvasirTensor *tensor)
{
  gint64 n_rows = kvasir_tensor_get_n_rows (tensor);
  float *floats = g_new (float, (gsize) (n_rows * tensor->ne[0]));

  for (gint64 i = 0; i < n_rows; i++)
    kvasir_scalar_to_float[tensor->type](
        kvasir_tensor_get_row (tensor, i % tensor->ne[1], i / tensor->ne[1], 0),
        floats + i * tensor->ne[0], tensor->ne[0]);
  return floats;
}

double
rig_get_nmse (const float *a, const float *b, gsize n)
{
  double error = 0, power = 0;

  for (gsize i = 0; i < n; i++)
    {
      error += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
      power += (double) b[i] * b[i];
    }
  return error / (power > 0 ? power : 1);
}

double
rig_get_nmse_double (const float *a, const double *b, gsize n)
{
  double error = 0, power = 0;

  for (gsize i = 0; i < n; i++)
    {
      error += (a[i] - b[i]) * (a[i] - b[i]);
      power += b[i] * b[i];
    }
  return error / (power > 0 ? power : 1);
}
