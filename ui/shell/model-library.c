#include "ui/shell/model-library.h"

#define DEFAULT_MODEL "SmolLM2-135M-Instruct.Q4_1.gguf"
/* A copy in progress changes many times. */
#define REFRESH_DELAY_MS 600

struct _KvasirModelLibrary
{
  GObject parent_instance;

  KvasirEngineClient *client; /* (owned) */
  char *folder;               /* (owned) */
  GFileMonitor *monitor;      /* (owned) (nullable) */
  GListStore *entries;        /* (owned) of KvasirModelEntry */
  KvasirModelEntry *measured; /* (owned) (nullable): by the request below */
  guint64 request_id;
  guint refresh_id; /* 0: none pending */
};

static GType
get_item_type (GListModel *model)
{
  return KVASIR_TYPE_MODEL_ENTRY;
}

static guint
get_n_items (GListModel *model)
{
  return g_list_model_get_n_items (G_LIST_MODEL (KVASIR_MODEL_LIBRARY (model)->entries));
}

static gpointer
get_item (GListModel *model, guint position)
{
  return g_list_model_get_item (G_LIST_MODEL (KVASIR_MODEL_LIBRARY (model)->entries), position);
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (KvasirModelLibrary,
                               kvasir_model_library,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum
{
  MEASURED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* ---- measuring */

static void
measure_next (KvasirModelLibrary *self)
{
  guint n = get_n_items (G_LIST_MODEL (self));

  for (guint i = 0; self->measured == NULL && i < n; i++)
    {
      g_autoptr (KvasirModelEntry) entry = get_item (G_LIST_MODEL (self), i);
      KvasirContextParams params;

      if (kvasir_model_entry_get_state (entry) != KVASIR_MODEL_MEASURING)
        continue;
      kvasir_context_params_init (&params);
      self->measured = g_object_ref (entry);
      self->request_id =
          kvasir_engine_client_measure (self->client, kvasir_model_entry_get_path (entry), &params);
    }
}

static void
notice_cb (KvasirEngineClient *client, const KvasirNotice *notice, KvasirModelLibrary *self)
{
  if (self->measured == NULL || notice->request_id != self->request_id)
    return;
  kvasir_model_entry_take_measure (self->measured, notice);
  g_clear_object (&self->measured);
  g_signal_emit (self, signals[MEASURED], 0);
  measure_next (self);
}

/* ---- looking */

static int
compare (gconstpointer a, gconstpointer b, gpointer user_data)
{
  return g_utf8_collate (kvasir_model_entry_get_title ((KvasirModelEntry *) a),
                         kvasir_model_entry_get_title ((KvasirModelEntry *) b));
}

static gboolean
is_model (GFileInfo *info)
{
  const char *name = g_file_info_get_name (info);
  guint no = 0, n = 0;

  /* The later parts of a split model come with the first one. */
  return g_file_info_get_file_type (info) == G_FILE_TYPE_REGULAR &&
         g_str_has_suffix (name, ".gguf") &&
         (kvasir_gguf_parse_part_name (name, &no, &n) == 0 || no == 0);
}

/* Of path -> size. */
static GHashTable *
list_folder (const char *folder)
{
  GHashTable *files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GFile) file = g_file_new_for_path (folder);
  g_autoptr (GFileEnumerator) children =
      g_file_enumerate_children (file,
                                 G_FILE_ATTRIBUTE_STANDARD_NAME "," G_FILE_ATTRIBUTE_STANDARD_TYPE
                                                                "," G_FILE_ATTRIBUTE_STANDARD_SIZE,
                                 G_FILE_QUERY_INFO_NONE, NULL, NULL);
  GFileInfo *info;

  while (children != NULL && (info = g_file_enumerator_next_file (children, NULL, NULL)) != NULL)
    {
      guint64 size = (guint64) g_file_info_get_size (info);

      if (is_model (info))
        g_hash_table_insert (files, g_build_filename (folder, g_file_info_get_name (info), NULL),
                             g_memdup2 (&size, sizeof size));
      g_object_unref (info);
    }
  return files;
}

static void
list_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_pointer (task, list_folder (data), (GDestroyNotify) g_hash_table_unref);
}

/* Entries whose file is still the same are kept with what is known of them. */
static void
drop_changed (KvasirModelLibrary *self, GHashTable *files)
{
  for (guint i = get_n_items (G_LIST_MODEL (self)); i > 0; i--)
    {
      g_autoptr (KvasirModelEntry) entry = get_item (G_LIST_MODEL (self), i - 1);
      const char *path = kvasir_model_entry_get_path (entry);
      const guint64 *size = g_hash_table_lookup (files, path);

      if (size != NULL && *size == kvasir_model_entry_get_file_bytes (entry))
        g_hash_table_remove (files, path);
      else
        g_list_store_remove (self->entries, i - 1);
    }
}

static void
listed_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  KvasirModelLibrary *self = KVASIR_MODEL_LIBRARY (source);
  g_autoptr (GHashTable) files = g_task_propagate_pointer (G_TASK (result), NULL);
  GHashTableIter iter;
  gpointer path, size;

  if (self->entries == NULL)
    return;
  drop_changed (self, files);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &path, &size))
    {
      g_autoptr (KvasirModelEntry) entry = kvasir_model_entry_new (path, *(guint64 *) size);

      g_list_store_insert_sorted (self->entries, entry, compare, NULL);
    }
  measure_next (self);
}

