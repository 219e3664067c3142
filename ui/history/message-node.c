#include "ui/history/message-node-private.h"

struct _KvasirMessageNode
{
  GObject parent_instance;

  guint64 id;
  KvasirRole role;
  KvasirMessageState state;
  GString *content; /* (owned) */
  gboolean reasons; /* the text begins inside the model's reasoning */
  GArray *tokens;   /* (owned) of gint32 */
  gint64 created_us;
  char *model_title; /* (owned) (nullable) */
  KvasirMessageCosts costs;
  KvasirMessageProgress progress;

  KvasirMessageNode *parent; /* (unowned) (nullable) */
  GPtrArray *children;       /* (owned) of KvasirMessageNode (unowned) */
  guint64 selected_child;
  guint version;
  guint n_versions;
};

G_DEFINE_FINAL_TYPE (KvasirMessageNode, kvasir_message_node, G_TYPE_OBJECT)

enum
{
  PROP_CONTENT = 1,
  PROP_STATE,
  PROP_VERSION,
  PROP_N_VERSIONS,
  PROP_PROGRESS,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

static void
kvasir_message_node_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  KvasirMessageNode *self = KVASIR_MESSAGE_NODE (object);

  switch (id)
    {
    case PROP_CONTENT:
      g_value_set_string (value, self->content->str);
      break;
    case PROP_STATE:
      g_value_set_int (value, (int) self->state);
      break;
    case PROP_VERSION:
      g_value_set_uint (value, self->version);
      break;
    case PROP_N_VERSIONS:
      g_value_set_uint (value, self->n_versions);
      break;
    case PROP_PROGRESS:
      g_value_set_double (value, self->progress.n_total > 0
                                     ? (double) self->progress.n_done / self->progress.n_total
                                     : 0);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
kvasir_message_node_finalize (GObject *object)
{
  KvasirMessageNode *self = KVASIR_MESSAGE_NODE (object);

  g_string_free (self->content, TRUE);
  g_array_unref (self->tokens);
  g_ptr_array_unref (self->children);
  g_free (self->model_title);
  G_OBJECT_CLASS (kvasir_message_node_parent_class)->finalize (object);
}

#define FLAGS (G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)

static void
kvasir_message_node_class_init (KvasirMessageNodeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_message_node_get_property;
  object_class->finalize = kvasir_message_node_finalize;

  props[PROP_CONTENT] = g_param_spec_string ("content", NULL, NULL, "", FLAGS);
  props[PROP_STATE] = g_param_spec_int ("state", NULL, NULL, 0, KVASIR_MESSAGE_REFUSED,
                                        KVASIR_MESSAGE_COMPLETE, FLAGS);
  props[PROP_VERSION] = g_param_spec_uint ("version", NULL, NULL, 1, G_MAXUINT, 1, FLAGS);
  props[PROP_N_VERSIONS] = g_param_spec_uint ("n-versions", NULL, NULL, 1, G_MAXUINT, 1, FLAGS);
  props[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, FLAGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_message_node_init (KvasirMessageNode *self)
{
  self->children = g_ptr_array_new ();
  self->version = 1;
  self->n_versions = 1;
}

/* ---- for the conversation */

KvasirMessageNode *
kvasir_message_node_new (const KvasirMessageRecord *record)
{
  KvasirMessageNode *self = g_object_new (KVASIR_TYPE_MESSAGE_NODE, NULL);

  self->id = record->id;
  self->role = record->role;
  self->state = record->state;
  self->content = g_string_new (record->content);
  self->tokens = g_array_sized_new (FALSE, FALSE, sizeof (gint32), record->n_tokens);
  if (record->n_tokens > 0)
    g_array_append_vals (self->tokens, record->tokens, record->n_tokens);
  self->created_us = record->created_us;
  self->model_title = g_strdup (record->model_title);
  self->costs.n_reused = record->n_reused;
  self->costs.n_read = record->n_read;
  self->costs.generate_us = record->generate_us;
  self->costs.prefill_us = record->prefill_us;
  self->selected_child = record->selected_child;
  self->reasons = record->reasons;
  return self;
}

KvasirMessageRecord *
kvasir_message_node_to_record (KvasirMessageNode *self, guint64 chat_id)
{
  const KvasirMessageRecord view = {
    .id = self->id,
    .chat_id = chat_id,
    .parent_id = self->parent != NULL ? self->parent->id : 0,
    .role = self->role,
    .state = self->state,
    .content = self->content->str,
    .tokens = (gint32 *) (gpointer) self->tokens->data,
    .n_tokens = self->tokens->len,
    .created_us = self->created_us,
    .model_title = self->model_title,
    .n_reused = self->costs.n_reused,
    .n_read = self->costs.n_read,
    .generate_us = self->costs.generate_us,
    .prefill_us = self->costs.prefill_us,
    .selected_child = self->selected_child,
    .reasons = self->reasons,
  };

  return kvasir_message_record_copy (&view);
}

GPtrArray *
kvasir_message_node_get_children (KvasirMessageNode *self)
{
  return self->children;
}

guint64
kvasir_message_node_get_selected_child (KvasirMessageNode *self)
{
  return self->selected_child;
}

void
kvasir_message_node_set_selected_child (KvasirMessageNode *self, guint64 id)
{
  self->selected_child = id;
}

void
kvasir_message_node_set_parent (KvasirMessageNode *self, KvasirMessageNode *parent)
{
  self->parent = parent;
}

void
kvasir_message_node_set_version (KvasirMessageNode *self, guint version, guint n_versions)
{
  if (self->version != version)
    {
      self->version = version;
      g_object_notify_by_pspec (G_OBJECT (self), props[PROP_VERSION]);
    }
  if (self->n_versions != n_versions)
    {
      self->n_versions = n_versions;
      g_object_notify_by_pspec (G_OBJECT (self), props[PROP_N_VERSIONS]);
    }
}

/* ---- for everybody */

guint64
kvasir_message_node_get_id (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), 0);
  return self->id;
}

KvasirRole
kvasir_message_node_get_role (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), KVASIR_ROLE_USER);
  return self->role;
}

