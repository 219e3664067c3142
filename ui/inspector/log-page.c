#include "ui/inspector/log-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/widgets/after-layout.h"
#include "ui/widgets/quiet-bar.h"
#include "viz/format.h"

/* New lines a few times a second: nobody reads faster, and each costs a layout. They come with the
 * mail that brought the last of them, in the frame in which all else is new; where no more comes,
 * this long after they were due. */
#define FLUSH_INTERVAL_MS 120
#define NO_MAIL_MS 100

struct _KvasirLogPage
{
  GtkWidget parent_instance;

  KvasirLogModel *model;         /* (owned) */
  GtkSingleSelection *selection; /* (owned) */
  GtkWidget *box;                /* (unowned) the only child */
  GtkWidget *filter;
  GtkWidget *note;
  GtkWidget *scrolled;
  GtkWidget *nothing; /* why the list is empty */
  guint flush_source;
  gint64 flushed_us;
  gboolean following;
  gboolean at_end; /* the person looks at the newest lines */
};

enum
{
  SELECTED,
  ACTIVATED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (KvasirLogPage, kvasir_log_page, GTK_TYPE_WIDGET)

/* ---- rows */

static GtkWidget *
make_cell (const char *css_class, guint chars, float xalign)
{
  /* Inscriptions never ask for a new layout when their text changes. */
  GtkWidget *cell = gtk_inscription_new (NULL);
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (cell), chars);
  gtk_inscription_set_nat_chars (GTK_INSCRIPTION (cell), chars);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (cell), xalign);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (cell),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_widget_add_css_class (cell, css_class);
  return cell;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = make_cell ("log-text", 20, 0);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (row), make_cell ("log-step", 7, 1));
  gtk_box_append (GTK_BOX (row), text);
  gtk_list_item_set_child (item, row);
}

static void
show_entry (KvasirLogEntry *entry, GtkWidget *row)
{
  GtkWidget *step = gtk_widget_get_first_child (row);
  GtkWidget *text = gtk_widget_get_next_sibling (step);
  gtk_inscription_set_text (GTK_INSCRIPTION (step), kvasir_log_entry_get_step (entry));
  gtk_inscription_set_text (GTK_INSCRIPTION (text), kvasir_log_entry_get_text (entry));
  if (kvasir_log_entry_get_kind (entry) == KVASIR_LOG_TROUBLE)
    gtk_widget_add_css_class (text, "log-trouble");
  else
    gtk_widget_remove_css_class (text, "log-trouble");
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
  KvasirLogEntry *entry = gtk_list_item_get_item (item);
  GtkWidget *row = gtk_list_item_get_child (item);
  show_entry (entry, row);
  g_signal_connect (entry, "changed", G_CALLBACK (show_entry), row);
}

static void
unbind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
  g_signal_handlers_disconnect_by_func (gtk_list_item_get_item (item), show_entry,
                                        gtk_list_item_get_child (item));
}

/* ---- new lines */

static void
scroll_to_end (KvasirLogPage *self)
{
  GtkAdjustment *adjustment =
      gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scrolled));
  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

static void
update_bar (KvasirLogPage *self)
{
  kvasir_quiet_bar_set_following (GTK_SCROLLED_WINDOW (self->scrolled),
                                  self->at_end && self->following);
}

static void
set_at_end (KvasirLogPage *self, gboolean at_end)
{
  self->at_end = at_end;
  update_bar (self);
}

static void
scroll_if_at_end (GtkWidget *widget)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (widget);
  if (self->at_end)
    scroll_to_end (self);
}

/* The list lays itself out while it says that its length changed, and would not hear of a new place
 * in that moment. */
static void
queue_scroll (KvasirLogPage *self)
{
  kvasir_after_layout (GTK_WIDGET (self), scroll_if_at_end);
}

