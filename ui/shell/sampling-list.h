/* ui/shell/sampling-list.h - a list of short texts, typed one in a line
 *
 * Line breaks inside of a text stand as \n. Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What is wrong with a line, in the person's language; NULL: nothing. */
typedef const char *(*KvasirSamplingListCheck) (const char *text);

/* Signal "changed" (): a person typed something. */
#define KVASIR_TYPE_SAMPLING_LIST (kvasir_sampling_list_get_type ())
G_DECLARE_FINAL_TYPE (KvasirSamplingList, kvasir_sampling_list, KVASIR, SAMPLING_LIST, GtkBox)

/* @name: for screen readers. @check: (nullable) */
GtkWidget *kvasir_sampling_list_new (const char *name,
                                     KvasirSamplingListCheck check) G_GNUC_WARN_UNUSED_RESULT;
/* @texts: (nullable), ends with NULL. */
void kvasir_sampling_list_set (KvasirSamplingList *self, char **texts);
/* Empty lines, and those with something wrong, are left out. Returns: (transfer full) */
char **kvasir_sampling_list_dup (KvasirSamplingList *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
