#include "app/cli/draft-args.h"

#include <string.h>

#include "app/cli/cli.h"

#define DEFAULT_WIDTH 3

void
kvasir_draft_args_clear (KvasirDraftArgs *self)
{
  g_clear_pointer (&self->kind, g_free);
  g_clear_pointer (&self->model, g_free);
}

static gboolean
find_model (KvasirDraftArgs *self, GError **error)
{
  char *path = kvasir_cli_find_file (self->model, error);

  if (path == NULL)
    return FALSE;
  g_free (self->model);
  self->model = path;
  return TRUE;
}

gboolean
kvasir_draft_args_settle (KvasirDraftArgs *self, KvasirGuessParams *params, GError **error)
{
  *params = (KvasirGuessParams){
    .width = self->width == 0 ? DEFAULT_WIDTH : (guint) self->width,
    .always = self->always,
  };
  if (self->width < 0 || self->width > KVASIR_MAX_GUESSES)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "--draft-max: 1 to %d expected, %d found", KVASIR_MAX_GUESSES, self->width);
      return FALSE;
    }
  if (self->kind != NULL && strcmp (self->kind, "lookup") != 0 && strcmp (self->kind, "off") != 0)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "--draft: off or lookup expected, %s found", self->kind);
      return FALSE;
    }
  if (self->kind != NULL && self->model != NULL)
    {
      g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                           "--draft and --draft-model: only one of them can guess");
      return FALSE;
    }
  if (self->model != NULL && !find_model (self, error))
    return FALSE;
  params->path = self->model;
  if (self->model != NULL)
    params->kind = KVASIR_GUESS_MODEL;
  else if (g_strcmp0 (self->kind, "lookup") == 0)
    params->kind = KVASIR_GUESS_LOOKUP;
  return TRUE;
}

char *
kvasir_draft_args_format (guint n_guessed, guint n_right)
{
  const guint percent = n_guessed > 0 ? (guint) (100.0 * n_right / n_guessed + 0.5) : 0;

  return g_strdup_printf ("drafted %u, accepted %u (%u %%)", n_guessed, n_right, percent);
}
