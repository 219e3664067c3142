#include "tests/app/cli-runner.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static GPtrArray *
collect (const char *first, va_list args)
{
  GPtrArray *argv = g_ptr_array_new ();

  g_ptr_array_add (argv, (gpointer) g_getenv ("KVASIR_CLI"));
  for (const char *arg = first; arg != NULL; arg = va_arg (args, const char *))
    g_ptr_array_add (argv, (gpointer) arg);
  g_ptr_array_add (argv, NULL);
  return argv;
}

/* The whole input fits into the pipe, so it can be written before anything is read. */
static gboolean
give_input (const char *input, int *fds)
{
  g_assert_cmpint (pipe (fds), ==, 0);
  g_assert_cmpint (write (fds[1], input, strlen (input)), ==, (gssize) strlen (input));
  return close (fds[1]) == 0;
}

static CliResult
run (GPtrArray *argv, const char *input)
{
  g_autoptr (GError) error = NULL;
  CliResult result = { NULL, NULL, -1 };
  int fds[2] = { -1, -1 }, saved = dup (STDIN_FILENO), wait_status;

  g_assert_true (give_input (input, fds));
  dup2 (fds[0], STDIN_FILENO);
  close (fds[0]);
  g_spawn_sync (NULL, (char **) argv->pdata, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL,
                &result.out, &result.err, &wait_status, &error);
  dup2 (saved, STDIN_FILENO);
  close (saved);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (wait_status));
  result.status = WEXITSTATUS (wait_status);
  return result;
}

CliResult
cli_run (const char *first, ...)
{
  g_autoptr (GPtrArray) argv = NULL;
  va_list args;

  va_start (args, first);
  argv = collect (first, args);
  va_end (args);
  return run (argv, "");
}

CliResult
cli_run_input (const char *input, const char *first, ...)
{
  g_autoptr (GPtrArray) argv = NULL;
  va_list args;

  va_start (args, first);
  argv = collect (first, args);
  va_end (args);
  return run (argv, input);
}

void
cli_result_clear (CliResult *self)
{
  g_clear_pointer (&self->out, g_free);
  g_clear_pointer (&self->err, g_free);
}

char *
cli_data_path (const char *name)
{
  return g_build_filename (g_getenv ("KVASIR_TEST_DATA"), name, NULL);
}
