/* The inspector's widgets. */
#include <glib/gi18n.h>

#include "kvasir-inspector-resources.h"
#include "ui/inspector/inspector-private.h"

#define CSS_PATH "/org/kvasir/Kvasir/inspector/inspector.css"

/* Once per display, whatever the number of inspectors. */
static void
load_css (GtkWidget *widget)
{
  GdkDisplay *display = gtk_widget_get_display (widget);
  if (g_object_get_data (G_OBJECT (display), "kvasir-inspector-css") != NULL)
    return;
  g_autoptr (GtkCssProvider) provider = gtk_css_provider_new ();
  kvasir_inspector_register_resource ();
  gtk_css_provider_load_from_resource (provider, CSS_PATH);
  gtk_style_context_add_provider_for_display (display, GTK_STYLE_PROVIDER (provider),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_object_set_data (G_OBJECT (display), "kvasir-inspector-css", GINT_TO_POINTER (1));
}

/* ---- the strip and the tabs */

static void
follow_clicked_cb (GtkButton *button, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  kvasir_inspector_set_following (self, !self->following);
}

static GtkWidget *
make_strip (KvasirInspector *self)
{
  GtkWidget *strip = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  /* Its text changes with every token; an inscription never asks for a new layout of the window. */
  self->headline = gtk_inscription_new (NULL);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (self->headline),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_inscription_set_nat_chars (GTK_INSCRIPTION (self->headline), 60);
  /* As high as one line, so that a long text is cut and not wrapped. */
  gtk_widget_set_valign (self->headline, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (self->headline, TRUE);
  gtk_widget_add_css_class (self->headline, "inspector-headline");
  self->follow = gtk_button_new_with_label (NULL);
  gtk_widget_add_css_class (self->follow, "inspector-follow");
  gtk_widget_set_valign (self->follow, GTK_ALIGN_CENTER);
  g_signal_connect (self->follow, "clicked", G_CALLBACK (follow_clicked_cb), self);
  gtk_widget_add_css_class (strip, "inspector-strip");
  gtk_box_append (GTK_BOX (strip), self->headline);
  gtk_box_append (GTK_BOX (strip), self->follow);
  return strip;
}

static GtkWidget *
make_tabs (KvasirInspector *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *tabs = gtk_stack_switcher_new ();
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (tabs), GTK_STACK (self->pages));
  gtk_widget_remove_css_class (tabs, "linked");
  gtk_widget_set_halign (tabs, GTK_ALIGN_START);
  gtk_widget_add_css_class (box, "inspector-tabs");
  gtk_box_append (GTK_BOX (box), tabs);
  return box;
}

/* ---- the pages */

static void
hovered_cb (KvasirViewPage *page, gpointer user_data)
{
  kvasir_inspector_update_words (user_data);
}

static const char *const reasons[] = {
  N_ ("There are no cells yet."),
  N_ ("There are no cells yet."),
  N_ ("There is no mask of the last step. It appears with the next token."),
  N_ ("Nothing is allocated yet."),
};

/* Why a page is empty. */
static const char *
get_reason (const KvasirInspector *self, guint index)
{
  const KvasirCellsShot *cells = self->parts.cells != NULL ? self->parts.cells->cells : NULL;
  if (index == KVASIR_INSPECTOR_MASK && cells != NULL && cells->n_caches == 1 &&
      cells->caches[0].is_recurrent)
    return _ ("This model has no attention: each sequence is one state, and no mask is read.");
  return _ (reasons[index]);
}

static void
drawn_cb (KvasirViewPage *page, gpointer user_data)
{
  KvasirInspector *self = user_data;
  guint index = kvasir_inspector_get_page (self);
  gboolean empty = !kvasir_view_has_data (kvasir_view_page_get_view (page));
  if (index < KVASIR_N_VIEW_PAGES)
    {
      gtk_widget_set_visible (self->nothing[index], empty);
      if (empty)
        gtk_label_set_text (GTK_LABEL (self->nothing[index]), get_reason (self, index));
    }
  kvasir_inspector_update_headline (self);
  kvasir_inspector_queue_words (self);
}

/* One selection for all pages, the log's line included. */
static void
locked_cb (KvasirViewPage *page, gpointer user_data)
{
  KvasirInspector *self = user_data;
  const KvasirThing *locked = kvasir_view_page_get_locked (page);
  KvasirThing thing = locked != NULL ? *locked : (KvasirThing){ KVASIR_THING_NONE };
  kvasir_log_page_clear_selection (self->log);
  kvasir_inspector_lock (self, thing.kind != KVASIR_THING_NONE ? &thing : NULL);
}

static GtkWidget *
make_view_page (KvasirInspector *self, guint index, KvasirView *view, const char *title)
{
  GtkWidget *overlay = gtk_overlay_new ();
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *page = kvasir_view_page_new (view, title);
  kvasir_view_set_token_text (view, kvasir_inspector_dup_token_text, self);
  kvasir_view_set_chat_name (view, kvasir_inspector_dup_chat_name, self);
  self->views[index] = KVASIR_VIEW_PAGE (page);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), page);
  self->nothing[index] = gtk_label_new (_ (reasons[index]));
  gtk_label_set_wrap (GTK_LABEL (self->nothing[index]), TRUE);
  gtk_widget_add_css_class (self->nothing[index], "inspector-empty-text");
  gtk_widget_set_halign (self->nothing[index], GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->nothing[index], GTK_ALIGN_CENTER);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), scrolled);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), self->nothing[index]);
  g_signal_connect (page, "hovered", G_CALLBACK (hovered_cb), self);
  g_signal_connect (page, "locked", G_CALLBACK (locked_cb), self);
  g_signal_connect (page, "drawn", G_CALLBACK (drawn_cb), self);
  return overlay;
}

