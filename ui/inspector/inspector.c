#include "ui/inspector/inspector.h"

#include <glib/gi18n.h>
#include <stdlib.h>

#include "ui/inspector/inspector-private.h"

enum
{
  PROP_0,
  PROP_PAGE,
  PROP_FOLLOWING,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (KvasirInspector, kvasir_inspector, ADW_TYPE_BIN)

KvasirInspectorPage
kvasir_inspector_get_page (KvasirInspector *self)
{
  g_return_val_if_fail (KVASIR_IS_INSPECTOR (self), KVASIR_INSPECTOR_CELLS);
  return (KvasirInspectorPage) atoi (gtk_stack_get_visible_child_name (GTK_STACK (self->pages)));
}

void
kvasir_inspector_set_page (KvasirInspector *self, KvasirInspectorPage page)
{
  char name[4];
  g_return_if_fail (KVASIR_IS_INSPECTOR (self));
  g_return_if_fail (page < KVASIR_N_INSPECTOR_PAGES);
  g_snprintf (name, sizeof name, "%u", (guint) page);
  gtk_stack_set_visible_child_name (GTK_STACK (self->pages), name);
}

static void
update_pill (KvasirInspector *self)
{
  gtk_button_set_label (GTK_BUTTON (self->follow),
                        self->following ? _ ("● Live") : _ ("❚❚ Paused"));
  gtk_widget_set_tooltip_text (
      self->follow, self->following ? _ ("Shows the newest state. Pause with Space.")
                                    : _ ("Stays at this moment. Go on with F or Space."));
  if (self->following)
    gtk_widget_remove_css_class (self->follow, "paused");
  else
    gtk_widget_add_css_class (self->follow, "paused");
}

void
kvasir_inspector_set_following (KvasirInspector *self, gboolean following)
{
  g_return_if_fail (KVASIR_IS_INSPECTOR (self));
  if (following == self->following)
    return;
  self->following = following;
  for (guint i = 0; i < KVASIR_N_VIEW_PAGES; i++)
    kvasir_view_page_set_following (self->views[i], following);
  kvasir_log_page_set_following (self->log, following);
  update_pill (self);
  if (following)
    {
      kvasir_parts_copy (&self->parts, &self->latest);
      kvasir_inspector_show_parts (self);
    }
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_FOLLOWING]);
}

/* ---- selection */

void
kvasir_inspector_lock (KvasirInspector *self, const KvasirThing *thing)
{
  self->locked = thing != NULL ? *thing : (KvasirThing){ KVASIR_THING_NONE };
  for (guint i = 0; i < KVASIR_N_VIEW_PAGES; i++)
    kvasir_view_page_set_locked (self->views[i], thing);
  /* What a person points out must not run away; a message is found again in every state. */
  if (thing != NULL && thing->kind != KVASIR_THING_MESSAGE)
    kvasir_inspector_set_following (self, FALSE);
  kvasir_inspector_update_words (self);
}

gboolean
kvasir_inspector_clear_selection (KvasirInspector *self)
{
  g_return_val_if_fail (KVASIR_IS_INSPECTOR (self), FALSE);
  if (self->locked.kind == KVASIR_THING_NONE && kvasir_log_page_get_selected (self->log) == NULL)
    return FALSE;
  kvasir_log_page_clear_selection (self->log);
  kvasir_inspector_lock (self, NULL);
  return TRUE;
}

void
kvasir_inspector_show_message_cells (KvasirInspector *self, guint64 message_id)
{
  const KvasirThing message = { KVASIR_THING_MESSAGE, .message_id = message_id };
  KvasirViewPage *page;
  g_return_if_fail (KVASIR_IS_INSPECTOR (self));
  page = self->views[KVASIR_INSPECTOR_CELLS];
  gtk_stack_set_visible_child_name (GTK_STACK (self->forms), "picture");
  kvasir_inspector_set_page (self, KVASIR_INSPECTOR_CELLS);
  kvasir_log_page_clear_selection (self->log);
  kvasir_inspector_lock (self, &message);
  if (kvasir_view_reveal (kvasir_view_page_get_view (page), &message))
    kvasir_view_page_invalidate (page);
}

void
kvasir_inspector_set_chat_name_func (KvasirInspector *self,
                                     KvasirChatNameFunc func,
                                     gpointer user_data,
                                     GDestroyNotify destroy)
{
  g_return_if_fail (KVASIR_IS_INSPECTOR (self));
  if (self->chat_name_destroy != NULL)
    self->chat_name_destroy (self->chat_name_data);
  self->chat_name = func;
  self->chat_name_data = user_data;
  self->chat_name_destroy = destroy;
  kvasir_view_page_invalidate (self->views[KVASIR_INSPECTOR_CELLS]);
}

/* ---- keys */

gboolean
kvasir_inspector_get_text_form (KvasirInspector *self)
{
  return g_strcmp0 (gtk_stack_get_visible_child_name (GTK_STACK (self->forms)), "text") == 0;
}

