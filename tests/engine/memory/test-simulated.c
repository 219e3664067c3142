/* The naive memory, which judges the engine in the random tests, is itself held to a third
 * implementation: tests/data/memory/README.md. The engine plays along. */
#include <jansson.h>
#include <string.h>

#include "tests/engine/memory/pair.h"

typedef struct
{
  Pair pair;
  guint n_vocab;
  GHashTable *saves; /* name -> PairSave, partial in its name */
  json_t *ubatches;
  json_t *masks;
} Player;

static gint
get_int (const json_t *object, const char *member, gint fallback)
{
  const json_t *value = json_object_get (object, member);

  return value != NULL ? (gint) json_integer_value (value) : fallback;
}

static gboolean
get_bool (const json_t *object, const char *member)
{
  return json_is_true (json_object_get (object, member));
}

/* ---- what the naive memory looks like in a trace */

static json_t *
describe_seqs (const KvasirSeqSet *seqs)
{
  json_t *ids = json_array ();

  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    json_array_append_new (ids, json_integer (seq));
  return ids;
}

static json_t *
describe_runs (const NaiveStream *stream, guint size)
{
  json_t *runs = json_array ();
  guint n;

  for (guint i = 0; i < size; i += n)
    {
      const NaiveCell *first = &stream->cells[i];

      for (n = 1; i + n < size && first->pos >= 0; n++)
        if (first[n].pos != first->pos + (gint32) n || first[n].shift != first->shift ||
            !kvasir_seq_set_equal (&first[n].seqs, &first->seqs))
          break;
      if (first->pos >= 0)
        json_array_append_new (runs, json_pack ("[iiioi]", i, n, first->pos,
                                                describe_seqs (&first->seqs), first->shift));
    }
  return runs;
}

static const char *
get_cache_name (const Naive *naive, guint c)
{
  static const char *const names[2][2] = { { "base", "swa" }, { "attn_base", "attn_swa" } };

  return naive->n_caches == 1 && naive->has_states ? "attn" : names[naive->has_states][c];
}

static json_t *
describe_cache (const Naive *naive, guint c)
{
  const NaiveCache *cache = &naive->caches[c];
  json_t *streams = json_array ();

  for (guint s = 0; s < cache->n_streams; s++)
    json_array_append_new (streams, json_pack ("{s:i, s:i, s:o}", "head", cache->streams[s].head,
                                               "used", naive_cache_used (cache, s), "runs",
                                               describe_runs (&cache->streams[s], cache->size)));
  return json_pack ("{s:s, s:i, s:i, s:o}", "name", get_cache_name (naive, c), "n_swa",
                    cache->slides ? naive->shape.n_swa : 0, "size", cache->size, "streams",
                    streams);
}

static json_t *
describe_states (const Naive *naive)
{
  json_t *cells = json_array ();

  for (guint seq = 0; seq < naive->shape.n_seqs; seq++)
    {
      const NaiveState *state = naive_find_state (naive, seq);
      KvasirSeqSet owners = { 0 };

      for (guint other = 0; other < naive->shape.n_seqs; other++)
        if (state != NULL && naive_find_state (naive, other) == state)
          kvasir_seq_set_add (&owners, other);
      if (state != NULL && kvasir_seq_set_next (&owners, 0) == (gint) seq)
        json_array_append_new (cells,
                               json_pack ("[iio]", seq, state->pos[0], describe_seqs (&owners)));
    }
  return json_pack ("{s:s, s:i, s:i, s:o}", "name", "recurrent", "n_swa", 0, "size",
                    naive->shape.n_seqs, "cells", cells);
}

static json_t *
describe (const Naive *naive)
{
  json_t *seqs = json_array ();
  json_t *caches = json_array ();

  for (guint seq = 0; seq < naive->shape.n_seqs; seq++)
    if (naive_last (naive, seq) >= 0)
      json_array_append_new (
          seqs, json_pack ("[iii]", seq, naive_first (naive, seq), naive_last (naive, seq)));
  for (guint c = 0; c < naive->n_caches; c++)
    json_array_append_new (caches, describe_cache (naive, c));
  if (naive->has_states)
    json_array_append_new (caches, describe_states (naive));
  return json_pack ("{s:s, s:o, s:o}", "kind", kvasir_memory_class_get_name (naive->shape.klass),
                    "seq", seqs, "caches", caches);
}

