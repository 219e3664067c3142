#include "ui/base/settings.h"

#include <gio/gio.h>

#define GROUP "kvasir"
#define WRITE_DELAY_MS 500

enum
{
  PROP_COLOR_SCHEME = 1,
  PROP_WINDOW_WIDTH,
  PROP_WINDOW_HEIGHT,
  PROP_MAXIMIZED,
  PROP_SHOW_CHATS,
  PROP_SHOW_INSPECTOR,
  PROP_INSPECTOR_WIDTH,
  PROP_LAST_MODEL,
  PROP_SAMPLING,
  PROP_GUESSES,
  PROP_GUESS_MODEL,
  N_PROPS
};

struct _KvasirSettings
{
  GObject parent_instance;

  char *path;             /* (owned) */
  GValue values[N_PROPS]; /* each of its property's type */
  guint write_id;         /* pending write, 0: none */
};

G_DEFINE_FINAL_TYPE (KvasirSettings, kvasir_settings, G_TYPE_OBJECT)

static GParamSpec *props[N_PROPS];

static void
read_value (GKeyFile *file, GParamSpec *pspec, GValue *value)
{
  g_autoptr (GError) error = NULL;

  if (pspec->value_type == G_TYPE_INT)
    {
      int n = g_key_file_get_integer (file, GROUP, pspec->name, &error);
      if (error == NULL)
        g_value_set_int (value, n);
    }
  else if (pspec->value_type == G_TYPE_BOOLEAN)
    {
      gboolean b = g_key_file_get_boolean (file, GROUP, pspec->name, &error);
      if (error == NULL)
        g_value_set_boolean (value, b);
    }
  else
    {
      char *s = g_key_file_get_string (file, GROUP, pspec->name, &error);
      if (error == NULL)
        g_value_take_string (value, s);
    }
  g_param_value_validate (pspec, value);
}

static void
write_value (GKeyFile *file, GParamSpec *pspec, const GValue *value)
{
  if (pspec->value_type == G_TYPE_INT)
    g_key_file_set_integer (file, GROUP, pspec->name, g_value_get_int (value));
  else if (pspec->value_type == G_TYPE_BOOLEAN)
    g_key_file_set_boolean (file, GROUP, pspec->name, g_value_get_boolean (value));
  else
    g_key_file_set_string (file, GROUP, pspec->name, g_value_get_string (value));
}

void
kvasir_settings_flush (KvasirSettings *self)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *folder = g_path_get_dirname (self->path);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (self->write_id == 0)
    return;
  g_clear_handle_id (&self->write_id, g_source_remove);
  for (guint i = 1; i < N_PROPS; i++)
    write_value (file, props[i], &self->values[i]);
  text = g_key_file_to_data (file, NULL, NULL);
  g_mkdir_with_parents (folder, 0700);
  /* Consistent but not durable: a lost window size is not worth a wait for the disk. */
  if (!g_file_set_contents_full (self->path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                 &error))
    g_message ("%s", error->message);
}

static gboolean
write_cb (gpointer user_data)
{
  KvasirSettings *self = user_data;

  kvasir_settings_flush (self);
  return G_SOURCE_REMOVE;
}

static void
kvasir_settings_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  KvasirSettings *self = KVASIR_SETTINGS (object);

  g_value_copy (&self->values[id], value);
}

static void
kvasir_settings_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  KvasirSettings *self = KVASIR_SETTINGS (object);

  if (g_param_values_cmp (pspec, value, &self->values[id]) == 0)
    return;
  g_value_copy (value, &self->values[id]);
  if (self->write_id == 0)
    self->write_id = g_timeout_add (WRITE_DELAY_MS, write_cb, self);
  g_object_notify_by_pspec (object, pspec);
}

static void
kvasir_settings_dispose (GObject *object)
{
  kvasir_settings_flush (KVASIR_SETTINGS (object));
  G_OBJECT_CLASS (kvasir_settings_parent_class)->dispose (object);
}

