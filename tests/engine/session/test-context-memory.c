/* What a context takes: the plan against the allocations, nothing while decoding, and a file that
 * is cut short under it. */
#include "tests/engine/session/context-fixture.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/error.h"

/* ---- every allocation of the process is counted while the guard is up */

static int guard_up;
static int n_allocations;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_COUNT FALSE
#else
#define CAN_COUNT TRUE

void *__libc_malloc (size_t n_bytes);
void *__libc_calloc (size_t n, size_t n_bytes);
void *__libc_realloc (void *memory, size_t n_bytes);
void *__libc_memalign (size_t alignment, size_t n_bytes);

static void
count_allocation (void)
{
  if (__atomic_load_n (&guard_up, __ATOMIC_RELAXED))
    __atomic_fetch_add (&n_allocations, 1, __ATOMIC_RELAXED);
}

void *
malloc (size_t n_bytes)
{
  count_allocation ();
  return __libc_malloc (n_bytes);
}

void *
calloc (size_t n, size_t n_bytes)
{
  count_allocation ();
  return __libc_calloc (n, n_bytes);
}

void *
realloc (void *memory, size_t n_bytes)
{
  count_allocation ();
  return __libc_realloc (memory, n_bytes);
}

void *
aligned_alloc (size_t alignment, size_t n_bytes)
{
  count_allocation ();
  return __libc_memalign (alignment, n_bytes);
}

int
posix_memalign (void **memory, size_t alignment, size_t n_bytes)
{
  count_allocation ();
  *memory = __libc_memalign (alignment, n_bytes);
  return *memory == NULL ? 12 : 0;
}
#endif

static void
ignore_event (gpointer user_data, const KvasirEvent *event, const gint32 *numbers, guint n)
{
  (*(guint *) user_data)++;
}

static void
test_decoding_allocates_nothing (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  static guint n_events;
  const KvasirEventSink sink = { ignore_event, &n_events };

  /* An encoder reads a sequence in one physical batch. */
  const guint n_many = data != NULL && strstr (data, "bert") != NULL ? 16 : 40;

  n_events = 0;
  if (!CAN_COUNT)
    {
      g_test_skip ("the sanitizer owns the allocator");
      return;
    }
  make_context (self, &params);
  kvasir_context_set_sink (self->context, &sink);
  decode_ok (self->context, 1, n_many);
  __atomic_store_n (&n_allocations, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&guard_up, 1, __ATOMIC_RELAXED);
  for (gint32 i = 0; i < 50; i++)
    decode_ok (self->context, i, 1);
  decode_ok (self->context, 1, n_many);
  if (data != NULL)
    {
      __atomic_store_n (&guard_up, 0, __ATOMIC_RELAXED);
      g_assert_cmpint (n_allocations, ==, 0);
      return;
    }
  g_assert_true (kvasir_memory_seq_rm (kvasir_context_get_memory (self->context), 0, 3, 50));
  g_assert_true (kvasir_memory_seq_add (kvasir_context_get_memory (self->context), 0, 50, -1, -47));
  decode_ok (self->context, 7, 1);
  __atomic_store_n (&guard_up, 0, __ATOMIC_RELAXED);
  g_assert_cmpint (n_allocations, ==, 0);
  g_assert_cmpuint (n_events, >, 50);
}

static void
test_guard_sees_an_allocation (void)
{
  if (!CAN_COUNT)
    {
      g_test_skip ("the sanitizer owns the allocator");
      return;
    }
  n_allocations = 0;
  guard_up = 1;
  g_free (g_malloc (10));
  guard_up = 0;
  g_assert_cmpint (n_allocations, ==, 1);
}

/* ---- the plan against reality */

static guint64 n_taken;
static ContextFixture *counted;

static KvasirBuffer *
alloc_counted (KvasirBufferType *type, size_t n_bytes)
{
  KvasirBuffer *buffer = counted->real_type->alloc (type, n_bytes);
  n_taken += buffer->n_bytes;
  return buffer;
}

static KvasirPlan *
plan_new_counted (KvasirDevice *device, KvasirTensor *const *nodes, size_t n_nodes)
{
  n_taken += counted->real_vtable->plan_get_bytes (device, nodes, n_nodes);
  return counted->real_vtable->plan_new (device, nodes, n_nodes);
}

