/* Saving and restoring: what comes back, what is refused, and that a refusal leaves no trace. */
#include <string.h>

#include "engine/error.h"
#include "engine/memory/state-io.h"
#include "tests/engine/memory/support.h"

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
} Fixture;

static const TestShape shape = {
  .n_ctx = 256, .n_seq_max = 4, .n_batch = 256, .n_ubatch = 64, .type = KVASIR_TYPE_Q8_0
};

static void
decode (Fixture *self, gint seq, guint n, guint seed)
{
  g_assert_cmpint (test_decode_some (self->memory, self->plan, seq, n, seed), ==, 0);
}

/* Sequence 0 in pieces around holes, 1 shares its start, 2 behind. */
static void
fixture_init (Fixture *self, gconstpointer data)
{
  test_heap_init (&self->heap);
  self->memory = test_memory_new (&self->heap, &shape);
  self->plan = test_plan_new (&shape);
  kvasir_memory_set_step (self->memory, 1);
  decode (self, 0, 10, 1);
  kvasir_memory_seq_cp (self->memory, 0, 1, 0, 4);
  decode (self, 2, 5, 50);
  decode (self, 0, 7, 100);
  decode (self, 2, 6, 150);
  kvasir_memory_seq_rm (self->memory, 0, 6, 8);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
}

static GByteArray *
save (Fixture *self, gint seq, gboolean partial)
{
  GByteArray *blob = g_byte_array_new ();

  g_assert_true (kvasir_memory_state_write (self->memory, seq, partial, blob, NULL));
  return blob;
}

static gboolean
load (Fixture *self, gint seq, gboolean partial, const GByteArray *blob)
{
  return kvasir_memory_state_read (self->memory, seq, partial, blob->data, blob->len, NULL);
}

/* The positions and tokens of a sequence in the order of its cells, whose rows must be its own. */
static char *
describe_seq (Fixture *self, gint seq)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < kvasir_memory_get_size (self->memory, 0); i++)
    {
      KvasirCell cell;

      kvasir_memory_get_cell (self->memory, 0, 0, i, &cell);
      if (!kvasir_seq_set_has (&cell.seqs, (guint) seq))
        continue;
      g_string_append_printf (text, "%d:%d ", cell.pos, cell.token);
      test_assert_rows (self->memory, i, cell.token);
    }
  return g_string_free (text, FALSE);
}

static void
test_hash (void)
{
  /* Computed with the xxhash package of PyPI, which wraps the reference implementation. */
  static const struct
  {
    const char *text;
    guint64 hash;
  } vectors[] = { { "", 0xef46db3751d8e999u },
                  { "a", 0xd24ec4f1a98c6e5bu },
                  { "abc", 0x44bc2cf5ad770999u },
                  { "The quick brown fox jumps over the lazy dog", 0x0b242d361fda71bcu } };
  guint8 bytes[256];

  for (guint i = 0; i < G_N_ELEMENTS (vectors); i++)
    g_assert_cmphex (kvasir_state_hash ((const guint8 *) vectors[i].text, strlen (vectors[i].text)),
                     ==, vectors[i].hash);
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) i;
  g_assert_cmphex (kvasir_state_hash (bytes, 256), ==, 0x1facbe8406cd904bu);
  g_assert_cmphex (kvasir_state_hash (bytes, 101), ==, 0xe99038495f85381eu);
}

static void
test_whole (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = save (self, -1, FALSE);
  g_autofree char *before[3];
  KvasirCell cell;

  for (gint seq = 0; seq < 3; seq++)
    before[seq] = describe_seq (self, seq);
  kvasir_memory_clear (self->memory, TRUE);
  decode (self, 3, 200, 7);
  kvasir_memory_set_step (self->memory, 9);
  g_assert_true (load (self, -1, FALSE, blob));

  /* 28 tokens less the two removed, from cell 0 on without holes. */
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 26);
  g_assert_cmpuint (kvasir_memory_get_used_max (self->memory, 0, 0), ==, 26);
  g_assert_cmpuint (kvasir_memory_get_head (self->memory, 0, 0), ==, 0);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 3), ==, -1);
  kvasir_memory_get_cell (self->memory, 0, 0, 3, &cell);
  g_assert_cmphex (cell.seqs.w[0], ==, 3);
  g_assert_cmpuint (cell.step, ==, 9);
  for (gint seq = 0; seq < 3; seq++)
    {
      g_autofree char *after = describe_seq (self, seq);

      g_assert_cmpstr (before[seq], ==, after);
    }
  g_free (before[1]);
  g_free (before[2]);
}

