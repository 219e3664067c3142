#include "ui/history/history.h"

#include <glib/gi18n.h>

#include "ui/base/display-text.h"

#define WRITE_DELAY_MS 250
#define MAX_TITLE_CHARS 60

struct _KvasirHistory
{
  GObject parent_instance;

  KvasirStore *store;          /* (owned) */
  KvasirStoreOpening *opening; /* (owned) (nullable) */
  GPtrArray *chats;            /* (owned) of KvasirChat (owned), latest first */
  GPtrArray *deleted;          /* (owned) of KvasirChat (owned), not deleted in the file yet */
  GHashTable *conversations;   /* (owned) of KvasirChat (unowned) -> KvasirConversation (owned) */
  GHashTable *unwritten;       /* (owned) set of KvasirChat (owned) */
  GHashTable *hits;     /* (owned) (nullable) set of KvasirChat (unowned); NULL: all are found */
  GCancellable *search; /* (owned) (nullable) */
  guint write_id;       /* 0: nothing is unwritten */
  gboolean loaded;
};

static GType
get_item_type (GListModel *model)
{
  return KVASIR_TYPE_CHAT;
}

static guint
get_n_items (GListModel *model)
{
  return KVASIR_HISTORY (model)->chats->len;
}

static gpointer
get_item (GListModel *model, guint position)
{
  GPtrArray *chats = KVASIR_HISTORY (model)->chats;

  return position < chats->len ? g_object_ref (g_ptr_array_index (chats, position)) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (KvasirHistory,
                               kvasir_history,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum
{
  PROP_LOADED = 1,
  N_PROPS
};

enum
{
  FOUND,
  N_SIGNALS
};

static GParamSpec *props[N_PROPS];
static guint signals[N_SIGNALS];

/* ---- writing */

static void
write_chat (KvasirHistory *self, KvasirChat *chat)
{
  g_autoptr (KvasirChatRecord) record = kvasir_chat_to_record (chat);

  kvasir_store_put_chat_async (self->store, record, NULL, NULL);
}

static void
flush (KvasirHistory *self)
{
  GHashTableIter iter;
  gpointer chat;

  g_clear_handle_id (&self->write_id, g_source_remove);
  g_hash_table_iter_init (&iter, self->unwritten);
  while (g_hash_table_iter_next (&iter, &chat, NULL))
    write_chat (self, chat);
  g_hash_table_remove_all (self->unwritten);
}

static gboolean
write_cb (gpointer user_data)
{
  KvasirHistory *self = user_data;

  self->write_id = 0;
  flush (self);
  return G_SOURCE_REMOVE;
}

static void
chat_notify_cb (KvasirChat *chat, GParamSpec *pspec, KvasirHistory *self)
{
  static const char *const kept[] = { "title",    "draft",      "system-prompt",
                                      "sampling", "updated-us", "selected-root" };
  gboolean is_kept = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    is_kept |= g_str_equal (pspec->name, kept[i]);
  if (!is_kept)
    return;
  if (g_hash_table_add (self->unwritten, g_object_ref (chat)) && self->write_id == 0)
    self->write_id = g_timeout_add (WRITE_DELAY_MS, write_cb, self);
}

/* ---- the list */

static guint
find_index (GPtrArray *chats, KvasirChat *chat)
{
  guint index;

  return g_ptr_array_find (chats, chat, &index) ? index : G_MAXUINT;
}

/* Where a chat of that time belongs. */
static guint
find_place (KvasirHistory *self, gint64 updated_us)
{
  guint i = 0;

  while (i < self->chats->len &&
         kvasir_chat_get_updated_us (g_ptr_array_index (self->chats, i)) > updated_us)
    i++;
  return i;
}

static void
insert_chat (KvasirHistory *self, KvasirChat *chat)
{
  guint place = find_place (self, kvasir_chat_get_updated_us (chat));

  g_ptr_array_insert (self->chats, (int) place, g_object_ref (chat));
  g_list_model_items_changed (G_LIST_MODEL (self), place, 0, 1);
}

static void
remove_chat (KvasirHistory *self, KvasirChat *chat)
{
  guint index = find_index (self->chats, chat);

  g_assert (index != G_MAXUINT);
  g_ptr_array_remove_index (self->chats, index);
  g_list_model_items_changed (G_LIST_MODEL (self), index, 1, 0);
}

static void
watch_chat (KvasirHistory *self, KvasirChat *chat)
{
  g_signal_connect_object (chat, "notify", G_CALLBACK (chat_notify_cb), self, 0);
}

static void
chats_listed_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (KvasirHistory) self = user_data;
  g_autoptr (GPtrArray) records = kvasir_store_read_finish (KVASIR_STORE (source), result, NULL);

  for (guint i = 0; records != NULL && i < records->len; i++)
    {
      KvasirChat *chat = kvasir_chat_new (g_ptr_array_index (records, i));

      watch_chat (self, chat);
      g_ptr_array_add (self->chats, chat);
    }
  self->loaded = TRUE;
  g_list_model_items_changed (G_LIST_MODEL (self), 0, 0, self->chats->len);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_LOADED]);
}

