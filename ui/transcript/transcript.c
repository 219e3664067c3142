#include "ui/transcript/transcript.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/transcript/message-row.h"
#include "ui/widgets/after-layout.h"
#include "ui/widgets/quiet-bar.h"

/* Rows built at once, and again each time the upper end is reached. */
#define CHUNK 24
/* Scrolled to the end is this near to it. */
#define END_TOLERANCE 24
/* Near enough to the upper end to build what is above. */
#define TOP_TOLERANCE 400
#define COLUMN_WIDTH 860

struct _KvasirTranscript
{
  GtkWidget parent_instance;

  GtkWidget *overlay;
  GtkWidget *scroller;
  GtkWidget *rows;   /* GtkBox of KvasirMessageRow */
  GtkWidget *system; /* the chat's system prompt as a card */
  GtkWidget *system_text;
  GtkWidget *jump;

  KvasirConversation *conversation; /* (owned) (nullable) */
  GSignalGroup *signals;            /* (owned) of the conversation */
  GSignalGroup *chat_signals;       /* (owned) of its chat */
  const KvasirSnapshot *snapshot;   /* (owned) (nullable) */
  guint first;                      /* index of the first message that has a row */
  gboolean at_end;
  double upper; /* of the adjustment, as seen last */
  double page_size;
  double from_end; /* kept while earlier rows are built; < 0: not */
  guint settle_id; /* ends that */
};

G_DEFINE_FINAL_TYPE (KvasirTranscript, kvasir_transcript, GTK_TYPE_WIDGET)

static GtkAdjustment *
get_adjustment (KvasirTranscript *self)
{
  return gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scroller));
}

static double
get_max (GtkAdjustment *adjustment)
{
  return gtk_adjustment_get_upper (adjustment) - gtk_adjustment_get_page_size (adjustment);
}

/* ---- prices */

static guint
count_cells (const KvasirCellsShot *cells, guint64 message_id)
{
  guint most = 0;
  gint seq = -1;
  guint n = 0;

  /* Runs ascend by sequence; the message costs what one sequence holds of it, shared or not. */
  for (guint i = 0; i < cells->n_message_runs; i++)
    {
      const KvasirMessageRun *run = &cells->message_runs[i];

      if (run->seq != seq)
        n = 0;
      seq = run->seq;
      if (run->message_id == message_id && run->role != 3)
        n += (guint) run->n;
      most = MAX (most, n);
    }
  return most;
}

