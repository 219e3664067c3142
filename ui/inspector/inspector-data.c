/* What the inspector gets from the engine, and the words made from it. */
#include <glib/gi18n.h>
#include <string.h>

#include "ui/inspector/inspector-private.h"
#include "viz/headline.h"

/* Words that nobody asked for in this moment change no more often than this. */
#define WORDS_INTERVAL_US 300000
/* Words change with the picture, in one frame. This long after they were due they do without one.
 */
#define NO_PICTURE_US 100000
/* The text form is long; while following it is made anew once a second. */
#define TEXT_INTERVAL_US 1000000

char *
kvasir_inspector_dup_token_text (gint32 token, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  KvasirModel *model = kvasir_engine_client_get_model (self->client);
  GString *text = g_string_new (NULL);
  if (model != NULL)
    kvasir_vocab_append_token (kvasir_model_get_vocab (model), token, TRUE, text);
  return g_string_free (text, FALSE);
}

char *
kvasir_inspector_dup_chat_name (guint64 chat_id, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  return self->chat_name != NULL ? self->chat_name (chat_id, self->chat_name_data) : NULL;
}

/* ---- subscriptions */

static KvasirViews
get_wanted_views (KvasirInspector *self)
{
  guint page = kvasir_inspector_get_page (self);
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return 0;
  /* The headline needs the cells; the log would begin in the middle if it were only written while
   * its page is in front. */
  KvasirViews views = KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG;
  if (page < KVASIR_N_VIEW_PAGES)
    views |= kvasir_view_get_needs (kvasir_view_page_get_view (self->views[page]));
  return views;
}

void
kvasir_inspector_update_views (KvasirInspector *self)
{
  KvasirViews wanted = get_wanted_views (self);
  KvasirViews before = self->subscribed;
  self->subscribed = wanted;
  /* First the new ones, so that what both need is not dropped in between. */
  if (wanted & ~before)
    kvasir_engine_client_add_views (self->client, wanted & ~before);
  if (before & ~wanted)
    kvasir_engine_client_remove_views (self->client, before & ~wanted);
}

/* ---- parts */

void
kvasir_inspector_update_headline (KvasirInspector *self)
{
  KvasirVizData data = kvasir_parts_get_data (&self->parts);
  g_autoptr (GString) text = g_string_new (NULL);
  kvasir_headline_append (&data, text);
  if (text->len == 0)
    g_string_append (text, _ ("no cells"));
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (self->headline)), text->str) != 0)
    gtk_inscription_set_text (GTK_INSCRIPTION (self->headline), text->str);
}

void
kvasir_inspector_show_parts (KvasirInspector *self)
{
  guint page = kvasir_inspector_get_page (self);
  if (page >= KVASIR_N_VIEW_PAGES)
    {
      kvasir_inspector_queue_words (self);
      return;
    }
  kvasir_view_page_set_parts (self->views[page], &self->parts);
  /* In the text form no page is drawn that would ask for new words. */
  if (kvasir_inspector_get_text_form (self))
    kvasir_inspector_queue_words (self);
}

void
kvasir_inspector_take_snapshot (KvasirInspector *self, const KvasirSnapshot *snapshot)
{
  kvasir_parts_update (&self->latest, snapshot);
  if (snapshot->cells != NULL)
    {
      KvasirEventPlaces places;
      kvasir_event_places_init (&places, snapshot->cells);
      kvasir_log_model_set_places (kvasir_log_page_get_model (self->log), &places);
    }
  if (!self->following)
    return;
  kvasir_parts_copy (&self->parts, &self->latest);
  kvasir_inspector_show_parts (self);
}

static void
forget_parts (KvasirInspector *self)
{
  kvasir_parts_clear (&self->latest);
  kvasir_parts_clear (&self->parts);
  kvasir_log_page_clear_selection (self->log);
  kvasir_inspector_lock (self, NULL);
  for (guint i = 0; i < KVASIR_N_VIEW_PAGES; i++)
    kvasir_view_page_set_parts (self->views[i], &self->parts);
  kvasir_inspector_show_parts (self);
  kvasir_inspector_update_words (self);
}

/* ---- words */

static void
append_details (KvasirInspector *self, GString *out)
{
  guint page = kvasir_inspector_get_page (self);
  KvasirLogEntry *entry = kvasir_log_page_get_selected (self->log);
  if (page < KVASIR_N_VIEW_PAGES)
    {
      kvasir_view_page_describe (self->views[page], out);
      return;
    }
  if (entry == NULL)
    {
      g_string_append (out, _ ("newest at the bottom\nchoose a line to outline its cells, press "
                               "Enter to go there\n"));
      return;
    }
  g_string_append_printf (out, "%s\n", kvasir_log_entry_get_text (entry));
  if (self->locked.kind == KVASIR_THING_RUNS)
    kvasir_view_page_describe (self->views[KVASIR_INSPECTOR_CELLS], out);
}

