#include <string.h>

#include "engine/gguf/gguf.h"
#include "engine/model/model.h"

static gboolean
has_prefix_no_case (const char *text, const char *prefix)
{
  return g_ascii_strncasecmp (text, prefix, strlen (prefix)) == 0;
}

/* "Q4_1", "q4_k_m", "IQ2_XS", "F16", "bf16", "MXFP4": what a file name says of its weights. */
static gboolean
is_type_name (const char *word)
{
  static const char *const types[] = { "f16", "f32", "bf16", "fp16", "fp32" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_ascii_strcasecmp (word, types[i]) == 0)
      return TRUE;
  if (has_prefix_no_case (word, "mxfp") || has_prefix_no_case (word, "nvfp"))
    return TRUE;
  if (has_prefix_no_case (word, "tq") || has_prefix_no_case (word, "iq"))
    return g_ascii_isdigit (word[2]);
  return (word[0] == 'q' || word[0] == 'Q') && g_ascii_isdigit (word[1]);
}

/* "270m", "0.6b": the number of parameters. */
static gboolean
is_size (const char *word)
{
  gsize len = strlen (word);
  if (len < 2 || strchr ("mb", word[len - 1]) == NULL)
    return FALSE;
  return strspn (word, "0123456789.") == len - 1;
}

static void
append_word (GString *title, char *word)
{
  gsize len = strlen (word);

  if (len == 0)
    return;
  if (is_size (word))
    word[len - 1] = g_ascii_toupper (word[len - 1]);
  else if (len > 2)
    word[0] = g_ascii_toupper (word[0]);
  if (title->len > 0)
    g_string_append_c (title, ' ');
  g_string_append (title, word);
}

char *
kvasir_model_make_title (const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  g_autoptr (GString) title = g_string_new (NULL);
  guint no = 0, n = 0;
  char *word, *next;

  name[strlen (name) - kvasir_gguf_parse_part_name (name, &no, &n)] = '\0';
  if (g_str_has_suffix (name, ".gguf"))
    name[strlen (name) - strlen (".gguf")] = '\0';
  /* A type name holds underscores, so it is cut off before those separate words. */
  for (char *p = name; *p != '\0'; p++)
    if ((*p == '.' || *p == '-' || *p == '_') && is_type_name (p + 1))
      {
        *p = '\0';
        break;
      }
  for (word = name; word != NULL; word = next)
    {
      next = strpbrk (word, "-_ ");
      if (next != NULL)
        *next++ = '\0';
      append_word (title, word);
    }
  if (title->len == 0)
    g_string_append (title, "?");
  return g_string_free (g_steal_pointer (&title), FALSE);
}
