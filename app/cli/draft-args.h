/* app/cli/draft-args.h - options that say how tokens are guessed ahead
 *
 * Named as those of other programs, which call guesses a draft.
 */
#pragma once

#include <glib.h>

#include "engine/session/guess.h"

G_BEGIN_DECLS

typedef struct
{
  char *kind;  /* (owned) (nullable) */
  char *model; /* (owned) (nullable) */
  gint width;  /* 0: the default */
  gboolean always;
} KvasirDraftArgs;

#define KVASIR_DRAFT_ENTRIES(args)                                                                 \
  { "draft",                                                                                       \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING,                                                                           \
    &(args)->kind,                                                                                 \
    "Guess tokens ahead: off (default) or lookup, from what the text says before",                 \
    "KIND" },                                                                                      \
      { "draft-model",                                                                             \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(args)->model,                                                                            \
        "Let a smaller model of the same vocabulary guess",                                        \
        "FILE" },                                                                                  \
      { "draft-max",                                                                               \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_INT,                                                                          \
        &(args)->width,                                                                            \
        "At most so many at a time (default 3; never more than keep the text as it is)",           \
        "N" },                                                                                     \
  {                                                                                                \
    "draft-always", 0, 0, G_OPTION_ARG_NONE, &(args)->always, "Even where it does not pay", NULL   \
  }

void kvasir_draft_args_clear (KvasirDraftArgs *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirDraftArgs, kvasir_draft_args_clear)

/* What they ask for; @params' path is that of @self. FALSE: they make no sense, or the file is not
 * there. */
gboolean
kvasir_draft_args_settle (KvasirDraftArgs *self, KvasirGuessParams *params, GError **error);

/* "drafted 45, accepted 30 (67 %)". Returns: (transfer full) */
char *kvasir_draft_args_format (guint n_guessed, guint n_right);

G_END_DECLS
