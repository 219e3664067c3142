/* engine/template/text.h - a string value: bytes that know where they come from
 *
 * Owner:  a heap. Thread: that of the heap; texts of a parsed template are never written again.
 * A text is immutable to its users. It is either flat (bytes and runs of origin) or a rope of two
 * texts that is joined when its bytes are first wanted, so that building a long text piece by piece
 * costs time in proportion to its length. Bytes are valid UTF-8 without a closing NUL.
 * Origins are those of KvasirTextSpan: 0 the template, i + 1 message i.
 */
#pragma once

#include "engine/template/heap.h"

G_BEGIN_DECLS

#define KVASIR_JINJA_ORIGIN_TEMPLATE 0

typedef struct _KvasirJinjaText KvasirJinjaText;
typedef struct _KvasirJinjaBuilder KvasirJinjaBuilder;

/* Bytes up to @end have this origin. The last run of a text may reach beyond it. */
typedef struct
{
  gsize end;
  guint origin;
} KvasirJinjaRun;

struct _KvasirJinjaText
{
  gsize len; /* bytes */
  gsize n_chars;
  const char *bytes;          /* (nullable): [len]; NULL while it is a rope */
  const KvasirJinjaRun *runs; /* (nullable): [n_runs]; NULL: all of @origin */
  guint n_runs;
  guint origin;
  guint hash;                  /* 0: not computed yet */
  KvasirJinjaText *left;       /* the halves of a rope */
  KvasirJinjaText *right;      /* (nullable) */
  KvasirJinjaBuilder *builder; /* (nullable): can take more at its end if nothing was added since */
};

struct _KvasirJinjaBuilder
{
  KvasirJinjaHeap *heap;
  char *bytes; /* [capacity], @len used */
  gsize len;
  gsize capacity;
  KvasirJinjaRun *runs;
  guint n_runs;
  guint runs_capacity;
};

/* A text of bytes that outlive the heap or belong to it; they are not copied. */
KvasirJinjaText *
kvasir_jinja_text_new (KvasirJinjaHeap *heap, const char *bytes, gsize len, guint origin);
KvasirJinjaText *kvasir_jinja_text_static (KvasirJinjaHeap *heap, const char *string);
/* NULL with a failure if the result would be too long. */
KvasirJinjaText *
kvasir_jinja_text_concat (KvasirJinjaHeap *heap, KvasirJinjaText *left, KvasirJinjaText *right);
/* The text's bytes, after joining a rope. */
const char *kvasir_jinja_text_bytes (KvasirJinjaHeap *heap, KvasirJinjaText *text);
/* A part, in bytes (between characters) or in characters. */
KvasirJinjaText *
kvasir_jinja_text_sub (KvasirJinjaHeap *heap, KvasirJinjaText *text, gsize from, gsize len);
KvasirJinjaText *
kvasir_jinja_text_sub_chars (KvasirJinjaHeap *heap, KvasirJinjaText *text, gsize from, gsize n);
/* @text must be flat. */
guint kvasir_jinja_text_origin (const KvasirJinjaText *text, gsize offset);

guint kvasir_jinja_text_hash (KvasirJinjaHeap *heap, KvasirJinjaText *text);
/* By code points, as Python: negative, 0 or positive. */
int kvasir_jinja_text_compare (KvasirJinjaHeap *heap, KvasirJinjaText *a, KvasirJinjaText *b);
gboolean kvasir_jinja_text_equal (KvasirJinjaHeap *heap, KvasirJinjaText *a, KvasirJinjaText *b);
gboolean kvasir_jinja_text_is (KvasirJinjaHeap *heap, KvasirJinjaText *text, const char *string);

/* Building: appending beyond the limit leaves a failure in the heap and adds nothing. */
void kvasir_jinja_builder_init (KvasirJinjaBuilder *self, KvasirJinjaHeap *heap);
void
kvasir_jinja_builder_append (KvasirJinjaBuilder *self, const char *bytes, gsize len, guint origin);
void kvasir_jinja_builder_append_static (KvasirJinjaBuilder *self, const char *string);
void kvasir_jinja_builder_append_char (KvasirJinjaBuilder *self, gunichar c, guint origin);
void kvasir_jinja_builder_append_text (KvasirJinjaBuilder *self, KvasirJinjaText *text);
void kvasir_jinja_builder_append_sub (KvasirJinjaBuilder *self,
                                      KvasirJinjaText *text,
                                      gsize from,
                                      gsize len);
void kvasir_jinja_builder_repeat (KvasirJinjaBuilder *self, char c, gsize n, guint origin);
/* NULL if the heap has a failure. */
KvasirJinjaText *kvasir_jinja_builder_finish (KvasirJinjaBuilder *self);

G_END_DECLS
