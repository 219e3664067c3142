/* engine/vocab/merge-text.h - merges texts of any length in linear time
 *
 * A long text is merged in windows, which gives exactly what merging it as a whole would. Two facts
 * make it so, whatever the ranks are, because a merge is chosen by rank and place alone:
 * - Where the result of merging a text has a border between tokens, nothing was merged across it,
 *   so both sides give the same when they are merged by themselves.
 * - Two results can be put together if and only if merging the last token of one and the first of
 *   the other gives just these two: up to a first merge across the border these two tokens grow as
 *   they would alone.
 * So each window starts at a border in the one before, and if its first token is the one that stood
 * there, the part in front of the border is final. If it is another, windows were too small.
 * Windows of equal bytes give equal results, so that what repeats itself is merged only once.
 */
#pragma once

#include "engine/vocab/merge.h"

G_BEGIN_DECLS

typedef struct _KvasirEncoder KvasirEncoder;

/* What BPE and SPM do differently. */
typedef struct
{
  /* Adds symbols for the characters of @bytes to the merger that begin in front of @end <= @len. */
  void (*add) (KvasirEncoder *encoder, const guint8 *bytes, gsize len, gsize end);
  KvasirPairFunc rate_pair;
  /* Appends the ids of a symbol that is left. */
  void (*append) (KvasirEncoder *encoder, const guint8 *bytes, const KvasirSymbol *symbol);
} KvasirMergeRule;

/* Appends the ids of a text without special tokens. FALSE where there is no memory. */
gboolean kvasir_merge_text (KvasirEncoder *encoder,
                            const KvasirMergeRule *rule,
                            const guint8 *bytes,
                            gsize len);

G_END_DECLS