static void
opened_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  KvasirHistory *self = user_data;

  self->opening = kvasir_store_open_finish (KVASIR_STORE (source), result, NULL);
  kvasir_store_list_chats_async (self->store, chats_listed_cb, self);
}

static void
kvasir_history_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_LOADED)
    g_value_set_boolean (value, KVASIR_HISTORY (object)->loaded);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
kvasir_history_finalize (GObject *object)
{
  KvasirHistory *self = KVASIR_HISTORY (object);

  g_clear_handle_id (&self->write_id, g_source_remove);
  g_clear_pointer (&self->hits, g_hash_table_unref);
  g_clear_object (&self->search);
  g_hash_table_unref (self->conversations);
  g_hash_table_unref (self->unwritten);
  g_ptr_array_unref (self->deleted);
  g_ptr_array_unref (self->chats);
  g_clear_pointer (&self->opening, kvasir_store_opening_free);
  g_object_unref (self->store);
  G_OBJECT_CLASS (kvasir_history_parent_class)->finalize (object);
}

static void
kvasir_history_class_init (KvasirHistoryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_history_get_property;
  object_class->finalize = kvasir_history_finalize;

  props[PROP_LOADED] =
      g_param_spec_boolean ("loaded", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);

  signals[FOUND] = g_signal_new ("found", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
kvasir_history_init (KvasirHistory *self)
{
  self->chats = g_ptr_array_new_with_free_func (g_object_unref);
  self->deleted = g_ptr_array_new_with_free_func (g_object_unref);
  self->conversations = g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  self->unwritten = g_hash_table_new_full (NULL, NULL, g_object_unref, NULL);
}

KvasirHistory *
kvasir_history_new (KvasirStore *store)
{
  KvasirHistory *self = g_object_new (KVASIR_TYPE_HISTORY, NULL);

  self->store = g_object_ref (store);
  kvasir_store_open_async (store, opened_cb, g_object_ref (self));
  return self;
}

KvasirChat *
kvasir_history_add_chat (KvasirHistory *self, const char *sampling)
{
  const KvasirChatRecord record = { .id = kvasir_store_take_id (self->store),
                                    .title = (char *) _ ("New chat"),
                                    .created_us = g_get_real_time (),
                                    .updated_us = g_get_real_time (),
                                    .system_prompt = (char *) "",
                                    .draft = (char *) "",
                                    .sampling = (char *) sampling };
  g_autoptr (KvasirChat) chat = kvasir_chat_new (&record);

  g_autoptr (GPtrArray) no_messages = g_ptr_array_new ();
  KvasirConversation *conversation = kvasir_conversation_new (chat, self->store);

  kvasir_conversation_load (conversation, no_messages);
  g_hash_table_insert (self->conversations, chat, conversation);
  watch_chat (self, chat);
  insert_chat (self, chat);
  return chat;
}

KvasirChat *
kvasir_history_find_chat (KvasirHistory *self, guint64 id)
{
  for (guint i = 0; i < self->chats->len; i++)
    if (kvasir_chat_get_id (g_ptr_array_index (self->chats, i)) == id)
      return g_ptr_array_index (self->chats, i);
  return NULL;
}

static void
messages_listed_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (KvasirConversation) conversation = user_data;
  g_autoptr (GPtrArray) records = kvasir_store_read_finish (KVASIR_STORE (source), result, NULL);

  if (records == NULL)
    records = g_ptr_array_new ();
  kvasir_conversation_load (conversation, records);
}

KvasirConversation *
kvasir_history_open_chat (KvasirHistory *self, KvasirChat *chat)
{
  KvasirConversation *conversation = g_hash_table_lookup (self->conversations, chat);

  if (conversation != NULL)
    return conversation;
  conversation = kvasir_conversation_new (chat, self->store);
  g_hash_table_insert (self->conversations, chat, conversation);
  kvasir_store_list_messages_async (self->store, kvasir_chat_get_id (chat), messages_listed_cb,
                                    g_object_ref (conversation));
  return conversation;
}

void
kvasir_history_touch (KvasirHistory *self, KvasirChat *chat, const char *first_message)
{
  g_autoptr (KvasirChat) held = g_object_ref (chat);
  gint64 now = g_get_real_time ();

  if (first_message != NULL && !kvasir_chat_get_title_fixed (chat))
    {
      g_autofree char *title = kvasir_display_line (first_message, MAX_TITLE_CHARS);

      if (*title != '\0')
        kvasir_chat_set_title (chat, title, FALSE);
    }
  /* Messages refer to the chat's row, so it goes first. */
  write_chat (self, chat);
  if (find_index (self->chats, chat) == 0)
    {
      g_object_set (chat, "updated-us", now, NULL);
      return;
    }
  remove_chat (self, chat);
  g_object_set (chat, "updated-us", now, NULL);
  insert_chat (self, chat);
}

/* ---- deleting */

void
kvasir_history_delete_chat (KvasirHistory *self, KvasirChat *chat)
{
  g_ptr_array_add (self->deleted, g_object_ref (chat));
  remove_chat (self, chat);
}

void
kvasir_history_finish_delete (KvasirHistory *self, KvasirChat *chat)
{
  guint index = find_index (self->deleted, chat);

  if (index == G_MAXUINT)
    return;
  g_signal_handlers_disconnect_by_data (chat, self);
  g_hash_table_remove (self->unwritten, chat);
  g_hash_table_remove (self->conversations, chat);
  kvasir_store_delete_chat_async (self->store, kvasir_chat_get_id (chat), NULL, NULL);
  g_ptr_array_remove_index (self->deleted, index);
}

void
kvasir_history_undo_delete (KvasirHistory *self, KvasirChat *chat)
{
  guint index = find_index (self->deleted, chat);

  if (index == G_MAXUINT)
    return;
  insert_chat (self, chat);
  g_ptr_array_remove_index (self->deleted, index);
}

/* ---- searching */

static void
set_hits (KvasirHistory *self, GPtrArray *rows)
{
  g_clear_pointer (&self->hits, g_hash_table_unref);
  for (guint i = 0; i < self->chats->len; i++)
    g_object_set (g_ptr_array_index (self->chats, i), "snippet", NULL, NULL);
  if (rows != NULL)
    self->hits = g_hash_table_new (NULL, NULL);
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      KvasirSearchHit *hit = g_ptr_array_index (rows, i);
      KvasirChat *chat = kvasir_history_find_chat (self, hit->chat_id);

      if (chat == NULL)
        continue;
      g_hash_table_add (self->hits, chat);
      g_object_set (chat, "snippet", hit->snippet, NULL);
    }
  g_signal_emit (self, signals[FOUND], 0);
}

