#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "app/blas.h"
#include "app/cli/cli.h"

typedef struct
{
  const char *name;
  int (*run) (int argc, char **argv);
  const char *help;
} Command;

static const Command commands[] = {
  { "chat", kvasir_cli_chat, "talk to a model in the terminal" },
  { "run", kvasir_cli_run, "play a scenario and print what each operation does" },
  { "info", kvasir_cli_info, "describe a model file" },
  { "plan", kvasir_cli_plan, "show what a model would take in memory" },
  { "embed", kvasir_cli_embed, "show what an encoder makes of texts" },
  { "bench", kvasir_cli_bench, "measure reading and writing speed" },
};

static void
print_help (void)
{
  g_print ("Usage: kvasir-cli COMMAND [OPTION...]\n\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-8s %s\n", commands[i].name, commands[i].help);
  g_print ("\nkvasir-cli COMMAND --help shows the options of a command.\n");
}

/* A full disk must not pass for success. */
static int
end (int status)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return status;
  g_printerr ("kvasir-cli: standard output: cannot be written: %s\n", g_strerror (errno));
  return status != KVASIR_EXIT_OK ? status : KVASIR_EXIT_MODEL;
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  kvasir_app_prepare_blas ();
  if (argc < 2)
    {
      print_help ();
      return KVASIR_EXIT_USAGE;
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0)
    {
      print_help ();
      return end (KVASIR_EXIT_OK);
    }
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[1], commands[i].name) == 0)
      {
        g_autofree char *name = g_strdup_printf ("kvasir-cli %s", commands[i].name);
        g_set_prgname (name);
        return end (commands[i].run (argc - 1, argv + 1));
      }
  g_printerr ("kvasir-cli: \"%s\" is no command; see kvasir-cli --help\n", argv[1]);
  return KVASIR_EXIT_USAGE;
}
