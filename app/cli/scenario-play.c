/* What each operation does. */
#include "app/cli/scenario.h"

#include <math.h>

#include "engine/error.h"
#include "engine/sampling/sampler.h"
#include "engine/vocab/utf8.h"

static void
free_saved (gpointer bytes)
{
  g_byte_array_unref (bytes);
}

/* A batch as the context wants it: every token with its own list of sequences. */
typedef struct
{
  KvasirBatch batch;
  const gint32 **seqs; /* (owned) [n_tokens] */
} BatchLists;

static void
batch_lists_clear (BatchLists *self)
{
  g_free (self->seqs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (BatchLists, batch_lists_clear)

static void
batch_lists_init (
    BatchLists *self, const gint32 *tokens, guint n, const gint32 *ids, const guint *n_seqs)
{
  self->batch = (KvasirBatch){ .n_tokens = n, .tokens = tokens };
  self->seqs = g_new (const gint32 *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      self->seqs[i] = ids;
      ids += n_seqs[i];
    }
  /* An empty list has no address. */
  self->batch.seqs = n > 0 ? self->seqs : NULL;
  self->batch.n_seqs = n > 0 ? n_seqs : NULL;
}

/* Keeps the best id of the last row of every sequence, which a generate goes on from. */
static void
note_best (KvasirPlayer *self, const KvasirBatch *batch)
{
  const guint n_vocab = kvasir_model_get_info (self->model)->n_vocab;

  for (guint i = 0; i < batch->n_tokens; i++)
    {
      const float *logits = kvasir_context_get_logits_of_token (self->context, i);
      if (logits == NULL)
        continue;
      gint32 best = kvasir_sampler_argmax (logits, n_vocab);
      for (guint s = 0; s < batch->n_seqs[i]; s++)
        self->best[batch->seqs[i][s]] = best;
    }
}

static KvasirDecode
decode (KvasirPlayer *self, const KvasirBatch *batch)
{
  KvasirDecode code = kvasir_context_decode (self->context, batch, NULL);
  if (code == KVASIR_DECODE_OK)
    note_best (self, batch);
  return code;
}

static json_t *
play_decode (KvasirPlayer *self, const KvasirScenarioOp *op)
{
  g_auto (BatchLists) lists = { 0 };

  batch_lists_init (&lists, (const gint32 *) (gpointer) op->tokens->data, op->tokens->len,
                    (const gint32 *) (gpointer) op->seq_ids->data,
                    (const guint *) (gpointer) op->n_seqs->data);
  if (op->pos != NULL)
    lists.batch.pos = (const gint32 *) (gpointer) op->pos->data;
  if (op->outputs != NULL)
    lists.batch.outputs = (const guint8 *) op->outputs->data;
  return json_integer (decode (self, &lists.batch));
}

/* Tokens of one sequence; every row is asked for where @all_rows. */
static KvasirDecode
decode_tokens (KvasirPlayer *self, const gint32 *tokens, guint n, gint32 seq, gboolean all_rows)
{
  g_auto (BatchLists) lists = { 0 };
  g_autofree guint *n_seqs = g_new (guint, n);
  g_autofree gint32 *ids = g_new (gint32, n);
  g_autofree guint8 *outputs = g_new (guint8, n);

  for (guint i = 0; i < n; i++)
    {
      n_seqs[i] = 1;
      ids[i] = seq;
      outputs[i] = 1;
    }
  batch_lists_init (&lists, tokens, n, ids, n_seqs);
  lists.batch.outputs = all_rows ? outputs : NULL;
  return decode (self, &lists.batch);
}

static gboolean
play_generate (KvasirPlayer *self, const KvasirScenarioOp *op, json_t **ret, GError **error)
{
  const KvasirVocab *vocab = kvasir_model_get_vocab (self->model);

  if (self->best[op->seq] < 0)
    return kvasir_scenario_fail (self->scenario, op->line, "seq", error,
                                 "a sequence with logits expected, none were asked for in %d",
                                 op->seq);
  *ret = json_array ();
  for (gint32 i = 0; i < op->n; i++)
    {
      const gint32 id = self->best[op->seq];
      json_array_append_new (*ret, json_integer (id));
      if (kvasir_vocab_is_eog (vocab, id) ||
          decode_tokens (self, &id, 1, op->seq, FALSE) != KVASIR_DECODE_OK)
        break;
    }
  return TRUE;
}

/* Negative log-likelihood of @id by a row of logits. An id outside the vocabulary counts as none:
 * the decode that it belongs to will refuse it. */
static double
get_surprise (const float *logits, guint n_vocab, gint32 id)
{
  double best = -INFINITY, sum = 0;

  if (id < 0 || (guint) id >= n_vocab)
    return 0;
  for (guint i = 0; i < n_vocab; i++)
    best = MAX (best, (double) logits[i]);
  for (guint i = 0; i < n_vocab; i++)
    sum += exp ((double) logits[i] - best);
  return best + log (sum) - (double) logits[id];
}

static json_t *
play_score (KvasirPlayer *self, const KvasirScenarioOp *op)
{
  const guint n_vocab = kvasir_model_get_info (self->model)->n_vocab;
  const guint n_batch = kvasir_context_get_params (self->context)->n_batch;
  const gint32 *tokens = (const gint32 *) (gpointer) op->tokens->data;
  const guint n_tokens = op->tokens->len;
  double sum = 0;

  for (guint at = 0; at < n_tokens; at += n_batch)
    {
      const guint n = MIN (n_batch, n_tokens - at);
      if (decode_tokens (self, tokens + at, n, op->seq, TRUE) != KVASIR_DECODE_OK)
        return json_null ();
      for (guint i = 0; i < n && at + i + 1 < n_tokens; i++)
        sum += get_surprise (kvasir_context_get_logits_of_token (self->context, i), n_vocab,
                             tokens[at + i + 1]);
    }
  return n_tokens < 2 ? json_null () : kvasir_cli_json_real (sum / (n_tokens - 1));
}

static json_t *
play_save (KvasirPlayer *self, const KvasirScenarioOp *op, char **message)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  kvasir_context_update (self->context);
  if (!kvasir_memory_state_write (self->memory, op->seq, op->partial, bytes, &error))
    {
      *message = g_strdup (error->message);
      return json_null ();
    }
  g_hash_table_replace (self->saved, g_strdup (op->text), g_byte_array_ref (bytes));
  /* A plain cache has no part that forgets; what is written then is the envelope alone. */
  if (op->partial && kvasir_memory_get_class (self->memory) == KVASIR_MEMORY_KV)
    return json_integer (0);
  return json_integer (bytes->len);
}

static gboolean
play_load (KvasirPlayer *self, const KvasirScenarioOp *op, json_t **ret, GError **error)
{
  const GByteArray *bytes = g_hash_table_lookup (self->saved, op->text);

  if (bytes == NULL)
    return kvasir_scenario_fail (self->scenario, op->line, "from", error,
                                 "a name that was saved before expected, \"%s\" found", op->text);
  *ret = json_boolean (
      kvasir_memory_state_read (self->memory, op->seq, op->partial, bytes->data, bytes->len, NULL));
  return TRUE;
}

static json_t *
play_tokenize (KvasirPlayer *self, const KvasirScenarioOp *op, char **message)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;
  json_t *ret;

  if (!kvasir_vocab_tokenize (kvasir_model_get_vocab (self->model), op->text, (gssize) op->text_len,
                              op->add_special, op->parse_special, ids, &error))
    {
      *message = g_strdup (error->message);
      return json_string ("unsupported");
    }
  ret = json_array ();
  for (guint i = 0; i < ids->len; i++)
    json_array_append_new (ret, json_integer (g_array_index (ids, gint32, i)));
  return ret;
}

