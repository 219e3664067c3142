#include "ui/shell/chat-row.h"

#include <glib/gi18n.h>

#include "ui/base/display-text.h"

struct _KvasirChatRow
{
  GtkListBoxRow parent_instance;

  KvasirChat *chat; /* (owned) */
  GtkWidget *title;
  GtkWidget *detail;
  GtkWidget *menu; /* the menu button */
};

G_DEFINE_FINAL_TYPE (KvasirChatRow, kvasir_chat_row, GTK_TYPE_LIST_BOX_ROW)

static char *
describe (KvasirChat *chat)
{
  guint n_sequences = kvasir_chat_get_n_sequences (chat);
  g_autofree char *snippet = NULL;

  g_object_get (chat, "snippet", &snippet, NULL);
  if (snippet != NULL)
    return kvasir_display_line (snippet, 90);
  if (kvasir_chat_get_busy (chat))
    return g_strdup (_ ("writing…"));
  if (n_sequences > 1)
    return g_strdup_printf (
        ngettext ("%u branch · in memory", "%u branches · in memory", n_sequences), n_sequences);
  if (n_sequences == 1)
    return g_strdup (_ ("in memory"));
  return g_strdup (_ ("text only"));
}

static void
update (KvasirChatRow *self)
{
  g_autofree char *title = kvasir_display_line (kvasir_chat_get_title (self->chat), 200);
  g_autofree char *detail = describe (self->chat);

  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->detail), detail);
  gtk_widget_set_tooltip_text (self->title, title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, detail, -1);
}

static GtkWidget *
make_label (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, class);
  return label;
}

static GMenuModel *
make_menu (KvasirChat *chat)
{
  guint64 id = kvasir_chat_get_id (chat);
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenuItem) rename = g_menu_item_new (_ ("Rename…"), NULL);
  g_autoptr (GMenuItem) delete = g_menu_item_new (_ ("Delete"), NULL);

  g_menu_item_set_action_and_target (rename, "win.chat-rename", "t", id);
  g_menu_item_set_action_and_target (delete, "win.chat-delete", "t", id);
  g_menu_append_item (menu, rename);
  g_menu_append_item (menu, delete);
  return G_MENU_MODEL (menu);
}

static void
pressed_cb (GtkGestureClick *click, int n, double x, double y, KvasirChatRow *self)
{
  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_menu_button_popup (GTK_MENU_BUTTON (self->menu));
}

static gboolean
binding_cb (GtkWidget *widget, GVariant *args, gpointer user_data)
{
  const char *action = g_variant_get_string (args, NULL);

  gtk_widget_activate_action (widget, action, "t",
                              kvasir_chat_get_id (KVASIR_CHAT_ROW (widget)->chat));
  return TRUE;
}

static void
kvasir_chat_row_dispose (GObject *object)
{
  g_clear_object (&KVASIR_CHAT_ROW (object)->chat);
  G_OBJECT_CLASS (kvasir_chat_row_parent_class)->dispose (object);
}

static void
kvasir_chat_row_class_init (KvasirChatRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_chat_row_dispose;
  gtk_widget_class_add_binding (widget_class, GDK_KEY_F2, 0, binding_cb, "s", "win.chat-rename");
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Delete, 0, binding_cb, "s",
                                "win.chat-delete");
}

static void
kvasir_chat_row_init (KvasirChatRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 4);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1);
  GtkGesture *click = gtk_gesture_click_new ();

  self->title = make_label ("chat-title");
  self->detail = make_label ("chat-detail");
  self->menu = gtk_menu_button_new ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (self->menu), "view-more-symbolic");
  gtk_widget_add_css_class (self->menu, "flat");
  gtk_widget_add_css_class (self->menu, "chat-menu");
  gtk_widget_set_valign (self->menu, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (texts), self->title);
  gtk_box_append (GTK_BOX (texts), self->detail);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_box_append (GTK_BOX (box), self->menu);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (self), box);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

GtkWidget *
kvasir_chat_row_new (KvasirChat *chat)
{
  KvasirChatRow *self = g_object_new (KVASIR_TYPE_CHAT_ROW, NULL);
  g_autoptr (GMenuModel) menu = make_menu (chat);

  self->chat = g_object_ref (chat);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->menu), menu);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->menu), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Chat menu"), -1);
  g_signal_connect_object (chat, "notify", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}

KvasirChat *
kvasir_chat_row_get_chat (KvasirChatRow *self)
{
  g_return_val_if_fail (KVASIR_IS_CHAT_ROW (self), NULL);
  return self->chat;
}
