#include "ui/inspector/view-page.h"

#include <math.h>

#include "ui/inspector/picture.h"
#include "ui/inspector/redraw-turns.h"

#define NATURAL_WIDTH 600
#define DESCRIPTION_INTERVAL_US G_USEC_PER_SEC

struct _KvasirViewPage
{
  GtkWidget parent_instance;

  KvasirView *view;       /* (owned) */
  KvasirParts shown;      /* (owned): what the view looks at */
  KvasirParts next;       /* (owned): what it will look at when its turn comes */
  KvasirPicture *picture; /* (owned) */
  GskRenderNode *mark;    /* (owned) (nullable): over the picture */
  gboolean mark_valid;
  gboolean dirty; /* the picture is older than the data, the size or the focus */
  gboolean following;
  guint tick; /* 0: none, since nothing changed */
  double content_height;
  double pointer_x, pointer_y; /* -1: outside */
  KvasirThing hovered;
  KvasirThing locked;
  gint64 described_us;
};

enum
{
  HOVERED,
  LOCKED,
  DRAWN,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (KvasirViewPage, kvasir_view_page, GTK_TYPE_WIDGET)

/* What the page is about: the thing under the pointer, else the one that was locked. */
static gboolean
get_subject (KvasirViewPage *self, KvasirThing *thing)
{
  if (self->hovered.kind != KVASIR_THING_NONE)
    {
      *thing = self->hovered;
      return TRUE;
    }
  return self->locked.kind != KVASIR_THING_NONE &&
         kvasir_view_translate (self->view, &self->locked, thing);
}

/* ---- the picture */

static void
update_layout (KvasirViewPage *self)
{
  kvasir_parts_copy (&self->shown, &self->next);
  KvasirVizData data = kvasir_parts_get_data (&self->shown);
  kvasir_view_update (self->view, &data, gtk_widget_get_width (GTK_WIDGET (self)),
                      gtk_widget_get_height (GTK_WIDGET (self)),
                      gtk_widget_get_scale_factor (GTK_WIDGET (self)));
}

static void
update_description (KvasirViewPage *self, gboolean now)
{
  gint64 now_us = g_get_monotonic_time ();
  /* A screen reader would not keep up with one description per token. */
  if (!now && now_us - self->described_us < DESCRIPTION_INTERVAL_US)
    return;
  g_autoptr (GString) text = g_string_new (NULL);
  self->described_us = now_us;
  kvasir_view_page_describe (self, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text->str, -1);
}

/* TRUE where what is under the pointer changed. */
static gboolean
find_hovered (KvasirViewPage *self)
{
  KvasirThing thing = { KVASIR_THING_NONE };
  if (self->pointer_x >= 0)
    kvasir_view_hit (self->view, self->pointer_x, self->pointer_y, &thing);
  if (kvasir_thing_equal (&thing, &self->hovered))
    return FALSE;
  self->hovered = thing;
  self->mark_valid = FALSE;
  return TRUE;
}

/* TRUE where the picture is not right any more. */
static gboolean
update_focus (KvasirViewPage *self)
{
  KvasirThing thing;
  gboolean any = get_subject (self, &thing);
  return kvasir_view_set_focus (self->view, any ? &thing : NULL);
}

static gboolean
has_marks (KvasirViewPage *self)
{
  return self->locked.kind != KVASIR_THING_NONE || self->hovered.kind != KVASIR_THING_NONE;
}

static void
redraw (KvasirViewPage *self)
{
  self->dirty = FALSE;
  update_layout (self);
  if (self->following && kvasir_view_follow (self->view))
    update_layout (self);
  /* Under a pointer that rests there may be something else now. */
  gboolean hovered = find_hovered (self);
  if (update_focus (self))
    update_layout (self);
  gboolean changed = kvasir_picture_draw (
      self->picture, self->view, gtk_widget_get_width (GTK_WIDGET (self)),
      gtk_widget_get_height (GTK_WIDGET (self)), gtk_widget_get_scale_factor (GTK_WIDGET (self)));
  self->mark_valid = FALSE;
  if (self->content_height != kvasir_view_get_min_height (self->view))
    {
      self->content_height = kvasir_view_get_min_height (self->view);
      gtk_widget_queue_resize (GTK_WIDGET (self));
    }
  if (changed || self->mark != NULL || has_marks (self))
    gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[DRAWN], 0);
  if (hovered)
    g_signal_emit (self, signals[HOVERED], 0);
}

