#include "engine/gguf/mapping.h"

#include "engine/error.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file of five pages and a bit, each page filled with its number + 1. */
typedef struct
{
  char *path;
  int fd;
  gsize page_bytes;
  gsize n_bytes;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *bytes = NULL;

  fixture->page_bytes = (gsize) sysconf (_SC_PAGESIZE);
  fixture->n_bytes = 5 * fixture->page_bytes + 100;
  fixture->fd = g_file_open_tmp ("kvasir-mapping-XXXXXX", &fixture->path, &error);
  g_assert_no_error (error);
  bytes = g_malloc (fixture->n_bytes);
  for (gsize i = 0; i < fixture->n_bytes; i++)
    bytes[i] = (guint8) (i / fixture->page_bytes + 1);
  g_assert_cmpint (write (fixture->fd, bytes, fixture->n_bytes), ==, (gssize) fixture->n_bytes);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  close (fixture->fd);
  g_unlink (fixture->path);
  g_free (fixture->path);
}

static KvasirMapping *
map (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  KvasirMapping *mapping = kvasir_mapping_new (fixture->path, &error);

  g_assert_no_error (error);
  return mapping;
}

static void
test_reads (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirMapping) mapping = map (fixture);
  const guint8 *bytes = kvasir_mapping_get_data (mapping);

  g_assert_cmpuint (kvasir_mapping_get_bytes (mapping), ==, fixture->n_bytes);
  g_assert_cmpuint (bytes[0], ==, 1);
  g_assert_cmpuint (bytes[fixture->n_bytes - 1], ==, 6);
  g_assert_false (kvasir_mapping_is_damaged (mapping));
  g_assert_cmpuint (kvasir_mapping_get_resident_bytes (mapping, 0, G_MAXSIZE / 2), ==,
                    fixture->n_bytes);
  g_assert_cmpuint (kvasir_mapping_get_resident_bytes (mapping, 100, fixture->page_bytes), ==,
                    fixture->page_bytes);
  g_assert_cmpuint (kvasir_mapping_get_resident_bytes (mapping, fixture->page_bytes + 7, 11), ==,
                    11);
}

static void
test_file_cut_short (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirMapping) mapping = map (fixture);
  g_autoptr (KvasirMapping) other = map (fixture);
  const guint8 *bytes = kvasir_mapping_get_data (mapping);
  gsize page = fixture->page_bytes;

  g_assert_cmpint (ftruncate (fixture->fd, (off_t) (2 * page)), ==, 0);
  g_assert_cmpuint (bytes[2 * page - 1], ==, 2);
  g_assert_false (kvasir_mapping_is_damaged (mapping));
  /* First a page in the middle of what is gone, then the one before it. */
  g_assert_cmpuint (bytes[3 * page + 5], ==, 0);
  g_assert_true (kvasir_mapping_is_damaged (mapping));
  for (gsize i = 2 * page; i < fixture->n_bytes; i++)
    g_assert_cmpuint (bytes[i], ==, 0);
  g_assert_cmpuint (bytes[page], ==, 2);
  g_assert_false (kvasir_mapping_is_damaged (other));
}

/* The place in the registry is free again, and its flag with it. */
static void
test_flag_is_not_inherited (Fixture *fixture, gconstpointer data)
{
  KvasirMapping *mapping = map (fixture);
  gsize page = fixture->page_bytes;

  g_assert_cmpint (ftruncate (fixture->fd, (off_t) page), ==, 0);
  g_assert_cmpuint (kvasir_mapping_get_data (mapping)[page], ==, 0);
  g_assert_true (kvasir_mapping_is_damaged (mapping));
  kvasir_mapping_free (mapping);
  mapping = map (fixture);
  g_assert_false (kvasir_mapping_is_damaged (mapping));
  kvasir_mapping_free (mapping);
}

static gpointer
read_all (gpointer data)
{
  const KvasirMapping *mapping = data;
  guint sum = 0;

  for (guint round = 0; round < 50; round++)
    for (gsize i = 0; i < kvasir_mapping_get_bytes (mapping); i += 64)
      sum += kvasir_mapping_get_data (mapping)[i];
  return GUINT_TO_POINTER (sum);
}

