#include "engine/session/seq-table.h"

struct _KvasirSeqTable
{
  guint n_seqs;
  guint64 clock;
  KvasirSeqRecord *records; /* (owned) [n_seqs] */
};

KvasirSeqTable *
kvasir_seq_table_new (guint n_seqs)
{
  KvasirSeqTable *self = g_new0 (KvasirSeqTable, 1);
  self->n_seqs = n_seqs;
  self->records = g_new0 (KvasirSeqRecord, n_seqs);
  for (guint i = 0; i < n_seqs; i++)
    {
      self->records[i].parent = -1;
      self->records[i].runs = g_array_new (FALSE, FALSE, sizeof (KvasirMessageRun));
      self->records[i].tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
    }
  return self;
}

void
kvasir_seq_table_free (KvasirSeqTable *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_seqs; i++)
    {
      g_array_unref (self->records[i].runs);
      g_array_unref (self->records[i].tokens);
    }
  g_free (self->records);
  g_free (self);
}

guint
kvasir_seq_table_get_n_seqs (const KvasirSeqTable *self)
{
  return self->n_seqs;
}

const KvasirSeqRecord *
kvasir_seq_table_get (const KvasirSeqTable *self, gint seq)
{
  g_assert (seq >= 0 && (guint) seq < self->n_seqs);
  return &self->records[seq];
}

void
kvasir_seq_table_reset (KvasirSeqTable *self, gint seq)
{
  GArray *runs = self->records[seq].runs;
  GArray *tokens = self->records[seq].tokens;
  g_array_set_size (runs, 0);
  g_array_set_size (tokens, 0);
  self->records[seq] = (KvasirSeqRecord){ .parent = -1, .runs = runs, .tokens = tokens };
  for (guint i = 0; i < self->n_seqs; i++)
    if (self->records[i].parent == seq)
      self->records[i].parent = -1;
}

void
kvasir_seq_table_claim (KvasirSeqTable *self, gint seq, guint64 chat_id, guint64 leaf_id)
{
  KvasirSeqRecord *record = &self->records[seq];
  record->chat_id = chat_id;
  record->leaf_id = leaf_id;
  record->used_at = ++self->clock;
}

void
kvasir_seq_table_fork (KvasirSeqTable *self, gint src, gint dst, gint32 pos)
{
  kvasir_seq_table_reset (self, dst);
  KvasirSeqRecord *to = &self->records[dst];
  to->parent = src;
  to->parent_pos = pos;
  const GArray *runs = self->records[src].runs;
  for (guint i = 0; i < runs->len; i++)
    {
      KvasirMessageRun run = g_array_index (runs, KvasirMessageRun, i);
      run.seq = dst;
      if (run.pos + run.n > pos)
        run.n = pos - run.pos;
      if (run.n > 0)
        g_array_append_val (to->runs, run);
    }
  const GArray *tokens = self->records[src].tokens;
  g_array_append_vals (to->tokens, tokens->data, MIN (tokens->len, (guint) MAX (pos, 0)));
}

void
kvasir_seq_table_erase (KvasirSeqTable *self, gint seq, gint32 p0, gint32 p1)
{
  GArray *runs = self->records[seq].runs;
  GArray *tokens = self->records[seq].tokens;
  if (p0 < p1)
    g_array_set_size (tokens, MIN (tokens->len, (guint) MAX (p0, 0)));
  for (guint i = runs->len; i-- > 0;)
    {
      KvasirMessageRun *run = &g_array_index (runs, KvasirMessageRun, i);
      gint32 end = run->pos + run->n;
      if (end <= p0 || run->pos >= p1)
        continue;
      KvasirMessageRun behind = *run;
      behind.pos = p1;
      behind.n = end - p1;
      run->n = p0 - run->pos;
      if (run->n <= 0)
        g_array_remove_index (runs, i);
      if (behind.n > 0)
        g_array_insert_val (runs, run->n > 0 ? i + 1 : i, behind);
    }
}

void
kvasir_seq_table_append (KvasirSeqTable *self, const KvasirMessageRun *run)
{
  GArray *runs = self->records[run->seq].runs;
  KvasirMessageRun *last =
      runs->len > 0 ? &g_array_index (runs, KvasirMessageRun, runs->len - 1) : NULL;
  if (last != NULL && last->pos + last->n == run->pos && last->message_id == run->message_id &&
      last->role == run->role)
    last->n += run->n;
  else
    g_array_append_val (runs, *run);
}

void
kvasir_seq_table_note_tokens (
    KvasirSeqTable *self, gint seq, gint32 pos, const gint32 *tokens, guint n)
{
  GArray *known = self->records[seq].tokens;
  if (known->len == (guint) pos)
    g_array_append_vals (known, tokens, n);
}

const KvasirMessageRun *
kvasir_seq_table_find (const KvasirSeqTable *self, gint seq, gint32 pos)
{
  const GArray *runs = self->records[seq].runs;
  for (guint i = 0; i < runs->len; i++)
    {
      const KvasirMessageRun *run = &g_array_index (runs, KvasirMessageRun, i);
      if (pos >= run->pos && pos - run->pos < run->n)
        return run;
    }
  return NULL;
}

static guint64
get_used_at (const KvasirSeqTable *self, guint64 chat_id, const KvasirSeqSet *among)
{
  guint64 used_at = 0;
  for (guint i = 0; i < self->n_seqs; i++)
    if (self->records[i].chat_id == chat_id && kvasir_seq_set_has (among, i))
      used_at = MAX (used_at, self->records[i].used_at);
  return used_at;
}

gboolean
kvasir_seq_table_find_oldest (const KvasirSeqTable *self,
                              guint64 except,
                              const KvasirSeqSet *among,
                              guint64 *chat_id)
{
  guint64 oldest = G_MAXUINT64;
  for (guint i = 0; i < self->n_seqs; i++)
    {
      guint64 chat = self->records[i].chat_id;
      if (chat == except || !kvasir_seq_set_has (among, i))
        continue;
      guint64 used_at = get_used_at (self, chat, among);
      if (used_at < oldest)
        {
          oldest = used_at;
          *chat_id = chat;
        }
    }
  return oldest != G_MAXUINT64;
}

KvasirSeqSet
kvasir_seq_table_get_seqs (const KvasirSeqTable *self, guint64 chat_id)
{
  KvasirSeqSet set = { { 0 } };
  for (guint i = 0; i < self->n_seqs; i++)
    if (self->records[i].chat_id == chat_id)
      kvasir_seq_set_add (&set, i);
  return set;
}
