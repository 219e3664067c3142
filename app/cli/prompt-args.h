/* app/cli/prompt-args.h - options that say what a model is told besides what is typed
 *
 * Conversations and tools come from files of JSON (engine/session/messages-json.h).
 */
#pragma once

#include <glib.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef struct
{
  char *messages_file; /* (owned) (nullable) */
  char *tools_file;    /* (owned) (nullable) */
  char *thinking_name; /* (owned) (nullable) */
  gboolean adapt;

  GPtrArray *messages; /* (owned) (nullable): of KvasirMessage, once settled */
  char *tools;         /* (owned) (nullable): the same */
  KvasirThinking thinking;
} KvasirPromptArgs;

#define KVASIR_PROMPT_ENTRIES(args)                                                                \
  { "messages",                                                                                    \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_FILENAME,                                                                         \
    &(args)->messages_file,                                                                        \
    "Begin with this conversation: a JSON list of messages",                                       \
    "FILE" },                                                                                      \
      { "tools",                                                                                   \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_FILENAME,                                                                     \
        &(args)->tools_file,                                                                       \
        "Tell the model of these tools, a JSON list; calls are shown, not made",                   \
        "FILE" },                                                                                  \
      { "thinking",                                                                                \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(args)->thinking_name,                                                                    \
        "on, off, low, medium or high, where the model's chat template knows it",                  \
        "HOW" },                                                                                   \
  {                                                                                                \
    "adapt", 0, 0, G_OPTION_ARG_NONE, &(args)->adapt,                                              \
        "Try a simpler form where the chat template refuses a conversation", NULL                  \
  }

void kvasir_prompt_args_clear (KvasirPromptArgs *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirPromptArgs, kvasir_prompt_args_clear)

/* Reads the files; ids of messages begin with @first_id. FALSE: one can't be read, or makes no
 * sense. */
gboolean kvasir_prompt_args_settle (KvasirPromptArgs *self, guint64 first_id, GError **error);
/* FALSE: @model's chat template has no switch for what is asked of it. */
gboolean
kvasir_prompt_args_check (const KvasirPromptArgs *self, const KvasirModel *model, GError **error);
void kvasir_prompt_args_apply (const KvasirPromptArgs *self, KvasirRequest *request);

G_END_DECLS
