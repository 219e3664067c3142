/* Events and snapshots on their way to the views. */
#include "engine/session/snapshot-build.h"
#include "engine/session/worker-private.h"

#define SNAPSHOT_INTERVAL_US 16000
/* A large cache takes longer to copy: no more than a twentieth of the time goes into it. */
#define SNAPSHOT_SHARE 20
/* Asking the kernel which pages are in memory takes a walk over all of them. */
#define RESIDENT_INTERVAL_US 500000

void
kvasir_worker_emit (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data)
{
  KvasirWorker *self = user_data;
  self->changed_since = TRUE;
  self->step = MAX (self->step, event->step);
  if (!(self->views & KVASIR_VIEW_LOG))
    return;
  KvasirEvent timed = *event;
  timed.time_us = g_get_monotonic_time ();
  timed.step = MAX (timed.step, self->step);
  kvasir_mailbox_put_event (self->mailbox, &timed, data, n_data);
}

void
kvasir_worker_set_views (KvasirWorker *self, KvasirViews views)
{
  self->views = views;
  self->changed_since = TRUE;
  self->next_snapshot_us = 0;
  if (self->session != NULL)
    kvasir_mask_tap_set_shown (kvasir_session_get_mask_tap (self->session),
                               (views & KVASIR_VIEW_MASK) != 0);
}

static void
update_resident (KvasirWorker *self, gint64 now_us)
{
  if (now_us < self->next_resident_us || self->session == NULL)
    return;
  KvasirModel *model = kvasir_context_get_model (kvasir_session_get_context (self->session));
  self->weights_resident_bytes = kvasir_model_get_resident_bytes (model);
  self->process_resident_bytes = kvasir_process_get_resident_bytes ();
  self->next_resident_us = now_us + RESIDENT_INTERVAL_US;
}

static void
publish (KvasirWorker *self, KvasirViews views)
{
  gint64 start_us = g_get_monotonic_time ();
  if (views & KVASIR_VIEW_MEMORY)
    update_resident (self, start_us);
  KvasirSnapshotSpec spec = {
    .views = views,
    .sequence = ++self->n_snapshots,
    .model_id = self->model_id,
    .step = self->step,
    .device = self->device,
    .planned = self->planned,
    .weights_resident_bytes = self->weights_resident_bytes,
    .process_resident_bytes = self->process_resident_bytes,
  };
  kvasir_mailbox_publish (self->mailbox, kvasir_snapshot_build (self->session, &spec));
  gint64 end_us = g_get_monotonic_time ();
  self->next_snapshot_us =
      end_us + MAX (SNAPSHOT_INTERVAL_US, SNAPSHOT_SHARE * (end_us - start_us));
  self->changed_since = FALSE;
}

void
kvasir_worker_show (KvasirWorker *self, gboolean now)
{
  KvasirViews views = self->views;
  /* What was lost from the log is in the cells. */
  if ((views & KVASIR_VIEW_LOG) && kvasir_mailbox_has_gap (self->mailbox))
    views |= KVASIR_VIEW_CELLS;
  kvasir_mailbox_flush (self->mailbox);
  if ((views & ~KVASIR_VIEW_LOG) == 0 || !self->changed_since)
    return;
  if (now || g_get_monotonic_time () >= self->next_snapshot_us)
    publish (self, views);
}
