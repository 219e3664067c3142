#include "engine/template/format.h"

#include "engine/template/number.h"
#include "engine/template/repr.h"

#include <string.h>

typedef struct
{
  KvasirJinjaHeap *heap;
  KvasirJinjaText *text; /* the format */
  const char *bytes;     /* of it */
  gsize at;
  KvasirJinjaBuilder out;
  KvasirJinjaValue values; /* of % */
  KvasirJinjaCall *call;   /* of format() */
  guint next;              /* the next positional value */
} Formatter;

static void
formatter_init (Formatter *self, KvasirJinjaHeap *heap, KvasirJinjaText *format)
{
  memset (self, 0, sizeof *self);
  self->heap = heap;
  self->text = format;
  self->bytes = kvasir_jinja_text_bytes (heap, format);
  kvasir_jinja_builder_init (&self->out, heap);
}

static char
peek (const Formatter *self)
{
  return self->at < self->text->len ? self->bytes[self->at] : '\0';
}

/* Copies up to one of @stops; FALSE at the end of the format. */
static gboolean
copy_until (Formatter *self, const char *stops)
{
  gsize start = self->at;
  while (self->at < self->text->len &&
         (self->bytes[self->at] == '\0' || strchr (stops, self->bytes[self->at]) == NULL))
    self->at++;
  kvasir_jinja_builder_append_sub (&self->out, self->text, start, self->at - start);
  return self->at < self->text->len;
}

static gint64
read_count (Formatter *self)
{
  gint64 count = 0;
  while (g_ascii_isdigit (peek (self)))
    {
      count = MIN (count * 10 + g_ascii_digit_value (peek (self)), G_MAXINT);
      self->at++;
    }
  return count;
}

static gboolean
take_percent_value (Formatter *self, KvasirJinjaValue *value)
{
  const KvasirJinjaList *tuple = self->values.kind == KVASIR_JINJA_TUPLE ? self->values.list : NULL;
  if (self->next >= (tuple != NULL ? tuple->n : 1))
    return kvasir_jinja_heap_fail (self->heap, "not enough values for the format");
  *value = tuple != NULL ? tuple->items[self->next] : self->values;
  self->next++;
  return TRUE;
}

/* "(name)" behind the percent sign. */
static gboolean
take_named_value (Formatter *self, KvasirJinjaValue *value)
{
  const char *start = self->bytes + self->at + 1;
  const char *close = memchr (start, ')', self->text->len - self->at - 1);
  if (close == NULL || self->values.kind != KVASIR_JINJA_DICT)
    return kvasir_jinja_heap_fail (self->heap, "a format with names needs a dict");
  gsize len = (gsize) (close - start);
  KvasirJinjaText *name = kvasir_jinja_text_sub (self->heap, self->text, self->at + 1, len);
  self->at += len + 2;
  self->next = 1;
  return kvasir_jinja_dict_get (self->heap, self->values.dict, kvasir_jinja_text (name), value) ||
         kvasir_jinja_heap_fail (self->heap, "the format names a missing value");
}

static void
read_percent_flags (Formatter *self, KvasirJinjaSpec *spec)
{
  for (;; self->at++)
    switch (peek (self))
      {
      case '-':
        spec->align = '<';
        break;
      case '+':
      case ' ':
        spec->sign = spec->sign == '+' ? '+' : peek (self);
        break;
      case '0':
        spec->fill = '0';
        break;
      case '#':
        spec->alternate = TRUE;
        break;
      default:
        return;
      }
}