/* ---- ubatches and masks */

static json_t *
describe_slots (const Naive *naive, guint c, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  json_t *parts = json_array ();
  json_t *cells = NULL;
  guint last = G_MAXUINT;

  for (guint i = 0; i < ubatch->n; i++)
    {
      guint stream =
          naive_cache_get_stream (&naive->caches[c], (guint) batch[ubatch->index[i]].lead);

      if (stream != last)
        json_array_append_new (parts, json_pack ("[io]", stream, cells = json_array ()));
      last = stream;
      json_array_append_new (cells, json_integer (ubatch->slots[c][i]));
    }
  return parts;
}

static json_t *
describe_mask_row (const Naive *naive, guint c, const NaiveToken *token, guint n_kv)
{
  json_t *intervals = json_array ();
  gint start = -1;

  for (guint i = 0; i <= n_kv; i++)
    {
      gboolean open = i < n_kv && naive_sees (naive, c, token, i);

      if (open && start < 0)
        start = (gint) i;
      if (!open && start >= 0)
        {
          json_array_append_new (intervals, json_pack ("[ii]", start, i));
          start = -1;
        }
    }
  return intervals;
}

static void
see_ubatch (const Pair *pair, const NaiveToken *batch, const NaiveUbatch *ubatch, gpointer data)
{
  static const char *const kinds[] = { "full", "swa" };
  Player *self = data;
  const Naive *naive = pair->naive;
  json_t *tokens = json_array ();
  json_t *n_kv = json_object ();
  json_t *slots = json_object ();
  json_t *mask = json_object ();

  for (guint i = 0; i < ubatch->n; i++)
    json_array_append_new (tokens, json_integer (ubatch->index[i]));
  for (guint c = 0; c < naive->n_caches; c++)
    {
      guint n = naive_get_n_kv (naive, c, batch, ubatch);
      json_t *rows = json_array ();

      for (guint i = 0; i < ubatch->n; i++)
        json_array_append_new (rows, describe_mask_row (naive, c, &batch[ubatch->index[i]], n));
      json_object_set_new (n_kv, get_cache_name (naive, c), json_integer (n));
      json_object_set_new (slots, get_cache_name (naive, c),
                           describe_slots (naive, c, batch, ubatch));
      json_object_set_new (mask, kinds[c], rows);
    }
  json_array_append_new (self->ubatches, json_pack ("{s:o, s:i, s:i, s:o, s:o}", "tokens", tokens,
                                                    "n_seq_tokens", ubatch->n_seq_tokens, "n_seqs",
                                                    ubatch->n_seqs, "n_kv", n_kv, "slots", slots));
  json_array_append_new (self->masks, mask);
}

/* ---- operations */

/* One id, a list for all tokens, or a list for each. FALSE: an id that there is not. */
static gboolean
read_seqs (const Player *self, const json_t *op, gsize i, NaiveToken *token)
{
  json_t *seq = json_object_get (op, "seq");
  json_t *item;
  gsize k;

  if (json_is_array (json_array_get (seq, 0)))
    seq = json_array_get (seq, i);
  token->lead = (gint) json_integer_value (json_is_array (seq) ? json_array_get (seq, 0) : seq);
  if (!json_is_array (seq))
    kvasir_seq_set_add (&token->seqs, (guint) token->lead);
  json_array_foreach (seq, k, item)
  {
    if (json_integer_value (item) >= (gint) self->pair.shape.rules.n_seqs)
      return FALSE;
    kvasir_seq_set_add (&token->seqs, (guint) json_integer_value (item));
  }
  return token->lead < (gint) self->pair.shape.rules.n_seqs;
}

