/* tests/ui/wait.h - runs the main loop until something is so */
#pragma once

#include <glib.h>

/* Spins the main loop until @condition holds; the test fails after ten seconds. */
#define test_wait(condition)                                                                       \
  G_STMT_START                                                                                     \
  {                                                                                                \
    gint64 test_end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;                           \
    while (!(condition) && g_get_monotonic_time () < test_end)                                     \
      if (!g_main_context_iteration (NULL, FALSE))                                                 \
        g_usleep (500);                                                                            \
    g_assert_true (condition);                                                                     \
  }                                                                                                \
  G_STMT_END
