#include "engine/error.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

static const char tokens_key[] = "tokenizer.ggml.tokens";

/* What a kind of tokenizer takes for granted where the file is silent. */
typedef struct
{
  const char *model; /* the value of tokenizer.ggml.model */
  KvasirVocabKind kind;
  const char *name;
  gint32 bos, eos, unk;
  gboolean add_bos, add_eos;
  gboolean add_space_prefix;
  gboolean cleans_spaces;
  gboolean escapes_spaces;
} Kind;

static const Kind kinds[] = {
  { "llama", KVASIR_VOCAB_SPM, "SPM", 1, 2, 0, TRUE, FALSE, TRUE, FALSE, TRUE },
  { "gpt2", KVASIR_VOCAB_BPE, "BPE", 11, 11, -1, FALSE, FALSE, FALSE, TRUE, FALSE },
  { "gemma4", KVASIR_VOCAB_BPE, "BPE", -1, -1, -1, TRUE, FALSE, FALSE, FALSE, TRUE },
  { "bert", KVASIR_VOCAB_WPM, "WPM", 101, -1, 100, TRUE, FALSE, FALSE, TRUE, TRUE },
  { "t5", KVASIR_VOCAB_UGM, "UGM", -1, 1, 2, FALSE, TRUE, FALSE, FALSE, TRUE },
  { "rwkv", KVASIR_VOCAB_RWKV, "RWKV", -1, -1, -1, FALSE, FALSE, FALSE, FALSE, FALSE },
};

static const Kind no_kind = { "none", KVASIR_VOCAB_NONE, "none", -1, -1, -1 };

gboolean
kvasir_vocab_fail (const KvasirGguf *gguf, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE, "%s: vocabulary: %s",
               kvasir_gguf_get_path (gguf), message);
  return FALSE;
}

gboolean
kvasir_vocab_no_memory (GError **error)
{
  g_set_error_literal (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                       "no memory for the vocabulary's tables");
  return FALSE;
}

/* An array that goes with the tokens. FALSE where it does not fit them; @data is NULL where the
 * file has none. */
static gboolean
get_token_array (const KvasirVocab *self,
                 const KvasirGguf *gguf,
                 const char *key,
                 KvasirGgufType type,
                 const guint8 **data,
                 GError **error)
{
  KvasirGgufType found_type = KVASIR_GGUF_U8;
  guint64 n = 0;

  *data = NULL;
  if (!kvasir_gguf_has_key (gguf, key))
    return TRUE;
  if (!kvasir_gguf_get_array (gguf, key, &found_type, &n) || found_type != type ||
      n != self->n_tokens)
    return kvasir_vocab_fail (
        gguf, error,
        "%s: expected an array of %u values of type %d, found %" G_GUINT64_FORMAT " of type %d",
        key, self->n_tokens, type, n, found_type);
  *data = kvasir_gguf_get_array_data (gguf, key);
  return TRUE;
}

static gboolean
load_flags (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  /* By the file's number of the kind: undefined, normal, unknown, control, user-defined, unused,
   * byte. */
  static const guint16 flags_of_kind[] = { 0,
                                           0,
                                           KVASIR_TOKEN_UNKNOWN,
                                           KVASIR_TOKEN_CONTROL,
                                           KVASIR_TOKEN_USER_DEFINED,
                                           KVASIR_TOKEN_UNUSED,
                                           KVASIR_TOKEN_BYTE };
  const guint8 *data = NULL;

  if (!get_token_array (self, gguf, "tokenizer.ggml.token_type", KVASIR_GGUF_I32, &data, error))
    return FALSE;
  for (gsize i = 0; data && i < self->n_tokens; i++)
    {
      guint32 kind;

      memcpy (&kind, data + i * sizeof kind, sizeof kind);
      kind = GUINT32_FROM_LE (kind);
      if (kind >= G_N_ELEMENTS (flags_of_kind))
        return kvasir_vocab_fail (gguf, error,
                                  "kind of token %" G_GSIZE_FORMAT
                                  ": expected 0 to %d, found %" G_GINT32_FORMAT,
                                  i, (int) G_N_ELEMENTS (flags_of_kind) - 1, (gint32) kind);
      self->flags[i] = flags_of_kind[kind];
    }
  return TRUE;
}

static gboolean
load_scores (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  const guint8 *data = NULL;

  if (!get_token_array (self, gguf, "tokenizer.ggml.scores", KVASIR_GGUF_F32, &data, error))
    return FALSE;
  if (!data)
    return TRUE;
  self->scores = g_try_new (float, self->n_tokens);
  if (!self->scores)
    return kvasir_vocab_no_memory (error);
  memcpy (self->scores, data, self->n_tokens * sizeof (float));
  return TRUE;
}

static gint32
get_id (const KvasirVocab *self, const KvasirGguf *gguf, const char *key, gint32 standard)
{
  guint32 id = 0;

  if (kvasir_gguf_get_u32 (gguf, key, &id) && id < self->n_tokens)
    return (gint32) id;
  return standard >= 0 && (guint32) standard < self->n_tokens ? standard : -1;
}

