#include "app/application.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>

#include "ui/shell/window.h"

struct _KvasirApplication
{
  AdwApplication parent_instance;

  KvasirDevice *device;       /* (unowned) */
  KvasirEngineClient *client; /* (owned) */
  KvasirStore *store;         /* (owned) */
  KvasirHistory *history;     /* (owned) */
  KvasirAnswers *answers;     /* (owned) */
  KvasirSettings *settings;   /* (owned) */
};

G_DEFINE_FINAL_TYPE (KvasirApplication, kvasir_application, ADW_TYPE_APPLICATION)

static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  GtkWindow *window = gtk_application_get_active_window (user_data);

  /* Closing remembers the window's size; the last window ends the application. */
  if (window != NULL)
    gtk_window_close (window);
  else
    g_application_quit (user_data);
}

static char *
describe_build (KvasirApplication *self)
{
  return g_strdup_printf ("Kvasir %s\n%s: %s\nGTK %u.%u.%u, libadwaita %u.%u.%u, GLib %u.%u.%u\n",
                          KVASIR_VERSION, self->device->name, self->device->description,
                          gtk_get_major_version (), gtk_get_minor_version (),
                          gtk_get_micro_version (), adw_get_major_version (),
                          adw_get_minor_version (), adw_get_micro_version (), glib_major_version,
                          glib_minor_version, glib_micro_version);
}

static KvasirWindow *
make_window (KvasirApplication *self)
{
  static const char *const schemes[] = { "system", "light", "dark" };
  g_autofree char *models = g_build_filename (g_get_user_data_dir (), "kvasir", "models", NULL);
  g_autofree char *facts = describe_build (self);
  int scheme = kvasir_settings_get_int (self->settings, "color-scheme");
  const KvasirWindowParts parts = { .client = self->client,
                                    .history = self->history,
                                    .answers = self->answers,
                                    .settings = self->settings,
                                    .models_folder = models,
                                    .build_facts = facts };
  KvasirWindow *window = kvasir_window_new (GTK_APPLICATION (self), &parts);

  g_action_group_change_action_state (G_ACTION_GROUP (window), "color-scheme",
                                      g_variant_new_string (schemes[scheme]));
  return window;
}

/* Returns: (transfer none): the window, and in @is_new whether it was made just now */
static KvasirWindow *
get_window (KvasirApplication *self, gboolean *is_new)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));

  *is_new = window == NULL;
  return window != NULL ? KVASIR_WINDOW (window) : make_window (self);
}

static void
kvasir_application_activate (GApplication *application)
{
  KvasirApplication *self = KVASIR_APPLICATION (application);
  gboolean is_new;
  KvasirWindow *window = get_window (self, &is_new);
  g_autofree char *last = kvasir_settings_dup_string (self->settings, "last-model");

  gtk_window_present (GTK_WINDOW (window));
  if (is_new && *last != '\0' && g_file_test (last, G_FILE_TEST_EXISTS))
    kvasir_window_open_path (window, last);
}

static void
kvasir_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  gboolean is_new;
  KvasirWindow *window = get_window (KVASIR_APPLICATION (application), &is_new);
  g_autofree char *path = g_file_get_path (files[0]);

  gtk_window_present (GTK_WINDOW (window));
  if (path != NULL)
    kvasir_window_open_path (window, path);
}

static void
kvasir_application_startup (GApplication *application)
{
  static const GActionEntry entries[] = { { "quit", quit_cb } };
  KvasirApplication *self = KVASIR_APPLICATION (application);
  g_autofree char *settings_path =
      g_build_filename (g_get_user_config_dir (), "kvasir", "settings.ini", NULL);
  g_autofree char *history_path =
      g_build_filename (g_get_user_data_dir (), "kvasir", "history.db", NULL);

  G_APPLICATION_CLASS (kvasir_application_parent_class)->startup (application);
  gtk_source_init ();
  /* A Tab into a text must not select all of it. */
  g_object_set (gtk_settings_get_default (), "gtk-label-select-on-focus", FALSE, NULL);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  kvasir_window_add_accels (GTK_APPLICATION (self));
  self->settings = kvasir_settings_new (settings_path);
  self->client = kvasir_engine_client_new (self->device);
  self->store = kvasir_store_new (history_path);
  self->history = kvasir_history_new (self->store);
  self->answers = kvasir_answers_new (self->client, self->history);
}

/* The engine stops within a step, the store writes what it was given; then both threads end. */
static void
kvasir_application_shutdown (GApplication *application)
{
  KvasirApplication *self = KVASIR_APPLICATION (application);

  if (self->answers != NULL)
    {
      kvasir_engine_client_stop (self->client);
      kvasir_answers_stop_all (self->answers);
      kvasir_history_close (self->history);
      kvasir_settings_flush (self->settings);
    }
  G_APPLICATION_CLASS (kvasir_application_parent_class)->shutdown (application);
  g_clear_object (&self->answers);
  g_clear_object (&self->history);
  g_clear_object (&self->store);
  g_clear_object (&self->settings);
  g_clear_object (&self->client);
}

static void
kvasir_application_class_init (KvasirApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  application_class->activate = kvasir_application_activate;
  application_class->open = kvasir_application_open;
  application_class->startup = kvasir_application_startup;
  application_class->shutdown = kvasir_application_shutdown;
}

static void
kvasir_application_init (KvasirApplication *self)
{
}

KvasirApplication *
kvasir_application_new (KvasirDevice *device)
{
  KvasirApplication *self = g_object_new (
      KVASIR_TYPE_APPLICATION, "application-id", "org.kvasir.Kvasir", "resource-base-path",
      "/org/kvasir/Kvasir", "flags", G_APPLICATION_HANDLES_OPEN, NULL);

  self->device = device;
  return self;
}
