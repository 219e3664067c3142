#include "engine/huge-pages.h"
#include "engine/vocab/vocab-private.h"

#include <pthread.h>
#include <string.h>

enum
{
  /* This reader's own limit; the largest vocabularies have some half a million merges. */
  MAX_MERGES = 1 << 24,
  /* So many merges take each step of their search together. */
  N_TOGETHER = 32,
  /* How many merges ahead slots of the table are fetched. */
  AHEAD = 16,
  MAX_THREADS = 4,
  /* A thread of its own is worth it for so many. */
  MIN_PER_THREAD = 16384,
};

#define NONE G_MAXUINT32

static const char merges_key[] = "tokenizer.ggml.merges";

G_STATIC_ASSERT (KVASIR_TEXT_KEY_BYTES <= KVASIR_GGUF_PADDING);

/* A merge as the file writes it. */
typedef struct
{
  const char *texts[2]; /* left and right */
  gsize lens[2];
  gboolean is_short; /* both together are short enough for a key */
  KvasirTextKey keys[2];
  KvasirTextKey joined;
  guint64 hashes[2];
} Merge;

/* Merges that one thread looks up. The texts don't change meanwhile. */
typedef struct
{
  const KvasirTextTable *texts;
  const KvasirGgufStrings *merges;
  guint32 start;
  guint32 end;
  KvasirPair *pairs;   /* (unowned) of all merges; ids are NONE where there is no such text yet */
  guint32 broken;      /* the first one that cannot be read, or NONE */
  guint32 last_merged; /* what the merge before gives */
  GString *scratch;    /* (owned) */
  pthread_t thread;
  gboolean has_thread;
} Slice;

/* Of eight bytes: the highest bit of the first that is a space, and maybe others behind it. */
static guint64
find_spaces (const char *text)
{
  const guint64 ones = 0x0101010101010101u;
  guint64 word = kvasir_text_key_load_word (text) ^ (ones * ' ');

  return (word - ones) & ~word & (ones << 7);
}

/* The first space in a text of the header, mostly without a loop; or NULL. */
static const char *
find_space (const char *text, gsize len)
{
  guint64 near = find_spaces (text);
  guint64 far = find_spaces (text + 8);
  guint at = near != 0 ? 0 : 8;

  if ((near | far) == 0)
    return memchr (text, ' ', len);
  at += (guint) __builtin_ctzll (near != 0 ? near : far) / 8;
  return at < len ? text + at : NULL;
}

/* The left half is at least one character, which may be a space itself. */
static gboolean
split (const KvasirGgufStrings *merges, guint32 rank, Merge *merge)
{
  gsize len = 0;
  const char *text = kvasir_gguf_strings_get (merges, rank, &len);
  const char *gap = len < 3 ? NULL : find_space (text + 1, len - 2);

  if (!gap)
    return FALSE;
  merge->texts[0] = text;
  merge->lens[0] = (gsize) (gap - text);
  merge->texts[1] = gap + 1;
  merge->lens[1] = len - merge->lens[0] - 1;
  return TRUE;
}

static void
hash (const KvasirTextTable *texts, Merge *merge)
{
  merge->is_short = merge->lens[0] + merge->lens[1] <= KVASIR_TEXT_KEY_BYTES;
  for (guint i = 0; i < 2; i++)
    {
      const char *text = merge->texts[i];
      gsize len = merge->lens[i];

      if (merge->is_short)
        {
          merge->keys[i] = kvasir_text_key_load_padded (text, len);
          merge->hashes[i] = kvasir_text_key_hash (&merge->keys[i], len, texts->seed);
        }
      else
        merge->hashes[i] = kvasir_text_table_hash (texts, text, len);
      __builtin_prefetch (&texts->slots[kvasir_text_table_get_slot (texts, merge->hashes[i])]);
    }
  if (merge->is_short)
    merge->joined = kvasir_text_key_join (&merge->keys[0], merge->lens[0], &merge->keys[1]);
}

static guint32
guess (const KvasirTextTable *texts, guint64 hash)
{
  guint32 id = kvasir_text_table_guess (texts, hash);

  if (id != NONE)
    __builtin_prefetch (&texts->starts[id]);
  return id;
}

static gboolean
is_key (const KvasirTextTable *texts, guint32 i, const KvasirTextKey *key, gsize len)
{
  const KvasirTextKey found = kvasir_text_table_get_key (texts, i, len);

  return (kvasir_text_table_get_len (texts, i) == len) & kvasir_text_key_equals (&found, key);
}

