#include "engine/grammar/grammar-private.h"

KvasirGrammar *
kvasir_grammar_new (const char *text, const KvasirVocab *vocab, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);

  g_autoptr (KvasirGrammar) self = g_new0 (KvasirGrammar, 1);
  self->names = g_string_chunk_new (256);
  self->rules = g_array_new (FALSE, TRUE, sizeof (KvasirRule));
  self->alts = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->elements = g_array_new (FALSE, FALSE, sizeof (KvasirElement));
  self->sets = g_array_new (FALSE, FALSE, sizeof (KvasirSet));
  self->ranges = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  self->cuts = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (!kvasir_gbnf_parse (self, text, vocab, error) || !kvasir_grammar_check (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
kvasir_grammar_free (KvasirGrammar *self)
{
  if (self == NULL)
    return;
  g_string_chunk_free (self->names);
  g_array_unref (self->rules);
  g_array_unref (self->alts);
  g_array_unref (self->elements);
  g_array_unref (self->sets);
  g_array_unref (self->ranges);
  g_array_unref (self->cuts);
  g_free (self);
}
