/* Panes, meter and layouts in a real window, with their properties. Needs a display. */
#include <adwaita.h>
#include <string.h>

#include "tests/ui/wait.h"
#include "ui/shell/thinking-button.h"
#include "ui/transcript/markdown-view.h"
#include "ui/transcript/reasoning-fold.h"
#include "ui/widgets/after-layout.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/panes.h"
#include "ui/widgets/quiet-bar.h"
#include "ui/widgets/side-box.h"
#include "ui/widgets/wrap-box.h"
#include "viz/format.h"

static GtkWidget *
make_window (GtkWidget *child, int width)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), width, 400);
  gtk_window_set_child (GTK_WINDOW (window), child);
  gtk_window_present (GTK_WINDOW (window));
  return window;
}

static GtkWidget *
make_block (int width, int height)
{
  GtkWidget *block = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);

  gtk_widget_set_size_request (block, width, height);
  return block;
}

static int
get_x (GtkWidget *widget, GtkWidget *in)
{
  double x;

  g_assert_true (gtk_widget_translate_coordinates (widget, in, 0, 0, &x, NULL));
  return (int) x;
}

static void
count_cb (GObject *object, GParamSpec *pspec, guint *n)
{
  *n += 1;
}

/* ---- panes */

typedef struct
{
  GtkWidget *start;
  GtkWidget *content;
  GtkWidget *end;
  GtkWidget *panes;
} Panes;

static Panes
make_panes (void)
{
  Panes p = { make_block (10, 10), make_block (10, 10), make_block (10, 10), NULL };

  p.panes = g_object_new (KVASIR_TYPE_PANES, "start", p.start, "content", p.content, "end", p.end,
                          "show-start", TRUE, "show-end", TRUE, "end-width", 500, NULL);
  return p;
}

static gboolean
is_width (GtkWidget *widget, int width)
{
  return gtk_widget_get_width (widget) == width;
}

static int
get_left_edge (GtkWidget *widget, GtkWidget *of)
{
  graphene_rect_t bounds;

  g_assert_true (gtk_widget_compute_bounds (widget, of, &bounds));
  return (int) bounds.origin.x;
}

