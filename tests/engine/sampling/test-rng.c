#include "engine/sampling/rng.h"

/* The values that the authors' own programs print for these states. */
static void
test_split (void)
{
  guint64 state = 1234567;
  g_assert_cmpuint (kvasir_rng_split (&state), ==, G_GUINT64_CONSTANT (6457827717110365317));
  g_assert_cmpuint (kvasir_rng_split (&state), ==, G_GUINT64_CONSTANT (3203168211198807973));
  g_assert_cmpuint (kvasir_rng_split (&state), ==, G_GUINT64_CONSTANT (9817491932198370423));
}

static void
test_next (void)
{
  KvasirRng rng = { { 1, 2, 3, 4 } };
  g_assert_cmpuint (kvasir_rng_next (&rng), ==, 11520);
  g_assert_cmpuint (kvasir_rng_next (&rng), ==, 0);
  g_assert_cmpuint (kvasir_rng_next (&rng), ==, 1509978240);
  g_assert_cmpuint (kvasir_rng_next (&rng), ==, G_GUINT64_CONSTANT (1215971899390074240));
}

static void
test_double (void)
{
  KvasirRng rng;
  double sum = 0.0;
  kvasir_rng_init (&rng, 7);
  for (guint i = 0; i < 100000; i++)
    {
      double u = kvasir_rng_next_double (&rng);
      g_assert_true (u >= 0.0 && u < 1.0);
      sum += u;
    }
  /* The mean's deviation is 1 / sqrt (12 * 100000), 0.00091; five of them. */
  g_assert_cmpfloat_with_epsilon (sum / 100000, 0.5, 0.0046);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/sampling/rng/split-known-values", test_split);
  g_test_add_func ("/engine/sampling/rng/next-known-values", test_next);
  g_test_add_func ("/engine/sampling/rng/double-is-even", test_double);
  return g_test_run ();
}
