/* Saves and restores a memory: an envelope around the sections of its parts. All parts agree with
 * what was read before the first one changes. */
#include <string.h>

#include "engine/memory/memory-private.h"

/* A checkpoint holds what forgets: windows and states. */
static gboolean
is_saved (const KvasirPart *part, gboolean partial)
{
  KvasirCacheInfo info;

  part->vtable->get_info (part, &info);
  return part->vtable->state_write != NULL && (!partial || info.is_recurrent || info.n_swa > 0);
}

/* The parts that a state holds. Returns: how many */
static guint
list_parts (const KvasirMemory *self, gboolean partial, KvasirPart *parts[KVASIR_MAX_PARTS])
{
  guint n = 0;

  for (guint i = 0; i < self->n_parts; i++)
    if (is_saved (self->parts[i], partial))
      parts[n++] = self->parts[i];
  return n;
}

static KvasirStateHeader
describe (const KvasirMemory *self, gint seq, gboolean partial, guint n_parts)
{
  KvasirStateHeader header = { .whole = seq < 0,
                               .partial = partial,
                               .v_transposed = self->v_transposed,
                               .klass = self->klass,
                               .rope_hash = self->rope_hash,
                               .n_ctx_seq = self->n_ctx_seq,
                               .n_parts = n_parts,
                               .n_pos = self->n_pos_per_token };

  memcpy (header.arch, self->arch, MIN (strlen (self->arch), KVASIR_STATE_ARCH));
  return header;
}

/* Cells of the first part, for the log. */
static guint
count_cells (const KvasirMemory *self, gint seq)
{
  guint n = 0;

  if (self->n_parts == 0 || self->parts[0]->vtable->peek_cells == NULL)
    return 0;
  for (guint s = 0; s < self->n_streams; s++)
    {
      const KvasirCells *cells = self->parts[0]->vtable->peek_cells (self->parts[0], s);

      if (seq < 0)
        n += cells->n_used;
      else if (self->n_streams == 1 || s == (guint) seq)
        n += kvasir_cells_get_span (cells, (guint) seq).n_cells;
    }
  return n;
}

static void
report (KvasirMemory *self, const KvasirEvent *arguments)
{
  KvasirEvent event = *arguments;

  kvasir_memory_emit (self, &event, NULL, 0);
}

gboolean
kvasir_memory_state_write (
    KvasirMemory *self, gint seq, gboolean partial, GByteArray *out, GError **error)
{
  KvasirPart *parts[KVASIR_MAX_PARTS];
  KvasirStateHeader header;
  gsize start;

  g_return_val_if_fail (self != NULL && seq >= -1 && seq < (gint) self->n_seq_max, FALSE);
  g_return_val_if_fail (out != NULL && !kvasir_memory_has_update (self), FALSE);

  kvasir_memory_finish_batch (self);
  start = out->len;
  header = describe (self, seq, partial, list_parts (self, partial, parts));
  kvasir_state_put_header (out, &header);
  for (guint i = 0; i < header.n_parts; i++)
    if (!parts[i]->vtable->state_write (parts[i], seq, out, error))
      {
        g_byte_array_set_size (out, (guint) start);
        return FALSE;
      }
  kvasir_state_seal (out, start);
  report (self, &(KvasirEvent){ .type = KVASIR_EVENT_STATE_SAVE,
                                .seq = seq,
                                .n = (gint32) count_cells (self, seq),
                                .a = (gint64) (out->len - start) });
  return TRUE;
}

/* ---- reading */

static const char *
get_extent_name (const KvasirStateHeader *header)
{
  if (header->partial)
    return header->whole ? "the checkpoint of a whole memory" : "the checkpoint of one sequence";
  return header->whole ? "a whole memory" : "one sequence";
}

/* What was saved must be of the same kind, model and settings. */
static gboolean
check_header (const KvasirStateHeader *found, const KvasirStateHeader *expected, GError **error)
{
  if (found->whole != expected->whole || found->partial != expected->partial)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Saved state: holds %s, expected %s", get_extent_name (found),
                               get_extent_name (expected));
  if (memcmp (found->arch, expected->arch, KVASIR_STATE_ARCH) != 0)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Saved state: of another architecture, expected %.*s",
                               KVASIR_STATE_ARCH, expected->arch);
  return kvasir_state_check ("memory class", found->klass, expected->klass, error) &&
         kvasir_state_check ("rope settings", found->rope_hash, expected->rope_hash, error) &&
         kvasir_state_check ("transposed values", found->v_transposed, expected->v_transposed,
                             error) &&
         kvasir_state_check ("cells of a sequence", found->n_ctx_seq, expected->n_ctx_seq, error) &&
         kvasir_state_check ("positions of a token", found->n_pos, expected->n_pos, error) &&
         kvasir_state_check ("number of parts", found->n_parts, expected->n_parts, error);
}

/* Every part's restore, all of them checked, or none. */
static gboolean
check_parts (KvasirPart *const *parts,
             guint n_parts,
             gint seq,
             KvasirStateReader *reader,
             gpointer *restores,
             GError **error)
{
  guint n = 0;
  gboolean ok = TRUE;

  for (; ok && n < n_parts; n++)
    {
      restores[n] = parts[n]->vtable->state_check (parts[n], seq, reader, error);
      ok = restores[n] != NULL;
    }
  if (ok && kvasir_state_get_left (reader) > 0)
    ok = kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_FILE,
                             "Saved state: %" G_GSIZE_FORMAT " bytes behind its end",
                             kvasir_state_get_left (reader));
  for (guint i = 0; !ok && i < n; i++)
    if (restores[i] != NULL)
      parts[i]->vtable->state_apply (parts[i], seq, restores[i], FALSE);
  return ok;
}

gboolean
kvasir_memory_state_read (KvasirMemory *self,
                          gint seq,
                          gboolean partial,
                          const guint8 *bytes,
                          gsize n_bytes,
                          GError **error)
{
  KvasirPart *parts[KVASIR_MAX_PARTS];
  gpointer restores[KVASIR_MAX_PARTS] = { NULL };
  KvasirStateReader reader;
  KvasirStateHeader header;
  KvasirStateHeader expected;
  gboolean ok;

  g_return_val_if_fail (self != NULL && seq >= -1 && seq < (gint) self->n_seq_max, FALSE);
  g_return_val_if_fail (bytes != NULL || n_bytes == 0, FALSE);

  kvasir_memory_finish_batch (self);
  expected = describe (self, seq, partial, list_parts (self, partial, parts));
  ok = kvasir_state_open (&reader, &header, bytes, n_bytes, error) &&
       check_header (&header, &expected, error) &&
       check_parts (parts, expected.n_parts, seq, &reader, restores, error);
  report (self, &(KvasirEvent){ .type = KVASIR_EVENT_STATE_LOAD,
                                .seq = seq,
                                .n = ok ? (gint32) reader.n_cells : 0,
                                .a = (gint64) n_bytes,
                                .b = ok ? 1 : 0 });
  for (guint i = 0; ok && i < expected.n_parts; i++)
    parts[i]->vtable->state_apply (parts[i], seq, restores[i], TRUE);
  if (ok && self->other == NULL)
    kvasir_memory_lower_reach (self, seq, 0);
  return ok;
}
