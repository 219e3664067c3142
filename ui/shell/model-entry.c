#include "ui/shell/model-entry.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/base/display-text.h"
#include "viz/format.h"

struct _KvasirModelEntry
{
  GObject parent_instance;

  char *path;      /* (owned) */
  char *title;     /* (owned) */
  char *type_name; /* (owned) (nullable) */
  char *error;     /* (owned) (nullable) */
  KvasirModelState state;
  KvasirMemoryClass memory_class;
  guint64 file_bytes;
  guint64 need_bytes;
  guint64 free_bytes;
  guint n_cells;
};

G_DEFINE_FINAL_TYPE (KvasirModelEntry, kvasir_model_entry, G_TYPE_OBJECT)

enum
{
  PROP_STATE = 1,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void
kvasir_model_entry_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STATE)
    g_value_set_int (value, (int) KVASIR_MODEL_ENTRY (object)->state);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
kvasir_model_entry_finalize (GObject *object)
{
  KvasirModelEntry *self = KVASIR_MODEL_ENTRY (object);

  g_free (self->path);
  g_free (self->title);
  g_free (self->type_name);
  g_free (self->error);
  G_OBJECT_CLASS (kvasir_model_entry_parent_class)->finalize (object);
}

static void
kvasir_model_entry_class_init (KvasirModelEntryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_model_entry_get_property;
  object_class->finalize = kvasir_model_entry_finalize;
  props[PROP_STATE] =
      g_param_spec_int ("state", NULL, NULL, 0, KVASIR_MODEL_UNUSABLE, 0,
                        G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_model_entry_init (KvasirModelEntry *self)
{
}

KvasirModelEntry *
kvasir_model_entry_new (const char *path, guint64 file_bytes)
{
  KvasirModelEntry *self = g_object_new (KVASIR_TYPE_MODEL_ENTRY, NULL);
  g_autofree char *title = kvasir_model_make_title (path);

  self->path = g_strdup (path);
  self->title = kvasir_display_line (title, 80);
  self->file_bytes = file_bytes;
  return self;
}

static void
take_fit (KvasirModelEntry *self, const KvasirFit *fit, KvasirModel *model)
{
  self->need_bytes = fit->need_bytes;
  self->free_bytes = fit->free_bytes;
  self->n_cells = fit->params.n_ctx;
  self->state = fit->fits ? KVASIR_MODEL_FITS : KVASIR_MODEL_TOO_LARGE;
  if (model == NULL)
    return;
  g_free (self->type_name);
  self->type_name = g_ascii_strup (kvasir_model_get_info (model)->type_name, -1);
  self->memory_class = kvasir_model_get_info (model)->memory_class;
}

/* What an error says behind the name of the file, which stands beside it and is longer than a row.
 */
static const char *
skip_path (const KvasirModelEntry *self, const char *message)
{
  const gsize len = strlen (self->path);

  return g_str_has_prefix (message, self->path) && g_str_has_prefix (message + len, ": ")
             ? message + len + 2
             : message;
}

void
kvasir_model_entry_take_measure (KvasirModelEntry *self, const KvasirNotice *notice)
{
  g_return_if_fail (KVASIR_IS_MODEL_ENTRY (self));
  if (notice->fit != NULL && notice->error == NULL)
    take_fit (self, notice->fit, notice->model);
  else
    {
      g_free (self->error);
      self->error = notice->error != NULL
                        ? kvasir_display_text (skip_path (self, notice->error->message), -1)
                        : g_strdup ("");
      self->state = KVASIR_MODEL_UNUSABLE;
    }
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_STATE]);
}

const char *
kvasir_model_entry_get_path (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  return self->path;
}

const char *
kvasir_model_entry_get_title (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  return self->title;
}

KvasirModelState
kvasir_model_entry_get_state (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), KVASIR_MODEL_UNUSABLE);
  return self->state;
}

guint64
kvasir_model_entry_get_file_bytes (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), 0);
  return self->file_bytes;
}

guint64
kvasir_model_entry_get_free_bytes (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), 0);
  return self->free_bytes;
}

static gboolean
is_measured (KvasirModelEntry *self)
{
  return self->state == KVASIR_MODEL_FITS || self->state == KVASIR_MODEL_TOO_LARGE;
}

char *
kvasir_model_entry_describe (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  if (self->state == KVASIR_MODEL_MEASURING)
    return g_strdup (_ ("measuring…"));
  if (!is_measured (self))
    return g_strdup ("");
  return g_strdup_printf (_ ("%s · %s cells planned"),
                          self->type_name != NULL ? self->type_name : "",
                          kvasir_format_count (self->n_cells).s);
}

const char *
kvasir_model_entry_get_memory_kind (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  if (!is_measured (self))
    return "";
  switch (self->memory_class)
    {
    case KVASIR_MEMORY_KV:
      return _ ("full attention");
    case KVASIR_MEMORY_KV_ISWA:
      return _ ("sliding + full");
    case KVASIR_MEMORY_RECURRENT:
      return _ ("recurrent");
    case KVASIR_MEMORY_HYBRID:
      return _ ("recurrent + full");
    case KVASIR_MEMORY_HYBRID_ISWA:
      return _ ("recurrent + sliding");
    case KVASIR_MEMORY_NONE:
    default:
      return _ ("no memory");
    }
}

char *
kvasir_model_entry_describe_fit (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  switch (self->state)
    {
    case KVASIR_MODEL_FITS:
      return g_strdup_printf (_ ("%s on CPU"), kvasir_format_size (self->need_bytes).s);
    case KVASIR_MODEL_TOO_LARGE:
      return g_strdup_printf (_ ("needs %s, %s are free"), kvasir_format_size (self->need_bytes).s,
                              kvasir_format_size (self->free_bytes).s);
    case KVASIR_MODEL_UNUSABLE:
      return g_strdup (self->error);
    case KVASIR_MODEL_MEASURING:
    default:
      return g_strdup ("");
    }
}

char *
kvasir_model_entry_describe_need (KvasirModelEntry *self)
{
  g_return_val_if_fail (KVASIR_IS_MODEL_ENTRY (self), NULL);
  if (!is_measured (self))
    return g_strdup_printf (_ ("%s file"), kvasir_format_size (self->file_bytes).s);
  return g_strdup_printf (_ ("%s file · needs %s with %s cells · runs on every computer"),
                          kvasir_format_size (self->file_bytes).s,
                          kvasir_format_size (self->need_bytes).s,
                          kvasir_format_count (self->n_cells).s);
}
