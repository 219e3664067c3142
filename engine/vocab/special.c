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
