#include "engine/session/stop-texts.h"

#include <string.h>

/* Pushes @pieces as tokens; TRUE where a stop text ended it. */
static gboolean
run (KvasirStopTexts *stops, const char *const *pieces, GString *out)
{
  for (guint i = 0; pieces[i] != NULL; i++)
    if (kvasir_stop_texts_push (stops, pieces[i], out))
      return TRUE;
  kvasir_stop_texts_flush (stops, out);
  return FALSE;
}

static void
test_cases (void)
{
  static const struct
  {
    const char *texts[3];
    const char *pieces[8];
    const char *out;
    gboolean stops;
    guint n_kept;
  } cases[] = {
    { { "###" }, { "a", "b##", "#c" }, "ab", TRUE, 0 },
    { { "###" }, { "a", "b", "##", "#c" }, "ab", TRUE, 2 },
    { { "###" }, { "a", "##", "b", "##" }, "a##b##", FALSE, 0 },
    { { "###" }, { "a", "####" }, "a", TRUE, 1 },
    { { "aab" }, { "a", "a", "a", "b" }, "a", TRUE, 1 },
    { { "User:", "\n\n" }, { "Hi", "\n", "User", ":" }, "Hi\n", TRUE, 2 },
    { { "bcd", "ab" }, { "xa", "b", "cd" }, "x", TRUE, 0 },
    { { "stop" }, { "stop" }, "", TRUE, 0 },
    { { "" }, { "a" }, "a", FALSE, 0 },
    /* A token of the first bytes of a character gives no text yet. */
    { { "\xc3\xa9" }, { "a", "", "\xc3\xa9" }, "a", TRUE, 1 },
    { { "\xc3\xa9" },
      { "a\xc3\xa8", "b" },
      "a\xc3\xa8"
      "b",
      FALSE,
      0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (KvasirStopTexts) stops = kvasir_stop_texts_new ((char **) cases[i].texts);
      g_autoptr (GString) out = g_string_new (NULL);
      g_test_message ("case %u", i);
      if (stops == NULL)
        {
          g_assert_cmpstr (cases[i].texts[0], ==, "");
          continue;
        }
      g_assert_cmpint (run (stops, cases[i].pieces, out), ==, cases[i].stops);
      g_assert_cmpstr (out->str, ==, cases[i].out);
      if (cases[i].stops)
        g_assert_cmpuint (kvasir_stop_texts_count_kept (stops), ==, cases[i].n_kept);
    }
}

static void
test_none (void)
{
  char *const empty[] = { (char *) "", NULL };
  g_assert_null (kvasir_stop_texts_new (NULL));
  g_assert_null (kvasir_stop_texts_new ((char **) empty));
}

/* Texts of two letters meet each other in every way; what comes out is compared with one search of
 * the whole text, and never is more held back than a stop text is long. */
static void
test_random (void)
{
  for (guint round = 0; round < 20000; round++)
    {
      char *texts[3] = { NULL };
      g_autoptr (GString) all = g_string_new (NULL);
      g_autoptr (GString) out = g_string_new (NULL);
      gboolean stopped = FALSE;
      for (guint i = 0; i < 2; i++)
        {
          guint len = (guint) g_test_rand_int_range (1, 5);
          texts[i] = g_new0 (char, len + 1);
          for (guint j = 0; j < len; j++)
            texts[i][j] = "ab"[g_test_rand_int_range (0, 2)];
        }
      g_autoptr (KvasirStopTexts) stops = kvasir_stop_texts_new (texts);
      for (guint i = 0; i < 6 && !stopped; i++)
        {
          char piece[4] = { 0 };
          gint len = g_test_rand_int_range (0, 4);
          for (gint j = 0; j < len; j++)
            piece[j] = "abc"[g_test_rand_int_range (0, 3)];
          g_string_append (all, piece);
          stopped = kvasir_stop_texts_push (stops, piece, out);
          if (!stopped)
            g_assert_cmpuint (all->len - out->len, <=, 3);
        }
      if (!stopped)
        kvasir_stop_texts_flush (stops, out);
      const char *a = strstr (all->str, texts[0]);
      const char *b = strstr (all->str, texts[1]);
      const char *first = a == NULL ? b : b == NULL ? a : MIN (a, b);
      g_assert_cmpint (first != NULL, ==, stopped);
      if (first != NULL)
        g_string_truncate (all, (gsize) (first - all->str));
      g_assert_cmpstr (out->str, ==, all->str);
      g_free (texts[0]);
      g_free (texts[1]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/stop-texts/cases", test_cases);
  g_test_add_func ("/engine/stop-texts/none", test_none);
  g_test_add_func ("/engine/stop-texts/is-one-search-of-the-whole", test_random);
  return g_test_run ();
}
