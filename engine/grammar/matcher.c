#include "engine/grammar/matcher.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "engine/grammar/states.h"

#define N_MASKS 64
#define MAX_TAIL 60
/* Threads looked at between two looks at the memory. */
#define TIDY_EFFORT (1000 * 1000)

/* Between two bytes. */
typedef struct
{
  guint32 state;
  guint32 code; /* of a character that is not complete: its bits so far */
  guint32 left; /* bytes that it still lacks */
} Place;

/* What may follow in a state. */
typedef struct
{
  guint32 state; /* KVASIR_STATE_DEAD: none yet */
  guint64 used;  /* the later, the greater */
  guint64 *bits; /* (owned) (nullable): by token */
} Mask;

struct _KvasirMatcher
{
  const KvasirTokenTrie *trie; /* (unowned) */
  KvasirStates *states;        /* (owned) */
  gboolean names_tokens;       /* the grammar does */
  gboolean failed;             /* a limit was hit */
  Place place;
  Place path[KVASIR_TOKEN_TRIE_MAX_DEPTH + 1]; /* of a walk, by depth */
  GString *tail;                               /* (owned): the last of what was accepted */
  guint n_words;                               /* of a mask */
  Mask masks[N_MASKS];
  Mask passing; /* of the middle of a character, not kept */
  guint64 clock;
  guint generation; /* of the states that the masks are for */
};

static gboolean
has_token_names (const KvasirGrammar *grammar)
{
  for (guint32 i = 0; i < grammar->elements->len; i++)
    if (kvasir_grammar_element (grammar, i)->kind >= KVASIR_ELEMENT_TOKEN)
      return TRUE;
  return FALSE;
}

KvasirMatcher *
kvasir_matcher_new (const KvasirGrammar *grammar, const KvasirTokenTrie *trie)
{
  g_return_val_if_fail (grammar != NULL, NULL);
  g_return_val_if_fail (trie != NULL, NULL);

  KvasirMatcher *self = g_new0 (KvasirMatcher, 1);
  self->trie = trie;
  self->states = kvasir_states_new (grammar);
  self->names_tokens = has_token_names (grammar);
  self->tail = g_string_new (NULL);
  self->n_words = (kvasir_token_trie_get_n_tokens (trie) + 63) / 64;
  self->place.state = kvasir_states_start (self->states);
  return self;
}

void
kvasir_matcher_free (KvasirMatcher *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < N_MASKS; i++)
    g_free (self->masks[i].bits);
  g_free (self->passing.bits);
  g_string_free (self->tail, TRUE);
  kvasir_states_free (self->states);
  g_free (self);
}

/* ---- bytes */

/* The state behind a complete character. */
static guint32
step (KvasirStates *states, guint32 state, guint32 code)
{
  return kvasir_states_step (states, state,
                             code < 128 ? states->grammar->ascii_class[code]
                                        : kvasir_grammar_find_class (states->grammar, code));
}

/* What the first byte of a character says. FALSE: none begins so. */
static gboolean
read_lead (guint8 byte, Place *to)
{
  if (byte < 0xC2 || byte > 0xF4)
    return FALSE;
  to->left = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  to->code = byte & (0x3Fu >> to->left);
  return TRUE;
}

/* What the byte makes of an incomplete character. FALSE: UTF-8 has none such. The second byte tells
 * those that are written longer than need be, surrogates, and what is above U+10FFFF. */
static gboolean
read_rest (const Place *from, guint8 byte, Place *to)
{
  gboolean second = from->left == 3 || (from->left == 2 && from->code < 0x10);
  if ((byte & 0xC0) != 0x80)
    return FALSE;
  to->code = from->code << 6 | (byte & 0x3F);
  to->left = from->left - 1;
  if (second && to->left == 2)
    return to->code >= 0x10000 >> 12 && to->code <= KVASIR_MAX_CODE >> 12;
  if (second)
    return to->code >= 0x800 >> 6 && (to->code < 0xD800 >> 6 || to->code > 0xDFFF >> 6);
  return TRUE;
}

/* Whether a character may follow that begins so. */
static gboolean
may_complete (const KvasirStates *states, const Place *place)
{
  static const guint32 least[] = { 0, 0x80, 0x800, 0x10000 };
  guint32 first = place->code << (6 * place->left);
  guint32 last = first | ((1u << (6 * place->left)) - 1);
  return kvasir_states_meets (states, place->state, MAX (first, least[place->left]), last);
}

static gboolean
advance_within (KvasirStates *states, const Place *from, guint8 byte, Place *to)
{
  to->state = from->state;
  if (from->left == 0 ? !read_lead (byte, to) : !read_rest (from, byte, to))
    return FALSE;
  if (to->left > 0)
    return may_complete (states, to);
  to->state = step (states, from->state, to->code);
  to->code = 0;
  return to->state != KVASIR_STATE_DEAD;
}

static inline gboolean
advance (KvasirStates *states, const Place *from, guint8 byte, Place *to)
{
  if (from->left > 0 || byte >= 0x80)
    return advance_within (states, from, byte, to);
  to->state = kvasir_states_step (states, from->state, states->grammar->ascii_class[byte]);
  to->left = 0;
  to->code = 0;
  return to->state != KVASIR_STATE_DEAD;
}