static void
update_hovered (KvasirViewPage *self)
{
  if (!find_hovered (self))
    return;
  if (update_focus (self))
    kvasir_view_page_invalidate (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[HOVERED], 0);
}

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (widget);
  if (self->dirty)
    {
      if (!kvasir_redraw_turns_take (widget))
        return G_SOURCE_CONTINUE;
      gint64 start_us = g_get_monotonic_time ();
      redraw (self);
      kvasir_redraw_turns_spend (widget, g_get_monotonic_time () - start_us);
      update_description (self, FALSE);
    }
  self->tick = 0;
  return G_SOURCE_REMOVE;
}

void
kvasir_view_page_invalidate (KvasirViewPage *self)
{
  self->dirty = TRUE;
  if (self->tick == 0 && gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), tick_cb, NULL, NULL);
}

/* ---- the second layer */

static void
update_mark (KvasirViewPage *self)
{
  KvasirThing locked;
  gboolean any = FALSE;
  g_clear_pointer (&self->mark, gsk_render_node_unref);
  self->mark_valid = TRUE;
  if (!has_marks (self))
    return;
  gint width = gtk_widget_get_width (GTK_WIDGET (self));
  gint height = gtk_widget_get_height (GTK_WIDGET (self));
  self->mark = gsk_cairo_node_new (&GRAPHENE_RECT_INIT (0, 0, width, height));
  cairo_t *cr = gsk_cairo_node_get_draw_context (self->mark);
  if (self->locked.kind != KVASIR_THING_NONE &&
      kvasir_view_translate (self->view, &self->locked, &locked))
    any = kvasir_view_draw_mark (self->view, cr, &locked, TRUE);
  if (self->hovered.kind != KVASIR_THING_NONE)
    any = kvasir_view_draw_mark (self->view, cr, &self->hovered, FALSE) || any;
  cairo_destroy (cr);
  if (!any)
    g_clear_pointer (&self->mark, gsk_render_node_unref);
}

static void
kvasir_view_page_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (widget);
  if (!self->mark_valid)
    update_mark (self);
  kvasir_picture_snapshot (self->picture, snapshot);
  if (self->mark != NULL)
    gtk_snapshot_append_node (snapshot, self->mark);
}

/* ---- size and fonts */

static void
kvasir_view_page_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (widget);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = (gint) ceil (kvasir_view_get_min_width (self->view));
      *natural = MAX (*minimum, NATURAL_WIDTH);
    }
  else
    *minimum = *natural = (gint) ceil (self->content_height);
}

static void
kvasir_view_page_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  kvasir_view_page_invalidate (KVASIR_VIEW_PAGE (widget));
}

static void
update_font (KvasirViewPage *self)
{
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  const PangoFontDescription *font = pango_context_get_font_description (context);
  double size = pango_font_description_get_size (font) / (double) PANGO_SCALE;
  if (!pango_font_description_get_size_is_absolute (font))
    size *= pango_cairo_context_get_resolution (context) / 72.0;
  kvasir_view_set_font (self->view, pango_font_description_get_family (font), size);
  kvasir_view_page_invalidate (self);
}

static void
kvasir_view_page_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (kvasir_view_page_parent_class)->css_changed (widget, change);
  update_font (KVASIR_VIEW_PAGE (widget));
}

static void
kvasir_view_page_map (GtkWidget *widget)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (widget);
  GTK_WIDGET_CLASS (kvasir_view_page_parent_class)->map (widget);
  update_font (self);
}

