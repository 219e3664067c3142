#include "engine/session/checkpoints.h"

static const gint32 text[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void
add (KvasirCheckpoints *self, guint64 chat_id, guint n, guint n_bytes)
{
  GByteArray *state = g_byte_array_new ();
  g_byte_array_set_size (state, n_bytes);
  kvasir_checkpoints_add (self, chat_id, text, n, state);
}

static guint
find (const KvasirCheckpoints *self, const gint32 *tokens, guint n)
{
  const KvasirCheckpoint *found = kvasir_checkpoints_find (self, tokens, n);
  return found != NULL ? found->n_tokens : 0;
}

static void
test_longest_prefix (void)
{
  const gint32 other[] = { 1, 2, 3, 9, 5, 6, 7, 8 };
  KvasirCheckpoints *self = kvasir_checkpoints_new (4, 1000);
  add (self, 1, 2, 10);
  add (self, 1, 6, 10);
  add (self, 1, 4, 10);
  g_assert_cmpuint (find (self, text, 8), ==, 6);
  g_assert_cmpuint (find (self, text, 5), ==, 4);
  g_assert_cmpuint (find (self, other, 8), ==, 2);
  g_assert_cmpuint (find (self, text, 1), ==, 0);
  kvasir_checkpoints_free (self);
}

static void
test_oldest_gives_way (void)
{
  KvasirCheckpoints *self = kvasir_checkpoints_new (3, 1000);
  for (guint n = 1; n <= 3; n++)
    add (self, 1, n, 10);
  kvasir_checkpoints_use (self, kvasir_checkpoints_find (self, text, 1));
  add (self, 1, 4, 10);
  /* Those of 1, 3 and 4 tokens are left. */
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 4 * (1 + 3 + 4) + 30);
  g_assert_cmpuint (find (self, text, 1), ==, 1);
  g_assert_cmpuint (find (self, text, 2), ==, 1);
  g_assert_cmpuint (find (self, text, 3), ==, 3);
  kvasir_checkpoints_free (self);
}

/* A checkpoint of n tokens takes 4 n bytes beside its state. */
static void
test_bytes (void)
{
  KvasirCheckpoints *self = kvasir_checkpoints_new (9, 250);
  add (self, 1, 1, 96);
  add (self, 2, 2, 92);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 200);
  add (self, 2, 3, 88);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 200);
  g_assert_cmpuint (find (self, text, 1), ==, 0);
  add (self, 2, 4, 300);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 200);
  add (self, 2, 3, 8);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 120);
  kvasir_checkpoints_free (self);
}

static void
test_drop (void)
{
  KvasirCheckpoints *self = kvasir_checkpoints_new (9, 1000);
  for (guint n = 1; n <= 6; n++)
    add (self, n % 3 + 1, n, 10);
  kvasir_checkpoints_drop (self, 2);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 4 * (2 + 3 + 5 + 6) + 40);
  g_assert_cmpuint (find (self, text, 4), ==, 3);
  kvasir_checkpoints_drop (self, 0);
  g_assert_cmpuint (kvasir_checkpoints_get_bytes (self), ==, 0);
  kvasir_checkpoints_free (self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/checkpoints/longest-prefix", test_longest_prefix);
  g_test_add_func ("/engine/session/checkpoints/oldest-gives-way", test_oldest_gives_way);
  g_test_add_func ("/engine/session/checkpoints/bytes", test_bytes);
  g_test_add_func ("/engine/session/checkpoints/drop", test_drop);
  return g_test_run ();
}
