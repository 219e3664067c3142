#include "tests/engine/memory/naive.h"

#include <string.h>

static const NaiveCell empty_cell = { .pos = -1, .token = -1 };

Naive *
naive_new (guint size, guint n_seqs)
{
  Naive *self = g_new0 (Naive, 1);

  self->size = size;
  self->n_seqs = n_seqs;
  self->cells = g_new (NaiveCell, size);
  naive_clear (self);
  return self;
}

Naive *
naive_copy (const Naive *self)
{
  Naive *copy = naive_new (self->size, self->n_seqs);

  copy->head = self->head;
  memcpy (copy->cells, self->cells, self->size * sizeof *self->cells);
  return copy;
}

void
naive_free (Naive *self)
{
  g_free (self->cells);
  g_free (self);
}

static gboolean
holds (const Naive *self, guint cell, guint seq)
{
  return kvasir_seq_set_has (&self->cells[cell].seqs, seq);
}

gint32
naive_first (const Naive *self, guint seq)
{
  gint32 first = -1;

  for (guint i = 0; i < self->size; i++)
    if (holds (self, i, seq) && (first < 0 || self->cells[i].pos < first))
      first = self->cells[i].pos;
  return first;
}

gint32
naive_last (const Naive *self, guint seq)
{
  gint32 last = -1;

  for (guint i = 0; i < self->size; i++)
    if (holds (self, i, seq))
      last = MAX (last, self->cells[i].pos);
  return last;
}

guint
naive_used (const Naive *self)
{
  guint n = 0;

  for (guint i = 0; i < self->size; i++)
    n += self->cells[i].pos >= 0;
  return n;
}

guint
naive_n_kv (const Naive *self)
{
  guint end = 0;

  for (guint i = 0; i < self->size; i++)
    if (self->cells[i].pos >= 0)
      end = i + 1;
  return MIN (self->size, MAX (256, (end + 255) / 256 * 256));
}

guint
naive_largest_free_run (const Naive *self)
{
  guint largest = 0;
  guint n = 0;

  for (guint i = 0; i < self->size; i++)
    {
      n = self->cells[i].pos < 0 ? n + 1 : 0;
      largest = MAX (largest, n);
    }
  return largest;
}

gboolean
naive_has_shift (const Naive *self)
{
  for (guint i = 0; i < self->size; i++)
    if (self->cells[i].shift != 0)
      return TRUE;
  return FALSE;
}

gboolean
naive_accepts (const Naive *self, const NaiveToken *batch, guint n)
{
  for (guint seq = 0; seq < self->n_seqs; seq++)
    {
      gint32 before = naive_last (self, seq);
      gboolean fresh = before < 0;

      for (guint i = 0; i < n; i++)
        {
          gint32 pos = batch[i].pos;

          if (!kvasir_seq_set_has (&batch[i].seqs, seq))
            continue;
          if (pos < 0)
            return FALSE;
          if (before >= 0 && pos != before + 1 && !(fresh && pos == before))
            return FALSE;
          fresh = TRUE;
          before = pos;
        }
    }
  for (guint i = 0; i < n; i++)
    for (guint a = 0; a < self->n_seqs; a++)
      for (guint b = 0; b < a; b++)
        if (kvasir_seq_set_has (&batch[i].seqs, a) && kvasir_seq_set_has (&batch[i].seqs, b) &&
            (naive_first (self, a) != naive_first (self, b) ||
             naive_last (self, a) != naive_last (self, b)))
          return FALSE;
  return TRUE;
}

static gboolean
search (const Naive *self, guint n, guint32 *slots)
{
  guint start = self->head > naive_used (self) + 2 * n ? 0 : self->head;
  guint n_found = 0;

  if (n > self->size)
    return FALSE;
  for (guint tested = 0; tested < self->size && n_found < n; tested++)
    {
      guint cell = (start + tested) % self->size;

      if (self->cells[cell].pos < 0)
        slots[n_found++] = cell;
    }
  return n_found == n;
}

gboolean
naive_place (Naive *self, const NaiveToken *tokens, guint n, guint32 *slots)
{
  if (!search (self, n, slots))
    return FALSE;
  for (guint i = 0; i < n; i++)
    self->cells[slots[i]] =
        (NaiveCell){ .pos = tokens[i].pos, .token = tokens[i].token, .seqs = tokens[i].seqs };
  self->head = slots[n - 1] + 1;
  return TRUE;
}

