#include "tests/engine/session/runner.h"

#include <math.h>
#include <string.h>

KvasirContextParams
runner_make_params (void)
{
  KvasirContextParams params = make_small_params ();

  params.n_ctx = 512;
  params.n_seq_max = RUNNER_N_SEQS;
  params.n_batch = 512;
  params.n_rs_seq = 3;
  return params;
}

static KvasirContext *
make (KvasirModel *model, const KvasirContextParams *params)
{
  g_autoptr (GError) error = NULL;
  KvasirContext *context = kvasir_context_new (model, params, &error);

  g_assert_no_error (error);
  return context;
}

void
runner_init (Runner *self, KvasirModel *model, const KvasirContextParams *params)
{
  *self = (Runner){ .context = make (model, params), .cold = make (model, params) };
  self->memory = kvasir_context_get_memory (self->context);
  self->n_vocab = kvasir_model_get_info (model)->n_vocab;
  self->row = g_new0 (float, self->n_vocab);
  for (guint seq = 0; seq < RUNNER_N_SEQS; seq++)
    self->read[seq] = g_array_new (FALSE, FALSE, sizeof (gint32));
}

void
runner_clear (Runner *self)
{
  kvasir_context_free (self->context);
  kvasir_context_free (self->cold);
  g_free (self->row);
  for (guint seq = 0; seq < RUNNER_N_SEQS; seq++)
    g_array_unref (self->read[seq]);
}

static KvasirDecode
decode (KvasirContext *context, gint seq, const gint32 *tokens, guint n)
{
  g_autofree const gint32 **seqs = g_new (const gint32 *, n);
  g_autofree guint *n_seqs = g_new (guint, n);
  const KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };

  for (guint i = 0; i < n; i++)
    {
      seqs[i] = &seq;
      n_seqs[i] = 1;
    }
  return kvasir_context_decode (context, &batch, NULL);
}

KvasirDecode
runner_read (Runner *self, gint seq, const gint32 *tokens, guint n)
{
  KvasirDecode code = decode (self->context, seq, tokens, n);

  if (code != KVASIR_DECODE_OK)
    return code;
  g_array_append_vals (self->read[seq], tokens, n);
  memcpy (self->row, kvasir_context_get_logits_of_token (self->context, n - 1),
          self->n_vocab * sizeof (float));
  return code;
}

KvasirDecode
runner_read_some (Runner *self, gint seq, guint n, gint32 first)
{
  g_autofree gint32 *tokens = g_new (gint32, n);

  for (guint i = 0; i < n; i++)
    tokens[i] = (first * 7 + (gint32) i * 13) % (gint32) self->n_vocab;
  return runner_read (self, seq, tokens, n);
}

void
runner_forget (Runner *self, gint seq, guint n)
{
  g_assert_cmpuint (n, <=, self->read[seq]->len);
  g_array_set_size (self->read[seq], n);
}

void
runner_copy (Runner *self, gint src, gint dst)
{
  g_array_set_size (self->read[dst], 0);
  g_array_append_vals (self->read[dst], self->read[src]->data, self->read[src]->len);
}

guint
runner_get_n_read (const Runner *self, gint seq)
{
  return self->read[seq]->len;
}

/* As traces are compared: what another order of summation may do, and five times that. */
static void
assert_near (const float *a, const float *b, guint n)
{
  float largest = 0;

  for (guint i = 0; i < n; i++)
    largest = fmaxf (largest, fabsf (b[i]));
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (a[i], b[i], 0.01f + 0.005f * largest);
}

void
runner_compare (Runner *self, gint seq)
{
  const gint32 *tokens = (const gint32 *) (gpointer) self->read[seq]->data;
  guint n = self->read[seq]->len;

  kvasir_memory_clear (kvasir_context_get_memory (self->cold), FALSE);
  g_assert_cmpint (decode (self->cold, 0, tokens, n), ==, KVASIR_DECODE_OK);
  assert_near (self->row, kvasir_context_get_logits_of_token (self->cold, n - 1), self->n_vocab);
}

void
runner_assert_like_cold (Runner *self, gint seq, gint32 token)
{
  g_assert_cmpint (runner_read (self, seq, &token, 1), ==, KVASIR_DECODE_OK);
  runner_compare (self, seq);
}

void
runner_greedy (Runner *self, gint seq, guint n, gint32 *ids)
{
  for (guint i = 0; i < n; i++)
    {
      ids[i] = 0;
      for (guint id = 1; id < self->n_vocab; id++)
        if (self->row[id] > self->row[ids[i]])
          ids[i] = (gint32) id;
      g_assert_cmpint (runner_read (self, seq, &ids[i], 1), ==, KVASIR_DECODE_OK);
    }
}
