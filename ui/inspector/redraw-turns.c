#include "ui/inspector/redraw-turns.h"

#define BUDGET_US 3000
/* A frame with pages in it that takes longer than this is followed by a rest. */
#define SLOW_FRAME_US 12000
#define REST 4

typedef struct
{
  gint64 frame_us; /* the frame that is being made: the clock's own time */
  gint64 start_us; /* when it was first asked for a turn */
  gint64 spent_us; /* by pages in it */
  gint64 rest_until_us;
  gboolean drawn; /* a page drew in it */
  GQueue waiting; /* of GWeakRef, longest first */
} Turns;

static void
weak_ref_free (gpointer data)
{
  g_weak_ref_clear (data);
  g_free (data);
}

static void
turns_free (gpointer data)
{
  Turns *turns = data;
  g_queue_clear_full (&turns->waiting, weak_ref_free);
  g_free (turns);
}

/* The frame is composed: what it cost in all is known only now. */
static void
after_paint_cb (GdkFrameClock *clock, gpointer user_data)
{
  Turns *turns = user_data;
  gint64 now_us = g_get_monotonic_time ();
  gint64 cost_us = now_us - turns->start_us;
  if (turns->drawn && cost_us > SLOW_FRAME_US)
    turns->rest_until_us = now_us + REST * cost_us;
  turns->drawn = FALSE;
}

static Turns *
make_turns (GdkFrameClock *clock)
{
  Turns *turns = g_new0 (Turns, 1);
  g_queue_init (&turns->waiting);
  g_object_set_data_full (G_OBJECT (clock), "kvasir-redraw-turns", turns, turns_free);
  g_signal_connect (clock, "after-paint", G_CALLBACK (after_paint_cb), turns);
  return turns;
}

static Turns *
get_turns (GtkWidget *page)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (page);
  Turns *turns = g_object_get_data (G_OBJECT (clock), "kvasir-redraw-turns");
  turns = turns != NULL ? turns : make_turns (clock);
  if (turns->frame_us == gdk_frame_clock_get_frame_time (clock))
    return turns;
  turns->frame_us = gdk_frame_clock_get_frame_time (clock);
  turns->start_us = g_get_monotonic_time ();
  turns->spent_us = 0;
  turns->drawn = FALSE;
  return turns;
}

/* Compares without taking a reference that could be the last one. */
static gboolean
is_page (GWeakRef *ref, GtkWidget *page)
{
  g_autoptr (GtkWidget) widget = g_weak_ref_get (ref);
  return widget == page;
}

/* Pages that went away or are not on screen do not hold up the others. */
static void
drop_absent (Turns *turns)
{
  while (turns->waiting.head != NULL)
    {
      g_autoptr (GtkWidget) widget = g_weak_ref_get (turns->waiting.head->data);
      if (widget != NULL && gtk_widget_get_mapped (widget))
        return;
      weak_ref_free (g_queue_pop_head (&turns->waiting));
    }
}

static void
wait (Turns *turns, GtkWidget *page)
{
  for (GList *l = turns->waiting.head; l != NULL; l = l->next)
    if (is_page (l->data, page))
      return;
  GWeakRef *ref = g_new0 (GWeakRef, 1);
  g_weak_ref_init (ref, page);
  g_queue_push_tail (&turns->waiting, ref);
}

gboolean
kvasir_redraw_turns_take (GtkWidget *page)
{
  Turns *turns = get_turns (page);
  drop_absent (turns);
  gboolean first = turns->waiting.head == NULL || is_page (turns->waiting.head->data, page);
  if (turns->spent_us >= BUDGET_US || turns->start_us < turns->rest_until_us || !first)
    {
      wait (turns, page);
      return FALSE;
    }
  if (turns->waiting.head != NULL)
    weak_ref_free (g_queue_pop_head (&turns->waiting));
  turns->drawn = TRUE;
  return TRUE;
}

void
kvasir_redraw_turns_spend (GtkWidget *page, gint64 us)
{
  get_turns (page)->spent_us += us;
}
