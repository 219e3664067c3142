#include "ui/history/conversation.h"

#include "ui/history/message-node-private.h"

struct _KvasirConversation
{
  GObject parent_instance;

  KvasirChat *chat;   /* (owned) */
  KvasirStore *store; /* (owned) */
  GHashTable *nodes;  /* (owned) of id -> KvasirMessageNode (owned) */
  GPtrArray *roots;   /* (owned) of KvasirMessageNode (unowned) */
  GPtrArray *path;    /* (owned) of KvasirMessageNode (unowned) */
  gboolean loaded;
};

static GType
get_item_type (GListModel *model)
{
  return KVASIR_TYPE_MESSAGE_NODE;
}

static guint
get_n_items (GListModel *model)
{
  return KVASIR_CONVERSATION (model)->path->len;
}

static gpointer
get_item (GListModel *model, guint position)
{
  GPtrArray *path = KVASIR_CONVERSATION (model)->path;

  return position < path->len ? g_object_ref (g_ptr_array_index (path, position)) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (KvasirConversation,
                               kvasir_conversation,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum
{
  PROP_LOADED = 1,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void
kvasir_conversation_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_LOADED)
    g_value_set_boolean (value, KVASIR_CONVERSATION (object)->loaded);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
kvasir_conversation_finalize (GObject *object)
{
  KvasirConversation *self = KVASIR_CONVERSATION (object);

  g_ptr_array_unref (self->path);
  g_ptr_array_unref (self->roots);
  g_hash_table_unref (self->nodes);
  g_object_unref (self->store);
  g_object_unref (self->chat);
  G_OBJECT_CLASS (kvasir_conversation_parent_class)->finalize (object);
}

static void
kvasir_conversation_class_init (KvasirConversationClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_conversation_get_property;
  object_class->finalize = kvasir_conversation_finalize;

  props[PROP_LOADED] =
      g_param_spec_boolean ("loaded", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_conversation_init (KvasirConversation *self)
{
  self->nodes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_object_unref);
  self->roots = g_ptr_array_new ();
  self->path = g_ptr_array_new ();
}

KvasirConversation *
kvasir_conversation_new (KvasirChat *chat, KvasirStore *store)
{
  KvasirConversation *self = g_object_new (KVASIR_TYPE_CONVERSATION, NULL);

  self->chat = g_object_ref (chat);
  self->store = g_object_ref (store);
  return self;
}

/* ---- the tree */

static GPtrArray *
get_siblings (KvasirConversation *self, KvasirMessageNode *parent)
{
  return parent != NULL ? kvasir_message_node_get_children (parent) : self->roots;
}

static KvasirMessageNode *
get_selected (KvasirConversation *self, KvasirMessageNode *parent)
{
  GPtrArray *siblings = get_siblings (self, parent);
  guint64 id = parent != NULL ? kvasir_message_node_get_selected_child (parent)
                              : kvasir_chat_get_selected_root (self->chat);

  for (guint i = 0; i < siblings->len; i++)
    if (kvasir_message_node_get_id (g_ptr_array_index (siblings, i)) == id)
      return g_ptr_array_index (siblings, i);
  return siblings->len > 0 ? g_ptr_array_index (siblings, siblings->len - 1) : NULL;
}

/* Walks the selected children anew and tells of what changed behind the common part. */
static void
update_path (KvasirConversation *self)
{
  GPtrArray *path = g_ptr_array_new ();
  GPtrArray *old = self->path;
  guint same = 0;

  for (KvasirMessageNode *node = get_selected (self, NULL); node != NULL;
       node = get_selected (self, node))
    g_ptr_array_add (path, node);
  while (same < MIN (path->len, old->len) &&
         g_ptr_array_index (path, same) == g_ptr_array_index (old, same))
    same++;
  self->path = path;
  if (same < path->len || same < old->len)
    g_list_model_items_changed (G_LIST_MODEL (self), same, old->len - same, path->len - same);
  g_ptr_array_unref (old);
}

static void
number_versions (GPtrArray *siblings)
{
  for (guint i = 0; i < siblings->len; i++)
    kvasir_message_node_set_version (g_ptr_array_index (siblings, i), i + 1, siblings->len);
}

static void
insert_node (KvasirConversation *self, KvasirMessageNode *node, KvasirMessageNode *parent)
{
  guint64 id = kvasir_message_node_get_id (node);

  kvasir_message_node_set_parent (node, parent);
  g_ptr_array_add (get_siblings (self, parent), node);
  g_hash_table_insert (self->nodes, g_memdup2 (&id, sizeof id), node);
}

void
kvasir_conversation_load (KvasirConversation *self, GPtrArray *records)
{
  GHashTableIter iter;
  gpointer node;

  g_return_if_fail (KVASIR_IS_CONVERSATION (self) && !self->loaded);
  for (guint i = 0; i < records->len; i++)
    {
      const KvasirMessageRecord *record = g_ptr_array_index (records, i);

      insert_node (self, kvasir_message_node_new (record),
                   g_hash_table_lookup (self->nodes, &record->parent_id));
    }
  number_versions (self->roots);
  g_hash_table_iter_init (&iter, self->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    number_versions (kvasir_message_node_get_children (node));
  self->loaded = TRUE;
  update_path (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_LOADED]);
}

/* Makes @node the one of its siblings that is shown, and writes that down. */
static void
select_node (KvasirConversation *self, KvasirMessageNode *node)
{
  KvasirMessageNode *parent = kvasir_message_node_get_parent (node);
  guint64 id = kvasir_message_node_get_id (node);

  if (parent == NULL)
    g_object_set (self->chat, "selected-root", id, NULL);
  else if (kvasir_message_node_get_selected_child (parent) != id)
    {
      kvasir_message_node_set_selected_child (parent, id);
      kvasir_conversation_write (self, parent, NULL, NULL);
    }
}

static KvasirMessageNode *
add_record (KvasirConversation *self, KvasirMessageNode *parent, KvasirMessageRecord *record)
{
  KvasirMessageNode *node;

  record->id = kvasir_store_take_id (self->store);
  record->chat_id = kvasir_chat_get_id (self->chat);
  if (record->created_us == 0)
    record->created_us = g_get_real_time ();
  node = kvasir_message_node_new (record);
  insert_node (self, node, parent);
  kvasir_conversation_write (self, node, NULL, NULL);
  select_node (self, node);
  number_versions (get_siblings (self, parent));
  update_path (self);
  return node;
}

KvasirMessageNode *
kvasir_conversation_add (KvasirConversation *self,
                         KvasirMessageNode *parent,
                         KvasirRole role,
                         const char *content)
{
  KvasirMessageRecord record = { .role = role, .content = (char *) content };

  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self) && self->loaded, NULL);
  return add_record (self, parent, &record);
}

KvasirMessageNode *
kvasir_conversation_add_answer (KvasirConversation *self,
                                KvasirMessageNode *parent,
                                const char *model_title)
{
  KvasirMessageRecord record = { .role = KVASIR_ROLE_ASSISTANT,
                                 .state = KVASIR_MESSAGE_WRITING,
                                 .content = (char *) "",
                                 .model_title = (char *) model_title };

  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self) && self->loaded, NULL);
  return add_record (self, parent, &record);
}

