/* Running a request: reading the prompt part by part, then writing the answer token by token. */
#include <string.h>

#include "engine/error.h"
#include "engine/session/reasoning.h"
#include "engine/session/session-private.h"

static gboolean
is_stopped (const KvasirSession *self)
{
  return g_atomic_int_get (self->abort_flag) != 0;
}

static gint64
get_elapsed (const KvasirSession *self)
{
  return g_get_monotonic_time () - self->run.start_us;
}

/* A notice with the counts so far. */
static KvasirNotice *
new_counted (const KvasirSession *self, KvasirNoticeKind kind)
{
  const KvasirRun *run = &self->run;
  KvasirNotice *notice = kvasir_session_new_notice (self, kind);
  notice->n_done = run->n_done;
  notice->n_total = run->n_prompt;
  notice->n_reused = run->n_reused;
  notice->n_read = run->n_done - run->n_reused;
  notice->n_generated = run->n_generated;
  notice->n_guessed = run->n_guessed;
  notice->n_right = run->n_right;
  notice->n_kept = run->n_generated;
  notice->us = get_elapsed (self);
  notice->prefill_us = run->prefill_us;
  notice->reasons = run->reasons;
  return notice;
}

/* What of the answer's text is certain only now that it is over; NULL: nothing. */
static char *
dup_held_text (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  GString *text = g_string_new (NULL);
  if (run->stop_texts != NULL)
    kvasir_stop_texts_flush (run->stop_texts, text);
  if (run->detokenizer != NULL)
    kvasir_detokenizer_flush (run->detokenizer, text);
  return g_string_free (text, text->len == 0);
}

static gboolean
finish (KvasirSession *self, KvasirDoneReason reason)
{
  kvasir_session_drop_guesses (self);
  KvasirNotice *notice = new_counted (self, KVASIR_NOTICE_DONE);
  notice->reason = reason;
  if (reason == KVASIR_DONE_REFUSED)
    kvasir_answer_form_explain (self->run.form, &notice->error);
  if (reason == KVASIR_DONE_STOP_TEXT)
    notice->n_kept = kvasir_stop_texts_count_kept (self->run.stop_texts);
  else
    notice->text = dup_held_text (self);
  kvasir_session_post (self, notice);
  kvasir_session_run_clear (&self->run);
  return FALSE;
}

/* (transfer full) error */
static gboolean
fail (KvasirSession *self, GError *error)
{
  kvasir_session_drop_guesses (self);
  KvasirNotice *notice = new_counted (self, KVASIR_NOTICE_FAILED);
  KvasirEvent event = { .type = KVASIR_EVENT_ERROR, .seq = self->run.seq };
  g_strlcpy (event.text, error->message, sizeof event.text);
  kvasir_session_emit (self, &event, NULL, 0);
  notice->error = error;
  notice->text = dup_held_text (self);
  if (error->code == KVASIR_ENGINE_ERROR_NO_ROOM)
    {
      notice->n_needed = self->run.n_prompt - self->run.n_done;
      notice->n_free =
          kvasir_memory_get_room (self->memory, (gint) self->run.seq, notice->n_needed).n_free;
    }
  kvasir_session_post (self, notice);
  kvasir_session_run_clear (&self->run);
  return FALSE;
}

/* ---- starting */

/* Behind what is known of the sequence's messages. */
static void
append_runs (KvasirSession *self, const KvasirPrompt *prompt)
{
  const GArray *known = kvasir_seq_table_get (self->seqs, self->run.seq)->runs;
  gint32 from = 0;
  if (known->len > 0)
    {
      const KvasirMessageRun *last = &g_array_index (known, KvasirMessageRun, known->len - 1);
      from = last->pos + last->n;
    }
  for (guint i = 0; i < prompt->runs->len; i++)
    {
      KvasirMessageRun run = g_array_index (prompt->runs, KvasirMessageRun, i);
      gint32 skip = MAX (from - run.pos, 0);
      run.pos += skip;
      run.n -= skip;
      run.seq = self->run.seq;
      if (run.n > 0)
        kvasir_seq_table_append (self->seqs, &run);
    }
}

/* Where the text of the request's last message begins: a text that is edited parts from it there.
 */
static guint
find_last_message (const KvasirRun *run)
{
  const GPtrArray *messages = run->request->messages;
  const KvasirMessage *last = g_ptr_array_index (messages, messages->len - 1);
  for (guint i = 0; i < run->prompt.runs->len; i++)
    {
      const KvasirMessageRun *part = &g_array_index (run->prompt.runs, KvasirMessageRun, i);
      if (part->role != KVASIR_ROLE_TEMPLATE && part->message_id == last->id)
        return (guint) part->pos;
    }
  return 0;
}

