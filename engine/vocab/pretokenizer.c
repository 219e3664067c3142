#include "engine/vocab/pretokenizer.h"

#include <string.h>

typedef struct
{
  KvasirScanFunc scan;
  guint max_digits; /* in one number */
  /* Instead of @scan: only the white space at the end of a piece becomes one of its own. */
  gboolean at_end;
} Step;

#define MAX_STEPS 6

struct _KvasirPreTokenizer
{
  const char *name;
  Step steps[MAX_STEPS];
  gboolean ignores_merges;
  gboolean adds_bos;
  gboolean cleans_spaces;
  gboolean escapes_spaces; /* tokens are text, with U+2581 for a space, and no mapped bytes */
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
  LLAMA3_PLAIN ("glm4", 3, TRUE),
  LLAMA3_PLAIN ("chatglm-bpe", 3, TRUE),
  LLAMA3_PLAIN ("qwen2", 1, FALSE),
  LLAMA3_PLAIN ("deepseek-r1-qwen", 1, FALSE),
  LLAMA3_PLAIN ("stablelm2", 1, FALSE),
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
               { .at_end = TRUE },
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
    .escapes_spaces = TRUE },
  GPT4O ("gpt-4o"),
  GPT4O ("llama4"),
  GPT4O ("kanana2"),
  GPT4O ("minimax-m2"),
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

/* Each step splits the pieces of the one before; text between its matches stays a piece. Recursive
 * over steps, so at most MAX_STEPS deep. */
static gboolean
split_step (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  gsize start = 0;
  gsize len;

  if (step < MAX_STEPS && split->self->steps[step].at_end)
    return split_end (split, step, chars, n);
  if (step == MAX_STEPS || !split->self->steps[step].scan)
    return split->func (split->data, chars, n);
  for (gsize i = 0; i < n; i += MAX (len, 1))
    {
      const Step *rule = &split->self->steps[step];

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
