/* ui/base/settings.h - what the app remembers between runs, besides the chats
 *
 * One key file, $XDG_CONFIG_HOME/kvasir/settings.ini. Every key is a property; a missing or broken
 * value is the property's default. Changes are written half a second later and when the object is
 * disposed; numbers are written independently of the locale.
 *
 * Thread: main thread.
 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef enum
{
  KVASIR_COLOR_SCHEME_SYSTEM,
  KVASIR_COLOR_SCHEME_LIGHT,
  KVASIR_COLOR_SCHEME_DARK
} KvasirColorScheme;

/* Properties, all read-write:
 *   "color-scheme" (int, KvasirColorScheme), "window-width", "window-height" (int),
 *   "maximized" (boolean), "show-chats", "show-inspector" (boolean),
 *   "inspector-width" (int; 0: a share of the window),
 *   "last-model" (string, path), "sampling" (string, see ui/history/sampling.h),
 *   "guesses" (int, KvasirGuessKind), "guess-model" (string, path) */
#define KVASIR_TYPE_SETTINGS (kvasir_settings_get_type ())
G_DECLARE_FINAL_TYPE (KvasirSettings, kvasir_settings, KVASIR, SETTINGS, GObject)

/* Reads @path; it need not exist. */
KvasirSettings *kvasir_settings_new (const char *path) G_GNUC_WARN_UNUSED_RESULT;
int kvasir_settings_get_int (KvasirSettings *self, const char *name);
gboolean kvasir_settings_get_boolean (KvasirSettings *self, const char *name);
/* Returns: (transfer full): never NULL */
char *kvasir_settings_dup_string (KvasirSettings *self, const char *name) G_GNUC_WARN_UNUSED_RESULT;
/* Writes what is not written yet. */
void kvasir_settings_flush (KvasirSettings *self);

G_END_DECLS