/* Rules that the file may change. */
static void
load_rules (KvasirVocab *self, const KvasirGguf *gguf, const Kind *kind)
{
  gboolean add_eos = kind->add_eos;

  self->bos = get_id (self, gguf, "tokenizer.ggml.bos_token_id", kind->bos);
  self->eos = get_id (self, gguf, "tokenizer.ggml.eos_token_id", kind->eos);
  self->unk = get_id (self, gguf, "tokenizer.ggml.unknown_token_id", kind->unk);
  self->add_bos = kind->add_bos;
  self->add_space_prefix = kind->add_space_prefix;
  self->cleans_spaces = kind->cleans_spaces;
  self->escapes_spaces = kind->escapes_spaces;
  self->has_mapped_bytes = self->kind == KVASIR_VOCAB_BPE && !kind->escapes_spaces;
  if (self->pre_tokenizer)
    {
      self->add_bos = kvasir_pre_tokenizer_adds_bos (self->pre_tokenizer);
      self->cleans_spaces = kvasir_pre_tokenizer_cleans_spaces (self->pre_tokenizer);
      self->escapes_spaces = kvasir_pre_tokenizer_escapes_spaces (self->pre_tokenizer);
      self->has_mapped_bytes = !kvasir_pre_tokenizer_has_plain_texts (self->pre_tokenizer);
    }
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.add_space_prefix", &self->add_space_prefix);
  if (self->kind == KVASIR_VOCAB_WPM)
    {
      /* A text for BERT always lies between its two marks, whatever the keys say; the first has had
       * a key of its own. */
      if (!kvasir_gguf_has_key (gguf, "tokenizer.ggml.bos_token_id"))
        self->bos = get_id (self, gguf, "tokenizer.ggml.cls_token_id", kind->bos);
      self->last = get_id (self, gguf, "tokenizer.ggml.seperator_token_id", 102);
      return;
    }
  /* RWKV knows no marks around a text, whatever the keys say. */
  if (self->kind == KVASIR_VOCAB_RWKV)
    return;
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.add_bos_token", &self->add_bos);
  /* Early files of Gemma 4 say that it needs none. */
  self->add_bos = self->add_bos || strcmp (kind->model, "gemma4") == 0;
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.add_eos_token", &add_eos);
  self->last = add_eos ? self->eos : -1;
}

static void
load_byte_tokens (KvasirVocab *self)
{
  for (guint b = 0; b < 256; b++)
    {
      char text[8];
      gint64 id;

      g_snprintf (text, sizeof text, "<0x%02X>", b);
      id = kvasir_vocab_find (self, text, 6);
      self->byte_ids[b] = id < 0 ? KVASIR_VOCAB_NO_ID : (guint32) id;
    }
}

static const char *
get_pre (const KvasirGguf *gguf)
{
  const char *pre = kvasir_gguf_get_string (gguf, "tokenizer.ggml.pre", NULL);

  return pre ? pre : "default";
}

/* What the kind of tokenizer needs besides. */
static gboolean
load_kind (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  switch (self->kind)
    {
    case KVASIR_VOCAB_BPE:
      return !self->pre_tokenizer || kvasir_vocab_load_bpe (self, gguf, error);
    case KVASIR_VOCAB_SPM:
      return kvasir_vocab_build_joints (self, error);
    case KVASIR_VOCAB_WPM:
      return kvasir_wpm_load (self, gguf, error);
    case KVASIR_VOCAB_UGM:
      return kvasir_ugm_load (self, gguf, error);
    case KVASIR_VOCAB_RWKV:
      return kvasir_rwkv_load (self, error);
    default:
      return TRUE;
    }
}

static gboolean
load_tokens (KvasirVocab *self, const KvasirGguf *gguf, const Kind *kind, GError **error)
{
  KvasirGgufStrings tokens;

  if (!kvasir_gguf_get_strings (gguf, tokens_key, &tokens))
    {
      if (kind->kind == KVASIR_VOCAB_NONE)
        return TRUE;
      return kvasir_vocab_fail (gguf, error, "%s: expected an array of strings, found none",
                                tokens_key);
    }
  if (!kvasir_vocab_load_texts (self, gguf, &tokens, error) || !load_flags (self, gguf, error) ||
      !load_scores (self, gguf, error))
    return FALSE;
  load_rules (self, gguf, kind);
  kvasir_vocab_mark_special (self, gguf);
  if (!kvasir_vocab_index_special (self, error))
    return FALSE;
  load_byte_tokens (self);
  return load_kind (self, gguf, error);
}

static const Kind *
find_kind (const char *model)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].model, model) == 0)
      return &kinds[i];
  return &no_kind;
}

static char *
describe (const Kind *kind, const char *model, const KvasirGguf *gguf)
{
  g_autofree char *escaped = NULL;

  if (strcmp (model, "gpt2") == 0)
    model = get_pre (gguf);
  escaped = g_strescape (model, NULL);
  if (strlen (escaped) > 64)
    escaped[64] = 0;
  return g_strdup_printf ("%s (%s)", kind->name, escaped);
}

KvasirVocab *
kvasir_vocab_new (const KvasirGguf *gguf, GError **error)
{
  g_autoptr (KvasirVocab) self = NULL;
  const char *model;
  const Kind *kind;

  g_return_val_if_fail (gguf != NULL, NULL);

  model = kvasir_gguf_get_string (gguf, "tokenizer.ggml.model", NULL);
  if (!model)
    {
      kvasir_vocab_fail (gguf, error, "tokenizer.ggml.model: expected a string, found none");
      return NULL;
    }
  kind = find_kind (model);
  self = g_new0 (KvasirVocab, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->kind = kind->kind;
  self->bos = self->eos = self->unk = self->last = -1;
  self->description = describe (kind, model, gguf);
  self->chat_template = g_strdup (kvasir_gguf_get_string (gguf, "tokenizer.chat_template", NULL));
  if (kind->kind == KVASIR_VOCAB_BPE)
    self->pre_tokenizer =
        kvasir_pre_tokenizer_find (strcmp (model, "gpt2") == 0 ? get_pre (gguf) : model);
  if (!load_tokens (self, gguf, kind, error))
    return NULL;
  return g_steal_pointer (&self);
}
