#include "ui/transcript/message-facts.h"

#include <glib/gi18n.h>

#include "ui/base/figures.h"
#include "viz/format.h"

static char *
describe_reading (KvasirMessageNode *node)
{
  const KvasirMessageProgress *progress = kvasir_message_node_get_progress (node);
  g_autofree char *left = NULL;

  if (progress->n_total == 0)
    return g_strdup (_ ("waiting…"));
  left = kvasir_figure_time_left (progress->n_done, progress->n_total, progress->us);
  if (left == NULL)
    return g_strdup_printf (_ ("reading %s of %s tokens"), kvasir_format_count (progress->n_done).s,
                            kvasir_format_count (progress->n_total).s);
  /* Translators: the last one is a time, such as "3 s left" */
  return g_strdup_printf (_ ("reading %s of %s tokens · %s"),
                          kvasir_format_count (progress->n_done).s,
                          kvasir_format_count (progress->n_total).s, left);
}

/* Takes @facts; adds what guessing was worth, if anything was guessed. */
static char *
add_guesses (char *facts, const KvasirMessageCosts *costs)
{
  g_autofree char *before = facts;

  if (costs->n_guessed == 0)
    return g_steal_pointer (&before);
  /* Translators: what was said so far, tokens guessed ahead, those of them that were right */
  return g_strdup_printf (_ ("%s · guessed %s, %s right"), before,
                          kvasir_format_count (costs->n_guessed).s,
                          kvasir_format_count (costs->n_right).s);
}

static char *
describe_written (KvasirMessageNode *node, guint n_tokens)
{
  const KvasirMessageCosts *costs = kvasir_message_node_get_costs (node);
  g_autofree char *rate = kvasir_figure_rate (n_tokens, costs->generate_us);
  g_autofree char *tokens = g_strdup_printf (ngettext ("%s token", "%s tokens", n_tokens),
                                             kvasir_format_count (n_tokens).s);

  if (costs->generate_us <= 0)
    return g_steal_pointer (&tokens);
  /* Translators: tokens, speed, prompt tokens found in the memory, prompt tokens computed */
  return add_guesses (g_strdup_printf (_ ("%s · %s · reused %s, read %s"), tokens, rate,
                                       kvasir_format_count (costs->n_reused).s,
                                       kvasir_format_count (costs->n_read).s),
                      costs);
}

char *
kvasir_message_facts_describe (KvasirMessageNode *node)
{
  const KvasirMessageCosts *costs = kvasir_message_node_get_costs (node);
  guint n_tokens;

  if (kvasir_message_node_get_role (node) != KVASIR_ROLE_ASSISTANT)
    return g_strdup ("");
  kvasir_message_node_get_tokens (node, &n_tokens);
  if (kvasir_message_node_get_state (node) != KVASIR_MESSAGE_WRITING)
    return describe_written (node, n_tokens);
  if (n_tokens == 0)
    return describe_reading (node);
  else
    {
      g_autofree char *rate = kvasir_figure_rate (n_tokens, costs->generate_us);

      return add_guesses (g_strdup_printf (_ ("writing… %s"), rate), costs);
    }
}

const char *
kvasir_message_facts_get_ending (KvasirMessageNode *node)
{
  switch (kvasir_message_node_get_state (node))
    {
    case KVASIR_MESSAGE_STOPPED:
      return _ ("Stopped.");
    case KVASIR_MESSAGE_LENGTH:
      return _ ("Ended at the limit for answers.");
    case KVASIR_MESSAGE_NO_ROOM:
      return _ ("Ended because the window is full.");
    case KVASIR_MESSAGE_STOP_TEXT:
      return _ ("Ended at a stop text.");
    case KVASIR_MESSAGE_REFUSED:
      return _ ("Ended because no further token was allowed.");
    case KVASIR_MESSAGE_FAILED:
      return _ ("Ended by an error.");
    case KVASIR_MESSAGE_INTERRUPTED:
      return _ ("Interrupted: Kvasir was closed or killed while this was written.");
    case KVASIR_MESSAGE_COMPLETE:
    case KVASIR_MESSAGE_WRITING:
    default:
      return NULL;
    }
}

const char *
kvasir_message_facts_get_role (KvasirMessageNode *node)
{
  switch (kvasir_message_node_get_role (node))
    {
    case KVASIR_ROLE_SYSTEM:
      return _ ("System");
    case KVASIR_ROLE_ASSISTANT:
      return _ ("Assistant");
    case KVASIR_ROLE_USER:
    default:
      return _ ("You");
    }
}

char *
kvasir_message_facts_price (guint n_cells, guint64 bytes_per_cell)
{
  return g_strdup_printf (ngettext ("%s cell = %s", "%s cells = %s", n_cells),
                          kvasir_format_count (n_cells).s,
                          kvasir_format_size (n_cells * bytes_per_cell).s);
}
