/* Plays the golden scenarios of the unified cache without a model: what a decode puts where does
 * not depend on what it computes. The expected outputs come from an independent implementation. */
#include <jansson.h>
#include <string.h>

#include "tests/engine/memory/support.h"

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  GHashTable *saves; /* name -> GByteArray */
} Player;

static gint
get_int (json_t *op, const char *member, gint fallback)
{
  json_t *value = json_object_get (op, member);

  return value != NULL ? (gint) json_integer_value (value) : fallback;
}

static gboolean
get_bool (json_t *op, const char *member)
{
  return json_is_true (json_object_get (op, member));
}

/* ---- what an operation prints */

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
describe_runs (KvasirMemory *memory)
{
  json_t *runs = json_array ();
  guint size = kvasir_memory_get_size (memory, 0);
  KvasirCell first;
  guint n;

  for (guint i = 0; i < size; i += n)
    {
      kvasir_memory_get_cell (memory, 0, 0, i, &first);
      for (n = 1; i + n < size; n++)
        {
          KvasirCell cell;

          kvasir_memory_get_cell (memory, 0, 0, i + n, &cell);
          if (cell.pos != first.pos + (gint32) n || cell.shift != first.shift ||
              !kvasir_seq_set_equal (&cell.seqs, &first.seqs))
            break;
        }
      if (first.pos >= 0)
        json_array_append_new (
            runs, json_pack ("[iiioi]", i, n, first.pos, describe_seqs (&first.seqs), first.shift));
      else
        n = 1;
    }
  return runs;
}

static json_t *
describe_state (KvasirMemory *memory, guint n_seq_max)
{
  json_t *seqs = json_array ();
  KvasirCacheInfo info;

  kvasir_memory_get_cache_info (memory, 0, &info);
  for (gint seq = 0; seq < (gint) n_seq_max; seq++)
    if (kvasir_memory_seq_pos_max (memory, seq) >= 0)
      json_array_append_new (seqs, json_pack ("[iii]", seq, kvasir_memory_seq_pos_min (memory, seq),
                                              kvasir_memory_seq_pos_max (memory, seq)));
  return json_pack ("{s:s, s:o, s:[{s:s, s:i, s:i, s:[{s:i, s:i, s:o}]}]}", "kind",
                    kvasir_memory_class_get_name (kvasir_memory_get_class (memory)), "seq", seqs,
                    "caches", "name", info.name, "n_swa", info.n_swa, "size", info.size, "streams",
                    "head", kvasir_memory_get_head (memory, 0, 0), "used",
                    kvasir_memory_get_used (memory, 0, 0), "runs", describe_runs (memory));
}

typedef struct
{
  json_t *ubatches;
  json_t *masks;
} Report;