gboolean
naive_sees (const Naive *self, const NaiveToken *token, guint cell)
{
  gint seq = kvasir_seq_set_next (&token->seqs, 0);

  return holds (self, cell, (guint) seq) && self->cells[cell].pos <= token->pos;
}

static gboolean
is_in_range (const Naive *self, guint cell, gint32 p0, gint32 p1)
{
  gint32 pos = self->cells[cell].pos;

  return pos >= 0 && pos >= p0 && (p1 < 0 || pos < p1);
}

void
naive_rm (Naive *self, gint seq, gint32 p0, gint32 p1)
{
  gint first = -1;

  for (guint i = 0; i < self->size; i++)
    {
      NaiveCell *cell = &self->cells[i];

      if (!is_in_range (self, i, p0, p1) || (seq >= 0 && !holds (self, i, (guint) seq)))
        continue;
      if (seq < 0)
        cell->seqs = (KvasirSeqSet){ 0 };
      else
        kvasir_seq_set_remove (&cell->seqs, (guint) seq);
      if (!kvasir_seq_set_is_empty (&cell->seqs))
        continue;
      *cell = empty_cell;
      if (first < 0)
        first = (gint) i;
    }
  if (first >= 0)
    self->head = MIN (self->head, (guint) first);
}

void
naive_cp (Naive *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  for (guint i = 0; i < self->size; i++)
    if (is_in_range (self, i, p0, p1) && holds (self, i, src))
      kvasir_seq_set_add (&self->cells[i].seqs, dst);
}

void
naive_keep (Naive *self, guint seq)
{
  for (guint other = 0; other < self->n_seqs; other++)
    if (other != seq)
      naive_rm (self, (gint) other, -1, -1);
}

void
naive_add (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  gint first = -1;

  if (delta == 0 || (p1 >= 0 && MAX (p0, 0) >= p1))
    return;
  for (guint i = 0; i < self->size; i++)
    {
      if (!is_in_range (self, i, p0, p1) || !holds (self, i, seq))
        continue;
      self->cells[i].pos += delta;
      self->cells[i].shift += delta;
      if (self->cells[i].pos >= 0)
        continue;
      self->cells[i] = empty_cell;
      if (first < 0)
        first = (gint) i;
    }
  self->head = first >= 0 ? (guint) first : 0;
}

void
naive_div (Naive *self, guint seq, gint32 p0, gint32 p1, gint d)
{
  for (guint i = 0; i < self->size; i++)
    if (is_in_range (self, i, p0, p1) && holds (self, i, seq))
      {
        gint32 before = self->cells[i].pos;

        self->cells[i].pos = before / d;
        self->cells[i].shift += before / d - before;
      }
}

void
naive_update (Naive *self)
{
  for (guint i = 0; i < self->size; i++)
    self->cells[i].shift = 0;
}

void
naive_clear (Naive *self)
{
  for (guint i = 0; i < self->size; i++)
    self->cells[i] = empty_cell;
  self->head = 0;
}

GArray *
naive_save (const Naive *self, gint seq)
{
  GArray *saved = g_array_new (FALSE, FALSE, sizeof (NaiveCell));

  for (guint i = 0; i < self->size; i++)
    if (self->cells[i].pos >= 0 && (seq < 0 || holds (self, i, (guint) seq)))
      g_array_append_val (saved, self->cells[i]);
  return saved;
}

gboolean
naive_load (Naive *self, gint seq, GArray *saved)
{
  g_autoptr (GArray) tokens = g_array_new (FALSE, TRUE, sizeof (NaiveToken));
  g_autofree guint32 *slots = g_new (guint32, self->size);
  Naive *before = naive_copy (self);
  gboolean ok = TRUE;

  for (guint i = 0; i < saved->len; i++)
    {
      const NaiveCell *cell = &g_array_index (saved, NaiveCell, i);
      NaiveToken token = { .token = cell->token, .pos = cell->pos, .seqs = cell->seqs };

      if (seq >= 0)
        {
          token.seqs = (KvasirSeqSet){ 0 };
          kvasir_seq_set_add (&token.seqs, (guint) seq);
        }
      g_array_append_val (tokens, token);
    }
  if (seq < 0)
    naive_clear (self);
  else
    naive_rm (self, seq, -1, -1);
  if (tokens->len > 0)
    ok = naive_place (self, (const NaiveToken *) (gpointer) tokens->data, tokens->len, slots);
  if (seq < 0)
    self->head = 0;
  if (!ok)
    {
      memcpy (self->cells, before->cells, self->size * sizeof *self->cells);
      self->head = before->head;
    }
  naive_free (before);
  return ok;
}
