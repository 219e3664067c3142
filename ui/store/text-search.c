#include "ui/store/text-search.h"

#include <string.h>

#define CHARS_BEFORE 20
#define CHARS_AFTER 60

/* Most searches are plain letters in plain text: comparing bytes finds them without folding
 * megabytes of history, and no byte of a longer character can be mistaken for one. */
static const char *
find_ascii (const char *text, const char *needle)
{
  gsize len = strlen (needle);

  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_tolower (*p) == g_ascii_tolower (*needle) &&
        g_ascii_strncasecmp (p, needle, len) == 0)
      return p;
  return NULL;
}

/* Folding can change lengths, so the place is found character by character. */
static const char *
find_folded (const char *text, const char *needle)
{
  g_autofree char *folded_needle = g_utf8_casefold (needle, -1);
  g_autofree char *folded_text = g_utf8_casefold (text, -1);
  const char *hit = strstr (folded_text, folded_needle);
  gsize offset;

  if (hit == NULL)
    return NULL;
  offset = (gsize) (hit - folded_text);
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      g_autofree char *folded = g_utf8_casefold (p, g_utf8_next_char (p) - p);
      gsize len = strlen (folded);

      if (len > offset)
        return p;
      offset -= len;
    }
  return text;
}

static char *
cut_around (const char *text, const char *hit)
{
  const char *from = hit;
  const char *to = hit;
  char *piece;

  for (guint i = 0; i < CHARS_BEFORE && from > text; i++)
    from = g_utf8_prev_char (from);
  for (guint i = 0; i < CHARS_AFTER && *to != '\0'; i++)
    to = g_utf8_next_char (to);
  piece = g_strdup_printf ("%s%.*s", from > text ? "…" : "", (int) (to - from), from);
  return g_strdelimit (piece, "\n\r\t", ' ');
}

char *
kvasir_text_search_find (const char *text, const char *needle)
{
  const char *hit;

  if (*needle == '\0')
    return NULL;
  hit = g_str_is_ascii (needle) ? find_ascii (text, needle) : find_folded (text, needle);
  return hit != NULL ? cut_around (text, hit) : NULL;
}

static void
find_function (sqlite3_context *context, int n, sqlite3_value **values)
{
  const char *text = (const char *) sqlite3_value_text (values[0]);
  const char *needle = (const char *) sqlite3_value_text (values[1]);
  char *piece = NULL;

  if (text != NULL && needle != NULL && g_utf8_validate (text, -1, NULL))
    piece = kvasir_text_search_find (text, needle);
  if (piece != NULL)
    sqlite3_result_text (context, piece, -1, g_free);
  else
    sqlite3_result_null (context);
}

void
kvasir_text_search_register (sqlite3 *db)
{
  sqlite3_create_function (db, "kvasir_find", 2,
                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                           find_function, NULL, NULL);
}
