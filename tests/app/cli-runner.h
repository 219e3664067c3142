/* tests/app/cli-runner.h - runs kvasir-cli and keeps what it printed
 *
 * The program's path is KVASIR_CLI, the data folder KVASIR_TEST_DATA; both come from the build.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *out; /* (owned) */
  char *err; /* (owned) */
  int status;
} CliResult;

/* Runs kvasir-cli with the arguments up to NULL. */
CliResult cli_run (const char *first, ...) G_GNUC_NULL_TERMINATED;
/* The same with @input to read. */
CliResult cli_run_input (const char *input, const char *first, ...) G_GNUC_NULL_TERMINATED;
void cli_result_clear (CliResult *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliResult, cli_result_clear)

/* A path below tests/data. Returns: (transfer full) */
char *cli_data_path (const char *name);

G_END_DECLS
