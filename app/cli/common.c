#include "app/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"

#define MAX_TEXT_BYTES (64 << 20)

G_DEFINE_QUARK (kvasir - cli - error - quark, kvasir_cli_error)

json_t *
kvasir_cli_json_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  return json_string (valid);
}

char *
kvasir_cli_escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      const gunichar c = g_utf8_get_char (p);
      if (g_unichar_iscntrl (c))
        g_string_append_printf (out, "\\x%02x", c);
      else
        g_string_append_unichar (out, c);
    }
  return g_string_free (out, FALSE);
}

int
kvasir_cli_fail (const GError *error)
{
  g_autofree char *text = kvasir_cli_escape (error->message);

  g_printerr ("kvasir-cli: %s\n", text);
  return error->domain == KVASIR_CLI_ERROR ? error->code : KVASIR_EXIT_MODEL;
}

static gboolean
check_n_args (const KvasirCommandLine *line, int n, GError **error)
{
  if (n >= line->min_args && n <= line->max_args)
    return TRUE;
  if (n < line->min_args)
    g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                         "a file name is expected; see --help");
  else
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                 "at most %d argument%s expected, %d found", line->max_args,
                 line->max_args == 1 ? "" : "s", n);
  return FALSE;
}

static void
add_device_entries (GOptionContext *context, KvasirDeviceArgs *device)
{
  const GOptionEntry entries[] = {
    { "isa", 0, 0, G_OPTION_ARG_STRING, &device->isa,
      "Instruction set: scalar, avx2, avx-vnni, avx512-vnni or amx (default: the best there is)",
      "NAME" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &device->n_threads,
      "Threads that compute (default: one for each core, at most 16)", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_option_context_add_main_entries (context, entries, NULL);
}

gboolean
kvasir_cli_parse (const KvasirCommandLine *line, int *argc, char ***argv, int *status)
{
  g_autoptr (GOptionContext) context = g_option_context_new (line->summary);
  g_autoptr (GError) error = NULL;
  gboolean help = FALSE;
  const GOptionEntry help_entry[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this text", NULL },
    G_OPTION_ENTRY_NULL,
  };

  /* The library's own help would leave through exit() with the program's name alone. */
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, help_entry, NULL);
  if (line->entries != NULL)
    g_option_context_add_main_entries (context, line->entries, NULL);
  if (line->device != NULL)
    add_device_entries (context, line->device);
  if (line->group != NULL)
    g_option_context_add_group (context, line->group);
  *status = KVASIR_EXIT_USAGE;
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      g_printerr ("kvasir-cli: %s\n", error->message);
      return FALSE;
    }
  if (help)
    {
      g_autofree char *text = g_option_context_get_help (context, FALSE, NULL);
      g_print ("%s", text);
      *status = KVASIR_EXIT_OK;
      return FALSE;
    }
  if (!check_n_args (line, *argc - 1, &error))
    {
      *status = kvasir_cli_fail (error);
      return FALSE;
    }
  return TRUE;
}

static gboolean
find_isa (const char *name, KvasirCpuIsa *isa, GError **error)
{
  *isa = KVASIR_CPU_ISA_AUTO;
  if (name == NULL)
    return TRUE;
  if (!kvasir_cpu_isa_find (name, isa))
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                 "--isa: scalar, avx2, avx-vnni, avx512-vnni or amx expected, \"%s\" found", name);
  else if (!kvasir_cpu_isa_is_available (*isa))
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL,
                 "--isa %s: this processor does not have it", name);
  else
    return TRUE;
  return FALSE;
}

KvasirDevice *
kvasir_cli_open_device (const KvasirDeviceArgs *args, GError **error)
{
  KvasirCpuOptions options = { .n_threads = args->n_threads, .as_traces = args->as_traces };
  KvasirDevice *device;

  if (args->n_threads < 0 || args->n_threads > 1024)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "--threads: 1 to 1024 expected, %d found", args->n_threads);
      return NULL;
    }
  if (!find_isa (args->isa, &options.isa, error))
    return NULL;
  device = kvasir_cpu_device_new (&options);
  if (device == NULL)
    g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL,
                         "no memory or no threads for computing");
  return device;
}

void
kvasir_cli_close_device (KvasirDevice *device)
{
  device->vtable->free (device);
}

char *
kvasir_cli_get_model_dir (void)
{
  return g_build_filename (g_get_user_data_dir (), "kvasir", "models", NULL);
}

