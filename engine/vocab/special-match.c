#include "engine/vocab/vocab-private.h"

#include <stdlib.h>
#include <string.h>

/* ---- index -------------------------------------------------------------------------------- */

static gboolean
is_indexed (const KvasirVocab *self, guint32 id)
{
  return (self->flags[id] & KVASIR_TOKEN_SPECIAL) != 0 &&
         kvasir_text_table_get_len (&self->texts, id) > 0;
}

static int
compare_lens (gconstpointer a, gconstpointer b)
{
  guint32 len_a = *(const guint32 *) a;
  guint32 len_b = *(const guint32 *) b;

  return len_a > len_b ? -1 : len_a < len_b;
}

static void
collect_lens (KvasirVocab *self, const KvasirTrieKey *keys, gsize n)
{
  for (gsize i = 0; i < n; i++)
    self->special_lens[i] = keys[i].len;
  qsort (self->special_lens, n, sizeof *self->special_lens, compare_lens);
  for (gsize i = 0; i < n; i++)
    if (i == 0 || self->special_lens[i] != self->special_lens[i - 1])
      self->special_lens[self->n_special_lens++] = self->special_lens[i];
}

/* The trie keeps the largest value of equal texts, and the token of lowest id is wanted. */
gboolean
kvasir_vocab_index_special (KvasirVocab *self, GError **error)
{
  g_autofree KvasirTrieKey *keys = NULL;
  gsize n = 0;

  for (guint32 i = 0; i < self->n_tokens; i++)
    n += is_indexed (self, i);
  if (n == 0)
    return TRUE;
  keys = g_try_new (KvasirTrieKey, n);
  self->special_lens = g_try_new (guint32, n);
  if (!keys || !self->special_lens)
    return kvasir_vocab_no_memory (error);
  n = 0;
  for (guint32 i = 0; i < self->n_tokens; i++)
    if (is_indexed (self, i))
      {
        const char *text = kvasir_text_table_get (&self->texts, i);

        keys[n++] = (KvasirTrieKey){ text, (guint32) kvasir_text_table_get_len (&self->texts, i),
                                     self->n_tokens - 1 - i };
        self->special_starts[(guint8) text[0]] = 1;
      }
  collect_lens (self, keys, n);
  return kvasir_trie_build (&self->special_trie, keys, n) || kvasir_vocab_no_memory (error);
}

/* ---- search ------------------------------------------------------------------------------- */

/* A search for special tokens in a text: longer ones take their places first. Each place waits in
 * the list of the longest token that it may still have. */
typedef struct
{
  const KvasirVocab *vocab;
  const char *text;
  gsize len;
  KvasirSpecialFilter filter;
  gpointer data;
  GArray **places; /* [n_special_lens] (owned) (nullable) of KvasirSpecialMatch */
  guint8 *taken;   /* (owned) [len] whether the byte is inside a match */
  GArray *matches;
} Search;

/* A look at one place: the longest token there, and of how many bytes that depends. */
typedef struct
{
  guint32 id;
  gsize len; /* 0 where there is none */
  gsize n_seen;
} Look;

/* Only at tokens of at most @max bytes. */
static Look
look (const Search *search, gsize offset, gsize max)
{
  const KvasirVocab *vocab = search->vocab;
  gsize n_left = search->len - offset;
  Look found = { KVASIR_VOCAB_NO_ID, 0, 0 };
  guint32 cell = KVASIR_TRIE_ROOT;

  for (gsize i = 0; i < MIN (n_left, max); i++)
    {
      guint32 value;

      found.n_seen = i + 1;
      cell = kvasir_trie_step (&vocab->special_trie, cell, (guint8) search->text[offset + i]);
      if (cell == KVASIR_TRIE_ROOT)
        return found;
      value = vocab->special_trie.cells[cell].value;
      if (value == KVASIR_TRIE_NO_VALUE)
        continue;
      found.id = vocab->n_tokens - 1 - value;
      found.len = i + 1;
    }
  found.n_seen++;
  return found;
}

static void
add_place (Search *search, gsize offset, const Look *found)
{
  const KvasirVocab *vocab = search->vocab;
  const guint32 len = (guint32) found->len;
  const guint32 *at =
      bsearch (&len, vocab->special_lens, vocab->n_special_lens, sizeof len, compare_lens);
  KvasirSpecialMatch place = { (guint32) offset, found->id };
  GArray **places = &search->places[at - vocab->special_lens];

  if (!*places)
    *places = g_array_new (FALSE, FALSE, sizeof place);
  g_array_append_val (*places, place);
}

/* Where the run of one byte that starts at @offset ends. */
static gsize
find_run_end (const Search *search, gsize offset)
{
  gsize end = offset + 1;

  while (end < search->len && search->text[end] == search->text[offset])
    end++;
  return end;
}

/* In a run of one byte, as blanks are, a place looks like the one before as far as that looked. */
static void
collect_places (Search *search)
{
  const guint8 *starts = search->vocab->special_starts;
  gsize run_end = 0;
  Look found = { 0 };

  for (gsize i = 0; i < search->len; i++)
    {
      if (!starts[(guint8) search->text[i]])
        continue;
      if (i == 0 || i >= run_end || i + found.n_seen > run_end)
        {
          found = look (search, i, G_MAXSIZE);
          if (i >= run_end && found.n_seen > 1)
            run_end = find_run_end (search, i);
        }
      if (found.len > 0)
        add_place (search, i, &found);
    }
}

static int
compare_match (gconstpointer a, gconstpointer b)
{
  const KvasirSpecialMatch *match_a = a;
  const KvasirSpecialMatch *match_b = b;

  return match_a->offset < match_b->offset ? -1 : match_a->offset > match_b->offset;
}

/* Most lists are in order already. */
static void
sort (GArray *matches)
{
  for (guint i = 1; i < matches->len; i++)
    if (g_array_index (matches, KvasirSpecialMatch, i).offset <
        g_array_index (matches, KvasirSpecialMatch, i - 1).offset)
      {
        g_array_sort (matches, compare_match);
        return;
      }
}

/* No longer match can lie strictly inside a shorter one, so two bytes tell whether the text is
 * still free. */
static void
take_places (Search *search, GArray *places, gsize len)
{
  sort (places);
  for (guint i = 0; i < places->len; i++)
    {
      KvasirSpecialMatch place = g_array_index (places, KvasirSpecialMatch, i);
      Look shorter;

      if (search->taken[place.offset])
        continue;
      if (!search->taken[place.offset + len - 1] &&
          search->filter (search->data, place.id, place.offset, len))
        {
          memset (search->taken + place.offset, 1, len);
          g_array_append_val (search->matches, place);
          continue;
        }
      shorter = look (search, place.offset, len - 1);
      if (shorter.len > 0)
        add_place (search, place.offset, &shorter);
    }
}

GArray *
kvasir_vocab_match_special (
    const KvasirVocab *self, const char *text, gsize len, KvasirSpecialFilter filter, gpointer data)
{
  g_autofree GArray **places = g_new0 (GArray *, self->n_special_lens + 1);
  g_autofree guint8 *taken = NULL;
  Search search = { self, text, len, filter, data, places, NULL, NULL };

  search.matches = g_array_new (FALSE, FALSE, sizeof (KvasirSpecialMatch));
  collect_places (&search);
  for (guint i = 0; i < self->n_special_lens; i++)
    {
      if (!places[i])
        continue;
      if (!taken)
        search.taken = taken = g_new0 (guint8, len);
      take_places (&search, places[i], self->special_lens[i]);
      g_array_unref (places[i]);
    }
  sort (search.matches);
  return search.matches;
}
