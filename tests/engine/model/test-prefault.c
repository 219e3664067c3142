#include "engine/model/prefault.h"

#include <glib/gstdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((gsize) 1 << 20)
#define N_BYTES (33 * MIB + 100)

typedef struct
{
  char *path;
  KvasirMapping *mapping;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  int fd = g_file_open_tmp ("kvasir-prefault-XXXXXX", &self->path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (ftruncate (fd, N_BYTES), ==, 0);
  close (fd);
  self->mapping = kvasir_mapping_new (self->path, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  kvasir_mapping_free (self->mapping);
  g_unlink (self->path);
  g_free (self->path);
}

static KvasirPrefault *
start (Fixture *self)
{
  KvasirPrefault *prefault = kvasir_prefault_new ();

  kvasir_prefault_add (prefault, self->mapping);
  kvasir_prefault_start (prefault);
  return prefault;
}

/* The sanitizer's own memory about these pages would be counted, too. */
static __attribute__ ((no_sanitize_address)) glong
touch_all (const KvasirMapping *mapping)
{
  const volatile guint8 *data = kvasir_mapping_get_data (mapping);
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  struct rusage before, after;
  guint sum = 0;

  getrusage (RUSAGE_SELF, &before);
  for (gsize at = 0; at < N_BYTES; at += page)
    sum += data[at];
  getrusage (RUSAGE_SELF, &after);
  g_assert_cmpuint (sum, ==, 0);
  return after.ru_minflt - before.ru_minflt;
}

static gboolean
note (double fraction, gpointer user_data)
{
  double *last = user_data;

  g_assert_cmpfloat (fraction, >, 0);
  g_assert_cmpfloat (fraction, >=, *last);
  *last = fraction;
  return TRUE;
}

static void
test_pages_are_there (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirPrefault) prefault = start (self);
  void *first = (void *) kvasir_mapping_get_data (self->mapping);
  double last = 0;

  if (madvise (first, 1, MADV_POPULATE_READ) != 0)
    {
      g_test_skip ("this kernel reads no pages ahead");
      return;
    }
  g_assert_true (kvasir_prefault_finish (prefault, note, &last));
  g_assert_cmpfloat (last, ==, 1);
  /* Sixteen pages come with each fault otherwise. */
  g_assert_cmpint (touch_all (self->mapping), <, N_BYTES / (16 * 4096) / 4);
}

static void
test_without_thread (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirPrefault) prefault = kvasir_prefault_new ();
  double last = 0;

  kvasir_prefault_add (prefault, self->mapping);
  g_assert_true (kvasir_prefault_finish (prefault, note, &last));
  g_assert_cmpfloat (last, ==, 1);
}

static gboolean
refuse (double fraction, gpointer user_data)
{
  guint *n_calls = user_data;

  (*n_calls)++;
  return FALSE;
}

static void
test_stopped_at_once (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirPrefault) prefault = start (self);
  guint n_calls = 0;

  g_assert_false (kvasir_prefault_finish (prefault, refuse, &n_calls));
  g_assert_cmpuint (n_calls, ==, 1);
}

static void
test_freed_while_it_runs (Fixture *self, gconstpointer data)
{
  kvasir_prefault_free (start (self));
}

static void
test_nothing_to_read (void)
{
  g_autoptr (KvasirPrefault) prefault = kvasir_prefault_new ();
  double last = 0;

  kvasir_prefault_start (prefault);
  g_assert_true (kvasir_prefault_finish (prefault, note, &last));
  g_assert_cmpfloat (last, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function)                                                                        \
  g_test_add ("/engine/model/prefault/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("pages-are-there", test_pages_are_there);
  ADD ("without-thread", test_without_thread);
  ADD ("stopped-at-once", test_stopped_at_once);
  ADD ("freed-while-it-runs", test_freed_while_it_runs);
  g_test_add_func ("/engine/model/prefault/nothing-to-read", test_nothing_to_read);
  return g_test_run ();
}
