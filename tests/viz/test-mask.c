/* The mask against the engine's own reasons and against the tests made one by one. */
#include <string.h>

#include "tests/viz/fake.h"
#include "viz/mask-model.h"

/* The reason by the rule, cell for cell. */
static KvasirMaskReason
get_naive_reason (const Fake *fake, const KvasirMaskShot *shot, guint row, guint cell)
{
  guint seq = (guint) kvasir_seq_set_next (&shot->row_seqs[row], 0);
  gint32 distance = shot->row_pos[row] - fake->pos[cell];
  if (fake->pos[cell] < 0)
    {
      for (guint i = cell; i < shot->n_kv; i++)
        if (fake->pos[i] >= 0)
          return KVASIR_MASK_EMPTY;
      return KVASIR_MASK_PADDING;
    }
  if (!kvasir_seq_set_has (&fake->sets[cell], seq))
    return KVASIR_MASK_OTHER_SEQUENCE;
  if (distance < 0)
    return KVASIR_MASK_FUTURE;
  if (fake->n_swa > 0 && distance >= (gint32) fake->n_swa)
    return KVASIR_MASK_OUTSIDE_WINDOW;
  return KVASIR_MASK_OPEN;
}

static void
check_rows (const Fake *fake, const KvasirMaskShot *shot, const KvasirMaskModel *model)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (KvasirMaskSegment));
  for (guint row = 0; row < shot->n_rows; row++)
    {
      KvasirMaskCounts counts;
      guint next = 0;
      guint sum = 0;
      kvasir_mask_model_get_row (model, row, segments);
      for (guint i = 0; i < segments->len; i++)
        {
          const KvasirMaskSegment *segment = &g_array_index (segments, KvasirMaskSegment, i);
          g_assert_cmpuint (segment->cell, ==, next);
          for (guint cell = next; cell < next + segment->n; cell++)
            {
              g_assert_cmpint (segment->reason, ==, get_naive_reason (fake, shot, row, cell));
              g_assert_cmpint (segment->reason, ==, kvasir_mask_shot_get_reason (shot, row, cell));
            }
          next += segment->n;
        }
      g_assert_cmpuint (next, ==, shot->n_kv);
      kvasir_mask_model_count_row (model, row, &counts);
      for (guint reason = 0; reason < KVASIR_N_MASK_REASONS; reason++)
        sum += counts.reasons[reason];
      g_assert_cmpuint (sum, ==, shot->n_kv);
    }
}

static void
check_blocks (const Fake *fake, const KvasirMaskShot *shot, const KvasirMaskModel *model)
{
  for (guint i = 0; i < model->n_block_rows * model->n_block_columns; i++)
    {
      guint n_open = 0;
      guint n = 0;
      guint first_row = i / model->n_block_columns * KVASIR_MASK_BLOCK_ROWS;
      guint first_cell = i % model->n_block_columns * KVASIR_MASK_BLOCK_CELLS;
      for (guint row = first_row; row < MIN (first_row + KVASIR_MASK_BLOCK_ROWS, shot->n_rows);
           row++)
        for (guint cell = first_cell; cell < MIN (first_cell + KVASIR_MASK_BLOCK_CELLS, shot->n_kv);
             cell++, n++)
          n_open += get_naive_reason (fake, shot, row, cell) == KVASIR_MASK_OPEN;
      g_assert_cmpint (model->blocks[i], ==,
                       n_open == 0   ? KVASIR_BLOCK_CLOSED
                       : n_open == n ? KVASIR_BLOCK_OPEN
                                     : KVASIR_BLOCK_MIXED);
    }
  g_assert_cmpuint (model->n_blocks[0] + model->n_blocks[1] + model->n_blocks[2], ==,
                    model->n_block_rows * model->n_block_columns);
}

static void
check_mask (const Fake *fake, guint n_rows, guint64 seqs)
{
  g_autoptr (KvasirMaskShot) shot = fake_make_mask (fake, n_rows, seqs);
  if (shot->n_rows == 0)
    return;
  g_autoptr (KvasirMaskModel) model = kvasir_mask_model_new (shot);
  check_rows (fake, shot, model);
  check_blocks (fake, shot, model);
}

