#include "engine/vocab/vocab-private.h"

#include <string.h>

/* Texts that end an answer whatever kind the file gives them (formats.md 3.4). */
static const char *const end_texts[] = {
  "<|eot_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<|flush|>",
  "<|calls|>",
  "<end_of_turn>",
  "<turn|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "</s>",
  "<|eom_id|>",
  "<EOT>",
  "_<EOT>",
  "[EOT]",
  "[EOS]",
  "<eos>",
  "<\xef\xbd\x9c"
  "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
  "<end_of_utterance>",
  "<|tool_response>",
  "[e~[",
};

/* Marks of filling in the middle: known by text where the file does not give the id of the kind. */
typedef struct
{
  const char *key;
  gboolean ends; /* the token ends an answer too */
  const char *texts[10];
} FillKind;

static const FillKind fill_kinds[] = {
  { "tokenizer.ggml.fim_pre_token_id",
    FALSE,
    { "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81"
      "begin\xef\xbd\x9c>",
      "<PRE>", "\xe2\x96\x81<PRE>", "<|code_prefix|>", "<|prefix|>" } },
  { "tokenizer.ggml.fim_suf_token_id",
    FALSE,
    { "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81hole\xef\xbd\x9c>",
      "<SUF>", "\xe2\x96\x81<SUF>", "<|code_suffix|>", "<|suffix|>" } },
  { "tokenizer.ggml.fim_mid_token_id",
    FALSE,
    { "<|fim_middle|>", "<fim-middle>", "<fim_middle>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81"
      "end\xef\xbd\x9c>",
      "<MID>", "\xe2\x96\x81<MID>", "<|code_middle|>", "<|middle|>" } },
  { "tokenizer.ggml.fim_pad_token_id",
    TRUE,
    { "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]" } },
  { "tokenizer.ggml.fim_rep_token_id",
    TRUE,
    { "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>" } },
  { "tokenizer.ggml.fim_sep_token_id", TRUE, { "<|file_sep|>" } },
};

static guint16 *
find_flags (KvasirVocab *self, const char *text)
{
  gint64 id = kvasir_vocab_find (self, text, strlen (text));

  return id < 0 || id >= self->n_tokens ? NULL : &self->flags[id];
}

static void
make_control (guint16 *flags)
{
  *flags &= (guint16) ~KVASIR_TOKEN_SPECIAL;
  *flags |= KVASIR_TOKEN_CONTROL;
}

static void
mark_end_id (KvasirVocab *self, const KvasirGguf *gguf, const char *key)
{
  guint32 id = 0;

  if (kvasir_gguf_get_u32 (gguf, key, &id) && id < self->n_tokens)
    self->flags[id] |= KVASIR_TOKEN_EOG;
}

static void
mark_ends (KvasirVocab *self, const KvasirGguf *gguf)
{
  if (self->eos >= 0)
    self->flags[self->eos] |= KVASIR_TOKEN_EOG;
  mark_end_id (self, gguf, "tokenizer.ggml.eot_token_id");
  mark_end_id (self, gguf, "tokenizer.ggml.eom_token_id");
  for (gsize i = 0; i < G_N_ELEMENTS (end_texts); i++)
    {
      guint16 *flags = find_flags (self, end_texts[i]);

      if (!flags)
        continue;
      make_control (flags);
      *flags |= KVASIR_TOKEN_EOG;
    }
}

static void
mark_fills (KvasirVocab *self, const KvasirGguf *gguf)
{
  for (gsize i = 0; i < G_N_ELEMENTS (fill_kinds); i++)
    {
      const FillKind *kind = &fill_kinds[i];
      gboolean found = kvasir_gguf_has_key (gguf, kind->key);

      if (found && kind->ends)
        mark_end_id (self, gguf, kind->key);
      for (gsize k = 0; !found && k < G_N_ELEMENTS (kind->texts) && kind->texts[k]; k++)
        {
          guint16 *flags = find_flags (self, kind->texts[k]);

          if (!flags)
            continue;
          make_control (flags);
          if (kind->ends)
            *flags |= KVASIR_TOKEN_EOG;
        }
    }
}

/* gpt-oss ends a part of an answer with <|end|> and goes on. Its marks count as user-defined, but a
 * message must not be able to write them. */