/* The first line says what it is, the rest is quieter. */
static void
set_details (KvasirInspector *self, const char *text)
{
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  PangoAttribute *quiet = pango_attr_foreground_alpha_new (G_MAXUINT16 / 100 * 72);
  const char *rest = strchr (text, '\n');
  quiet->start_index = rest != NULL ? (guint) (rest - text) : (guint) strlen (text);
  pango_attr_list_insert (attributes, quiet);
  gtk_label_set_text (GTK_LABEL (self->details), text);
  gtk_label_set_attributes (GTK_LABEL (self->details), attributes);
}

static void
update_details (KvasirInspector *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  append_details (self, text);
  g_autofree char *chomped = g_strchomp (g_strdup (text->str));
  /* A new text would take away what a person is selecting. */
  if (gtk_label_get_selection_bounds (GTK_LABEL (self->details), NULL, NULL) ||
      g_strcmp0 (gtk_label_get_text (GTK_LABEL (self->details)), chomped) == 0)
    return;
  set_details (self, chomped);
}

static void
update_text (KvasirInspector *self)
{
  guint page = kvasir_inspector_get_page (self);
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text));
  g_autoptr (GString) text = g_string_new (NULL);
  if (!kvasir_inspector_get_text_form (self) || gtk_text_buffer_get_has_selection (buffer))
    return;
  if (page < KVASIR_N_VIEW_PAGES)
    kvasir_view_append_text (kvasir_view_page_get_view (self->views[page]), text);
  else
    kvasir_log_page_append_text (self->log, text);
  gtk_text_buffer_set_text (buffer, text->str, (gint) text->len);
}

void
kvasir_inspector_update_words (KvasirInspector *self)
{
  g_clear_handle_id (&self->words_source, g_source_remove);
  self->words_us = g_get_monotonic_time ();
  kvasir_inspector_update_headline (self);
  update_details (self);
  update_text (self);
}

static gboolean
words_cb (gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  self->words_source = 0;
  kvasir_inspector_update_words (self);
  return G_SOURCE_REMOVE;
}

void
kvasir_inspector_queue_words (KvasirInspector *self)
{
  gint64 interval_us = kvasir_inspector_get_text_form (self) ? TEXT_INTERVAL_US : WORDS_INTERVAL_US;
  gint64 wait_us = self->words_us + interval_us - g_get_monotonic_time ();
  if (wait_us <= 0)
    kvasir_inspector_update_words (self);
  else if (self->words_source == 0)
    self->words_source = g_timeout_add ((guint) ((wait_us + NO_PICTURE_US) / 1000), words_cb, self);
}

/* ---- the client */

static void
snapshot_cb (KvasirEngineClient *client, const KvasirSnapshot *snapshot, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    kvasir_inspector_take_snapshot (self, snapshot);
}

static void
events_cb (KvasirEngineClient *client, const KvasirMail *mail, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  if (self->subscribed & KVASIR_VIEW_LOG)
    kvasir_log_page_add_mail (self->log, mail);
}

static void
state_cb (KvasirEngineClient *client, GParamSpec *pspec, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  KvasirEngineState state = kvasir_engine_client_get_state (client);
  const char *name = state == KVASIR_ENGINE_NO_MODEL  ? "empty"
                     : state == KVASIR_ENGINE_LOADING ? "loading"
                                                      : "pages";
  gtk_stack_set_visible_child_name (GTK_STACK (self->states), name);
  gtk_widget_set_visible (self->follow, state != KVASIR_ENGINE_NO_MODEL);
  if (state == KVASIR_ENGINE_NO_MODEL || state == KVASIR_ENGINE_LOADING)
    forget_parts (self);
}

static void
fraction_cb (KvasirEngineClient *client, GParamSpec *pspec, gpointer user_data)
{
  KvasirInspector *self = KVASIR_INSPECTOR (user_data);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress),
                                 kvasir_engine_client_get_load_fraction (client));
}

void
kvasir_inspector_connect (KvasirInspector *self)
{
  g_signal_connect_object (self->client, "snapshot", G_CALLBACK (snapshot_cb), self, 0);
  g_signal_connect_object (self->client, "events", G_CALLBACK (events_cb), self, 0);
  g_signal_connect_object (self->client, "notify::state", G_CALLBACK (state_cb), self, 0);
  g_signal_connect_object (self->client, "notify::load-fraction", G_CALLBACK (fraction_cb), self,
                           0);
  state_cb (self->client, NULL, self);
}
