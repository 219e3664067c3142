#include "ui/widgets/side-box.h"

enum
{
  PROP_SPACING = 1,
  N_PROPS
};

/* Children stand in the order of the line: starts, content, ends. */
struct _KvasirSideBox
{
  GtkWidget parent_instance;

  GtkWidget *content; /* (nullable) */
  int spacing;
};

static GParamSpec *props[N_PROPS];

static void
add_child (GtkBuildable *buildable, GtkBuilder *builder, GObject *child, const char *type)
{
  KvasirSideBox *self = KVASIR_SIDE_BOX (buildable);

  if (g_strcmp0 (type, "start") == 0)
    kvasir_side_box_add_start (self, GTK_WIDGET (child));
  else if (g_strcmp0 (type, "end") == 0)
    kvasir_side_box_add_end (self, GTK_WIDGET (child));
  else
    kvasir_side_box_set_content (self, GTK_WIDGET (child));
}

static void
buildable_init (GtkBuildableIface *iface)
{
  iface->add_child = add_child;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (KvasirSideBox,
                               kvasir_side_box,
                               GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_BUILDABLE, buildable_init))

static GtkWidget *
skip_hidden (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static GtkWidget *
get_first (KvasirSideBox *self)
{
  return skip_hidden (gtk_widget_get_first_child (GTK_WIDGET (self)));
}

static GtkWidget *
get_next (GtkWidget *child)
{
  return skip_hidden (gtk_widget_get_next_sibling (child));
}

static int
get_natural (GtkWidget *child, GtkOrientation orientation, int for_size)
{
  int natural;

  gtk_widget_measure (child, orientation, for_size, NULL, &natural, NULL, NULL);
  return natural;
}

/* What the sides and the gaps take. */
static int
get_sides_width (KvasirSideBox *self)
{
  int width = 0;

  for (GtkWidget *child = get_first (self); child != NULL; child = get_next (child))
    {
      if (child != self->content)
        width += get_natural (child, GTK_ORIENTATION_HORIZONTAL, -1);
      if (get_next (child) != NULL)
        width += self->spacing;
    }
  return width;
}

static void
measure_width (KvasirSideBox *self, int *minimum, int *natural)
{
  int content_minimum = 0;
  int content_natural = 0;

  if (self->content != NULL)
    gtk_widget_measure (self->content, GTK_ORIENTATION_HORIZONTAL, -1, &content_minimum,
                        &content_natural, NULL, NULL);
  *minimum = get_sides_width (self);
  *natural = *minimum + content_natural;
  *minimum += content_minimum;
}

static int
measure_height (KvasirSideBox *self, int width)
{
  int content_width = MAX (width - get_sides_width (self), 0);
  int height = 0;

  for (GtkWidget *child = get_first (self); child != NULL; child = get_next (child))
    {
      int for_width = child == self->content && width >= 0 ? content_width : -1;

      height = MAX (height, get_natural (child, GTK_ORIENTATION_VERTICAL, for_width));
    }
  return height;
}

static void
kvasir_side_box_measure (GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  KvasirSideBox *self = KVASIR_SIDE_BOX (widget);

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    measure_width (self, minimum, natural);
  else
    *minimum = *natural = measure_height (self, for_size);
}

static void
kvasir_side_box_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  KvasirSideBox *self = KVASIR_SIDE_BOX (widget);
  gboolean rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int rest = MAX (width - get_sides_width (self), 0);
  int x = 0;

  for (GtkWidget *child = get_first (self); child != NULL; child = get_next (child))
    {
      GtkAllocation area = { 0, 0, rest, height };

      if (child != self->content)
        area.width = get_natural (child, GTK_ORIENTATION_HORIZONTAL, -1);
      area.x = rtl ? width - x - area.width : x;
      gtk_widget_size_allocate (child, &area, -1);
      x += area.width + self->spacing;
    }
}

static GtkSizeRequestMode
kvasir_side_box_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
kvasir_side_box_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_SPACING)
    g_value_set_int (value, KVASIR_SIDE_BOX (object)->spacing);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
kvasir_side_box_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_SPACING)
    KVASIR_SIDE_BOX (object)->spacing = g_value_get_int (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
kvasir_side_box_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))) != NULL)
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (kvasir_side_box_parent_class)->dispose (object);
}

static void
kvasir_side_box_class_init (KvasirSideBoxClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = kvasir_side_box_get_property;
  object_class->set_property = kvasir_side_box_set_property;
  object_class->dispose = kvasir_side_box_dispose;
  widget_class->measure = kvasir_side_box_measure;
  widget_class->size_allocate = kvasir_side_box_size_allocate;
  widget_class->get_request_mode = kvasir_side_box_get_request_mode;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  props[PROP_SPACING] = g_param_spec_int ("spacing", NULL, NULL, 0, G_MAXINT, 0,
                                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
kvasir_side_box_init (KvasirSideBox *self)
{
}

GtkWidget *
kvasir_side_box_new (int spacing)
{
  return g_object_new (KVASIR_TYPE_SIDE_BOX, "spacing", spacing, NULL);
}

void
kvasir_side_box_add_start (KvasirSideBox *self, GtkWidget *child)
{
  g_return_if_fail (KVASIR_IS_SIDE_BOX (self));
  gtk_widget_insert_before (child, GTK_WIDGET (self), self->content);
}

void
kvasir_side_box_add_end (KvasirSideBox *self, GtkWidget *child)
{
  g_return_if_fail (KVASIR_IS_SIDE_BOX (self) && self->content != NULL);
  gtk_widget_insert_before (child, GTK_WIDGET (self), NULL);
}

void
kvasir_side_box_set_content (KvasirSideBox *self, GtkWidget *child)
{
  g_return_if_fail (KVASIR_IS_SIDE_BOX (self) && self->content == NULL);
  self->content = child;
  gtk_widget_insert_before (child, GTK_WIDGET (self), NULL);
}
