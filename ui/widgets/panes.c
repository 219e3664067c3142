#include "ui/widgets/panes.h"

#include <glib/gi18n.h>

#define START_WIDTH 230
#define MIN_CONTENT_WIDTH 400
#define MIN_END_WIDTH 340
#define END_OVERLAY_BELOW 1200
#define START_OVERLAY_BELOW 700
/* Of the conversation, left visible beside an overlay: a click there closes it. */
#define MIN_BESIDE 44
#define OVERLAY_END_WIDTH 760
#define HANDLE_WIDTH 9
#define KEY_STEP 32

enum
{
  PROP_START = 1,
  PROP_CONTENT,
  PROP_END,
  PROP_SHOW_START,
  PROP_SHOW_END,
  PROP_END_ENABLED,
  PROP_END_WIDTH,
  PROP_START_SHOWN,
  PROP_END_SHOWN,
  PROP_NARROW,
  N_PROPS
};

/* One side. */
typedef struct
{
  GtkWidget *child;  /* (owned by the widget tree) (nullable) */
  gboolean disabled; /* nothing to show */
  gboolean wanted;   /* beside the conversation */
  gboolean over;     /* open as an overlay */
  gboolean is_overlay;
} Side;

struct _KvasirPanes
{
  GtkWidget parent_instance;

  Side start;
  Side end;
  GtkWidget *content; /* (owned by the widget tree) (nullable) */
  GtkWidget *shade;   /* behind overlays; takes clicks */
  GtkWidget *handle;  /* between conversation and inspector */
  int end_width;
  int drag_from;
  int end_shown_width; /* as allocated */
};

G_DEFINE_FINAL_TYPE (KvasirPanes, kvasir_panes, GTK_TYPE_WIDGET)

static GParamSpec *props[N_PROPS];

static gboolean
is_shown (const Side *side)
{
  return side->child != NULL && !side->disabled && (side->is_overlay ? side->over : side->wanted);
}

/* ---- layout */

static int
get_docked_end_width (KvasirPanes *self, int width)
{
  int start = is_shown (&self->start) && !self->start.is_overlay ? START_WIDTH : 0;
  int wanted = self->end_width > 0 ? self->end_width : (width - START_WIDTH) * 63 / 100;

  return CLAMP (wanted, MIN_END_WIDTH, MAX (width - start - MIN_CONTENT_WIDTH, MIN_END_WIDTH));
}

static void
place (GtkWidget *self, GtkWidget *child, int x, int width, int height)
{
  gboolean rtl = gtk_widget_get_direction (self) == GTK_TEXT_DIR_RTL;
  GtkAllocation area = { rtl ? gtk_widget_get_width (self) - x - width : x, 0, width, height };

  gtk_widget_size_allocate (child, &area, -1);
}

static void
allocate_side (KvasirPanes *self, const Side *side, int x, int width, int height)
{
  if (side->child == NULL)
    return;
  gtk_widget_set_child_visible (side->child, is_shown (side));
  if (is_shown (side) && gtk_widget_get_visible (side->child))
    place (GTK_WIDGET (self), side->child, x, width, height);
}

/* Which sides are overlays follows from the width alone. One that becomes an overlay is closed. */
static gboolean
update_mode (Side *side, gboolean is_overlay)
{
  gboolean was_shown = is_shown (side);

  if (side->is_overlay != is_overlay)
    side->over = FALSE;
  side->is_overlay = is_overlay;
  return is_shown (side) != was_shown;
}

/* Not from inside an allocation. What is not shown must not be there for a screen reader. */
static void
apply_visibility (KvasirPanes *self)
{
  if (self->start.child != NULL)
    gtk_widget_set_visible (self->start.child, is_shown (&self->start));
  if (self->end.child != NULL)
    gtk_widget_set_visible (self->end.child, is_shown (&self->end));
}

static gboolean
notify_shown_cb (gpointer user_data)
{
  apply_visibility (user_data);
  g_object_notify_by_pspec (user_data, props[PROP_START_SHOWN]);
  g_object_notify_by_pspec (user_data, props[PROP_END_SHOWN]);
  g_object_notify_by_pspec (user_data, props[PROP_NARROW]);
  return G_SOURCE_REMOVE;
}

