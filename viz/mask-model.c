#include "viz/mask-model.h"

#include <glib/gi18n.h>
#include <string.h>

#include "viz/format.h"
#include "viz/palette.h"

static gboolean
continues (const KvasirMaskColumns *run, const KvasirMaskShot *shot, guint cell)
{
  gint32 pos = shot->cell_pos[cell];
  if (pos < 0 || run->pos < 0)
    return pos < 0 && run->pos < 0;
  return pos == run->pos + (gint32) run->n &&
         kvasir_seq_set_equal (&run->set, &shot->cell_seqs[cell]);
}

static void
add_column (KvasirMaskModel *self, guint cell)
{
  gint32 pos = self->shot->cell_pos[cell];
  KvasirMaskColumns *columns = &self->columns[self->n_columns++];
  *columns = (KvasirMaskColumns){ .cell = cell, .n = 1, .pos = pos };
  if (pos >= 0)
    columns->set = self->shot->cell_seqs[cell];
}

static void
make_columns (KvasirMaskModel *self)
{
  const KvasirMaskShot *shot = self->shot;
  for (guint cell = 0; cell < shot->n_kv; cell++)
    {
      if (cell > 0 && continues (&self->columns[self->n_columns - 1], shot, cell))
        self->columns[self->n_columns - 1].n++;
      else
        add_column (self, cell);
      if (shot->cell_pos[cell] >= 0)
        self->used_max = cell + 1;
    }
}

/* Bits of a word that stand for cells below n_kv. */
static guint64
get_valid_bits (const KvasirMaskShot *shot, guint word)
{
  guint left = shot->n_kv - word * 64;
  return left >= 64 ? ~G_GUINT64_CONSTANT (0) : (G_GUINT64_CONSTANT (1) << left) - 1;
}

/* A block is one word wide, so that a class costs a few operations. */
static KvasirBlockClass
classify (const KvasirMaskShot *shot, guint block_row, guint word)
{
  guint first = block_row * KVASIR_MASK_BLOCK_ROWS;
  guint end = MIN (first + KVASIR_MASK_BLOCK_ROWS, shot->n_rows);
  guint64 valid = get_valid_bits (shot, word);
  guint64 any = 0;
  guint64 all = valid;
  for (guint row = first; row < end; row++)
    {
      guint64 bits = shot->words[(gsize) row * shot->words_per_row + word] & valid;
      any |= bits;
      all &= bits;
    }
  return any == 0 ? KVASIR_BLOCK_CLOSED : all == valid ? KVASIR_BLOCK_OPEN : KVASIR_BLOCK_MIXED;
}

static void
make_blocks (KvasirMaskModel *self)
{
  const KvasirMaskShot *shot = self->shot;
  self->n_block_rows = (shot->n_rows + KVASIR_MASK_BLOCK_ROWS - 1) / KVASIR_MASK_BLOCK_ROWS;
  self->n_block_columns = (shot->n_kv + KVASIR_MASK_BLOCK_CELLS - 1) / KVASIR_MASK_BLOCK_CELLS;
  self->blocks = g_new (guint8, (gsize) self->n_block_rows * self->n_block_columns + 1);
  guint8 *next = self->blocks;
  for (guint row = 0; row < self->n_block_rows; row++)
    for (guint word = 0; word < self->n_block_columns; word++)
      {
        KvasirBlockClass klass = classify (shot, row, word);
        self->n_blocks[klass]++;
        *next++ = (guint8) klass;
      }
}

KvasirMaskModel *
kvasir_mask_model_new (const KvasirMaskShot *shot)
{
  KvasirMaskModel *self = g_new0 (KvasirMaskModel, 1);
  self->shot = shot;
  self->columns = g_new (KvasirMaskColumns, shot->n_kv + 1);
  make_columns (self);
  make_blocks (self);
  return self;
}

void
kvasir_mask_model_free (KvasirMaskModel *self)
{
  if (self == NULL)
    return;
  g_free (self->columns);
  g_free (self->blocks);
  g_free (self);
}

gint
kvasir_mask_model_get_row_seq (const KvasirMaskModel *self, guint row)
{
  return kvasir_palette_next_seq (&self->shot->row_seqs[row], -1);
}

/* ---- rows */

/* The first cell from @from on, up to @end, whose bit differs from that of @from. */
static guint
find_change (const guint64 *words, guint from, guint end)
{
  guint64 flip = (words[from / 64] >> (from % 64)) & 1 ? ~G_GUINT64_CONSTANT (0) : 0;
  guint word = from / 64;
  guint64 bits = (words[word] ^ flip) & (~G_GUINT64_CONSTANT (0) << (from % 64));
  while (bits == 0 && (word + 1) * 64 < end)
    bits = words[++word] ^ flip;
  guint found = bits != 0 ? word * 64 + (guint) __builtin_ctzll (bits) : end;
  return MIN (found, end);
}

static KvasirMaskReason
get_closed_reason (const KvasirMaskModel *self,
                   guint row,
                   const KvasirMaskColumns *columns,
                   guint cell)
{
  gint seq = kvasir_mask_model_get_row_seq (self, row);
  if (columns->pos < 0)
    return cell >= self->used_max ? KVASIR_MASK_PADDING : KVASIR_MASK_EMPTY;
  if (seq < 0 || !kvasir_seq_set_has (&columns->set, (guint) seq))
    return KVASIR_MASK_OTHER_SEQUENCE;
  gint32 pos = columns->pos + (gint32) (cell - columns->cell);
  return pos > self->shot->row_pos[row] ? KVASIR_MASK_FUTURE : KVASIR_MASK_OUTSIDE_WINDOW;
}

/* The stretch with one reason that begins at @cell. A closed one has a single reason: those outside
 * the window and those in the future have the open entry of the row's own position between them,
 * and the last occupied cell stands before the padding. */