static void
update_prices (KvasirTranscript *self)
{
  const KvasirCellsShot *cells = self->snapshot != NULL ? self->snapshot->cells : NULL;
  guint64 bytes_per_cell = 0;

  for (guint i = 0; cells != NULL && i < cells->n_caches; i++)
    bytes_per_cell += cells->caches[i].bytes_per_cell;
  for (GtkWidget *row = gtk_widget_get_first_child (self->rows); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    {
      KvasirMessageNode *node = kvasir_message_row_get_node (KVASIR_MESSAGE_ROW (row));
      guint n = cells != NULL ? count_cells (cells, kvasir_message_node_get_id (node)) : 0;

      kvasir_message_row_set_price (KVASIR_MESSAGE_ROW (row), n, bytes_per_cell);
    }
}

void
kvasir_transcript_set_snapshot (KvasirTranscript *self, const KvasirSnapshot *snapshot)
{
  g_return_if_fail (KVASIR_IS_TRANSCRIPT (self));
  if (snapshot != NULL)
    kvasir_snapshot_ref (snapshot);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  self->snapshot = snapshot;
  update_prices (self);
}

/* ---- rows */

static GtkWidget *
make_row (KvasirTranscript *self, guint position)
{
  g_autoptr (KvasirMessageNode) node =
      g_list_model_get_item (G_LIST_MODEL (self->conversation), position);

  return kvasir_message_row_new (node);
}

static GtkWidget *
get_row (KvasirTranscript *self, guint position)
{
  GtkWidget *row = gtk_widget_get_first_child (self->rows);

  for (guint i = self->first; i < position && row != NULL; i++)
    row = gtk_widget_get_next_sibling (row);
  return row;
}

static void
show_system_prompt (KvasirTranscript *self)
{
  KvasirChat *chat =
      self->conversation != NULL ? kvasir_conversation_get_chat (self->conversation) : NULL;
  const char *prompt = chat != NULL ? kvasir_chat_get_system_prompt (chat) : "";

  gtk_label_set_text (GTK_LABEL (self->system_text), prompt);
  gtk_widget_set_visible (self->system, *prompt != '\0' && self->first == 0);
}

static void
build_earlier (KvasirTranscript *self, guint n)
{
  n = MIN (n, self->first);
  for (guint i = 0; i < n; i++)
    gtk_box_prepend (GTK_BOX (self->rows), make_row (self, self->first - 1 - i));
  self->first -= n;
  show_system_prompt (self);
  if (n > 0)
    update_prices (self);
}

/* The list changed from @position on. Rows before the built ones are none of our concern. */
static void
items_changed_cb (KvasirTranscript *self, guint position, guint removed, guint added)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->conversation));
  GtkWidget *row;

  if (position < self->first)
    {
      guint missing = self->first - position;

      removed -= MIN (removed, missing);
      self->first = position;
      position = self->first;
    }
  row = get_row (self, position);
  for (guint i = 0; i < removed && row != NULL; i++)
    {
      GtkWidget *next = gtk_widget_get_next_sibling (row);

      gtk_box_remove (GTK_BOX (self->rows), row);
      row = next;
    }
  /* Changes are always a new tail, so what is added goes to the end. */
  if (gtk_widget_get_first_child (self->rows) == NULL && added > CHUNK)
    self->first = n - CHUNK;
  for (guint i = MAX (position, self->first); i < position + added; i++)
    gtk_box_append (GTK_BOX (self->rows), make_row (self, i));
  show_system_prompt (self);
  update_prices (self);
  if (added > 0)
    kvasir_transcript_scroll_to_end (self);
}

static void
clear_rows (KvasirTranscript *self)
{
  GtkWidget *row;

  while ((row = gtk_widget_get_first_child (self->rows)) != NULL)
    gtk_box_remove (GTK_BOX (self->rows), row);
  self->first = 0;
}

void
kvasir_transcript_set_conversation (KvasirTranscript *self, KvasirConversation *conversation)
{
  g_return_if_fail (KVASIR_IS_TRANSCRIPT (self));
  if (self->conversation == conversation)
    return;
  clear_rows (self);
  g_set_object (&self->conversation, conversation);
  g_signal_group_set_target (self->signals, conversation);
  g_signal_group_set_target (self->chat_signals, conversation != NULL
                                                     ? kvasir_conversation_get_chat (conversation)
                                                     : NULL);
  show_system_prompt (self);
  if (conversation != NULL)
    items_changed_cb (self, 0, 0, g_list_model_get_n_items (G_LIST_MODEL (conversation)));
  kvasir_transcript_scroll_to_end (self);
}

/* ---- scrolling */

static void
update_jump (KvasirTranscript *self)
{
  gtk_widget_set_visible (self->jump, !self->at_end);
  kvasir_quiet_bar_set_following (GTK_SCROLLED_WINDOW (self->scroller), self->at_end);
}

static gboolean
settle_cb (gpointer user_data)
{
  KvasirTranscript *self = user_data;

  self->settle_id = 0;
  self->from_end = -1;
  return G_SOURCE_REMOVE;
}

/* Rows above are measured after the texts came from the parser, so the place is held for a while.
 */
static void
hold_place (KvasirTranscript *self)
{
  GtkAdjustment *adjustment = get_adjustment (self);

  if (self->from_end < 0)
    self->from_end = gtk_adjustment_get_upper (adjustment) - gtk_adjustment_get_value (adjustment);
  g_clear_handle_id (&self->settle_id, g_source_remove);
  self->settle_id = g_timeout_add (400, settle_cb, self);
}

static gboolean
build_earlier_cb (gpointer user_data)
{
  KvasirTranscript *self = user_data;

  if (self->first > 0)
    {
      hold_place (self);
      build_earlier (self, CHUNK);
    }
  return G_SOURCE_REMOVE;
}

