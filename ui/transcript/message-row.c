#include "ui/transcript/message-row.h"

#include <glib/gi18n.h>

#include "ui/base/display-text.h"
#include "ui/transcript/markdown-view.h"
#include "ui/transcript/message-facts.h"
#include "ui/transcript/reasoning-fold.h"
#include "ui/widgets/side-box.h"
#include "ui/widgets/wrap-box.h"

#define MAX_NAME_CHARS 80

struct _KvasirMessageRow
{
  GtkWidget parent_instance;

  KvasirMessageNode *node; /* (owned) */
  GtkWidget *frame;
  GtkWidget *facts;     /* (nullable) */
  GtkWidget *ending;    /* (nullable) */
  GtkWidget *price;     /* (nullable) */
  GtkWidget *reasoning; /* (nullable) */
  GtkWidget *view;      /* KvasirMarkdownView */
  GtkWidget *switcher;  /* ‹ 2/3 › */
  GtkWidget *version;
  GtkWidget *previous;
  GtkWidget *next;
  GtkWidget *retry; /* (nullable) */
};

G_DEFINE_FINAL_TYPE (KvasirMessageRow, kvasir_message_row, GTK_TYPE_WIDGET)

static guint64
get_id (KvasirMessageRow *self)
{
  return kvasir_message_node_get_id (self->node);
}

/* ---- following the node */

static void
update_facts (KvasirMessageRow *self)
{
  g_autofree char *facts = NULL;

  if (self->facts == NULL)
    return;
  facts = kvasir_message_facts_describe (self->node);
  gtk_label_set_text (GTK_LABEL (self->facts), facts);
  gtk_widget_set_visible (self->facts, *facts != '\0');
}

static void
update_reasoning (KvasirMessageRow *self)
{
  gboolean writing = kvasir_message_node_get_state (self->node) == KVASIR_MESSAGE_WRITING;
  KvasirReasoning reasoning;
  g_autofree char *thought = NULL;

  if (self->reasoning == NULL)
    return;
  kvasir_message_node_find_reasoning (self->node, &reasoning);
  thought =
      g_strndup (kvasir_message_node_get_content (self->node) + reasoning.start, reasoning.len);
  kvasir_reasoning_fold_set (KVASIR_REASONING_FOLD (self->reasoning), thought,
                             reasoning.is_open && writing);
}

static void
update_state (KvasirMessageRow *self)
{
  gboolean writing = kvasir_message_node_get_state (self->node) == KVASIR_MESSAGE_WRITING;
  const char *ending = kvasir_message_facts_get_ending (self->node);

  update_reasoning (self);
  update_facts (self);
  if (self->ending != NULL)
    {
      gtk_label_set_text (GTK_LABEL (self->ending), ending != NULL ? ending : "");
      gtk_widget_set_visible (self->ending, ending != NULL);
    }
  if (self->retry != NULL)
    gtk_widget_set_sensitive (self->retry, !writing);
}

static void
update_content (KvasirMessageRow *self)
{
  update_reasoning (self);
  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (self->view),
                                 kvasir_message_node_get_answer (self->node));
  update_facts (self);
}

/* What a screen reader says when the row is reached. */
static void
update_name (KvasirMessageRow *self)
{
  g_autofree char *line =
      kvasir_display_line (kvasir_message_node_get_answer (self->node), MAX_NAME_CHARS);
  g_autofree char *name =
      g_strdup_printf ("%s: %s", kvasir_message_facts_get_role (self->node), line);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
update_versions (KvasirMessageRow *self)
{
  guint version = kvasir_message_node_get_version (self->node);
  guint n = kvasir_message_node_get_n_versions (self->node);
  g_autofree char *text = g_strdup_printf ("%u / %u", version, n);

  gtk_label_set_text (GTK_LABEL (self->version), text);
  gtk_widget_set_sensitive (self->previous, version > 1);
  gtk_widget_set_sensitive (self->next, version < n);
  gtk_widget_set_visible (self->switcher, n > 1);
}

static void
state_cb (KvasirMessageRow *self)
{
  update_state (self);
  update_name (self);
}

/* ---- actions */

static void
ask (KvasirMessageRow *self, const char *action)
{
  gtk_widget_activate_action (GTK_WIDGET (self), action, "t", get_id (self));
}

static void
step_version (KvasirMessageRow *self, int delta)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.message-version", "(ti)", get_id (self),
                              delta);
}

static void
clicked_cb (GtkButton *button, KvasirMessageRow *self)
{
  ask (self, g_object_get_data (G_OBJECT (button), "kvasir-action"));
}