static void
update_note (KvasirLogPage *self)
{
  guint n_pending = kvasir_log_model_get_n_pending (self->model);
  guint64 n_dropped = kvasir_log_model_get_n_dropped (self->model);
  g_autofree char *text = NULL;
  if (n_pending > 0)
    text = g_strdup_printf (ngettext ("%s new line waits · scroll to the end",
                                      "%s new lines wait · scroll to the end", n_pending),
                            kvasir_format_count (n_pending).s);
  else if (n_dropped > 0)
    text = g_strdup_printf (_ ("the newest %s · %s older ones are gone"),
                            kvasir_format_count (KVASIR_LOG_CAPACITY).s,
                            kvasir_format_count ((gint64) n_dropped).s);
  gtk_label_set_label (GTK_LABEL (self->note), text != NULL ? text : "");
}

/* Rows that fill the page, or 0 where there are not as many. */
static guint
count_rows_on_page (KvasirLogPage *self)
{
  GtkAdjustment *adjustment =
      gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scrolled));
  double upper = gtk_adjustment_get_upper (adjustment);
  double page_size = gtk_adjustment_get_page_size (adjustment);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->model));
  return upper > page_size ? (guint) ceil (page_size / upper * n) + 1 : 0;
}

/* A list has widgets for hundreds of rows around those on screen. While rows come by themselves and
 * nobody scrolls it gets those alone that are seen. */
static void
update_limit (KvasirLogPage *self)
{
  gboolean alone = kvasir_quiet_bar_is_quiet (GTK_SCROLLED_WINDOW (self->scrolled)) &&
                   kvasir_log_page_get_selected (self) == NULL &&
                   (gtk_widget_get_state_flags (self->scrolled) & GTK_STATE_FLAG_FOCUS_WITHIN) == 0;
  kvasir_log_model_set_limit (self->model, alone ? count_rows_on_page (self) : 0);
}

static void
flush (KvasirLogPage *self)
{
  g_clear_handle_id (&self->flush_source, g_source_remove);
  self->flushed_us = g_get_monotonic_time ();
  update_limit (self);
  if (self->at_end && self->following && gtk_widget_get_mapped (GTK_WIDGET (self)))
    kvasir_log_model_flush (self->model);
  update_note (self);
}

static gboolean
flush_cb (gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  self->flush_source = 0;
  flush (self);
  return G_SOURCE_REMOVE;
}

static void
queue_flush (KvasirLogPage *self)
{
  if (self->flush_source == 0)
    self->flush_source = g_timeout_add (FLUSH_INTERVAL_MS + NO_MAIL_MS, flush_cb, self);
}

void
kvasir_log_page_add_mail (KvasirLogPage *self, const KvasirMail *mail)
{
  const KvasirEvent *event;
  const gint32 *data;
  guint n_data;
  gsize offset = 0;
  if (mail->events_lost)
    kvasir_log_model_append_note (self->model, _ ("some events were lost here"));
  while ((event = kvasir_mail_next_event (mail, &offset, &data, &n_data)) != NULL)
    kvasir_log_model_append (self->model, event, data, n_data);
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  if (g_get_monotonic_time () - self->flushed_us >= FLUSH_INTERVAL_MS * 1000)
    flush (self);
  else
    queue_flush (self);
}

void
kvasir_log_page_set_following (KvasirLogPage *self, gboolean following)
{
  self->following = following;
  update_bar (self);
  if (following)
    {
      set_at_end (self, TRUE);
      queue_flush (self);
      queue_scroll (self);
    }
}

static void
items_changed_cb (GListModel *model, guint position, guint n_removed, guint n_added, gpointer self)
{
  gtk_widget_set_visible (KVASIR_LOG_PAGE (self)->nothing, g_list_model_get_n_items (model) == 0);
}

/* ---- scrolling */

/* The list grew or shrank: stay at the end, if that is where the person is. */
static void
adjustment_changed_cb (GtkAdjustment *adjustment, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  if (self->at_end)
    queue_scroll (self);
}

static gboolean
is_at_end (GtkAdjustment *adjustment)
{
  return gtk_adjustment_get_value (adjustment) >=
         gtk_adjustment_get_upper (adjustment) - gtk_adjustment_get_page_size (adjustment) - 1;
}

/* Whoever left the end comes back to it by any way of scrolling. That somebody leaves it is taken
 * from the input alone: the list moves its adjustment by itself whenever rows come and go. */
static void
value_changed_cb (GtkAdjustment *adjustment, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  if (self->at_end || !is_at_end (adjustment))
    return;
  set_at_end (self, TRUE);
  queue_flush (self);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  if (dy < 0)
    set_at_end (self, FALSE);
  return GDK_EVENT_PROPAGATE;
}

