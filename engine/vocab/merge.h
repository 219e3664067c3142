/* engine/vocab/merge.h - joins neighbouring symbols, best pair first
 *
 * What byte-level BPE (lowest rank) and SPM (highest score) have in common. A doubly linked list of
 * symbols and a binary heap of pairs: n log n in the worst case, whatever the text.
 * Owner:  one call of the tokenizer; the buffers serve all pieces of it.
 * Thread: one.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_NO_RANK G_MAXUINT32
#define KVASIR_NO_SYMBOL G_MAXUINT32

typedef struct
{
  guint32 id;   /* of the tokenizer's own choosing */
  guint32 text; /* where it begins in the piece, in bytes */
  guint32 len;  /* in bytes; 0 where it was joined to the one before */
  guint32 prev; /* KVASIR_NO_SYMBOL at the ends */
  guint32 next;
  guint32 rank;   /* of the pair it makes with the next one */
  guint32 merged; /* what that pair becomes, where it has a rank */
} KvasirSymbol;

/* Returns: the rank of the pair, lowest first, and in @id what it becomes; or KVASIR_NO_RANK */
typedef guint32 (*KvasirPairFunc) (gconstpointer owner,
                                   const char *text,
                                   const KvasirSymbol *left,
                                   const KvasirSymbol *right,
                                   guint32 *id);

typedef struct
{
  KvasirSymbol *symbols; /* (owned) [n_symbols] */
  gsize n_symbols;
  gsize n_symbols_alloc;
  guint64 *heap; /* (owned) [n_heap], rank in the upper half, symbol in the lower */
  gsize n_heap;
} KvasirMerger;

void kvasir_merger_clear (KvasirMerger *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirMerger, kvasir_merger_clear)

/* Starts over with room for @n symbols. FALSE where there is no memory. */
gboolean kvasir_merger_reset (KvasirMerger *self, gsize n) G_GNUC_WARN_UNUSED_RESULT;
/* Appends a symbol of @len > 0 bytes behind the one before. */
void kvasir_merger_add (KvasirMerger *self, guint32 id, guint32 len);
/* Joins pairs until @find_pair knows none; ties go to the leftmost. Afterwards the symbols whose
 * len is not 0 are the result, in order. */
void kvasir_merger_run (KvasirMerger *self,
                        const char *text,
                        KvasirPairFunc find_pair,
                        gconstpointer owner);

G_END_DECLS
