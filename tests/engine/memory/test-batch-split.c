/* How batches are cut into ubatches. Expected are cases worked out by hand from the rules, answers
 * of simulate.py (tests/data/memory/splits.json), and, for random batches, a splitter that is
 * written after the text of the rules and does nothing cleverly. */
#include <jansson.h>
#include <string.h>

#include "engine/memory/batch.h"

#define MAX_TOKENS 48
#define MAX_SEQS 8

typedef struct
{
  guint n;
  gint32 seqs[MAX_TOKENS][MAX_SEQS];
  guint n_seqs[MAX_TOKENS];
} Owners;

typedef struct
{
  guint n_tokens;
  guint n_seq_tokens;
  guint n_seqs;
  guint32 index[MAX_TOKENS];
} Part;

typedef struct
{
  gboolean refused;
  guint n;
  Part parts[MAX_TOKENS];
} Cut;

typedef struct
{
  KvasirSplit split;
  guint n_ubatch;
  guint n_tail;
} How;

/* ---- the engine's answer, with everything that belongs to a token checked on the way */

static KvasirBatchPlan *
plan_new (guint n_ubatch, guint n_pos_per_token)
{
  KvasirBatchLimits limits = { .n_batch = MAX_TOKENS,
                               .n_ubatch = n_ubatch,
                               .n_seq_max = MAX_SEQS,
                               .n_vocab = 1000,
                               .n_pos_per_token = n_pos_per_token };

  return kvasir_batch_plan_new (&limits);
}

static void
assert_token (const KvasirUbatch *ubatch, guint t, const Owners *owners)
{
  guint i = ubatch->index[t];
  KvasirSeqSet seqs = { 0 };

  for (guint k = 0; k < owners->n_seqs[i]; k++)
    kvasir_seq_set_add (&seqs, (guint) owners->seqs[i][k]);
  g_assert_cmpint (ubatch->tokens[t], ==, (gint32) (100 + i));
  g_assert_cmpint (ubatch->leads[t], ==, owners->seqs[i][0]);
  g_assert_true (kvasir_seq_set_equal (&ubatch->seqs[t], &seqs));
  g_assert_cmpuint (ubatch->outputs[t], ==, i % 3 == 0);
  for (guint p = 0; p < 4; p++)
    g_assert_cmpint (ubatch->pos[p * ubatch->n_tokens + t], ==, (gint32) (p * (5 + i)));
}

static void
read_cut (const KvasirBatchPlan *plan, const Owners *owners, Cut *cut)
{
  cut->n = kvasir_batch_plan_get_n_ubatches (plan);
  for (guint u = 0; u < cut->n; u++)
    {
      const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (plan, u);
      Part *part = &cut->parts[u];
      guint n_outputs = 0;

      part->n_tokens = ubatch->n_tokens;
      part->n_seq_tokens = ubatch->n_seq_tokens;
      part->n_seqs = ubatch->n_seqs;
      for (guint t = 0; t < ubatch->n_tokens; t++)
        {
          part->index[t] = ubatch->index[t];
          assert_token (ubatch, t, owners);
          n_outputs += ubatch->outputs[t];
        }
      g_assert_cmpuint (ubatch->n_outputs, ==, n_outputs);
    }
}

/* Positions never move, so that any mixture of sequences is a batch. */
static void
cut_batch (const How *how, const Owners *owners, Cut *cut)
{
  g_autoptr (KvasirBatchPlan) plan = plan_new (how->n_ubatch, 4);
  gint32 tokens[MAX_TOKENS], pos[MAX_TOKENS] = { 0 }, planes[3 * MAX_TOKENS];
  guint8 outputs[MAX_TOKENS];
  const gint32 *seqs[MAX_TOKENS];
  KvasirBatch batch = { .n_tokens = owners->n,
                        .tokens = tokens,
                        .pos = pos,
                        .planes = planes,
                        .seqs = seqs,
                        .n_seqs = owners->n_seqs,
                        .outputs = outputs };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < owners->n; i++)
    {
      tokens[i] = (gint32) (100 + i);
      seqs[i] = owners->seqs[i];
      outputs[i] = i % 3 == 0;
      for (guint p = 0; p < 3; p++)
        planes[p * owners->n + i] = (gint32) ((p + 1) * (5 + i));
    }
  memset (cut, 0, sizeof *cut);
  g_assert_true (kvasir_batch_plan_init (plan, &batch, NULL, &error));
  g_assert_no_error (error);
  cut->refused = !kvasir_batch_plan_split (plan, how->split, how->n_tail);
  read_cut (plan, owners, cut);
}

