/* The device and its memory. */
#include <string.h>
#include <sys/mman.h>

#include "rig.h"

static void
test_buffer (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirBufferType *type = rig->device->buffer_type;
  static const gsize sizes[] = { 0, 1, 4096, 5 << 20 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      KvasirBuffer *a = type->alloc (type, sizes[i]), *b = type->alloc (type, sizes[i]);
      g_assert_cmpuint ((guintptr) a->base % type->alignment, ==, 0);
      g_assert_cmpuint (a->n_bytes, ==, sizes[i]);
      for (gsize j = 0; j < sizes[i]; j++)
        g_assert_cmpuint (((guint8 *) a->base)[j], ==, 0);
      a->vtable->clear (a, 7);
      if (sizes[i] >= 4096)
        {
          char text[6] = "";
          a->vtable->set (a, 100, "hello", 6);
          g_assert_true (a->vtable->copy (a, 100, b, 300, 6));
          b->vtable->get (b, 300, text, 6);
          g_assert_cmpstr (text, ==, "hello");
          g_assert_cmpuint (((guint8 *) a->base)[99], ==, 7);
        }
      a->vtable->free (a);
      b->vtable->free (b);
    }
}

static void
test_settled (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirBufferType *type = rig->device->buffer_type;
  static const gsize sizes[] = { 4096, (9 << 20) + 100 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      KvasirBuffer *buffer = type->alloc (type, sizes[i]);
      guint8 *bytes = buffer->base;

      for (gsize at = 0; at < sizes[i]; at += 1000)
        bytes[at] = (guint8) (at / 1000 + 1);
      buffer->vtable->settle (buffer);
      for (gsize at = 0; at < sizes[i]; at++)
        g_assert_cmpuint (bytes[at], ==, at % 1000 == 0 ? (guint8) (at / 1000 + 1) : 0);
      buffer->vtable->free (buffer);
    }
}

static void
test_no_memory (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirBufferType *type = rig->device->buffer_type;

  g_assert_null (type->alloc (type, SIZE_MAX));
  g_assert_null (type->alloc (type, SIZE_MAX / 2));
  g_assert_null (type->alloc (type, (gsize) 1 << 55));
}

static void
test_mapped (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  void *pages = mmap (NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KvasirBuffer *buffer = rig->device->vtable->buffer_from_host (rig->device, pages, 8192);
  char text[3] = "";

  g_assert_cmpstr (buffer->type->name, ==, "CPU_Mapped");
  g_assert_true (buffer->type->is_host);
  g_assert_true (buffer->base == pages);
  memcpy ((char *) pages + 50, "hi", 3);
  buffer->vtable->get (buffer, 50, text, 3);
  g_assert_cmpstr (text, ==, "hi");
  g_assert_null (buffer->type->alloc (buffer->type, 64));
  buffer->vtable->free (buffer);
  /* The memory stays its owner's. */
  g_assert_cmpstr ((char *) pages + 50, ==, "hi");
  g_assert_null (rig->device->vtable->buffer_from_host (rig->device, (char *) pages + 1, 64));
  munmap (pages, 8192);
}

static void
test_alloc_bytes (void)
{
  g_autoptr (Rig) rig = rig_new (KVASIR_CPU_ISA_AUTO, 1);
  KvasirBufferType *type = rig->device->buffer_type;
  KvasirTensor tensor = { .type = KVASIR_TYPE_Q4_1,
                          .ne = { 64, 3, 2, 1 },
                          .nb = { 20, 50, 200, 400 } };

  /* The last row begins at 200 + 2 * 50 and has 40 bytes. */
  g_assert_cmpuint (type->get_alloc_bytes (type, &tensor), >=, 340);
  g_assert_cmpuint (type->get_alloc_bytes (type, &tensor) % type->alignment, ==, 0);
  tensor.ne[1] = 0;
  g_assert_cmpuint (type->get_alloc_bytes (type, &tensor), ==, 0);
}

static void
test_isas (void)
{
  KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };

  g_assert_true (kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_AUTO));
  g_assert_true (kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_SCALAR));
  g_assert_cmpstr (kvasir_cpu_isa_get_name (KVASIR_CPU_ISA_AVX512_VNNI), ==, "avx512-vnni");
  for (int isa = KVASIR_CPU_ISA_SCALAR; isa < KVASIR_CPU_N_ISAS; isa++)
    {
      options.isa = (KvasirCpuIsa) isa;
      KvasirDevice *device = kvasir_cpu_device_new (&options);
      g_assert_true ((device != NULL) == kvasir_cpu_isa_is_available (options.isa));
      if (device == NULL)
        continue;
      g_assert_nonnull (strstr (device->description, kvasir_cpu_isa_get_name ((KvasirCpuIsa) isa)));
      device->vtable->free (device);
    }
}

/* The system lists what it and the processor both have. */
static void
test_listed (void)
{
  static const struct
  {
    KvasirCpuIsa isa;
    const char *flag;
  } flags[] = { { KVASIR_CPU_ISA_AVX2, " avx2 " },
                { KVASIR_CPU_ISA_AVX_VNNI, " avx_vnni " },
                { KVASIR_CPU_ISA_AVX512_VNNI, " avx512_vnni " },
                { KVASIR_CPU_ISA_AMX, " amx_int8 " } };
  g_autofree char *text = NULL;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL) || strstr (text, "flags") == NULL)
    {
      g_test_skip ("no list of flags");
      return;
    }
  g_strdelimit (text, "\n", ' ');
  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      gboolean is_listed = strstr (text, flags[i].flag) != NULL;
      gboolean is_taken = kvasir_cpu_isa_is_available (flags[i].isa);
      g_assert_true (is_listed || !is_taken);
      /* Of AMX the system may be sparing. */
      if (flags[i].isa == KVASIR_CPU_ISA_AVX2 || flags[i].isa == KVASIR_CPU_ISA_AVX_VNNI)
        g_assert_true (is_taken == is_listed);
    }
}

static void
test_description (void)
{
  KvasirDevice *device = kvasir_cpu_device_new (NULL);
  gsize free_bytes = 0, total_bytes = 0;

  g_assert_cmpuint (device->abi, ==, KVASIR_BACKEND_ABI);
  g_assert_cmpint (device->kind, ==, KVASIR_DEVICE_CPU);
  g_assert_cmpstr (device->name, ==, "CPU");
  g_assert_cmpstr (device->buffer_type->name, ==, "CPU");
  g_assert_true (device->buffer_type->is_host);
  device->vtable->get_memory (device, &free_bytes, &total_bytes);
  g_assert_cmpuint (free_bytes, >, 0);
  g_assert_cmpuint (total_bytes, >=, free_bytes);
  g_assert_cmpint (device->vtable->synchronize (device), ==, KVASIR_STATUS_OK);
  device->vtable->free (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/buffer/comes-cleared-and-copies", test_buffer);
  g_test_add_func ("/backends/buffer/keeps-what-it-holds-when-settled", test_settled);
  g_test_add_func ("/backends/buffer/missing-memory-gives-null", test_no_memory);
  g_test_add_func ("/backends/buffer/mapped-memory-stays-its-owners", test_mapped);
  g_test_add_func ("/backends/buffer/alloc-bytes-cover-the-last-row", test_alloc_bytes);
  g_test_add_func ("/backends/device/instruction-sets-can-be-chosen", test_isas);
  g_test_add_func ("/backends/device/instruction-sets-are-listed", test_listed);
  g_test_add_func ("/backends/device/says-what-it-is", test_description);
  return g_test_run ();
}
