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
  guint limit;     /* rows that the list has at most after a flush, 0: all */
  /* (owned) of KvasirLogEntry, places: what the list has of the newest rows, or none and the list
   * has all rows. */
  GPtrArray *tail;
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

static guint
get_n_listed (KvasirLogModel *self)
{
  return self->tail->len > 0 ? self->tail->len : get_n_rows (self);
}

static KvasirLogEntry *
get_entry (KvasirLogModel *self, guint row)
{
  Record *record = get_record (self, get_number (self, row));
  if (record->entry == NULL)
    record->entry = kvasir_log_entry_new (&record->event, record->data, record->n_data,
                                          &self->places, self->token_text, self->token_text_data);
  return record->entry;
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
  return get_n_listed (KVASIR_LOG_MODEL (list));
}

static gpointer
kvasir_log_model_get_item (GListModel *list, guint position)
{
  KvasirLogModel *self = KVASIR_LOG_MODEL (list);
  if (position >= get_n_listed (self))
    return NULL;
  return g_object_ref (self->tail->len > 0 ? g_ptr_array_index (self->tail, position)
                                           : get_entry (self, position));
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

static void
list_all (KvasirLogModel *self)
{
  guint n = self->tail->len;
  if (n == 0)
    return;
  g_ptr_array_set_size (self->tail, 0);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, n, get_n_rows (self));
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
  if (self->tail->len == 0)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, n, 0);
  else if (get_n_rows (self) < self->tail->len)
    list_all (self);
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

/* The newest rows in their places, from which nothing moves. */
static void
list_tail (KvasirLogModel *self, guint n_listed)
{
  guint n = self->limit, first = get_n_rows (self) - n;
  gboolean new_places = self->tail->len != n;
  while (self->tail->len < n)
    g_ptr_array_add (self->tail, kvasir_log_entry_new_place ());
  g_ptr_array_set_size (self->tail, (gint) n);
  for (guint i = 0; i < n; i++)
    kvasir_log_entry_show (g_ptr_array_index (self->tail, i), get_entry (self, first + i));
  if (new_places)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, n_listed, n);
}

gboolean
kvasir_log_model_flush (KvasirLogModel *self)
{
  if (self->end - self->first > KVASIR_LOG_CAPACITY)
    drop_before (self, self->end - KVASIR_LOG_CAPACITY);
  guint before = get_n_rows (self), n_listed = get_n_listed (self);
  for (; self->flushed < self->end; self->flushed++)
    if (is_visible (self, self->flushed))
      g_array_append_val (self->visible, self->flushed);
  guint added = get_n_rows (self) - before;
  if (added == 0)
    return FALSE;
  if (self->limit > 0 && get_n_rows (self) > self->limit)
    list_tail (self, n_listed);
  else
    g_list_model_items_changed (G_LIST_MODEL (self), before, 0, added);
  return TRUE;
}

void
kvasir_log_model_set_limit (KvasirLogModel *self, guint n_rows)
{
  g_return_if_fail (KVASIR_IS_LOG_MODEL (self));
  self->limit = n_rows;
  if (n_rows == 0 || get_n_rows (self) <= n_rows)
    list_all (self);
}

guint
kvasir_log_model_get_n_hidden (KvasirLogModel *self)
{
  return get_n_rows (self) - get_n_listed (self);
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
  guint n = get_n_listed (self);
  g_array_set_size (self->visible, 0);
  g_ptr_array_set_size (self->tail, 0);
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
  g_ptr_array_unref (self->tail);
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
  self->tail = g_ptr_array_new_with_free_func (g_object_unref);
  self->filter = KVASIR_LOG_ALL;
}

KvasirLogModel *
kvasir_log_model_new (void)
{
  return g_object_new (KVASIR_TYPE_LOG_MODEL, NULL);
}