static gboolean
advance_all (KvasirStates *states, Place *place, const guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      const Place from = *place;
      if (!advance (states, &from, bytes[i], place))
        return FALSE;
    }
  return n > 0;
}

/* ---- one token */

static void
begin_token (KvasirMatcher *self)
{
  self->states->effort = 0;
}

/* FALSE: it may not follow. */
static gboolean
find_next (KvasirMatcher *self, gint32 id, Place *next)
{
  guint32 n;
  const guint8 *bytes = kvasir_token_trie_get_bytes (self->trie, id, &n);
  guint32 named = KVASIR_STATE_DEAD;
  *next = self->place;
  if (!advance_all (self->states, next, bytes, n))
    *next = (Place){ KVASIR_STATE_DEAD, 0, 0 };
  if (self->names_tokens && self->place.left == 0)
    named = kvasir_states_step_token (self->states, self->place.state, (guint32) id,
                                      kvasir_token_trie_is_end (self->trie, id));
  if (named != KVASIR_STATE_DEAD)
    *next = (Place){ kvasir_states_join (self->states, named, next->left > 0 ? 0 : next->state) };
  return next->state != KVASIR_STATE_DEAD;
}

static gboolean
may_end (const KvasirMatcher *self)
{
  return self->place.left == 0 && kvasir_states_may_end (self->states, self->place.state);
}

gboolean
kvasir_matcher_allows (KvasirMatcher *self, gint32 id)
{
  g_return_val_if_fail (self != NULL, FALSE);

  Place next;
  if (kvasir_token_trie_is_end (self->trie, id) && may_end (self))
    return TRUE;
  begin_token (self);
  gboolean allowed = find_next (self, id, &next);
  self->failed |= kvasir_states_is_exhausted (self->states);
  return allowed;
}

static void
settle (KvasirMatcher *self)
{
  if (kvasir_states_is_exhausted (self->states) ||
      !kvasir_states_tidy (self->states, &self->place.state, 1))
    {
      self->failed = TRUE;
      self->place = (Place){ KVASIR_STATE_DEAD, 0, 0 };
    }
}

static void
note_tail (KvasirMatcher *self, const char *bytes, gsize n)
{
  g_string_append_len (self->tail, bytes, (gssize) n);
  if (self->tail->len > MAX_TAIL)
    g_string_erase (self->tail, 0, (gssize) (self->tail->len - MAX_TAIL));
}

void
kvasir_matcher_accept (KvasirMatcher *self, gint32 id)
{
  g_return_if_fail (self != NULL);

  Place next;
  guint32 n;
  const guint8 *bytes = kvasir_token_trie_get_bytes (self->trie, id, &n);
  begin_token (self);
  find_next (self, id, &next);
  self->place = next;
  note_tail (self, (const char *) bytes, n);
  settle (self);
}

void
kvasir_matcher_accept_bytes (KvasirMatcher *self, const char *bytes, gsize n)
{
  g_return_if_fail (self != NULL);

  begin_token (self);
  if (n > 0 && !advance_all (self->states, &self->place, (const guint8 *) bytes, n))
    self->place = (Place){ KVASIR_STATE_DEAD, 0, 0 };
  note_tail (self, bytes, n);
  settle (self);
}

/* ---- all tokens */

static inline void
set_bit (guint64 *bits, gint32 id)
{
  bits[id / 64] |= G_GUINT64_CONSTANT (1) << (id % 64);
}

/* Frees memory in the middle of a walk; the places on the way are kept. */
static gboolean
tidy_walk (KvasirMatcher *self, guint depth)
{
  g_autofree guint32 *keep = g_new (guint32, depth + 2);
  for (guint i = 0; i <= depth; i++)
    keep[i] = self->path[i].state;
  keep[depth + 1] = self->place.state;
  gboolean ok = kvasir_states_tidy (self->states, keep, depth + 2);
  for (guint i = 0; i <= depth; i++)
    self->path[i].state = keep[i];
  self->place.state = keep[depth + 1];
  return ok && !kvasir_states_is_exhausted (self->states);
}

/* The kinds of characters that do not lead back to the place the walk begins at: the inside of a
 * text in quotes lets most tokens through, and subtrees without these need no look. */
static guint64
find_ways_out (KvasirMatcher *self)
{
  guint64 ways = KVASIR_SEEN_BROKEN;
  const KvasirGrammar *grammar = self->states->grammar;
  guint32 state = self->place.state;
  for (guint8 c = 0; c < 128; c++)
    if (kvasir_states_step (self->states, state, grammar->ascii_class[c]) != state)
      ways |= kvasir_token_trie_get_kind (c);
  for (guint32 i = kvasir_grammar_find_class (grammar, 128); i < grammar->cuts->len; i++)
    if (kvasir_states_step (self->states, state, i) != state &&
        g_array_index (grammar->cuts, guint32, i) <= KVASIR_MAX_CODE)
      return ways | KVASIR_SEEN_OTHER;
  return ways;
}

