/* Models with windows: which layers slide, how wide their rows are, whose rows they read. Expected
 * values are worked out by hand from the format's description. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/model/model-private.h"
#include "tests/engine/model/model-sketch.h"
#include "tests/engine/model/sliding-sketches.h"

typedef struct
{
  KvasirDevice *device;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };

  self->device = kvasir_cpu_device_new (&options);
  g_assert_nonnull (self->device);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  self->device->vtable->free (self->device);
}

static KvasirModel *
load (Fixture *self, char *sketch, const char *changes)
{
  g_autofree char *text = sketch;
  g_autoptr (GError) error = NULL;
  KvasirModel *model = load_sketch (self->device, text, changes, &error);

  g_assert_no_error (error);
  return model;
}

/* @expected: a letter for each layer, s: it slides, f: it is full */
static void
assert_slides (const KvasirModel *model, const char *expected)
{
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpuint (hp->n_layers, ==, strlen (expected));
  for (guint i = 0; i < hp->n_layers; i++)
    g_assert_cmpint (hp->layers[i].is_swa, ==, expected[i] == 's');
}

static void
assert_class (const KvasirModel *model, KvasirMemoryClass klass, KvasirWindow window, guint n_swa)
{
  g_assert_cmpint (model->hparams.memory_class, ==, klass);
  g_assert_cmpint (kvasir_model_get_info (model)->memory_class, ==, klass);
  g_assert_cmpint (model->hparams.window, ==, window);
  g_assert_cmpuint (model->hparams.n_swa, ==, n_swa);
}

static void
test_gemma2 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma ("gemma2", 5), NULL);

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 4096);
  assert_slides (model, "sfsfs");
  g_assert_cmpfloat_with_epsilon (model->hparams.attention_scale, 0.5, 1e-7);
  g_assert_cmpint (model->hparams.layers[0].rope.neox, ==, 1);
}

/* The 27B goes by the width of the model over the heads: 8 / 2, where a head is 16 wide. */
static void
test_gemma2_27b (Fixture *self, gconstpointer data)
{
  g_autofree char *sketch = sketch_gemma ("gemma2", 46);
  g_autoptr (GString) changes =
      g_string_new ("u32 attention.key_length 16\nu32 attention.value_length 16\n");
  g_autoptr (KvasirModel) model = NULL;

  for (guint il = 0; il < 46; il++)
    sketch_add_layer (changes, il,
                      "attn_q.weight 8 32\nattn_k.weight 8 16\nattn_v.weight 8 16\n"
                      "attn_output.weight 32 8\n");
  model = load (self, g_steal_pointer (&sketch), changes->str);
  g_assert_cmpfloat_with_epsilon (model->hparams.attention_scale, 0.5, 1e-7);
}

static void
test_patterns (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) period = load (self, sketch_gemma ("gemma2", 5),
                                         "u32 attention.sliding_window_pattern 3\n"
                                         "u32 attention.sliding_window 7\n");
  g_autoptr (KvasirModel) array =
      load (self, sketch_gemma ("gemma2", 5), "i32s attention.sliding_window_pattern 0 1 1 0 1\n");

  assert_class (period, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 7);
  assert_slides (period, "ssfss");
  assert_slides (array, "fssfs");
}

static void
test_gemma3 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma ("gemma3", 7),
            "u32 attention.sliding_window 32\nf32 rope.freq_base 1000000\n"
            "f32 rope.scaling.factor 8\n");
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 32);
  assert_slides (model, "sssssfs");
  g_assert_cmpfloat (layers[0].rope.freq_base, ==, 10000);
  g_assert_cmpfloat (layers[0].rope.freq_scale, ==, 1);
  g_assert_cmpfloat (layers[5].rope.freq_base, ==, 1000000);
  g_assert_cmpfloat (layers[5].rope.freq_scale, ==, 0.125);
  g_assert_cmpint (layers[6].rope.neox, ==, 1);
}

static void
test_gemma3_base (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma ("gemma3", 1),
            "u32 attention.sliding_window 32\nf32 rope.freq_base_swa 5\n");

  g_assert_cmpfloat (model->hparams.layers[0].rope.freq_base, ==, 5);
}

static void
test_gemma3_plain (Fixture *self, gconstpointer data)
{
  static const char *const changes[] = { NULL, "u32 attention.sliding_window 0\n" };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (KvasirModel) model = load (self, sketch_gemma ("gemma3", 7), changes[i]);
      assert_class (model, KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, 0);
      assert_slides (model, "fffffff");
    }
}