static void
mark_channels (KvasirVocab *self)
{
  static const char *const marks[] = { "<|end|>", "<|channel|>", "<|message|>", "<|start|>",
                                       "<|constrain|>" };

  if (!find_flags (self, "<|return|>") || !find_flags (self, "<|call|>") ||
      !find_flags (self, "<|end|>"))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      guint16 *flags = find_flags (self, marks[i]);

      if (flags)
        *flags = KVASIR_TOKEN_USER_DEFINED | KVASIR_TOKEN_GUARDED;
    }
}

/* Whether the string of @key, in lower case, has @part in it. */
static gboolean
key_contains (const KvasirGguf *gguf, const char *key, const char *part)
{
  const char *text = kvasir_gguf_get_string (gguf, key, NULL);
  gsize len = strlen (part);

  for (; text && *text != 0; text++)
    if (g_ascii_strncasecmp (text, part, len) == 0)
      return TRUE;
  return FALSE;
}

/* White space that tokens eat is not in the file; it goes by the names of models. */
static void
mark_strips (KvasirVocab *self, const KvasirGguf *gguf)
{
  static const char *const keeps[] = { "<unk>", "<s>", "<|endoftext|>" };
  guint16 *mask = find_flags (self, "<mask>");

  if (mask && (key_contains (gguf, "tokenizer.ggml.pre", "jina-v2-") ||
               key_contains (gguf, "general.architecture", "nomic-bert-moe")))
    *mask |= KVASIR_TOKEN_STRIPS_LEFT;
  if (!key_contains (gguf, "general.name", "phi-3") && !key_contains (gguf, "general.name", "phi3"))
    return;
  for (guint i = 0; i < self->n_tokens; i++)
    if (self->flags[i] & KVASIR_TOKEN_SPECIAL)
      self->flags[i] |= KVASIR_TOKEN_STRIPS_RIGHT;
  for (gsize i = 0; i < G_N_ELEMENTS (keeps); i++)
    {
      guint16 *flags = find_flags (self, keeps[i]);

      if (flags)
        *flags &= (guint16) ~KVASIR_TOKEN_STRIPS_RIGHT;
    }
}

/* Gemma 4 has </s> for marked-up text, and ends its answers otherwise. */
static void
mark_plain_ends (KvasirVocab *self)
{
  guint16 *flags = find_flags (self, "</s>");

  if (flags && find_flags (self, "<|tool_response>"))
    *flags = 0;
}

void
kvasir_vocab_mark_special (KvasirVocab *self, const KvasirGguf *gguf)
{
  mark_fills (self, gguf);
  mark_ends (self, gguf);
  mark_channels (self);
  mark_plain_ends (self);
  mark_strips (self, gguf);
}

static gsize
get_len (const KvasirVocab *self, guint32 id)
{
  return kvasir_text_table_get_len (&self->texts, id);
}

static const char *
get_text (const KvasirVocab *self, guint32 id)
{
  return kvasir_text_table_get (&self->texts, id);
}

/* Longest first, then by text, then by id. */
static int
compare_special (gconstpointer a, gconstpointer b, gpointer data)
{
  const KvasirVocab *self = data;
  guint32 id_a = *(const guint32 *) a;
  guint32 id_b = *(const guint32 *) b;
  gsize len_a = get_len (self, id_a);
  gsize len_b = get_len (self, id_b);
  int order;

  if (len_a != len_b)
    return len_a > len_b ? -1 : 1;
  order = memcmp (get_text (self, id_a), get_text (self, id_b), len_a);
  return order != 0 ? order : id_a < id_b ? -1 : 1;
}

static void
add_to_class (KvasirVocab *self, guint i)
{
  gsize len = get_len (self, self->special_ids[i]);
  const guint8 *text = (const guint8 *) get_text (self, self->special_ids[i]);
  KvasirSpecialClass *last = &self->special_classes[self->n_special_classes - 1];

  if (self->n_special_classes == 0 || last->len != len)
    {
      last = &self->special_classes[self->n_special_classes++];
      last->len = len;
      last->first_index = i;
    }
  last->n++;
  last->starts[text[0]] = 1;
  last->ends[text[len - 1]] = 1;
  self->special_starts[text[0]] = 1;
}