static void
searched_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (KvasirHistory) self = user_data;
  g_autoptr (GPtrArray) rows = kvasir_store_read_finish (KVASIR_STORE (source), result, NULL);

  if (rows != NULL)
    set_hits (self, rows);
}

void
kvasir_history_search (KvasirHistory *self, const char *text)
{
  g_return_if_fail (KVASIR_IS_HISTORY (self));
  if (self->search != NULL)
    g_cancellable_cancel (self->search);
  g_clear_object (&self->search);
  if (*text == '\0')
    {
      set_hits (self, NULL);
      return;
    }
  flush (self);
  self->search = g_cancellable_new ();
  kvasir_store_search_async (self->store, text, self->search, searched_cb, g_object_ref (self));
}

gboolean
kvasir_history_is_found (KvasirHistory *self, KvasirChat *chat)
{
  return self->hits == NULL || g_hash_table_contains (self->hits, chat);
}

void
kvasir_history_close (KvasirHistory *self)
{
  g_return_if_fail (KVASIR_IS_HISTORY (self));
  while (self->deleted->len > 0)
    kvasir_history_finish_delete (self, g_ptr_array_index (self->deleted, 0));
  flush (self);
  kvasir_store_close (self->store);
}

gboolean
kvasir_history_get_loaded (KvasirHistory *self)
{
  g_return_val_if_fail (KVASIR_IS_HISTORY (self), FALSE);
  return self->loaded;
}

const KvasirStoreOpening *
kvasir_history_get_opening (KvasirHistory *self)
{
  g_return_val_if_fail (KVASIR_IS_HISTORY (self), NULL);
  return self->opening;
}

KvasirStore *
kvasir_history_get_store (KvasirHistory *self)
{
  g_return_val_if_fail (KVASIR_IS_HISTORY (self), NULL);
  return self->store;
}