/* Numbers that % would print as integers may be floats. */
static gboolean
fit_percent_value (Formatter *self, KvasirJinjaSpec *spec, KvasirJinjaValue *value)
{
  if (spec->type == 'i' || spec->type == 'u')
    spec->type = 'd';
  if (spec->type == 'a')
    spec->type = 'r';
  if (spec->type == 'd' && value->kind == KVASIR_JINJA_FLOAT)
    {
      gint64 integer;
      if (!kvasir_jinja_float_to_int (value->number, &integer))
        return kvasir_jinja_heap_fail (self->heap, "a float that is no 64-bit integer");
      *value = kvasir_jinja_int (integer);
    }
  if (spec->type != 's' && spec->type != 'r' && spec->fill == '0')
    spec->align = spec->align == '<' ? '<' : '=';
  else
    spec->align = spec->align == 0 ? '>' : spec->align;
  if (spec->align == '<' || spec->type == 's' || spec->type == 'r')
    spec->fill = ' ';
  return strchr ("sdrxXoeEfFgG", spec->type) != NULL ||
         kvasir_jinja_heap_fail (self->heap, "unknown format character '%c'", spec->type);
}

static gboolean
percent_field (Formatter *self)
{
  KvasirJinjaSpec spec = { .fill = ' ', .precision = -1 };
  KvasirJinjaValue value = kvasir_jinja_none ();
  self->at++;
  gboolean named = peek (self) == '(';
  if (named && !take_named_value (self, &value))
    return FALSE;
  read_percent_flags (self, &spec);
  spec.width = read_count (self);
  if (peek (self) == '.')
    {
      self->at++;
      spec.precision = read_count (self);
    }
  spec.type = peek (self);
  if (!g_ascii_isprint (spec.type))
    return kvasir_jinja_heap_fail (self->heap, "incomplete format");
  self->at++;
  if (spec.type == '%')
    {
      kvasir_jinja_builder_append_sub (&self->out, self->text, self->at - 1, 1);
      return TRUE;
    }
  return (named || take_percent_value (self, &value)) && fit_percent_value (self, &spec, &value) &&
         kvasir_jinja_append_spec (&self->out, &spec, value);
}

gboolean
kvasir_jinja_format_percent (KvasirJinjaHeap *heap,
                             KvasirJinjaText *format,
                             KvasirJinjaValue values,
                             KvasirJinjaValue *out)
{
  Formatter self;
  formatter_init (&self, heap, format);
  self.values = values;
  while (copy_until (&self, "%"))
    if (!kvasir_jinja_heap_step (heap, 1) || !percent_field (&self))
      return FALSE;
  /* What Python takes for a mapping (anything that can be indexed) need not be used. */
  gboolean may_be_unused = values.kind == KVASIR_JINJA_DICT || values.kind == KVASIR_JINJA_LIST ||
                           values.kind == KVASIR_JINJA_RANGE ||
                           values.kind == KVASIR_JINJA_UNDEFINED;
  guint n = values.kind == KVASIR_JINJA_TUPLE ? values.list->n : may_be_unused ? 0 : 1;
  if (self.next < n)
    return kvasir_jinja_heap_fail (heap, "not all values are used by the format");
  return kvasir_jinja_give_text (kvasir_jinja_builder_finish (&self.out), out);
}

static gboolean
take_braces_value (Formatter *self, KvasirJinjaText *name, KvasirJinjaValue *value)
{
  const KvasirJinjaArgs *args = self->call->args;
  gint64 index = self->next;
  if (name->len > 0 && !kvasir_jinja_parse_int (name->bytes, name->len, 10, &index))
    {
      for (guint i = 0; i < args->n_keywords; i++)
        if (kvasir_jinja_text_equal (self->heap, args->keywords[i].name, name))
          {
            *value = args->keywords[i].value;
            return TRUE;
          }
      return kvasir_jinja_heap_fail (self->heap, "the format names a missing value");
    }
  self->next += name->len == 0;
  if (index < 0 || index >= args->n_values)
    return kvasir_jinja_heap_fail (self->heap, "not enough values for the format");
  *value = args->values[index];
  return TRUE;
}

/* The part of a field name up to ".", "[", "!", ":" or "}". */
static KvasirJinjaText *
take_name (Formatter *self, const char *stops)
{
  gsize start = self->at;
  while (peek (self) != '\0' && strchr (stops, peek (self)) == NULL)
    self->at++;
  return kvasir_jinja_text_sub (self->heap, self->text, start, self->at - start);
}

