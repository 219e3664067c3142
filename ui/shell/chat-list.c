#include "ui/shell/chat-list.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/shell/chat-row.h"

#define SEARCH_DELAY_MS 120

struct _KvasirChatList
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkWidget *search;
  GtkWidget *scroller; /* of the list */
  GtkWidget *list;
  GtkWidget *none; /* AdwStatusPage */

  KvasirHistory *history;    /* (owned) (nullable) */
  GtkFilterListModel *found; /* (owned) (nullable) */
  GtkCustomFilter *filter;   /* (owned) (nullable) */
  KvasirChat *selected;      /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (KvasirChatList, kvasir_chat_list, GTK_TYPE_WIDGET)

enum
{
  CHOSEN,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* ---- days */

char *
kvasir_chat_list_name_day (gint64 then, gint64 now)
{
  g_autoptr (GDateTime) then_utc = g_date_time_new_from_unix_utc (then / G_USEC_PER_SEC);
  g_autoptr (GDateTime) now_utc = g_date_time_new_from_unix_utc (now / G_USEC_PER_SEC);
  g_autoptr (GDateTime) then_local = g_date_time_to_local (then_utc);
  g_autoptr (GDateTime) now_local = g_date_time_to_local (now_utc);
  GDate then_date, now_date;
  gint days;

  g_date_set_dmy (&then_date, (GDateDay) g_date_time_get_day_of_month (then_local),
                  (GDateMonth) g_date_time_get_month (then_local),
                  (GDateYear) g_date_time_get_year (then_local));
  g_date_set_dmy (&now_date, (GDateDay) g_date_time_get_day_of_month (now_local),
                  (GDateMonth) g_date_time_get_month (now_local),
                  (GDateYear) g_date_time_get_year (now_local));
  days = g_date_days_between (&then_date, &now_date);
  if (days <= 0)
    return g_strdup (_ ("Today"));
  if (days == 1)
    return g_strdup (_ ("Yesterday"));
  if (days <= 7)
    return g_strdup (_ ("Last 7 Days"));
  if (days <= 30)
    return g_strdup (_ ("Last 30 Days"));
  if (g_date_time_get_year (then_local) == g_date_time_get_year (now_local))
    return g_date_time_format (then_local, "%OB");
  return g_date_time_format (then_local, "%Y");
}

static char *
name_row (GtkListBoxRow *row)
{
  KvasirChat *chat = kvasir_chat_row_get_chat (KVASIR_CHAT_ROW (row));

  return kvasir_chat_list_name_day (kvasir_chat_get_updated_us (chat), g_get_real_time ());
}

static void
header_func (GtkListBoxRow *row, GtkListBoxRow *before, gpointer user_data)
{
  g_autofree char *name = name_row (row);
  g_autofree char *name_before = before != NULL ? name_row (before) : NULL;
  GtkWidget *label;

  if (g_strcmp0 (name, name_before) == 0)
    {
      gtk_list_box_row_set_header (row, NULL);
      return;
    }
  label = gtk_label_new (name);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "chat-day");
  gtk_list_box_row_set_header (row, label);
}

/* ---- what is shown */

static void
update_none (KvasirChatList *self)
{
  gboolean searching = *gtk_editable_get_text (GTK_EDITABLE (self->search)) != '\0';
  guint n = self->found != NULL ? g_list_model_get_n_items (G_LIST_MODEL (self->found)) : 0;

  adw_status_page_set_title (ADW_STATUS_PAGE (self->none),
                             searching ? _ ("Nothing found") : _ ("No chats yet"));
  adw_status_page_set_description (ADW_STATUS_PAGE (self->none),
                                   searching ? _ ("No title and no message holds this text.")
                                             : _ ("They appear here and stay on this computer."));
  gtk_widget_set_visible (self->scroller, n > 0);
  gtk_widget_set_visible (self->none, n == 0);
}

