/* Models in several files: which parts belong together, and what is said where they don't. */
#include "backends/backend.h"
#include "engine/error.h"
#include "tests/engine/gguf/gguf-writer.h"

#include <glib/gstdio.h>
#include <string.h>

#define NONE G_MAXUINT32

/* A part with one tensor of 8 numbers. */
typedef struct
{
  const char *name;
  guint32 no, n, n_tensors; /* NONE: the key is missing */
  const char *tensor;
} Part;

typedef struct
{
  const char *name;
  Part parts[3];
  const char *message; /* of the error from opening the first part that is there */
} BadParts;

static const Part right[3] = {
  { "m-00001-of-00003.gguf", 0, 3, 3, "a" },
  { "m-00002-of-00003.gguf", 1, 3, NONE, "b" },
  /* The format asks for split.no alone behind the first part. */
  { "m-00003-of-00003.gguf", 2, NONE, NONE, "c" },
};

static char *
make_part_path (const char *folder, const Part *part)
{
  return g_build_filename (folder, part->name, NULL);
}

static void
write_part (const char *folder, const Part *part)
{
  const guint32 values[] = { part->no, part->n, part->n_tensors };
  const char *const keys[] = { "split.no", "split.count", "split.tensors.count" };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autofree char *path = make_part_path (folder, part);
  guint n_keys = 1;

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    n_keys += values[i] != NONE;
  put_header (out, 3, 1, n_keys);
  put_key_text (out, "general.name", part->name);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (values[i] != NONE)
      put_key_u32 (out, keys[i], values[i]);
  put_tensor (out, part->tensor, 8, 0, KVASIR_TYPE_F32, 0);
  put_data (out, 32, 32);
  g_assert_true (g_file_set_contents (path, (const char *) out->data, out->len, NULL));
}

static char *
write_parts (const Part parts[3])
{
  char *folder = g_dir_make_tmp ("kvasir-split-XXXXXX", NULL);

  for (guint i = 0; i < 3; i++)
    if (parts[i].name)
      write_part (folder, &parts[i]);
  return folder;
}

static void
delete_parts (const char *folder, const Part parts[3])
{
  for (guint i = 0; i < 3; i++)
    if (parts[i].name)
      {
        g_autofree char *path = make_part_path (folder, &parts[i]);
        g_unlink (path);
      }
  g_rmdir (folder);
}

static void
test_any_part_opens_all (void)
{
  g_autofree char *folder = write_parts (right);

  for (guint opened = 0; opened < 3; opened++)
    {
      g_autofree char *path = make_part_path (folder, &right[opened]);
      g_autofree char *first = make_part_path (folder, &right[0]);
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);
      guint64 n_bytes = 0;

      g_assert_no_error (error);
      g_assert_cmpstr (kvasir_gguf_get_path (gguf), ==, first);
      g_assert_cmpstr (kvasir_gguf_get_string (gguf, "general.name", NULL), ==, right[0].name);
      g_assert_cmpuint (kvasir_gguf_get_n_parts (gguf), ==, 3);
      g_assert_cmpuint (kvasir_gguf_get_n_tensors (gguf), ==, 3);
      for (guint i = 0; i < 3; i++)
        {
          const KvasirGguf *part = kvasir_gguf_get_part (gguf, i);
          const KvasirGgufTensor *tensor = kvasir_gguf_find_tensor (gguf, right[i].tensor);

          g_assert_true (g_str_has_suffix (kvasir_gguf_get_path (part), right[i].name));
          g_assert_cmpuint (tensor->part, ==, i);
          g_assert_cmpuint (tensor->offset, ==, kvasir_gguf_get_data_offset (part));
          n_bytes += kvasir_gguf_get_file_bytes (part);
        }
      g_assert_cmpuint (kvasir_gguf_get_total_bytes (gguf), ==, n_bytes);
    }
  delete_parts (folder, right);
}

