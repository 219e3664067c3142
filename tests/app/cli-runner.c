#include "tests/app/cli-runner.h"

#include <sys/wait.h>

CliResult
cli_run (const char *first, ...)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  CliResult result = { NULL, NULL, -1 };
  int wait_status;
  va_list args;

  g_ptr_array_add (argv, (gpointer) g_getenv ("KVASIR_CLI"));
  va_start (args, first);
  for (const char *arg = first; arg != NULL; arg = va_arg (args, const char *))
    g_ptr_array_add (argv, (gpointer) arg);
  va_end (args);
  g_ptr_array_add (argv, NULL);
  g_spawn_sync (NULL, (char **) argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &result.out,
                &result.err, &wait_status, &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (wait_status));
  result.status = WEXITSTATUS (wait_status);
  return result;
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