/* @last and its ancestors, first message first. */
static GPtrArray *
list_ancestors (KvasirMessageNode *last)
{
  GPtrArray *line = g_ptr_array_new ();

  for (KvasirMessageNode *node = last; node != NULL; node = kvasir_message_node_get_parent (node))
    g_ptr_array_insert (line, 0, node);
  return line;
}

void
kvasir_conversation_copy_path (KvasirConversation *self,
                               KvasirMessageNode *last,
                               KvasirConversation *other)
{
  g_autoptr (GPtrArray) line = list_ancestors (last);
  KvasirMessageNode *parent = NULL;

  g_return_if_fail (other->loaded && other->path->len == 0);
  for (guint i = 0; i < line->len; i++)
    {
      g_autoptr (KvasirMessageRecord) record =
          kvasir_message_node_to_record (g_ptr_array_index (line, i), 0);

      record->selected_child = 0;
      if (record->state == KVASIR_MESSAGE_WRITING)
        record->state = KVASIR_MESSAGE_STOPPED;
      parent = add_record (other, parent, record);
    }
}

void
kvasir_conversation_step_version (KvasirConversation *self, KvasirMessageNode *node, int delta)
{
  GPtrArray *siblings;
  gint64 index;

  g_return_if_fail (KVASIR_IS_CONVERSATION (self) && KVASIR_IS_MESSAGE_NODE (node));
  siblings = get_siblings (self, kvasir_message_node_get_parent (node));
  index = (gint64) kvasir_message_node_get_version (node) - 1 + delta;
  if (index < 0 || index >= siblings->len)
    return;
  select_node (self, g_ptr_array_index (siblings, index));
  update_path (self);
}

void
kvasir_conversation_write (KvasirConversation *self,
                           KvasirMessageNode *node,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  g_autoptr (KvasirMessageRecord) record = NULL;

  g_return_if_fail (KVASIR_IS_CONVERSATION (self) && KVASIR_IS_MESSAGE_NODE (node));
  record = kvasir_message_node_to_record (node, kvasir_chat_get_id (self->chat));
  kvasir_store_put_message_async (self->store, record, callback, user_data);
}

