/* ui/shell/explain.h - what went wrong, in a sentence for people
 *
 * The engine's message names what, where, expected and found; it stands below as the detail.
 * Thread: main thread.
 */
#pragma once

#include <glib.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef struct
{
  char *title;  /* (owned) */
  char *detail; /* (owned) */
} KvasirExplanation;

void kvasir_explanation_clear (KvasirExplanation *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirExplanation, kvasir_explanation_clear)

/* A model that could not be opened. @path: the file. */
void kvasir_explain_load (KvasirExplanation *self, const GError *error, const char *path);
/* A message that was not sent or an answer that failed. @n_cells: all there are. */
void kvasir_explain_answer (KvasirExplanation *self, const KvasirNotice *notice, guint n_cells);
/* An answer that ended in the middle because all @n_cells are used. */
void kvasir_explain_full (KvasirExplanation *self, guint n_cells);
/* A draft that needs more cells than it may take. */
void kvasir_explain_draft (KvasirExplanation *self, guint n_needed, guint n_free, guint n_cells);

G_END_DECLS