static void
assert_same (const Cut *actual, const Cut *expected)
{
  g_assert_cmpint (actual->refused, ==, expected->refused);
  g_assert_cmpuint (actual->n, ==, expected->n);
  for (guint u = 0; u < expected->n; u++)
    {
      const Part *a = &actual->parts[u];
      const Part *e = &expected->parts[u];

      g_assert_cmpuint (a->n_seq_tokens, ==, e->n_seq_tokens);
      g_assert_cmpuint (a->n_seqs, ==, e->n_seqs);
      g_assert_cmpmem (a->index, a->n_tokens * sizeof *a->index, e->index,
                       e->n_tokens * sizeof *e->index);
    }
}

/* ---- by hand */

/* "0 0 1 01": one digit for each sequence of a token. */
static void
parse_owners (const char *text, Owners *owners)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  owners->n = g_strv_length (words);
  for (guint i = 0; i < owners->n; i++)
    {
      owners->n_seqs[i] = (guint) strlen (words[i]);
      for (guint k = 0; k < owners->n_seqs[i]; k++)
        owners->seqs[i][k] = words[i][k] - '0';
    }
}

static char *
describe (const Cut *cut)
{
  GString *text = g_string_new (NULL);

  for (guint u = 0; u < cut->n; u++)
    {
      const Part *part = &cut->parts[u];

      g_string_append_printf (text, "%s%ux%u:", u > 0 ? " | " : "", part->n_seqs,
                              part->n_seq_tokens);
      for (guint t = 0; t < part->n_tokens; t++)
        g_string_append_printf (text, " %u", part->index[t]);
    }
  return g_string_free (text, FALSE);
}

typedef struct
{
  const char *name;
  How how;
  const char *owners;
  const char *expected; /* sequences x tokens each: tokens of the batch */
} HandCase;

static const HandCase hand_cases[] = {
  { "simple-keeps-the-order", { KVASIR_SPLIT_SIMPLE, 3, 0 }, "2 0 2 1 0", "3x1: 0 1 2 | 2x1: 3 4" },
  { "equal-takes-rounds",
    { KVASIR_SPLIT_EQUAL, 8, 0 },
    "0 0 0 1 1 2",
    "3x1: 0 3 5 | 2x1: 1 4 | 1x1: 2" },
  { "equal-stops-rounds-at-n-ubatch",
    { KVASIR_SPLIT_EQUAL, 5, 0 },
    "0 0 0 1 1 1",
    "2x2: 0 1 3 4 | 2x1: 2 5" },
  { "equal-collects-at-most-n-ubatch-sets",
    { KVASIR_SPLIT_EQUAL, 2, 0 },
    "3 1 2 0",
    "2x1: 0 1 | 2x1: 2 3" },
  { "equal-skips-overlapping-sets",
    { KVASIR_SPLIT_EQUAL, 8, 0 },
    "01 0 1 2",
    "2x1: 0 3 | 2x1: 1 2" },
  /* 2 is skipped at first, and taken once 1 was. */
  { "sequential-takes-a-later-token",
    { KVASIR_SPLIT_EQUAL_SEQUENTIAL, 8, 0 },
    "0 2 1 2",
    "3x1: 0 2 1 | 1x1: 3" },
  { "sequential-wants-the-next-id",
    { KVASIR_SPLIT_EQUAL_SEQUENTIAL, 8, 0 },
    "1 0 3 2",
    "2x1: 0 3 | 1x1: 1 | 1x1: 2" },
  /* Three rounds would leave one token of sequence 1, so that the part ends before it. */
  { "tail-ends-before-a-torn-set",
    { KVASIR_SPLIT_EQUAL, 8, 2 },
    "0 0 0 1 1 1 1",
    "1x3: 0 1 2 | 1x4: 3 4 5 6" },
  { "tail-lets-a-torn-first-set-go-alone",
    { KVASIR_SPLIT_EQUAL, 8, 2 },
    "0 0 0 1 1",
    "1x3: 0 1 2 | 1x2: 3 4" },
  { "tail-of-a-long-first-set-waits",
    { KVASIR_SPLIT_EQUAL, 4, 3 },
    "0 0 0 0 0",
    "1x2: 0 1 | 1x3: 2 3 4" },
  { "tail-fills-the-ubatch-where-enough-is-left",
    { KVASIR_SPLIT_EQUAL, 4, 2 },
    "0 0 0 0 0 0 0",
    "1x4: 0 1 2 3 | 1x3: 4 5 6" },
  { "by-sequence-goes-set-by-set",
    { KVASIR_SPLIT_BY_SEQUENCE, 8, 0 },
    "0 1 0 1 1",
    "1x2: 0 2 | 1x3: 1 3 4" },
  { "by-sequence-takes-subsets",
    { KVASIR_SPLIT_BY_SEQUENCE, 8, 0 },
    "01 2 0 1 012",
    "1x3: 0 2 3 | 1x1: 1 | 1x1: 4" },
  { "by-sequence-stops-at-n-ubatch",
    { KVASIR_SPLIT_BY_SEQUENCE, 2, 0 },
    "0 1 0 0",
    "1x2: 0 2 | 1x1: 1 | 1x1: 3" },
};

