#include "engine/session/thinking.h"

static const char *const names[KVASIR_N_THINKINGS] = {
  "usual", "off", "on", "low", "medium", "high",
};

static const char *const switches[] = { "enable_thinking", "thinking" };

#define STRENGTH "reasoning_effort"

const char *
kvasir_thinking_get_name (KvasirThinking self)
{
  g_return_val_if_fail (self < KVASIR_N_THINKINGS, names[0]);
  return names[self];
}

gboolean
kvasir_thinking_parse (KvasirThinking *self, const char *name)
{
  for (guint i = 0; i < KVASIR_N_THINKINGS; i++)
    if (g_strcmp0 (name, names[i]) == 0)
      {
        *self = (KvasirThinking) i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
has_switch (const KvasirTemplate *template_)
{
  for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
    if (kvasir_template_reads (template_, switches[i]))
      return TRUE;
  return FALSE;
}

guint
kvasir_thinking_get_choices (const KvasirTemplate *template_)
{
  guint choices = 0;

  if (template_ == NULL)
    return 0;
  if (has_switch (template_))
    choices |= 1u << KVASIR_THINKING_OFF | 1u << KVASIR_THINKING_ON;
  if (kvasir_template_reads (template_, STRENGTH))
    choices |=
        1u << KVASIR_THINKING_LOW | 1u << KVASIR_THINKING_MEDIUM | 1u << KVASIR_THINKING_HIGH;
  return choices != 0 ? choices | 1u << KVASIR_THINKING_USUAL : 0;
}

/* NULL: the switch says it all. */
static const char *
get_strength (KvasirThinking self, const KvasirTemplate *template_)
{
  if (self >= KVASIR_THINKING_LOW)
    return names[self];
  if (has_switch (template_))
    return NULL;
  return names[self == KVASIR_THINKING_OFF ? KVASIR_THINKING_LOW : KVASIR_THINKING_HIGH];
}

void
kvasir_thinking_set_variables (KvasirThinking self, const KvasirTemplate *template_, json_t *vars)
{
  const char *strength;

  g_return_if_fail (self < KVASIR_N_THINKINGS);
  if (self == KVASIR_THINKING_USUAL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
    if (kvasir_template_reads (template_, switches[i]))
      json_object_set_new (vars, switches[i], json_boolean (self != KVASIR_THINKING_OFF));
  strength = get_strength (self, template_);
  if (strength != NULL && kvasir_template_reads (template_, STRENGTH))
    json_object_set_new (vars, STRENGTH, json_string (strength));
}