/* A sequence comes back under another id, into the holes that there are. */
static void
test_scattered (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = save (self, 0, FALSE);
  g_autofree char *before = describe_seq (self, 0);
  g_autofree char *after = NULL;

  kvasir_memory_clear (self->memory, TRUE);
  decode (self, 1, 200, 3);
  for (gint32 pos = 10; pos < 200; pos += 10)
    kvasir_memory_seq_rm (self->memory, 1, pos, pos + 1);
  decode (self, 2, 50, 5);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 231);

  g_assert_true (load (self, 3, FALSE, blob));
  after = describe_seq (self, 3);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 246);
}

static void
test_empty_sequence (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = save (self, 3, FALSE);

  g_assert_true (load (self, 2, FALSE, blob));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 2), ==, -1);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 0), ==, 16);
}

/* A plain cache has nothing that belongs into a checkpoint. */
static void
test_partial (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) whole = save (self, -1, TRUE);
  g_autoptr (GByteArray) one = save (self, 0, TRUE);
  g_autofree char *before = test_memory_describe (self->memory);
  g_autofree char *after = NULL;

  g_assert_cmpuint (one->len, ==, whole->len);
  g_assert_true (load (self, -1, TRUE, whole));
  g_assert_true (load (self, 0, TRUE, one));
  g_assert_false (load (self, -1, TRUE, one));
  g_assert_false (load (self, 0, TRUE, whole));
  g_assert_false (load (self, 0, FALSE, one));
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
}

/* ---- refusals */

