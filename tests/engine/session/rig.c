#include "rig.h"

#include <glib/gstdio.h>
#include <string.h>

#include "backends/cpu/cpu.h"

static void
post_cb (KvasirNotice *notice, gpointer user_data)
{
  Rig *self = user_data;
  g_ptr_array_add (self->notices, notice);
}

static void
emit_cb (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data)
{
  Rig *self = user_data;
  g_array_append_val (self->events, *event);
  if (event->type == KVASIR_EVENT_STEP_BEGIN && event->step == self->stop_in_step)
    self->abort_flag = 1;
}

static void
ubatch_done_cb (gpointer user_data)
{
  Rig *self = user_data;
  if (++self->n_ubatches == self->stop_after_ubatches)
    self->abort_flag = 1;
}

static void
notice_free (gpointer data)
{
  kvasir_notice_free (data);
}

char *
rig_get_model_path (void)
{
  return g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
}

char *
rig_write_changed (const char *from, const char *to, gsize len)
{
  GError *error = NULL;
  g_autofree char *source = rig_get_model_path ();
  g_autofree char *bytes = NULL;
  char *path = NULL;
  gsize n_bytes;
  g_file_get_contents (source, &bytes, &n_bytes, &error);
  g_assert_no_error (error);
  char *place = from != NULL ? memmem (bytes, n_bytes, from, len) : bytes + n_bytes - len;
  g_assert_nonnull (place);
  memcpy (place, to, len);
  gint fd = g_file_open_tmp ("kvasir-XXXXXX.gguf", &path, &error);
  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, bytes, (gssize) n_bytes, &error);
  g_assert_no_error (error);
  return path;
}

Rig *
rig_new_for (const char *path, const RigParams *params)
{
  GError *error = NULL;
  Rig *self = g_new0 (Rig, 1);
  KvasirCpuOptions options = { .isa = KVASIR_CPU_ISA_SCALAR, .n_threads = 1 };
  self->device = kvasir_cpu_device_new (&options);
  self->notices = g_ptr_array_new_with_free_func (notice_free);
  self->events = g_array_new (FALSE, FALSE, sizeof (KvasirEvent));

  KvasirModelParams model_params = { .device = self->device };
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &model_params, &error);
  g_assert_no_error (error);
  KvasirContextParams context_params;
  kvasir_context_params_init (&context_params);
  context_params.n_ctx = params->n_ctx;
  context_params.n_seq_max = params->n_seq_max;
  context_params.n_ubatch = params->n_ubatch;
  context_params.kv_unified = !params->streams;
  if (params->exact)
    context_params.type_k = context_params.type_v = KVASIR_TYPE_F32;
  if (params->coarse)
    context_params.type_k = context_params.type_v = KVASIR_TYPE_Q8_0;
  context_params.n_rs_seq = params->n_rs_seq;
  KvasirContext *context = kvasir_context_new (model, &context_params, &error);
  g_assert_no_error (error);
  KvasirEventSink sink = { emit_cb, self };
  kvasir_context_set_sink (context, &sink);
  KvasirSessionHooks hooks = { post_cb, emit_cb, ubatch_done_cb, self };
  self->memory = kvasir_context_get_memory (context);
  self->session = kvasir_session_new (context, &self->abort_flag, &hooks);
  return self;
}

Rig *
rig_new (const RigParams *params)
{
  g_autofree char *path = rig_get_model_path ();
  return rig_new_for (path, params);
}

void
rig_free (Rig *self)
{
  kvasir_session_free (self->session);
  self->device->vtable->free (self->device);
  g_ptr_array_unref (self->notices);
  g_array_unref (self->events);
  g_free (self);
}

KvasirRequest *
rig_new_request (guint64 chat_id, guint64 answer_id, guint max_tokens)
{
  KvasirRequest *request = kvasir_request_new (chat_id, answer_id);
  request->sampling.temperature = 0.0f;
  request->max_tokens = max_tokens;
  return request;
}

void
rig_add_user (KvasirRequest *request, guint64 id, const char *text)
{
  g_ptr_array_add (request->messages, kvasir_message_new (id, KVASIR_ROLE_USER, text));
}

void
rig_add_answer (KvasirRequest *request, guint64 id, const Answer *answer)
{
  KvasirMessage *message = kvasir_message_new (id, KVASIR_ROLE_ASSISTANT, answer->text->str);
  message->n_tokens = answer->tokens->len;
  message->tokens = g_memdup2 (answer->tokens->data, answer->tokens->len * sizeof (gint32));
  g_ptr_array_add (request->messages, message);
}