/* What stands in the cells is then not quite what was written. */
static void
tell_of_form (KvasirSession *self, KvasirPromptForm form)
{
  KvasirEvent event = { .type = KVASIR_EVENT_NOTE };

  if (form == KVASIR_PROMPT_AS_IS)
    return;
  g_strlcpy (event.text,
             form == KVASIR_PROMPT_FOLDED ? "chat refused by the template: roles folded"
                                          : "chat refused by the template: ChatML instead",
             sizeof event.text);
  kvasir_session_emit (self, &event, NULL, 0);
}

/* A form begins with the answer, or behind the reasoning that the template opened: its words behind
 * the last message tell. */
static void
begin_answer (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  const GArray *runs = run->prompt.runs;
  const KvasirMessageRun *last = &g_array_index (runs, KvasirMessageRun, runs->len - 1);
  guint n = last->role == KVASIR_ROLE_TEMPLATE ? (guint) last->n : 0;
  const gint32 *lead = &g_array_index (run->prompt.tokens, gint32, run->n_prompt - n);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    kvasir_vocab_append_token (self->vocab, lead[i], TRUE, text);
  run->reasons = kvasir_reasoning_find_awaited (text) != NULL;
  if (run->form == NULL)
    return;
  kvasir_answer_form_begin (run->form, text);
  kvasir_sampler_set_filter (run->sampler, kvasir_answer_form_get_filter (run->form));
}

static void
begin (KvasirSession *self, KvasirSessionPlan *plan, gint seq, guint n_shared)
{
  KvasirRun *run = &self->run;
  const KvasirRequest *request = run->request;
  const KvasirMessage *last = g_ptr_array_index (request->messages, request->messages->len - 1);

  run->prompt = plan->prompt;
  plan->prompt = (KvasirPrompt){ NULL };
  run->seq = seq;
  run->n_prompt = run->prompt.tokens->len;
  run->n_reused = n_shared;
  run->n_done = n_shared;
  run->pos = (gint32) n_shared;
  run->message_at = find_last_message (run);
  run->text = g_array_sized_new (FALSE, FALSE, sizeof (gint32), MAX (self->n_cells, run->n_prompt));
  g_array_append_vals (run->text, run->prompt.tokens->data, run->n_prompt);
  if (self->guesser != NULL)
    kvasir_guesser_begin (self->guesser);
  run->detokenizer = kvasir_detokenizer_new (self->vocab);
  run->stop_texts = kvasir_stop_texts_new (request->texts.stops);
  run->sampler =
      kvasir_sampling_texts_make_sampler (&request->texts, &request->sampling, self->vocab);
  for (guint i = 0; i < run->n_prompt; i++)
    kvasir_sampler_accept (run->sampler, g_array_index (run->prompt.tokens, gint32, i));
  begin_answer (self);
  kvasir_seq_table_claim (self->seqs, seq, request->chat_id, last->id);
  append_runs (self, &run->prompt);
}

gboolean
kvasir_session_start (KvasirSession *self, guint64 request_id, KvasirRequest *request)
{
  g_return_val_if_fail (self->run.request == NULL, FALSE);

  KvasirSessionPlan plan;
  GError *error = NULL;
  guint n_shared = 0;
  self->run = (KvasirRun){
    .request_id = request_id,
    .request = request,
    .seq = -1,
    .start_us = g_get_monotonic_time (),
  };
  if (!kvasir_answer_form_make (&self->run.form, &request->texts, self->vocab, &self->trie,
                                &error) ||
      !kvasir_session_plan (self, request, &plan, &error))
    return fail (self, error);
  gint seq = kvasir_session_prepare (self, request, &plan, &n_shared, &error);
  if (seq < 0)
    {
      KvasirNotice *notice = new_counted (self, KVASIR_NOTICE_FAILED);
      notice->error = error;
      notice->n_total = plan.prompt.tokens->len;
      notice->n_reused = plan.n_shared;
      notice->n_needed = plan.n_needed;
      notice->n_free = plan.n_free;
      kvasir_session_plan_clear (&plan);
      kvasir_session_post (self, notice);
      kvasir_session_run_clear (&self->run);
      return FALSE;
    }
  tell_of_form (self, plan.prompt.form);
  begin (self, &plan, seq, n_shared);
  kvasir_session_plan_clear (&plan);
  kvasir_session_post (self, new_counted (self, KVASIR_NOTICE_READING));
  return TRUE;
}

void
kvasir_session_stop (KvasirSession *self)
{
  if (self->run.request != NULL)
    finish (self, KVASIR_DONE_STOPPED);
}

/* ---- decoding */

/* @n tokens of the run's sequence from its position on, with the rows of the last @n_rows; all but
 * the first of these are guesses. Where no cell is left, chats that were used longer ago give
 * theirs, but not for guesses. */