static void
check_plan (ContextFixture *self, const KvasirContextParams *params)
{
  const KvasirModelInfo *info = kvasir_model_get_info (self->model);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  g_autoptr (GError) error = NULL;
  guint64 weights = 0;
  KvasirFit fit;

  g_assert_true (kvasir_fit_measure (self->device, info->path, params, &fit, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_taken, ==, 0);
  make_context (self, params);
  kvasir_context_append_breakdown (self->context, rows);
  g_assert_cmpuint (fit.rows->len, ==, rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *planned = &g_array_index (fit.rows, KvasirMemoryRow, i);
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      g_assert_cmpint (planned->kind, ==, row->kind);
      g_assert_cmpint (planned->layer, ==, row->layer);
      g_assert_cmpstr (planned->buffer_type, ==, row->buffer_type);
      g_assert_cmpuint (planned->n_bytes, ==, row->n_bytes);
      weights += row->kind == KVASIR_KIND_WEIGHTS ? row->n_bytes : 0;
    }
  g_assert_cmpuint (fit.need_bytes - weights, ==, n_taken);
  g_assert_cmpuint (fit.free_bytes, >, 0);
  g_assert_true (fit.fits);
  kvasir_fit_clear (&fit);
  g_clear_pointer (&self->context, kvasir_context_free);
  n_taken = 0;
}

static void
test_plan_is_exact (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();

  counted = self;
  n_taken = 0;
  self->type.alloc = self->host.alloc = alloc_counted;
  self->vtable.plan_new = plan_new_counted;
  check_plan (self, &params);
  params.n_ctx = 1000;
  params.n_ubatch = 64;
  params.type_k = KVASIR_TYPE_F32;
  params.type_v = KVASIR_TYPE_BF16;
  check_plan (self, &params);
  params.kv_unified = FALSE;
  params.flash_attn = FALSE;
  check_plan (self, &params);
  params.swa_full = TRUE;
  params.n_rs_seq = 3;
  check_plan (self, &params);
}

static KvasirBuffer *
alloc_little (KvasirBufferType *type, size_t n_bytes)
{
  return n_taken + n_bytes > 200000 ? NULL : alloc_counted (type, n_bytes);
}

static void
test_no_memory (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  counted = self;
  n_taken = 0;
  params.n_ctx = 4096;
  self->type.alloc = self->host.alloc = alloc_little;
  g_assert_null (kvasir_context_new (self->model, &params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "bytes"));
  n_taken = 0;
}

/* ---- a file that shrinks */

static void
test_file_cut_short (ContextFixture *self, gconstpointer data)
{
  const KvasirModelParams params = { .device = self->device };
  const KvasirContextParams context_params = make_small_params ();
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL, *path = NULL;
  gsize n_bytes;
  int fd = g_file_open_tmp ("kvasir-cut-XXXXXX.gguf", &path, &error);

  g_assert_no_error (error);
  g_file_get_contents (kvasir_model_get_info (self->model)->path, &bytes, &n_bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (fd, bytes, n_bytes), ==, (gssize) n_bytes);
  kvasir_model_unref (self->model);
  self->model = kvasir_model_new (path, &params, &error);
  g_assert_no_error (error);
  make_context (self, &context_params);
  decode_ok (self->context, 1, 20);
  g_assert_cmpint (ftruncate (fd, 100000), ==, 0);
  g_assert_cmpint (decode_run (self->context, 21, 20, FALSE, &error), ==, KVASIR_DECODE_FAILED);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, path));
  g_assert_nonnull (strstr (error->message, "cut short"));
  g_assert_cmpint (get_last (self->context), ==, 19);
  g_assert_false (kvasir_model_is_intact (self->model));
  close (fd);
  g_unlink (path);
}

static void
add (const char *name, void (*test) (ContextFixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/session/context-memory/%s", name);
  g_test_add (path, ContextFixture, NULL, context_fixture_set_up, test, context_fixture_tear_down);
}

/* The same on a model of every other kind of memory. */
static void
add_kinds (const char *name, void (*test) (ContextFixture *, gconstpointer))
{
  static const char *const models[] = { "tiny-gemma3",   "tiny-mamba2", "tiny-granitehybrid",
                                        "tiny-lfm2-swa", "tiny-bert",   "tiny-qwen2vl",
                                        "tiny-bloom" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/session/context-memory/%s/%s", name, models[i]);
      g_autofree char *file = g_strconcat (models[i], ".gguf", NULL);
      g_test_add (path, ContextFixture, g_intern_string (file), context_fixture_set_up, test,
                  context_fixture_tear_down);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("decoding-allocates-nothing", test_decoding_allocates_nothing);
  g_test_add_func ("/engine/session/context-memory/guard-sees-an-allocation",
                   test_guard_sees_an_allocation);
  add_kinds ("decoding-allocates-nothing", test_decoding_allocates_nothing);
  add ("plan-is-exact", test_plan_is_exact);
  add_kinds ("plan-is-exact", test_plan_is_exact);
  add ("no-memory", test_no_memory);
  add ("file-cut-short", test_file_cut_short);
  return g_test_run ();
}