gboolean
kvasir_vocab_index_special (KvasirVocab *self, GError **error)
{
  gsize n = 0;
  gsize n_classes = 0;

  for (guint32 i = 0; i < self->n_tokens; i++)
    n += (self->flags[i] & KVASIR_TOKEN_SPECIAL) && get_len (self, i) > 0;
  if (n == 0)
    return TRUE;
  self->special_ids = g_try_new (guint32, n);
  if (!self->special_ids)
    return kvasir_vocab_no_memory (error);
  n = 0;
  for (guint32 i = 0; i < self->n_tokens; i++)
    if ((self->flags[i] & KVASIR_TOKEN_SPECIAL) && get_len (self, i) > 0)
      self->special_ids[n++] = i;
  g_qsort_with_data (self->special_ids, (int) n, sizeof (guint32), compare_special, self);
  for (gsize i = 0; i < n; i++)
    n_classes +=
        i == 0 || get_len (self, self->special_ids[i]) != get_len (self, self->special_ids[i - 1]);
  self->special_classes = g_try_new0 (KvasirSpecialClass, n_classes);
  if (!self->special_classes)
    return kvasir_vocab_no_memory (error);
  for (gsize i = 0; i < n; i++)
    add_to_class (self, (guint) i);
  return TRUE;
}

/* The special token of the class that @text is, the one of lowest id where two are equal. */
static guint32
find_in_class (const KvasirVocab *self, const KvasirSpecialClass *class, const char *text)
{
  const guint32 *ids = self->special_ids + class->first_index;
  guint low = 0;
  guint high = class->n;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (memcmp (get_text (self, ids[middle]), text, class->len) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  if (low < class->n && memcmp (get_text (self, ids[low]), text, class->len) == 0)
    return ids[low];
  return KVASIR_VOCAB_NO_ID;
}

/* A search for special tokens in a text. */
typedef struct
{
  const KvasirVocab *vocab;
  const char *text;
  gsize len;
  KvasirSpecialFilter filter;
  gpointer data;
  GArray *candidates; /* of gsize: where one may start */
  guint8 *taken;      /* [len] whether the byte is inside a match */
  GArray *matches;
} Search;

/* No longer match can lie strictly inside a shorter one, so two bytes tell whether the text is
 * still free. */
static void
search_class (const Search *search, const KvasirSpecialClass *class)
{
  for (guint i = 0; i < search->candidates->len; i++)
    {
      gsize offset = g_array_index (search->candidates, gsize, i);
      const guint8 *text = (const guint8 *) search->text + offset;
      KvasirSpecialMatch match = { offset, KVASIR_VOCAB_NO_ID };

      if (search->len - offset < class->len || !class->starts[text[0]] ||
          !class->ends[text[class->len - 1]] || search->taken[offset] ||
          search->taken[offset + class->len - 1])
        continue;
      match.id = find_in_class (search->vocab, class, search->text + offset);
      if (match.id == KVASIR_VOCAB_NO_ID ||
          !search->filter (search->data, match.id, offset, class->len))
        continue;
      memset (search->taken + offset, 1, class->len);
      g_array_append_val (search->matches, match);
    }
}

static int
compare_match (gconstpointer a, gconstpointer b)
{
  const KvasirSpecialMatch *match_a = a;
  const KvasirSpecialMatch *match_b = b;

  return match_a->offset < match_b->offset ? -1 : match_a->offset > match_b->offset;
}

GArray *
kvasir_vocab_match_special (
    const KvasirVocab *self, const char *text, gsize len, KvasirSpecialFilter filter, gpointer data)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_autofree guint8 *taken = NULL;
  Search search = { self, text, len, filter, data, candidates, NULL, NULL };

  search.matches = g_array_new (FALSE, FALSE, sizeof (KvasirSpecialMatch));
  for (gsize i = 0; i < len; i++)
    if (self->special_starts[(guint8) text[i]])
      g_array_append_val (candidates, i);
  if (candidates->len == 0)
    return search.matches;
  search.taken = taken = g_new0 (guint8, len);
  for (guint i = 0; i < self->n_special_classes; i++)
    search_class (&search, &self->special_classes[i]);
  g_array_sort (search.matches, compare_match);
  return search.matches;
}
