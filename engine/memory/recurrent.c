#include "engine/memory/recurrent.h"

#include "engine/memory/recurrent-private.h"

static void
free_part (KvasirPart *part)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;

  kvasir_row_store_clear (&self->store);
  g_free (self->r_of);
  g_free (self->s_of);
  g_free (self->n_users);
  g_free (self->free_rows);
  g_free (self->states);
  g_free (self->kept);
  g_free (self->state_of);
  g_free (self->shown);
  g_free (self->written);
  g_free (self->read_rows);
  g_free (self->moved);
  g_free (self->moved_from);
  g_free (self);
}

static void
report_buffers (KvasirPart *part, gint sign)
{
  kvasir_row_store_report (&((KvasirRecurrent *) part)->store, part->memory, sign);
}

static void
append_breakdown (const KvasirPart *part, GArray *rows)
{
  kvasir_row_store_append_breakdown (&((const KvasirRecurrent *) part)->store, rows);
}

static void
get_info (const KvasirPart *part, KvasirCacheInfo *info)
{
  const KvasirRecurrent *self = (const KvasirRecurrent *) part;

  *info = (KvasirCacheInfo){ .name = part->name,
                             .size = self->n_seq_max,
                             .n_streams = 1,
                             .is_recurrent = TRUE,
                             .bytes_per_cell = kvasir_row_store_get_row_bytes (&self->store),
                             .type_k = KVASIR_TYPE_F32,
                             .type_v = KVASIR_TYPE_F32 };
  for (guint i = 0; i < self->n_model_layers; i++)
    info->n_layers += self->r_of[i] >= 0 || self->s_of[i] >= 0;
}

static void
get_state_layer (const KvasirPart *part, guint layer, KvasirTensor **r, KvasirTensor **s)
{
  const KvasirRecurrent *self = (const KvasirRecurrent *) part;

  *r = *s = NULL;
  g_return_if_fail (layer < self->n_model_layers);
  if (self->r_of[layer] >= 0)
    *r = kvasir_row_store_get (&self->store, (guint) self->r_of[layer]);
  if (self->s_of[layer] >= 0)
    *s = kvasir_row_store_get (&self->store, (guint) self->s_of[layer]);
}

static guint
get_n_keep (const KvasirPart *part)
{
  return ((const KvasirRecurrent *) part)->n_rs_seq;
}

static void
get_cell (const KvasirPart *part, guint cell, KvasirCell *out)
{
  *out = ((const KvasirRecurrent *) part)->shown[cell];
}

static const KvasirPartVtable recurrent_vtable = {
  .free = free_part,
  .report_buffers = report_buffers,
  .append_breakdown = append_breakdown,
  .get_info = get_info,
  .can_rm = kvasir_recurrent_can_rm,
  .rm = kvasir_recurrent_rm,
  .can_cp = kvasir_recurrent_can_cp,
  .cp = kvasir_recurrent_cp,
  .keep = kvasir_recurrent_keep,
  .can_add = kvasir_recurrent_can_add,
  .add = kvasir_recurrent_add,
  .div = kvasir_recurrent_div,
  .clear = kvasir_recurrent_clear,
  .pos_min = kvasir_recurrent_get_pos,
  .pos_max = kvasir_recurrent_get_pos,
  .get_rewind = kvasir_recurrent_get_rewind,
  .prepare = kvasir_recurrent_prepare,
  .apply = kvasir_recurrent_apply,
  .commit = kvasir_recurrent_commit,
  .rollback = kvasir_recurrent_rollback,
  .get_room = kvasir_recurrent_get_room,
  .get_state_layer = get_state_layer,
  .get_n_keep = get_n_keep,
  .fill_state_rows = kvasir_recurrent_fill_state_rows,
  .state_write = kvasir_recurrent_state_write,
  .state_check = kvasir_recurrent_state_check,
  .state_apply = kvasir_recurrent_state_apply,
  .get_cell = get_cell,
};

/* Plans the tensor of a layer. @index: its number, -1 where it has no values. */
static gboolean
add_tensor (KvasirRecurrent *self, const KvasirRowShape *shape, gint *index, GError **error)
{
  *index = -1;
  if (shape->width == 0)
    return TRUE;
  *index = (gint) self->store.stored->len;
  return kvasir_row_store_add (&self->store, shape, error);
}

static gboolean
make_store (KvasirRecurrent *self, const KvasirMemoryParams *params, GError **error)
{
  kvasir_row_store_init (&self->store, KVASIR_KIND_RECURRENT);
  self->n_model_layers = params->n_layers;
  self->r_of = g_new (gint, params->n_layers);
  self->s_of = g_new (gint, params->n_layers);
  for (guint i = 0; i < params->n_layers; i++)
    {
      const KvasirMemoryLayer *layer = &params->layers[i];
      KvasirRowShape r = { "state_r", (gint) i, layer->n_embd_r, self->n_rows, layer->buffer_type };
      KvasirRowShape s = { "state_s", (gint) i, layer->n_embd_s, self->n_rows, layer->buffer_type };

      if (!add_tensor (self, &r, &self->r_of[i], error) ||
          !add_tensor (self, &s, &self->s_of[i], error))
        return FALSE;
    }
  return params->no_alloc || kvasir_row_store_allocate (&self->store, error);
}

static void
make_books (KvasirRecurrent *self)
{
  guint n = self->n_seq_max;

  self->n_users = g_new0 (guint32, self->n_rows);
  self->free_rows = g_new (guint32, self->n_rows);
  self->states = g_new0 (KvasirState, self->n_states);
  self->kept = g_new (KvasirKeptRow, (gsize) self->n_states * (1 + self->n_rs_seq));
  self->state_of = g_new (guint32, n);
  self->shown = g_new (KvasirCell, n);
  self->written = g_new (guint32, n);
  self->read_rows = g_new (gint32, n);
  self->moved = g_new (guint32, n);
  self->moved_from = g_new (guint32, n);

  /* The first row to be taken is row 0. */
  while (self->n_free_rows < self->n_rows)
    {
      self->free_rows[self->n_free_rows] = self->n_rows - 1 - self->n_free_rows;
      self->n_free_rows++;
    }
  for (guint i = 0; i < self->n_states; i++)
    self->states[i].kept = self->kept + (gsize) i * (1 + self->n_rs_seq);
  for (guint seq = 0; seq < n; seq++)
    {
      self->state_of[seq] = KVASIR_NO_STATE;
      self->shown[seq] = (KvasirCell){ .pos = -1, .token = -1 };
    }
}

KvasirPart *
kvasir_recurrent_new (const KvasirMemoryParams *params, GError **error)
{
  KvasirRecurrent *self;
  guint n_kept;

  g_return_val_if_fail (params != NULL, NULL);
  g_return_val_if_fail (params->n_seq_max > 0 && params->n_seq_max <= KVASIR_MAX_SEQS, NULL);
  g_return_val_if_fail (params->n_rs_seq < params->n_ubatch, NULL);

  self = g_new0 (KvasirRecurrent, 1);
  self->parent.vtable = &recurrent_vtable;
  self->n_seq_max = params->n_seq_max;
  self->n_rs_seq = params->n_rs_seq;
  self->n_states = 2 * params->n_seq_max;
  n_kept = params->n_seq_max * (1 + params->n_rs_seq);
  self->n_rows = n_kept + MIN (n_kept, params->n_ubatch);
  make_books (self);
  if (make_store (self, params, error))
    return &self->parent;
  free_part (&self->parent);
  return NULL;
}
