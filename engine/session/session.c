#include "engine/session/session-private.h"

#include "engine/error.h"

/* A chat needs two or three; the states of a large model have some MiB. */
#define MAX_CHECKPOINTS 16
#define MAX_CHECKPOINT_BYTES (128 * 1024 * 1024)

static void
ubatch_done_cb (const KvasirUbatch *ubatch, guint n_done, gpointer user_data)
{
  KvasirSession *self = user_data;
  kvasir_mask_tap_note (self->mask_tap, ubatch);
  if (self->hooks.ubatch_done != NULL)
    self->hooks.ubatch_done (self->hooks.user_data);
}

static void
make_batch (KvasirSession *self)
{
  guint n = kvasir_context_get_params (self->context)->n_ubatch;
  self->n_ubatch = n;
  self->batch_pos = g_new (gint32, n);
  self->batch_seqs = g_new (const gint32 *, n);
  self->batch_n_seqs = g_new (guint, n);
  self->batch_outputs = g_new0 (guint8, n);
  for (guint i = 0; i < n; i++)
    {
      self->batch_seqs[i] = &self->run.seq;
      self->batch_n_seqs[i] = 1;
    }
}

/* Which kinds forget: those with states, and those whose sliding half is smaller than the other. */
static void
look_at_memory (KvasirSession *self)
{
  const guint n_caches = kvasir_memory_get_n_caches (self->memory);
  for (guint i = 0; i < n_caches; i++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (self->memory, i, &info);
      self->has_cells |= !info.is_recurrent;
      self->has_states |= info.is_recurrent;
      self->has_streams |= info.n_streams > 1;
      self->forgets |= info.is_recurrent || (info.n_swa > 0 && info.size < self->n_cells);
    }
}

KvasirSession *
kvasir_session_new (KvasirContext *context, const int *abort_flag, const KvasirSessionHooks *hooks)
{
  g_return_val_if_fail (context != NULL, NULL);
  g_return_val_if_fail (kvasir_context_get_memory (context) != NULL, NULL);

  KvasirSession *self = g_new0 (KvasirSession, 1);
  self->context = context;
  self->memory = kvasir_context_get_memory (context);
  self->vocab = kvasir_model_get_vocab (kvasir_context_get_model (context));
  self->abort_flag = abort_flag;
  self->hooks = *hooks;
  self->n_seqs = kvasir_context_get_params (context)->n_seq_max;
  self->n_cells = kvasir_context_get_n_ctx_seq (context);
  self->checkpoints = kvasir_checkpoints_new (MAX_CHECKPOINTS, MAX_CHECKPOINT_BYTES);
  look_at_memory (self);
  self->seqs = kvasir_seq_table_new (self->n_seqs);
  make_batch (self);
  self->mask_tap = kvasir_mask_tap_new (self->memory, self->n_ubatch);
  if (kvasir_vocab_get_chat_template (self->vocab) == NULL)
    self->fallback = kvasir_template_new (kvasir_prompt_chatml, -1, NULL);
  kvasir_context_set_abort_flag (context, abort_flag);
  kvasir_context_set_ubatch_callback (context, ubatch_done_cb, self);
  return self;
}

void
kvasir_session_run_clear (KvasirRun *run)
{
  g_clear_pointer (&run->request, kvasir_request_free);
  kvasir_prompt_clear (&run->prompt);
  g_clear_pointer (&run->sampler, kvasir_sampler_free);
  g_clear_pointer (&run->form, kvasir_answer_form_free);
  g_clear_pointer (&run->detokenizer, kvasir_detokenizer_free);
  g_clear_pointer (&run->text, g_array_unref);
  g_clear_pointer (&run->stop_texts, kvasir_stop_texts_free);
  *run = (KvasirRun){ 0 };
}

void
kvasir_session_free (KvasirSession *self)
{
  if (self == NULL)
    return;
  kvasir_session_run_clear (&self->run);
  g_clear_pointer (&self->fallback, kvasir_template_free);
  kvasir_token_trie_free (self->trie);
  kvasir_guesser_free (self->guesser);
  kvasir_checkpoints_free (self->checkpoints);
  kvasir_mask_tap_free (self->mask_tap);
  kvasir_seq_table_free (self->seqs);
  g_free (self->batch_pos);
  g_free (self->batch_seqs);
  g_free (self->batch_n_seqs);
  g_free (self->batch_outputs);
  kvasir_context_free (self->context);
  g_free (self);
}

KvasirNotice *
kvasir_session_new_notice (const KvasirSession *self, KvasirNoticeKind kind)
{
  KvasirNotice *notice = g_new0 (KvasirNotice, 1);
  notice->kind = kind;
  notice->request_id = self->run.request_id;
  notice->seq = -1;
  if (self->run.request != NULL)
    {
      notice->chat_id = self->run.request->chat_id;
      notice->message_id = self->run.request->answer_id;
      notice->seq = self->run.seq;
    }
  return notice;
}