static void
test_panes_stand_beside_or_on_top (void)
{
  Panes p = make_panes ();
  GtkWidget *window = make_window (p.panes, 1300);

  test_wait (is_width (p.panes, 1300));
  test_wait (is_width (p.content, 1300 - 230 - 500));
  g_assert_true (kvasir_panes_get_end_shown (KVASIR_PANES (p.panes)));
  gtk_window_set_default_size (GTK_WINDOW (window), 1000, 400);
  test_wait (is_width (p.panes, 1000));
  test_wait (!gtk_widget_get_visible (p.end));
  g_assert_true (kvasir_panes_get_start_shown (KVASIR_PANES (p.panes)));
  g_assert_cmpint (gtk_widget_get_width (p.content), ==, 1000 - 230);
  kvasir_panes_toggle_end (KVASIR_PANES (p.panes));
  test_wait (gtk_widget_get_mapped (p.end));
  /* An overlay takes nothing from the conversation, nor does it lie over the chat list. */
  g_assert_cmpint (gtk_widget_get_width (p.content), ==, 1000 - 230);
  g_assert_cmpint (get_left_edge (p.end, p.panes), >=, 230 + 44);
  gtk_window_set_default_size (GTK_WINDOW (window), 960, 400);
  test_wait (is_width (p.panes, 960));
  g_assert_cmpint (get_left_edge (p.end, p.panes), ==, 230 + 44);
  g_assert_true (kvasir_panes_close_overlays (KVASIR_PANES (p.panes)));
  g_assert_false (kvasir_panes_close_overlays (KVASIR_PANES (p.panes)));
  gtk_window_set_default_size (GTK_WINDOW (window), 650, 400);
  test_wait (is_width (p.panes, 650));
  test_wait (!gtk_widget_get_visible (p.start));
  g_assert_cmpint (gtk_widget_get_width (p.content), ==, 650);
  /* What was beside before is beside again. */
  gtk_window_set_default_size (GTK_WINDOW (window), 1300, 400);
  test_wait (is_width (p.content, 1300 - 230 - 500));
  /* An overlay that was open when the window grew does not come back over the text. */
  gtk_window_set_default_size (GTK_WINDOW (window), 1000, 400);
  test_wait (is_width (p.panes, 1000));
  kvasir_panes_toggle_end (KVASIR_PANES (p.panes));
  gtk_window_set_default_size (GTK_WINDOW (window), 1300, 400);
  test_wait (is_width (p.panes, 1300));
  gtk_window_set_default_size (GTK_WINDOW (window), 1000, 400);
  test_wait (is_width (p.panes, 1000));
  g_assert_false (kvasir_panes_get_end_shown (KVASIR_PANES (p.panes)));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_panes_properties (void)
{
  static const char *const names[] = { "show-start", "show-end", "end-enabled" };
  Panes p = make_panes ();
  GtkWidget *window = make_window (p.panes, 1300);

  test_wait (is_width (p.panes, 1300));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *signal = g_strconcat ("notify::", names[i], NULL);
      gulong id;
      gboolean before, after;
      guint n = 0;

      id = g_signal_connect (p.panes, signal, G_CALLBACK (count_cb), &n);
      g_object_get (p.panes, names[i], &before, NULL);
      g_object_set (p.panes, names[i], !before, NULL);
      g_object_set (p.panes, names[i], !before, NULL);
      g_object_get (p.panes, names[i], &after, NULL);
      g_assert_cmpint (after, ==, !before);
      g_assert_cmpuint (n, ==, 1);
      g_object_set (p.panes, names[i], before, NULL);
      g_signal_handler_disconnect (p.panes, id);
    }
  g_object_set (p.panes, "end-enabled", FALSE, NULL);
  g_assert_false (kvasir_panes_get_end_shown (KVASIR_PANES (p.panes)));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* ---- layouts */

static int
get_height_for (GtkWidget *widget, int width)
{
  int height;

  gtk_widget_measure (widget, GTK_ORIENTATION_VERTICAL, width, NULL, &height, NULL, NULL);
  return height;
}

static void
test_wrap_box_goes_on_below (void)
{
  GtkWidget *box = g_object_ref_sink (kvasir_wrap_box_new (10, 5));
  GtkWidget *hidden = make_block (100, 20);
  int minimum, natural;

  for (guint i = 0; i < 3; i++)
    kvasir_wrap_box_append (KVASIR_WRAP_BOX (box), make_block (100, 20));
  kvasir_wrap_box_append (KVASIR_WRAP_BOX (box), hidden);
  gtk_widget_set_visible (hidden, FALSE);
  gtk_widget_measure (box, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL, NULL);
  g_assert_cmpint (minimum, ==, 100);
  g_assert_cmpint (natural, ==, 320);
  g_assert_cmpint (get_height_for (box, 320), ==, 20);
  g_assert_cmpint (get_height_for (box, 319), ==, 45);
  g_assert_cmpint (get_height_for (box, 100), ==, 70);
  g_object_unref (box);
}

static void
test_side_box_gives_the_rest (void)
{
  GtkWidget *box = kvasir_side_box_new (10);
  GtkWidget *start = make_block (50, 20);
  GtkWidget *content = gtk_label_new ("some words that are broken into lines where it is narrow");
  GtkWidget *end = make_block (30, 20);
  GtkWidget *window;
  int spacing;

  gtk_label_set_wrap (GTK_LABEL (content), TRUE);
  kvasir_side_box_set_content (KVASIR_SIDE_BOX (box), content);
  kvasir_side_box_add_start (KVASIR_SIDE_BOX (box), start);
  kvasir_side_box_add_end (KVASIR_SIDE_BOX (box), end);
  g_object_get (box, "spacing", &spacing, NULL);
  g_assert_cmpint (spacing, ==, 10);
  g_assert_cmpint (get_height_for (box, 200), >, get_height_for (box, 600));
  g_assert_cmpint (get_height_for (box, 200), ==, get_height_for (content, 200 - 50 - 30 - 20));
  window = make_window (box, 400);
  test_wait (is_width (box, 400));
  g_assert_cmpint (get_x (start, box), ==, 0);
  g_assert_cmpint (get_x (end, box), ==, 370);
  g_assert_cmpint (gtk_widget_get_width (content), <=, 400 - 50 - 30 - 20);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* ---- meter and text */

static GtkWidget *
find_label (GtkWidget *widget)
{
  GtkWidget *found = NULL;

  if (GTK_IS_LABEL (widget))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_label (child);
  return found;
}

static void
test_meter_reads_the_cells (void)
{
  KvasirStreamShot stream = { .used = 1755 };
  KvasirCacheShot cache = { .size = 4096, .n_streams = 1, .streams = &stream };
  KvasirSeqShot seqs[2] = { { .seq = 0, .n_cells = 1400, .n_own = 1000 },
                            { .seq = 1, .n_cells = 755, .n_own = 355 } };
  KvasirCellsShot cells = { .n_caches = 1, .caches = &cache, .n_seqs = 2, .seqs = seqs };
  const KvasirSnapshot snapshot = { .cells = &cells };
  GtkWidget *meter = g_object_ref_sink (g_object_new (KVASIR_TYPE_METER, NULL));
  GtkLabel *label = GTK_LABEL (find_label (meter));

  g_assert_cmpstr (gtk_label_get_text (label), ==, "no model");
  kvasir_meter_set_snapshot (KVASIR_METER (meter), &snapshot);
  g_assert_cmpstr (gtk_label_get_text (label), ==,
                   "1" KVASIR_THIN_SPACE "755 / 4" KVASIR_THIN_SPACE "096 cells");
  kvasir_meter_set_size (KVASIR_METER (meter), KVASIR_METER_PERCENT);
  g_assert_cmpstr (gtk_label_get_text (label), ==, "43 %");
  kvasir_meter_set_snapshot (KVASIR_METER (meter), NULL);
  g_assert_cmpstr (gtk_label_get_text (label), ==, "no model");
  g_object_unref (meter);
}

static guint
count_children (GtkWidget *widget)
{
  guint n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n++;
  return n;
}

/* Only the end is made anew while text is added; what is above keeps its widgets. */
static void
test_markdown_view_keeps_its_widgets (void)
{
  GtkWidget *view = kvasir_markdown_view_new (FALSE);
  GtkWidget *window = make_window (view, 500);
  GtkWidget *first;

  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (view), "One.\n\nTwo.");
  test_wait (count_children (view) == 2);
  first = gtk_widget_get_first_child (view);
  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (view), "One.\n\nTwo goes on.\n\n- three");
  test_wait (count_children (view) == 3);
  g_assert_true (gtk_widget_get_first_child (view) == first);
  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (view), "");
  test_wait (count_children (view) == 0);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Closing while a thread parses leaves nothing behind. */
