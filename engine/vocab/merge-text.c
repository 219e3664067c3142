#include "engine/vocab/merge-text.h"

#include "engine/gguf/hash.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

enum
{
  /* Small enough for the processor's cache, large enough that little is merged twice. */
  WINDOW_BYTES = 2048,
  /* A border is taken in front of the last part of a window, where the text behind is felt. */
  TAIL_SHARE = 8,
  WINDOW_GROWTH = 4,
  /* The last character of a window can reach so far over its end. */
  MAX_OVERHANG = 3,
  N_PARTS = 32,
  KEY_BYTES = 32,
};

/* The part of a window that was taken over, and the tokens it begins with and is followed by. */
typedef struct
{
  gsize start;
  gsize len; /* 0 where there is none */
  guint first_id;
  guint n_ids;
  KvasirSymbol first;
  KvasirSymbol next; /* its len is 0 at the end of the text */
} Part;

typedef struct
{
  KvasirEncoder *encoder;
  const KvasirMergeRule *rule;
  const guint8 *bytes;
  gsize len;
  gsize window;
  Part parts[N_PARTS]; /* by what their windows begin with */
} Text;

static gboolean
merge (
    KvasirEncoder *encoder, const KvasirMergeRule *rule, const guint8 *bytes, gsize len, gsize end)
{
  if (!kvasir_merger_reset (&encoder->merger, end))
    return FALSE;
  rule->add (encoder, bytes, len, end);
  kvasir_merger_run (&encoder->merger, (const char *) bytes, rule->rate_pair, encoder->vocab);
  return TRUE;
}

/* Appends what the merger holds up to the first border at or behind @end, and at least one token.
 * Returns: the symbol behind it, or KVASIR_NO_SYMBOL */
static guint32
append_until (KvasirEncoder *encoder, const KvasirMergeRule *rule, const guint8 *bytes, gsize end)
{
  const KvasirSymbol *symbols = encoder->merger.symbols;
  guint32 i = 0;

  do
    {
      rule->append (encoder, bytes, &symbols[i]);
      i = symbols[i].next;
    }
  while (i != KVASIR_NO_SYMBOL && symbols[i].text < end);
  return i;
}

static gboolean
merge_part (const Text *text, gsize start, Part *part)
{
  KvasirEncoder *encoder = text->encoder;
  const guint8 *bytes = text->bytes + start;
  gsize len = text->len - start;
  gboolean is_last = len <= text->window;
  gsize end = is_last ? len : text->window;
  guint32 next;

  if (!merge (encoder, text->rule, bytes, len, end))
    return FALSE;
  *part = (Part){ .start = start, .len = len, .first_id = encoder->ids->len };
  next = append_until (encoder, text->rule, bytes, is_last ? len : end - end / TAIL_SHARE);
  part->first = encoder->merger.symbols[0];
  part->n_ids = encoder->ids->len - part->first_id;
  if (next == KVASIR_NO_SYMBOL)
    return TRUE;
  part->next = encoder->merger.symbols[next];
  part->len = part->next.text;
  return TRUE;
}

/* Whether the window at @start has the same bytes as that of the part before. */
static gboolean
is_same (const Text *text, const Part *part, gsize start)
{
  gsize n = text->window + MAX_OVERHANG;

  return part->len > 0 && text->len - start > n &&
         memcmp (text->bytes + part->start, text->bytes + start, n) == 0;
}

static void
repeat (const Text *text, Part *part, gsize start)
{
  GArray *ids = text->encoder->ids;
  guint n_before = ids->len;

  g_array_set_size (ids, n_before + part->n_ids);
  memcpy (&g_array_index (ids, gint32, n_before), &g_array_index (ids, gint32, part->first_id),
          part->n_ids * sizeof (gint32));
  part->start = start;
}

static gboolean
is_same_token (const KvasirSymbol *a, const KvasirSymbol *b)
{
  return a->id == b->id && a->len == b->len;
}

/* FALSE where there is no memory. @fits says whether the windows were large enough. */
static gboolean
merge_in_windows (Text *text, gboolean *fits)
{
  KvasirSymbol expected = { .len = 0 };
  gsize start = 0;

  memset (text->parts, 0, sizeof text->parts);
  *fits = TRUE;
  while (start < text->len)
    {
      gsize n_key = MIN (text->len - start, KEY_BYTES);
      guint64 hash = kvasir_hash_bytes (text->bytes + start, n_key, 0);
      Part *part = &text->parts[hash % N_PARTS];

      if (is_same (text, part, start))
        repeat (text, part, start);
      else if (!merge_part (text, start, part))
        return FALSE;
      *fits = (expected.len == 0 || is_same_token (&part->first, &expected)) &&
              (part->next.len > 0 || start + part->len == text->len);
      if (!*fits)
        return TRUE;
      expected = part->next;
      start += part->len;
    }
  return TRUE;
}

gboolean
kvasir_merge_text (KvasirEncoder *encoder,
                   const KvasirMergeRule *rule,
                   const guint8 *bytes,
                   gsize len)
{
  Text text = { encoder, rule, bytes, len, WINDOW_BYTES };
  guint n_before = encoder->ids->len;
  gboolean fits = FALSE;

  for (; len > text.window && !fits; text.window *= WINDOW_GROWTH)
    {
      g_array_set_size (encoder->ids, n_before);
      if (!merge_in_windows (&text, &fits))
        return FALSE;
    }
  if (fits)
    return TRUE;
  g_array_set_size (encoder->ids, n_before);
  if (!merge (encoder, rule, bytes, len, len))
    return FALSE;
  append_until (encoder, rule, bytes, len);
  return TRUE;
}
