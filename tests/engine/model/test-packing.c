/* Weights of a mapped file put into the device's own order while nobody waits for it. */
#include <string.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "engine/gguf/mapping.h"
#include "engine/graph/graph-plan.h"
#include "engine/model/packing.h"

#define N_TENSORS 3

typedef struct
{
  KvasirDevice *device;
  KvasirMapping *mapping;
  guint8 *bytes; /* what the file holds */
  gsize n_bytes;
  KvasirTensor tensors[N_TENSORS];
  GPtrArray *all;
} Fixture;

static void
set_tensor (KvasirTensor *t, KvasirType type, gint64 ne0, gint64 ne1)
{
  *t = (KvasirTensor){ .type = type, .ne = { ne0, ne1, 1, 1 } };
  t->nb[0] = kvasir_type_get_block_bytes ((int) type);
  t->nb[1] = kvasir_type_get_row_bytes ((int) type, ne0);
  t->nb[2] = t->nb[3] = t->nb[1] * (gsize) ne1;
}

/* Scales and minimums become numbers that tell every bit of what they scale: from 2^-7 to 1. */
static void
calm_halves (const KvasirTensor *t, guint8 *bytes)
{
  const guint n_halves = t->type == KVASIR_TYPE_Q4_1 ? 2 : 1;

  for (gsize at = 0; at < t->nb[3]; at += t->nb[0])
    for (guint i = 0; i < n_halves; i++)
      bytes[at + 2 * i + 1] = (guint8) (0x20 + bytes[at + 2 * i + 1] % 0x1c);
}

