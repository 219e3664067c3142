#include "ui/engine-client.h"

#define N_VIEWS 4

/* Before GTK's layout and drawing, so that a window that draws all the time still hears of the
 * engine; a drain is short and the engine's steps are long. */
#define DRAIN_PRIORITY (G_PRIORITY_HIGH_IDLE + 5)

/* No more often than a screen shows something new: the loop that wakes for each token takes a
 * processor from those who compute the next one. Where showing it is slow (no GPU, many pages),
 * less often, so that it takes no more than a part of the time, but still as something that moves.
 */
#define MIN_DRAIN_INTERVAL_US 16000
#define MAX_DRAIN_INTERVAL_US 90000
#define DRAIN_SHARE 10

struct _KvasirEngineClient
{
  GObject parent_instance;

  KvasirDevice *device; /* (unowned) */
  KvasirWorker *worker; /* (owned) */
  GSource *source;      /* (owned): drains; made ready by the engine thread */
  GSource *watch;       /* (owned): knows when the main loop works and when it waits */

  KvasirEngineState state;
  KvasirModel *model; /* (owned) (nullable) */
  KvasirContextParams params;
  double load_fraction;
  guint64 load_id;                /* newest load or unload */
  GArray *sends;                  /* (owned) of Send, in order, not ended */
  const KvasirSnapshot *snapshot; /* (owned) (nullable) */
  guint view_counts[N_VIEWS];
};

typedef struct
{
  guint64 id;
  guint64 chat_id;
} Send;

G_DEFINE_FINAL_TYPE (KvasirEngineClient, kvasir_engine_client, G_TYPE_OBJECT)
G_DEFINE_BOXED_TYPE (KvasirModel, kvasir_model, kvasir_model_ref, kvasir_model_unref)
G_DEFINE_ENUM_TYPE (KvasirEngineState,
                    kvasir_engine_state,
                    G_DEFINE_ENUM_VALUE (KVASIR_ENGINE_NO_MODEL, "no-model"),
                    G_DEFINE_ENUM_VALUE (KVASIR_ENGINE_LOADING, "loading"),
                    G_DEFINE_ENUM_VALUE (KVASIR_ENGINE_READY, "ready"),
                    G_DEFINE_ENUM_VALUE (KVASIR_ENGINE_READING, "reading"),
                    G_DEFINE_ENUM_VALUE (KVASIR_ENGINE_WRITING, "writing"))

enum
{
  PROP_0,
  PROP_STATE,
  PROP_BUSY,
  PROP_MODEL,
  PROP_LOAD_FRACTION,
  N_PROPS
};

enum
{
  SIGNAL_NOTICE,
  SIGNAL_EVENTS,
  SIGNAL_SNAPSHOT,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

/* ---- what the properties say */

static void
set_state (KvasirEngineClient *self, KvasirEngineState state)
{
  gboolean was_busy = kvasir_engine_client_get_busy (self);
  if (self->state == state)
    return;
  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
  if (was_busy != kvasir_engine_client_get_busy (self))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

static void
set_model (KvasirEngineClient *self, KvasirModel *model)
{
  if (self->model == model)
    return;
  g_clear_pointer (&self->model, kvasir_model_unref);
  if (model != NULL)
    self->model = kvasir_model_ref (model);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODEL]);
}

static void
set_load_fraction (KvasirEngineClient *self, double fraction)
{
  if (self->load_fraction == fraction)
    return;
  self->load_fraction = fraction;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_LOAD_FRACTION]);
}

/* ---- rounds: a drain, and all the work that it makes for the main loop until the next one */

/* One source for good, since to make it ready again while it is ready already changes nothing. */
typedef struct
{
  GSource source;
  gint64 begin_us;     /* of the round */
  gint64 work_us;      /* in it so far */
  gint64 last_work_us; /* in the one before: how much is to come is not known yet */
  gint64 end_us;       /* atomic: written by the main thread, read by the engine's */
  gboolean open;       /* tokens came at its beginning: there will be more at its end */
} MailSource;

static void
update_end (MailSource *self)
{
  gint64 interval_us = CLAMP (MAX (self->work_us, self->last_work_us) * DRAIN_SHARE,
                              MIN_DRAIN_INTERVAL_US, MAX_DRAIN_INTERVAL_US);
  __atomic_store_n (&self->end_us, self->begin_us + interval_us, __ATOMIC_RELAXED);
}

static void
begin_round (MailSource *self)
{
  self->open = TRUE;
  self->begin_us = g_get_monotonic_time ();
  self->last_work_us = self->work_us;
  self->work_us = 0;
  update_end (self);
}

/* The loop is about to wait. It knows by itself when the round ends: to be told by the engine would
 * wake it once more, for nothing, and cost the engine a thread. */
