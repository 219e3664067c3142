/* engine/template/text-ops.h - what filters and methods do with texts
 *
 * Thread: that of the heap. Every byte of a result has the origin of the character it came from.
 * Functions that give a text give NULL with a failure.
 */
#pragma once

#include "engine/template/value.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_JINJA_STRIP_LEFT = 1,
  KVASIR_JINJA_STRIP_RIGHT = 2,
  KVASIR_JINJA_STRIP_BOTH = 3
} KvasirJinjaStrip;

KvasirJinjaText *kvasir_jinja_text_upper (KvasirJinjaHeap *heap, KvasirJinjaText *text);
KvasirJinjaText *kvasir_jinja_text_lower (KvasirJinjaHeap *heap, KvasirJinjaText *text);
/* The first character in title case, the rest lower. */
KvasirJinjaText *kvasir_jinja_text_capitalize (KvasirJinjaHeap *heap, KvasirJinjaText *text);
/* str.title(): a word starts behind anything that has no case. */
KvasirJinjaText *kvasir_jinja_text_title (KvasirJinjaHeap *heap, KvasirJinjaText *text);
/* The filter title: a word starts behind white space and "-({[<". */
KvasirJinjaText *kvasir_jinja_text_title_words (KvasirJinjaHeap *heap, KvasirJinjaText *text);

/* @chars: (nullable): white space */
KvasirJinjaText *kvasir_jinja_text_strip (KvasirJinjaHeap *heap,
                                          KvasirJinjaText *text,
                                          KvasirJinjaText *chars,
                                          KvasirJinjaStrip sides);
/* @limit: replacements at most, negative: all. An empty @old stands between all characters. */
KvasirJinjaText *kvasir_jinja_text_replace (KvasirJinjaHeap *heap,
                                            KvasirJinjaText *text,
                                            KvasirJinjaText *old,
                                            KvasirJinjaText *new_text,
                                            gint64 limit);
/* Byte offset of the first (last) @needle within [from, to), or -1. */
gssize kvasir_jinja_text_find (
    KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *needle, gsize from, gsize to);
gssize kvasir_jinja_text_find_last (
    KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *needle, gsize from, gsize to);
gboolean kvasir_jinja_text_has_prefix (KvasirJinjaHeap *heap,
                                       KvasirJinjaText *text,
                                       KvasirJinjaText *prefix);
gboolean kvasir_jinja_text_has_suffix (KvasirJinjaHeap *heap,
                                       KvasirJinjaText *text,
                                       KvasirJinjaText *suffix);

/* @separator: (nullable): runs of white space. @limit: splits at most, negative: all; counted from
 * the right if @from_right. NULL with a failure. */
KvasirJinjaList *kvasir_jinja_text_split (KvasirJinjaHeap *heap,
                                          KvasirJinjaText *text,
                                          KvasirJinjaText *separator,
                                          gint64 limit,
                                          gboolean from_right);
KvasirJinjaList *
kvasir_jinja_text_lines (KvasirJinjaHeap *heap, KvasirJinjaText *text, gboolean keep_ends);
/* The items of @items as texts with @text between. */
KvasirJinjaText *
kvasir_jinja_text_join (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaValue items);

G_END_DECLS
