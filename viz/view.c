#include "viz/view-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "viz/format.h"

/* Narrower than this, columns would meet; what does not fit is cut off at the edge. */
#define MIN_WIDTH 280

gboolean
kvasir_thing_equal (const KvasirThing *a, const KvasirThing *b)
{
  return a->kind == b->kind && a->cache == b->cache && a->stream == b->stream &&
         a->cell == b->cell && a->row == b->row && a->seq == b->seq && a->pos == b->pos &&
         a->n == b->n && a->index == b->index && a->message_id == b->message_id;
}

void
kvasir_view_init (KvasirView *self, const KvasirViewClass *klass)
{
  self->klass = klass;
  self->canvas = kvasir_canvas_new ();
  self->scale = 1;
  self->runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
}

void
kvasir_view_free (KvasirView *self)
{
  if (self == NULL)
    return;
  if (self->klass->free != NULL)
    self->klass->free (self);
  kvasir_canvas_free (self->canvas);
  g_array_unref (self->runs);
  g_free (self);
}

KvasirViews
kvasir_view_get_needs (const KvasirView *self)
{
  return self->klass->needs;
}

void
kvasir_view_set_font (KvasirView *self, const char *family, double size)
{
  kvasir_canvas_set_font (self->canvas, family, size);
}

void
kvasir_view_set_token_text (KvasirView *self, KvasirTokenTextFunc func, gpointer user_data)
{
  self->token_text = func;
  self->token_text_data = user_data;
}

void
kvasir_view_set_chat_name (KvasirView *self, KvasirChatNameFunc func, gpointer user_data)
{
  self->chat_name = func;
  self->chat_name_data = user_data;
}

void
kvasir_view_set_runs (KvasirView *self, const KvasirCellRun *runs, guint n_runs)
{
  g_array_set_size (self->runs, 0);
  if (n_runs > 0)
    g_array_append_vals (self->runs, runs, n_runs);
}

gboolean
kvasir_view_set_focus (KvasirView *self, const KvasirThing *thing)
{
  KvasirThing focus = { KVASIR_THING_NONE };
  if (thing != NULL && self->klass->can_focus != NULL && self->klass->can_focus (thing))
    focus = *thing;
  gboolean changed = !kvasir_thing_equal (&focus, &self->focus);
  self->focus = focus;
  return changed;
}

void
kvasir_view_update (
    KvasirView *self, const KvasirVizData *data, double width, double height, double scale)
{
  self->data = *data;
  self->width = MAX (width, kvasir_view_get_min_width (self));
  self->height = MAX (height, 1);
  self->scale = scale;
  self->has_data = FALSE;
  self->min_height = 0;
  self->klass->layout (self);
}

gboolean
kvasir_view_has_data (const KvasirView *self)
{
  return self->has_data;
}

double
kvasir_view_get_min_width (const KvasirView *self)
{
  return kvasir_view_units (self, MIN_WIDTH);
}

double
kvasir_view_get_min_height (const KvasirView *self)
{
  return self->min_height;
}

void
kvasir_view_draw (KvasirView *self, cairo_t *cr)
{
  kvasir_canvas_begin (self->canvas, cr, self->scale);
  kvasir_palette_set_source (cr, KVASIR_RGB_PAGE, 1);
  cairo_paint (cr);
  if (self->has_data)
    self->klass->draw (self, self->canvas);
  kvasir_canvas_end (self->canvas);
}

gboolean
kvasir_view_hit (KvasirView *self, double x, double y, KvasirThing *thing)
{
  *thing = (KvasirThing){ KVASIR_THING_NONE };
  return self->has_data && self->klass->hit (self, x, y, thing);
}

gboolean
kvasir_view_draw_mark (KvasirView *self, cairo_t *cr, const KvasirThing *thing, gboolean locked)
{
  if (!self->has_data)
    return FALSE;
  kvasir_canvas_begin (self->canvas, cr, self->scale);
  gboolean drawn = self->klass->draw_mark (self, self->canvas, thing, locked);
  kvasir_canvas_end (self->canvas);
  return drawn;
}

gboolean
kvasir_view_move (KvasirView *self, KvasirThing *thing, KvasirMove move)
{
  return self->has_data && self->klass->move (self, thing, move);
}

gboolean
kvasir_view_translate (KvasirView *self, const KvasirThing *thing, KvasirThing *translated)
{
  return self->has_data && self->klass->translate (self, thing, translated);
}

void
kvasir_view_describe (KvasirView *self, const KvasirThing *thing, GString *out)
{
  if (self->has_data)
    self->klass->describe (self, thing, out);
}

void
kvasir_view_append_text (KvasirView *self, GString *out)
{
  if (self->has_data)
    self->klass->append_text (self, out);
}

gboolean
kvasir_view_zoom (KvasirView *self, gint delta, const KvasirThing *anchor)
{
  return self->klass->zoom != NULL && self->has_data && self->klass->zoom (self, delta, anchor);
}

gboolean
kvasir_view_scroll (KvasirView *self, double rows)
{
  return self->klass->scroll != NULL && self->has_data && self->klass->scroll (self, rows);
}

gboolean
kvasir_view_follow (KvasirView *self)
{
  return self->klass->follow != NULL && self->has_data && self->klass->follow (self);
}

gboolean
kvasir_view_reveal (KvasirView *self, const KvasirThing *thing)
{
  return self->klass->reveal != NULL && self->has_data && self->klass->reveal (self, thing);
}

/* ---- for the views */

double
kvasir_view_units (const KvasirView *self, double n)
{
  return n * kvasir_canvas_get_unit (self->canvas);
}

char *
kvasir_view_dup_token_text (const KvasirView *self, gint32 token)
{
  if (token < 0)
    return g_strdup ("");
  if (self->token_text == NULL)
    return g_strdup_printf ("#%d", token);
  g_autofree char *raw = self->token_text (token, self->token_text_data);
  return kvasir_format_dup_visible (raw);
}

void
kvasir_view_append_token (const KvasirView *self, gint32 token, GString *out)
{
  g_autofree char *text = kvasir_view_dup_token_text (self, token);
  if (token < 0)
    g_string_append (out, _ ("token unknown"));
  else if (self->token_text == NULL || text[0] == '\0')
    g_string_append_printf (out, _ ("token %s"), kvasir_format_count (token).s);
  else
    g_string_append_printf (out, _ ("token \"%s\" (%s)"), text, kvasir_format_count (token).s);
}

/* Messages are counted along the sequence, the text between them left out. */
static guint
count_messages (const KvasirCellsShot *cells, gint seq, const KvasirMessageRun *last)
{
  guint n = 0;
  guint64 previous = 0;
  for (const KvasirMessageRun *run = cells->message_runs; run <= last; run++)
    if (run->seq == seq && run->role != 3 && run->message_id != previous)
      {
        previous = run->message_id;
        n++;
      }
  return n;
}

gboolean
kvasir_view_append_message (const KvasirView *self, gint seq, gint32 pos, GString *out)
{
  const char *roles[] = { _ ("system"), _ ("user"), _ ("assistant") };
  const KvasirMessageRun *run = kvasir_cells_shot_find_message (self->data.cells, seq, pos);
  if (run == NULL)
    return FALSE;
  if (run->role < G_N_ELEMENTS (roles))
    g_string_append_printf (out, _ ("message %u (%s)"), count_messages (self->data.cells, seq, run),
                            roles[run->role]);
  else
    g_string_append (out, _ ("template text between messages"));
  return TRUE;
}