static gboolean
change_value_cb (GtkRange *range, GtkScrollType type, double value, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  if (value < gtk_adjustment_get_value (gtk_range_get_adjustment (range)))
    set_at_end (self, FALSE);
  return GDK_EVENT_PROPAGATE;
}

static gboolean
key_pressed_cb (GtkEventControllerKey *controller,
                guint keyval,
                guint keycode,
                GdkModifierType state,
                gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  if (keyval == GDK_KEY_Up || keyval == GDK_KEY_Page_Up || keyval == GDK_KEY_Home)
    set_at_end (self, FALSE);
  return GDK_EVENT_PROPAGATE;
}

/* The pointer came or went, or the person left the end. */
static void
policy_cb (GtkScrolledWindow *scrolled, GParamSpec *pspec, gpointer user_data)
{
  if (!kvasir_quiet_bar_is_quiet (scrolled))
    update_limit (KVASIR_LOG_PAGE (user_data));
}

static void
watch_scrolling (KvasirLogPage *self)
{
  GtkScrolledWindow *scrolled = GTK_SCROLLED_WINDOW (self->scrolled);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (scrolled);
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkEventController *key = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (scroll, GTK_PHASE_CAPTURE);
  gtk_event_controller_set_propagation_phase (key, GTK_PHASE_CAPTURE);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed_cb), self);
  gtk_widget_add_controller (self->scrolled, scroll);
  gtk_widget_add_controller (self->scrolled, key);
  g_signal_connect (scrolled, "notify::vscrollbar-policy", G_CALLBACK (policy_cb), self);
  g_signal_connect (adjustment, "changed", G_CALLBACK (adjustment_changed_cb), self);
  g_signal_connect (adjustment, "value-changed", G_CALLBACK (value_changed_cb), self);
  /* A scrolled window's bar is a GtkScrollbar; the range inside it tells of dragging. */
  GtkWidget *bar = gtk_scrolled_window_get_vscrollbar (scrolled);
  GtkWidget *range = gtk_widget_get_first_child (bar);
  if (GTK_IS_RANGE (range))
    g_signal_connect (range, "change-value", G_CALLBACK (change_value_cb), self);
}

/* ---- choosing */

static void
selection_changed_cb (GtkSingleSelection *selection, GParamSpec *pspec, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  guint position = gtk_single_selection_get_selected (selection);
  guint n_hidden = kvasir_log_model_get_n_hidden (self->model);
  if (n_hidden == 0 || position == GTK_INVALID_LIST_POSITION)
    {
      g_signal_emit (self, signals[SELECTED], 0);
      return;
    }
  /* A choice is of a line, not of a place that shows another one soon. */
  kvasir_log_model_set_limit (self->model, 0);
  gtk_single_selection_set_selected (selection, n_hidden + position);
}

static void
activate_cb (GtkListView *list, guint position, gpointer user_data)
{
  g_signal_emit (user_data, signals[ACTIVATED], 0);
}

static void
filter_changed_cb (GtkDropDown *filter, GParamSpec *pspec, gpointer user_data)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (user_data);
  guint selected = gtk_drop_down_get_selected (filter);
  /* The first choice is "everything". */
  kvasir_log_model_set_filter (self->model, selected == 0 ? KVASIR_LOG_ALL : selected - 1);
  set_at_end (self, TRUE);
  queue_scroll (self);
}

GtkSingleSelection *
kvasir_log_page_get_selection (KvasirLogPage *self)
{
  return self->selection;
}

KvasirLogEntry *
kvasir_log_page_get_selected (KvasirLogPage *self)
{
  return gtk_single_selection_get_selected_item (kvasir_log_page_get_selection (self));
}

void
kvasir_log_page_clear_selection (KvasirLogPage *self)
{
  gtk_single_selection_set_selected (self->selection, GTK_INVALID_LIST_POSITION);
}