static void
test_chat (void)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  check_mask (fake, 1, 1);
  check_mask (fake, 9, 7);
  fake->n_swa = 512;
  check_mask (fake, 9, 7);
  fake->n_swa = 2;
  check_mask (fake, 9, 7);
  fake->n_kv = 1900;
  check_mask (fake, 5, 3);
}

/* Cells against the order of positions: every entry is a run of its own. */
static void
test_backwards (void)
{
  g_autoptr (Fake) fake = fake_new (300, 1);
  for (guint cell = 0; cell < 250; cell++)
    fake_put (fake, cell, 1, 249 - (gint32) cell, cell % 3 == 0 ? 3 : 1, 1);
  check_mask (fake, 40, 3);
  fake->n_swa = 2;
  check_mask (fake, 40, 3);
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  for (guint round = 0; round < 40; round++)
    {
      g_autoptr (Fake) fake =
          fake_new_random (rand, (guint) g_rand_int_range (rand, 16, 700), 1, 5);
      fake->n_swa = round % 2 == 0 ? 0 : (guint) g_rand_int_range (rand, 1, 300);
      check_mask (fake, (guint) g_rand_int_range (rand, 1, 12), 31);
    }
}

/* The failing test of the walk is the reason. */
static void
test_walk (void)
{
  static const KvasirMaskReason failing[] = { KVASIR_MASK_EMPTY, KVASIR_MASK_OTHER_SEQUENCE,
                                              KVASIR_MASK_FUTURE, KVASIR_MASK_OUTSIDE_WINDOW };
  g_autoptr (Fake) fake = fake_new_chat ();
  fake->n_swa = 512;
  g_autoptr (KvasirMaskShot) shot = fake_make_mask (fake, 8, 3);
  g_autoptr (KvasirMaskModel) model = kvasir_mask_model_new (shot);
  for (guint row = 0; row < shot->n_rows; row++)
    for (guint cell = 0; cell < shot->n_kv; cell += 3)
      {
        KvasirMaskTest tests[4];
        KvasirMaskReason reason = get_naive_reason (fake, shot, row, cell);
        guint n = kvasir_mask_model_explain (model, row, cell, tests);
        for (guint i = 0; i + 1 < n; i++)
          g_assert_true (tests[i].passed);
        g_assert_cmpint (tests[n - 1].passed, ==, reason == KVASIR_MASK_OPEN);
        if (reason == KVASIR_MASK_PADDING)
          reason = KVASIR_MASK_EMPTY;
        if (reason != KVASIR_MASK_OPEN)
          g_assert_cmpint (failing[n - 1], ==, reason);
        for (guint i = 0; i < n; i++)
          g_free (tests[i].answer);
      }
}

static void
test_walk_numbers (void)
{
  g_autoptr (Fake) fake = fake_new_chat ();
  fake->n_swa = 512;
  g_autoptr (KvasirMaskShot) shot = fake_make_mask (fake, 1, 1);
  g_autoptr (KvasirMaskModel) model = kvasir_mask_model_new (shot);
  KvasirMaskTest tests[4];
  guint n = kvasir_mask_model_explain (model, 0, 400, tests);
  g_assert_cmpuint (n, ==, 4);
  g_assert_cmpstr (tests[0].answer, ==, "no");
  g_assert_cmpstr (tests[1].answer, ==, "holds A, the row is A");
  g_assert_cmpstr (tests[2].answer, ==, "400 ≤ 1\u2009\u2060338");
  g_assert_cmpstr (tests[3].answer, ==, "1\u2009\u2060338 − 400 = 938 ≥ 512");
  for (guint i = 0; i < n; i++)
    g_free (tests[i].answer);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/mask/runs-agree-with-entries-in-a-chat", test_chat);
  g_test_add_func ("/viz/mask/runs-agree-with-entries-in-random-states", test_random);
  g_test_add_func ("/viz/mask/runs-agree-with-entries-against-the-order", test_backwards);
  g_test_add_func ("/viz/mask/walk-stops-at-the-reason", test_walk);
  g_test_add_func ("/viz/mask/walk-names-the-numbers", test_walk_numbers);
  return g_test_run ();
}
