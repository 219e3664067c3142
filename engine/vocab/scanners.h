/* engine/vocab/scanners.h - the regular expressions of pre-tokenizers, written by hand
 *
 * Each function matches one expression at the start of @n > 0 characters and returns the length of
 * the match in characters, 0 for none. @max_digits bounds the expressions that group digits.
 * Thread: any, pure.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A character with what scanners ask of it, in 32 bits: code point (21 bits), length in bytes - 1
 * (2 bits), general category (5 bits), white space, letter, number. A byte that is no UTF-8 counts
 * as U+FFFD of length 1, so that every byte of the text belongs to exactly one character. */
typedef guint32 KvasirChar;

/* Decodes @text into @chars, which has room for @len. Returns: the number of characters */
gsize kvasir_chars_decode (const char *text, gsize len, KvasirChar *chars);

static inline gsize
kvasir_char_get_bytes (KvasirChar c)
{
  return (c >> 21 & 3) + 1;
}

/* \p{N}, and [0-9] */
gboolean kvasir_char_is_number (KvasirChar c);
gboolean kvasir_char_is_ascii_digit (KvasirChar c);

typedef gsize (*KvasirScanFunc) (const KvasirChar *chars, gsize n, guint max_digits);

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S) */
gsize kvasir_scan_gpt2 (const KvasirChar *chars, gsize n, guint max_digits);
/* (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max}| ?[^\s\p{L}\p{N}]+[\r\n]*
 * |\s*[\r\n]+|\s+(?!\S)|\s+ */
gsize kvasir_scan_llama3 (const KvasirChar *chars, gsize n, guint max_digits);
/* The same without [\r\n]* behind symbols. */
gsize kvasir_scan_seed_coder (const KvasirChar *chars, gsize n, guint max_digits);
/* As Llama 3, with [\p{L}\p{M}]+ for words and no \p{M} among symbols. */
gsize kvasir_scan_qwen35 (const KvasirChar *chars, gsize n, guint max_digits);
/* As Llama 3, without contractions. */
gsize kvasir_scan_ufakzeka (const KvasirChar *chars, gsize n, guint max_digits);
/* [^\r\n\p{L}\p{N}]?(U*W+|U+W*)(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,max}
 * | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
gsize kvasir_scan_gpt4o (const KvasirChar *chars, gsize n, guint max_digits);
/* The same without contractions. */
gsize kvasir_scan_tekken (const KvasirChar *chars, gsize n, guint max_digits);
/* As GPT-4o, with marks among the letters of both cases. */
gsize kvasir_scan_granite_embed (const KvasirChar *chars, gsize n, guint max_digits);
/* As GPT-4o, with [\p{L}\p{M}]+ for words. */
gsize kvasir_scan_tiny_aya (const KvasirChar *chars, gsize n, guint max_digits);
/* \p{N}{1,max} */
gsize kvasir_scan_number (const KvasirChar *chars, gsize n, guint max_digits);
/* [0-9][0-9][0-9] */
gsize kvasir_scan_three_digits (const KvasirChar *chars, gsize n, guint max_digits);
/* [\p{P}\$\+<=>\^~\|]+ */
gsize kvasir_scan_punctuation (const KvasirChar *chars, gsize n, guint max_digits);
/* [\p{P}\$\+<=>\^~\|`]+ */
gsize kvasir_scan_punctuation_falcon (const KvasirChar *chars, gsize n, guint max_digits);

/* ---- scanners-models.c: of single models --------------------------------------------------- */

/* ` ?[^(\s|.,!?…。，、।۔،)]+` */
gsize kvasir_scan_bloom (const KvasirChar *chars, gsize n, guint max_digits);
/* [^\n]+|[\n]+ */
gsize kvasir_scan_lines (const KvasirChar *chars, gsize n, guint max_digits);
/* [\r\n] */
gsize kvasir_scan_line_end (const KvasirChar *chars, gsize n, guint max_digits);
/* \s?\p{L}+ */
gsize kvasir_scan_letters (const KvasirChar *chars, gsize n, guint max_digits);
/* \s?\p{P}+ */
gsize kvasir_scan_spaced_punctuation (const KvasirChar *chars, gsize n, guint max_digits);
/* \s? and letters of cased scripts, by the list of DeepSeek LLM */
gsize kvasir_scan_cased_letters (const KvasirChar *chars, gsize n, guint max_digits);
/* \s?[!-/:-~！-／：-～‘-‟　-。]+ */
gsize kvasir_scan_wide_punctuation (const KvasirChar *chars, gsize n, guint max_digits);
/* [一-龥ࠀ-一가-\x{D7FF}]+ */
gsize kvasir_scan_cjk_hangul (const KvasirChar *chars, gsize n, guint max_digits);
/* [一-龥぀-ゟ゠-ヿ]+ */
gsize kvasir_scan_cjk_kana (const KvasirChar *chars, gsize n, guint max_digits);
/* [!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+
 * |\s+(?!\S)|\s+, the first without letters and digits */
gsize kvasir_scan_deepseek_v3 (const KvasirChar *chars, gsize n, guint max_digits);
/* ---- scanners-later.c: of more models ------------------------------------------------------ */

/* (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(\p{L}\p{M}*( \p{L}\p{M}*)*)+|\p{N}
 * | ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+ */
gsize kvasir_scan_exaone_moe (const KvasirChar *chars, gsize n, guint max_digits);
/* Of a piece that is white space without a line end at its end: \s{512}|\s{256}|...|\s{2}|\s; of
 * others all. Behind the expressions of Llama 3 it gives those of Jais 2. */
gsize kvasir_scan_powers_of_two (const KvasirChar *chars, gsize n, guint max_digits);
/* \p{Han}+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,max}
 * | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
gsize kvasir_scan_kimi (const KvasirChar *chars, gsize n, guint max_digits);
/* [가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+
 */
gsize kvasir_scan_youtu (const KvasirChar *chars, gsize n, guint max_digits);
/* Letters of Asian scripts, by the list of AFMoE */
gsize kvasir_scan_asian (const KvasirChar *chars, gsize n, guint max_digits);
/* <sentinel:[0-9]+> */
gsize kvasir_scan_sentinel (const KvasirChar *chars, gsize n, guint max_digits);
/* IMGIMG[A-I]{1,4}Z */
gsize kvasir_scan_image (const KvasirChar *chars, gsize n, guint max_digits);
/* [\t\n]|    |  (four blanks, or two) */
gsize kvasir_scan_indent (const KvasirChar *chars, gsize n, guint max_digits);
/* [\p{P}!-/:-@\[-`{-~] */
gsize kvasir_scan_one_mark (const KvasirChar *chars, gsize n, guint max_digits);
/* \S+ */
gsize kvasir_scan_non_space (const KvasirChar *chars, gsize n, guint max_digits);

/* \s+$, but where the match starts: in front of all the white space at the end. Looking for it from
 * every place would take the square of the time. */
gsize kvasir_find_space_at_end (const KvasirChar *chars, gsize n);

G_END_DECLS