static KvasirDecode
decode (KvasirSession *self, const gint32 *tokens, guint n, guint n_rows, GError **error)
{
  KvasirRun *run = &self->run;
  const guint n_known = n - (n_rows > 0 ? n_rows - 1 : 0);
  KvasirBatch batch = {
    .n_tokens = n,
    .tokens = tokens,
    .pos = self->batch_pos,
    .seqs = self->batch_seqs,
    .n_seqs = self->batch_n_seqs,
    .outputs = self->batch_outputs,
  };
  for (guint i = 0; i < n; i++)
    self->batch_pos[i] = run->pos + (gint32) i;
  memset (self->batch_outputs + n - n_rows, TRUE, n_rows);
  KvasirDecode code = kvasir_context_decode (self->context, &batch, error);
  while (code == KVASIR_DECODE_NO_ROOM && n_known == n && !self->has_streams &&
         kvasir_session_evict_oldest (self, run->request->chat_id))
    {
      g_clear_error (error);
      code = kvasir_context_decode (self->context, &batch, error);
    }
  memset (self->batch_outputs + n - n_rows, FALSE, n_rows);
  if (code == KVASIR_DECODE_OK)
    {
      if (!self->has_cells)
        kvasir_seq_table_note_tokens (self->seqs, run->seq, run->pos, tokens, n_known);
      run->pos += (gint32) n_known;
      run->logits_index = n_known - 1;
    }
  else
    /* What was taken back has left no batch to ask the memory about. */
    kvasir_mask_tap_invalidate (self->mask_tap);
  return code;
}

/* How a request ends after a decode that did not succeed. (transfer full) error */
static gboolean
finish_by_code (KvasirSession *self, KvasirDecode code, GError *error)
{
  if (code == KVASIR_DECODE_ABORTED)
    {
      g_clear_error (&error);
      return finish (self, KVASIR_DONE_STOPPED);
    }
  if (code == KVASIR_DECODE_NO_ROOM && self->run.n_generated > 0)
    {
      g_clear_error (&error);
      return finish (self, KVASIR_DONE_NO_ROOM);
    }
  return fail (self, error);
}

/* Where reading stops next, for a checkpoint: before the last message, to which an edit goes back,
 * and before the last token, to which another answer does. */
static guint
get_next_stop (const KvasirSession *self)
{
  const KvasirRun *run = &self->run;
  if (!self->forgets)
    return run->n_prompt;
  if (run->n_done < run->message_at)
    return run->message_at;
  return run->n_done + 1 < run->n_prompt ? run->n_prompt - 1 : run->n_prompt;
}

static gboolean
read_part (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  GError *error = NULL;
  const guint stop = get_next_stop (self);
  guint n = MIN (stop - run->n_done, self->n_ubatch);
  gboolean last = run->n_done + n == run->n_prompt;
  KvasirDecode code = decode (self, &g_array_index (run->prompt.tokens, gint32, run->n_done), n,
                              last ? 1 : 0, &error);
  if (code != KVASIR_DECODE_OK)
    return finish_by_code (self, code, error);

  run->n_done += n;
  if (self->forgets && run->n_done == stop && !last)
    kvasir_session_keep_checkpoint (self, stop);
  if (self->guesser != NULL)
    kvasir_guesser_follow (self->guesser, (const gint32 *) (gpointer) run->text->data, run->n_done);
  kvasir_session_post (self, new_counted (self, KVASIR_NOTICE_READING));
  if (last)
    {
      run->prefill_us = get_elapsed (self);
      run->start_us = g_get_monotonic_time ();
    }
  return TRUE;
}

/* ---- writing */

static void
emit_sample (KvasirSession *self, const KvasirSample *sample)
{
  gint32 data[2 * KVASIR_SAMPLER_N_ALTERNATIVES];
  KvasirEvent event = {
    .type = KVASIR_EVENT_SAMPLE,
    .seq = self->run.seq,
    .pos = self->run.pos,
    .a = sample->id,
  };
  for (guint i = 0; i < sample->n_alternatives; i++)
    {
      data[2 * i] = sample->alternatives[i].id;
      data[2 * i + 1] = (gint32) (sample->alternatives[i].p_before * 1e6f + 0.5f);
    }
  kvasir_session_emit (self, &event, data, 2 * sample->n_alternatives);
}

/* Cells that gave no numbers would do so for every token after them: what this request has read
 * leaves the cells. */
static gboolean
fail_numbers (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  kvasir_session_drop_guesses (self);
  gint32 from = kvasir_memory_get_rewind (self->memory, run->seq, (gint32) run->n_reused);
  kvasir_memory_seq_rm (self->memory, run->seq, from, -1);
  kvasir_seq_table_erase (self->seqs, run->seq, from, G_MAXINT32);
  return fail (self, g_error_new (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_COMPUTE,
                                  "The model gave no usable number for any token after position %d",
                                  run->pos - 1));
}