static void
assert_refused (Fixture *self, gint seq, const GByteArray *blob, gint code, const char *message)
{
  g_autofree char *before = test_memory_describe (self->memory);
  guint64 rows = test_memory_hash_rows (self->memory);
  g_autofree char *after = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_false (
      kvasir_memory_state_read (self->memory, seq, FALSE, blob->data, blob->len, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, code);
  if (!g_pattern_match_simple (message, error->message))
    g_error ("expected \"%s\", got \"%s\"", message, error->message);
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmphex (rows, ==, test_memory_hash_rows (self->memory));
}

static void
test_every_bit (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  guint64 rows;

  kvasir_memory_seq_rm (self->memory, 0, 4, -1);
  blob = save (self, 0, FALSE);
  before = test_memory_describe (self->memory);
  rows = test_memory_hash_rows (self->memory);
  for (guint i = 0; i < blob->len * 8; i++)
    {
      blob->data[i / 8] ^= (guint8) (1 << (i % 8));
      g_assert_false (load (self, 0, FALSE, blob));
      blob->data[i / 8] ^= (guint8) (1 << (i % 8));
    }
  for (guint n = 0; n < blob->len; n++)
    {
      g_autofree guint8 *cut = g_memdup2 (blob->data, n);

      g_assert_false (kvasir_memory_state_read (self->memory, 0, FALSE, cut, n, NULL));
    }
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmphex (rows, ==, test_memory_hash_rows (self->memory));
  g_assert_true (load (self, 0, FALSE, blob));
}

static void
test_garbage (Fixture *self, gconstpointer data)
{
  GRand *rand = g_rand_new_with_seed (77);
  g_autoptr (GByteArray) good = save (self, -1, FALSE);

  for (guint round = 0; round < 2000; round++)
    {
      guint n = (guint) g_rand_int_range (rand, 1, 400);
      g_autoptr (GByteArray) blob = g_byte_array_new ();

      g_byte_array_append (blob, good->data, MIN (n, (guint) g_rand_int_range (rand, 0, 120)));
      while (blob->len < n)
        {
          guint8 byte = (guint8) g_rand_int (rand);

          g_byte_array_append (blob, &byte, 1);
        }
      g_assert_false (load (self, round % 2 ? -1 : 1, FALSE, blob));
    }
  g_rand_free (rand);
}

/* A blob whose checksum is right, but not what it says. */
typedef struct
{
  const char *name;
  gint seq;
  guint offset; /* of a 32-bit number */
  guint32 value;
  gint code;
  const char *message;
} Lie;

#define SECTION 72
#define LAYERS (SECTION + 24)
#define COUNT (LAYERS + 24 * TEST_N_LAYERS)
#define CELLS (COUNT + 4)

static const Lie lies[] = {
  { "magic", 0, 0, 1, KVASIR_ENGINE_ERROR_BAD_FILE,
    "*begins with 0x00000001, expected 0x5453564b" },
  { "version", 0, 4, 1, KVASIR_ENGINE_ERROR_BAD_FILE, "*version 1, expected 2" },
  { "flags", 0, 16, 8, KVASIR_ENGINE_ERROR_BAD_FILE, "*flags 0x8, expected 0 to 7" },
  { "whole", 0, 16, 1, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*a whole memory, expected one sequence" },
  { "partial", 0, 16, 2, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*checkpoint of one sequence, expected*" },
  { "partial-whole", -1, 16, 3, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*checkpoint of a whole memory, expected a whole memory" },
  { "transposed", 0, 16, 4, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*transposed values 1, expected 0" },
  { "class", 0, 20, 3, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*memory class 3, expected 1" },
  { "rope", 0, 24, 8, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*rope settings 8, expected 7" },
  { "context", 0, 28, 512, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*cells of a sequence 512, expected 256" },
  { "parts", 0, 32, 2, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*number of parts 2, expected 1" },
  { "positions", 0, 36, 4, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*positions of a token 4, expected 1" },
  { "arch", 0, 40, 0, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*another architecture, expected test" },
  { "k-type", 0, SECTION, 1, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*K type 1, expected 8" },
  { "v-type", 0, SECTION + 4, 1, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*V type 1, expected 8" },
  { "layers", 0, SECTION + 8, 4, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*number of layers 4, expected 3" },
  { "streams", 0, SECTION + 12, 4, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
    "*number of streams 4, expected 1" },
  { "set-words", 0, SECTION + 16, 1, KVASIR_ENGINE_ERROR_BAD_FILE, "*1 words a set, expected 0" },
  { "set-words-none", -1, SECTION + 16, 0, KVASIR_ENGINE_ERROR_BAD_FILE,
    "*0 words a set, expected 1 to 4" },
  { "set-words-many", -1, SECTION + 16, 5, KVASIR_ENGINE_ERROR_BAD_FILE,
    "*5 words a set, expected 1 to 4" },
  { "set-words-more", -1, SECTION + 16, 2, KVASIR_ENGINE_ERROR_BAD_FILE,
    "*bytes of cells, expected*" },
  { "cells", 0, COUNT, 16, KVASIR_ENGINE_ERROR_BAD_FILE, "*bytes of cells, expected*" },
  { "cells-less", 0, COUNT, 14, KVASIR_ENGINE_ERROR_BAD_FILE, "*bytes behind its end" },
  { "cells-many", 0, COUNT, G_MAXUINT32, KVASIR_ENGINE_ERROR_NO_ROOM,
    "*cells of cache \"base\", but there are only 256" },
  { "layer", 0, LAYERS + 24, 9, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*layer 9, expected 1" },
  { "k-row", 0, LAYERS + 8, 33, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*K row 33, expected 34" },
  { "v-row", 0, LAYERS + 16, 33, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*V row 33, expected 68" },
  { "position", 0, CELLS, G_MAXUINT32, KVASIR_ENGINE_ERROR_BAD_FILE, "*cell 0 has position -1*" },
  { "position-far", 0, CELLS + 8, G_MAXINT32, KVASIR_ENGINE_ERROR_BAD_FILE,
    "*cell 1 has position 2147483647*" },
  { "token", 0, CELLS + 4, (guint32) -2, KVASIR_ENGINE_ERROR_BAD_FILE, "*token -2, expected*" },
  { "no-owner", -1, CELLS + 8, 0, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*cell 0 belongs to no *" },
  { "owner-above", -1, CELLS + 8, 17, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*or to one above 3" },
};

static void
seal_again (GByteArray *blob)
{
  g_byte_array_set_size (blob, blob->len - 8);
  kvasir_state_seal (blob, 0);
}

static void
test_lie (Fixture *self, gconstpointer data)
{
  const Lie *lie = data;
  g_autoptr (GByteArray) blob = save (self, lie->seq, FALSE);
  guint32 value = GUINT32_TO_LE (lie->value);

  memcpy (blob->data + lie->offset, &value, sizeof value);
  seal_again (blob);
  assert_refused (self, lie->seq, blob, lie->code, lie->message);
}

/* The length is not covered by a later check: it is compared with the bytes that there are. */
static void
test_length (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = save (self, 0, FALSE);
  guint64 hash;

  blob->data[8] ^= 1;
  hash = GUINT64_TO_LE (kvasir_state_hash (blob->data, blob->len - 8));
  memcpy (blob->data + blob->len - 8, &hash, sizeof hash);
  assert_refused (self, 0, blob, KVASIR_ENGINE_ERROR_BAD_FILE, "*bytes, expected *");
}

static void
test_checkpoint_with_cells (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = save (self, 0, FALSE);

  blob->data[16] = 2;
  seal_again (blob);
  g_assert_false (load (self, 0, TRUE, blob));
}

/* Only cells that nobody else holds become free when the destination goes. */
static void
test_no_room (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = NULL;

  decode (self, 3, 100, 1);
  blob = save (self, 3, FALSE);
  decode (self, 2, 100, 2);
  /* 226 cells are used. Sequence 0 has 15, four of them shared with 1. */
  assert_refused (self, 0, blob, KVASIR_ENGINE_ERROR_NO_ROOM, "*100 cells, but only 41 are free");
  assert_refused (self, 1, blob, KVASIR_ENGINE_ERROR_NO_ROOM, "*100 cells, but only 30 are free");
  g_assert_true (load (self, 3, FALSE, blob));
  g_assert_true (load (self, 2, FALSE, blob));
}

static void
test_other_sequences (Fixture *self, gconstpointer data)
{
  TestShape large = shape;
  Fixture other = { 0 };
  g_autoptr (GByteArray) blob = NULL;

  /* More sequences than a word of a set holds, so that the blob's sets are wider than ours. */
  large.n_seq_max = 100;
  test_heap_init (&other.heap);
  other.memory = test_memory_new (&other.heap, &large);
  other.plan = test_plan_new (&large);

  decode (&other, 2, 30, 8);
  blob = save (&other, -1, FALSE);
  g_assert_true (load (self, -1, FALSE, blob));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 2), ==, 29);
  g_byte_array_set_size (blob, 0);

  decode (&other, 99, 10, 8);
  g_assert_true (kvasir_memory_state_write (other.memory, -1, FALSE, blob, NULL));
  assert_refused (self, -1, blob, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "*cell 30 belongs to*above 3");
  g_byte_array_set_size (blob, 0);
  fixture_clear (&other, NULL);
}

/* A state is appended to what is there, and read from there. */
static void
test_append (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) both = save (self, 0, FALSE);
  guint n_first = both->len;

  g_assert_true (kvasir_memory_state_write (self->memory, 2, FALSE, both, NULL));
  g_assert_true (kvasir_memory_state_read (self->memory, 1, FALSE, both->data + n_first,
                                           both->len - n_first, NULL));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 1), ==, 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/memory/state/hash-agrees-with-reference", test_hash);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/state/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  ADD ("whole-comes-back", test_whole);
  ADD ("sequence-comes-back-scattered", test_scattered);
  ADD ("empty-sequence-empties", test_empty_sequence);
  ADD ("checkpoint-is-empty", test_partial);
  ADD ("refuses-every-flipped-bit-and-cut", test_every_bit);
  ADD ("refuses-garbage", test_garbage);
  ADD ("refuses-wrong-length", test_length);
  ADD ("refuses-checkpoint-with-cells", test_checkpoint_with_cells);
  ADD ("refuses-without-room", test_no_room);
  ADD ("fits-other-numbers-of-sequences", test_other_sequences);
  ADD ("appends", test_append);
  for (guint i = 0; i < G_N_ELEMENTS (lies); i++)
    {
      g_autofree char *path =
          g_strconcat ("/engine/memory/state/refuses-wrong-", lies[i].name, NULL);

      g_test_add (path, Fixture, &lies[i], fixture_init, test_lie, fixture_clear);
    }
  return g_test_run ();
}