void
kvasir_log_page_append_text (KvasirLogPage *self, GString *out)
{
  GListModel *list = G_LIST_MODEL (self->model);
  kvasir_log_model_set_limit (self->model, 0);
  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr (KvasirLogEntry) entry = g_list_model_get_item (list, i);
      g_string_append_printf (out, "%s  %s\n", kvasir_log_entry_get_step (entry),
                              kvasir_log_entry_get_text (entry));
    }
}

/* ---- the object */

static void
kvasir_log_page_map (GtkWidget *widget)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (widget);
  GTK_WIDGET_CLASS (kvasir_log_page_parent_class)->map (widget);
  queue_flush (self);
}

static void
kvasir_log_page_dispose (GObject *object)
{
  KvasirLogPage *self = KVASIR_LOG_PAGE (object);
  g_clear_handle_id (&self->flush_source, g_source_remove);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (kvasir_log_page_parent_class)->dispose (object);
}

static void
kvasir_log_page_class_init (KvasirLogPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = kvasir_log_page_dispose;
  widget_class->map = kvasir_log_page_map;
  signals[SELECTED] = g_signal_new ("selected", KVASIR_TYPE_LOG_PAGE, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
  signals[ACTIVATED] = g_signal_new ("activated", KVASIR_TYPE_LOG_PAGE, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_css_name (widget_class, "logpage");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LOG);
}

static GtkWidget *
make_filter (KvasirLogPage *self)
{
  GtkStringList *names = gtk_string_list_new (NULL);
  gtk_string_list_append (names, _ ("everything"));
  for (guint kind = 0; kind < KVASIR_N_LOG_KINDS; kind++)
    gtk_string_list_append (names, kvasir_log_kind_get_label (kind));
  GtkWidget *filter = gtk_drop_down_new (G_LIST_MODEL (names), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (filter), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Kind of events"), -1);
  g_signal_connect (filter, "notify::selected", G_CALLBACK (filter_changed_cb), self);
  return filter;
}

static GtkWidget *
make_list (KvasirLogPage *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cb), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cb), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cb), NULL);
  self->selection = gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->model)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  kvasir_log_page_clear_selection (self);
  g_signal_connect (self->selection, "notify::selected-item", G_CALLBACK (selection_changed_cb),
                    self);
  GtkWidget *list =
      gtk_list_view_new (g_object_ref (GTK_SELECTION_MODEL (self->selection)), factory);
  g_signal_connect (list, "activate", G_CALLBACK (activate_cb), self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Events of the engine"), -1);
  return list;
}

/* The list, and what stands in its place while there is none. */
static GtkWidget *
make_content (KvasirLogPage *self)
{
  GtkWidget *overlay = gtk_overlay_new ();
  self->scrolled = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scrolled), make_list (self));
  self->nothing =
      gtk_label_new (_ ("Nothing to list yet: events are noted while the inspector is open."));
  gtk_label_set_wrap (GTK_LABEL (self->nothing), TRUE);
  gtk_widget_add_css_class (self->nothing, "inspector-empty-text");
  gtk_widget_set_halign (self->nothing, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->nothing, GTK_ALIGN_CENTER);
  g_signal_connect_object (self->model, "items-changed", G_CALLBACK (items_changed_cb), self, 0);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), self->scrolled);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), self->nothing);
  gtk_widget_set_vexpand (overlay, TRUE);
  return overlay;
}

static void
kvasir_log_page_init (KvasirLogPage *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->model = kvasir_log_model_new ();
  self->following = TRUE;
  self->at_end = TRUE;
  self->filter = make_filter (self);
  self->note = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->note), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->note), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (self->note, "log-note");
  gtk_widget_add_css_class (bar, "log-bar");
  gtk_box_append (GTK_BOX (bar), self->filter);
  gtk_box_append (GTK_BOX (bar), self->note);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_box_append (GTK_BOX (self->box), bar);
  gtk_box_append (GTK_BOX (self->box), make_content (self));
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  kvasir_quiet_bar_add (GTK_SCROLLED_WINDOW (self->scrolled));
  update_bar (self);
  watch_scrolling (self);
}

GtkWidget *
kvasir_log_page_new (void)
{
  return g_object_new (KVASIR_TYPE_LOG_PAGE, NULL);
}

KvasirLogModel *
kvasir_log_page_get_model (KvasirLogPage *self)
{
  return self->model;
}