static void
test_threads_meet_the_end (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirMapping) mapping = map (fixture);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("reader", read_all, mapping);
  g_assert_cmpint (ftruncate (fixture->fd, 0), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (kvasir_mapping_get_data (mapping)[0], ==, 0);
  g_assert_true (kvasir_mapping_is_damaged (mapping));
}

static sigjmp_buf foreign_fault;

/* Installed before the first mapping: the handler that was there. */
static void
foreign_cb (int number)
{
  siglongjmp (foreign_fault, 1);
}

static volatile guint8 *
map_foreign (const Fixture *fixture)
{
  gsize page = fixture->page_bytes;
  void *bytes = mmap (NULL, 2 * page, PROT_READ, MAP_PRIVATE, fixture->fd, (off_t) (2 * page));

  g_assert_true (bytes != MAP_FAILED);
  return bytes;
}

/* Faults on both sides of the mapping, whichever way addresses grow. */
static void
test_foreign_fault_goes_on (Fixture *fixture, gconstpointer data)
{
  volatile guint8 *foreign[2];
  g_autoptr (KvasirMapping) mapping = NULL;
  volatile guint n_faults = 0;

  foreign[0] = map_foreign (fixture);
  mapping = map (fixture);
  foreign[1] = map_foreign (fixture);
  g_assert_cmpint (ftruncate (fixture->fd, 0), ==, 0);
  for (volatile guint i = 0; i < 2; i++)
    if (sigsetjmp (foreign_fault, 1) == 0)
      g_test_message ("read %u", foreign[i][fixture->page_bytes]);
    else
      n_faults++;
  g_assert_cmpuint (n_faults, ==, 2);
  g_assert_false (kvasir_mapping_is_damaged (mapping));
  for (guint i = 0; i < 2; i++)
    munmap ((void *) foreign[i], 2 * fixture->page_bytes);
}

static void
test_sent_signal_goes_on (Fixture *fixture, gconstpointer data)
{
  g_autoptr (KvasirMapping) mapping = map (fixture);

  if (sigsetjmp (foreign_fault, 1) == 0)
    {
      raise (SIGBUS);
      g_test_fail ();
    }
  g_assert_false (kvasir_mapping_is_damaged (mapping));
}

static void
test_registry_has_an_end (Fixture *fixture, gconstpointer data)
{
  KvasirMapping *mappings[1024];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (mappings); i++)
    mappings[i] = map (fixture);
  g_assert_null (kvasir_mapping_new (fixture->path, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "expected at most 1024 mapped files at once"));
  for (guint i = 0; i < G_N_ELEMENTS (mappings); i++)
    kvasir_mapping_free (mappings[i]);
  kvasir_mapping_free (map (fixture));
}

static void
test_no_file (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (kvasir_mapping_new ("/nowhere/model.gguf", &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_clear_error (&error);
  g_assert_cmpint (ftruncate (fixture->fd, 0), ==, 0);
  g_assert_null (kvasir_mapping_new (fixture->path, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "cannot map 0 bytes"));
}

/* Without another handler a foreign fault ends the process as if there were none. */
static void
test_default_action (Fixture *fixture, gconstpointer data)
{
  if (g_test_subprocess ())
    {
      signal (SIGBUS, SIG_DFL);
      kvasir_mapping_free (map (fixture));
      raise (SIGBUS);
      g_assert_not_reached ();
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr_unmatched ("*should not be reached*");
}

static void
add (const char *path, void (*test) (Fixture *, gconstpointer))
{
  g_test_add (path, Fixture, NULL, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  signal (SIGBUS, foreign_cb);
  add ("/engine/gguf/mapping/reads", test_reads);
  add ("/engine/gguf/mapping/file-cut-short-reads-zeros", test_file_cut_short);
  add ("/engine/gguf/mapping/flag-is-not-inherited", test_flag_is_not_inherited);
  add ("/engine/gguf/mapping/threads-meet-the-end", test_threads_meet_the_end);
  add ("/engine/gguf/mapping/foreign-fault-goes-on", test_foreign_fault_goes_on);
  add ("/engine/gguf/mapping/sent-signal-goes-on", test_sent_signal_goes_on);
  add ("/engine/gguf/mapping/registry-has-an-end", test_registry_has_an_end);
  add ("/engine/gguf/mapping/no-file", test_no_file);
  add ("/engine/gguf/mapping/default-action-ends-the-process", test_default_action);
  return g_test_run ();
}