static void
toggle_text_form (KvasirInspector *self)
{
  gboolean text = !kvasir_inspector_get_text_form (self);
  gtk_stack_set_visible_child_name (GTK_STACK (self->forms), text ? "text" : "picture");
  kvasir_inspector_show_parts (self);
  kvasir_inspector_update_words (self);
  if (text)
    gtk_widget_grab_focus (self->text);
  else
    gtk_widget_child_focus (self->pages, GTK_DIR_TAB_FORWARD);
}

static gboolean
key_pressed_cb (GtkEventControllerKey *controller,
                guint keyval,
                guint keycode,
                GdkModifierType state,
                gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK))
    return GDK_EVENT_PROPAGATE;
  switch (gdk_keyval_to_lower (keyval))
    {
    case GDK_KEY_space:
      kvasir_inspector_set_following (self, !self->following);
      return GDK_EVENT_STOP;
    case GDK_KEY_f:
      kvasir_inspector_set_following (self, TRUE);
      return GDK_EVENT_STOP;
    case GDK_KEY_t:
      toggle_text_form (self);
      return GDK_EVENT_STOP;
    case GDK_KEY_Escape:
      return kvasir_inspector_clear_selection (self);
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

/* ---- the object */

static void
kvasir_inspector_map (GtkWidget *widget)
{
  KvasirInspector *self = KVASIR_INSPECTOR (widget);
  GTK_WIDGET_CLASS (kvasir_inspector_parent_class)->map (widget);
  const KvasirSnapshot *newest = kvasir_engine_client_get_snapshot (self->client);
  if (newest != NULL)
    kvasir_inspector_take_snapshot (self, newest);
  kvasir_inspector_update_views (self);
}

static void
kvasir_inspector_unmap (GtkWidget *widget)
{
  KvasirInspector *self = KVASIR_INSPECTOR (widget);
  GTK_WIDGET_CLASS (kvasir_inspector_parent_class)->unmap (widget);
  kvasir_inspector_update_views (self);
}

static void
kvasir_inspector_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  KvasirInspector *self = KVASIR_INSPECTOR (object);
  switch (prop_id)
    {
    case PROP_PAGE:
      g_value_set_uint (value, kvasir_inspector_get_page (self));
      break;
    case PROP_FOLLOWING:
      g_value_set_boolean (value, self->following);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
kvasir_inspector_set_property (GObject *object,
                               guint prop_id,
                               const GValue *value,
                               GParamSpec *pspec)
{
  KvasirInspector *self = KVASIR_INSPECTOR (object);
  switch (prop_id)
    {
    case PROP_PAGE:
      kvasir_inspector_set_page (self, g_value_get_uint (value));
      break;
    case PROP_FOLLOWING:
      kvasir_inspector_set_following (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
kvasir_inspector_dispose (GObject *object)
{
  KvasirInspector *self = KVASIR_INSPECTOR (object);
  g_clear_handle_id (&self->words_source, g_source_remove);
  if (self->client != NULL && self->subscribed != 0)
    kvasir_engine_client_remove_views (self->client, self->subscribed);
  self->subscribed = 0;
  kvasir_parts_clear (&self->parts);
  kvasir_parts_clear (&self->latest);
  G_OBJECT_CLASS (kvasir_inspector_parent_class)->dispose (object);
}

/* The pages look the model up for token texts, so the client goes last. */
static void
kvasir_inspector_finalize (GObject *object)
{
  KvasirInspector *self = KVASIR_INSPECTOR (object);
  if (self->chat_name_destroy != NULL)
    self->chat_name_destroy (self->chat_name_data);
  g_clear_object (&self->client);
  G_OBJECT_CLASS (kvasir_inspector_parent_class)->finalize (object);
}

static void
kvasir_inspector_class_init (KvasirInspectorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  object_class->get_property = kvasir_inspector_get_property;
  object_class->set_property = kvasir_inspector_set_property;
  object_class->dispose = kvasir_inspector_dispose;
  object_class->finalize = kvasir_inspector_finalize;
  widget_class->map = kvasir_inspector_map;
  widget_class->unmap = kvasir_inspector_unmap;
  props[PROP_PAGE] =
      g_param_spec_uint ("page", NULL, NULL, 0, KVASIR_N_INSPECTOR_PAGES - 1, 0, flags);
  props[PROP_FOLLOWING] = g_param_spec_boolean ("following", NULL, NULL, TRUE, flags);
  g_object_class_install_properties (object_class, N_PROPS, props);
  gtk_widget_class_set_css_name (widget_class, "inspector");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
kvasir_inspector_init (KvasirInspector *self)
{
  GtkEventController *key = gtk_event_controller_key_new ();
  self->following = TRUE;
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), key);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Inspector"), -1);
}

GtkWidget *
kvasir_inspector_new (KvasirEngineClient *client)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (client), NULL);
  KvasirInspector *self = g_object_new (KVASIR_TYPE_INSPECTOR, NULL);
  self->client = g_object_ref (client);
  kvasir_inspector_build (self);
  update_pill (self);
  kvasir_inspector_connect (self);
  return GTK_WIDGET (self);
}