static void
test_by_hand (gconstpointer data)
{
  const HandCase *hand = data;
  Owners owners;
  Cut cut;
  g_autofree char *text = NULL;

  parse_owners (hand->owners, &owners);
  cut_batch (&hand->how, &owners, &cut);
  text = describe (&cut);
  g_assert_cmpstr (text, ==, hand->expected);
}

static void
test_sequential_refuses_sharers (void)
{
  const How how = { KVASIR_SPLIT_EQUAL_SEQUENTIAL, 8, 0 };
  Owners owners;
  Cut cut;

  parse_owners ("0 1 01", &owners);
  cut_batch (&how, &owners, &cut);
  g_assert_true (cut.refused);
  g_assert_cmpuint (cut.n, ==, 0);
}

/* A plan may be split again, in another way. */
static void
test_splits_again (void)
{
  g_autoptr (KvasirBatchPlan) plan = plan_new (2, 1);
  const gint32 zero = 0, one = 1;
  const gint32 *seqs[] = { &zero, &zero, &one };
  const KvasirUbatch *ubatch;
  KvasirBatch batch = { .n_tokens = 3,
                        .tokens = (const gint32[]){ 7, 8, 9 },
                        .seqs = seqs,
                        .n_seqs = (const guint[]){ 1, 1, 1 } };

  g_assert_true (kvasir_batch_plan_init (plan, &batch, NULL, NULL));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (plan), ==, 0);
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (plan), ==, 2);
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_BY_SEQUENCE, 0));
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_EQUAL, 0));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (plan), ==, 2);
  ubatch = kvasir_batch_plan_get_ubatch (plan, 0);
  g_assert_cmpint (ubatch->tokens[0], ==, 7);
  g_assert_cmpint (ubatch->tokens[1], ==, 9);
  /* The last token of each sequence is an output; its row belongs to the batch's token. */
  g_assert_cmpuint (ubatch->n_outputs, ==, 1);
  g_assert_cmpuint (ubatch->outputs[1], ==, 1);
  g_assert_cmpuint (ubatch->index[1], ==, 2);
}

/* ---- answers of simulate.py */

static void
read_case (json_t *entry, How *how, Owners *owners, Cut *cut)
{
  const char *split = json_string_value (json_object_get (entry, "split"));
  json_t *seqs = json_object_get (entry, "seqs"), *parts = json_object_get (entry, "ubatches");

  how->split = strcmp (split, "simple") == 0  ? KVASIR_SPLIT_SIMPLE
               : strcmp (split, "equal") == 0 ? KVASIR_SPLIT_EQUAL
                                              : KVASIR_SPLIT_EQUAL_SEQUENTIAL;
  how->n_ubatch = (guint) json_integer_value (json_object_get (entry, "n_ubatch"));
  how->n_tail = (guint) json_integer_value (json_object_get (entry, "n_tail"));
  owners->n = (guint) json_array_size (seqs);
  for (guint i = 0; i < owners->n; i++)
    {
      owners->n_seqs[i] = (guint) json_array_size (json_array_get (seqs, i));
      for (guint k = 0; k < owners->n_seqs[i]; k++)
        owners->seqs[i][k] =
            (gint32) json_integer_value (json_array_get (json_array_get (seqs, i), k));
    }
  *cut = (Cut){ .refused = json_is_null (parts), .n = (guint) json_array_size (parts) };
  for (guint u = 0; u < cut->n; u++)
    {
      json_t *part = json_array_get (parts, u), *tokens = json_array_get (part, 2);

      cut->parts[u].n_seq_tokens = (guint) json_integer_value (json_array_get (part, 0));
      cut->parts[u].n_seqs = (guint) json_integer_value (json_array_get (part, 1));
      cut->parts[u].n_tokens = (guint) json_array_size (tokens);
      for (guint t = 0; t < cut->parts[u].n_tokens; t++)
        cut->parts[u].index[t] = (guint32) json_integer_value (json_array_get (tokens, t));
    }
}

