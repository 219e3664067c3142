#include "engine/vocab/pretokenizer.h"

#include "engine/vocab/utf8.h"

#include <string.h>

enum
{
  CODE_POINT = (1 << 21) - 1,
  CATEGORY_SHIFT = 23,
  CATEGORY_MASK = 31,
  SPACE = 1 << 28,
  LETTER = 1 << 29,
  NUMBER = 1 << 30,
  WORD = LETTER | NUMBER,
};

/* Length in characters of the match at the start of the @n > 0 characters, 0 for none. */
typedef gsize (*ScanFunc) (const KvasirChar *chars, gsize n, guint max_digits);

typedef struct
{
  ScanFunc scan;
  guint max_digits; /* in one number */
} Step;

#define MAX_STEPS 4

struct _KvasirPreTokenizer
{
  const char *name;
  Step steps[MAX_STEPS];
  gboolean ignores_merges;
  gboolean adds_bos;
  gboolean cleans_spaces;
};

static gunichar
code_point (KvasirChar c)
{
  return c & CODE_POINT;
}

static GUnicodeType
category (KvasirChar c)
{
  return (GUnicodeType) (c >> CATEGORY_SHIFT & CATEGORY_MASK);
}

/* \s of the expressions is Unicode's White_Space: the separators and some controls. */
static KvasirChar
classify (gunichar c, gsize n_bytes)
{
  GUnicodeType type = g_unichar_type (c);
  KvasirChar packed = c | (KvasirChar) (n_bytes - 1) << 21 | (KvasirChar) type << CATEGORY_SHIFT;

  switch (type)
    {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
      return packed | LETTER;
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
      return packed | NUMBER;
    case G_UNICODE_SPACE_SEPARATOR:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return packed | SPACE;
    default:
      return (c >= '\t' && c <= '\r') || c == 0x85 ? packed | SPACE : packed;
    }
}

gsize
kvasir_chars_decode (const char *text, gsize len, KvasirChar *chars)
{
  const guint8 *bytes = (const guint8 *) text;
  gsize n = 0;

  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n_bytes = kvasir_utf8_read (bytes + i, len - i, &c);

      if (n_bytes <= 0)
        {
          c = 0xfffd;
          n_bytes = 1;
        }
      chars[n++] = classify (c, (gsize) n_bytes);
      i += (gsize) n_bytes;
    }
  return n;
}

/* How many characters from the start have one of @flags. */
static gsize
count_with (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) != 0)
    i++;
  return i;
}

/* The same for none of @flags. */
static gsize
count_without (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) == 0)
    i++;
  return i;
}

static gboolean
is_line_end (KvasirChar c)
{
  return code_point (c) == '\r' || code_point (c) == '\n';
}

/* 's 't 're 've 'm 'll 'd; letters of either case where @fold is set. */
static gsize
scan_contraction (const KvasirChar *chars, gsize n, gboolean fold)
{
  static const char endings[][3] = { "s", "t", "re", "ve", "m", "ll", "d" };

  if (code_point (chars[0]) != '\'')
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      gsize len = strlen (endings[i]);
      gsize k = 0;

      for (; k < len && k + 1 < n; k++)
        {
          gunichar c = code_point (chars[k + 1]);

          if (fold && c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
          if (c != (gunichar) endings[i][k])
            break;
        }
      if (k == len)
        return len + 1;
    }
  return 0;
}

/* \s+(?!\S): white space up to the end, or all but its last character. */
static gsize
scan_space_before_space (const KvasirChar *chars, gsize n)
{
  gsize n_space = count_with (chars, n, SPACE);

  return n_space == n || n_space == 0 ? n_space : n_space - 1;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S) */
static gsize
scan_gpt2 (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = scan_contraction (chars, n, FALSE);
  gsize start = code_point (chars[0]) == ' ' && n > 1 && !(chars[1] & SPACE) ? 1 : 0;
  KvasirChar first = chars[start];

  if (n_contraction > 0)
    return n_contraction;
  if (first & SPACE)
    return scan_space_before_space (chars, n);
  if (first & LETTER)
    return start + count_with (chars + start, n - start, LETTER);
  if (first & NUMBER)
    return start + count_with (chars + start, n - start, NUMBER);
  return start + count_without (chars + start, n - start, SPACE | WORD);
}

