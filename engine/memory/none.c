#include "engine/memory/none.h"

#include <string.h>

#include "engine/memory/memory-private.h"
#include "engine/memory/row-store.h"

/* The scratch rows of layers of one shape; they may be used by the next layer once one is done. */
typedef struct
{
  guint width_k;
  guint width_v;
  KvasirBufferType *buffer_type;
  guint k; /* number in the store */
  guint v; /* the same; unused where width_v is 0 */
} KvasirScratch;

typedef struct
{
  KvasirPart parent;
  guint n_ubatch;
  guint size; /* cells */
  gboolean is_causal;
  KvasirWindow window;
  guint n_swa;
  guint n_layers;
  gint *scratch_of; /* (owned) [n_layers] -1: none here */
  GArray *scratch;  /* (owned) of KvasirScratch */
  KvasirRowStore store;
  const KvasirBatchPlan *plan; /* (nullable) (unowned): prepared last */
  const KvasirUbatch *ubatch;  /* (nullable) (unowned): the one applied last */
} KvasirNone;

static void
free_part (KvasirPart *part)
{
  KvasirNone *self = (KvasirNone *) part;

  kvasir_row_store_clear (&self->store);
  g_array_unref (self->scratch);
  g_free (self->scratch_of);
  g_free (self);
}

static void
report_buffers (KvasirPart *part, gint sign)
{
  kvasir_row_store_report (&((KvasirNone *) part)->store, part->memory, sign);
}

static void
append_breakdown (const KvasirPart *part, GArray *rows)
{
  kvasir_row_store_append_breakdown (&((const KvasirNone *) part)->store, rows);
}

static void
get_info (const KvasirPart *part, KvasirCacheInfo *info)
{
  const KvasirNone *self = (const KvasirNone *) part;

  *info = (KvasirCacheInfo){ .name = part->name,
                             .size = self->size,
                             .n_streams = 1,
                             .n_swa = self->n_swa,
                             .bytes_per_cell = kvasir_row_store_get_row_bytes (&self->store),
                             .type_k = KVASIR_TYPE_F32,
                             .type_v = KVASIR_TYPE_F32 };
  for (guint i = 0; i < self->n_layers; i++)
    info->n_layers += self->scratch_of[i] >= 0;
}

/* ---- sequences: there are none, so that every operation is done at once */

static gboolean
can_rm (const KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  return TRUE;
}

static void
rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
}

static gboolean
can_cp (const KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
  return TRUE;
}

static void
cp (KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
}

static void
keep (KvasirPart *part, guint seq)
{
}

static void
add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
}

static void
divide (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d)
{
}

static void
clear (KvasirPart *part, gboolean data)
{
  if (data)
    kvasir_row_store_zero (&((KvasirNone *) part)->store);
}

static gint32
get_pos (const KvasirPart *part, guint seq)
{
  return -1;
}

static gint32
get_rewind (const KvasirPart *part, guint seq, gint32 p0)
{
  return 0;
}

/* ---- the two phases */

static gboolean
prepare (KvasirPart *part, const KvasirBatchPlan *plan, gboolean relaxed)
{
  KvasirSeqSet earlier = { 0 };

  ((KvasirNone *) part)->plan = plan;
  for (guint i = 0; i < kvasir_batch_plan_get_n_ubatches (plan); i++)
    {
      const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (plan, i);
      KvasirSeqSet all = { 0 };
      KvasirSeqSet both;

      for (guint t = 0; t < ubatch->n_tokens; t++)
        kvasir_seq_set_unite (&all, &ubatch->seqs[t]);
      both = kvasir_seq_set_intersect (&all, &earlier);
      if (!kvasir_seq_set_is_empty (&both))
        return FALSE;
      kvasir_seq_set_unite (&earlier, &all);
    }
  return TRUE;
}

static guint
pad_to_words (guint n)
{
  return (n + 63) / 64 * 64;
}

static guint
get_planned_n_kv (const KvasirPart *part, guint i)
{
  return pad_to_words (
      kvasir_batch_plan_get_ubatch (((const KvasirNone *) part)->plan, i)->n_tokens);
}

static void
apply (KvasirPart *part, const KvasirUbatch *ubatch, guint i)
{
  ((KvasirNone *) part)->ubatch = ubatch;
}

static void
rollback (KvasirPart *part)
{
  ((KvasirNone *) part)->ubatch = NULL;
}

static KvasirRoom
get_room (const KvasirPart *part, guint seq, guint n_tokens)
{
  guint n_ubatch = ((const KvasirNone *) part)->n_ubatch;

  return (KvasirRoom){ .n_needed = n_tokens,
                       .n_free = n_ubatch,
                       .largest_free_run = n_ubatch,
                       .fits = n_tokens <= n_ubatch };
}

/* ---- what a graph needs */

static void
get_layer (const KvasirPart *part, guint layer, KvasirTensor **k, KvasirTensor **v)
{
  const KvasirNone *self = (const KvasirNone *) part;
  const KvasirScratch *scratch;

  *k = *v = NULL;
  g_return_if_fail (layer < self->n_layers);
  if (self->scratch_of[layer] < 0)
    return;
  scratch = &g_array_index (self->scratch, KvasirScratch, self->scratch_of[layer]);
  *k = kvasir_row_store_get (&self->store, scratch->k);
  if (scratch->width_v > 0)
    *v = kvasir_row_store_get (&self->store, scratch->v);
}

static guint
get_n_kv (const KvasirPart *part)
{
  const KvasirNone *self = (const KvasirNone *) part;

  return self->ubatch != NULL ? pad_to_words (self->ubatch->n_tokens) : 0;
}