static json_t *
describe_mask_row (const guint64 *row, guint n_kv)
{
  json_t *intervals = json_array ();
  gint start = -1;

  for (guint i = 0; i <= n_kv; i++)
    {
      gboolean open = i < n_kv && (row[i / 64] >> (i % 64)) & 1;

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
report_ubatch (const KvasirMemory *memory, const KvasirUbatch *ubatch, gpointer data)
{
  Report *report = data;
  guint n_kv = kvasir_memory_get_n_kv (memory, 0);
  gsize n_words = n_kv / 64 + 3;
  g_autofree gint64 *slots = g_new (gint64, ubatch->n_tokens);
  g_autofree guint64 *words = g_new0 (guint64, ubatch->n_tokens * n_words);
  json_t *cells = json_array ();
  json_t *tokens = json_array ();
  json_t *rows = json_array ();

  kvasir_memory_fill_slots (memory, 0, slots);
  kvasir_memory_fill_mask (memory, 0, words, n_words);
  for (guint i = 0; i < ubatch->n_tokens; i++)
    {
      json_array_append_new (cells, json_integer (slots[i]));
      json_array_append_new (tokens, json_integer (ubatch->index[i]));
      json_array_append_new (rows, describe_mask_row (words + i * n_words, n_kv));
    }
  json_array_append_new (report->ubatches,
                         json_pack ("{s:o, s:i, s:i, s:{s:i}, s:{s:[[i, o]]}}", "tokens", tokens,
                                    "n_seq_tokens", ubatch->n_seq_tokens, "n_seqs", ubatch->n_seqs,
                                    "n_kv", "base", n_kv, "slots", "base", 0, cells));
  json_array_append_new (report->masks, json_pack ("{s:o}", "full", rows));
}

/* ---- operations */

static void
append_ids (GArray *ids, json_t *seq)
{
  gsize i;
  json_t *item;

  if (json_is_integer (seq))
    {
      gint32 id = (gint32) json_integer_value (seq);

      g_array_append_val (ids, id);
    }
  else
    json_array_foreach (seq, i, item) append_ids (ids, item);
}

/* One id, a list for all tokens, or a list for each. */
static GArray *
get_seqs_of_token (json_t *op, gsize i)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  json_t *seq = json_object_get (op, "seq");

  if (json_is_array (json_array_get (seq, 0)))
    append_ids (ids, json_array_get (seq, i));
  else if (seq != NULL)
    append_ids (ids, seq);
  else
    g_array_set_size (ids, 1);
  if (seq == NULL)
    g_array_index (ids, gint32, 0) = 0;
  return ids;
}

static gint
play_decode (Player *self, json_t *op, Report *report)
{
  json_t *tokens = json_object_get (op, "tokens");
  json_t *pos = json_object_get (op, "pos");
  guint n = (guint) json_array_size (tokens);
  g_autofree gint32 *ids = g_new0 (gint32, n);
  g_autofree gint32 *positions = g_new0 (gint32, n);
  g_autofree const gint32 **seqs = g_new0 (const gint32 *, n);
  g_autofree guint *n_seqs = g_new0 (guint, n);
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  KvasirBatch batch = { .n_tokens = n, .tokens = ids, .seqs = seqs, .n_seqs = n_seqs };

  for (guint i = 0; i < n; i++)
    {
      GArray *list = get_seqs_of_token (op, i);

      g_ptr_array_add (lists, list);
      ids[i] = (gint32) json_integer_value (json_array_get (tokens, i));
      positions[i] = (gint32) json_integer_value (json_array_get (pos, i));
      seqs[i] = (const gint32 *) (gpointer) list->data;
      n_seqs[i] = list->len;
    }
  if (pos != NULL)
    batch.pos = positions;
  if (n == 0)
    batch.tokens = NULL;
  return test_decode (self->memory, self->plan, &batch, report != NULL ? report_ubatch : NULL,
                      report);
}

/* The ids are those that the reference found; an id that ended the text was listed, not decoded. */
static void
play_generate (Player *self, json_t *op, json_t *ids)
{
  gsize n_asked = (gsize) get_int (op, "n", 0);
  gsize n = json_array_size (ids);

  for (gsize i = 0; i < (n < n_asked ? n - 1 : n); i++)
    {
      gint32 id = (gint32) json_integer_value (json_array_get (ids, i));
      const gint32 seq = get_int (op, "seq", 0);
      const gint32 *seqs = &seq;
      guint n_seqs = 1;
      KvasirBatch batch = { .n_tokens = 1, .tokens = &id, .seqs = &seqs, .n_seqs = &n_seqs };

      g_assert_cmpint (test_decode (self->memory, self->plan, &batch, NULL, NULL), ==, 0);
    }
}

static json_t *
play_save (Player *self, json_t *op)
{
  GByteArray *blob = g_byte_array_new ();

  kvasir_memory_update_done (self->memory, 0);
  g_assert_true (kvasir_memory_state_write (self->memory, get_int (op, "seq", -1),
                                            get_bool (op, "partial"), blob, NULL));
  g_hash_table_replace (self->saves, g_strdup (json_string_value (json_object_get (op, "to"))),
                        blob);
  return json_null ();
}

static json_t *
play_load (Player *self, json_t *op)
{
  const char *name = json_string_value (json_object_get (op, "from"));
  GByteArray *blob = g_hash_table_lookup (self->saves, name);

  g_assert_nonnull (blob);
  return json_boolean (kvasir_memory_state_read (self->memory, get_int (op, "seq", -1),
                                                 get_bool (op, "partial"), blob->data, blob->len,
                                                 NULL));
}

static json_t *
play_seq_op (Player *self, json_t *op, const char *name)
{
  KvasirMemory *memory = self->memory;
  gint seq = get_int (op, "seq", 0);
  gint32 p0 = get_int (op, "p0", -1);
  gint32 p1 = get_int (op, "p1", -1);

  if (g_str_equal (name, "seq_rm"))
    return json_boolean (kvasir_memory_seq_rm (memory, seq, p0, p1));
  if (g_str_equal (name, "seq_cp"))
    kvasir_memory_seq_cp (memory, get_int (op, "src", 0), get_int (op, "dst", 0), p0, p1);
  else if (g_str_equal (name, "seq_keep"))
    kvasir_memory_seq_keep (memory, seq);
  else if (g_str_equal (name, "seq_add"))
    kvasir_memory_seq_add (memory, seq, p0, p1, get_int (op, "delta", 0));
  else
    kvasir_memory_seq_div (memory, seq, p0, p1, get_int (op, "d", 1));
  return json_null ();
}

/* Returns: what `ret` should be, or NULL where only a model knows */
static json_t *
play (Player *self, json_t *op, json_t *expected, Report *report)
{
  const char *name = json_string_value (json_object_get (op, "op"));

  if (g_str_equal (name, "decode"))
    return json_integer (play_decode (self, op, report));
  if (g_str_has_prefix (name, "seq_"))
    return play_seq_op (self, op, name);
  if (g_str_equal (name, "load"))
    return play_load (self, op);
  if (g_str_equal (name, "update"))
    {
      gboolean had = kvasir_memory_has_update (self->memory);

      kvasir_memory_update_done (self->memory, 0);
      return json_boolean (had);
    }
  if (g_str_equal (name, "clear"))
    {
      kvasir_memory_clear (self->memory, get_bool (op, "data"));
      return json_null ();
    }
  if (g_str_equal (name, "save"))
    play_save (self, op);
  else if (g_str_equal (name, "generate"))
    play_generate (self, op, json_object_get (expected, "ret"));
  else
    g_assert_not_reached ();
  return NULL;
}

static void
assert_member (json_t *expected, const char *member, json_t *found)
{
  json_t *value = json_object_get (expected, member);

  if (value != NULL && !json_equal (value, found))
    {
      g_autofree char *want = json_dumps (value, JSON_COMPACT | JSON_ENCODE_ANY);
      g_autofree char *got = json_dumps (found, JSON_COMPACT | JSON_ENCODE_ANY);

      g_error ("operation %d, %s: expected %s, got %s", get_int (expected, "n", -1), member, want,
               got);
    }
}

static void
check_operation (Player *self, guint n_seq_max, json_t *op, json_t *expected)
{
  Report report = { json_array (), json_array () };
  json_t *ret = play (self, op, expected, &report);
  json_t *state = describe_state (self->memory, n_seq_max);

  if (ret != NULL)
    assert_member (expected, "ret", ret);
  assert_member (expected, "state", state);
  assert_member (expected, "ubatches", report.ubatches);
  assert_member (expected, "mask", report.masks);
  json_decref (ret);
  json_decref (state);
  json_decref (report.ubatches);
  json_decref (report.masks);
}

/* The objects of a JSON Lines file. */
static json_t *
read_lines (const char *path)
{
  json_t *objects = json_array ();
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0' && lines[i][0] != '#')
      {
        json_t *object = json_loads (lines[i], 0, NULL);

        g_assert_nonnull (object);
        json_array_append_new (objects, object);
      }
  return objects;
}

static void
check_scenario (gconstpointer data)
{
  g_autofree char *stem = g_strndup (data, strlen (data) - strlen (".jsonl"));
  g_autofree char *expected_path = g_strconcat (stem, ".expected.jsonl", NULL);
  json_t *scenario = read_lines (data);
  json_t *outputs = read_lines (expected_path);
  json_t *context = json_object_get (json_array_get (scenario, 0), "context");
  TestShape shape = { .n_ctx = (guint) get_int (context, "n_ctx", 512),
                      .n_seq_max = (guint) get_int (context, "n_seq_max", 1),
                      .n_batch = (guint) get_int (context, "n_batch", 2048),
                      .n_ubatch = (guint) get_int (context, "n_ubatch", 512),
                      .type = KVASIR_TYPE_F16 };
  Player player = { 0 };

  test_heap_init (&player.heap);
  player.memory = test_memory_new (&player.heap, &shape);
  player.plan = test_plan_new (&shape);
  player.saves =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_byte_array_unref);

  g_assert_cmpuint (json_array_size (scenario), ==, json_array_size (outputs) + 1);
  for (gsize i = 0; i < json_array_size (outputs); i++)
    check_operation (&player, shape.n_seq_max, json_array_get (scenario, i + 1),
                     json_array_get (outputs, i));

  kvasir_memory_free (player.memory);
  kvasir_batch_plan_free (player.plan);
  g_hash_table_unref (player.saves);
  json_decref (scenario);
  json_decref (outputs);
  g_assert_cmpuint (player.heap.n_live, ==, 0);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *name;

  g_test_init (&argc, &argv, NULL);
  folder = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "golden", "kv-unified", NULL);
  dir = g_dir_open (folder, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".jsonl") && !g_str_has_suffix (name, ".expected.jsonl"))
      {
        g_autofree char *stem = g_strndup (name, strlen (name) - strlen (".jsonl"));
        g_autofree char *path = g_strconcat ("/engine/memory/golden/", stem, NULL);

        g_test_add_data_func_full (path, g_build_filename (folder, name, NULL), check_scenario,
                                   g_free);
      }
  return g_test_run ();
}