static void
kvasir_view_page_unmap (GtkWidget *widget)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (widget);
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (widget, self->tick);
  self->tick = 0;
  self->pointer_x = -1;
  self->hovered = (KvasirThing){ KVASIR_THING_NONE };
  GTK_WIDGET_CLASS (kvasir_view_page_parent_class)->unmap (widget);
}

/* ---- input */

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (user_data);
  self->pointer_x = x;
  self->pointer_y = y;
  update_hovered (self);
}

static void
leave_cb (GtkEventControllerMotion *controller, gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (user_data);
  self->pointer_x = -1;
  update_hovered (self);
}

static void
lock (KvasirViewPage *self, const KvasirThing *thing)
{
  kvasir_view_page_set_locked (self, thing);
  update_description (self, TRUE);
  g_signal_emit (self, signals[LOCKED], 0);
}

static void
pressed_cb (GtkGestureClick *gesture, int n_press, double x, double y, gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (user_data);
  KvasirThing thing;
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (!kvasir_view_hit (self->view, x, y, &thing) || kvasir_thing_equal (&thing, &self->locked))
    {
      if (self->locked.kind != KVASIR_THING_NONE)
        lock (self, NULL);
      return;
    }
  lock (self, &thing);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (user_data);
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  if (state & GDK_CONTROL_MASK)
    {
      if (dy != 0)
        kvasir_view_page_zoom (self, dy < 0 ? 1 : -1);
      return TRUE;
    }
  if (!kvasir_view_scroll (self->view, dy * 3))
    return FALSE;
  kvasir_view_page_invalidate (self);
  return TRUE;
}

static gboolean
find_move (guint keyval, KvasirMove *move)
{
  static const struct
  {
    guint keyvals[2];
    KvasirMove move;
  } moves[] = {
    { { GDK_KEY_Left, GDK_KEY_KP_Left }, KVASIR_MOVE_LEFT },
    { { GDK_KEY_Right, GDK_KEY_KP_Right }, KVASIR_MOVE_RIGHT },
    { { GDK_KEY_Up, GDK_KEY_KP_Up }, KVASIR_MOVE_UP },
    { { GDK_KEY_Down, GDK_KEY_KP_Down }, KVASIR_MOVE_DOWN },
    { { GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up }, KVASIR_MOVE_PAGE_UP },
    { { GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down }, KVASIR_MOVE_PAGE_DOWN },
    { { GDK_KEY_Home, GDK_KEY_KP_Home }, KVASIR_MOVE_FIRST },
    { { GDK_KEY_End, GDK_KEY_KP_End }, KVASIR_MOVE_LAST },
  };
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++)
    if (keyval == moves[i].keyvals[0] || keyval == moves[i].keyvals[1])
      {
        *move = moves[i].move;
        return TRUE;
      }
  return FALSE;
}

static void
move_cursor (KvasirViewPage *self, KvasirMove move)
{
  KvasirThing thing = { KVASIR_THING_NONE };
  /* The keys move what is locked; what the pointer happens to be over must not hide it. */
  self->pointer_x = -1;
  update_hovered (self);
  if (self->locked.kind != KVASIR_THING_NONE &&
      !kvasir_view_translate (self->view, &self->locked, &thing))
    thing = (KvasirThing){ KVASIR_THING_NONE };
  if (!kvasir_view_move (self->view, &thing, move))
    return;
  if (kvasir_view_reveal (self->view, &thing))
    kvasir_view_page_invalidate (self);
  lock (self, &thing);
}

static gboolean
key_pressed_cb (GtkEventControllerKey *controller,
                guint keyval,
                guint keycode,
                GdkModifierType state,
                gpointer user_data)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (user_data);
  KvasirMove move;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK))
    return GDK_EVENT_PROPAGATE;
  if (find_move (keyval, &move))
    move_cursor (self, move);
  else if (keyval == GDK_KEY_plus || keyval == GDK_KEY_KP_Add || keyval == GDK_KEY_equal)
    kvasir_view_page_zoom (self, 1);
  else if (keyval == GDK_KEY_minus || keyval == GDK_KEY_KP_Subtract)
    kvasir_view_page_zoom (self, -1);
  else if (keyval == GDK_KEY_0 || keyval == GDK_KEY_KP_0)
    kvasir_view_page_zoom (self, 0);
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