static void
test_gemma3n (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma3n (10), "u32 attention.shared_kv_layers 5\n");
  const KvasirLayerHparams *layers = model->hparams.layers;
  static const gint expected[] = { -1, -1, -1, -1, -1, 3, 3, 3, 3, 4 };

  assert_slides (model, "ssssfssssf");
  for (guint i = 0; i < 10; i++)
    g_assert_cmpint (layers[i].share, ==, expected[i]);
  g_assert_cmpfloat (model->hparams.attention_scale, ==, 1);
  /* Five layers, a head of four for keys and one for values, two bytes each. */
  g_assert_cmpuint (kvasir_model_get_info (model)->kv_bytes_per_token_f16, ==, 5 * (4 + 4) * 2);
}

static void
test_gemma3n_default (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma3n (25), NULL);

  g_assert_cmpint (model->hparams.layers[19].share, ==, -1);
  g_assert_cmpint (model->hparams.layers[20].share, ==, 18);
  g_assert_cmpint (model->hparams.layers[24].share, ==, 19);
}

static void
test_gemma4 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma4 (), NULL);
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 32);
  assert_slides (model, "sfsf");
  g_assert_cmpuint (layers[0].head_dim_k, ==, 2);
  g_assert_cmpuint (layers[0].n_embd_k, ==, 2);
  g_assert_cmpint (layers[0].rope.n_rot, ==, 2);
  g_assert_cmpfloat (layers[0].rope.freq_base, ==, 10000);
  g_assert_false (layers[0].has_rope_factors);
  g_assert_cmpuint (layers[1].head_dim_v, ==, 4);
  g_assert_cmpuint (layers[1].n_embd_v, ==, 4);
  g_assert_cmpint (layers[1].rope.n_rot, ==, 4);
  g_assert_cmpfloat (layers[1].rope.freq_base, ==, 1000000);
  g_assert_true (layers[1].has_rope_factors);
  g_assert_cmpint (layers[0].share, ==, -1);
  g_assert_cmpint (layers[1].share, ==, -1);
  g_assert_cmpint (layers[2].share, ==, 0);
  g_assert_cmpint (layers[3].share, ==, 1);
}

static void
test_gpt_oss (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gpt_oss (), NULL);

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 128);
  assert_slides (model, "sfsf");
  g_assert_cmpint (model->hparams.layers[0].rope.neox, ==, 1);
}

static void
test_llama4 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_llama4 (), NULL);
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_CHUNKED, 8192);
  assert_slides (model, "sssf");
  g_assert_cmpint (layers[2].rope.n_rot, ==, 4);
  g_assert_cmpint (layers[2].rope.neox, ==, 0);
  g_assert_cmpint (layers[3].rope.n_rot, ==, 0);
}

/* Chunks are of one size, whatever a file says of its window. */
static void
test_llama4_window (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_llama4 (), "u32 attention.sliding_window 4096\n");

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_CHUNKED, 8192);
}

static void
test_llama4_plain (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_llama4 (), "u32 attention.sliding_window 0\n");

  assert_class (model, KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, 0);
  assert_slides (model, "ffff");
  g_assert_cmpint (model->hparams.layers[3].rope.n_rot, ==, 4);
}

static void
add (const char *name, gconstpointer data, void (*test) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/model/sliding/%s", name);

  g_test_add (path, Fixture, data, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("gemma2-slides-first-of-two", NULL, test_gemma2);
  add ("gemma2-27b-scales-by-width", NULL, test_gemma2_27b);
  add ("patterns", NULL, test_patterns);
  add ("gemma3-has-two-ropes", NULL, test_gemma3);
  add ("gemma3-reads-base-of-sliding-layers", NULL, test_gemma3_base);
  add ("gemma3-without-window-is-plain", NULL, test_gemma3_plain);
  add ("gemma3n-shares-rows", NULL, test_gemma3n);
  add ("gemma3n-keeps-rows-of-twenty-layers", NULL, test_gemma3n_default);
  add ("gemma4-has-two-widths", NULL, test_gemma4);
  add ("gpt-oss-slides-first-of-two", NULL, test_gpt_oss);
  add ("llama4-sees-chunks", NULL, test_llama4);
  add ("llama4-chunks-have-one-size", NULL, test_llama4_window);
  add ("llama4-without-window-is-plain", NULL, test_llama4_plain);
  return g_test_run ();
}