void
kvasir_model_library_refresh (KvasirModelLibrary *self)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (KVASIR_IS_MODEL_LIBRARY (self));
  task = g_task_new (self, NULL, listed_cb, NULL);
  g_task_set_task_data (task, g_strdup (self->folder), g_free);
  g_task_run_in_thread (task, list_thread);
}

static gboolean
refresh_cb (gpointer user_data)
{
  KvasirModelLibrary *self = user_data;

  self->refresh_id = 0;
  kvasir_model_library_refresh (self);
  return G_SOURCE_REMOVE;
}

static void
folder_changed_cb (KvasirModelLibrary *self)
{
  g_clear_handle_id (&self->refresh_id, g_source_remove);
  self->refresh_id = g_timeout_add (REFRESH_DELAY_MS, refresh_cb, self);
}

/* ---- making */

static void
items_changed_cb (KvasirModelLibrary *self, guint position, guint removed, guint added)
{
  g_list_model_items_changed (G_LIST_MODEL (self), position, removed, added);
}

static void
kvasir_model_library_dispose (GObject *object)
{
  KvasirModelLibrary *self = KVASIR_MODEL_LIBRARY (object);

  g_clear_handle_id (&self->refresh_id, g_source_remove);
  g_clear_object (&self->monitor);
  g_clear_object (&self->measured);
  g_clear_object (&self->entries);
  g_clear_object (&self->client);
  g_clear_pointer (&self->folder, g_free);
  G_OBJECT_CLASS (kvasir_model_library_parent_class)->dispose (object);
}

static void
kvasir_model_library_class_init (KvasirModelLibraryClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = kvasir_model_library_dispose;
  signals[MEASURED] = g_signal_new ("measured", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
kvasir_model_library_init (KvasirModelLibrary *self)
{
  self->entries = g_list_store_new (KVASIR_TYPE_MODEL_ENTRY);
  g_signal_connect_object (self->entries, "items-changed", G_CALLBACK (items_changed_cb), self,
                           G_CONNECT_SWAPPED);
}

KvasirModelLibrary *
kvasir_model_library_new (KvasirEngineClient *client, const char *folder)
{
  KvasirModelLibrary *self = g_object_new (KVASIR_TYPE_MODEL_LIBRARY, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (folder);

  self->client = g_object_ref (client);
  self->folder = g_strdup (folder);
  g_signal_connect_object (client, "notice", G_CALLBACK (notice_cb), self, 0);
  self->monitor = g_file_monitor_directory (file, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL);
  if (self->monitor != NULL)
    g_signal_connect_object (self->monitor, "changed", G_CALLBACK (folder_changed_cb), self,
                             G_CONNECT_SWAPPED);
  kvasir_model_library_refresh (self);
  return self;
}

KvasirModelEntry *
kvasir_model_library_find_default (KvasirModelLibrary *self)
{
  guint n;

  g_return_val_if_fail (KVASIR_IS_MODEL_LIBRARY (self), NULL);
  n = get_n_items (G_LIST_MODEL (self));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (KvasirModelEntry) entry = get_item (G_LIST_MODEL (self), i);
      g_autofree char *name = g_path_get_basename (kvasir_model_entry_get_path (entry));

      if (g_str_equal (name, DEFAULT_MODEL))
        return entry;
    }
  return NULL;
}
