/* engine/template/template.h - renders a chat template (Jinja)
 *
 * Owner:  KvasirModel for its own template; any caller for another.
 * Thread: a parsed template is immutable, each render has its own state: any thread.
 * Errors: KVASIR_ENGINE_ERROR_TEMPLATE with line and column; text given to raise_exception() is
 * part of the message. Limits on steps, depth and output are errors too. Rules:  formats.md 6.1
 * and 6.2: trim_blocks and lstrip_blocks on, one trailing newline of the template removed, loop
 * controls on, `{% generation %}` ignored, tojson keeps non-ASCII and does not escape HTML.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

typedef struct _KvasirTemplate KvasirTemplate;

typedef struct
{
  guint max_steps;        /* evaluated nodes, loop turns, 64 bytes looked at; 0: 10 000 000 */
  guint max_depth;        /* nesting of expressions, macros and values; 0: 200; at most 2000 */
  gsize max_output_bytes; /* also of any single string; 0: 64 MiB. Memory: 4 times this + 16 MiB */
  const char *now; /* local time "2026-03-07T14:05:09" for strftime_now; NULL: the real one */
} KvasirTemplateOptions;

/* What came out, with the origin of each byte. */
typedef struct
{
  GString *text;
  GArray *spans; /* of KvasirTextSpan, in order, covering the text without gaps */
} KvasirRendered;

KvasirTemplate *
kvasir_template_new (const char *source, gssize len, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_template_free (KvasirTemplate *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirTemplate, kvasir_template_free)

/* Whether it asks for a variable of this name anywhere, in whatever it says. */
gboolean kvasir_template_reads (const KvasirTemplate *self, const char *name);
/* Whether @text stands in its source: for members of messages, whose names are found in many forms.
 */
gboolean kvasir_template_mentions (const KvasirTemplate *self, const char *text);

/**
 * kvasir_template_render:
 * @vars: (transfer none): a JSON object; each member becomes a variable ("messages",
 *   "add_generation_prompt", "bos_token", ...). Order of members and 1 versus 1.0 survive.
 * @options: (nullable): limits and clock
 *
 * Strings found inside messages[i] have origin i + 1; strings inside "tools" and "documents" count
 * as a person's too (origin G_MAXUINT); all others, and the template's own text, have origin 0.
 * Operations on strings keep the origin of each byte (slices, strip, concatenation, join, replace,
 * split, format, tojson, upper, ...).
 *
 * Returns: (transfer full): the text, or NULL with @error set
 */
KvasirRendered *kvasir_template_render (const KvasirTemplate *self,
                                        const json_t *vars,
                                        const KvasirTemplateOptions *options,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_rendered_free (KvasirRendered *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirRendered, kvasir_rendered_free)

G_END_DECLS