static void
set_bits (guint64 *bits, const gint32 *tokens, guint32 from, guint32 to)
{
  for (guint32 t = from; t < to; t++)
    set_bit (bits, tokens[t]);
}

/* Of the tokens with bytes. FALSE: a limit was hit. */
static gboolean
walk (KvasirMatcher *self, guint64 *bits)
{
  const guint64 ways_out = find_ways_out (self);
  guint32 n;
  const KvasirTrieNode *nodes = kvasir_token_trie_get_nodes (self->trie, &n);
  const gint32 *tokens = kvasir_token_trie_get_tokens (self->trie);
  guint64 tidied = 0;
  self->path[0] = self->place;
  for (guint32 i = 0; i < n;)
    {
      const KvasirTrieNode *node = &nodes[i];
      Place *to = &self->path[node->depth];
      if (!advance (self->states, to - 1, node->byte, to))
        {
          i = node->end;
          continue;
        }
      gboolean whole =
          to->state == self->place.state && to->left == 0 && (node->seen & ways_out) == 0;
      guint32 end = whole ? node->end : i + 1;
      set_bits (bits, tokens, node->token, nodes[end].token);
      i = end;
      if (self->states->effort - tidied > TIDY_EFFORT)
        {
          tidied = self->states->effort;
          if (!tidy_walk (self, node->depth))
            return FALSE;
        }
    }
  return !kvasir_states_is_exhausted (self->states);
}

/* Those that the grammar names, and those that end the answer. */
static void
add_named (KvasirMatcher *self, guint64 *bits)
{
  gint32 n_tokens = (gint32) kvasir_token_trie_get_n_tokens (self->trie);
  gboolean end = may_end (self);
  gboolean named = self->names_tokens && self->place.left == 0;
  for (gint32 id = 0; (end || named) && id < n_tokens; id++)
    if ((end && kvasir_token_trie_is_end (self->trie, id)) ||
        (named && kvasir_states_names (self->states, self->place.state, (guint32) id,
                                       kvasir_token_trie_is_end (self->trie, id))))
      set_bit (bits, id);
}

static void
fill (KvasirMatcher *self, Mask *mask)
{
  gsize size = self->n_words * sizeof (guint64);
  if (mask->bits == NULL)
    mask->bits = g_malloc (size);
  memset (mask->bits, 0, size);
  begin_token (self);
  if (walk (self, mask->bits))
    add_named (self, mask->bits);
  else
    {
      self->failed = TRUE;
      memset (mask->bits, 0, size);
    }
  /* Numbers of states may have changed on the way. */
  mask->state = self->place.state;
}

/* The mask of the state, or the one to take for it. */
static Mask *
find_mask (KvasirMatcher *self)
{
  Mask *oldest = &self->masks[0];
  if (self->place.left > 0)
    return &self->passing;
  for (guint i = 0; i < N_MASKS; i++)
    {
      Mask *mask = &self->masks[i];
      if (mask->state == self->place.state)
        return mask;
      if (mask->used < oldest->used)
        oldest = mask;
    }
  oldest->state = KVASIR_STATE_DEAD;
  return oldest;
}

static void
forget_masks (KvasirMatcher *self)
{
  for (guint i = 0; i < N_MASKS; i++)
    self->masks[i].state = KVASIR_STATE_DEAD;
  self->generation = self->states->generation;
}

static void
apply (const Mask *mask, float *logits, guint n)
{
  for (guint i = 0; i < n; i += 64)
    {
      guint64 bits = mask->bits[i / 64];
      guint end = MIN (64, n - i);
      if (bits == G_MAXUINT64)
        continue;
      for (guint k = 0; bits == 0 && k < end; k++)
        logits[i + k] = -INFINITY;
      for (guint k = 0; bits != 0 && k < end; k++)
        logits[i + k] = bits >> k & 1 ? logits[i + k] : -INFINITY;
    }
}

void
kvasir_matcher_mask (KvasirMatcher *self, float *logits, guint n)
{
  g_return_if_fail (self != NULL);

  guint n_known = MIN (n, kvasir_token_trie_get_n_tokens (self->trie));
  if (self->generation != self->states->generation)
    forget_masks (self);
  Mask *mask = find_mask (self);
  if (mask->state == KVASIR_STATE_DEAD || self->place.left > 0)
    fill (self, mask);
  if (self->generation != self->states->generation)
    {
      guint32 state = mask->state;
      forget_masks (self);
      mask->state = state;
    }
  mask->used = ++self->clock;
  apply (mask, logits, n_known);
  for (guint i = n_known; i < n; i++)
    logits[i] = -INFINITY;
}

void
kvasir_matcher_explain (const KvasirMatcher *self, GError **error)
{
  g_return_if_fail (self != NULL);

  g_autofree char *tail = g_utf8_make_valid (self->tail->str, (gssize) self->tail->len);
  if (self->failed)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                 "The grammar is too ambiguous: behind \"%s\" it can go on in more ways than are "
                 "followed",
                 tail);
  else
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                 "The grammar allows no token of this model behind \"%s\"", tail);
}