/* Positions go on where they are not given. FALSE: the batch is refused whatever there is. */
static gboolean
read_batch (const Player *self, const json_t *op, NaiveToken *batch, guint n)
{
  guint n_seqs = self->pair.shape.rules.n_seqs;
  g_autofree gint32 *last = g_new (gint32, n_seqs);
  const json_t *pos = json_object_get (op, "pos");

  if (n == 0 || n > self->pair.shape.n_batch)
    return FALSE;
  for (guint seq = 0; seq < n_seqs; seq++)
    last[seq] = naive_last (self->pair.naive, seq);
  for (guint i = 0; i < n; i++)
    {
      NaiveToken *token = &batch[i];

      token->token =
          (gint32) json_integer_value (json_array_get (json_object_get (op, "tokens"), i));
      if (token->token >= (gint32) self->n_vocab || !read_seqs (self, op, i, token))
        return FALSE;
      token->pos = pos != NULL ? (gint32) json_integer_value (json_array_get (pos, i))
                               : last[token->lead] + 1;
      token->x = token->y = token->pos;
      for (guint seq = 0; seq < n_seqs; seq++)
        if (kvasir_seq_set_has (&token->seqs, seq))
          last[seq] = token->pos;
    }
  return TRUE;
}

static json_t *
play_decode (Player *self, const json_t *op)
{
  guint n = (guint) json_array_size (json_object_get (op, "tokens"));
  g_autofree NaiveToken *batch = g_new0 (NaiveToken, n + 1);

  if (!read_batch (self, op, batch, n))
    return json_integer (-1);
  return json_integer (pair_decode (&self->pair, batch, n, PAIR_NEVER, see_ubatch, self));
}

static json_t *
play_state (Player *self, const json_t *op, gboolean is_save)
{
  const char *name = json_string_value (json_object_get (op, is_save ? "to" : "from"));
  gint seq = get_int (op, "seq", -1);
  PairSave *saved;

  if (!is_save)
    {
      saved = g_hash_table_lookup (self->saves, name);
      g_assert_nonnull (saved);
      return json_boolean (pair_load (&self->pair, seq, get_bool (op, "partial"), saved));
    }
  saved = g_new (PairSave, 1);
  *saved = pair_save (&self->pair, seq, get_bool (op, "partial"));
  g_hash_table_replace (self->saves, g_strdup (name), saved);
  return json_null ();
}

static json_t *
null_or_unsupported (gboolean done)
{
  return done ? json_null () : json_string ("unsupported");
}

static json_t *
play_seq_op (Player *self, const json_t *op, const char *name)
{
  Pair *pair = &self->pair;
  gint seq = get_int (op, "seq", 0);
  gint32 p0 = get_int (op, "p0", -1);
  gint32 p1 = get_int (op, "p1", -1);

  if (g_str_equal (name, "seq_rm"))
    return json_boolean (pair_rm (pair, seq, p0, p1));
  if (g_str_equal (name, "seq_cp"))
    return null_or_unsupported (
        pair_cp (pair, get_int (op, "src", 0), get_int (op, "dst", 0), p0, p1));
  if (g_str_equal (name, "seq_add"))
    return null_or_unsupported (pair_add (pair, seq, p0, p1, get_int (op, "delta", 0)));
  if (g_str_equal (name, "seq_div"))
    return null_or_unsupported (pair_div (pair, seq, p0, p1, get_int (op, "d", 1)));
  pair_keep (pair, seq);
  return json_null ();
}

static json_t *
play (Player *self, const json_t *op)
{
  const char *name = json_string_value (json_object_get (op, "op"));

  if (g_str_equal (name, "decode"))
    return play_decode (self, op);
  if (g_str_has_prefix (name, "seq_"))
    return play_seq_op (self, op, name);
  if (g_str_equal (name, "update"))
    return json_boolean (pair_update (&self->pair));
  if (!g_str_equal (name, "clear"))
    return play_state (self, op, g_str_equal (name, "save"));
  pair_empty (&self->pair, get_bool (op, "data"));
  return json_null ();
}

static void
assert_equal (const json_t *line, const char *member, json_t *found)
{
  json_t *expected = json_object_get (line, member);

  if (expected != NULL && !json_equal (expected, found))
    {
      g_autofree char *op = json_dumps (json_object_get (line, "op"), JSON_COMPACT);
      g_autofree char *want = json_dumps (expected, JSON_COMPACT | JSON_ENCODE_ANY);
      g_autofree char *got = json_dumps (found, JSON_COMPACT | JSON_ENCODE_ANY);

      g_error ("%s: %s: expected %s, got %s", op, member, want, got);
    }
}

