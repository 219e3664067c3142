/* ui/store/text-search.h - finds a text whatever its case, as an SQL function
 *
 * kvasir_find (haystack, needle) is the piece of @haystack around the first place that holds
 * @needle, or NULL. Thread: the store's.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

G_BEGIN_DECLS

void kvasir_text_search_register (sqlite3 *db);

/* The piece of @text around the first place of @needle, on one line, or NULL. */
char *kvasir_text_search_find (const char *text, const char *needle) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