void
kvasir_session_post (KvasirSession *self, KvasirNotice *notice)
{
  self->hooks.post (notice, self->hooks.user_data);
}

void
kvasir_session_emit (KvasirSession *self,
                     const KvasirEvent *event,
                     const gint32 *data,
                     guint n_data)
{
  self->hooks.emit (self->hooks.user_data, event, data, n_data);
}

guint64
kvasir_session_get_request (const KvasirSession *self)
{
  return self->run.request_id;
}

guint64
kvasir_session_get_chat (const KvasirSession *self)
{
  return self->run.request != NULL ? self->run.request->chat_id : 0;
}

KvasirContext *
kvasir_session_get_context (const KvasirSession *self)
{
  return self->context;
}

const KvasirSeqTable *
kvasir_session_get_seqs (const KvasirSession *self)
{
  return self->seqs;
}

KvasirMaskTap *
kvasir_session_get_mask_tap (KvasirSession *self)
{
  return self->mask_tap;
}

void
kvasir_session_append_breakdown (const KvasirSession *self, GArray *rows)
{
  const KvasirDevice *device = kvasir_context_get_device (self->context);
  const KvasirMemoryRow row = { device->name, device->host_buffer_type->name,
                                KVASIR_KIND_CHECKPOINTS, -1,
                                kvasir_checkpoints_get_bytes (self->checkpoints) };
  kvasir_context_append_breakdown (self->context, rows);
  if (row.n_bytes > 0)
    g_array_append_val (rows, row);
  if (self->guesser != NULL)
    kvasir_guesser_append_breakdown (self->guesser, rows);
}

void
kvasir_session_emit_checkpoints (KvasirSession *self, gsize n_before)
{
  const KvasirDevice *device = kvasir_context_get_device (self->context);
  KvasirEvent event = {
    .type = KVASIR_EVENT_BUFFER,
    .a = (gint64) kvasir_checkpoints_get_bytes (self->checkpoints) - (gint64) n_before,
    .b = KVASIR_KIND_CHECKPOINTS,
  };
  if (event.a == 0)
    return;
  g_strlcpy (event.text, device->host_buffer_type->name, sizeof event.text);
  kvasir_session_emit (self, &event, NULL, 0);
}

/* 0: of all chats. What was said there must not outlive it. */
static void
drop_checkpoints (KvasirSession *self, guint64 chat_id)
{
  gsize before = kvasir_checkpoints_get_bytes (self->checkpoints);
  kvasir_checkpoints_drop (self->checkpoints, chat_id);
  kvasir_session_emit_checkpoints (self, before);
}

KvasirSeqSet
kvasir_session_get_held (const KvasirSession *self)
{
  KvasirSeqSet held = { { 0 } };
  for (guint i = 0; i < self->n_seqs; i++)
    if (kvasir_memory_seq_pos_max (self->memory, (gint) i) >= 0)
      kvasir_seq_set_add (&held, i);
  return held;
}

void
kvasir_session_drop_seqs (KvasirSession *self, const KvasirSeqSet *seqs)
{
  kvasir_mask_tap_invalidate (self->mask_tap);
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = seq + 1 < (gint) self->n_seqs ? kvasir_seq_set_next (seqs, (guint) seq + 1) : -1)
    {
      kvasir_memory_seq_rm (self->memory, seq, -1, -1);
      kvasir_seq_table_reset (self->seqs, seq);
    }
}

void
kvasir_session_drop_chat (KvasirSession *self, guint64 chat_id)
{
  g_return_if_fail (chat_id != 0);

  if (kvasir_session_get_chat (self) == chat_id)
    kvasir_session_stop (self);
  KvasirSeqSet seqs = kvasir_seq_table_get_seqs (self->seqs, chat_id);
  kvasir_session_drop_seqs (self, &seqs);
  drop_checkpoints (self, chat_id);
}

/* Records of sequences without cells say nothing any more. */
static void
forget_empty (KvasirSession *self)
{
  for (guint i = 0; i < self->n_seqs; i++)
    if (kvasir_memory_seq_pos_max (self->memory, (gint) i) < 0)
      kvasir_seq_table_reset (self->seqs, (gint) i);
}

void
kvasir_session_clear (KvasirSession *self)
{
  g_return_if_fail (self->run.request == NULL);

  kvasir_mask_tap_invalidate (self->mask_tap);
  kvasir_memory_clear (self->memory, TRUE);
  drop_checkpoints (self, 0);
  forget_empty (self);
}

static gboolean
check_seq_op (const KvasirSession *self, const KvasirSeqOp *op, GError **error)
{
  gboolean has_dst = op->kind == KVASIR_SEQ_OP_CP;
  gboolean may_be_all = op->kind == KVASIR_SEQ_OP_RM;
  gint n = (gint) self->n_seqs;
  gint bad = op->seq;
  if (op->seq < n && (op->seq >= 0 || (may_be_all && op->seq == -1)))
    {
      if (!has_dst || (op->dst >= 0 && op->dst < n))
        {
          if (op->kind != KVASIR_SEQ_OP_DIV || op->value > 0)
            return TRUE;
          g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                       "Positions can be divided by 1 or more, not by %d", op->value);
          return FALSE;
        }
      bad = op->dst;
    }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Sequence %d does not exist; there are 0 to %d", bad, n - 1);
  return FALSE;
}