static void
test_markdown_view_goes_while_parsing (void)
{
  GtkWidget *view = g_object_ref_sink (kvasir_markdown_view_new (FALSE));
  g_autofree char *text = g_strnfill (200000, '[');

  kvasir_markdown_view_set_text (KVASIR_MARKDOWN_VIEW (view), text);
  g_object_run_dispose (G_OBJECT (view));
  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  g_object_unref (view);
  test_wait (view == NULL);
}

static void
test_reasoning_is_folded (void)
{
  GtkWidget *fold = g_object_new (KVASIR_TYPE_REASONING_FOLD, NULL), *expander;
  GtkWidget *window = make_window (fold, 300);

  g_assert_false (gtk_widget_get_visible (fold));
  kvasir_reasoning_fold_set (KVASIR_REASONING_FOLD (fold), "Well", TRUE);
  g_assert_true (gtk_widget_get_visible (fold));
  expander = gtk_widget_get_first_child (fold);
  g_assert_null (gtk_expander_get_child (GTK_EXPANDER (expander)));
  g_assert_cmpstr (gtk_expander_get_label (GTK_EXPANDER (expander)), ==, "Thinking…");
  gtk_expander_set_expanded (GTK_EXPANDER (expander), TRUE);
  g_assert_nonnull (gtk_expander_get_child (GTK_EXPANDER (expander)));
  test_wait (gtk_widget_get_first_child (gtk_expander_get_child (GTK_EXPANDER (expander))) != NULL);
  kvasir_reasoning_fold_set (KVASIR_REASONING_FOLD (fold), "Well, yes.", FALSE);
  g_assert_cmpstr (gtk_expander_get_label (GTK_EXPANDER (expander)), ==, "What the model thought");
  kvasir_reasoning_fold_set (KVASIR_REASONING_FOLD (fold), "", FALSE);
  g_assert_false (gtk_widget_get_visible (fold));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
bump_cb (guint *n)
{
  (*n)++;
}

static void
test_thinking_is_asked_where_it_is_known (void)
{
  KvasirThinkingButton *button =
      g_object_ref_sink (g_object_new (KVASIR_TYPE_THINKING_BUTTON, NULL));
  GtkWidget *menu = gtk_widget_get_first_child (GTK_WIDGET (button));
  guint n_changed = 0;

  g_signal_connect_swapped (button, "changed", G_CALLBACK (bump_cb), &n_changed);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (button)));
  kvasir_thinking_button_set_choices (
      button, 1u << KVASIR_THINKING_USUAL | 1u << KVASIR_THINKING_OFF | 1u << KVASIR_THINKING_ON);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (button)));
  g_assert_cmpint (
      g_menu_model_get_n_items (gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (menu))), ==, 3);
  kvasir_thinking_button_set (button, KVASIR_THINKING_ON);
  g_assert_cmpuint (n_changed, ==, 0);
  g_assert_true (gtk_widget_activate_action (menu, "thinking.choose", "s", "off"));
  g_assert_cmpint (kvasir_thinking_button_get (button), ==, KVASIR_THINKING_OFF);
  g_assert_cmpuint (n_changed, ==, 1);
  kvasir_thinking_button_set_choices (button, 0);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (button)));
  g_object_unref (button);
}

