#include "engine/template/template.h"

#include "engine/error.h"
#include "engine/template/json.h"
#include "engine/template/parser.h"
#include "engine/template/reads.h"
#include "engine/template/render.h"
#include "engine/template/unicode.h"

#include <string.h>

#define MAX_SOURCE_BYTES ((gsize) 1024 * 1024)
#define MAX_PARSE_DEPTH 200
/* A tree takes more room than its source; real templates have less than 100 KB. */
#define MAX_PARSE_BYTES ((gsize) 128 * 1024 * 1024)

#define STANDARD_STEPS 10000000
#define STANDARD_DEPTH 200
#define STANDARD_OUTPUT_BYTES ((gsize) 64 * 1024 * 1024)
/* Texts are made on the way to the output and not freed before the end. */
#define BYTES_PER_OUTPUT_BYTE 4
#define BASE_BYTES ((gsize) 16 * 1024 * 1024)
/* Deeper nesting than this would need more C stack than a thread surely has. */
#define MAX_DEPTH 2000

struct _KvasirTemplate
{
  KvasirJinjaHeap heap; /* of the tree and its texts */
  char *source;         /* in the heap: [source_len] and a NUL; newlines are \n */
  guint source_len;
  const KvasirJinjaNode *root;
};

/* Any kind of newline becomes \n, and one at the end is dropped. */
static void
copy_source (KvasirTemplate *self, const char *source, gsize len)
{
  gsize n = 0;
  self->source = kvasir_jinja_heap_alloc (&self->heap, len + 1);
  for (gsize i = 0; i < len; i++)
    {
      gboolean is_return = source[i] == '\r';
      self->source[n++] = is_return ? '\n' : source[i];
      i += is_return && i + 1 < len && source[i + 1] == '\n';
    }
  if (n > 0 && self->source[n - 1] == '\n')
    n--;
  self->source[n] = '\0';
  self->source_len = (guint) n;
}

static void
set_error (const KvasirTemplate *self, guint offset, const char *message, GError **error)
{
  guint line = 1;
  guint start = 0;
  for (guint i = 0; i < offset && i < self->source_len; i++)
    if (self->source[i] == '\n')
      {
        line++;
        start = i + 1;
      }
  gsize column = kvasir_jinja_count_chars (self->source + start, offset - start) + 1;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
               "chat template, line %u, column %" G_GSIZE_FORMAT ": %s", line, column, message);
}

static gboolean
check_source (const char *source, gsize len, GError **error)
{
  if (len > MAX_SOURCE_BYTES)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
                 "chat template: at most %" G_GSIZE_FORMAT
                 " bytes expected, found %" G_GSIZE_FORMAT,
                 MAX_SOURCE_BYTES, len);
  else if (!kvasir_jinja_is_utf8 (source, len))
    g_set_error_literal (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
                         "chat template: the text is not UTF-8");
  else
    return TRUE;
  return FALSE;
}

KvasirTemplate *
kvasir_template_new (const char *source, gssize len, GError **error)
{
  static const KvasirJinjaLimits limits = {
    .max_steps = G_MAXUINT64,
    .max_depth = MAX_PARSE_DEPTH,
    .max_text_bytes = MAX_SOURCE_BYTES,
    .max_bytes = MAX_PARSE_BYTES,
  };
  g_return_val_if_fail (source != NULL, NULL);
  gsize n_bytes = len < 0 ? strlen (source) : (gsize) len;
  if (!check_source (source, n_bytes, error))
    return NULL;
  g_autoptr (KvasirTemplate) self = g_new0 (KvasirTemplate, 1);
  guint fail_offset = 0;
  kvasir_jinja_heap_init (&self->heap, &limits);
  copy_source (self, source, n_bytes);
  self->root = kvasir_jinja_parse (&self->heap, self->source, self->source_len, &fail_offset);
  if (self->root == NULL)
    {
      set_error (self, fail_offset, self->heap.failure, error);
      return NULL;
    }
  return g_steal_pointer (&self);
}

void
kvasir_template_free (KvasirTemplate *self)
{
  if (self == NULL)
    return;
  kvasir_jinja_heap_clear (&self->heap);
  g_free (self);
}

gboolean
kvasir_template_reads (const KvasirTemplate *self, const char *name)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return kvasir_jinja_reads (self->root, name);
}

gboolean
kvasir_template_mentions (const KvasirTemplate *self, const char *text)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return strstr (self->source, text) != NULL;
}

/* Whose words a variable's texts are; for messages that is decided one by one. */
static guint
origin_of_variable (const char *name)
{
  static const char *const from_persons[] = { "messages", "tools", "documents" };
  for (guint i = 0; i < G_N_ELEMENTS (from_persons); i++)
    if (g_str_equal (name, from_persons[i]))
      return G_MAXUINT;
  return KVASIR_JINJA_ORIGIN_TEMPLATE;
}