/* The text of half @k: mostly what was guessed. */
static guint32
find_half (const KvasirTextTable *texts, guint32 guessed, const Merge *merge, guint k)
{
  const char *text = merge->texts[k];
  gsize len = merge->lens[k];

  if (guessed == NONE || (merge->is_short ? is_key (texts, guessed, &merge->keys[k], len)
                                          : kvasir_text_table_is (texts, guessed, text, len)))
    return guessed;
  return (guint32) kvasir_text_table_find (texts, text, len);
}

static gboolean
is_joined (const KvasirTextTable *texts, guint32 i, const Merge *merge)
{
  const char *text = kvasir_text_table_get (texts, i);
  gsize len = merge->lens[0] + merge->lens[1];

  if (merge->is_short)
    return is_key (texts, i, &merge->joined, len);
  return kvasir_text_table_get_len (texts, i) == len &&
         memcmp (text, merge->texts[0], merge->lens[0]) == 0 &&
         memcmp (text + merge->lens[0], merge->texts[1], merge->lens[1]) == 0;
}

static void
join (const Merge *merge, GString *out)
{
  g_string_truncate (out, 0);
  for (guint i = 0; i < 2; i++)
    g_string_append_len (out, merge->texts[i], (gssize) merge->lens[i]);
}

/* Files mostly list merges in the order of the tokens that they give, so that a look at the token
 * of the merge before and at the next one spares the search. */
static guint32
find_merged (Slice *slice, const Merge *merge)
{
  const KvasirTextTable *texts = slice->texts;
  guint32 last = slice->last_merged;
  guint32 id;

  if (!texts->has_equals && last + 1 < texts->n)
    {
      gboolean is_next = is_joined (texts, last + 1, merge);

      if (is_next | is_joined (texts, last, merge))
        return slice->last_merged = last + (guint32) is_next;
    }
  join (merge, slice->scratch);
  id = (guint32) kvasir_text_table_find (texts, slice->scratch->str, slice->scratch->len);
  if (id != NONE)
    slice->last_merged = id;
  return id;
}

/* @n merges from @rank on. */
static void
find_together (Slice *slice, guint32 rank, const Merge *merges, guint n)
{
  const KvasirTextTable *texts = slice->texts;
  KvasirPair *pairs = slice->pairs + rank;

  for (guint i = 0; i < n; i++)
    {
      pairs[i].left = guess (texts, merges[i].hashes[0]);
      pairs[i].right = guess (texts, merges[i].hashes[1]);
    }
  for (guint i = 0; i < n; i++)
    {
      if (pairs[i].left != NONE)
        __builtin_prefetch (kvasir_text_table_get (texts, pairs[i].left));
      if (pairs[i].right != NONE)
        __builtin_prefetch (kvasir_text_table_get (texts, pairs[i].right));
    }
  for (guint i = 0; i < n; i++)
    {
      const Merge *merge = &merges[i];

      pairs[i].rank_1 = rank + i + 1;
      pairs[i].left = find_half (texts, pairs[i].left, merge, 0);
      pairs[i].right = find_half (texts, pairs[i].right, merge, 1);
      pairs[i].merged = find_merged (slice, merge);
    }
}

static void *
find_slice (void *data)
{
  Slice *slice = data;
  Merge merges[N_TOGETHER];
  guint n;

  for (guint32 rank = slice->start; rank < slice->end; rank += n)
    {
      for (n = 0; n < N_TOGETHER && rank + n < slice->end; n++)
        {
          if (!split (slice->merges, rank + n, &merges[n]))
            {
              slice->broken = rank + n;
              return NULL;
            }
          hash (slice->texts, &merges[n]);
        }
      find_together (slice, rank, merges, n);
    }
  return NULL;
}

/* Where no thread can be had the caller's does the work. Returns: the first merge that cannot be
 * read, or NONE */
