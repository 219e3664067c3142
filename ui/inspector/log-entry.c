#include "ui/inspector/log-entry.h"

#include <glib/gi18n.h>

#include "viz/format.h"

struct _KvasirLogEntry
{
  GObject parent_instance;

  KvasirLogKind kind;
  char *text;   /* (owned) */
  char *step;   /* (owned) */
  GArray *runs; /* (owned) of KvasirCellRun */
};

G_DEFINE_FINAL_TYPE (KvasirLogEntry, kvasir_log_entry, G_TYPE_OBJECT)

static void
kvasir_log_entry_finalize (GObject *object)
{
  KvasirLogEntry *self = KVASIR_LOG_ENTRY (object);
  g_free (self->text);
  g_free (self->step);
  g_array_unref (self->runs);
  G_OBJECT_CLASS (kvasir_log_entry_parent_class)->finalize (object);
}

static void
kvasir_log_entry_class_init (KvasirLogEntryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = kvasir_log_entry_finalize;
}

static void
kvasir_log_entry_init (KvasirLogEntry *self)
{
  self->runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
}

KvasirLogEntry *
kvasir_log_entry_new (const KvasirEvent *event,
                      const gint32 *data,
                      guint n_data,
                      const KvasirEventPlaces *places,
                      KvasirTokenTextFunc token_text,
                      gpointer user_data)
{
  KvasirLogEntry *self = g_object_new (KVASIR_TYPE_LOG_ENTRY, NULL);
  GString *text = g_string_new (NULL);
  kvasir_event_append_place (event, places, text);
  kvasir_event_append_text (event, data, n_data, token_text, user_data, text);
  self->kind = kvasir_event_get_log_kind (event->type);
  self->text = g_string_free (text, FALSE);
  self->step = g_strdup (event->step > 0 ? kvasir_format_count (event->step).s : "");
  kvasir_event_append_cells (event, data, n_data, self->runs);
  return self;
}

const char *
kvasir_log_entry_get_text (KvasirLogEntry *self)
{
  return self->text;
}

const char *
kvasir_log_entry_get_step (KvasirLogEntry *self)
{
  return self->step;
}

KvasirLogKind
kvasir_log_entry_get_kind (KvasirLogEntry *self)
{
  return self->kind;
}

const GArray *
kvasir_log_entry_get_runs (KvasirLogEntry *self)
{
  return self->runs;
}