static void
update_modes (KvasirPanes *self, int width)
{
  gboolean was_narrow = self->start.is_overlay;
  gboolean changed = update_mode (&self->end, width < END_OVERLAY_BELOW);

  changed |= update_mode (&self->start, width < START_OVERLAY_BELOW);
  /* Not from inside an allocation: who listens may ask for a new size. */
  if (changed || was_narrow != self->start.is_overlay)
    g_idle_add_full (G_PRIORITY_HIGH_IDLE, notify_shown_cb, g_object_ref (self), g_object_unref);
}

static void
allocate_handle (KvasirPanes *self, int x, int height)
{
  gboolean visible = is_shown (&self->end) && !self->end.is_overlay;

  gtk_widget_set_child_visible (self->handle, visible);
  if (visible)
    place (GTK_WIDGET (self), self->handle, x - HANDLE_WIDTH / 2, HANDLE_WIDTH, height);
}

static void
kvasir_panes_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  KvasirPanes *self = KVASIR_PANES (widget);
  int left = 0;
  int right = width;
  gboolean shaded;

  update_modes (self, width);
  if (is_shown (&self->start) && !self->start.is_overlay)
    left = START_WIDTH;
  if (is_shown (&self->end) && !self->end.is_overlay)
    right = width - get_docked_end_width (self, width);
  self->end_shown_width = width - right;
  if (self->content != NULL)
    place (widget, self->content, left, right - left, height);
  shaded = (self->start.is_overlay && is_shown (&self->start)) ||
           (self->end.is_overlay && is_shown (&self->end));
  gtk_widget_set_child_visible (self->shade, shaded);
  if (shaded)
    place (widget, self->shade, 0, width, height);
  allocate_side (self, &self->start, 0, MIN (START_WIDTH, width), height);
  if (self->end.is_overlay)
    right = MAX (width - OVERLAY_END_WIDTH, MIN (left + MIN_BESIDE, width - 300));
  allocate_side (self, &self->end, MAX (right, 0), width - MAX (right, 0), height);
  allocate_handle (self, right, height);
}

static void
kvasir_panes_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  KvasirPanes *self = KVASIR_PANES (widget);

  *minimum = *natural = 0;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int child_minimum, child_natural;

      if (orientation == GTK_ORIENTATION_HORIZONTAL && child != self->content)
        continue;
      gtk_widget_measure (child, orientation, -1, &child_minimum, &child_natural, NULL, NULL);
      *minimum = MAX (*minimum, child_minimum);
      *natural = MAX (*natural, child_natural);
    }
}

/* ---- the handle */

static void
set_end_width (KvasirPanes *self, int width)
{
  int limit = gtk_widget_get_width (GTK_WIDGET (self)) - MIN_CONTENT_WIDTH;

  width = CLAMP (width, MIN_END_WIDTH, MAX (limit, MIN_END_WIDTH));
  if (self->end_width == width)
    return;
  self->end_width = width;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_END_WIDTH]);
}

static int
get_sign (KvasirPanes *self)
{
  return gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL ? -1 : 1;
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, KvasirPanes *self)
{
  self->drag_from = self->end_shown_width;
}

static void
drag_update_cb (GtkGestureDrag *gesture, double x, double y, KvasirPanes *self)
{
  double start_x;
  double at;
  double origin;

  /* The handle moves under the pointer, so both ends are taken in the window's coordinates. */
  gtk_gesture_drag_get_start_point (gesture, &start_x, NULL);
  gtk_widget_translate_coordinates (self->handle, GTK_WIDGET (self), start_x + x, 0, &at, NULL);
  origin = get_sign (self) > 0 ? gtk_widget_get_width (GTK_WIDGET (self)) - at : at;
  set_end_width (self, (int) origin);
}

static gboolean
handle_key_cb (GtkEventControllerKey *keys,
               guint keyval,
               guint keycode,
               GdkModifierType state,
               KvasirPanes *self)
{
  int step = get_sign (self) * KEY_STEP;

  if (keyval == GDK_KEY_Left)
    set_end_width (self, self->end_shown_width + step);
  else if (keyval == GDK_KEY_Right)
    set_end_width (self, self->end_shown_width - step);
  else
    return FALSE;
  return TRUE;
}