/* A line of the log stands for the cells that it speaks of. */
static void
log_selected_cb (KvasirLogPage *log, gpointer user_data)
{
  KvasirInspector *self = user_data;
  KvasirLogEntry *entry = kvasir_log_page_get_selected (log);
  const GArray *runs = entry != NULL ? kvasir_log_entry_get_runs (entry) : NULL;
  const KvasirThing thing = { KVASIR_THING_RUNS };
  KvasirViewPage *cells = self->views[KVASIR_INSPECTOR_CELLS];
  if (runs != NULL)
    kvasir_view_set_runs (kvasir_view_page_get_view (cells),
                          (const KvasirCellRun *) (const void *) runs->data, runs->len);
  kvasir_view_page_set_parts (cells, &self->parts);
  kvasir_inspector_lock (self, runs != NULL && runs->len > 0 ? &thing : NULL);
  if (entry != NULL)
    kvasir_inspector_set_following (self, FALSE);
  kvasir_inspector_update_words (self);
}

static void
log_activated_cb (KvasirLogPage *log, gpointer user_data)
{
  KvasirInspector *self = user_data;
  if (self->locked.kind == KVASIR_THING_RUNS)
    kvasir_inspector_set_page (self, KVASIR_INSPECTOR_CELLS);
}

static void
page_changed_cb (GtkStack *stack, GParamSpec *pspec, gpointer user_data)
{
  KvasirInspector *self = user_data;
  kvasir_inspector_update_views (self);
  kvasir_inspector_show_parts (self);
  kvasir_inspector_update_words (self);
  g_object_notify (G_OBJECT (self), "page");
}

static void
add_page (KvasirInspector *self, KvasirInspectorPage page, GtkWidget *child, const char *title)
{
  char name[4];
  g_snprintf (name, sizeof name, "%u", (guint) page);
  gtk_stack_add_titled (GTK_STACK (self->pages), child, name, title);
}

static void
add_view (KvasirInspector *self, KvasirInspectorPage page, KvasirView *view, const char *title)
{
  add_page (self, page, make_view_page (self, page, view, title), title);
}

static void
make_pages (KvasirInspector *self)
{
  self->pages = gtk_stack_new ();
  add_view (self, KVASIR_INSPECTOR_CELLS, kvasir_cells_view_new (), _ ("Cells"));
  add_view (self, KVASIR_INSPECTOR_POSITIONS, kvasir_positions_view_new (), _ ("Positions"));
  add_view (self, KVASIR_INSPECTOR_MASK, kvasir_mask_view_new (), _ ("Mask"));
  add_view (self, KVASIR_INSPECTOR_MEMORY, kvasir_memory_view_new (), _ ("Memory"));
  self->log = KVASIR_LOG_PAGE (kvasir_log_page_new ());
  kvasir_log_model_set_token_text (kvasir_log_page_get_model (self->log),
                                   kvasir_inspector_dup_token_text, self);
  g_signal_connect (self->log, "selected", G_CALLBACK (log_selected_cb), self);
  g_signal_connect (self->log, "activated", G_CALLBACK (log_activated_cb), self);
  add_page (self, KVASIR_INSPECTOR_LOG, GTK_WIDGET (self->log), _ ("Log"));
  g_signal_connect (self->pages, "notify::visible-child", G_CALLBACK (page_changed_cb), self);
}