static void
add_controllers (KvasirViewPage *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *key = gtk_event_controller_key_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed_cb), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), key);
  gtk_widget_add_controller (GTK_WIDGET (self), scroll);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

/* ---- the object */

static void
kvasir_view_page_dispose (GObject *object)
{
  KvasirViewPage *self = KVASIR_VIEW_PAGE (object);
  g_clear_pointer (&self->picture, kvasir_picture_free);
  g_clear_pointer (&self->mark, gsk_render_node_unref);
  g_clear_pointer (&self->view, kvasir_view_free);
  kvasir_parts_clear (&self->shown);
  kvasir_parts_clear (&self->next);
  G_OBJECT_CLASS (kvasir_view_page_parent_class)->dispose (object);
}

static void
add_signal (guint index, const char *name)
{
  signals[index] = g_signal_new (name, KVASIR_TYPE_VIEW_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
kvasir_view_page_class_init (KvasirViewPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = kvasir_view_page_dispose;
  widget_class->measure = kvasir_view_page_measure;
  widget_class->size_allocate = kvasir_view_page_size_allocate;
  widget_class->snapshot = kvasir_view_page_snapshot;
  widget_class->css_changed = kvasir_view_page_css_changed;
  widget_class->map = kvasir_view_page_map;
  widget_class->unmap = kvasir_view_page_unmap;
  add_signal (HOVERED, "hovered");
  add_signal (LOCKED, "locked");
  add_signal (DRAWN, "drawn");
  gtk_widget_class_set_css_name (widget_class, "viewpage");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
kvasir_view_page_init (KvasirViewPage *self)
{
  self->pointer_x = -1;
  self->following = TRUE;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  /* Indices rise to the right in every language. */
  gtk_widget_set_direction (GTK_WIDGET (self), GTK_TEXT_DIR_LTR);
  add_controllers (self);
}

GtkWidget *
kvasir_view_page_new (KvasirView *view, const char *label)
{
  KvasirViewPage *self = g_object_new (KVASIR_TYPE_VIEW_PAGE, NULL);
  self->view = view;
  self->picture = kvasir_picture_new ();
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_WIDGET (self);
}

KvasirView *
kvasir_view_page_get_view (KvasirViewPage *self)
{
  return self->view;
}

void
kvasir_view_page_set_parts (KvasirViewPage *self, const KvasirParts *parts)
{
  kvasir_parts_copy (&self->next, parts);
  /* Out of sight there is no next frame that would let go of the old ones. */
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    update_layout (self);
  kvasir_view_page_invalidate (self);
}

void
kvasir_view_page_set_following (KvasirViewPage *self, gboolean following)
{
  self->following = following;
}

void
kvasir_view_page_set_locked (KvasirViewPage *self, const KvasirThing *thing)
{
  KvasirThing locked = thing != NULL ? *thing : (KvasirThing){ KVASIR_THING_NONE };
  if (kvasir_thing_equal (&locked, &self->locked))
    return;
  self->locked = locked;
  self->mark_valid = FALSE;
  if (update_focus (self))
    kvasir_view_page_invalidate (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

const KvasirThing *
kvasir_view_page_get_locked (KvasirViewPage *self)
{
  return self->locked.kind != KVASIR_THING_NONE ? &self->locked : NULL;
}

void
kvasir_view_page_describe (KvasirViewPage *self, GString *out)
{
  KvasirThing thing;
  if (get_subject (self, &thing))
    kvasir_view_describe (self->view, &thing, out);
  if (out->len == 0)
    kvasir_view_describe (self->view, NULL, out);
}

void
kvasir_view_page_zoom (KvasirViewPage *self, gint delta)
{
  KvasirThing thing;
  gboolean any = get_subject (self, &thing);
  if (kvasir_view_zoom (self->view, delta, any ? &thing : NULL))
    kvasir_view_page_invalidate (self);
}