static GtkWidget *
make_handle (KvasirPanes *self)
{
  GtkWidget *handle =
      g_object_new (GTK_TYPE_SEPARATOR, "orientation", GTK_ORIENTATION_VERTICAL, NULL);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_widget_add_css_class (handle, "pane-handle");
  gtk_widget_set_cursor_from_name (handle, "col-resize");
  gtk_widget_set_focusable (handle, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (handle), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Width of the inspector"), -1);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (handle_key_cb), self);
  gtk_widget_add_controller (handle, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (handle, keys);
  return handle;
}

/* ---- the shade */

static void
shade_pressed_cb (GtkGestureClick *click, int n, double x, double y, KvasirPanes *self)
{
  kvasir_panes_close_overlays (self);
}

static GtkWidget *
make_shade (KvasirPanes *self)
{
  GtkWidget *shade = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_widget_add_css_class (shade, "pane-shade");
  g_signal_connect (click, "pressed", G_CALLBACK (shade_pressed_cb), self);
  gtk_widget_add_controller (shade, GTK_EVENT_CONTROLLER (click));
  return shade;
}

/* ---- properties */

/* Overlays lie on the shade, the shade on the conversation. */
static void
restack (KvasirPanes *self)
{
  GtkWidget *order[] = { self->content, self->handle, self->shade, self->start.child,
                         self->end.child };

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    if (order[i] != NULL)
      gtk_widget_insert_before (order[i], GTK_WIDGET (self), NULL);
}

static void
set_child (KvasirPanes *self, GtkWidget **place_of, GtkWidget *child)
{
  if (*place_of == child)
    return;
  g_clear_pointer (place_of, gtk_widget_unparent);
  *place_of = child;
  if (child != NULL)
    gtk_widget_set_parent (child, GTK_WIDGET (self));
  apply_visibility (self);
  restack (self);
}

static void
set_wanted (KvasirPanes *self, Side *side, gboolean wanted, guint wanted_id, guint shown_id)
{
  if (side->wanted == wanted)
    return;
  side->wanted = wanted;
  apply_visibility (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), props[wanted_id]);
  g_object_notify_by_pspec (G_OBJECT (self), props[shown_id]);
}

static void
set_over (KvasirPanes *self, Side *side, gboolean over, guint shown_id)
{
  if (side->over == over)
    return;
  side->over = over;
  apply_visibility (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), props[shown_id]);
}

static void
set_end_enabled (KvasirPanes *self, gboolean enabled)
{
  if (self->end.disabled == !enabled)
    return;
  self->end.disabled = !enabled;
  apply_visibility (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_END_ENABLED]);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_END_SHOWN]);
}

