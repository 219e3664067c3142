#include "engine/vocab/pretokenizer.h"

#include <string.h>

/* Steps that are no scanners. */
typedef enum
{
  NOTHING_ELSE,
  SPACE_AT_END,  /* only the white space at the end of a piece becomes one of its own */
  AFTER_GROUPS,  /* cuts behind groups of three digits, which count from the end of a number */
  BEFORE_GROUPS, /* cuts in front of groups of three digits 0 to 9 */
} OtherStep;

typedef struct
{
  KvasirScanFunc scan;
  guint max_digits; /* in one number */
  OtherStep other;  /* instead of @scan */
} Step;

#define MAX_STEPS 6

struct _KvasirPreTokenizer
{
  const char *name;
  Step steps[MAX_STEPS];
  gboolean ignores_merges;
  gboolean adds_bos;
  gboolean cleans_spaces;
  gboolean has_plain_texts; /* tokens are text, and no mapped bytes */
  gboolean escapes_spaces;  /* with U+2581 for a space */
};

#define GPT2(name_)                                                                                \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_gpt2, 0 } }, .cleans_spaces = TRUE                     \
  }
#define DIGITS_GPT2(name_, cleans_)                                                                \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_number, 1 }, { kvasir_scan_gpt2, 0 } },                \
    .cleans_spaces = cleans_                                                                       \
  }
#define LLAMA3(name_)                                                                              \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_llama3, 3 } }, .ignores_merges = TRUE,                 \
    .adds_bos = TRUE, .cleans_spaces = TRUE                                                        \
  }
#define LLAMA3_PLAIN(name_, digits_, cleans_)                                                      \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_llama3, digits_ } }, .cleans_spaces = cleans_          \
  }

#define GLM4(name_)                                                                                \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_llama3, 3 } }, .ignores_merges = TRUE,                 \
    .cleans_spaces = TRUE                                                                          \
  }
#define GPT4O(name_)                                                                               \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_gpt4o, 3 } }                                           \
  }

#define DEEPSEEK_V3(name_)                                                                         \
  {                                                                                                \
    .name = name_, .steps = {                                                                      \
      { kvasir_scan_number, 3 },                                                                   \
      { kvasir_scan_cjk_kana, 0 },                                                                 \
      { kvasir_scan_deepseek_v3, 0 }                                                               \
    }                                                                                              \
  }
#define TINY_AYA(name_)                                                                            \
  {                                                                                                \
    .name = name_, .steps = { { .other = AFTER_GROUPS }, { kvasir_scan_tiny_aya, 3 } }             \
  }
#define BLOOM(name_, cleans_)                                                                      \
  {                                                                                                \
    .name = name_, .steps = { { kvasir_scan_bloom, 0 } }, .cleans_spaces = cleans_                 \
  }

