/* Whether tokens are guessed ahead, and by what: one choice for all models, in the menu. */
#include <glib/gi18n.h>

#include "ui/base/display-text.h"
#include "ui/shell/window-private.h"

/* The choices as the action's states, in the order of KvasirGuessKind. */
static const char *const states[] = { "off", "lookup", "model" };

static void
show_state (KvasirWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "guesses");
  int kind = kvasir_settings_get_int (self->settings, "guesses");

  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (states[kind]));
}

/* The width is not asked for: as many as leave the text as it is, and as pay. */
static void
apply (KvasirWindow *self)
{
  g_autofree char *path = kvasir_settings_dup_string (self->settings, "guess-model");
  const KvasirGuessParams params = {
    .kind = (KvasirGuessKind) kvasir_settings_get_int (self->settings, "guesses"),
    .width = KVASIR_MAX_GUESSES,
    .path = path,
  };

  show_state (self);
  kvasir_engine_client_set_guesses (self->client, &params);
}

static void
choose (KvasirWindow *self, KvasirGuessKind kind)
{
  g_object_set (self->settings, "guesses", (int) kind, NULL);
  apply (self);
}

static void
chosen (KvasirWindow *self, const char *path)
{
  g_object_set (self->settings, "guess-model", path, NULL);
  choose (self, KVASIR_GUESS_MODEL);
}

static void
guesses_cb (GSimpleAction *action, GVariant *state, gpointer user_data)
{
  const char *name = g_variant_get_string (state, NULL);

  if (g_str_equal (name, "model"))
    kvasir_window_ask_for_model (user_data, _ ("Open a Model That Guesses"), chosen);
  else
    choose (user_data, g_str_equal (name, "lookup") ? KVASIR_GUESS_LOOKUP : KVASIR_GUESS_OFF);
}

void
kvasir_window_add_guess_actions (KvasirWindow *self)
{
  static const GActionEntry entries[] = { { "guesses", NULL, "s", "'off'", guesses_cb } };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}

void
kvasir_window_restore_guesses (KvasirWindow *self)
{
  g_autofree char *path = kvasir_settings_dup_string (self->settings, "guess-model");

  if (*path == '\0' && kvasir_settings_get_int (self->settings, "guesses") == KVASIR_GUESS_MODEL)
    g_object_set (self->settings, "guesses", (int) KVASIR_GUESS_OFF, NULL);
  apply (self);
}

void
kvasir_window_follow_guesses (KvasirWindow *self, const KvasirNotice *notice)
{
  g_autofree char *title = NULL;
  g_autofree char *text = NULL;

  if (notice->error != NULL)
    {
      kvasir_notice_bar_show (KVASIR_NOTICE_BAR (self->banner), KVASIR_NOTICE_BAR_WARNING,
                              _ ("Nothing is guessed ahead with this model."),
                              notice->error->message);
      return;
    }
  if (notice->model == NULL)
    return;
  title = kvasir_display_line (kvasir_model_get_info (notice->model)->title, 40);
  text = g_strdup_printf (_ ("“%s” guesses ahead"), title);
  kvasir_window_toast (self, text);
}
