#include "ui/shell/notice-bar.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/widgets/side-box.h"
#include "ui/widgets/wrap-box.h"

struct _KvasirNoticeBar
{
  GtkWidget parent_instance;

  GtkWidget *clamp;
  GtkWidget *box;
  GtkWidget *title;
  GtkWidget *detail;
  GtkWidget *buttons;
};

G_DEFINE_FINAL_TYPE (KvasirNoticeBar, kvasir_notice_bar, GTK_TYPE_WIDGET)

static GtkWidget *
make_text (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
make_close_button (KvasirNoticeBar *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("window-close-symbolic");

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "circular");
  gtk_widget_set_valign (button, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (button, _ ("Close"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Close this notice"), -1);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (kvasir_notice_bar_hide), self);
  return button;
}

static void
kvasir_notice_bar_dispose (GObject *object)
{
  KvasirNoticeBar *self = KVASIR_NOTICE_BAR (object);

  g_clear_pointer (&self->clamp, gtk_widget_unparent);
  G_OBJECT_CLASS (kvasir_notice_bar_parent_class)->dispose (object);
}

static void
kvasir_notice_bar_class_init (KvasirNoticeBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_notice_bar_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_ALERT);
}

static void
kvasir_notice_bar_init (KvasirNoticeBar *self)
{
  GtkWidget *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);

  self->box = kvasir_side_box_new (12);
  self->title = make_text ("notice-title");
  self->detail = make_text ("notice-detail");
  self->buttons = kvasir_wrap_box_new (8, 6);
  gtk_widget_set_valign (icon, GTK_ALIGN_START);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (texts), self->title);
  gtk_box_append (GTK_BOX (texts), self->detail);
  gtk_box_append (GTK_BOX (texts), self->buttons);
  kvasir_side_box_add_start (KVASIR_SIDE_BOX (self->box), icon);
  kvasir_side_box_set_content (KVASIR_SIDE_BOX (self->box), texts);
  kvasir_side_box_add_end (KVASIR_SIDE_BOX (self->box), make_close_button (self));
  gtk_widget_add_css_class (self->box, "notice-bar");
  self->clamp = adw_clamp_new ();
  adw_clamp_set_maximum_size (ADW_CLAMP (self->clamp), 860);
  adw_clamp_set_tightening_threshold (ADW_CLAMP (self->clamp), 860);
  adw_clamp_set_child (ADW_CLAMP (self->clamp), self->box);
  gtk_widget_set_parent (self->clamp, GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

GtkWidget *
kvasir_notice_bar_new (void)
{
  return g_object_new (KVASIR_TYPE_NOTICE_BAR, NULL);
}

void
kvasir_notice_bar_show (KvasirNoticeBar *self,
                        KvasirNoticeBarTone tone,
                        const char *title,
                        const char *detail)
{
  g_return_if_fail (KVASIR_IS_NOTICE_BAR (self));
  kvasir_wrap_box_clear (KVASIR_WRAP_BOX (self->buttons));
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->detail), detail);
  gtk_widget_set_visible (self->detail, *detail != '\0');
  gtk_widget_set_visible (self->buttons, FALSE);
  gtk_widget_remove_css_class (self->box, "error");
  if (tone == KVASIR_NOTICE_BAR_ERROR)
    gtk_widget_add_css_class (self->box, "error");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, detail, -1);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
}

void
kvasir_notice_bar_add_action (KvasirNoticeBar *self, const char *label, const char *action)
{
  GtkWidget *button;

  g_return_if_fail (KVASIR_IS_NOTICE_BAR (self));
  button = gtk_button_new_with_label (label);
  gtk_actionable_set_detailed_action_name (GTK_ACTIONABLE (button), action);
  /* After the action: it may look at what the bar was about. */
  g_signal_connect_data (button, "clicked", G_CALLBACK (kvasir_notice_bar_hide), self, NULL,
                         G_CONNECT_AFTER | G_CONNECT_SWAPPED);
  kvasir_wrap_box_append (KVASIR_WRAP_BOX (self->buttons), button);
  gtk_widget_set_visible (self->buttons, TRUE);
}

void
kvasir_notice_bar_hide (KvasirNoticeBar *self)
{
  g_return_if_fail (KVASIR_IS_NOTICE_BAR (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

gboolean
kvasir_notice_bar_is_shown (KvasirNoticeBar *self)
{
  g_return_val_if_fail (KVASIR_IS_NOTICE_BAR (self), FALSE);
  return gtk_widget_get_visible (GTK_WIDGET (self));
}