static const KvasirPreTokenizer pre_tokenizers[] = {
  { .name = "default",
    .steps = { { kvasir_scan_punctuation, 0 },
               { kvasir_scan_gpt2, 0 },
               { kvasir_scan_number, G_MAXUINT },
               { kvasir_scan_three_digits, 0 } },
    .cleans_spaces = TRUE },
  { .name = "falcon",
    .steps = { { kvasir_scan_punctuation_falcon, 0 },
               { kvasir_scan_gpt2, 0 },
               { kvasir_scan_three_digits, 0 } },
    .cleans_spaces = TRUE },
  GPT2 ("gpt-2"),
  GPT2 ("phi-2"),
  GPT2 ("mpt"),
  GPT2 ("olmo"),
  GPT2 ("jais"),
  GPT2 ("gigachat"),
  GPT2 ("modern-bert"),
  GPT2 ("roberta-bpe"),
  GPT2 ("jina-v1-en"),
  GPT2 ("jina-v2-code"),
  GPT2 ("jina-v2-de"),
  GPT2 ("jina-v2-es"),
  GPT2 ("jina-de"),
  GPT2 ("jina-es"),
  GPT2 ("a.x-4.0"),
  GPT2 ("mellum"),
  GPT2 ("exaone4"),
  { .name = "granite-docling", .steps = { { kvasir_scan_gpt2, 0 } } },
  { .name = "trillion", .steps = { { kvasir_scan_gpt2, 0 } } },
  DIGITS_GPT2 ("smollm", FALSE),
  DIGITS_GPT2 ("command-r", FALSE),
  DIGITS_GPT2 ("starcoder", TRUE),
  DIGITS_GPT2 ("refact", TRUE),
  DIGITS_GPT2 ("codeshell", TRUE),
  DIGITS_GPT2 ("exaone", TRUE),
  DIGITS_GPT2 ("minerva", TRUE),
  DIGITS_GPT2 ("minerva-7b", TRUE),
  DIGITS_GPT2 ("mellum2", TRUE),
  LLAMA3 ("llama-bpe"),
  LLAMA3 ("llama3"),
  LLAMA3 ("llama-v3"),
  LLAMA3 ("falcon3"),
  LLAMA3 ("falcon-h1"),
  LLAMA3 ("pixtral"),
  LLAMA3 ("midm-2.0"),
  LLAMA3 ("lfm2"),
  LLAMA3 ("jina-v5-nano"),
  LLAMA3_PLAIN ("dbrx", 3, TRUE),
  LLAMA3_PLAIN ("smaug-bpe", 3, TRUE),
  LLAMA3_PLAIN ("chatglm-bpe", 3, TRUE),
  GLM4 ("glm4"),
  GLM4 ("glm5"),
  LLAMA3_PLAIN ("qwen2", 1, FALSE),
  LLAMA3_PLAIN ("f2llmv2", 1, FALSE),
  LLAMA3_PLAIN ("megrez", 1, TRUE),
  LLAMA3_PLAIN ("llada-moe", 1, FALSE),
  LLAMA3_PLAIN ("deepseek-r1-qwen", 1, FALSE),
  LLAMA3_PLAIN ("stablelm2", 1, TRUE),
  LLAMA3_PLAIN ("hunyuan", 1, FALSE),
  LLAMA3_PLAIN ("kormo", 1, FALSE),
  LLAMA3_PLAIN ("solar-open", 1, FALSE),
  LLAMA3_PLAIN ("grok-2", 1, FALSE),
  LLAMA3_PLAIN ("bailingmoe", 1, FALSE),
  LLAMA3_PLAIN ("bailingmoe2", 1, FALSE),
  { .name = "seed-coder", .steps = { { kvasir_scan_seed_coder, 1 } } },
  { .name = "qwen35", .steps = { { kvasir_scan_qwen35, 1 } } },
  { .name = "deepseek-llm",
    .steps = { { kvasir_scan_line_end, 0 },
               { kvasir_scan_cased_letters, 0 },
               { kvasir_scan_wide_punctuation, 0 },
               { .other = SPACE_AT_END },
               { kvasir_scan_cjk_hangul, 0 },
               { kvasir_scan_number, G_MAXUINT } } },
  { .name = "deepseek-coder",
    .steps = { { kvasir_scan_line_end, 0 },
               { kvasir_scan_letters, 0 },
               { kvasir_scan_spaced_punctuation, 0 },
               { kvasir_scan_cjk_hangul, 0 },
               { kvasir_scan_number, 1 } } },
  DEEPSEEK_V3 ("deepseek-v3"),
  DEEPSEEK_V3 ("hunyuan-dense"),
  DEEPSEEK_V3 ("joyai-llm"),
  { .name = "tekken",
    .steps = { { kvasir_scan_tekken, 1 } },
    .ignores_merges = TRUE,
    .adds_bos = TRUE },
  BLOOM ("bloom", TRUE),
  BLOOM ("gpt3-finnish", TRUE),
  BLOOM ("poro-chat", FALSE),
  { .name = "viking", .steps = { { kvasir_scan_bloom, 0 }, { kvasir_scan_number, 1 } } },
  { .name = "gemma4",
    .steps = { { kvasir_scan_lines, 0 } },
    .adds_bos = TRUE,
    .cleans_spaces = TRUE,
    .has_plain_texts = TRUE,
    .escapes_spaces = TRUE },
  { .name = "sarvam-moe",
    .steps = { { kvasir_scan_lines, 0 } },
    .cleans_spaces = TRUE,
    .has_plain_texts = TRUE,
    .escapes_spaces = TRUE },
  { .name = "granite-embed-multi-311m",
    .steps = { { kvasir_scan_lines, 0 } },
    .adds_bos = TRUE,
    .cleans_spaces = TRUE,
    .has_plain_texts = TRUE,
    .escapes_spaces = TRUE },
  GPT4O ("gpt-4o"),
  GPT4O ("llama4"),
  GPT4O ("kanana2"),
  GPT4O ("minimax-m2"),
  GPT4O ("talkie"),
  { .name = "granite-embed-multi-97m",
    .steps = { { kvasir_scan_granite_embed, 3 } },
    .ignores_merges = TRUE },
  { .name = "ufakzeka", .steps = { { kvasir_scan_ufakzeka, 1 } } },
  { .name = "kimi-k2", .steps = { { kvasir_scan_kimi, 3 } } },
  { .name = "exaone-moe", .steps = { { kvasir_scan_exaone_moe, 1 } }, .cleans_spaces = TRUE },
  { .name = "jais-2",
    .steps = { { kvasir_scan_llama3, 3 }, { kvasir_scan_powers_of_two, 0 } },
    .cleans_spaces = TRUE },
  { .name = "laguna", .steps = { { kvasir_scan_lines, 0 }, { kvasir_scan_llama3, 1 } } },
  { .name = "minicpm5",
    .steps = { { kvasir_scan_number, 3 }, { kvasir_scan_llama3, 3 } },
    .ignores_merges = TRUE,
    .cleans_spaces = TRUE },
  { .name = "superbpe",
    .steps = { { kvasir_scan_number, G_MAXUINT }, { .other = BEFORE_GROUPS } } },
  { .name = "afmoe",
    .steps = { { .other = AFTER_GROUPS },
               { kvasir_scan_asian, 0 },
               { kvasir_scan_deepseek_v3, 0 } } },
  { .name = "whitespace",
    .steps = { { kvasir_scan_non_space, 0 } },
    .cleans_spaces = TRUE,
    .has_plain_texts = TRUE },
  TINY_AYA ("tiny_aya"),
  TINY_AYA ("cohere2moe"),
  { .name = "youtu",
    .steps = { { kvasir_scan_youtu, 0 }, { kvasir_scan_tiny_aya, 1 } },
    .ignores_merges = TRUE },
  { .name = "chameleon",
    .steps = { { kvasir_scan_sentinel, 0 },
               { kvasir_scan_image, 0 },
               { kvasir_scan_indent, 0 },
               { kvasir_scan_number, 1 },
               { kvasir_scan_one_mark, 0 },
               { kvasir_scan_gpt2, 0 } },
    .adds_bos = TRUE },
};