static KvasirMaskSegment
get_segment (const KvasirMaskModel *self, guint row, const KvasirMaskColumns *columns, guint cell)
{
  const guint64 *words = self->shot->words + (gsize) row * self->shot->words_per_row;
  guint end = find_change (words, cell, columns->cell + columns->n);
  KvasirMaskSegment segment = { .cell = cell, .reason = KVASIR_MASK_OPEN };
  segment.seq = kvasir_palette_next_seq (&columns->set, -1);
  if (!((words[cell / 64] >> (cell % 64)) & 1))
    segment.reason = get_closed_reason (self, row, columns, cell);
  segment.n = end - cell;
  return segment;
}

static void
append_columns (const KvasirMaskModel *self,
                guint row,
                const KvasirMaskColumns *columns,
                GArray *segments)
{
  for (guint cell = columns->cell; cell < columns->cell + columns->n;)
    {
      KvasirMaskSegment segment = get_segment (self, row, columns, cell);
      g_array_append_val (segments, segment);
      cell += segment.n;
    }
}

void
kvasir_mask_model_get_row (const KvasirMaskModel *self, guint row, GArray *segments)
{
  g_array_set_size (segments, 0);
  for (guint i = 0; i < self->n_columns; i++)
    append_columns (self, row, &self->columns[i], segments);
}

void
kvasir_mask_model_count_row (const KvasirMaskModel *self, guint row, KvasirMaskCounts *counts)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (KvasirMaskSegment));
  memset (counts, 0, sizeof *counts);
  kvasir_mask_model_get_row (self, row, segments);
  for (guint i = 0; i < segments->len; i++)
    {
      const KvasirMaskSegment *segment = &g_array_index (segments, KvasirMaskSegment, i);
      counts->reasons[segment->reason] += segment->n;
      if (segment->reason == KVASIR_MASK_OTHER_SEQUENCE)
        counts->others[segment->seq] += segment->n;
    }
}

/* ---- the walk */

static KvasirMaskTest
test_sequence (const KvasirMaskModel *self, guint row, guint cell)
{
  gint seq = kvasir_mask_model_get_row_seq (self, row);
  g_autoptr (GString) holders = g_string_new (NULL);
  kvasir_palette_append_letters (holders, &self->shot->cell_seqs[cell], " ", 4);
  KvasirMaskTest test = { .question = _ ("sequence?") };
  test.passed = seq >= 0 && kvasir_seq_set_has (&self->shot->cell_seqs[cell], (guint) seq);
  test.answer = g_strdup_printf (_ ("holds %s, the row is %s"), holders->str,
                                 seq >= 0 ? kvasir_palette_get_letter ((guint) seq).s : "-");
  return test;
}

static KvasirMaskTest
test_future (gint32 pos, gint32 row_pos)
{
  KvasirMaskTest test = { .question = _ ("future?"), .passed = pos <= row_pos };
  test.answer = g_strdup_printf ("%s %s %s", kvasir_format_count (pos).s,
                                 pos <= row_pos ? "≤" : ">", kvasir_format_count (row_pos).s);
  return test;
}

static KvasirMaskTest
test_window (const KvasirMaskShot *shot, gint32 pos, gint32 row_pos, gboolean open)
{
  KvasirMaskTest test = { .question = _ ("window?"), .passed = open };
  gint64 distance = (gint64) row_pos - pos;
  if (shot->n_swa == 0)
    test.answer = g_strdup (_ ("no window"));
  else if (!open && distance < shot->n_swa)
    test.answer =
        g_strdup_printf (_ ("in an earlier part of %s positions than %s"),
                         kvasir_format_count (shot->n_swa).s, kvasir_format_count (row_pos).s);
  else
    test.answer =
        g_strdup_printf ("%s − %s = %s %s %s", kvasir_format_count (row_pos).s,
                         kvasir_format_count (pos).s, kvasir_format_count (distance).s,
                         distance < shot->n_swa ? "<" : "≥", kvasir_format_count (shot->n_swa).s);
  return test;
}

guint
kvasir_mask_model_explain (const KvasirMaskModel *self,
                           guint row,
                           guint cell,
                           KvasirMaskTest tests[4])
{
  const KvasirMaskShot *shot = self->shot;
  gint32 pos = shot->cell_pos[cell];
  gint32 row_pos = shot->row_pos[row];
  guint n = 0;
  tests[n].question = _ ("empty?");
  tests[n].passed = pos >= 0;
  tests[n].answer = g_strdup (pos >= 0                 ? _ ("no")
                              : cell >= self->used_max ? _ ("yes, padding above the last used cell")
                                                       : _ ("yes"));
  if (!tests[n++].passed)
    return n;
  tests[n] = test_sequence (self, row, cell);
  if (!tests[n++].passed)
    return n;
  tests[n] = test_future (pos, row_pos);
  if (!tests[n++].passed)
    return n;
  gboolean open = (shot->words[(gsize) row * shot->words_per_row + cell / 64] >> (cell % 64)) & 1;
  tests[n++] = test_window (shot, pos, row_pos, open);
  return n;
}

const char *
kvasir_mask_model_get_reason_label (KvasirMaskReason reason)
{
  switch (reason)
    {
    case KVASIR_MASK_OPEN:
      return _ ("open");
    case KVASIR_MASK_EMPTY:
      return _ ("empty cell");
    case KVASIR_MASK_OTHER_SEQUENCE:
      return _ ("other sequence");
    case KVASIR_MASK_FUTURE:
      return _ ("future");
    case KVASIR_MASK_OUTSIDE_WINDOW:
      return _ ("outside window");
    case KVASIR_MASK_PADDING:
      return _ ("padding");
    }
  g_return_val_if_reached ("");
}
