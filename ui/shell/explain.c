#include "ui/shell/explain.h"

#include <glib/gi18n.h>

#include "engine/error.h"
#include "ui/base/display-text.h"
#include "viz/format.h"

void
kvasir_explanation_clear (KvasirExplanation *self)
{
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->detail, g_free);
}

static gboolean
is (const GError *error, KvasirEngineError code)
{
  return g_error_matches (error, KVASIR_ENGINE_ERROR, (int) code);
}

/* Names and texts out of the file may hold anything. */
static char *
show_message (const GError *error)
{
  return kvasir_display_text (error->message, -1);
}

void
kvasir_explain_load (KvasirExplanation *self, const GError *error, const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = kvasir_display_line (base, 80);

  self->detail = show_message (error);
  if (is (error, KVASIR_ENGINE_ERROR_FILE))
    self->title = g_strdup_printf (_ ("“%s” cannot be read."), name);
  else if (is (error, KVASIR_ENGINE_ERROR_BAD_FILE))
    self->title = g_strdup_printf (_ ("“%s” is not a sound model file."), name);
  else if (is (error, KVASIR_ENGINE_ERROR_UNSUPPORTED))
    self->title = g_strdup_printf (_ ("Kvasir cannot run “%s” yet."), name);
  else if (is (error, KVASIR_ENGINE_ERROR_NO_MEMORY))
    self->title = g_strdup_printf (_ ("There is not enough memory for “%s”."), name);
  else if (is (error, KVASIR_ENGINE_ERROR_ABORTED))
    self->title = g_strdup_printf (_ ("Opening “%s” was stopped."), name);
  else
    self->title = g_strdup_printf (_ ("“%s” could not be opened."), name);
}

static void
explain_room (KvasirExplanation *self, guint n_needed, guint n_free, guint n_cells)
{
  guint missing = n_needed > n_free ? n_needed - n_free : 0;

  if (n_cells > 0 && n_needed > n_cells)
    {
      self->title =
          g_strdup_printf (_ ("This message needs %s cells, the whole window has %s."),
                           kvasir_format_count (n_needed).s, kvasir_format_count (n_cells).s);
      self->detail = g_strdup (_ ("The prompt is longer than the window. Nothing was sent and "
                                  "nothing was removed. Your draft is kept."));
      return;
    }
  self->title = g_strdup_printf (_ ("This message needs %s cells, %s are free."),
                                 kvasir_format_count (n_needed).s, kvasir_format_count (n_free).s);
  self->detail = g_strdup_printf (_ ("%s too many. Nothing was sent and nothing was removed. "
                                     "Your draft is kept."),
                                  kvasir_format_count (missing).s);
}

void
kvasir_explain_full (KvasirExplanation *self, guint n_cells)
{
  self->title = g_strdup_printf (_ ("The window is full: all %s cells are used."),
                                 kvasir_format_count (n_cells).s);
  self->detail = g_strdup (_ ("The answer ends here; everything that was written stays."));
}

void
kvasir_explain_draft (KvasirExplanation *self, guint n_needed, guint n_free, guint n_cells)
{
  explain_room (self, n_needed, n_free, n_cells);
}

void
kvasir_explain_answer (KvasirExplanation *self, const KvasirNotice *notice, guint n_cells)
{
  const GError *error = notice->error;

  if (is (error, KVASIR_ENGINE_ERROR_NO_ROOM))
    {
      explain_room (self, notice->n_needed, notice->n_free, n_cells);
      return;
    }
  self->detail = show_message (error);
  if (is (error, KVASIR_ENGINE_ERROR_TEMPLATE))
    self->title = g_strdup (_ ("The model's chat template refused this chat."));
  else if (is (error, KVASIR_ENGINE_ERROR_NO_MEMORY))
    self->title = g_strdup (_ ("There was not enough memory for this step."));
  else if (is (error, KVASIR_ENGINE_ERROR_UNSUPPORTED))
    self->title = g_strdup (_ ("This model cannot be chatted with yet."));
  else if (is (error, KVASIR_ENGINE_ERROR_FILE) || is (error, KVASIR_ENGINE_ERROR_BAD_FILE))
    self->title = g_strdup (_ ("The model file changed while it was in use. Open it again."));
  else
    self->title = g_strdup (_ ("The answer failed."));
}