static void
collect (Rig *self, Answer *answer)
{
  guint n_ends = 0;
  for (guint i = 0; i < self->notices->len; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (self->notices, i);
      if (notice->kind == KVASIR_NOTICE_TOKEN)
        {
          g_array_append_val (answer->tokens, notice->token);
          g_string_append (answer->text, notice->text);
        }
      if (notice->kind != KVASIR_NOTICE_DONE && notice->kind != KVASIR_NOTICE_FAILED)
        continue;
      n_ends++;
      answer->end = *notice;
      answer->end.text = NULL;
      answer->end.error = NULL;
      answer->error_code = notice->error != NULL ? notice->error->code : -1;
      if (notice->text != NULL)
        g_string_append (answer->text, notice->text);
    }
  g_assert_cmpuint (n_ends, ==, 1);
}

Answer *
rig_run (Rig *self, KvasirRequest *request, guint max_steps)
{
  Answer *answer = g_new0 (Answer, 1);
  answer->tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  answer->text = g_string_new (NULL);
  g_ptr_array_set_size (self->notices, 0);
  g_array_set_size (self->events, 0);
  self->n_ubatches = 0;

  guint n_steps = 0;
  gboolean runs = kvasir_session_start (self->session, 77, request);
  while (runs)
    {
      if (max_steps > 0 && n_steps++ == max_steps)
        self->abort_flag = 1;
      runs = kvasir_session_step (self->session);
    }
  self->abort_flag = 0;
  g_assert_cmpuint (kvasir_session_get_request (self->session), ==, 0);
  collect (self, answer);
  return answer;
}

void
answer_free (Answer *self)
{
  g_array_unref (self->tokens);
  g_string_free (self->text, TRUE);
  g_free (self);
}

GArray *
rig_dup_tokens (Rig *self, gint seq)
{
  guint n = (guint) (kvasir_memory_seq_pos_max (self->memory, seq) + 1);
  GArray *tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_array_set_size (tokens, n);
  for (guint i = 0; i < n; i++)
    g_array_index (tokens, gint32, i) = -1;
  for (guint i = 0; i < kvasir_memory_get_size (self->memory, 0); i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      if (cell.pos < 0 || !kvasir_seq_set_has (&cell.seqs, (guint) seq))
        continue;
      g_assert_cmpint (g_array_index (tokens, gint32, cell.pos), ==, -1);
      g_array_index (tokens, gint32, cell.pos) = cell.token;
    }
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (g_array_index (tokens, gint32, i), >=, 0);
  return tokens;
}

GBytes *
rig_dump_cells (Rig *self)
{
  guint n = kvasir_memory_get_size (self->memory, 0);
  KvasirCell *cells = g_new0 (KvasirCell, n);
  for (guint i = 0; i < n; i++)
    kvasir_memory_get_cell (self->memory, 0, 0, i, &cells[i]);
  return g_bytes_new_take (cells, n * sizeof *cells);
}

guint
rig_count_notices (Rig *self, KvasirNoticeKind kind)
{
  guint n = 0;
  for (guint i = 0; i < self->notices->len; i++)
    n += ((const KvasirNotice *) g_ptr_array_index (self->notices, i))->kind == kind;
  return n;
}

const KvasirNotice *
rig_find_notice (Rig *self, KvasirNoticeKind kind)
{
  for (guint i = 0; i < self->notices->len; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (self->notices, i);
      if (notice->kind == kind)
        return notice;
    }
  return NULL;
}

guint
rig_count_events (Rig *self, KvasirEventType type)
{
  guint n = 0;
  for (guint i = 0; i < self->events->len; i++)
    n += g_array_index (self->events, KvasirEvent, i).type == type;
  return n;
}

GArray *
rig_dup_prompt (Rig *self, const KvasirRequest *request)
{
  GError *error = NULL;
  KvasirPrompt prompt;
  KvasirModel *model = kvasir_context_get_model (kvasir_session_get_context (self->session));
  kvasir_prompt_build (&prompt, kvasir_model_get_vocab (model),
                       kvasir_model_get_template (model, NULL), request, &error);
  g_assert_no_error (error);
  GArray *tokens = g_array_ref (prompt.tokens);
  kvasir_prompt_clear (&prompt);
  return tokens;
}