/* ---- scrolling */

typedef struct
{
  GtkAdjustment *adjustment;
  double value; /* in the first frame that was painted with the new height, -1: none yet */
} Painted;

static void
paint_cb (GdkFrameClock *clock, Painted *painted)
{
  if (painted->value < 0 && gtk_adjustment_get_upper (painted->adjustment) == 3000)
    painted->value = gtk_adjustment_get_value (painted->adjustment);
}

static void
scroll_to_end (GtkWidget *scrolled)
{
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));

  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

static void
grown_cb (GtkAdjustment *adjustment, GParamSpec *pspec, GtkWidget *scrolled)
{
  kvasir_after_layout (scrolled, scroll_to_end);
}

/* No frame is painted with the new height in the old place. */
static void
test_after_layout_is_before_painting (void)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (), *block = make_block (100, 1000);
  Painted painted = { gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled)), -1 };
  GtkWidget *window;

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), block);
  window = make_window (scrolled, 300);
  test_wait (gtk_adjustment_get_upper (painted.adjustment) == 1000);
  g_signal_connect (gtk_widget_get_frame_clock (window), "paint", G_CALLBACK (paint_cb), &painted);
  g_signal_connect (painted.adjustment, "notify::upper", G_CALLBACK (grown_cb), scrolled);
  gtk_widget_set_size_request (block, 100, 3000);
  test_wait (painted.value >= 0);
  g_assert_cmpfloat (painted.value, ==, 3000 - gtk_adjustment_get_page_size (painted.adjustment));
  /* One that goes while it waits takes its wish with it. */
  kvasir_after_layout (scrolled, scroll_to_end);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
test_bar_is_quiet_while_it_follows (void)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkScrolledWindow *bar = GTK_SCROLLED_WINDOW (scrolled);
  GtkPolicyType horizontal, vertical;

  g_object_ref_sink (scrolled);
  gtk_scrolled_window_set_policy (bar, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  kvasir_quiet_bar_add (bar);
  g_assert_false (kvasir_quiet_bar_is_quiet (bar));
  kvasir_quiet_bar_set_following (bar, TRUE);
  g_assert_true (kvasir_quiet_bar_is_quiet (bar));
  gtk_scrolled_window_get_policy (bar, &horizontal, &vertical);
  g_assert_cmpint (horizontal, ==, GTK_POLICY_NEVER);
  g_assert_cmpint (vertical, ==, GTK_POLICY_EXTERNAL);
  kvasir_quiet_bar_set_following (bar, FALSE);
  g_assert_false (kvasir_quiet_bar_is_quiet (bar));
  /* A bar beside its content stays where it is. */
  gtk_scrolled_window_set_overlay_scrolling (bar, FALSE);
  kvasir_quiet_bar_set_following (bar, TRUE);
  g_assert_false (kvasir_quiet_bar_is_quiet (bar));
  g_object_unref (scrolled);
}

#define add(name, function) g_test_add_func ("/ui/widgets/" name, function)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  add ("panes-stand-beside-or-on-top", test_panes_stand_beside_or_on_top);
  add ("panes-properties", test_panes_properties);
  add ("wrap-box-goes-on-below", test_wrap_box_goes_on_below);
  add ("side-box-gives-the-rest", test_side_box_gives_the_rest);
  add ("meter-reads-the-cells", test_meter_reads_the_cells);
  add ("markdown-view-keeps-its-widgets", test_markdown_view_keeps_its_widgets);
  add ("reasoning-is-folded", test_reasoning_is_folded);
  add ("thinking-is-asked-where-it-is-known", test_thinking_is_asked_where_it_is_known);
  add ("markdown-view-goes-while-parsing", test_markdown_view_goes_while_parsing);
  add ("after-layout-is-before-painting", test_after_layout_is_before_painting);
  add ("bar-is-quiet-while-it-follows", test_bar_is_quiet_while_it_follows);
  return g_test_run ();
}
