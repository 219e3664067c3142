/* app/main.c - the app's start: locale, options, device */
#include <glib/gi18n.h>
#include <locale.h>

#include "app/application.h"
#include "app/blas.h"
#include "backends/cpu/cpu.h"

typedef struct
{
  gboolean version;
  char *isa; /* (owned) (nullable) */
} Options;

/* Translations lie beside the program in a build folder, else where it was installed. */
static void
bind_translations (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : g_strdup (".");
  g_autofree char *built = g_build_filename (folder, "..", "po", NULL);

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE,
                  g_file_test (built, G_FILE_TEST_IS_DIR) ? built : KVASIR_LOCALE_DIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
}

static gboolean
find_isa (const char *name, KvasirCpuIsa *isa)
{
  if (name == NULL)
    return TRUE;
  return kvasir_cpu_isa_find (name, isa) && kvasir_cpu_isa_is_available (*isa);
}

static gboolean
parse (int *argc, char ***argv, Options *options)
{
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, N_ ("Show the version"), NULL },
    { "isa", 0, 0, G_OPTION_ARG_STRING, &options->isa,
      N_ ("Instruction set: scalar, avx2, avx-vnni, avx512-vnni or amx"), N_ ("NAME") },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new (_ ("[FILE] - chat with a model"));
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (g_option_context_parse (context, argc, argv, &error))
    return TRUE;
  g_printerr ("kvasir: %s\n", error->message);
  return FALSE;
}

static int
run (int argc, char **argv, KvasirCpuIsa isa)
{
  const KvasirCpuOptions options = { .isa = isa };
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  KvasirApplication *application;
  int status;

  if (device == NULL)
    {
      g_printerr ("kvasir: %s\n",
                  _ ("The processor could not be set up: no memory or no threads."));
      return 1;
    }
  application = kvasir_application_new (device);
  status = g_application_run (G_APPLICATION (application), argc, argv);
  g_object_unref (application);
  device->vtable->free (device);
  return status;
}

int
main (int argc, char **argv)
{
  Options options = { 0 };
  KvasirCpuIsa isa = KVASIR_CPU_ISA_AUTO;
  int status = 2;

  bind_translations ();
  kvasir_app_prepare_blas ();
  if (!parse (&argc, &argv, &options))
    return status;
  if (options.version)
    {
      g_print ("Kvasir %s\n", KVASIR_VERSION);
      status = 0;
    }
  else if (!find_isa (options.isa, &isa))
    g_printerr (_ ("kvasir: this processor has no instruction set “%s”\n"), options.isa);
  else
    status = run (argc, argv, isa);
  g_free (options.isa);
  return status;
}
