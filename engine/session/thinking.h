/* engine/session/thinking.h - whether a model thinks before it answers, where its template can say
 *
 * Templates know a switch (enable_thinking, thinking) or a strength (reasoning_effort); which one
 * is told from the variables that they read. Thread: any.
 */
#pragma once

#include <jansson.h>

#include "engine/template/template.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_THINKING_USUAL, /* nothing is said: as the template has it */
  KVASIR_THINKING_OFF,
  KVASIR_THINKING_ON,
  KVASIR_THINKING_LOW,
  KVASIR_THINKING_MEDIUM,
  KVASIR_THINKING_HIGH,
  KVASIR_N_THINKINGS
} KvasirThinking;

/* "usual", "off", "on", "low", "medium", "high" */
const char *kvasir_thinking_get_name (KvasirThinking self);
gboolean kvasir_thinking_parse (KvasirThinking *self, const char *name);

/* What may be asked of it: a bit for each, 1 << KvasirThinking; 0: it knows no such thing.
 * @template_: (nullable) */
guint kvasir_thinking_get_choices (const KvasirTemplate *template_);
/* Adds the variables to @vars that @template_ reads; what it does not know comes as near as it can:
 * the least strength for off, the greatest for on. */
void
kvasir_thinking_set_variables (KvasirThinking self, const KvasirTemplate *template_, json_t *vars);

G_END_DECLS
