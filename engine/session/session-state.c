/* Saving a chat's sequence or the whole memory to a file, and back. */
#include "engine/error.h"
#include "engine/session/session-private.h"

/* The chat's sequence that was used last and holds cells, -1: there is none. */
static gint
find_newest (const KvasirSession *self, guint64 chat_id)
{
  gint newest = -1;
  guint64 used_at = 0;
  for (guint seq = 0; seq < self->n_seqs; seq++)
    {
      const KvasirSeqRecord *record = kvasir_seq_table_get (self->seqs, (gint) seq);
      if (record->chat_id == chat_id && record->used_at > used_at &&
          kvasir_memory_seq_pos_max (self->memory, (gint) seq) >= 0)
        {
          newest = (gint) seq;
          used_at = record->used_at;
        }
    }
  return newest;
}

gboolean
kvasir_session_save (KvasirSession *self, guint64 chat_id, const char *path, GError **error)
{
  g_return_val_if_fail (self->run.request == NULL, FALSE);

  gint seq = chat_id == 0 ? -1 : find_newest (self, chat_id);
  if (chat_id != 0 && seq < 0)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The chat has no cells that could be saved to %s", path);
      return FALSE;
    }
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  kvasir_context_update (self->context);
  if (!kvasir_memory_state_write (self->memory, seq, FALSE, bytes, error))
    return FALSE;
  g_autoptr (GError) file_error = NULL;
  if (g_file_set_contents (path, (const char *) bytes->data, bytes->len, &file_error))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
               "The state of %u bytes could not be written: %s", bytes->len, file_error->message);
  return FALSE;
}

/* Which sequence a chat's state goes into: its newest, else a free one. */
static gint
choose_destination (KvasirSession *self, guint64 chat_id, GError **error)
{
  gint seq = find_newest (self, chat_id);
  for (guint i = 0; seq < 0 && i < self->n_seqs; i++)
    if (kvasir_memory_seq_pos_max (self->memory, (gint) i) < 0)
      seq = (gint) i;
  if (seq < 0)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
                 "All %u sequences are held; a restored chat needs one", self->n_seqs);
  return seq;
}

/* A state knows tokens and positions, but not whose they are. */
static void
forget_messages (KvasirSession *self, gint seq)
{
  for (guint i = 0; i < self->n_seqs; i++)
    if (seq < 0 || (gint) i == seq)
      kvasir_seq_table_reset (self->seqs, (gint) i);
}

gboolean
kvasir_session_load (KvasirSession *self, guint64 chat_id, const char *path, GError **error)
{
  g_return_val_if_fail (self->run.request == NULL, FALSE);

  g_autofree char *bytes = NULL;
  gsize n_bytes;
  g_autoptr (GError) file_error = NULL;
  if (!g_file_get_contents (path, &bytes, &n_bytes, &file_error))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
                   "The state could not be read: %s", file_error->message);
      return FALSE;
    }
  gint seq = chat_id == 0 ? -1 : choose_destination (self, chat_id, error);
  if (chat_id != 0 && seq < 0)
    return FALSE;
  if (!kvasir_memory_state_read (self->memory, seq, FALSE, (const guint8 *) bytes, n_bytes, error))
    return FALSE;
  kvasir_mask_tap_invalidate (self->mask_tap);
  forget_messages (self, seq);
  if (chat_id != 0)
    kvasir_seq_table_claim (self->seqs, seq, chat_id, 0);
  return TRUE;
}
