/* tests/engine/template/support.h - what the template tests share */
#pragma once

#include "engine/template/template.h"

G_BEGIN_DECLS

/* The text of a file under tests/data/templates. */
char *template_data (const char *name);

/* Renders @source with @vars, the text of a JSON object; aborts if @vars is none. */
KvasirRendered *template_render (const char *source,
                                 const char *vars,
                                 const KvasirTemplateOptions *options,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Asserts that the spans cover the text without gaps, in order, with neighbours that differ. */
void template_check_spans (const KvasirRendered *rendered);

/* Calls @func for each line of a file of JSON objects under tests/data/templates. */
typedef void (*TemplateCaseFunc) (const json_t *line, gpointer user_data);
void template_each_case (const char *name, TemplateCaseFunc func, gpointer user_data);

/* The variables of a stored case: its messages, vars (but "now"), and add_generation_prompt. */
json_t *template_case_vars (const json_t *line);
/* Renders a stored case and asserts that it gives the text or the error that the case names. */
void template_check_case (const char *source, const json_t *line);

G_END_DECLS