static json_t *
play_detokenize (KvasirPlayer *self, const KvasirScenarioOp *op)
{
  g_autoptr (GString) bytes = g_string_new (NULL), text = g_string_new (NULL);

  kvasir_vocab_detokenize (kvasir_model_get_vocab (self->model),
                           (const gint32 *) (gpointer) op->tokens->data, op->tokens->len,
                           op->special, bytes);
  kvasir_utf8_append_valid (bytes->str, bytes->len, FALSE, text);
  return json_stringn (text->str, text->len);
}

static const KvasirTemplate *
get_template (KvasirPlayer *self, const KvasirScenarioOp *op, KvasirTemplate **own, GError **error)
{
  if (op->text == NULL)
    return kvasir_model_get_template (self->model, error);
  *own = kvasir_template_new (op->text, (gssize) op->text_len, error);
  return *own;
}

static json_t *
play_template (KvasirPlayer *self, const KvasirScenarioOp *op, char **message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) own = NULL;
  g_autoptr (KvasirRendered) rendered = NULL;
  KvasirTemplateOptions options = { .now = NULL };
  const KvasirTemplate *chat = get_template (self, op, &own, &error);
  json_t *vars = json_object (), *ret;

  json_object_set (vars, "messages", (json_t *) op->messages);
  json_object_set_new (vars, "add_generation_prompt", json_boolean (op->add_generation_prompt));
  json_object_update (vars, (json_t *) op->vars);
  options.now = json_string_value (json_object_get (vars, "now"));
  json_object_del (vars, "now");
  if (chat != NULL)
    rendered = kvasir_template_render (chat, vars, &options, &error);
  json_decref (vars);
  if (rendered == NULL)
    {
      *message = g_strdup (error->message);
      return json_null ();
    }
  ret = json_stringn (rendered->text->str, rendered->text->len);
  return ret != NULL ? ret : json_null ();
}