static void
test_simulated (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "memory", "splits.json", NULL);
  json_error_t error;
  json_t *root = json_load_file (path, 0, &error);
  json_t *cases = json_object_get (root, "cases");

  g_assert_nonnull (root);
  g_assert_cmpuint (json_array_size (cases), >, 100);
  for (gsize i = 0; i < json_array_size (cases); i++)
    {
      How how;
      Owners owners;
      Cut expected, actual;

      read_case (json_array_get (cases, i), &how, &owners, &expected);
      cut_batch (&how, &owners, &actual);
      assert_same (&actual, &expected);
    }
  json_decref (root);
}

/* ---- random batches against the rules written down plainly */

typedef struct
{
  const How *how;
  const Owners *owners;
  gboolean used[MAX_TOKENS];
} Naive;

static gboolean
naive_has (const Owners *owners, guint i, gint32 seq)
{
  for (guint k = 0; k < owners->n_seqs[i]; k++)
    if (owners->seqs[i][k] == seq)
      return TRUE;
  return FALSE;
}

static gboolean
naive_is_subset (const Owners *owners, guint i, guint of)
{
  for (guint k = 0; k < owners->n_seqs[i]; k++)
    if (!naive_has (owners, of, owners->seqs[i][k]))
      return FALSE;
  return TRUE;
}

static gboolean
naive_is_same (const Owners *owners, guint i, guint j)
{
  return naive_is_subset (owners, i, j) && naive_is_subset (owners, j, i);
}

static gboolean
naive_overlaps (const Owners *owners, guint i, guint j)
{
  for (guint k = 0; k < owners->n_seqs[i]; k++)
    if (naive_has (owners, j, owners->seqs[i][k]))
      return TRUE;
  return FALSE;
}

static guint
naive_count_left (const Naive *self, guint like)
{
  guint n = 0;

  for (guint i = 0; i < self->owners->n; i++)
    n += !self->used[i] && naive_is_same (self->owners, i, like);
  return n;
}

/* The first token of each set that is collected. */
static guint
naive_collect (const Naive *self, guint *collected)
{
  gboolean sequential = self->how->split == KVASIR_SPLIT_EQUAL_SEQUENTIAL;
  guint n = 0;

  for (guint i = 0; i < self->owners->n && n < self->how->n_ubatch; i++)
    {
      gboolean skip = self->used[i];

      for (guint c = 0; c < n; c++)
        skip = skip || naive_overlaps (self->owners, i, collected[c]);
      if (sequential && n > 0 &&
          self->owners->seqs[i][0] != self->owners->seqs[collected[n - 1]][0] + 1)
        skip = TRUE;
      if (!skip)
        collected[n++] = i;
    }
  return n;
}

static void
naive_take (Naive *self, guint like, guint n, Part *part)
{
  for (guint i = 0; i < self->owners->n && n > 0; i++)
    if (!self->used[i] && naive_is_same (self->owners, i, like))
      {
        self->used[i] = TRUE;
        part->index[part->n_tokens++] = i;
        n--;
      }
}

static void
naive_equal (Naive *self, Part *part)
{
  guint collected[MAX_TOKENS], rounds = 0;
  guint n = naive_collect (self, collected), tail = self->how->n_tail;
  gboolean ends = FALSE;

  while (!ends)
    {
      rounds++;
      ends = (rounds + 1) * n > self->how->n_ubatch;
      for (guint c = 0; c < n; c++)
        ends = ends || naive_count_left (self, collected[c]) == rounds;
    }
  for (guint c = 0; c < n; c++)
    {
      guint left = naive_count_left (self, collected[c]);

      if (left == rounds || left - rounds >= tail)
        continue;
      if (c == 0)
        rounds = left <= self->how->n_ubatch ? left : MIN (self->how->n_ubatch, left - tail);
      n = MAX (c, 1);
      break;
    }
  for (guint c = 0; c < n; c++)
    naive_take (self, collected[c], rounds, part);
  part->n_seqs = n;
  part->n_seq_tokens = rounds;
}