/* Control tokens have no text but those around reasoning, which nobody could find without. */
static void
push_token (const KvasirSession *self, gint32 id, GString *out)
{
  g_autoptr (GString) mark = NULL;

  kvasir_detokenizer_push (self->run.detokenizer, id, out);
  if (!kvasir_vocab_is_control (self->vocab, id))
    return;
  mark = g_string_new (NULL);
  kvasir_vocab_append_token (self->vocab, id, TRUE, mark);
  if (!kvasir_reasoning_is_mark (mark->str))
    return;
  kvasir_detokenizer_flush (self->run.detokenizer, out);
  g_string_append (out, mark->str);
}

/* Appends what @id makes certain of the answer's text. TRUE: it ends there. */
static gboolean
push_text (const KvasirSession *self, gint32 id, GString *out)
{
  const KvasirRun *run = &self->run;

  if (run->stop_texts == NULL)
    {
      push_token (self, id, out);
      return FALSE;
    }
  g_autoptr (GString) text = g_string_new (NULL);
  push_token (self, id, text);
  return kvasir_stop_texts_push (run->stop_texts, text->str, out);
}

/* TRUE: it completes a stop text. */
static gboolean
tell_token (KvasirSession *self, const KvasirSample *sample)
{
  KvasirRun *run = &self->run;
  const KvasirMessageRun message = {
    .seq = run->seq,
    .pos = run->pos,
    .n = 1,
    .message_id = run->request->answer_id,
    .role = KVASIR_ROLE_ASSISTANT,
  };
  GString *text = g_string_new (NULL);
  if (run->n_generated == 0)
    kvasir_seq_table_claim (self->seqs, run->seq, run->request->chat_id, message.message_id);
  kvasir_seq_table_append (self->seqs, &message);
  g_array_append_val (run->text, sample->id);
  run->n_generated++;
  gboolean stops = push_text (self, sample->id, text);
  KvasirNotice *notice = new_counted (self, KVASIR_NOTICE_TOKEN);
  notice->token = sample->id;
  notice->sample = *sample;
  notice->text = g_string_free (text, FALSE);
  kvasir_session_post (self, notice);
  return stops;
}

/* The token told last, and with it what may follow. */
static KvasirDecode
decode_told (KvasirSession *self, gint32 id, GError **error)
{
  gint32 tokens[1 + KVASIR_MAX_GUESSES] = { id };
  guint n = kvasir_session_guess (self, tokens + 1);
  const gint64 start = g_get_monotonic_time ();
  KvasirDecode code = decode (self, tokens, 1 + n, 1 + n, error);

  if (code == KVASIR_DECODE_NO_ROOM && n > 0)
    {
      g_clear_error (error);
      n = 0;
      code = decode (self, tokens, 1, 1, error);
    }
  if (code == KVASIR_DECODE_OK)
    kvasir_session_note_guesses (self, tokens + 1, n, g_get_monotonic_time () - start);
  return code;
}

/* A token is told before it is decoded: it is on the screen while the next one is computed. One
 * that was guessed has been decoded already. */
static gboolean
write_token (KvasirSession *self)
{
  KvasirRun *run = &self->run;
  GError *error = NULL;
  KvasirSample sample;
  kvasir_sampler_sample (
      run->sampler, kvasir_context_get_logits_of_token (self->context, run->logits_index), &sample);
  if (sample.id < 0 && sample.filtered)
    return finish (self, KVASIR_DONE_REFUSED);
  if (sample.id < 0)
    return fail_numbers (self);
  emit_sample (self, &sample);
  if (kvasir_vocab_is_eog (self->vocab, sample.id))
    return finish (self, KVASIR_DONE_END);

  kvasir_sampler_accept (run->sampler, sample.id);
  gboolean guessed = kvasir_session_check_guess (self, sample.id);
  if (tell_token (self, &sample))
    return finish (self, KVASIR_DONE_STOP_TEXT);
  if (run->request->max_tokens > 0 && run->n_generated >= run->request->max_tokens)
    return finish (self, KVASIR_DONE_LENGTH);
  if (guessed)
    {
      kvasir_session_keep_guess (self);
      return TRUE;
    }
  KvasirDecode code = decode_told (self, sample.id, &error);
  return code == KVASIR_DECODE_OK || finish_by_code (self, code, error);
}

gboolean
kvasir_session_step (KvasirSession *self)
{
  g_return_val_if_fail (self->run.request != NULL, FALSE);

  if (is_stopped (self))
    return finish (self, KVASIR_DONE_STOPPED);
  if (self->run.n_done < self->run.n_prompt)
    return read_part (self);
  return write_token (self);
}