static json_t *
shift_result (gboolean done)
{
  return done ? json_null () : json_string ("unsupported");
}

static json_t *
play_sequence_op (KvasirPlayer *self, const KvasirScenarioOp *op)
{
  KvasirMemory *memory = self->memory;

  switch (op->kind)
    {
    case KVASIR_OP_KIND_SEQ_RM:
      return json_boolean (kvasir_memory_seq_rm (memory, op->seq, op->p0, op->p1));
    case KVASIR_OP_KIND_SEQ_CP:
      return shift_result (kvasir_memory_seq_cp (memory, op->src, op->dst, op->p0, op->p1));
    case KVASIR_OP_KIND_SEQ_KEEP:
      kvasir_memory_seq_keep (memory, op->seq);
      return json_null ();
    case KVASIR_OP_KIND_SEQ_ADD:
      return shift_result (kvasir_memory_seq_add (memory, op->seq, op->p0, op->p1, op->delta));
    case KVASIR_OP_KIND_SEQ_DIV:
      return shift_result (kvasir_memory_seq_div (memory, op->seq, op->p0, op->p1, op->d));
    case KVASIR_OP_KIND_CLEAR:
      kvasir_memory_clear (memory, op->data);
      return json_null ();
    default:
      return json_boolean (kvasir_context_update (self->context));
    }
}

gboolean
kvasir_player_execute (
    KvasirPlayer *self, const KvasirScenarioOp *op, json_t **ret, char **message, GError **error)
{
  *ret = NULL;
  *message = NULL;
  if (self->saved == NULL)
    self->saved = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_saved);
  switch (op->kind)
    {
    case KVASIR_OP_KIND_TOKENIZE:
      *ret = play_tokenize (self, op, message);
      return TRUE;
    case KVASIR_OP_KIND_DETOKENIZE:
      *ret = play_detokenize (self, op);
      return TRUE;
    case KVASIR_OP_KIND_TEMPLATE:
      *ret = play_template (self, op, message);
      return TRUE;
    default:
      break;
    }
  if (self->memory == NULL || (self->is_encoder && op->kind != KVASIR_OP_KIND_DECODE))
    {
      *ret = json_string ("unsupported");
      return TRUE;
    }
  switch (op->kind)
    {
    case KVASIR_OP_KIND_DECODE:
      *ret = play_decode (self, op);
      return TRUE;
    case KVASIR_OP_KIND_GENERATE:
      return play_generate (self, op, ret, error);
    case KVASIR_OP_KIND_SCORE:
      *ret = play_score (self, op);
      return TRUE;
    case KVASIR_OP_KIND_SAVE:
      *ret = play_save (self, op, message);
      return TRUE;
    case KVASIR_OP_KIND_LOAD:
      return play_load (self, op, ret, error);
    default:
      *ret = play_sequence_op (self, op);
      return TRUE;
    }
}