static void
fill_slots (const KvasirPart *part, gint64 *slots)
{
  const KvasirNone *self = (const KvasirNone *) part;

  for (guint i = 0; self->ubatch != NULL && i < self->ubatch->n_tokens; i++)
    slots[i] = i;
}

static gboolean
is_in_window (const KvasirNone *self, gint64 query, gint64 cell)
{
  gint64 n_swa = self->n_swa;

  switch (self->window)
    {
    case KVASIR_WINDOW_STANDARD:
      return query - cell < n_swa;
    case KVASIR_WINDOW_CHUNKED:
      return cell >= query / n_swa * n_swa;
    case KVASIR_WINDOW_SYMMETRIC:
      return ABS (query - cell) <= n_swa / 2;
    case KVASIR_WINDOW_NONE:
      break;
    }
  return TRUE;
}

static gboolean
can_read (const KvasirNone *self, guint token, guint cell)
{
  const KvasirUbatch *ubatch = self->ubatch;

  return kvasir_seq_set_has (&ubatch->seqs[cell], (guint) ubatch->leads[token]) &&
         (!self->is_causal || ubatch->pos[cell] <= ubatch->pos[token]) &&
         is_in_window (self, ubatch->pos[token], ubatch->pos[cell]);
}

static void
fill_mask (const KvasirPart *part, guint64 *words, gsize words_per_row)
{
  const KvasirNone *self = (const KvasirNone *) part;
  guint n = self->ubatch != NULL ? self->ubatch->n_tokens : 0;

  for (guint token = 0; token < n; token++)
    {
      guint64 *row = words + token * words_per_row;

      memset (row, 0, pad_to_words (n) / 64 * sizeof *row);
      for (guint cell = 0; cell < n; cell++)
        if (can_read (self, token, cell))
          row[cell / 64] |= KVASIR_BIT (cell);
    }
}

static void
get_cell (const KvasirPart *part, guint cell, KvasirCell *out)
{
  *out = (KvasirCell){ .pos = -1, .token = -1 };
}

static const KvasirPartVtable none_vtable = {
  .free = free_part,
  .report_buffers = report_buffers,
  .append_breakdown = append_breakdown,
  .get_info = get_info,
  .can_rm = can_rm,
  .rm = rm,
  .can_cp = can_cp,
  .cp = cp,
  .keep = keep,
  .add = add,
  .div = divide,
  .clear = clear,
  .pos_min = get_pos,
  .pos_max = get_pos,
  .get_rewind = get_rewind,
  .prepare = prepare,
  .get_planned_n_kv = get_planned_n_kv,
  .apply = apply,
  .rollback = rollback,
  .get_room = get_room,
  .get_layer = get_layer,
  .get_n_kv = get_n_kv,
  .fill_slots = fill_slots,
  .fill_mask = fill_mask,
  .get_cell = get_cell,
};

static gboolean
add_scratch (KvasirNone *self, const KvasirMemoryLayer *layer, GError **error)
{
  KvasirRowShape k = { "scratch_k", -1, layer->n_embd_k, self->size, layer->buffer_type };
  KvasirRowShape v = { "scratch_v", -1, layer->n_embd_v, self->size, layer->buffer_type };
  KvasirScratch scratch = { .width_k = layer->n_embd_k,
                            .width_v = layer->n_embd_v,
                            .buffer_type = layer->buffer_type,
                            .k = self->store.stored->len,
                            .v = self->store.stored->len + 1 };

  g_array_append_val (self->scratch, scratch);
  return kvasir_row_store_add (&self->store, &k, error) &&
         (layer->n_embd_v == 0 || kvasir_row_store_add (&self->store, &v, error));
}

/* Which scratch rows have the shape of @layer; the number of them where none has. */
static guint
find_scratch (const KvasirNone *self, const KvasirMemoryLayer *layer)
{
  guint i = 0;

  for (; i < self->scratch->len; i++)
    {
      const KvasirScratch *scratch = &g_array_index (self->scratch, KvasirScratch, i);

      if (scratch->width_k == layer->n_embd_k && scratch->width_v == layer->n_embd_v &&
          scratch->buffer_type == layer->buffer_type)
        break;
    }
  return i;
}

static gboolean
make_store (KvasirNone *self, const KvasirMemoryParams *params, gboolean is_swa, GError **error)
{
  for (guint i = 0; i < params->n_layers; i++)
    {
      const KvasirMemoryLayer *layer = &params->layers[i];
      guint scratch = find_scratch (self, layer);

      self->scratch_of[i] = -1;
      if (!layer->has_attention || !layer->is_swa != !is_swa)
        continue;
      self->scratch_of[i] = (gint) scratch;
      if (scratch == self->scratch->len && !add_scratch (self, layer, error))
        return FALSE;
    }
  return params->no_alloc || kvasir_row_store_allocate (&self->store, error);
}

KvasirPart *
kvasir_none_new (const KvasirMemoryParams *params, gboolean is_swa, GError **error)
{
  KvasirNone *self;

  g_return_val_if_fail (params != NULL && params->n_ubatch > 0, NULL);

  self = g_new0 (KvasirNone, 1);
  self->parent.vtable = &none_vtable;
  self->n_ubatch = params->n_ubatch;
  self->size = pad_to_words (params->n_ubatch);
  self->is_causal = params->is_causal;
  self->window = is_swa ? params->window : KVASIR_WINDOW_NONE;
  self->n_swa = is_swa ? params->n_swa : 0;
  self->n_layers = params->n_layers;
  self->scratch_of = g_new (gint, params->n_layers);
  self->scratch = g_array_new (FALSE, FALSE, sizeof (KvasirScratch));
  kvasir_row_store_init (&self->store, KVASIR_KIND_COMPUTE);
  if (make_store (self, params, is_swa, error))
    return &self->parent;
  free_part (&self->parent);
  return NULL;
}