static void
kvasir_settings_finalize (GObject *object)
{
  KvasirSettings *self = KVASIR_SETTINGS (object);

  for (guint i = 1; i < N_PROPS; i++)
    g_value_unset (&self->values[i]);
  g_free (self->path);
  G_OBJECT_CLASS (kvasir_settings_parent_class)->finalize (object);
}

#define FLAGS (G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)

static void
kvasir_settings_class_init (KvasirSettingsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_settings_get_property;
  object_class->set_property = kvasir_settings_set_property;
  object_class->dispose = kvasir_settings_dispose;
  object_class->finalize = kvasir_settings_finalize;

  props[PROP_COLOR_SCHEME] = g_param_spec_int ("color-scheme", NULL, NULL, 0, 2, 0, FLAGS);
  props[PROP_WINDOW_WIDTH] = g_param_spec_int ("window-width", NULL, NULL, 360, 16384, 1280, FLAGS);
  props[PROP_WINDOW_HEIGHT] =
      g_param_spec_int ("window-height", NULL, NULL, 300, 16384, 800, FLAGS);
  props[PROP_MAXIMIZED] = g_param_spec_boolean ("maximized", NULL, NULL, FALSE, FLAGS);
  props[PROP_SHOW_CHATS] = g_param_spec_boolean ("show-chats", NULL, NULL, TRUE, FLAGS);
  props[PROP_SHOW_INSPECTOR] = g_param_spec_boolean ("show-inspector", NULL, NULL, TRUE, FLAGS);
  props[PROP_INSPECTOR_WIDTH] =
      g_param_spec_int ("inspector-width", NULL, NULL, 0, 16384, 0, FLAGS);
  props[PROP_LAST_MODEL] = g_param_spec_string ("last-model", NULL, NULL, "", FLAGS);
  props[PROP_SAMPLING] = g_param_spec_string ("sampling", NULL, NULL, "", FLAGS);
  props[PROP_GUESSES] = g_param_spec_int ("guesses", NULL, NULL, 0, 2, 0, FLAGS);
  props[PROP_GUESS_MODEL] = g_param_spec_string ("guess-model", NULL, NULL, "", FLAGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_settings_init (KvasirSettings *self)
{
  for (guint i = 1; i < N_PROPS; i++)
    {
      g_value_init (&self->values[i], props[i]->value_type);
      g_param_value_set_default (props[i], &self->values[i]);
    }
}

KvasirSettings *
kvasir_settings_new (const char *path)
{
  KvasirSettings *self = g_object_new (KVASIR_TYPE_SETTINGS, NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();

  self->path = g_strdup (path);
  if (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    for (guint i = 1; i < N_PROPS; i++)
      read_value (file, props[i], &self->values[i]);
  return self;
}

/* All by name, so that a caller cannot ask for the wrong type unnoticed. */
static const GValue *
find_value (KvasirSettings *self, const char *name, GType type)
{
  for (guint i = 1; i < N_PROPS; i++)
    if (g_str_equal (props[i]->name, name))
      {
        g_assert (props[i]->value_type == type);
        return &self->values[i];
      }
  g_assert_not_reached ();
}

int
kvasir_settings_get_int (KvasirSettings *self, const char *name)
{
  g_return_val_if_fail (KVASIR_IS_SETTINGS (self), 0);
  return g_value_get_int (find_value (self, name, G_TYPE_INT));
}

gboolean
kvasir_settings_get_boolean (KvasirSettings *self, const char *name)
{
  g_return_val_if_fail (KVASIR_IS_SETTINGS (self), FALSE);
  return g_value_get_boolean (find_value (self, name, G_TYPE_BOOLEAN));
}

char *
kvasir_settings_dup_string (KvasirSettings *self, const char *name)
{
  const char *s;

  g_return_val_if_fail (KVASIR_IS_SETTINGS (self), NULL);
  s = g_value_get_string (find_value (self, name, G_TYPE_STRING));
  return g_strdup (s != NULL ? s : "");
}