static void
add_work (MailSource *self, gint64 us)
{
  if (!self->open)
    return;
  self->work_us += us;
  update_end (self);
  g_source_set_ready_time ((GSource *) self, self->end_us);
}

/* ---- following the engine */

static void
rest (KvasirEngineClient *self)
{
  if (self->sends->len > 0)
    set_state (self, KVASIR_ENGINE_READING);
  else
    set_state (self, self->model != NULL ? KVASIR_ENGINE_READY : KVASIR_ENGINE_NO_MODEL);
}

static gboolean
remove_send (KvasirEngineClient *self, guint64 id)
{
  for (guint i = 0; i < self->sends->len; i++)
    if (g_array_index (self->sends, Send, i).id == id)
      {
        g_array_remove_index (self->sends, i);
        return TRUE;
      }
  return FALSE;
}

/* An older load says nothing any more. */
static void
follow_load (KvasirEngineClient *self, const KvasirNotice *notice)
{
  if (notice->request_id != self->load_id)
    return;
  if (notice->kind == KVASIR_NOTICE_LOADING)
    {
      set_load_fraction (self, notice->fraction);
      return;
    }
  set_load_fraction (self, notice->kind == KVASIR_NOTICE_LOADED ? 1.0 : 0.0);
  set_model (self, notice->kind == KVASIR_NOTICE_LOADED ? notice->model : NULL);
  rest (self);
}

static void
follow (KvasirEngineClient *self, const KvasirNotice *notice)
{
  switch (notice->kind)
    {
    case KVASIR_NOTICE_LOADING:
    case KVASIR_NOTICE_LOADED:
    case KVASIR_NOTICE_UNLOADED:
      follow_load (self, notice);
      break;
    case KVASIR_NOTICE_TOKEN:
      if (self->sends->len > 0)
        set_state (self, KVASIR_ENGINE_WRITING);
      break;
    case KVASIR_NOTICE_DONE:
    case KVASIR_NOTICE_FAILED:
      if (remove_send (self, notice->request_id))
        {
          if (self->state != KVASIR_ENGINE_LOADING)
            rest (self);
        }
      else
        follow_load (self, notice);
      break;
    case KVASIR_NOTICE_READING:
    case KVASIR_NOTICE_DRAFT:
    case KVASIR_NOTICE_FIT:
    case KVASIR_NOTICE_EVICTED:
    case KVASIR_NOTICE_SAVED:
    case KVASIR_NOTICE_GUESSES:
      break;
    }
}

static void
give_out (KvasirEngineClient *self, KvasirMail *mail)
{
  for (guint i = 0; i < mail->notices->len && self->worker != NULL; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (mail->notices, i);
      follow (self, notice);
      g_signal_emit (self, signals[SIGNAL_NOTICE], 0, notice);
    }
  if ((mail->events->len > 0 || mail->events_lost) && self->worker != NULL)
    g_signal_emit (self, signals[SIGNAL_EVENTS], 0, mail);
  if (mail->snapshot != NULL && self->worker != NULL)
    {
      g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
      self->snapshot = kvasir_snapshot_ref (mail->snapshot);
      g_signal_emit (self, signals[SIGNAL_SNAPSHOT], 0, mail->snapshot);
    }
}

/* Only while an answer is written there is more to come than can be shown: its first token, and all
 * that comes before, is seen at once. */
static gboolean
has_token (const KvasirMail *mail)
{
  for (guint i = 0; i < mail->notices->len; i++)
    if (((const KvasirNotice *) g_ptr_array_index (mail->notices, i))->kind == KVASIR_NOTICE_TOKEN)
      return TRUE;
  return FALSE;
}

/* A handler may drop the last reference to the client in the middle of this. */
static gboolean
drain_cb (gpointer user_data)
{
  g_autoptr (KvasirEngineClient) self = g_object_ref (user_data);
  MailSource *source = (MailSource *) self->source;
  KvasirMail mail;
  /* The round had more work than was known when its end was told. */
  if (g_get_monotonic_time () < source->end_us)
    {
      g_source_set_ready_time (self->source, source->end_us);
      return G_SOURCE_CONTINUE;
    }
  source->open = FALSE;
  g_source_set_ready_time (self->source, -1);
  kvasir_mail_init (&mail);
  kvasir_worker_drain (self->worker, &mail);
  if (has_token (&mail))
    begin_round (source);
  give_out (self, &mail);
  kvasir_mail_clear (&mail);
  return G_SOURCE_CONTINUE;
}

/* ---- the main loop's own processor */

typedef struct
{
  GSource source;
  KvasirWorker *worker; /* (unowned) */
  MailSource *mail;     /* (unowned) */
  gint64 since_us;      /* the loop works, or 0: it waits */
} Watch;

