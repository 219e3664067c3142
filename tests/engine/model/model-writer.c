#include "tests/engine/model/model-writer.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"
#include "tests/engine/gguf/gguf-writer.h"

typedef struct
{
  const ModelLie *lie;
  GByteArray *keys;
  GByteArray *tensors;
  guint n_keys;
  guint n_tensors;
  guint64 n_data;
} Writer;

static gboolean
is_named (const char *name, const char *other)
{
  return g_strcmp0 (name, other) == 0;
}

static void
add_u32 (Writer *self, const char *name, guint32 value)
{
  g_autofree char *key =
      g_strdup_printf ("%s.%s", self->lie->arch ? self->lie->arch : "llama", name);

  if (is_named (self->lie->drop, name))
    return;
  put_key_u32 (self->keys, key, is_named (self->lie->key, name) ? self->lie->value : value);
  self->n_keys++;
}

static void
add_epsilon (Writer *self)
{
  static const char name[] = "attention.layer_norm_rms_epsilon";
  g_autofree char *key =
      g_strdup_printf ("%s.%s", self->lie->arch ? self->lie->arch : "llama", name);

  if (is_named (self->lie->drop, name) || g_strcmp0 (self->lie->float_key, key) == 0)
    return;
  put_key_f32 (self->keys, key, 1e-5f);
  self->n_keys++;
}

static void
add_tensor (Writer *self, const char *name, gint64 ne0, gint64 ne1)
{
  const gboolean is_lie = is_named (self->lie->tensor, name);
  int type = KVASIR_TYPE_F32;
  gint64 ne[2] = { ne0, ne1 };

  if (is_named (self->lie->drop, name))
    return;
  if (is_lie)
    type = self->lie->type;
  if (is_lie && self->lie->ne[0] > 0)
    memcpy (ne, self->lie->ne, sizeof ne);
  put_tensor (self->tensors, name, ne[0], ne[1], type, self->n_data);
  self->n_tensors++;
  self->n_data += kvasir_type_get_row_bytes (type, ne[0]) * (guint64) MAX (ne[1], 1);
  self->n_data = (self->n_data + 31) / 32 * 32;
}

static void
add_keys (Writer *self)
{
  const ModelLie *lie = self->lie;
  put_key_text (self->keys, "general.architecture", lie->arch ? lie->arch : "llama");
  put_key_text (self->keys, "tokenizer.ggml.model", "none");
  self->n_keys = 2;
  add_u32 (self, "vocab_size", 6);
  add_u32 (self, "block_count", 1);
  add_u32 (self, "context_length", 64);
  add_u32 (self, "embedding_length", 8);
  add_u32 (self, "feed_forward_length", 16);
  add_u32 (self, "attention.head_count", 2);
  add_u32 (self, "attention.head_count_kv", 1);
  add_epsilon (self);
  if (lie->text_key != NULL)
    put_key_text (self->keys, lie->text_key, lie->text);
  if (lie->float_key != NULL)
    put_key_f32 (self->keys, lie->float_key, lie->float_value);
  self->n_keys += (lie->text_key != NULL) + (lie->float_key != NULL);
}

static void
add_tensors (Writer *self)
{
  add_tensor (self, "token_embd.weight", 8, 6);
  add_tensor (self, "output_norm.weight", 8, 0);
  add_tensor (self, "blk.0.attn_norm.weight", 8, 0);
  add_tensor (self, "blk.0.attn_q.weight", 8, 8);
  add_tensor (self, "blk.0.attn_k.weight", 8, 4);
  add_tensor (self, "blk.0.attn_v.weight", 8, 4);
  add_tensor (self, "blk.0.attn_output.weight", 8, 8);
  add_tensor (self, "blk.0.ffn_norm.weight", 8, 0);
  add_tensor (self, "blk.0.ffn_gate.weight", 8, 16);
  add_tensor (self, "blk.0.ffn_up.weight", 8, 16);
  add_tensor (self, "blk.0.ffn_down.weight", 16, 8);
  if (self->lie->add_tensor != NULL)
    add_tensor (self, self->lie->add_tensor, 8, 0);
}

GByteArray *
make_model (const ModelLie *lie)
{
  const ModelLie truth = { 0 };
  Writer writer = { lie != NULL ? lie : &truth };
  GByteArray *bytes = g_byte_array_new ();

  writer.keys = g_byte_array_new ();
  writer.tensors = g_byte_array_new ();
  add_keys (&writer);
  add_tensors (&writer);
  put_header (bytes, 3, writer.n_tensors, writer.n_keys);
  g_byte_array_append (bytes, writer.keys->data, writer.keys->len);
  g_byte_array_append (bytes, writer.tensors->data, writer.tensors->len);
  put_data (bytes, 32, writer.n_data);
  g_byte_array_set_size (bytes, bytes->len - (guint) writer.lie->cut);
  g_byte_array_unref (writer.keys);
  g_byte_array_unref (writer.tensors);
  return bytes;
}

char *
write_model (const ModelLie *lie)
{
  g_autoptr (GByteArray) bytes = make_model (lie);

  return write_model_bytes (bytes);
}

char *
write_model_bytes (const GByteArray *bytes)
{
  g_autoptr (GError) error = NULL;
  char *path = NULL;
  int fd = g_file_open_tmp ("kvasir-model-XXXXXX.gguf", &path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (gssize) bytes->len);
  close (fd);
  return path;
}

void
delete_model (char *path)
{
  g_unlink (path);
  g_free (path);
}