static void
previous_cb (GtkButton *button, KvasirMessageRow *self)
{
  step_version (self, -1);
}

static void
next_cb (GtkButton *button, KvasirMessageRow *self)
{
  step_version (self, 1);
}

/* A click on the card, beside its texts and buttons, makes it the message that keys are for. */
static void
pressed_cb (GtkGestureClick *click, int n, double x, double y, KvasirMessageRow *self)
{
  if (gtk_widget_get_focus_child (GTK_WIDGET (self)) == NULL)
    gtk_widget_grab_focus (GTK_WIDGET (self));
}

/* ---- parts */

static void
connect_action (KvasirMessageRow *self, GtkWidget *button, const char *action)
{
  gtk_widget_add_css_class (button, "flat");
  g_object_set_data (G_OBJECT (button), "kvasir-action", (gpointer) action);
  g_signal_connect (button, "clicked", G_CALLBACK (clicked_cb), self);
}

static GtkWidget *
make_button (KvasirMessageRow *self, const char *label, const char *action)
{
  GtkWidget *button = gtk_button_new_with_label (label);

  connect_action (self, button, action);
  return button;
}

static GtkWidget *
make_icon_button (KvasirMessageRow *self, const char *icon, const char *label, const char *action)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  connect_action (self, button, action);
  gtk_widget_set_tooltip_text (button, label);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  return button;
}

static GtkWidget *
make_step_button (const char *icon, const char *label, GCallback callback, KvasirMessageRow *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "circular");
  gtk_widget_set_tooltip_text (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  g_signal_connect (button, "clicked", callback, self);
  return button;
}

static GtkWidget *
make_switcher (KvasirMessageRow *self)
{
  gboolean answer = kvasir_message_node_get_role (self->node) == KVASIR_ROLE_ASSISTANT;

  self->switcher = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2);
  self->previous = make_step_button ("go-previous-symbolic",
                                     answer ? _ ("Previous answer") : _ ("Previous version"),
                                     G_CALLBACK (previous_cb), self);
  self->next =
      make_step_button ("go-next-symbolic", answer ? _ ("Next answer") : _ ("Next version"),
                        G_CALLBACK (next_cb), self);
  self->version = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->version, "numeric");
  gtk_widget_add_css_class (self->switcher, "version-switcher");
  gtk_widget_set_valign (self->switcher, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (self->switcher), self->previous);
  gtk_box_append (GTK_BOX (self->switcher), self->version);
  gtk_box_append (GTK_BOX (self->switcher), self->next);
  return self->switcher;
}

static GtkWidget *
make_role_label (KvasirMessageRow *self)
{
  GtkWidget *label = gtk_label_new (kvasir_message_facts_get_role (self->node));

  gtk_widget_add_css_class (label, "message-role");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  return label;
}

static GtkWidget *
make_facts_label (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_widget_add_css_class (label, "message-facts");
  gtk_widget_add_css_class (label, "numeric");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

static GtkWidget *
make_answer_head (KvasirMessageRow *self)
{
  GtkWidget *head = kvasir_wrap_box_new (12, 2);
  GtkWidget *role = make_role_label (self);

  self->facts = make_facts_label ();
  gtk_widget_set_hexpand (role, TRUE);
  gtk_widget_add_css_class (head, "message-head");
  kvasir_wrap_box_append (KVASIR_WRAP_BOX (head), role);
  kvasir_wrap_box_append (KVASIR_WRAP_BOX (head), self->facts);
  return head;
}

static GtkWidget *
make_answer_foot (KvasirMessageRow *self)
{
  GtkWidget *foot = kvasir_wrap_box_new (4, 2);
  KvasirWrapBox *box = KVASIR_WRAP_BOX (foot);

  self->price = make_facts_label ();
  gtk_label_set_xalign (GTK_LABEL (self->price), 1);
  gtk_widget_set_hexpand (self->price, TRUE);
  gtk_widget_set_visible (self->price, FALSE);
  self->retry = make_button (self, _ ("Try again"), "win.message-retry");
  gtk_widget_add_css_class (foot, "message-foot");
  kvasir_wrap_box_append (box, make_switcher (self));
  kvasir_wrap_box_append (box, make_button (self, _ ("Copy"), "win.message-copy"));
  kvasir_wrap_box_append (box, self->retry);
  kvasir_wrap_box_append (box, make_button (self, _ ("Branch from here"), "win.message-branch"));
  kvasir_wrap_box_append (box, make_button (self, _ ("Show cells"), "win.message-cells"));
  kvasir_wrap_box_append (box, self->price);
  return foot;
}

static GtkWidget *
make_ending (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, "message-ending");
  return label;
}

