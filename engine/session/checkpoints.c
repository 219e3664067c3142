#include "engine/session/checkpoints.h"

#include <string.h>

struct _KvasirCheckpoints
{
  guint max_n;
  gsize max_bytes;
  gsize n_bytes;
  guint64 clock;
  GPtrArray *all; /* (owned) of KvasirCheckpoint */
};

static void
free_checkpoint (gpointer data)
{
  KvasirCheckpoint *checkpoint = data;
  g_free (checkpoint->tokens);
  g_byte_array_unref (checkpoint->state);
  g_free (checkpoint);
}

KvasirCheckpoints *
kvasir_checkpoints_new (guint max_n, gsize max_bytes)
{
  KvasirCheckpoints *self = g_new0 (KvasirCheckpoints, 1);
  self->max_n = max_n;
  self->max_bytes = max_bytes;
  self->all = g_ptr_array_new_with_free_func (free_checkpoint);
  return self;
}

void
kvasir_checkpoints_free (KvasirCheckpoints *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->all);
  g_free (self);
}

static KvasirCheckpoint *
get (const KvasirCheckpoints *self, guint i)
{
  return g_ptr_array_index (self->all, i);
}

static gsize
get_size (const KvasirCheckpoint *checkpoint)
{
  return checkpoint->n_tokens * sizeof (gint32) + checkpoint->state->len;
}

static void
drop_at (KvasirCheckpoints *self, guint i)
{
  self->n_bytes -= get_size (get (self, i));
  g_ptr_array_remove_index_fast (self->all, i);
}

static void
drop_oldest (KvasirCheckpoints *self)
{
  guint oldest = 0;
  for (guint i = 1; i < self->all->len; i++)
    if (get (self, i)->used_at < get (self, oldest)->used_at)
      oldest = i;
  drop_at (self, oldest);
}

static gboolean
is_prefix (const KvasirCheckpoint *checkpoint, const gint32 *tokens, guint n)
{
  return checkpoint->n_tokens <= n &&
         memcmp (checkpoint->tokens, tokens, checkpoint->n_tokens * sizeof *tokens) == 0;
}

void
kvasir_checkpoints_add (
    KvasirCheckpoints *self, guint64 chat_id, const gint32 *tokens, guint n, GByteArray *state)
{
  KvasirCheckpoint *added = g_new0 (KvasirCheckpoint, 1);

  added->chat_id = chat_id;
  added->tokens = g_memdup2 (tokens, n * sizeof *tokens);
  added->n_tokens = n;
  added->state = state;
  added->used_at = ++self->clock;
  if (get_size (added) > self->max_bytes)
    {
      free_checkpoint (added);
      return;
    }
  for (guint i = self->all->len; i-- > 0;)
    if (get (self, i)->n_tokens == n && is_prefix (get (self, i), tokens, n))
      drop_at (self, i);
  while (self->all->len >= self->max_n || self->n_bytes > self->max_bytes - get_size (added))
    drop_oldest (self);
  self->n_bytes += get_size (added);
  g_ptr_array_add (self->all, added);
}

const KvasirCheckpoint *
kvasir_checkpoints_find (const KvasirCheckpoints *self, const gint32 *tokens, guint n)
{
  const KvasirCheckpoint *best = NULL;
  for (guint i = 0; i < self->all->len; i++)
    {
      const KvasirCheckpoint *checkpoint = get (self, i);
      if ((best == NULL || checkpoint->n_tokens > best->n_tokens) &&
          is_prefix (checkpoint, tokens, n))
        best = checkpoint;
    }
  return best;
}

void
kvasir_checkpoints_use (KvasirCheckpoints *self, const KvasirCheckpoint *checkpoint)
{
  ((KvasirCheckpoint *) checkpoint)->used_at = ++self->clock;
}

void
kvasir_checkpoints_drop (KvasirCheckpoints *self, guint64 chat_id)
{
  for (guint i = self->all->len; i-- > 0;)
    if (chat_id == 0 || get (self, i)->chat_id == chat_id)
      drop_at (self, i);
}

gsize
kvasir_checkpoints_get_bytes (const KvasirCheckpoints *self)
{
  return self->n_bytes;
}