/* ---- forms and states */

static GtkWidget *
make_text_form (KvasirInspector *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  self->text = gtk_text_view_new ();
  gtk_text_view_set_editable (GTK_TEXT_VIEW (self->text), FALSE);
  gtk_text_view_set_cursor_visible (GTK_TEXT_VIEW (self->text), TRUE);
  gtk_text_view_set_wrap_mode (GTK_TEXT_VIEW (self->text), GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (self->text), 14);
  gtk_text_view_set_top_margin (GTK_TEXT_VIEW (self->text), 8);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->text), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Page as text"), -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->text);
  gtk_widget_set_vexpand (scrolled, TRUE);
  return scrolled;
}

static GtkWidget *
make_details (KvasirInspector *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->details = gtk_label_new (NULL);
  gtk_label_set_selectable (GTK_LABEL (self->details), TRUE);
  gtk_label_set_wrap (GTK_LABEL (self->details), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->details), 0);
  gtk_label_set_yalign (GTK_LABEL (self->details), 0);
  /* Two lines at the usual width, more where they have to wrap; the pane keeps its height. */
  gtk_label_set_lines (GTK_LABEL (self->details), 4);
  gtk_label_set_ellipsize (GTK_LABEL (self->details), PANGO_ELLIPSIZE_END);
  gtk_widget_set_size_request (self->details, -1, 42);
  gtk_widget_set_valign (self->details, GTK_ALIGN_START);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->details),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _ ("Details"), -1);
  gtk_widget_add_css_class (box, "inspector-details");
  gtk_box_append (GTK_BOX (box), self->details);
  return box;
}

static GtkWidget *
make_message (const char *title, const char *text, GtkWidget *extra)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  GtkWidget *head = gtk_label_new (title);
  GtkWidget *body = gtk_label_new (text);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_widget_set_vexpand (box, TRUE);
  gtk_widget_set_margin_start (box, 24);
  gtk_widget_set_margin_end (box, 24);
  gtk_widget_add_css_class (head, "inspector-empty-title");
  gtk_widget_add_css_class (body, "inspector-empty-text");
  gtk_label_set_wrap (GTK_LABEL (body), TRUE);
  gtk_label_set_justify (GTK_LABEL (body), GTK_JUSTIFY_CENTER);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), body);
  if (extra != NULL)
    gtk_box_append (GTK_BOX (box), extra);
  return box;
}

static GtkWidget *
make_states (KvasirInspector *self)
{
  GtkWidget *shown = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  make_pages (self);
  self->forms = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->forms), self->pages, "picture");
  gtk_stack_add_named (GTK_STACK (self->forms), make_text_form (self), "text");
  gtk_box_append (GTK_BOX (shown), make_tabs (self));
  gtk_box_append (GTK_BOX (shown), self->forms);
  gtk_box_append (GTK_BOX (shown), make_details (self));

  self->progress = gtk_progress_bar_new ();
  gtk_widget_set_size_request (self->progress, 200, -1);
  gtk_widget_set_halign (self->progress, GTK_ALIGN_CENTER);
  self->states = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->states),
                       make_message (_ ("No model"),
                                     _ ("Open a model, and its memory appears here: every cell of "
                                        "the cache, live."),
                                     NULL),
                       "empty");
  gtk_stack_add_named (GTK_STACK (self->states),
                       make_message (_ ("Loading the model"),
                                     _ ("The cells appear as soon as their memory is reserved."),
                                     self->progress),
                       "loading");
  gtk_stack_add_named (GTK_STACK (self->states), shown, "pages");
  return self->states;
}

void
kvasir_inspector_build (KvasirInspector *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  load_css (GTK_WIDGET (self));
  gtk_box_append (GTK_BOX (box), make_strip (self));
  gtk_box_append (GTK_BOX (box), make_states (self));
  adw_bin_set_child (ADW_BIN (self), box);
}