/* The loop is about to wait, unless something is due already. */
static gboolean
prepare_watch (GSource *source, gint *timeout_ms)
{
  Watch *watch = (Watch *) source;

  *timeout_ms = -1;
  if (watch->since_us > 0)
    add_work (watch->mail, g_get_monotonic_time () - watch->since_us);
  watch->since_us = 0;
  kvasir_worker_make_way (watch->worker, FALSE);
  return FALSE;
}

static gboolean
check_watch (GSource *source)
{
  Watch *watch = (Watch *) source;

  kvasir_worker_make_way (watch->worker, TRUE);
  /* Waking may have stopped one of the engine's threads in the middle of what others wait for. */
  g_thread_yield ();
  watch->since_us = g_get_monotonic_time ();
  return FALSE;
}

static GSourceFuncs watch_funcs = { .prepare = prepare_watch, .check = check_watch };

static void
watch_loop (KvasirEngineClient *self)
{
  self->watch = g_source_new (&watch_funcs, sizeof (Watch));
  ((Watch *) self->watch)->worker = self->worker;
  ((Watch *) self->watch)->mail = (MailSource *) self->source;
  g_source_set_static_name (self->watch, "kvasir engine way");
  /* Before all others: they are not asked where one before them is ready. */
  g_source_set_priority (self->watch, G_MININT);
  g_source_attach (self->watch, NULL);
}

static gboolean
dispatch_mail (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

static GSourceFuncs mail_funcs = { .dispatch = dispatch_mail };

/* On the engine thread. */
static void
wakeup_cb (gpointer user_data)
{
  MailSource *source = user_data;
  g_source_set_ready_time (user_data, __atomic_load_n (&source->end_us, __ATOMIC_RELAXED));
}

/* ---- the object */

static void
kvasir_engine_client_dispose (GObject *object)
{
  KvasirEngineClient *self = KVASIR_ENGINE_CLIENT (object);

  if (self->watch != NULL)
    g_source_destroy (self->watch);
  g_clear_pointer (&self->watch, g_source_unref);
  g_clear_pointer (&self->worker, kvasir_worker_free);
  if (self->source != NULL)
    g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
  g_clear_pointer (&self->model, kvasir_model_unref);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  g_clear_pointer (&self->sends, g_array_unref);

  G_OBJECT_CLASS (kvasir_engine_client_parent_class)->dispose (object);
}

static void
kvasir_engine_client_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  KvasirEngineClient *self = KVASIR_ENGINE_CLIENT (object);

  switch (id)
    {
    case PROP_STATE:
      g_value_set_enum (value, self->state);
      break;
    case PROP_BUSY:
      g_value_set_boolean (value, kvasir_engine_client_get_busy (self));
      break;
    case PROP_MODEL:
      g_value_set_boxed (value, self->model);
      break;
    case PROP_LOAD_FRACTION:
      g_value_set_double (value, self->load_fraction);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static guint
add_signal (const char *name)
{
  return g_signal_new (name, KVASIR_TYPE_ENGINE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                       G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
kvasir_engine_client_class_init (KvasirEngineClientClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->dispose = kvasir_engine_client_dispose;
  object_class->get_property = kvasir_engine_client_get_property;

  properties[PROP_STATE] = g_param_spec_enum ("state", NULL, NULL, KVASIR_TYPE_ENGINE_STATE,
                                              KVASIR_ENGINE_NO_MODEL, flags);
  properties[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, flags);
  properties[PROP_MODEL] = g_param_spec_boxed ("model", NULL, NULL, KVASIR_TYPE_MODEL, flags);
  properties[PROP_LOAD_FRACTION] =
      g_param_spec_double ("load-fraction", NULL, NULL, 0.0, 1.0, 0.0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  signals[SIGNAL_NOTICE] = add_signal ("notice");
  signals[SIGNAL_EVENTS] = add_signal ("events");
  signals[SIGNAL_SNAPSHOT] = add_signal ("snapshot");
}

static void
kvasir_engine_client_init (KvasirEngineClient *self)
{
  kvasir_context_params_init (&self->params);
  self->sends = g_array_new (FALSE, FALSE, sizeof (Send));
}

KvasirEngineClient *
kvasir_engine_client_new (KvasirDevice *device)
{
  g_return_val_if_fail (device != NULL, NULL);

  KvasirEngineClient *self = g_object_new (KVASIR_TYPE_ENGINE_CLIENT, NULL);
  self->device = device;
  self->source = g_source_new (&mail_funcs, sizeof (MailSource));
  g_source_set_static_name (self->source, "kvasir engine mail");
  g_source_set_priority (self->source, DRAIN_PRIORITY);
  g_source_set_callback (self->source, drain_cb, self, NULL);
  g_source_attach (self->source, NULL);
  self->worker = kvasir_worker_new (device, wakeup_cb, self->source);
  watch_loop (self);
  return self;
}

KvasirEngineState
kvasir_engine_client_get_state (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), KVASIR_ENGINE_NO_MODEL);
  return self->state;
}

gboolean
kvasir_engine_client_get_busy (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), FALSE);
  return self->state == KVASIR_ENGINE_READING || self->state == KVASIR_ENGINE_WRITING;
}

double
kvasir_engine_client_get_load_fraction (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0.0);
  return self->load_fraction;
}