static guint32
find_all (const KvasirTextTable *texts, const KvasirGgufStrings *merges, KvasirPair *pairs)
{
  Slice slices[MAX_THREADS];
  guint n_slices = (guint) CLAMP (merges->n / MIN_PER_THREAD, 1, MAX_THREADS);
  guint32 broken = NONE;

  n_slices = MIN (n_slices, g_get_num_processors ());
  for (guint i = 0; i < n_slices; i++)
    {
      slices[i] = (Slice){ .texts = texts, .merges = merges, .pairs = pairs, .broken = NONE };
      slices[i].start = (guint32) (merges->n * i / n_slices);
      slices[i].end = (guint32) (merges->n * (i + 1) / n_slices);
      slices[i].scratch = g_string_new (NULL);
      slices[i].has_thread =
          i > 0 && pthread_create (&slices[i].thread, NULL, find_slice, &slices[i]) == 0;
    }
  for (guint i = 0; i < n_slices; i++)
    if (!slices[i].has_thread)
      find_slice (&slices[i]);
  for (guint i = 0; i < n_slices; i++)
    {
      if (slices[i].has_thread)
        pthread_join (slices[i].thread, NULL);
      broken = MIN (broken, slices[i].broken);
      g_string_free (slices[i].scratch, TRUE);
    }
  return broken;
}

/* Gives numbers behind the tokens to texts that are none. */
static gboolean
intern_missing (KvasirVocab *vocab,
                const KvasirGgufStrings *merges,
                KvasirPair *pair,
                GString *scratch)
{
  guint32 *ids[] = { &pair->left, &pair->right };
  Merge merge;

  if (!split (merges, pair->rank_1 - 1, &merge))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (*ids[i] == NONE)
      *ids[i] = kvasir_text_table_intern (&vocab->texts, merge.texts[i], merge.lens[i]);
  if (pair->merged == NONE)
    {
      join (&merge, scratch);
      pair->merged = kvasir_text_table_intern (&vocab->texts, scratch->str, scratch->len);
    }
  return pair->left != NONE && pair->right != NONE && pair->merged != NONE;
}

static gboolean
is_out_of_reach (const KvasirVocab *self, guint32 symbol)
{
  return symbol < self->n_tokens && (self->flags[symbol] & KVASIR_TOKEN_OUT_OF_REACH) != 0;
}

/* FALSE where there is no memory. */
static gboolean
add_all (KvasirVocab *vocab, const KvasirGgufStrings *merges, KvasirPair *pairs)
{
  g_autoptr (GString) scratch = g_string_new (NULL);

  for (guint32 i = 0; i < merges->n; i++)
    {
      KvasirPair *pair = &pairs[i];
      const KvasirPair *later = &pairs[MIN (i + AHEAD, merges->n - 1)];
      guint32 slot = kvasir_pairs_get_slot (&vocab->pairs, later->left, later->right);

      __builtin_prefetch (&vocab->pairs.slots[slot], 1);
      if ((pair->left == NONE || pair->right == NONE || pair->merged == NONE) &&
          !intern_missing (vocab, merges, pair, scratch))
        return FALSE;
      if (!is_out_of_reach (vocab, pair->merged))
        kvasir_pairs_add (&vocab->pairs, pair);
    }
  return TRUE;
}

static gboolean
load_merges (KvasirVocab *self,
             const KvasirGguf *gguf,
             const KvasirGgufStrings *merges,
             GError **error)
{
  g_autofree KvasirPair *pairs = kvasir_huge_pages_alloc (merges->n * sizeof *pairs);
  guint32 broken;
  gsize len = 0;

  if (!pairs || !kvasir_pairs_init (&self->pairs, merges->n))
    return kvasir_vocab_no_memory (error);
  broken = find_all (&self->texts, merges, pairs);
  if (broken == NONE)
    return add_all (self, merges, pairs) || kvasir_vocab_no_memory (error);
  kvasir_gguf_strings_get (merges, broken, &len);
  return kvasir_vocab_fail (gguf, error,
                            "%s %u: expected two texts with a space between, found "
                            "%" G_GSIZE_FORMAT " bytes without",
                            merges_key, broken, len);
}

gboolean
kvasir_vocab_load_merges (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  KvasirGgufStrings merges;

  if (!kvasir_gguf_get_strings (gguf, merges_key, &merges))
    return kvasir_vocab_fail (gguf, error, "%s: expected an array of strings, found none",
                              merges_key);
  if (merges.n > MAX_MERGES)
    return kvasir_vocab_fail (gguf, error, "%s: expected at most %d, found %" G_GUINT64_FORMAT,
                              merges_key, MAX_MERGES, merges.n);
  return load_merges (self, gguf, &merges, error);
}