static void
value_changed_cb (GtkAdjustment *adjustment, KvasirTranscript *self)
{
  double value = gtk_adjustment_get_value (adjustment);

  /* A value that moved because the text or the window changed its size is nobody's wish. */
  if (self->upper != gtk_adjustment_get_upper (adjustment) ||
      self->page_size != gtk_adjustment_get_page_size (adjustment))
    return;
  self->at_end = value >= get_max (adjustment) - END_TOLERANCE;
  update_jump (self);
  if (value < TOP_TOLERANCE && self->first > 0 && self->from_end < 0)
    g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, build_earlier_cb, g_object_ref (self),
                     g_object_unref);
}

static void
keep_place (GtkWidget *widget)
{
  KvasirTranscript *self = KVASIR_TRANSCRIPT (widget);
  GtkAdjustment *adjustment = get_adjustment (self);

  if (self->from_end >= 0)
    gtk_adjustment_set_value (adjustment, self->upper - self->from_end);
  else if (self->at_end)
    gtk_adjustment_set_value (adjustment, get_max (adjustment));
  update_jump (self);
}

/* The height changed, not the person's wish. Comes from inside the viewport's allocation, where
 * another value would not reach the screen. */
static void
upper_changed_cb (GtkAdjustment *adjustment, GParamSpec *pspec, KvasirTranscript *self)
{
  self->upper = gtk_adjustment_get_upper (adjustment);
  self->page_size = gtk_adjustment_get_page_size (adjustment);
  kvasir_after_layout (GTK_WIDGET (self), keep_place);
}

void
kvasir_transcript_scroll_to_end (KvasirTranscript *self)
{
  GtkAdjustment *adjustment;

  g_return_if_fail (KVASIR_IS_TRANSCRIPT (self));
  adjustment = get_adjustment (self);
  g_clear_handle_id (&self->settle_id, g_source_remove);
  self->from_end = -1;
  self->at_end = TRUE;
  gtk_adjustment_set_value (adjustment, get_max (adjustment));
  self->at_end = TRUE;
  update_jump (self);
}

void
kvasir_transcript_scroll_pages (KvasirTranscript *self, double n_pages)
{
  GtkAdjustment *adjustment;

  g_return_if_fail (KVASIR_IS_TRANSCRIPT (self));
  adjustment = get_adjustment (self);
  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_value (adjustment) +
                                            n_pages * gtk_adjustment_get_page_size (adjustment));
}

