#include "engine/vocab/vocab-private.h"

KvasirVocab *
kvasir_vocab_ref (KvasirVocab *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
kvasir_vocab_unref (KvasirVocab *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  kvasir_text_table_clear (&self->texts);
  kvasir_pairs_clear (&self->pairs);
  kvasir_chars_map_clear (&self->chars_map);
  kvasir_trie_clear (&self->trie);
  g_free (self->joints);
  kvasir_trie_clear (&self->special_trie);
  g_free (self->special_lens);
  g_free (self->scores);
  g_free (self->flags);
  g_free (self->chat_template);
  g_free (self->description);
  g_free (self);
}

KvasirVocabKind
kvasir_vocab_get_kind (const KvasirVocab *self)
{
  return self->kind;
}

const char *
kvasir_vocab_get_description (const KvasirVocab *self)
{
  return self->description;
}

gboolean
kvasir_vocab_can_tokenize (const KvasirVocab *self)
{
  if (self->kind == KVASIR_VOCAB_BPE)
    return self->pre_tokenizer != NULL;
  return self->kind != KVASIR_VOCAB_NONE;
}

guint
kvasir_vocab_get_n_tokens (const KvasirVocab *self)
{
  return self->n_tokens;
}

gint32
kvasir_vocab_get_bos (const KvasirVocab *self)
{
  return self->bos;
}

gint32
kvasir_vocab_get_eos (const KvasirVocab *self)
{
  return self->eos;
}

gint32
kvasir_vocab_get_unk (const KvasirVocab *self)
{
  return self->unk;
}

gboolean
kvasir_vocab_get_add_bos (const KvasirVocab *self)
{
  return self->add_bos;
}

static gboolean
has_flag (const KvasirVocab *self, gint32 id, guint16 flag)
{
  return id >= 0 && (guint32) id < self->n_tokens && (self->flags[id] & flag) != 0;
}

gboolean
kvasir_vocab_is_eog (const KvasirVocab *self, gint32 id)
{
  return has_flag (self, id, KVASIR_TOKEN_EOG);
}

gboolean
kvasir_vocab_is_control (const KvasirVocab *self, gint32 id)
{
  return has_flag (self, id, KVASIR_TOKEN_CONTROL);
}

const char *
kvasir_vocab_get_text (const KvasirVocab *self, gint32 id, gsize *len)
{
  g_return_val_if_fail (id >= 0 && (guint32) id < self->n_tokens, NULL);

  if (len)
    *len = kvasir_text_table_get_len (&self->texts, (guint32) id);
  return kvasir_text_table_get (&self->texts, (guint32) id);
}

const char *
kvasir_vocab_get_chat_template (const KvasirVocab *self)
{
  return self->chat_template;
}
