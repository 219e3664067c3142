#include "ui/inspector/log-entry.h"

#include <glib/gi18n.h>

#include "viz/format.h"

struct _KvasirLogEntry
{
  GObject parent_instance;

  KvasirLogKind kind;
  char *text;            /* (owned) */
  char *step;            /* (owned) */
  GArray *runs;          /* (owned) of KvasirCellRun */
  KvasirLogEntry *shown; /* (owned) (nullable): by a place, which has nothing of its own */
};

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (KvasirLogEntry, kvasir_log_entry, G_TYPE_OBJECT)

static void
kvasir_log_entry_finalize (GObject *object)
{
  KvasirLogEntry *self = KVASIR_LOG_ENTRY (object);
  g_free (self->text);
  g_free (self->step);
  g_array_unref (self->runs);
  g_clear_object (&self->shown);
  G_OBJECT_CLASS (kvasir_log_entry_parent_class)->finalize (object);
}

static void
kvasir_log_entry_class_init (KvasirLogEntryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = kvasir_log_entry_finalize;
  signals[CHANGED] = g_signal_new ("changed", KVASIR_TYPE_LOG_ENTRY, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
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

KvasirLogEntry *
kvasir_log_entry_new_place (void)
{
  KvasirLogEntry *self = g_object_new (KVASIR_TYPE_LOG_ENTRY, NULL);
  self->text = g_strdup ("");
  self->step = g_strdup ("");
  return self;
}

void
kvasir_log_entry_show (KvasirLogEntry *self, KvasirLogEntry *entry)
{
  g_return_if_fail (KVASIR_IS_LOG_ENTRY (self) && KVASIR_IS_LOG_ENTRY (entry));
  if (g_set_object (&self->shown, entry))
    g_signal_emit (self, signals[CHANGED], 0);
}

static const KvasirLogEntry *
get_shown (const KvasirLogEntry *self)
{
  return self->shown != NULL ? self->shown : self;
}

const char *
kvasir_log_entry_get_text (KvasirLogEntry *self)
{
  return get_shown (self)->text;
}

const char *
kvasir_log_entry_get_step (KvasirLogEntry *self)
{
  return get_shown (self)->step;
}

KvasirLogKind
kvasir_log_entry_get_kind (KvasirLogEntry *self)
{
  return get_shown (self)->kind;
}

const GArray *
kvasir_log_entry_get_runs (KvasirLogEntry *self)
{
  return get_shown (self)->runs;
}