KvasirMessageNode *
kvasir_transcript_find_message (KvasirTranscript *self, KvasirRole role)
{
  KvasirMessageNode *last = NULL;

  g_return_val_if_fail (KVASIR_IS_TRANSCRIPT (self), NULL);
  for (GtkWidget *row = gtk_widget_get_first_child (self->rows); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    {
      KvasirMessageNode *node = kvasir_message_row_get_node (KVASIR_MESSAGE_ROW (row));

      if (gtk_widget_get_focus_child (self->rows) == row)
        return node;
      if (kvasir_message_node_get_role (node) == role)
        last = node;
    }
  return last;
}

/* ---- making */

static void
jump_cb (GtkButton *button, KvasirTranscript *self)
{
  kvasir_transcript_scroll_to_end (self);
}

static GtkWidget *
make_system_card (KvasirTranscript *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  GtkWidget *role = gtk_label_new (_ ("System"));

  self->system_text = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (role), 0);
  gtk_label_set_xalign (GTK_LABEL (self->system_text), 0);
  gtk_label_set_wrap (GTK_LABEL (self->system_text), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (self->system_text), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (self->system_text), TRUE);
  gtk_label_set_lines (GTK_LABEL (self->system_text), 12);
  gtk_label_set_ellipsize (GTK_LABEL (self->system_text), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (role, "message-role");
  gtk_widget_add_css_class (card, "message-card");
  gtk_widget_add_css_class (card, "system");
  gtk_box_append (GTK_BOX (card), role);
  gtk_box_append (GTK_BOX (card), self->system_text);
  gtk_widget_set_visible (card, FALSE);
  return card;
}

static GtkWidget *
make_jump_button (KvasirTranscript *self)
{
  GtkWidget *jump = gtk_button_new_from_icon_name ("go-bottom-symbolic");

  gtk_widget_set_tooltip_text (jump, _ ("To the end"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (jump), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("To the end"), -1);
  gtk_widget_add_css_class (jump, "circular");
  gtk_widget_add_css_class (jump, "osd");
  gtk_widget_set_halign (jump, GTK_ALIGN_END);
  gtk_widget_set_valign (jump, GTK_ALIGN_END);
  gtk_widget_set_margin_end (jump, 18);
  gtk_widget_set_margin_bottom (jump, 12);
  g_signal_connect (jump, "clicked", G_CALLBACK (jump_cb), self);
  return jump;
}

static GtkWidget *
make_scroller (KvasirTranscript *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *viewport = gtk_viewport_new (NULL, NULL);
  GtkWidget *clamp = adw_clamp_new ();
  GtkWidget *column = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  self->rows = g_object_new (GTK_TYPE_BOX, "orientation", GTK_ORIENTATION_VERTICAL,
                             "accessible-role", GTK_ACCESSIBLE_ROLE_LIST, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->rows), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Conversation"), -1);
  self->system = make_system_card (self);
  gtk_widget_add_css_class (column, "transcript");
  gtk_box_append (GTK_BOX (column), self->system);
  gtk_box_append (GTK_BOX (column), self->rows);
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), COLUMN_WIDTH);
  adw_clamp_set_tightening_threshold (ADW_CLAMP (clamp), COLUMN_WIDTH);
  adw_clamp_set_child (ADW_CLAMP (clamp), column);
  /* A focus that moves into a label must not throw the text about. */
  gtk_viewport_set_scroll_to_focus (GTK_VIEWPORT (viewport), FALSE);
  gtk_viewport_set_child (GTK_VIEWPORT (viewport), clamp);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), viewport);
  kvasir_quiet_bar_add (GTK_SCROLLED_WINDOW (scroller));
  return scroller;
}

static void
kvasir_transcript_dispose (GObject *object)
{
  KvasirTranscript *self = KVASIR_TRANSCRIPT (object);

  g_clear_handle_id (&self->settle_id, g_source_remove);
  g_clear_object (&self->signals);
  g_clear_object (&self->chat_signals);
  g_clear_object (&self->conversation);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  g_clear_pointer (&self->overlay, gtk_widget_unparent);
  G_OBJECT_CLASS (kvasir_transcript_parent_class)->dispose (object);
}

static void
kvasir_transcript_class_init (KvasirTranscriptClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_transcript_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
}

static void
kvasir_transcript_init (KvasirTranscript *self)
{
  GtkAdjustment *adjustment;

  self->from_end = -1;
  self->at_end = TRUE;
  self->scroller = make_scroller (self);
  self->jump = make_jump_button (self);
  self->overlay = gtk_overlay_new ();
  gtk_overlay_set_child (GTK_OVERLAY (self->overlay), self->scroller);
  gtk_overlay_add_overlay (GTK_OVERLAY (self->overlay), self->jump);
  gtk_widget_set_parent (self->overlay, GTK_WIDGET (self));
  self->signals = g_signal_group_new (KVASIR_TYPE_CONVERSATION);
  g_signal_group_connect_swapped (self->signals, "items-changed", G_CALLBACK (items_changed_cb),
                                  self);
  self->chat_signals = g_signal_group_new (KVASIR_TYPE_CHAT);
  g_signal_group_connect_swapped (self->chat_signals, "notify::system-prompt",
                                  G_CALLBACK (show_system_prompt), self);
  adjustment = get_adjustment (self);
  g_signal_connect_object (adjustment, "value-changed", G_CALLBACK (value_changed_cb), self, 0);
  g_signal_connect_object (adjustment, "notify::upper", G_CALLBACK (upper_changed_cb), self, 0);
  g_signal_connect_object (adjustment, "notify::page-size", G_CALLBACK (upper_changed_cb), self, 0);
  update_jump (self);
}

GtkWidget *
kvasir_transcript_new (void)
{
  return g_object_new (KVASIR_TYPE_TRANSCRIPT, NULL);
}