static void
map_bytes (Fixture *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("packing-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (write (fd, self->bytes, self->n_bytes), ==, (gssize) self->n_bytes);
  close (fd);
  self->mapping = kvasir_mapping_new (path, &error);
  g_assert_no_error (error);
  unlink (path);
}

static void
set_up (Fixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { .n_threads = 1, .no_packing = data != NULL };
  gsize at = 0;

  self->device = kvasir_cpu_device_new (&options);
  set_tensor (&self->tensors[0], KVASIR_TYPE_Q4_1, 576, 8192);
  set_tensor (&self->tensors[1], KVASIR_TYPE_F32, 64, 16);
  set_tensor (&self->tensors[2], KVASIR_TYPE_Q8_0, 96, 32);
  self->all = g_ptr_array_new ();
  for (guint i = 0; i < N_TENSORS; i++)
    self->n_bytes += self->tensors[i].nb[3];
  self->bytes = g_malloc (self->n_bytes);
  for (gsize i = 0; i < self->n_bytes; i++)
    self->bytes[i] = (guint8) (i * 2654435761u >> 11);
  for (guint i = 0; i < N_TENSORS; i += 2)
    {
      calm_halves (&self->tensors[i], self->bytes + at);
      at += self->tensors[i].nb[3] + self->tensors[1].nb[3];
    }
  at = 0;
  map_bytes (self);
  for (guint i = 0; i < N_TENSORS; i++)
    {
      self->tensors[i].data = (guint8 *) kvasir_mapping_get_data (self->mapping) + at;
      at += self->tensors[i].nb[3];
      g_ptr_array_add (self->all, &self->tensors[i]);
    }
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_ptr_array_unref (self->all);
  kvasir_mapping_free (self->mapping);
  g_free (self->bytes);
  self->device->vtable->free (self->device);
}

/* The machine that runs the tests may have no order of its own. */
static gboolean
skip_without_order (const Fixture *self)
{
  if (self->device->packed_buffer_type == NULL)
    g_test_skip ("the device has no order of its own");
  return self->device->packed_buffer_type == NULL;
}

static void
wait_for_all (const KvasirPacking *packing, guint64 n_bytes)
{
  while (kvasir_packing_get_bytes (packing) < n_bytes)
    g_usleep (500);
}

static void
test_packs_all (Fixture *self, gconstpointer data)
{
  guint64 n_bytes = self->tensors[0].nb[3] + self->tensors[2].nb[3];

  if (skip_without_order (self))
    return;
  g_assert_cmpuint (kvasir_packing_measure (self->device, self->all), ==, n_bytes);
  KvasirPacking *packing = kvasir_packing_new (self->device, self->all);
  g_assert_nonnull (packing);
  wait_for_all (packing, n_bytes);
  g_assert_null (self->tensors[1].packed);
  for (guint i = 0; i < N_TENSORS; i += 2)
    {
      KvasirTensor *t = &self->tensors[i], copy = *t;
      g_autofree guint8 *expected = g_malloc (t->nb[3]);
      copy.packed = expected;
      copy.n_packed = 0;
      self->device->vtable->pack (self->device, &copy, t->nb[3]);
      g_assert_cmpuint (t->n_packed, ==, t->nb[3]);
      g_assert_cmpmem (t->packed, t->nb[3], expected, t->nb[3]);
    }
  kvasir_packing_free (packing);
  g_assert_null (self->tensors[0].packed);
}

/* All rows of @t as the device reads them. */
static GArray *
read_rows (const Fixture *self, KvasirTensor *t)
{
  const KvasirStep step = { .n_tokens = 1, .n_outputs = 1 };
  KvasirGraph *graph = kvasir_graph_new ();
  KvasirTensor *ids =
      kvasir_graph_input (graph, "ids", KVASIR_TYPE_I32, t->ne[1], 0, KVASIR_DYN_NONE);
  KvasirTensor *rows = kvasir_graph_get_rows (graph, "rows", t, ids);
  const gsize n = (gsize) (t->ne[0] * t->ne[1]);
  GArray *values = g_array_sized_new (FALSE, FALSE, sizeof (float), (guint) n);
  g_autoptr (GError) error = NULL;
  KvasirGraphPlan *plan = kvasir_graph_plan_new (self->device, graph, FALSE, &error);

  g_assert_no_error (error);
  g_array_set_size (values, (guint) n);
  for (gint64 i = 0; i < t->ne[1]; i++)
    ((gint32 *) ids->data)[i] = (gint32) i;
  g_assert_cmpint (kvasir_graph_plan_compute_body (plan, &step), ==, KVASIR_STATUS_OK);
  kvasir_graph_plan_read (plan, rows, values->data, n * sizeof (float));
  kvasir_graph_plan_free (plan);
  return values;
}

static gboolean
reads_the_same (const Fixture *self, KvasirTensor *t, const GArray *expected)
{
  g_autoptr (GArray) found = read_rows (self, t);

  return memcmp (found->data, expected->data, expected->len * sizeof (float)) == 0;
}

/* Rows from the file against rows from the device's order; a byte of it that is wrong is seen,
 * whichever it is. */
static void
test_values_stay (Fixture *self, gconstpointer data)
{
  if (skip_without_order (self))
    return;

  GArray *before[N_TENSORS] = { NULL };
  for (guint i = 0; i < N_TENSORS; i += 2)
    before[i] = read_rows (self, &self->tensors[i]);

  KvasirPacking *packing = kvasir_packing_new (self->device, self->all);
  wait_for_all (packing, kvasir_packing_measure (self->device, self->all));
  for (guint i = 0; i < N_TENSORS; i += 2)
    {
      KvasirTensor *t = &self->tensors[i];
      guint8 *packed = t->packed;

      g_assert_true (reads_the_same (self, t, before[i]));
      for (gsize at = 0; at < t->nb[3]; at += t->nb[3] / 7 - 5)
        {
          packed[at] ^= 0x10;
          g_assert_false (reads_the_same (self, t, before[i]));
          packed[at] ^= 0x10;
        }
    }
  kvasir_packing_free (packing);
  for (guint i = 0; i < N_TENSORS; i += 2)
    g_array_unref (before[i]);
}

/* The pages that were given back are still there for those who ask. */
static void
test_file_stays_readable (Fixture *self, gconstpointer data)
{
  if (skip_without_order (self))
    return;
  KvasirPacking *packing = kvasir_packing_new (self->device, self->all);
  wait_for_all (packing, kvasir_packing_measure (self->device, self->all));
  g_assert_cmpmem (kvasir_mapping_get_data (self->mapping), self->n_bytes, self->bytes,
                   self->n_bytes);
  kvasir_packing_free (packing);
}

static void
test_stops (Fixture *self, gconstpointer data)
{
  if (skip_without_order (self))
    return;
  kvasir_packing_free (kvasir_packing_new (self->device, self->all));
  g_assert_null (self->tensors[0].packed);
  g_assert_cmpuint (self->tensors[0].n_packed, ==, 0);
}

static void
test_nothing_to_do (Fixture *self, gconstpointer data)
{
  g_assert_cmpuint (kvasir_packing_measure (self->device, self->all), ==, 0);
  g_assert_null (kvasir_packing_new (self->device, self->all));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/engine/packing/all-that-can-be-packed-is", Fixture, NULL, set_up, test_packs_all,
              tear_down);
  g_test_add ("/engine/packing/values-stay", Fixture, NULL, set_up, test_values_stay, tear_down);
  g_test_add ("/engine/packing/file-stays-readable", Fixture, NULL, set_up,
              test_file_stays_readable, tear_down);
  g_test_add ("/engine/packing/nothing-without-an-order", Fixture, "off", set_up,
              test_nothing_to_do, tear_down);
  g_test_add ("/engine/packing/stops-when-freed", Fixture, NULL, set_up, test_stops, tear_down);
  return g_test_run ();
}