static gboolean
try_model (const char *dir, const char *name, GString *tried, char **path)
{
  *path = g_build_filename (dir, name, NULL);
  if (g_file_test (*path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  g_clear_pointer (path, g_free);
  g_string_append_printf (tried, "%s%s", tried->len > 0 ? ", " : "", dir);
  return FALSE;
}

char *
kvasir_cli_find_model (const char *name, const char *near, char **dirs, GError **error)
{
  g_autoptr (GString) tried = g_string_new (NULL);
  g_autofree char *beside = near != NULL ? g_path_get_dirname (near) : NULL;
  g_autofree char *known = kvasir_cli_get_model_dir ();
  char *path = NULL;

  if (g_path_is_absolute (name))
    return g_strdup (name);
  if (beside != NULL && try_model (beside, name, tried, &path))
    return path;
  for (guint i = 0; dirs != NULL && dirs[i] != NULL; i++)
    if (try_model (dirs[i], name, tried, &path))
      return path;
  if (try_model (known, name, tried, &path))
    return path;
  g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL, "model \"%s\" not found in %s", name,
               tried->str);
  return NULL;
}

char *
kvasir_cli_find_file (const char *name, GError **error)
{
  if (g_file_test (name, G_FILE_TEST_EXISTS) || strchr (name, G_DIR_SEPARATOR) != NULL)
    return g_strdup (name);
  return kvasir_cli_find_model (name, name, NULL, error);
}

char *
kvasir_cli_read_stream (FILE *file, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char part[4096];
  gsize n;

  while (text->len <= MAX_TEXT_BYTES && (n = fread (part, 1, sizeof part, file)) > 0)
    g_string_append_len (text, part, (gssize) n);
  if (ferror (file))
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE, "cannot be read: %s",
                 g_strerror (errno));
  else if (text->len > MAX_TEXT_BYTES)
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                 "a text of at most %d MiB expected, more found", MAX_TEXT_BYTES >> 20);
  else if (memchr (text->str, '\0', text->len) != NULL)
    g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                         "text expected, a zero byte found");
  else
    return g_string_free (g_steal_pointer (&text), FALSE);
  return NULL;
}

char *
kvasir_cli_read_text (const char *path, GError **error)
{
  FILE *file = fopen (path, "re");
  char *text;

  if (file == NULL)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE, "cannot be read: %s",
                   g_strerror (errno));
      return NULL;
    }
  text = kvasir_cli_read_stream (file, error);
  fclose (file);
  return text;
}

json_t *
kvasir_cli_json_real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

char *
kvasir_cli_format_bytes (guint64 n_bytes)
{
  static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  double value = (double) n_bytes / 1024;
  guint unit = 0;

  if (n_bytes < 1024)
    return g_strdup_printf ("%u B", (guint) n_bytes);
  while (value >= 1024 && unit + 1 < G_N_ELEMENTS (units))
    {
      value /= 1024;
      unit++;
    }
  g_ascii_formatd (number, sizeof number, "%.1f", value);
  return g_strdup_printf ("%s %s", number, units[unit]);
}

void
kvasir_cli_print_json (json_t *value)
{
  /* Nine digits keep every float apart from its neighbours. */
  char *text = json_dumps (value, JSON_COMPACT | JSON_REAL_PRECISION (9));
  /* Not g_print(), which converts to the locale's character set: JSON is UTF-8. */
  fputs (text != NULL ? text : "null", stdout);
  fputc ('\n', stdout);
  fflush (stdout);
  free (text);
  json_decref (value);
}

int
kvasir_cli_find_cache_type (const char *name)
{
  static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,  KVASIR_TYPE_BF16,
                                      KVASIR_TYPE_Q8_0, KVASIR_TYPE_Q4_0, KVASIR_TYPE_Q4_1,
                                      KVASIR_TYPE_Q5_0, KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL };
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_ascii_strcasecmp (name, kvasir_type_get_name ((int) types[i])) == 0)
      return (int) types[i];
  return -1;
}

gboolean
kvasir_cli_set_cache_type (const char *option, const char *name, KvasirType *type, GError **error)
{
  const int found = name != NULL ? kvasir_cli_find_cache_type (name) : (int) *type;

  if (found < 0)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "--%s: f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0 or q5_1 expected, \"%s\" "
                   "found",
                   option, name);
      return FALSE;
    }
  *type = (KvasirType) found;
  return TRUE;
}