const KvasirPreTokenizer *
kvasir_pre_tokenizer_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pre_tokenizers); i++)
    if (strcmp (pre_tokenizers[i].name, name) == 0)
      return &pre_tokenizers[i];
  return NULL;
}

gboolean
kvasir_pre_tokenizer_ignores_merges (const KvasirPreTokenizer *self)
{
  return self->ignores_merges;
}

gboolean
kvasir_pre_tokenizer_adds_bos (const KvasirPreTokenizer *self)
{
  return self->adds_bos;
}

gboolean
kvasir_pre_tokenizer_cleans_spaces (const KvasirPreTokenizer *self)
{
  return self->cleans_spaces;
}

gboolean
kvasir_pre_tokenizer_has_plain_texts (const KvasirPreTokenizer *self)
{
  return self->has_plain_texts;
}

gboolean
kvasir_pre_tokenizer_escapes_spaces (const KvasirPreTokenizer *self)
{
  return self->escapes_spaces;
}

typedef struct
{
  const KvasirPreTokenizer *self;
  KvasirPieceFunc func;
  gpointer data;
} Split;

static gboolean split_step (const Split *split, gsize step, const KvasirChar *chars, gsize n);

static gboolean
split_end (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  gsize end = kvasir_find_space_at_end (chars, n);

  if (end > 0 && !split_step (split, step + 1, chars, end))
    return FALSE;
  return end == n || split_step (split, step + 1, chars + end, n - end);
}

static gboolean
is_digit (OtherStep kind, KvasirChar c)
{
  return kind == AFTER_GROUPS ? kvasir_char_is_number (c) : kvasir_char_is_ascii_digit (c);
}

/* What is before a number stays with its first group where only the ends of groups are cut. */
static gboolean
split_groups (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  OtherStep kind = split->self->steps[step].other;
  gsize start = 0;
  gsize end;

  for (gsize i = 0; i < n; i = end)
    {
      gsize cut;

      for (end = i; end < n && is_digit (kind, chars[end]);)
        end++;
      cut = i + (end - i) % 3;
      if (kind == AFTER_GROUPS && cut == i)
        cut += 3;
      for (; cut < end + (kind == AFTER_GROUPS); cut += 3)
        {
          if (cut > start && !split_step (split, step + 1, chars + start, cut - start))
            return FALSE;
          start = MAX (start, cut);
        }
      end = MAX (end, i + 1);
    }
  return start == n || split_step (split, step + 1, chars + start, n - start);
}

/* Each step splits the pieces of the one before; text between its matches stays a piece. */
static gboolean
split_matches (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  const Step *rule = &split->self->steps[step];
  gsize start = 0;
  gsize len;

  for (gsize i = 0; i < n; i += MAX (len, 1))
    {
      len = rule->scan (chars + i, n - i, rule->max_digits);
      if (len == 0)
        continue;
      if (i > start && !split_step (split, step + 1, chars + start, i - start))
        return FALSE;
      if (!split_step (split, step + 1, chars + i, len))
        return FALSE;
      start = i + len;
    }
  return start == n || split_step (split, step + 1, chars + start, n - start);
}

/* Recursive over steps, so at most MAX_STEPS deep. */
static gboolean
split_step (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  const Step *rule = &split->self->steps[step];

  if (step == MAX_STEPS)
    return split->func (split->data, chars, n);
  switch (rule->other)
    {
    case SPACE_AT_END:
      return split_end (split, step, chars, n);
    case AFTER_GROUPS:
    case BEFORE_GROUPS:
      return split_groups (split, step, chars, n);
    default:
      return rule->scan ? split_matches (split, step, chars, n)
                        : split->func (split->data, chars, n);
    }
}

gboolean
kvasir_pre_tokenizer_split (const KvasirPreTokenizer *self,
                            const KvasirChar *chars,
                            gsize n,
                            KvasirPieceFunc func,
                            gpointer data)
{
  Split split = { self, func, data };

  return split_step (&split, 0, chars, n);
}
