#include "ui/history/chat.h"

enum
{
  PROP_TITLE = 1,
  PROP_DRAFT,
  PROP_SYSTEM_PROMPT,
  PROP_SAMPLING,
  PROP_UPDATED_US,
  PROP_SELECTED_ROOT,
  PROP_BUSY,
  PROP_N_SEQUENCES,
  PROP_SNIPPET,
  N_PROPS
};

/* Every property is kept as a value of its own, so that getting, setting and notifying are written
 * once. */
struct _KvasirChat
{
  GObject parent_instance;

  guint64 id;
  gint64 created_us;
  gboolean title_fixed;
  GValue values[N_PROPS];
};

G_DEFINE_FINAL_TYPE (KvasirChat, kvasir_chat, G_TYPE_OBJECT)

static GParamSpec *props[N_PROPS];

static void
kvasir_chat_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_copy (&KVASIR_CHAT (object)->values[id], value);
}

static void
kvasir_chat_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  KvasirChat *self = KVASIR_CHAT (object);

  if (g_param_values_cmp (pspec, value, &self->values[id]) == 0)
    return;
  g_value_copy (value, &self->values[id]);
  g_object_notify_by_pspec (object, pspec);
}

static void
kvasir_chat_finalize (GObject *object)
{
  KvasirChat *self = KVASIR_CHAT (object);

  for (guint i = 1; i < N_PROPS; i++)
    g_value_unset (&self->values[i]);
  G_OBJECT_CLASS (kvasir_chat_parent_class)->finalize (object);
}

#define FLAGS (G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)

static void
kvasir_chat_class_init (KvasirChatClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = kvasir_chat_get_property;
  object_class->set_property = kvasir_chat_set_property;
  object_class->finalize = kvasir_chat_finalize;

  props[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, "", FLAGS);
  props[PROP_DRAFT] = g_param_spec_string ("draft", NULL, NULL, "", FLAGS);
  props[PROP_SYSTEM_PROMPT] = g_param_spec_string ("system-prompt", NULL, NULL, "", FLAGS);
  props[PROP_SAMPLING] = g_param_spec_string ("sampling", NULL, NULL, "", FLAGS);
  props[PROP_UPDATED_US] = g_param_spec_int64 ("updated-us", NULL, NULL, 0, G_MAXINT64, 0, FLAGS);
  props[PROP_SELECTED_ROOT] =
      g_param_spec_uint64 ("selected-root", NULL, NULL, 0, G_MAXUINT64, 0, FLAGS);
  props[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, FLAGS);
  props[PROP_N_SEQUENCES] = g_param_spec_uint ("n-sequences", NULL, NULL, 0, G_MAXUINT, 0, FLAGS);
  props[PROP_SNIPPET] = g_param_spec_string ("snippet", NULL, NULL, NULL, FLAGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_chat_init (KvasirChat *self)
{
  for (guint i = 1; i < N_PROPS; i++)
    {
      g_value_init (&self->values[i], props[i]->value_type);
      g_param_value_set_default (props[i], &self->values[i]);
    }
}

KvasirChat *
kvasir_chat_new (const KvasirChatRecord *record)
{
  KvasirChat *self = g_object_new (KVASIR_TYPE_CHAT, NULL);

  self->id = record->id;
  self->created_us = record->created_us;
  self->title_fixed = record->title_fixed;
  g_value_set_string (&self->values[PROP_TITLE], record->title);
  g_value_set_string (&self->values[PROP_DRAFT], record->draft);
  g_value_set_string (&self->values[PROP_SYSTEM_PROMPT], record->system_prompt);
  g_value_set_string (&self->values[PROP_SAMPLING], record->sampling);
  g_value_set_int64 (&self->values[PROP_UPDATED_US], record->updated_us);
  g_value_set_uint64 (&self->values[PROP_SELECTED_ROOT], record->selected_root);
  return self;
}

static const char *
get_string (KvasirChat *self, guint id)
{
  const char *s = g_value_get_string (&self->values[id]);

  return s != NULL ? s : "";
}

KvasirChatRecord *
kvasir_chat_to_record (KvasirChat *self)
{
  const KvasirChatRecord view = {
    .id = self->id,
    .title = (char *) get_string (self, PROP_TITLE),
    .title_fixed = self->title_fixed,
    .created_us = self->created_us,
    .updated_us = kvasir_chat_get_updated_us (self),
    .system_prompt = (char *) get_string (self, PROP_SYSTEM_PROMPT),
    .draft = (char *) get_string (self, PROP_DRAFT),
    .sampling = (char *) get_string (self, PROP_SAMPLING),
    .selected_root = kvasir_chat_get_selected_root (self),
  };

  return kvasir_chat_record_copy (&view);
}

guint64
kvasir_chat_get_id (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), 0);
  return self->id;
}

const char *
kvasir_chat_get_title (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), NULL);
  return get_string (self, PROP_TITLE);
}

void
kvasir_chat_set_title (KvasirChat *self, const char *title, gboolean fixed)
{
  g_return_if_fail (KVASIR_IS_CHAT (self));
  self->title_fixed = fixed;
  g_object_set (self, "title", title, NULL);
}

gboolean
kvasir_chat_get_title_fixed (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), FALSE);
  return self->title_fixed;
}

const char *
kvasir_chat_get_draft (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), NULL);
  return get_string (self, PROP_DRAFT);
}

const char *
kvasir_chat_get_system_prompt (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), NULL);
  return get_string (self, PROP_SYSTEM_PROMPT);
}

gint64
kvasir_chat_get_updated_us (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), 0);
  return g_value_get_int64 (&self->values[PROP_UPDATED_US]);
}

guint64
kvasir_chat_get_selected_root (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), 0);
  return g_value_get_uint64 (&self->values[PROP_SELECTED_ROOT]);
}

gboolean
kvasir_chat_get_busy (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), FALSE);
  return g_value_get_boolean (&self->values[PROP_BUSY]);
}

guint
kvasir_chat_get_n_sequences (KvasirChat *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT (self), 0);
  return g_value_get_uint (&self->values[PROP_N_SEQUENCES]);
}

void
kvasir_chat_get_sampling (KvasirChat *self, KvasirSampling *sampling)
{
  g_return_if_fail (KVASIR_IS_CHAT (self));
  kvasir_sampling_parse (sampling, get_string (self, PROP_SAMPLING));
}

void
kvasir_chat_set_sampling (KvasirChat *self, const KvasirSampling *sampling)
{
  g_autofree char *text = kvasir_sampling_to_string (sampling);

  g_return_if_fail (KVASIR_IS_CHAT (self));
  g_object_set (self, "sampling", text, NULL);
}