/* Moved positions belong to no message that is known: cells may be shared, and then all their
 * owners moved. */
static void
erase_all (KvasirSession *self, gint32 from)
{
  for (guint i = 0; i < self->n_seqs; i++)
    kvasir_seq_table_erase (self->seqs, (gint) i, from, G_MAXINT32);
}

static gboolean
carry_out (KvasirSession *self, const KvasirSeqOp *op)
{
  switch (op->kind)
    {
    case KVASIR_SEQ_OP_RM:
      return kvasir_memory_seq_rm (self->memory, op->seq, op->p0, op->p1);
    case KVASIR_SEQ_OP_CP:
      return kvasir_memory_seq_cp (self->memory, op->seq, op->dst, op->p0, op->p1);
    case KVASIR_SEQ_OP_KEEP:
      kvasir_memory_seq_keep (self->memory, op->seq);
      return TRUE;
    case KVASIR_SEQ_OP_ADD:
      return kvasir_memory_seq_add (self->memory, op->seq, op->p0, op->p1, op->value);
    case KVASIR_SEQ_OP_DIV:
      return kvasir_memory_seq_div (self->memory, op->seq, op->p0, op->p1, op->value);
    }
  return FALSE;
}

static void
follow_seq_op (KvasirSession *self, const KvasirSeqOp *op)
{
  if (op->kind == KVASIR_SEQ_OP_ADD || op->kind == KVASIR_SEQ_OP_DIV)
    erase_all (self, MAX (op->p0 + MIN (op->value, 0), 0));
  if (op->kind == KVASIR_SEQ_OP_CP && op->seq != op->dst)
    {
      const KvasirSeqRecord *from = kvasir_seq_table_get (self->seqs, op->seq);
      kvasir_seq_table_fork (self->seqs, op->seq, op->dst,
                             kvasir_memory_seq_pos_max (self->memory, op->dst) + 1);
      kvasir_seq_table_claim (self->seqs, op->dst, from->chat_id, from->leaf_id);
    }
  forget_empty (self);
}

/* Why the memory refused, as far as it says. */
static void
set_refused (const KvasirSession *self, const KvasirSeqOp *op, GError **error)
{
  const char *obstacle = kvasir_memory_get_shift_obstacle (self->memory);
  g_autofree char *why = NULL;

  if (op->kind == KVASIR_SEQ_OP_RM && op->seq >= 0)
    why = g_strdup_printf ("it can't go back there, the text must be read again from position %d",
                           kvasir_memory_get_rewind (self->memory, op->seq, MAX (op->p0, 0)));
  else if (op->kind == KVASIR_SEQ_OP_RM)
    why = g_strdup ("only whole sequences can leave it all at once");
  else if (op->kind == KVASIR_SEQ_OP_CP)
    why = g_strdup ("between streams only whole sequences can be copied");
  else
    why = g_strdup (obstacle != NULL ? obstacle : "a position would leave the range");
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "The memory refused the operation on sequence %d, positions %d to %d: %s", op->seq,
               op->p0, op->p1, why);
}

gboolean
kvasir_session_seq_op (KvasirSession *self, const KvasirSeqOp *op, GError **error)
{
  g_return_val_if_fail (self->run.request == NULL, FALSE);

  if (!check_seq_op (self, op, error))
    return FALSE;
  kvasir_mask_tap_invalidate (self->mask_tap);
  if (!carry_out (self, op))
    {
      set_refused (self, op, error);
      return FALSE;
    }
  follow_seq_op (self, op);
  return TRUE;
}

void
kvasir_session_count (KvasirSession *self, guint64 request_id, const KvasirRequest *request)
{
  GError *error = NULL;
  KvasirSessionPlan plan;
  gboolean ok = kvasir_session_plan (self, request, &plan, &error);
  KvasirNotice *notice =
      kvasir_session_new_notice (self, ok ? KVASIR_NOTICE_DRAFT : KVASIR_NOTICE_FAILED);
  notice->request_id = request_id;
  notice->chat_id = request->chat_id;
  notice->message_id = request->answer_id;
  notice->seq = -1;
  notice->error = error;
  if (ok)
    {
      notice->n_draft = plan.prompt.n_of_last;
      notice->n_total = plan.prompt.tokens->len;
      notice->n_reused = plan.n_shared;
      notice->n_needed = plan.n_needed;
      notice->n_free = plan.n_free;
      notice->fits = plan.fits;
      kvasir_session_plan_clear (&plan);
    }
  kvasir_session_post (self, notice);
}
