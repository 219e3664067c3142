#include "engine/vocab/merge.h"

void
kvasir_merger_clear (KvasirMerger *self)
{
  g_clear_pointer (&self->symbols, g_free);
  g_clear_pointer (&self->heap, g_free);
}

/* Each of n symbols makes a pair at the start, and each of at most n - 1 joins makes two new ones.
 */
#define PAIRS_PER_SYMBOL 3

gboolean
kvasir_merger_reset (KvasirMerger *self, gsize n)
{
  self->n_symbols = 0;
  self->n_heap = 0;
  if (n <= self->n_symbols_alloc)
    return TRUE;
  kvasir_merger_clear (self);
  self->n_symbols_alloc = 0;
  n = MAX (n, 256);
  self->symbols = g_try_new (KvasirSymbol, n);
  self->heap = g_try_new (guint64, n * PAIRS_PER_SYMBOL);
  if (!self->symbols || !self->heap)
    return FALSE;
  self->n_symbols_alloc = n;
  return TRUE;
}

void
kvasir_merger_add (KvasirMerger *self, guint32 id, guint32 len)
{
  guint32 i = (guint32) self->n_symbols++;
  KvasirSymbol *symbol = &self->symbols[i];

  *symbol = (KvasirSymbol){ .id = id, .len = len, .rank = KVASIR_NO_RANK };
  symbol->next = KVASIR_NO_SYMBOL;
  symbol->prev = KVASIR_NO_SYMBOL;
  if (i == 0)
    return;
  symbol->prev = i - 1;
  symbol->text = symbol[-1].text + symbol[-1].len;
  symbol[-1].next = i;
}

/* A heap of four children a node: half as deep as one of two, and the children of a node lie in one
 * line of the processor's cache. */
enum
{
  N_CHILDREN = 4,
};

static void
push (KvasirMerger *self, guint64 pair)
{
  gsize i = self->n_heap++;

  for (; i > 0 && self->heap[(i - 1) / N_CHILDREN] > pair; i = (i - 1) / N_CHILDREN)
    self->heap[i] = self->heap[(i - 1) / N_CHILDREN];
  self->heap[i] = pair;
}

static guint64
pop (KvasirMerger *self)
{
  guint64 least = self->heap[0];
  guint64 last = self->heap[--self->n_heap];
  gsize i = 0;
  gsize first;

  for (; (first = N_CHILDREN * i + 1) < self->n_heap;)
    {
      gsize end = MIN (first + N_CHILDREN, self->n_heap);
      gsize child = first;

      for (gsize k = first + 1; k < end; k++)
        if (self->heap[k] < self->heap[child])
          child = k;
      if (self->heap[child] >= last)
        break;
      self->heap[i] = self->heap[child];
      i = child;
    }
  self->heap[i] = last;
  return least;
}

typedef struct
{
  KvasirMerger *merger;
  const char *text;
  KvasirPairFunc find_pair;
  gconstpointer owner;
} Run;

static void
rate_pair (const Run *run, guint32 i)
{
  KvasirSymbol *symbols = run->merger->symbols;
  KvasirSymbol *left = &symbols[i];

  left->rank = KVASIR_NO_RANK;
  if (left->next == KVASIR_NO_SYMBOL)
    return;
  left->rank = run->find_pair (run->owner, run->text, left, &symbols[left->next], &left->merged);
  if (left->rank != KVASIR_NO_RANK)
    push (run->merger, (guint64) left->rank << 32 | i);
}

static void
join (const Run *run, guint32 i)
{
  KvasirSymbol *symbols = run->merger->symbols;
  KvasirSymbol *left = &symbols[i];
  KvasirSymbol *right = &symbols[left->next];

  left->id = left->merged;
  left->len += right->len;
  left->next = right->next;
  if (right->next != KVASIR_NO_SYMBOL)
    symbols[right->next].prev = i;
  right->len = 0;
  right->rank = KVASIR_NO_RANK;
  rate_pair (run, i);
  if (left->prev != KVASIR_NO_SYMBOL)
    rate_pair (run, left->prev);
}

void
kvasir_merger_run (KvasirMerger *self,
                   const char *text,
                   KvasirPairFunc find_pair,
                   gconstpointer owner)
{
  Run run = { self, text, find_pair, owner };

  for (gsize i = 0; i < self->n_symbols; i++)
    rate_pair (&run, (guint32) i);
  while (self->n_heap > 0)
    {
      guint64 pair = pop (self);
      guint32 i = (guint32) pair;

      /* A pair whose halves have changed since stays in the heap and is passed over here. */
      if (self->symbols[i].rank == (guint32) (pair >> 32))
        join (&run, i);
    }
}
