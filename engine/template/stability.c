#include "engine/template/stability.h"

#include <string.h>

/* Words that no template has in it. */
#define SYSTEM "Kvasir answers in verse."
#define FIRST "Who brewed the mead?"
#define REPLY "Fjalar and Galar did."
#define SECOND "And who drank it?"

/* A date that is always the same: only the turns may make a difference. */
#define NOW "2026-03-07T14:05:09"

/* One answer cannot be long, and a template that takes longer is not worth waiting for. */
#define MAX_STEPS 1000000

/* Returns: (transfer full) (nullable): the text of a chat of one or two turns */
static char *
render (const KvasirTemplate *self, json_t *vars, gboolean with_system, gboolean with_reply)
{
  const KvasirTemplateOptions options = { .max_steps = MAX_STEPS, .now = NOW };
  json_t *messages = json_array ();
  g_autoptr (KvasirRendered) rendered = NULL;

  if (with_system)
    json_array_append_new (messages, json_pack ("{s:s, s:s}", "role", "system", "content", SYSTEM));
  json_array_append_new (messages, json_pack ("{s:s, s:s}", "role", "user", "content", FIRST));
  if (with_reply)
    {
      json_array_append_new (messages,
                             json_pack ("{s:s, s:s}", "role", "assistant", "content", REPLY));
      json_array_append_new (messages, json_pack ("{s:s, s:s}", "role", "user", "content", SECOND));
    }
  json_object_set_new (vars, "messages", messages);
  rendered = kvasir_template_render (self, vars, &options, NULL);
  return rendered != NULL ? g_strndup (rendered->text->str, rendered->text->len) : NULL;
}

static gsize
count_common (const char *a, const char *b)
{
  gsize n = 0;

  while (a[n] != '\0' && a[n] == b[n])
    n++;
  return n;
}

static KvasirPrefixStability
compare (const char *before, const char *after)
{
  const char *first = strstr (before, FIRST);
  gsize n_before = strlen (before);
  gsize n_common = count_common (before, after);

  if (first == NULL)
    return KVASIR_PREFIX_UNKNOWN;
  if (n_common == n_before)
    return g_str_has_prefix (after + n_before, REPLY) ? KVASIR_PREFIX_STABLE
                                                      : KVASIR_PREFIX_REPLY_MOVES;
  return n_common >= (gsize) (first - before) + strlen (FIRST) ? KVASIR_PREFIX_PROMPT_MOVES
                                                               : KVASIR_PREFIX_ALL_MOVES;
}

/* Some templates know no system message, so a chat without one is tried then. */
KvasirPrefixStability
kvasir_template_measure_stability (const KvasirTemplate *self, const char *bos, const char *eos)
{
  json_t *vars =
      json_pack ("{s:b, s:s, s:s}", "add_generation_prompt", 1, "bos_token", bos, "eos_token", eos);
  KvasirPrefixStability stability = KVASIR_PREFIX_UNKNOWN;

  g_return_val_if_fail (self != NULL && bos != NULL && eos != NULL, KVASIR_PREFIX_UNKNOWN);
  for (int with_system = 1; with_system >= 0 && stability == KVASIR_PREFIX_UNKNOWN; with_system--)
    {
      g_autofree char *before = render (self, vars, with_system, FALSE);
      g_autofree char *after = render (self, vars, with_system, TRUE);

      if (before != NULL && after != NULL)
        stability = compare (before, after);
    }
  json_decref (vars);
  return stability;
}

const char *
kvasir_prefix_stability_get_name (KvasirPrefixStability stability)
{
  static const char *const names[] = { "stable", "reply-moves", "prompt-moves", "all-moves",
                                       "unknown" };

  g_return_val_if_fail (stability <= KVASIR_PREFIX_UNKNOWN, NULL);
  return names[stability];
}
