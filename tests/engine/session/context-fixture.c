#include "tests/engine/session/context-fixture.h"

#include "backends/cpu/cpu.h"

void
context_fixture_set_up (ContextFixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  const char *name = data != NULL ? data : "tiny-llama.gguf";
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", name, NULL);
  KvasirModelParams params = { 0 };
  g_autoptr (GError) error = NULL;

  self->device = kvasir_cpu_device_new (&options);
  g_assert_nonnull (self->device);
  self->real_vtable = self->device->vtable;
  self->real_type = self->device->buffer_type;
  self->vtable = *self->device->vtable;
  self->type = *self->device->buffer_type;
  self->host = *self->device->host_buffer_type;
  self->device->vtable = &self->vtable;
  self->device->buffer_type = &self->type;
  self->device->host_buffer_type = &self->host;
  params.device = self->device;
  self->model = kvasir_model_new (path, &params, &error);
  g_assert_no_error (error);
}

void
context_fixture_tear_down (ContextFixture *self, gconstpointer data)
{
  g_clear_pointer (&self->context, kvasir_context_free);
  kvasir_model_unref (self->model);
  self->device->vtable = self->real_vtable;
  self->device->buffer_type = self->device->host_buffer_type = self->real_type;
  self->device->vtable->free (self->device);
}

KvasirContextParams
make_small_params (void)
{
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  params.n_ctx = 256;
  params.n_seq_max = 2;
  params.n_batch = 64;
  params.n_ubatch = 16;
  params.n_threads = 1;
  return params;
}

void
make_context (ContextFixture *self, const KvasirContextParams *params)
{
  g_autoptr (GError) error = NULL;

  self->context = kvasir_context_new (self->model, params, &error);
  g_assert_no_error (error);
}

KvasirDecode
decode_run (KvasirContext *context, gint32 first, guint n, gboolean all, GError **error)
{
  const gint32 n_vocab =
      (gint32) kvasir_model_get_info (kvasir_context_get_model (context))->n_vocab;
  gint32 tokens[256];
  guint8 outputs[256];
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .outputs = all ? outputs : NULL };

  g_assert_cmpuint (n, <=, G_N_ELEMENTS (tokens));
  for (guint i = 0; i < n; i++)
    {
      tokens[i] = (first + (gint32) i) % n_vocab;
      outputs[i] = 1;
    }
  return kvasir_context_decode (context, &batch, error);
}

void
decode_ok (KvasirContext *context, gint32 first, guint n)
{
  g_autoptr (GError) error = NULL;
  KvasirDecode code = decode_run (context, first, n, FALSE, &error);

  g_assert_no_error (error);
  g_assert_cmpint (code, ==, KVASIR_DECODE_OK);
}

gint32
get_last (KvasirContext *context)
{
  return kvasir_memory_seq_pos_max (kvasir_context_get_memory (context), 0);
}
