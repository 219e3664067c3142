/* app/cli/cli.h - what the subcommands of kvasir-cli share
 *
 * Exit status: 0 done, 1 an expectation did not hold, 2 the command line or a scenario is wrong,
 * 3 a model, a context or a file could not be used. Results go to stdout, messages to stderr.
 */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

#include "engine/session/context.h"

G_BEGIN_DECLS

enum
{
  KVASIR_EXIT_OK = 0,
  KVASIR_EXIT_EXPECT = 1,
  KVASIR_EXIT_USAGE = 2,
  KVASIR_EXIT_MODEL = 3
};

/* What `./dev model` fetches. */
#define KVASIR_DEFAULT_MODEL "SmolLM2-135M-Instruct.Q4_1.gguf"

/* The code of an error of this domain is the exit status. */
#define KVASIR_CLI_ERROR (kvasir_cli_error_quark ())
GQuark kvasir_cli_error_quark (void);

/* Options that every subcommand that computes understands. */
typedef struct
{
  char *isa;          /* (owned) (nullable) */
  gint n_threads;     /* 0: default */
  gboolean as_traces; /* no option: set by subcommands that follow recorded traces */
} KvasirDeviceArgs;

/* What a subcommand's line may hold. */
typedef struct
{
  const char *summary;         /* "FILE - what it does" */
  const GOptionEntry *entries; /* (nullable) */
  KvasirDeviceArgs *device;    /* (nullable) */
  gint min_args;
  gint max_args;
  GOptionGroup *group; /* (transfer full) (nullable): more options */
} KvasirCommandLine;

/* Parses @argv in place. FALSE after a message or the help text: leave with @status (out). */
gboolean kvasir_cli_parse (const KvasirCommandLine *line, int *argc, char ***argv, int *status);

/* Prints "kvasir-cli: message" and gives the exit status that belongs to @error. */
int kvasir_cli_fail (const GError *error);

KvasirDevice *kvasir_cli_open_device (const KvasirDeviceArgs *args, GError **error);
void kvasir_cli_close_device (KvasirDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirDevice, kvasir_cli_close_device)

/* Where the app keeps its models. Returns: (transfer full) */
char *kvasir_cli_get_model_dir (void);
/* @name beside @near (nullable), in each of @dirs (nullable), then in the app's folder.
 * Returns: (transfer full): a path, or NULL with an error that lists the folders */
char *kvasir_cli_find_model (const char *name, const char *near, char **dirs, GError **error);

/* @name itself where that is a file, else the app's model of that name. */
char *kvasir_cli_find_file (const char *name, GError **error);

/* The whole of a file or pipe, for a text: without NUL and, since a device may never end, of at
 * most 64 MiB. The message does not name what is read. Returns: (transfer full) */
char *kvasir_cli_read_text (const char *path, GError **error);
char *kvasir_cli_read_stream (FILE *file, GError **error);

/* A number for JSON; null where it is not finite. */
json_t *kvasir_cli_json_real (double value);
/* A text for JSON, made valid where it is not: file names and what stands in files may be anything.
 */
json_t *kvasir_cli_json_text (const char *text);
/* @text with control characters shown as \\x1b: what comes out of a file or its name must not reach
 * a terminal as it is. Returns: (transfer full) */
char *kvasir_cli_escape (const char *text);
/* "93.8 MiB" with a point, whatever the locale. Returns: (transfer full) */
char *kvasir_cli_format_bytes (guint64 n_bytes);
/* Prints @value as one line; takes it. */
void kvasir_cli_print_json (json_t *value);
/* Type of a name such as "q8_0"; -1 where a cache can't have it. */
int kvasir_cli_find_cache_type (const char *name);
/* Sets @type to that of @name, the value of "--@option"; leaves it where @name is NULL. */
gboolean
kvasir_cli_set_cache_type (const char *option, const char *name, KvasirType *type, GError **error);

/* ---- caches.c: what a memory is made of */
/* One line for each cache, under a heading: cells, streams, window, what a token or a sequence
 * takes. */
void kvasir_cli_print_caches (const KvasirFit *fit);
/* The same as a list. (transfer full) */
json_t *kvasir_cli_make_caches (const KvasirFit *fit);

/* Subcommands: argv[0] is their name. */
int kvasir_cli_run (int argc, char **argv);
int kvasir_cli_info (int argc, char **argv);
int kvasir_cli_plan (int argc, char **argv);
int kvasir_cli_bench (int argc, char **argv);
int kvasir_cli_chat (int argc, char **argv);
int kvasir_cli_embed (int argc, char **argv);

G_END_DECLS