/* [^\r\n\p{L}\p{N}]?, the one character that may stand before a word. */
static gsize
scan_word_prefix (KvasirChar c)
{
  return !(c & WORD) && !is_line_end (c) ? 1 : 0;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static gsize
scan_space (const KvasirChar *chars, gsize n)
{
  gsize n_space = count_with (chars, n, SPACE);
  gsize n_lines = n_space;
  gsize n_before;

  while (n_lines > 0 && !is_line_end (chars[n_lines - 1]))
    n_lines--;
  if (n_lines > 0)
    return n_lines;
  n_before = scan_space_before_space (chars, n);
  return n_before > 0 ? n_before : n_space;
}

/* ` ?[^\s\p{L}\p{N}]+` and then characters out of @tail. */
static gsize
scan_symbols (const KvasirChar *chars, gsize n, const char *tail)
{
  gsize start = code_point (chars[0]) == ' ' ? 1 : 0;
  gsize end = start + count_without (chars + start, n - start, SPACE | WORD);

  if (end == start)
    return 0;
  while (end < n && code_point (chars[end]) < 0x80 && code_point (chars[end]) != 0 &&
         strchr (tail, (int) code_point (chars[end])))
    end++;
  return end;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max}| ?[^\s\p{L}\p{N}]+[\r\n]*
 * |\s*[\r\n]+|\s+(?!\S)|\s+ */
static gsize
scan_llama3 (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = scan_contraction (chars, n, TRUE);
  gsize start = scan_word_prefix (chars[0]);
  gsize n_letters = count_with (chars + start, n - start, LETTER);
  gsize n_symbols;

  if (n_contraction > 0)
    return n_contraction;
  if (n_letters > 0)
    return start + n_letters;
  if (chars[0] & NUMBER)
    return count_with (chars, MIN (n, max_digits), NUMBER);
  n_symbols = scan_symbols (chars, n, "\r\n");
  return n_symbols > 0 ? n_symbols : scan_space (chars, n);
}

/* \p{N}{1,max} */
static gsize
scan_number (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_with (chars, MIN (n, max_digits), NUMBER);
}

/* [0-9][0-9][0-9] */
static gsize
scan_three_digits (const KvasirChar *chars, gsize n, guint max_digits)
{
  if (n < 3)
    return 0;
  for (gsize i = 0; i < 3; i++)
    if (code_point (chars[i]) < '0' || code_point (chars[i]) > '9')
      return 0;
  return 3;
}

static gboolean
is_punctuation (KvasirChar c)
{
  switch (category (c))
    {
    case G_UNICODE_CONNECT_PUNCTUATION:
    case G_UNICODE_DASH_PUNCTUATION:
    case G_UNICODE_CLOSE_PUNCTUATION:
    case G_UNICODE_FINAL_PUNCTUATION:
    case G_UNICODE_INITIAL_PUNCTUATION:
    case G_UNICODE_OTHER_PUNCTUATION:
    case G_UNICODE_OPEN_PUNCTUATION:
      return TRUE;
    default:
      return FALSE;
    }
}

static gsize
count_punctuation (const KvasirChar *chars, gsize n, const char *others)
{
  gsize i = 0;

  while (i < n && (is_punctuation (chars[i]) ||
                   (code_point (chars[i]) > ' ' && code_point (chars[i]) < 0x80 &&
                    strchr (others, (int) code_point (chars[i])))))
    i++;
  return i;
}

/* [\p{P}\$\+<=>\^~\|]+ */
static gsize
scan_punctuation (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_punctuation (chars, n, "$+<=>^~|");
}

/* [\p{P}\$\+<=>\^~\|`]+ */
static gsize
scan_punctuation_falcon (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_punctuation (chars, n, "$+<=>^~|`");
}

#define GPT2(name_)                                                                                \
  {                                                                                                \
    .name = name_, .steps = { { scan_gpt2, 0 } }, .cleans_spaces = TRUE                            \
  }
#define DIGITS_GPT2(name_, cleans_)                                                                \
  {                                                                                                \
    .name = name_, .steps = { { scan_number, 1 }, { scan_gpt2, 0 } }, .cleans_spaces = cleans_     \
  }
#define LLAMA3(name_)                                                                              \
  {                                                                                                \
    .name = name_, .steps = { { scan_llama3, 3 } }, .ignores_merges = TRUE, .adds_bos = TRUE,      \
    .cleans_spaces = TRUE                                                                          \
  }
#define LLAMA3_PLAIN(name_, digits_, cleans_)                                                      \
  {                                                                                                \
    .name = name_, .steps = { { scan_llama3, digits_ } }, .cleans_spaces = cleans_                 \
  }

static const KvasirPreTokenizer pre_tokenizers[] = {
  { .name = "default",
    .steps = { { scan_punctuation, 0 },
               { scan_gpt2, 0 },
               { scan_number, G_MAXUINT },
               { scan_three_digits, 0 } },
    .cleans_spaces = TRUE },
  { .name = "falcon",
    .steps = { { scan_punctuation_falcon, 0 }, { scan_gpt2, 0 }, { scan_three_digits, 0 } },
    .cleans_spaces = TRUE },
  GPT2 ("gpt-2"),
  GPT2 ("phi-2"),
  GPT2 ("mpt"),
  GPT2 ("olmo"),
  GPT2 ("jais"),
  GPT2 ("gigachat"),
  GPT2 ("modern-bert"),
  GPT2 ("roberta-bpe"),
  DIGITS_GPT2 ("smollm", FALSE),
  DIGITS_GPT2 ("command-r", FALSE),
  DIGITS_GPT2 ("starcoder", TRUE),
  DIGITS_GPT2 ("refact", TRUE),
  DIGITS_GPT2 ("codeshell", TRUE),
  DIGITS_GPT2 ("exaone", TRUE),
  DIGITS_GPT2 ("minerva", TRUE),
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

typedef struct
{
  const KvasirPreTokenizer *self;
  KvasirPieceFunc func;
  gpointer data;
} Split;

/* Each step splits the pieces of the one before; text between its matches stays a piece. Recursive
 * over steps, so at most MAX_STEPS deep. */
static gboolean
split_step (const Split *split, gsize step, const KvasirChar *chars, gsize n)
{
  gsize start = 0;
  gsize len;

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