static GtkListBoxRow *
find_row (KvasirChatList *self, KvasirChat *chat)
{
  for (GtkWidget *row = gtk_widget_get_first_child (self->list); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    if (KVASIR_IS_CHAT_ROW (row) && kvasir_chat_row_get_chat (KVASIR_CHAT_ROW (row)) == chat)
      return GTK_LIST_BOX_ROW (row);
  return NULL;
}

static void
restore_selection (KvasirChatList *self)
{
  GtkListBoxRow *row = self->selected != NULL ? find_row (self, self->selected) : NULL;

  gtk_list_box_select_row (GTK_LIST_BOX (self->list), row);
  update_none (self);
}

static GtkWidget *
make_row (gpointer item, gpointer user_data)
{
  return kvasir_chat_row_new (item);
}

static gboolean
match (gpointer item, gpointer user_data)
{
  return kvasir_history_is_found (user_data, item);
}

static void
found_cb (KvasirChatList *self)
{
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  restore_selection (self);
}

static void
search_changed_cb (KvasirChatList *self)
{
  if (self->history != NULL)
    kvasir_history_search (self->history, gtk_editable_get_text (GTK_EDITABLE (self->search)));
}

static void
stop_search_cb (KvasirChatList *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
}

static void
activated_cb (KvasirChatList *self, GtkListBoxRow *row)
{
  g_signal_emit (self, signals[CHOSEN], 0, kvasir_chat_row_get_chat (KVASIR_CHAT_ROW (row)));
}

/* ---- making */

static GtkWidget *
make_list (KvasirChatList *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_SINGLE);
  gtk_list_box_set_header_func (GTK_LIST_BOX (self->list), header_func, NULL, NULL);
  gtk_widget_add_css_class (self->list, "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Chats"), -1);
  g_signal_connect_swapped (self->list, "row-activated", G_CALLBACK (activated_cb), self);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->list);
  return scroller;
}

static GtkWidget *
make_search (KvasirChatList *self)
{
  GtkWidget *search = gtk_search_entry_new ();

  g_object_set (search, "placeholder-text", _ ("Search chats"), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Search chats"), -1);
  gtk_search_entry_set_search_delay (GTK_SEARCH_ENTRY (search), SEARCH_DELAY_MS);
  gtk_widget_add_css_class (search, "chat-search");
  g_signal_connect_swapped (search, "search-changed", G_CALLBACK (search_changed_cb), self);
  g_signal_connect_swapped (search, "stop-search", G_CALLBACK (stop_search_cb), self);
  return search;
}

static void
kvasir_chat_list_dispose (GObject *object)
{
  KvasirChatList *self = KVASIR_CHAT_LIST (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->found);
  g_clear_object (&self->filter);
  g_clear_object (&self->history);
  g_clear_object (&self->selected);
  G_OBJECT_CLASS (kvasir_chat_list_parent_class)->dispose (object);
}

static void
kvasir_chat_list_class_init (KvasirChatListClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_chat_list_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "chatlist");
  signals[CHOSEN] = g_signal_new ("chosen", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, KVASIR_TYPE_CHAT);
}

static void
kvasir_chat_list_init (KvasirChatList *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->search = make_search (self);
  self->scroller = make_list (self);
  self->none = adw_status_page_new ();
  gtk_widget_add_css_class (self->none, "compact");
  gtk_widget_set_vexpand (self->scroller, TRUE);
  gtk_box_append (GTK_BOX (self->box), self->search);
  gtk_box_append (GTK_BOX (self->box), self->scroller);
  gtk_box_append (GTK_BOX (self->box), self->none);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  update_none (self);
}

void
kvasir_chat_list_set_history (KvasirChatList *self, KvasirHistory *history)
{
  g_return_if_fail (KVASIR_IS_CHAT_LIST (self) && self->history == NULL);
  self->history = g_object_ref (history);
  self->filter = gtk_custom_filter_new (match, history, NULL);
  self->found = gtk_filter_list_model_new (g_object_ref (G_LIST_MODEL (history)),
                                           g_object_ref (GTK_FILTER (self->filter)));
  gtk_list_box_bind_model (GTK_LIST_BOX (self->list), G_LIST_MODEL (self->found), make_row, NULL,
                           NULL);
  g_signal_connect_object (history, "found", G_CALLBACK (found_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->found, "items-changed", G_CALLBACK (restore_selection), self,
                           G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  update_none (self);
}

void
kvasir_chat_list_select (KvasirChatList *self, KvasirChat *chat)
{
  g_return_if_fail (KVASIR_IS_CHAT_LIST (self));
  g_set_object (&self->selected, chat);
  /* What is on screen is never hidden by an old search. */
  if (chat != NULL && !kvasir_history_is_found (self->history, chat))
    stop_search_cb (self);
  restore_selection (self);
}

void
kvasir_chat_list_focus_search (KvasirChatList *self)
{
  g_return_if_fail (KVASIR_IS_CHAT_LIST (self));
  gtk_widget_grab_focus (self->search);
}

KvasirChat *
kvasir_chat_list_get_neighbour (KvasirChatList *self, int delta)
{
  GtkListBoxRow *row;

  g_return_val_if_fail (KVASIR_IS_CHAT_LIST (self), NULL);
  row = self->selected != NULL ? find_row (self, self->selected) : NULL;
  if (row == NULL)
    return NULL;
  row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list),
                                       gtk_list_box_row_get_index (row) + delta);
  return row != NULL ? kvasir_chat_row_get_chat (KVASIR_CHAT_ROW (row)) : NULL;
}
