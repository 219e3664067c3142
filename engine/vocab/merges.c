#include "engine/vocab/vocab-private.h"

#include <string.h>

enum
{
  /* This reader's own limit; the largest vocabularies have some half a million merges. */
  MAX_MERGES = 1 << 24,
  /* So many merges take each step of their search together. */
  N_TOGETHER = 32,
};

static const char merges_key[] = "tokenizer.ggml.merges";

/* A merge on its way into the table. */
typedef struct
{
  const char *texts[2]; /* left and right */
  gsize lens[2];
  guint64 hashes[2];
  guint32 ids[2];
} Merge;

typedef struct
{
  KvasirVocab *vocab;
  GString *scratch;    /* (owned) */
  guint32 last_merged; /* what the merge before gives */
  Merge merges[N_TOGETHER];
} Loader;

/* The left half is at least one character, which may be a space itself. */
static gboolean
split (const KvasirVocab *vocab, const char *text, gsize len, Merge *merge)
{
  const char *gap = len < 3 ? NULL : memchr (text + 1, ' ', len - 2);

  if (!gap)
    return FALSE;
  merge->texts[0] = text;
  merge->lens[0] = (gsize) (gap - text);
  merge->texts[1] = gap + 1;
  merge->lens[1] = len - merge->lens[0] - 1;
  for (guint i = 0; i < 2; i++)
    {
      merge->hashes[i] = kvasir_text_table_hash (&vocab->texts, merge->texts[i], merge->lens[i]);
      __builtin_prefetch (
          &vocab->texts.slots[kvasir_text_table_get_slot (&vocab->texts, merge->hashes[i])]);
    }
  return TRUE;
}

static void
guess (const KvasirTextTable *texts, Merge *merge)
{
  for (guint i = 0; i < 2; i++)
    {
      merge->ids[i] = kvasir_text_table_guess (texts, merge->hashes[i]);
      if (merge->ids[i] != G_MAXUINT32)
        __builtin_prefetch (&texts->starts[merge->ids[i]]);
    }
}

static gboolean
is_joined (const KvasirTextTable *texts, guint32 i, const Merge *merge)
{
  const char *text = kvasir_text_table_get (texts, i);

  return kvasir_text_table_get_len (texts, i) == merge->lens[0] + merge->lens[1] &&
         kvasir_text_table_bytes_equal (text, merge->texts[0], merge->lens[0]) &&
         kvasir_text_table_bytes_equal (text + merge->lens[0], merge->texts[1], merge->lens[1]);
}

/* Files mostly list merges in the order of the tokens that they give, so that a look at the token
 * of the merge before and at the next one spares the search. */
static guint32
find_merged (Loader *loader, const Merge *merge)
{
  KvasirTextTable *texts = &loader->vocab->texts;
  guint32 end = MIN (loader->last_merged + 2, texts->n);

  for (guint32 i = loader->last_merged; i < end && !texts->has_equals; i++)
    if (is_joined (texts, i, merge))
      return i;
  g_string_truncate (loader->scratch, 0);
  for (guint i = 0; i < 2; i++)
    g_string_append_len (loader->scratch, merge->texts[i], (gssize) merge->lens[i]);
  return kvasir_text_table_intern (texts, loader->scratch->str, loader->scratch->len);
}

static gboolean
is_out_of_reach (const KvasirVocab *self, guint32 symbol)
{
  return symbol < self->n_tokens && (self->flags[symbol] & KVASIR_TOKEN_OUT_OF_REACH) != 0;
}

static gboolean
finish (Loader *loader, Merge *merge, guint32 rank)
{
  KvasirVocab *vocab = loader->vocab;
  KvasirPair pair = { .rank_1 = rank + 1 };

  for (guint i = 0; i < 2; i++)
    if (merge->ids[i] == G_MAXUINT32 ||
        !kvasir_text_table_is (&vocab->texts, merge->ids[i], merge->texts[i], merge->lens[i]))
      {
        merge->ids[i] = kvasir_text_table_intern (&vocab->texts, merge->texts[i], merge->lens[i]);
        if (merge->ids[i] == G_MAXUINT32)
          return FALSE;
      }
  pair.left = merge->ids[0];
  pair.right = merge->ids[1];
  pair.merged = loader->last_merged = find_merged (loader, merge);
  if (pair.merged == G_MAXUINT32)
    return FALSE;
  if (!is_out_of_reach (vocab, pair.merged))
    kvasir_pairs_add (&vocab->pairs, &pair);
  return TRUE;
}

/* Merges from @rank on. */
static gboolean
load_together (Loader *loader, guint32 rank, guint n, GError **error)
{
  KvasirVocab *vocab = loader->vocab;
  KvasirTextTable *texts = &vocab->texts;

  for (guint i = 0; i < n; i++)
    guess (texts, &loader->merges[i]);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 2; k++)
      if (loader->merges[i].ids[k] != G_MAXUINT32)
        __builtin_prefetch (kvasir_text_table_get (texts, loader->merges[i].ids[k]));
  for (guint i = 0; i < n; i++)
    {
      const Merge *merge = &loader->merges[i];

      __builtin_prefetch (
          &vocab->pairs.slots[kvasir_pairs_get_slot (&vocab->pairs, merge->ids[0], merge->ids[1])],
          1);
    }
  for (guint i = 0; i < n; i++)
    if (!finish (loader, &loader->merges[i], rank + i))
      return kvasir_vocab_no_memory (error);
  return TRUE;
}

static gboolean
load_merges (Loader *loader,
             const KvasirGguf *gguf,
             const KvasirGgufStrings *merges,
             GError **error)
{
  guint n = 0;

  for (guint32 rank = 0; rank < merges->n; rank++)
    {
      gsize len = 0;
      const char *text = kvasir_gguf_strings_get (merges, rank, &len);

      if (!split (loader->vocab, text, len, &loader->merges[n++]))
        return kvasir_vocab_fail (gguf, error,
                                  "%s %u: expected two texts with a space between, found "
                                  "%" G_GSIZE_FORMAT " bytes without",
                                  merges_key, rank, len);
      if (n < N_TOGETHER && rank + 1 < merges->n)
        continue;
      if (!load_together (loader, rank + 1 - n, n, error))
        return FALSE;
      n = 0;
    }
  return TRUE;
}

gboolean
kvasir_vocab_load_merges (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  g_autoptr (GString) scratch = g_string_new (NULL);
  Loader loader = { .vocab = self, .scratch = scratch };
  KvasirGgufStrings merges;

  if (!kvasir_gguf_get_strings (gguf, merges_key, &merges))
    return kvasir_vocab_fail (gguf, error, "%s: expected an array of strings, found none",
                              merges_key);
  if (merges.n > MAX_MERGES)
    return kvasir_vocab_fail (gguf, error, "%s: expected at most %d, found %" G_GUINT64_FORMAT,
                              merges_key, MAX_MERGES, merges.n);
  return kvasir_pairs_init (&self->pairs, merges.n) ? load_merges (&loader, gguf, &merges, error)
                                                    : kvasir_vocab_no_memory (error);
}
