/* app/cli/bench-draft.h - what guessing ahead is worth
 *
 * One text is written with and without guesses, in turns, on the same device.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/session/context.h"
#include "engine/session/guess.h"

G_BEGIN_DECLS

typedef struct
{
  const char *path;   /* of the model that writes */
  const char *prompt; /* (nullable): a text that asks for repetition */
  guint n_tokens;     /* to write */
  KvasirContextParams context;
  KvasirGuessParams guesses;
} KvasirDraftBench;

typedef struct
{
  double plain, drafted; /* tokens per second while writing, the better one of two turns */
  guint n_tokens, n_guessed, n_right;
  gboolean is_same; /* both texts have the same tokens */
} KvasirDraftResult;

gboolean kvasir_bench_draft (KvasirDevice *device,
                             const KvasirDraftBench *bench,
                             KvasirDraftResult *result,
                             GError **error);
void kvasir_bench_draft_print (const KvasirDraftResult *result);
/* (transfer full) */
json_t *kvasir_bench_draft_to_json (const KvasirDraftResult *result);

G_END_DECLS