static const BadParts bad_parts[] = {
  { "a-part-missing", { right[0], { NULL }, right[2] }, "part 2 of 3: /" },
  { "first-missing", { { NULL }, right[1], right[2] }, "m-00001-of-00003.gguf: cannot be opened" },
  { "named-otherwise",
    { { "model.gguf", 0, 3, 3, "a" }, { NULL }, { NULL } },
    "part 1 of 3: expected a name that ends in -00001-of-00003.gguf" },
  { "named-as-another",
    { { "m-00002-of-00003.gguf", 0, 3, 3, "a" }, { NULL }, { NULL } },
    "part 1 of 3: expected a name that ends in -00001-of-00003.gguf" },
  { "numbers-swapped",
    { right[0], { "m-00002-of-00003.gguf", 2, 3, NONE, "b" }, right[2] },
    "m-00002-of-00003.gguf: split.no: expected 1, found 2" },
  { "of-another-count",
    { right[0], { "m-00002-of-00003.gguf", 1, 4, NONE, "b" }, right[2] },
    "m-00002-of-00003.gguf: split.count: expected 3, found 4" },
  { "no-part-at-all",
    { right[0], { "m-00002-of-00003.gguf", NONE, NONE, NONE, "b" }, right[2] },
    "m-00002-of-00003.gguf: split.no: expected 1, found none" },
  { "tensor-twice",
    { right[0], { "m-00002-of-00003.gguf", 1, 3, NONE, "a" }, right[2] },
    "m-00002-of-00003.gguf: tensor a: expected each name once, found it in a part before" },
  { "tensors-missing",
    { { "m-00001-of-00003.gguf", 0, 3, 4, "a" }, right[1], right[2] },
    "split.tensors.count: expected the 3 tensors of all parts, found 4" },
  { "too-many", { { "m.gguf", 0, 60000, 3, "a" }, { NULL } }, "split.count: expected 1 to 512" },
  { "beyond-the-last", { { "m.gguf", 3, 3, 3, "a" }, { NULL } }, "split.no: expected 0 to 2" },
};

static void
test_bad_parts (gconstpointer data)
{
  const BadParts *bad = data;
  g_autofree char *folder = write_parts (bad->parts);
  g_autofree char *path = make_part_path (folder, &bad->parts[bad->parts[0].name ? 0 : 1]);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);

  g_assert_null (gguf);
  g_assert_nonnull (error);
  if (!strstr (error->message, bad->message))
    g_error ("expected \"%s\" in \"%s\"", bad->message, error->message);
  delete_parts (folder, bad->parts);
}

/* Writers leave the keys of a split in a file that was put together again. */
static void
test_one_of_one (void)
{
  const Part parts[3] = { { "whole.gguf", 0, 1, 1, "a" }, { "zero.gguf", 0, 0, NONE, "a" } };
  g_autofree char *folder = write_parts (parts);

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = make_part_path (folder, &parts[i]);
      g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, NULL);

      g_assert_nonnull (gguf);
      g_assert_cmpuint (kvasir_gguf_get_n_parts (gguf), ==, 1);
    }
  delete_parts (folder, parts);
}

static void
test_names (void)
{
  static const char *const others[] = { "",
                                        ".gguf",
                                        "00001-of-00002.gguf",
                                        "m-0001-of-00002.gguf",
                                        "m-00001-of-0002.gguf",
                                        "m-00001_of_00002.gguf",
                                        "m-00001-of-00002.bin" };
  guint no = 77, n = 77;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_cmpuint (kvasir_gguf_parse_part_name (others[i], &no, &n), ==, 0);
  g_assert_true (no == 77 && n == 77);
  g_assert_cmpuint (kvasir_gguf_parse_part_name ("-00009-of-00012.gguf", &no, &n), ==, 20);
  g_assert_true (no == 8 && n == 12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/gguf/split/any-part-opens-all", test_any_part_opens_all);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_parts); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/gguf/split/refuses/", bad_parts[i].name, NULL);

      g_test_add_data_func (path, &bad_parts[i], test_bad_parts);
    }
  g_test_add_func ("/engine/gguf/split/one-of-one", test_one_of_one);
  g_test_add_func ("/engine/gguf/split/names", test_names);
  return g_test_run ();
}