static void
kvasir_panes_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  KvasirPanes *self = KVASIR_PANES (object);

  switch (id)
    {
    case PROP_START:
      g_value_set_object (value, self->start.child);
      break;
    case PROP_CONTENT:
      g_value_set_object (value, self->content);
      break;
    case PROP_END:
      g_value_set_object (value, self->end.child);
      break;
    case PROP_SHOW_START:
      g_value_set_boolean (value, self->start.wanted);
      break;
    case PROP_SHOW_END:
      g_value_set_boolean (value, self->end.wanted);
      break;
    case PROP_END_ENABLED:
      g_value_set_boolean (value, !self->end.disabled);
      break;
    case PROP_END_WIDTH:
      g_value_set_int (value, self->end_width);
      break;
    case PROP_START_SHOWN:
      g_value_set_boolean (value, is_shown (&self->start));
      break;
    case PROP_END_SHOWN:
      g_value_set_boolean (value, is_shown (&self->end));
      break;
    case PROP_NARROW:
      g_value_set_boolean (value, self->start.is_overlay);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
kvasir_panes_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  KvasirPanes *self = KVASIR_PANES (object);

  switch (id)
    {
    case PROP_START:
      set_child (self, &self->start.child, g_value_get_object (value));
      break;
    case PROP_CONTENT:
      set_child (self, &self->content, g_value_get_object (value));
      break;
    case PROP_END:
      set_child (self, &self->end.child, g_value_get_object (value));
      break;
    case PROP_SHOW_START:
      set_wanted (self, &self->start, g_value_get_boolean (value), PROP_SHOW_START,
                  PROP_START_SHOWN);
      break;
    case PROP_SHOW_END:
      set_wanted (self, &self->end, g_value_get_boolean (value), PROP_SHOW_END, PROP_END_SHOWN);
      break;
    case PROP_END_ENABLED:
      set_end_enabled (self, g_value_get_boolean (value));
      break;
    case PROP_END_WIDTH:
      self->end_width = g_value_get_int (value);
      gtk_widget_queue_allocate (GTK_WIDGET (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
kvasir_panes_dispose (GObject *object)
{
  KvasirPanes *self = KVASIR_PANES (object);

  g_clear_pointer (&self->start.child, gtk_widget_unparent);
  g_clear_pointer (&self->content, gtk_widget_unparent);
  g_clear_pointer (&self->end.child, gtk_widget_unparent);
  g_clear_pointer (&self->shade, gtk_widget_unparent);
  g_clear_pointer (&self->handle, gtk_widget_unparent);
  G_OBJECT_CLASS (kvasir_panes_parent_class)->dispose (object);
}

#define READ (G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)
#define READ_WRITE (READ | G_PARAM_WRITABLE)

static void
kvasir_panes_class_init (KvasirPanesClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = kvasir_panes_get_property;
  object_class->set_property = kvasir_panes_set_property;
  object_class->dispose = kvasir_panes_dispose;
  widget_class->measure = kvasir_panes_measure;
  widget_class->size_allocate = kvasir_panes_size_allocate;

  props[PROP_START] = g_param_spec_object ("start", NULL, NULL, GTK_TYPE_WIDGET, READ_WRITE);
  props[PROP_CONTENT] = g_param_spec_object ("content", NULL, NULL, GTK_TYPE_WIDGET, READ_WRITE);
  props[PROP_END] = g_param_spec_object ("end", NULL, NULL, GTK_TYPE_WIDGET, READ_WRITE);
  props[PROP_SHOW_START] = g_param_spec_boolean ("show-start", NULL, NULL, FALSE, READ_WRITE);
  props[PROP_SHOW_END] = g_param_spec_boolean ("show-end", NULL, NULL, FALSE, READ_WRITE);
  props[PROP_END_ENABLED] = g_param_spec_boolean ("end-enabled", NULL, NULL, TRUE, READ_WRITE);
  props[PROP_END_WIDTH] = g_param_spec_int ("end-width", NULL, NULL, 0, G_MAXINT, 0, READ_WRITE);
  props[PROP_START_SHOWN] = g_param_spec_boolean ("start-shown", NULL, NULL, FALSE, READ);
  props[PROP_END_SHOWN] = g_param_spec_boolean ("end-shown", NULL, NULL, FALSE, READ);
  props[PROP_NARROW] = g_param_spec_boolean ("narrow", NULL, NULL, FALSE, READ);
  g_object_class_install_properties (object_class, N_PROPS, props);
  gtk_widget_class_set_css_name (widget_class, "panes");
}

static void
kvasir_panes_init (KvasirPanes *self)
{
  self->shade = make_shade (self);
  self->handle = make_handle (self);
  gtk_widget_set_parent (self->shade, GTK_WIDGET (self));
  gtk_widget_set_parent (self->handle, GTK_WIDGET (self));
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

void
kvasir_panes_toggle_start (KvasirPanes *self)
{
  g_return_if_fail (KVASIR_IS_PANES (self));
  if (self->start.is_overlay)
    set_over (self, &self->start, !self->start.over, PROP_START_SHOWN);
  else
    g_object_set (self, "show-start", !self->start.wanted, NULL);
}

void
kvasir_panes_toggle_end (KvasirPanes *self)
{
  g_return_if_fail (KVASIR_IS_PANES (self));
  if (self->end.is_overlay)
    set_over (self, &self->end, !self->end.over, PROP_END_SHOWN);
  else
    g_object_set (self, "show-end", !self->end.wanted, NULL);
}

gboolean
kvasir_panes_get_start_shown (KvasirPanes *self)
{
  g_return_val_if_fail (KVASIR_IS_PANES (self), FALSE);
  return is_shown (&self->start);
}

gboolean
kvasir_panes_get_end_shown (KvasirPanes *self)
{
  g_return_val_if_fail (KVASIR_IS_PANES (self), FALSE);
  return is_shown (&self->end);
}

gboolean
kvasir_panes_close_overlays (KvasirPanes *self)
{
  gboolean any =
      (self->start.is_overlay && self->start.over) || (self->end.is_overlay && self->end.over);

  g_return_val_if_fail (KVASIR_IS_PANES (self), FALSE);
  set_over (self, &self->start, FALSE, PROP_START_SHOWN);
  set_over (self, &self->end, FALSE, PROP_END_SHOWN);
  return any;
}