/* ".name" and "[key]" behind a field's name. */
static gboolean
follow_members (Formatter *self, KvasirJinjaValue *value)
{
  while (peek (self) == '.' || peek (self) == '[')
    {
      gboolean item = peek (self) == '[';
      self->at++;
      KvasirJinjaText *name = take_name (self, item ? "]" : ".[!:}");
      KvasirJinjaValue key = kvasir_jinja_text (name);
      gint64 index;
      if (item && kvasir_jinja_parse_int (name->bytes, name->len, 10, &index))
        key = kvasir_jinja_int (index);
      self->at += item;
      if (!(item ? kvasir_jinja_get_item (self->heap, *value, key, value)
                 : kvasir_jinja_get_attr (self->heap, *value, name, value)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_align (char c)
{
  return c == '<' || c == '>' || c == '^' || c == '=';
}

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static void
read_braces_spec (Formatter *self, KvasirJinjaSpec *spec)
{
  gsize fill = self->at < self->text->len ? g_utf8_skip[(guchar) peek (self)] : 0;
  if (fill > 0 && self->at + fill < self->text->len && is_align (self->bytes[self->at + fill]))
    {
      spec->fill = g_utf8_get_char (self->bytes + self->at);
      self->at += fill;
    }
  if (is_align (peek (self)))
    spec->align = self->bytes[self->at++];
  if (peek (self) == '+' || peek (self) == ' ' || peek (self) == '-')
    spec->sign = self->bytes[self->at++];
  spec->sign = spec->sign == '-' ? 0 : spec->sign;
  if (peek (self) == '#')
    {
      spec->alternate = TRUE;
      self->at++;
    }
  if (peek (self) == '0' && spec->align == 0)
    {
      spec->fill = '0';
      spec->align = '=';
    }
  spec->width = read_count (self);
  if (peek (self) == ',')
    {
      spec->thousands = TRUE;
      self->at++;
    }
  if (peek (self) == '.')
    {
      self->at++;
      spec->precision = read_count (self);
    }
  if (g_ascii_isalpha (peek (self)) || peek (self) == '%')
    spec->type = self->bytes[self->at++];
}

static gboolean
braces_field (Formatter *self)
{
  KvasirJinjaSpec spec = { .fill = ' ', .precision = -1 };
  KvasirJinjaValue value;
  KvasirJinjaText *name = take_name (self, ".[!:}");
  if (!take_braces_value (self, name, &value) || !follow_members (self, &value))
    return FALSE;
  char conversion = 0;
  if (peek (self) == '!')
    {
      conversion = self->at + 1 < self->text->len ? self->bytes[self->at + 1] : 0;
      self->at += 2;
    }
  if (peek (self) == ':')
    {
      self->at++;
      read_braces_spec (self, &spec);
    }
  if (peek (self) != '}' || (conversion != 0 && strchr ("sra", conversion) == NULL))
    return kvasir_jinja_heap_fail (self->heap, "a field of the format is not understood");
  self->at++;
  if (conversion != 0)
    spec.type = conversion == 's' ? 's' : 'r';
  return kvasir_jinja_append_spec (&self->out, &spec, value);
}

gboolean
kvasir_jinja_format_braces (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  Formatter self;
  formatter_init (&self, call->heap, call->self.text);
  self.call = call;
  while (copy_until (&self, "{}"))
    {
      char brace = self.bytes[self.at++];
      gboolean doubled = peek (&self) == brace;
      if (doubled)
        kvasir_jinja_builder_append_sub (&self.out, self.text, self.at++, 1);
      else if (brace == '}')
        return kvasir_jinja_heap_fail (call->heap, "a single '}' in the format");
      if (!kvasir_jinja_heap_step (call->heap, 1) || (!doubled && !braces_field (&self)))
        return FALSE;
    }
  return kvasir_jinja_give_text (kvasir_jinja_builder_finish (&self.out), out);
}