static void
forget_subtree (KvasirConversation *self, KvasirMessageNode *node)
{
  GPtrArray *children = kvasir_message_node_get_children (node);
  guint64 id = kvasir_message_node_get_id (node);

  for (guint i = 0; i < children->len; i++)
    forget_subtree (self, g_ptr_array_index (children, i));
  kvasir_store_delete_message_async (self->store, id, NULL, NULL);
  g_hash_table_remove (self->nodes, &id);
}

void
kvasir_conversation_take_back (KvasirConversation *self, KvasirMessageNode *node)
{
  g_autoptr (KvasirMessageNode) held = g_object_ref (node);
  KvasirMessageNode *parent;
  GPtrArray *siblings;
  guint index;

  g_return_if_fail (KVASIR_IS_CONVERSATION (self) && KVASIR_IS_MESSAGE_NODE (node));
  parent = kvasir_message_node_get_parent (node);
  siblings = get_siblings (self, parent);
  if (!g_ptr_array_find (siblings, node, &index))
    return;
  g_ptr_array_remove_index (siblings, index);
  if (siblings->len > 0)
    select_node (self, g_ptr_array_index (siblings, MIN (index, siblings->len - 1)));
  number_versions (siblings);
  update_path (self);
  forget_subtree (self, node);
}

/* ---- asking the engine */

static void
add_to_request (KvasirRequest *request, KvasirMessageNode *node)
{
  KvasirMessage *message =
      kvasir_message_new (kvasir_message_node_get_id (node), kvasir_message_node_get_role (node),
                          kvasir_message_node_get_content (node));
  guint n_tokens;
  const gint32 *tokens = kvasir_message_node_get_tokens (node, &n_tokens);

  message->tokens = g_memdup2 (tokens, n_tokens * sizeof *tokens);
  message->n_tokens = n_tokens;
  message->reasons = kvasir_message_node_get_reasons (node);
  g_ptr_array_add (request->messages, message);
}

static void
add_sampling (KvasirConversation *self, KvasirRequest *request, KvasirMessageNode *answer)
{
  g_auto (KvasirSampling) sampling = { 0 };

  kvasir_chat_get_sampling (self->chat, &sampling);
  request->sampling = sampling.params;
  kvasir_sampling_texts_clear (&request->texts);
  kvasir_sampling_texts_copy (&sampling.texts, &request->texts);
  request->max_tokens = sampling.max_tokens;
  request->adapt = sampling.adapt;
  request->thinking = sampling.thinking;
  if (answer == NULL)
    return;
  /* The same seed on the same text would draw the same answer once more. */
  request->sampling.seed += kvasir_message_node_get_version (answer) - 1;
  request->keep_other = kvasir_message_node_get_version (answer) > 1;
}

KvasirRequest *
kvasir_conversation_make_request (KvasirConversation *self,
                                  KvasirMessageNode *last,
                                  const char *draft,
                                  KvasirMessageNode *answer)
{
  const char *system_prompt;
  guint64 chat_id;
  KvasirRequest *request;
  g_autoptr (GPtrArray) line = NULL;

  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self), NULL);
  g_return_val_if_fail (last != NULL || draft != NULL, NULL);
  chat_id = kvasir_chat_get_id (self->chat);
  request = kvasir_request_new (chat_id, answer != NULL ? kvasir_message_node_get_id (answer) : 0);
  system_prompt = kvasir_chat_get_system_prompt (self->chat);
  /* Chats and messages draw from one row of ids, so the chat's own stands for its prompt. */
  if (*system_prompt != '\0')
    g_ptr_array_add (request->messages,
                     kvasir_message_new (chat_id, KVASIR_ROLE_SYSTEM, system_prompt));
  line = list_ancestors (last);
  for (guint i = 0; i < line->len; i++)
    add_to_request (request, g_ptr_array_index (line, i));
  if (draft != NULL)
    g_ptr_array_add (request->messages, kvasir_message_new (0, KVASIR_ROLE_USER, draft));
  add_sampling (self, request, answer);
  return request;
}

gboolean
kvasir_conversation_get_loaded (KvasirConversation *self)
{
  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self), FALSE);
  return self->loaded;
}

KvasirChat *
kvasir_conversation_get_chat (KvasirConversation *self)
{
  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self), NULL);
  return self->chat;
}

KvasirMessageNode *
kvasir_conversation_get_leaf (KvasirConversation *self)
{
  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self), NULL);
  return self->path->len > 0 ? g_ptr_array_index (self->path, self->path->len - 1) : NULL;
}

KvasirMessageNode *
kvasir_conversation_find (KvasirConversation *self, guint64 id)
{
  g_return_val_if_fail (KVASIR_IS_CONVERSATION (self), NULL);
  return g_hash_table_lookup (self->nodes, &id);
}
