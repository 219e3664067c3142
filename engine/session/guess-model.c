#include "engine/session/guess-model.h"

#include <string.h>

#include "engine/error.h"
#include "engine/sampling/sampler.h"

struct _KvasirGuessModel
{
  KvasirContext *context; /* (owned) */
  KvasirMemory *memory;   /* (unowned) */
  guint n_vocab;
  guint n_ubatch;
  GArray *held; /* (owned) of gint32: the tokens at positions 0, 1, ... */
};

KvasirGuessModel *
kvasir_guess_model_new (KvasirContext *context)
{
  g_return_val_if_fail (context != NULL, NULL);

  const KvasirVocab *vocab = kvasir_model_get_vocab (kvasir_context_get_model (context));
  KvasirGuessModel *self = g_new0 (KvasirGuessModel, 1);
  self->context = context;
  self->memory = kvasir_context_get_memory (context);
  self->n_vocab = kvasir_vocab_get_n_tokens (vocab);
  self->n_ubatch = kvasir_context_get_params (context)->n_ubatch;
  self->held =
      g_array_sized_new (FALSE, FALSE, sizeof (gint32), kvasir_context_get_n_ctx_seq (context) + 1);
  return self;
}

void
kvasir_guess_model_free (KvasirGuessModel *self)
{
  if (self == NULL)
    return;
  kvasir_context_free (self->context);
  g_array_unref (self->held);
  g_free (self);
}

static guint
count_common (const KvasirGuessModel *self, const gint32 *text, guint n)
{
  const gint32 *held = (const gint32 *) (gpointer) self->held->data;
  guint common = 0;

  while (common < n && common < self->held->len && held[common] == text[common])
    common++;
  return common;
}

/* What is behind the first @n tokens leaves; a memory that can't go back so far goes back further.
 */
static void
cut (KvasirGuessModel *self, guint n)
{
  if (n >= self->held->len)
    return;
  n = (guint) kvasir_memory_get_rewind (self->memory, 0, (gint32) n);
  if (!kvasir_memory_seq_rm (self->memory, 0, (gint32) n, -1))
    {
      kvasir_memory_clear (self->memory, FALSE);
      n = 0;
    }
  g_array_set_size (self->held, n);
}

/* One more part of the text, with the row after its last token. */
static gboolean
read_part (KvasirGuessModel *self, const gint32 *tokens, guint n)
{
  const KvasirBatch batch = { .n_tokens = n, .tokens = tokens };
  const KvasirDecode code = kvasir_context_decode (self->context, &batch, NULL);

  if (code == KVASIR_DECODE_OK)
    g_array_append_vals (self->held, tokens, n);
  else
    /* What was read of the part before it was stopped stays. */
    g_array_append_vals (
        self->held, tokens,
        (guint) (kvasir_memory_seq_pos_max (self->memory, 0) + 1 - (gint32) self->held->len));
  return code == KVASIR_DECODE_OK;
}

gboolean
kvasir_guess_model_read (KvasirGuessModel *self, const gint32 *text, guint n)
{
  cut (self, count_common (self, text, n));
  while (self->held->len < n)
    {
      const guint at = self->held->len;
      if (!read_part (self, text + at, MIN (n - at, self->n_ubatch)))
        return FALSE;
    }
  return TRUE;
}

static gint32
choose_best (const KvasirGuessModel *self)
{
  return kvasir_sampler_argmax (kvasir_context_get_logits_of_token (self->context, 0),
                                self->n_vocab);
}

guint
kvasir_guess_model_guess (
    KvasirGuessModel *self, const gint32 *text, guint n, guint max, gint32 *guesses)
{
  guint n_guesses = 0;

  /* The last token is read last and alone, for the row after it. */
  if (n == 0 || !kvasir_guess_model_read (self, text, n - 1) || !read_part (self, text + n - 1, 1))
    return 0;
  while (n_guesses < max)
    {
      const gint32 best = choose_best (self);
      if (best < 0)
        break;
      guesses[n_guesses++] = best;
      if (n_guesses < max && !read_part (self, &best, 1))
        break;
    }
  return n_guesses;
}

void
kvasir_guess_model_append_breakdown (const KvasirGuessModel *self, GArray *rows)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  const guint first = rows->len;

  kvasir_context_append_breakdown (self->context, all);
  for (guint i = 0; i < all->len; i++)
    {
      KvasirMemoryRow row = g_array_index (all, KvasirMemoryRow, i);
      guint at = first;
      while (at < rows->len &&
             strcmp (g_array_index (rows, KvasirMemoryRow, at).buffer_type, row.buffer_type) != 0)
        at++;
      row.kind = KVASIR_KIND_GUESSING;
      row.layer = -1;
      if (at == rows->len)
        g_array_append_val (rows, row);
      else
        g_array_index (rows, KvasirMemoryRow, at).n_bytes += row.n_bytes;
    }
}

/* ---- whether it fits */

static gboolean
check_texts (const KvasirVocab *guessing, const KvasirVocab *writing, GError **error)
{
  const gint32 n = (gint32) kvasir_vocab_get_n_tokens (writing);

  for (gint32 id = 0; id < n; id++)
    {
      gsize len_a, len_b;
      const char *a = kvasir_vocab_get_text (guessing, id, &len_a);
      const char *b = kvasir_vocab_get_text (writing, id, &len_b);
      if (len_a == len_b && memcmp (a, b, len_a) == 0)
        continue;
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The model that guesses has another vocabulary: its token %d is \"%.40s\", of "
                   "the model that writes it is \"%.40s\"",
                   id, a, b);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_vocabs (const KvasirVocab *guessing, const KvasirVocab *writing, GError **error)
{
  if (kvasir_vocab_get_kind (guessing) != kvasir_vocab_get_kind (writing))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The model that guesses has another vocabulary: its tokenizer is %s, that of "
                   "the model that writes %s",
                   kvasir_vocab_get_description (guessing), kvasir_vocab_get_description (writing));
      return FALSE;
    }
  if (kvasir_vocab_get_n_tokens (guessing) != kvasir_vocab_get_n_tokens (writing))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The model that guesses has another vocabulary: it has %u tokens, that of the "
                   "model that writes %u",
                   kvasir_vocab_get_n_tokens (guessing), kvasir_vocab_get_n_tokens (writing));
      return FALSE;
    }
  return check_texts (guessing, writing, error);
}

/* How many tokens can be taken back at any time: of states as many as are kept. */
static gboolean
check_memory (KvasirContext *guessing, guint width, GError **error)
{
  const KvasirMemory *memory = kvasir_context_get_memory (guessing);
  const guint n_caches = kvasir_memory_get_n_caches (memory);
  gboolean has_states = FALSE;

  for (guint i = 0; i < n_caches; i++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, i, &info);
      has_states |= info.is_recurrent;
    }
  if (kvasir_memory_get_class (memory) != KVASIR_MEMORY_NONE &&
      (!has_states || kvasir_memory_get_n_keep (memory) >= width))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Models of architecture %s can't guess: no token can be taken back",
               kvasir_model_get_info (kvasir_context_get_model (guessing))->arch);
  return FALSE;
}

gboolean
kvasir_guess_model_check (KvasirContext *guessing,
                          KvasirModel *writing,
                          guint width,
                          GError **error)
{
  return check_memory (guessing, width, error) &&
         check_vocabs (kvasir_model_get_vocab (kvasir_context_get_model (guessing)),
                       kvasir_model_get_vocab (writing), error);
}