static void
build_answer (KvasirMessageRow *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_widget_add_css_class (card, "message-card");
  self->ending = make_ending ();
  self->reasoning = g_object_new (KVASIR_TYPE_REASONING_FOLD, NULL);
  gtk_box_append (GTK_BOX (card), make_answer_head (self));
  gtk_box_append (GTK_BOX (card), self->reasoning);
  gtk_box_append (GTK_BOX (card), self->view);
  gtk_box_append (GTK_BOX (card), self->ending);
  gtk_box_append (GTK_BOX (card), make_answer_foot (self));
  self->frame = card;
}

static GtkWidget *
make_user_tools (KvasirMessageRow *self)
{
  GtkWidget *tools = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (tools, "message-tools");
  gtk_box_append (GTK_BOX (tools), make_icon_button (self, "edit-copy-symbolic", _ ("Copy message"),
                                                     "win.message-copy"));
  gtk_box_append (GTK_BOX (tools), make_icon_button (self, "document-edit-symbolic",
                                                     _ ("Edit message"), "win.message-edit"));
  gtk_box_append (GTK_BOX (tools),
                  make_icon_button (self, "view-grid-symbolic", _ ("Show cells of message"),
                                    "win.message-cells"));
  return tools;
}

static void
build_question (KvasirMessageRow *self)
{
  GtkWidget *row = kvasir_side_box_new (6);
  GtkWidget *bubble = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_box_append (GTK_BOX (head), make_role_label (self));
  gtk_box_append (GTK_BOX (head), make_switcher (self));
  gtk_widget_add_css_class (bubble, "message-bubble");
  gtk_box_append (GTK_BOX (bubble), head);
  gtk_box_append (GTK_BOX (bubble), self->view);
  gtk_widget_set_halign (row, GTK_ALIGN_END);
  kvasir_side_box_add_start (KVASIR_SIDE_BOX (row), make_user_tools (self));
  kvasir_side_box_set_content (KVASIR_SIDE_BOX (row), bubble);
  self->frame = row;
}

static void
kvasir_message_row_dispose (GObject *object)
{
  KvasirMessageRow *self = KVASIR_MESSAGE_ROW (object);

  g_clear_pointer (&self->frame, gtk_widget_unparent);
  g_clear_object (&self->node);
  G_OBJECT_CLASS (kvasir_message_row_parent_class)->dispose (object);
}

static void
kvasir_message_row_class_init (KvasirMessageRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_message_row_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "message");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
}

static void
kvasir_message_row_init (KvasirMessageRow *self)
{
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

static void
follow (KvasirMessageRow *self, const char *signal, void (*update) (KvasirMessageRow *))
{
  g_signal_connect_object (self->node, signal, G_CALLBACK (update), self, G_CONNECT_SWAPPED);
}

GtkWidget *
kvasir_message_row_new (KvasirMessageNode *node)
{
  KvasirMessageRow *self = g_object_new (KVASIR_TYPE_MESSAGE_ROW, NULL);
  gboolean answer = kvasir_message_node_get_role (node) == KVASIR_ROLE_ASSISTANT;

  self->node = g_object_ref (node);
  self->view = kvasir_markdown_view_new (!answer);
  if (answer)
    build_answer (self);
  else
    build_question (self);
  gtk_widget_set_parent (self->frame, GTK_WIDGET (self));
  follow (self, "notify::content", update_content);
  follow (self, "notify::state", state_cb);
  follow (self, "notify::progress", update_facts);
  follow (self, "notify::version", update_versions);
  follow (self, "notify::n-versions", update_versions);
  update_content (self);
  update_versions (self);
  state_cb (self);
  return GTK_WIDGET (self);
}

KvasirMessageNode *
kvasir_message_row_get_node (KvasirMessageRow *self)
{
  g_return_val_if_fail (KVASIR_IS_MESSAGE_ROW (self), NULL);
  return self->node;
}

void
kvasir_message_row_set_price (KvasirMessageRow *self, guint n_cells, guint64 bytes_per_cell)
{
  g_autofree char *text = NULL;

  g_return_if_fail (KVASIR_IS_MESSAGE_ROW (self));
  if (self->price == NULL)
    return;
  text = n_cells > 0 ? kvasir_message_facts_price (n_cells, bytes_per_cell) : g_strdup ("");
  gtk_label_set_text (GTK_LABEL (self->price), text);
  gtk_widget_set_visible (self->price, *text != '\0');
}