static gboolean
import_messages (KvasirJinjaHeap *heap, const json_t *messages, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  for (size_t i = 0; i < json_array_size (messages); i++)
    {
      KvasirJinjaValue message;
      if (!kvasir_jinja_from_json (heap, json_array_get (messages, i), (guint) i + 1, &message) ||
          !kvasir_jinja_list_append (heap, list, message))
        return FALSE;
    }
  *out = kvasir_jinja_list (KVASIR_JINJA_LIST, list);
  return TRUE;
}

static gboolean
import_variables (KvasirJinjaRender *render, const json_t *vars)
{
  const char *name;
  json_t *json;
  KvasirJinjaHeap *heap = &render->heap;
  json_object_foreach ((json_t *) vars, name, json)
  {
    KvasirJinjaValue value;
    gboolean ok = g_str_equal (name, "messages") && json_is_array (json)
                      ? import_messages (heap, json, &value)
                      : kvasir_jinja_from_json (heap, json, origin_of_variable (name), &value);
    if (!ok || !kvasir_jinja_set_var (render, kvasir_jinja_text_static (heap, name), value))
      return FALSE;
  }
  return TRUE;
}

static KvasirJinjaLimits
get_limits (const KvasirTemplateOptions *options)
{
  guint steps = options != NULL ? options->max_steps : 0;
  guint depth = options != NULL ? options->max_depth : 0;
  gsize output = options != NULL ? options->max_output_bytes : 0;
  return (KvasirJinjaLimits){
    .max_steps = steps != 0 ? steps : STANDARD_STEPS,
    .max_depth = depth != 0 ? MIN (depth, MAX_DEPTH) : STANDARD_DEPTH,
    .max_text_bytes = output != 0 ? output : STANDARD_OUTPUT_BYTES,
    .max_bytes = G_MAXSIZE,
  };
}

/* What the variables take is the caller's choice; the limit is for what the template adds. */
static void
limit_memory (KvasirJinjaHeap *heap)
{
  gsize output = MIN (heap->limits.max_text_bytes, G_MAXSIZE / 8);
  heap->limits.max_bytes = heap->used + BASE_BYTES + BYTES_PER_OUTPUT_BYTE * output;
}

static KvasirRendered *
make_rendered (KvasirJinjaBuilder *out)
{
  KvasirRendered *rendered = g_new0 (KvasirRendered, 1);
  rendered->text = g_string_new_len (out->bytes, (gssize) out->len);
  rendered->spans = g_array_sized_new (FALSE, FALSE, sizeof (KvasirTextSpan), out->n_runs);
  gsize offset = 0;
  for (guint i = 0; i < out->n_runs; i++)
    {
      KvasirTextSpan span = { offset, out->runs[i].end - offset, out->runs[i].origin };
      g_array_append_val (rendered->spans, span);
      offset = out->runs[i].end;
    }
  return rendered;
}

static gboolean
run (const KvasirTemplate *self, const json_t *vars, KvasirJinjaRender *render)
{
  KvasirJinjaScope *globals = kvasir_jinja_heap_alloc (&render->heap, sizeof *globals);
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&render->heap, sizeof *scope);
  kvasir_jinja_push_scope (render, globals);
  if (!import_variables (render, vars))
    return FALSE;
  limit_memory (&render->heap);
  kvasir_jinja_push_scope (render, scope);
  return kvasir_jinja_exec (render, self->root) != KVASIR_JINJA_FLOW_FAIL &&
         render->heap.failure == NULL;
}

KvasirRendered *
kvasir_template_render (const KvasirTemplate *self,
                        const json_t *vars,
                        const KvasirTemplateOptions *options,
                        GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (json_is_object (vars), NULL);
  KvasirJinjaLimits limits = get_limits (options);
  KvasirJinjaBuilder out;
  KvasirJinjaRender render = { .out = &out, .now = options != NULL ? options->now : NULL };
  KvasirRendered *rendered = NULL;
  kvasir_jinja_heap_init (&render.heap, &limits);
  kvasir_jinja_builder_init (&out, &render.heap);
  if (run (self, vars, &render))
    rendered = make_rendered (&out);
  else
    set_error (self, render.failed_at != NULL ? render.failed_at->offset : 0, render.heap.failure,
               error);
  kvasir_jinja_heap_clear (&render.heap);
  return rendered;
}

void
kvasir_rendered_free (KvasirRendered *self)
{
  if (self == NULL)
    return;
  g_string_free (self->text, TRUE);
  g_array_unref (self->spans);
  g_free (self);
}
