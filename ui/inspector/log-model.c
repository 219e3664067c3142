#include "ui/inspector/log-model.h"

#include <string.h>

/* Numbers kept of an event: the words name the first few, and an ubatch may bring thousands. */
#define MAX_DATA 32
/* More than the list shows, so that a list that stands still is told about losses in portions. */
#define RING_SIZE 8192
#define PORTION 1024

typedef struct
{
  KvasirEvent event;
  gint32 data[MAX_DATA];
  guint n_data;
  KvasirLogEntry *entry; /* (owned) (nullable): made when first looked at */
} Record;

/* Entries are numbered from 0 on as they come; entry i lies in records[i % RING_SIZE]. */
struct _KvasirLogModel
{
  GObject parent_instance;

  Record *records; /* (owned) [RING_SIZE] */
  guint64 first;   /* oldest one that is kept */
  guint64 flushed; /* one past the last one that the list knows */
  guint64 end;     /* one past the newest */
  guint filter;
  GArray *visible; /* (owned) of guint64, ascending: the rows */
  guint n_gone;    /* of them at the front, that have left the ring and the list knows it */
  KvasirEventPlaces places;
  KvasirTokenTextFunc token_text;
  gpointer token_text_data;
};

static void kvasir_log_model_list_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (KvasirLogModel,
                               kvasir_log_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL,
                                                      kvasir_log_model_list_init))

static Record *
get_record (KvasirLogModel *self, guint64 number)
{
  return &self->records[number % RING_SIZE];
}

static guint64
get_number (KvasirLogModel *self, guint row)
{
  return g_array_index (self->visible, guint64, self->n_gone + row);
}

static guint
get_n_rows (KvasirLogModel *self)
{
  return self->visible->len - self->n_gone;
}

/* ---- the list */

static GType
kvasir_log_model_get_item_type (GListModel *list)
{
  return KVASIR_TYPE_LOG_ENTRY;
}

static guint
kvasir_log_model_get_n_items (GListModel *list)
{
  return get_n_rows (KVASIR_LOG_MODEL (list));
}

static gpointer
kvasir_log_model_get_item (GListModel *list, guint position)
{
  KvasirLogModel *self = KVASIR_LOG_MODEL (list);
  if (position >= get_n_rows (self))
    return NULL;
  Record *record = get_record (self, get_number (self, position));
  if (record->entry == NULL)
    record->entry = kvasir_log_entry_new (&record->event, record->data, record->n_data,
                                          &self->places, self->token_text, self->token_text_data);
  return g_object_ref (record->entry);
}

static void
kvasir_log_model_list_init (GListModelInterface *iface)
{
  iface->get_item_type = kvasir_log_model_get_item_type;
  iface->get_n_items = kvasir_log_model_get_n_items;
  iface->get_item = kvasir_log_model_get_item;
}

/* ---- appending */

static gboolean
is_visible (KvasirLogModel *self, guint64 number)
{
  return self->filter == KVASIR_LOG_ALL ||
         kvasir_event_get_log_kind (get_record (self, number)->event.type) == self->filter;
}

/* Rows leave before their records are overwritten. */
static void
drop_before (KvasirLogModel *self, guint64 number)
{
  guint n = 0;
  self->first = number;
  self->flushed = MAX (self->flushed, number);
  while (n < get_n_rows (self) && get_number (self, n) < number)
    n++;
  if (n == 0)
    return;
  self->n_gone += n;
  g_list_model_items_changed (G_LIST_MODEL (self), 0, n, 0);
  if (self->n_gone > RING_SIZE)
    {
      g_array_remove_range (self->visible, 0, self->n_gone);
      self->n_gone = 0;
    }
}

void
kvasir_log_model_set_places (KvasirLogModel *self, const KvasirEventPlaces *places)
{
  g_return_if_fail (KVASIR_IS_LOG_MODEL (self));
  self->places = *places;
}

void
kvasir_log_model_append (KvasirLogModel *self,
                         const KvasirEvent *event,
                         const gint32 *data,
                         guint n_data)
{
  if (self->end - self->first == RING_SIZE)
    drop_before (self, self->first + PORTION);
  Record *record = get_record (self, self->end++);
  g_clear_object (&record->entry);
  record->event = *event;
  record->n_data = MIN (n_data, MAX_DATA);
  if (record->n_data > 0)
    memcpy (record->data, data, record->n_data * sizeof (gint32));
}

void
kvasir_log_model_append_note (KvasirLogModel *self, const char *text)
{
  KvasirEvent event = { .type = KVASIR_EVENT_NOTE };
  g_strlcpy (event.text, text, sizeof event.text);
  kvasir_log_model_append (self, &event, NULL, 0);
}

gboolean
kvasir_log_model_flush (KvasirLogModel *self)
{
  if (self->end - self->first > KVASIR_LOG_CAPACITY)
    drop_before (self, self->end - KVASIR_LOG_CAPACITY);
  guint before = get_n_rows (self);
  for (; self->flushed < self->end; self->flushed++)
    if (is_visible (self, self->flushed))
      g_array_append_val (self->visible, self->flushed);
  guint added = get_n_rows (self) - before;
  if (added > 0)
    g_list_model_items_changed (G_LIST_MODEL (self), before, 0, added);
  return added > 0;
}

guint
kvasir_log_model_get_n_pending (KvasirLogModel *self)
{
  return (guint) (self->end - self->flushed);
}

guint64
kvasir_log_model_get_n_dropped (KvasirLogModel *self)
{
  return self->first;
}

static void
remove_all_rows (KvasirLogModel *self)
{
  guint n = get_n_rows (self);
  g_array_set_size (self->visible, 0);
  self->n_gone = 0;
  if (n > 0)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, n, 0);
}

void
kvasir_log_model_set_filter (KvasirLogModel *self, guint kind)
{
  if (kind == self->filter)
    return;
  self->filter = kind;
  remove_all_rows (self);
  self->flushed = self->first;
  kvasir_log_model_flush (self);
}

void
kvasir_log_model_set_token_text (KvasirLogModel *self, KvasirTokenTextFunc func, gpointer user_data)
{
  self->token_text = func;
  self->token_text_data = user_data;
}

static void
kvasir_log_model_finalize (GObject *object)
{
  KvasirLogModel *self = KVASIR_LOG_MODEL (object);
  for (guint i = 0; i < RING_SIZE; i++)
    g_clear_object (&self->records[i].entry);
  g_free (self->records);
  g_array_unref (self->visible);
  G_OBJECT_CLASS (kvasir_log_model_parent_class)->finalize (object);
}

static void
kvasir_log_model_class_init (KvasirLogModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = kvasir_log_model_finalize;
}

static void
kvasir_log_model_init (KvasirLogModel *self)
{
  self->records = g_new0 (Record, RING_SIZE);
  self->visible = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->filter = KVASIR_LOG_ALL;
}

KvasirLogModel *
kvasir_log_model_new (void)
{
  return g_object_new (KVASIR_TYPE_LOG_MODEL, NULL);
}