KvasirMessageState
kvasir_message_node_get_state (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), KVASIR_MESSAGE_COMPLETE);
  return self->state;
}

void
kvasir_message_node_set_reasons (KvasirMessageNode *self, gboolean reasons)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  self->reasons = reasons;
}

gboolean
kvasir_message_node_get_reasons (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), FALSE);
  return self->reasons;
}

void
kvasir_message_node_find_reasoning (KvasirMessageNode *self, KvasirReasoning *reasoning)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  if (self->role != KVASIR_ROLE_ASSISTANT ||
      !kvasir_reasoning_find (self->content->str, self->reasons, reasoning))
    *reasoning = (KvasirReasoning){ 0 };
}

const char *
kvasir_message_node_get_answer (KvasirMessageNode *self)
{
  KvasirReasoning reasoning = { 0 };

  kvasir_message_node_find_reasoning (self, &reasoning);
  return self->content->str + reasoning.answer;
}

const char *
kvasir_message_node_get_content (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), NULL);
  return self->content->str;
}

const gint32 *
kvasir_message_node_get_tokens (KvasirMessageNode *self, guint *n_tokens)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), NULL);
  *n_tokens = self->tokens->len;
  return self->tokens->len > 0 ? (const gint32 *) (gpointer) self->tokens->data : NULL;
}

const KvasirMessageCosts *
kvasir_message_node_get_costs (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), NULL);
  return &self->costs;
}

guint
kvasir_message_node_get_version (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), 1);
  return self->version;
}

guint
kvasir_message_node_get_n_versions (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), 1);
  return self->n_versions;
}

KvasirMessageNode *
kvasir_message_node_get_parent (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), NULL);
  return self->parent;
}

void
kvasir_message_node_append (KvasirMessageNode *self, const char *text, gint32 token)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  if (token >= 0)
    g_array_append_val (self->tokens, token);
  if (text == NULL || *text == '\0')
    return;
  g_string_append (self->content, text);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_CONTENT]);
}

void
kvasir_message_node_keep_tokens (KvasirMessageNode *self, guint n)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  g_array_set_size (self->tokens, MIN (n, self->tokens->len));
}

void
kvasir_message_node_set_state (KvasirMessageNode *self, KvasirMessageState state)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  if (self->state == state)
    return;
  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_STATE]);
}

void
kvasir_message_node_set_costs (KvasirMessageNode *self, const KvasirMessageCosts *costs)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  self->costs = *costs;
}

const KvasirMessageProgress *
kvasir_message_node_get_progress (KvasirMessageNode *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_NODE (self), NULL);
  return &self->progress;
}

void
kvasir_message_node_set_progress (KvasirMessageNode *self, const KvasirMessageProgress *progress)
{
  g_return_if_fail (KVASIR_IS_MESSAGE_NODE (self));
  self->progress = *progress;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PROGRESS]);
}
