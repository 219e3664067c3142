/* Upper, lower and title case. */
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

#include <string.h>

#define CAPITAL_SIGMA 0x3A3
#define FINAL_SIGMA 0x3C2

typedef struct
{
  KvasirJinjaHeap *heap;
  KvasirJinjaText *text;
  const char *bytes;
  KvasirJinjaBuilder out;
} Mapper;

typedef gsize (*MapFunc) (gunichar c, char out[KVASIR_JINJA_CASE_BYTES]);

static void
mapper_init (Mapper *self, KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  self->heap = heap;
  self->text = text;
  self->bytes = kvasir_jinja_text_bytes (heap, text);
  kvasir_jinja_builder_init (&self->out, heap);
}

/* Appends the character at @at, mapped; returns the offset of the next. */
static gsize
map_char (Mapper *self, gsize at, MapFunc map)
{
  char mapped[KVASIR_JINJA_CASE_BYTES];
  gsize len = map (g_utf8_get_char (self->bytes + at), mapped);
  kvasir_jinja_builder_append (&self->out, mapped, len, kvasir_jinja_text_origin (self->text, at));
  return at + g_utf8_skip[(guchar) self->bytes[at]];
}

/* A sigma is final between a letter and none. */
static gboolean
is_final_sigma (const Mapper *self, gsize at)
{
  gsize next = at + g_utf8_skip[(guchar) self->bytes[at]];
  if (g_utf8_get_char (self->bytes + at) != CAPITAL_SIGMA || at == 0)
    return FALSE;
  const char *before = g_utf8_prev_char (self->bytes + at);
  if (!kvasir_jinja_is_cased (g_utf8_get_char (before)))
    return FALSE;
  return next >= self->text->len || !kvasir_jinja_is_cased (g_utf8_get_char (self->bytes + next));
}

static gsize
lower_char (Mapper *self, gsize at)
{
  if (!is_final_sigma (self, at))
    return map_char (self, at, kvasir_jinja_to_lower);
  kvasir_jinja_builder_append_char (&self->out, FINAL_SIGMA,
                                    kvasir_jinja_text_origin (self->text, at));
  return at + g_utf8_skip[(guchar) self->bytes[at]];
}

KvasirJinjaText *
kvasir_jinja_text_upper (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  Mapper self;
  mapper_init (&self, heap, text);
  for (gsize at = 0; at < text->len && heap->failure == NULL;)
    at = map_char (&self, at, kvasir_jinja_to_upper);
  return kvasir_jinja_builder_finish (&self.out);
}

KvasirJinjaText *
kvasir_jinja_text_lower (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  Mapper self;
  mapper_init (&self, heap, text);
  for (gsize at = 0; at < text->len && heap->failure == NULL;)
    at = lower_char (&self, at);
  return kvasir_jinja_builder_finish (&self.out);
}

KvasirJinjaText *
kvasir_jinja_text_capitalize (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  Mapper self;
  mapper_init (&self, heap, text);
  gsize at = text->len > 0 ? map_char (&self, 0, kvasir_jinja_to_title) : 0;
  while (at < text->len && heap->failure == NULL)
    at = lower_char (&self, at);
  return kvasir_jinja_builder_finish (&self.out);
}

KvasirJinjaText *
kvasir_jinja_text_title (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  Mapper self;
  mapper_init (&self, heap, text);
  gboolean in_word = FALSE;
  for (gsize at = 0; at < text->len && heap->failure == NULL;)
    {
      gboolean cased = kvasir_jinja_is_cased (g_utf8_get_char (self.bytes + at));
      at = in_word ? lower_char (&self, at) : map_char (&self, at, kvasir_jinja_to_title);
      in_word = cased;
    }
  return kvasir_jinja_builder_finish (&self.out);
}

/* Jinja lowers what follows a word's first character as a text of its own, so a sigma right behind
 * it is not final. */
KvasirJinjaText *
kvasir_jinja_text_title_words (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  Mapper self;
  mapper_init (&self, heap, text);
  gsize in_word = 0;
  for (gsize at = 0; at < text->len && heap->failure == NULL;)
    {
      gunichar c = g_utf8_get_char (self.bytes + at);
      gboolean between =
          kvasir_jinja_is_space (c) || (c < 0x80 && c != 0 && strchr ("-({[<", (int) c) != NULL);
      if (in_word > 1)
        at = lower_char (&self, at);
      else
        at = map_char (&self, at, in_word == 1 ? kvasir_jinja_to_lower : kvasir_jinja_to_upper);
      in_word = between ? 0 : in_word + 1;
    }
  return kvasir_jinja_builder_finish (&self.out);
}