KvasirModel *
kvasir_engine_client_get_model (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), NULL);
  return self->model;
}

const KvasirContextParams *
kvasir_engine_client_get_params (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), NULL);
  return &self->params;
}

guint64
kvasir_engine_client_get_request (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return self->sends->len > 0 ? g_array_index (self->sends, Send, 0).id : 0;
}

guint64
kvasir_engine_client_get_chat (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return self->sends->len > 0 ? g_array_index (self->sends, Send, 0).chat_id : 0;
}

const KvasirSnapshot *
kvasir_engine_client_get_snapshot (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), NULL);
  return self->snapshot;
}

/* ---- commands */

guint64
kvasir_engine_client_load (KvasirEngineClient *self,
                           const char *path,
                           const KvasirContextParams *params)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);

  self->params = *params;
  self->load_id = kvasir_worker_load (self->worker, path, params);
  set_model (self, NULL);
  set_load_fraction (self, 0.0);
  set_state (self, KVASIR_ENGINE_LOADING);
  return self->load_id;
}

guint64
kvasir_engine_client_set_guesses (KvasirEngineClient *self, const KvasirGuessParams *params)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_set_guesses (self->worker, params);
}

guint64
kvasir_engine_client_unload (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);

  self->load_id = kvasir_worker_unload (self->worker);
  return self->load_id;
}

guint64
kvasir_engine_client_send (KvasirEngineClient *self, KvasirRequest *request)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);

  Send sent = { .chat_id = request->chat_id };
  sent.id = kvasir_worker_send (self->worker, request);
  g_array_append_val (self->sends, sent);
  if (self->state == KVASIR_ENGINE_READY)
    set_state (self, KVASIR_ENGINE_READING);
  return sent.id;
}

void
kvasir_engine_client_stop (KvasirEngineClient *self)
{
  g_return_if_fail (KVASIR_IS_ENGINE_CLIENT (self));
  kvasir_worker_stop (self->worker);
}

guint64
kvasir_engine_client_count (KvasirEngineClient *self, KvasirRequest *request)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_count (self->worker, request);
}

guint64
kvasir_engine_client_measure (KvasirEngineClient *self,
                              const char *path,
                              const KvasirContextParams *params)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_measure (self->worker, path, params);
}

guint64
kvasir_engine_client_drop_chat (KvasirEngineClient *self, guint64 chat_id)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_drop_chat (self->worker, chat_id);
}

guint64
kvasir_engine_client_clear (KvasirEngineClient *self)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_clear (self->worker);
}

guint64
kvasir_engine_client_seq_op (KvasirEngineClient *self, const KvasirSeqOp *op)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_seq_op (self->worker, op);
}

guint64
kvasir_engine_client_save_state (KvasirEngineClient *self, guint64 chat_id, const char *path)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_save_state (self->worker, chat_id, path);
}

guint64
kvasir_engine_client_load_state (KvasirEngineClient *self, guint64 chat_id, const char *path)
{
  g_return_val_if_fail (KVASIR_IS_ENGINE_CLIENT (self), 0);
  return kvasir_worker_load_state (self->worker, chat_id, path);
}

/* ---- views */

static KvasirViews
get_views (KvasirEngineClient *self)
{
  KvasirViews views = 0;
  for (guint i = 0; i < N_VIEWS; i++)
    if (self->view_counts[i] > 0)
      views |= 1u << i;
  return views;
}

static void
count_views (KvasirEngineClient *self, KvasirViews views, gint step)
{
  KvasirViews before = get_views (self);
  for (guint i = 0; i < N_VIEWS; i++)
    if (views & (1u << i))
      {
        g_return_if_fail (step > 0 || self->view_counts[i] > 0);
        self->view_counts[i] += (guint) step;
      }
  if (get_views (self) != before && self->worker != NULL)
    kvasir_worker_subscribe (self->worker, get_views (self));
}

void
kvasir_engine_client_add_views (KvasirEngineClient *self, KvasirViews views)
{
  g_return_if_fail (KVASIR_IS_ENGINE_CLIENT (self));
  count_views (self, views, 1);
}

void
kvasir_engine_client_remove_views (KvasirEngineClient *self, KvasirViews views)
{
  g_return_if_fail (KVASIR_IS_ENGINE_CLIENT (self));
  count_views (self, views, -1);
}