/* Only the masks that layers of the model use were printed. */
static void
drop_other_masks (const json_t *line, json_t *masks)
{
  json_t *expected = json_object_get (line, "mask");
  json_t *mask;
  gsize i;

  json_array_foreach (expected, i, mask)
  {
    json_t *found = json_array_get (masks, i);

    if (json_object_get (mask, "full") == NULL)
      json_object_del (found, "full");
    if (json_object_get (mask, "swa") == NULL)
      json_object_del (found, "swa");
  }
}

static void
play_line (Player *self, const json_t *line)
{
  json_t *ret;
  json_t *state;

  self->ubatches = json_array ();
  self->masks = json_array ();
  ret = play (self, json_object_get (line, "op"));
  pair_check (&self->pair);
  state = describe (self->pair.naive);
  drop_other_masks (line, self->masks);
  assert_equal (line, "ret", ret);
  assert_equal (line, "state", state);
  assert_equal (line, "ubatches", self->ubatches);
  assert_equal (line, "mask", self->masks);
  json_decref (ret);
  json_decref (state);
  json_decref (self->ubatches);
  json_decref (self->masks);
}

/* ---- cases */

static KvasirMemoryClass
find_class (const char *name)
{
  for (guint klass = 0; klass <= KVASIR_MEMORY_HYBRID_ISWA; klass++)
    if (g_str_equal (kvasir_memory_class_get_name (klass), name))
      return klass;
  g_assert_not_reached ();
}

static PairShape
read_shape (const json_t *json)
{
  PairShape shape = { .n_batch = (guint) get_int (json, "n_batch", 0), .type = KVASIR_TYPE_F16 };
  NaiveShape *rules = &shape.rules;

  rules->klass = find_class (json_string_value (json_object_get (json, "kind")));
  rules->size = (guint) get_int (json, "size", 0);
  rules->swa_size = (guint) get_int (json, "swa_size", 0);
  rules->n_streams = (guint) get_int (json, "n_streams", 1);
  rules->unified = get_bool (json, "unified");
  rules->n_seqs = (guint) get_int (json, "n_seqs", 1);
  rules->n_ubatch = (guint) get_int (json, "n_ubatch", 1);
  rules->n_rs_seq = (guint) get_int (json, "n_rs_seq", 0);
  rules->n_swa = (guint) get_int (json, "n_swa", 0);
  rules->n_pos = (guint) get_int (json, "n_pos", 1);
  if (rules->n_swa > 0)
    rules->window = get_bool (json, "chunked") ? KVASIR_WINDOW_CHUNKED : KVASIR_WINDOW_STANDARD;
  if (rules->n_pos > 1)
    shape.shift_obstacle = "four positions";
  return shape;
}

static void
free_save (gpointer data)
{
  pair_save_clear (data);
  g_free (data);
}

static void
test_case (gconstpointer data)
{
  const json_t *lines = data;
  const json_t *shape_json = json_object_get (json_array_get (lines, 0), "shape");
  const PairShape shape = read_shape (shape_json);
  Player player = { .n_vocab = (guint) get_int (shape_json, "n_vocab", 0) };

  player.saves = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_save);
  pair_init (&player.pair, &shape);
  for (gsize i = 1; i < json_array_size (lines); i++)
    play_line (&player, json_array_get (lines, i));
  pair_check_time_travel (&player.pair);
  pair_clear (&player.pair);
  g_hash_table_unref (player.saves);
}

/* Arrays of the lines of each case. */
static json_t *
read_cases (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "memory", "simulated.jsonl", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  json_t *cases = json_array ();

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      json_t *line = json_loads (lines[i], 0, NULL);

      g_assert_nonnull (line);
      if (json_object_get (line, "case") != NULL)
        json_array_append_new (cases, json_array ());
      json_array_append_new (json_array_get (cases, json_array_size (cases) - 1), line);
    }
  return cases;
}

int
main (int argc, char **argv)
{
  json_t *cases;
  json_t *lines;
  gsize i;
  int status;

  g_test_init (&argc, &argv, NULL);
  cases = read_cases ();
  g_assert_cmpuint (json_array_size (cases), ==, 15);
  json_array_foreach (cases, i, lines)
  {
    const char *name = json_string_value (json_object_get (json_array_get (lines, 0), "case"));
    g_autofree char *path = g_strconcat ("/engine/memory/simulated/", name, NULL);

    g_test_add_data_func (path, lines, test_case);
  }
  status = g_test_run ();
  json_decref (cases);
  return status;
}
