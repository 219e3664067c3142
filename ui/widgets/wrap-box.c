#include "ui/widgets/wrap-box.h"

struct _KvasirWrapBox
{
  GtkWidget parent_instance;

  int spacing;
  int line_spacing;
};

G_DEFINE_FINAL_TYPE (KvasirWrapBox, kvasir_wrap_box, GTK_TYPE_WIDGET)

/* The children of one line: [first, end), end being the first of the next line. */
typedef struct
{
  GtkWidget *first;
  GtkWidget *end;
  int width;
  int height;
  guint n_expanding;
} Line;

static int
get_natural_width (GtkWidget *child)
{
  int natural;

  gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
  return natural;
}

static int
get_height (GtkWidget *child, int width)
{
  int natural;

  gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, width, NULL, &natural, NULL, NULL);
  return natural;
}

/* A child that is too wide for a line of its own gets the line's width. */
static int
get_child_width (GtkWidget *child, int width)
{
  return MIN (get_natural_width (child), width);
}

static GtkWidget *
skip_hidden (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static Line
take_line (KvasirWrapBox *self, GtkWidget *child, int width)
{
  Line line = { .first = child };

  while (child != NULL)
    {
      int child_width = get_child_width (child, width);
      int needed = line.width + (line.width > 0 ? self->spacing : 0) + child_width;

      if (line.width > 0 && needed > width)
        break;
      line.width = needed;
      line.height = MAX (line.height, get_height (child, child_width));
      line.n_expanding += gtk_widget_compute_expand (child, GTK_ORIENTATION_HORIZONTAL);
      child = skip_hidden (gtk_widget_get_next_sibling (child));
    }
  line.end = child;
  return line;
}

static void
measure_width (KvasirWrapBox *self, int *minimum, int *natural)
{
  for (GtkWidget *child = skip_hidden (gtk_widget_get_first_child (GTK_WIDGET (self)));
       child != NULL; child = skip_hidden (gtk_widget_get_next_sibling (child)))
    {
      int child_minimum, child_natural;

      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &child_minimum, &child_natural,
                          NULL, NULL);
      *minimum = MAX (*minimum, child_minimum);
      *natural += child_natural + (*natural > 0 ? self->spacing : 0);
    }
}

static void
kvasir_wrap_box_measure (GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  KvasirWrapBox *self = KVASIR_WRAP_BOX (widget);
  int width = for_size >= 0 ? for_size : G_MAXINT;
  GtkWidget *child = skip_hidden (gtk_widget_get_first_child (widget));

  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      measure_width (self, minimum, natural);
      return;
    }
  while (child != NULL)
    {
      Line line = take_line (self, child, width);

      *natural += line.height + (*natural > 0 ? self->line_spacing : 0);
      child = line.end;
    }
  *minimum = *natural;
}

static void
allocate_line (KvasirWrapBox *self, const Line *line, int y, int width)
{
  gboolean rtl = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
  int extra = line->n_expanding > 0 ? (width - line->width) / (int) line->n_expanding : 0;
  int x = 0;

  for (GtkWidget *child = line->first; child != line->end;
       child = skip_hidden (gtk_widget_get_next_sibling (child)))
    {
      int child_width = get_child_width (child, width);
      GtkAllocation area;

      if (gtk_widget_compute_expand (child, GTK_ORIENTATION_HORIZONTAL))
        child_width += extra;
      area.x = rtl ? width - x - child_width : x;
      area.y = y;
      area.width = child_width;
      area.height = line->height;
      gtk_widget_size_allocate (child, &area, -1);
      x += child_width + self->spacing;
    }
}

static void
kvasir_wrap_box_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  KvasirWrapBox *self = KVASIR_WRAP_BOX (widget);
  GtkWidget *child = skip_hidden (gtk_widget_get_first_child (widget));
  int y = 0;

  while (child != NULL)
    {
      Line line = take_line (self, child, width);

      allocate_line (self, &line, y, width);
      y += line.height + self->line_spacing;
      child = line.end;
    }
}

static GtkSizeRequestMode
kvasir_wrap_box_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
kvasir_wrap_box_dispose (GObject *object)
{
  kvasir_wrap_box_clear (KVASIR_WRAP_BOX (object));
  G_OBJECT_CLASS (kvasir_wrap_box_parent_class)->dispose (object);
}

static void
kvasir_wrap_box_class_init (KvasirWrapBoxClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = kvasir_wrap_box_dispose;
  widget_class->measure = kvasir_wrap_box_measure;
  widget_class->size_allocate = kvasir_wrap_box_size_allocate;
  widget_class->get_request_mode = kvasir_wrap_box_get_request_mode;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
kvasir_wrap_box_init (KvasirWrapBox *self)
{
}

GtkWidget *
kvasir_wrap_box_new (int spacing, int line_spacing)
{
  KvasirWrapBox *self = g_object_new (KVASIR_TYPE_WRAP_BOX, NULL);

  self->spacing = spacing;
  self->line_spacing = line_spacing;
  return GTK_WIDGET (self);
}

void
kvasir_wrap_box_append (KvasirWrapBox *self, GtkWidget *child)
{
  g_return_if_fail (KVASIR_IS_WRAP_BOX (self));
  gtk_widget_set_parent (child, GTK_WIDGET (self));
}

void
kvasir_wrap_box_clear (KvasirWrapBox *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
}
