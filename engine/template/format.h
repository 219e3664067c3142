/* engine/template/format.h - "%s" % values and "{}".format(values)
 *
 * Thread: that of the heap. The format and each value keep their origins.
 */
#pragma once

#include "engine/template/callable.h"

G_BEGIN_DECLS

/* @values: a tuple, a dict for "%(name)s", or one value */
gboolean kvasir_jinja_format_percent (KvasirJinjaHeap *heap,
                                      KvasirJinjaText *format,
                                      KvasirJinjaValue values,
                                      KvasirJinjaValue *out);
/* str.format() on call->self with the call's arguments as given. */
gboolean kvasir_jinja_format_braces (KvasirJinjaCall *call, KvasirJinjaValue *out);

/* How one value is to be written; shared by both kinds. */
typedef struct
{
  gunichar fill; /* around a value narrower than @width */
  char align;    /* '<', '>', '^', '=' (after the sign), or 0 for the type's own */
  char sign;     /* '+', ' ' or 0 */
  gboolean alternate;
  gboolean thousands;
  gint64 width;
  gint64 precision; /* -1: none */
  char type;        /* 0: none given */
} KvasirJinjaSpec;

/* format-spec.c: FALSE with a failure if the type does not fit the value. */
gboolean kvasir_jinja_append_spec (KvasirJinjaBuilder *out,
                                   const KvasirJinjaSpec *spec,
                                   KvasirJinjaValue value);

G_END_DECLS