static void
naive_by_sequence (Naive *self, Part *part)
{
  guint first = 0;

  while (self->used[first])
    first++;
  for (guint i = first; i < self->owners->n && part->n_tokens < self->how->n_ubatch; i++)
    if (!self->used[i] && naive_is_subset (self->owners, i, first))
      {
        self->used[i] = TRUE;
        part->index[part->n_tokens++] = i;
      }
  part->n_seqs = 1;
  part->n_seq_tokens = part->n_tokens;
}

static void
naive_cut (const How *how, const Owners *owners, Cut *cut)
{
  Naive self = { .how = how, .owners = owners };
  guint n_cut = 0;

  memset (cut, 0, sizeof *cut);
  for (guint i = 0; i < owners->n; i++)
    cut->refused |= how->split == KVASIR_SPLIT_EQUAL_SEQUENTIAL && owners->n_seqs[i] > 1;
  while (!cut->refused && n_cut < owners->n)
    {
      Part *part = &cut->parts[cut->n++];

      if (how->split == KVASIR_SPLIT_BY_SEQUENCE)
        naive_by_sequence (&self, part);
      else
        naive_equal (&self, part);
      n_cut += part->n_tokens;
    }
}

static void
make_token (GRand *rand, Owners *owners, guint i, gboolean may_share)
{
  gint32 first = g_rand_int_range (rand, 0, MAX_SEQS);
  guint n = may_share ? (guint) g_rand_int_range (rand, 1, 4) : 1;

  /* Ids a fixed step apart are different. */
  owners->n_seqs[i] = n;
  for (guint k = 0; k < n; k++)
    owners->seqs[i][k] = (first + (gint32) (3 * k)) % MAX_SEQS;
}

static void
make_owners (GRand *rand, Owners *owners)
{
  gboolean may_share = g_rand_int_range (rand, 0, 3) == 0;

  owners->n = (guint) g_rand_int_range (rand, 1, MAX_TOKENS + 1);
  for (guint i = 0; i < owners->n; i++)
    if (i > 0 && g_rand_boolean (rand))
      {
        owners->n_seqs[i] = owners->n_seqs[i - 1];
        memcpy (owners->seqs[i], owners->seqs[i - 1], sizeof owners->seqs[i]);
      }
    else
      make_token (rand, owners, i, may_share);
}

static void
test_random (void)
{
  const KvasirSplit splits[] = { KVASIR_SPLIT_EQUAL, KVASIR_SPLIT_EQUAL_SEQUENTIAL,
                                 KVASIR_SPLIT_BY_SEQUENCE };
  guint32 seed = (guint32) g_test_rand_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  g_test_message ("seed %u", seed);
  for (guint round = 0; round < 2000; round++)
    {
      How how = { splits[round % 3], (guint) g_rand_int_range (rand, 1, 20), 0 };
      Owners owners;
      Cut expected, actual;

      if (how.n_ubatch > 3 && g_rand_boolean (rand))
        how.n_tail = (guint) g_rand_int_range (rand, 2, (gint32) how.n_ubatch);
      make_owners (rand, &owners);
      naive_cut (&how, &owners, &expected);
      cut_batch (&how, &owners, &actual);
      assert_same (&actual, &expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (hand_cases); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/memory/batch-split/", hand_cases[i].name, NULL);

      g_test_add_data_func (path, &hand_cases[i], test_by_hand);
    }
  g_test_add_func ("/engine/memory/batch-split/sequential-refuses-sharers",
                   test_sequential_refuses_sharers);
  g_test_add_func ("/engine/memory/batch-split/splits-again", test_splits_again);
  g_test_add_func ("/engine/memory/batch-split/agrees-with-simulated-answers", test_simulated);
  g_test_add_func ("/engine/memory/batch-split/agrees-with-plain-rules", test_random);
  return g_test_run ();
}
