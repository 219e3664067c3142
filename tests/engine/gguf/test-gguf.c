#include "engine/gguf/gguf.h"

#include "backends/backend.h"
#include "engine/error.h"
#include "tests/engine/gguf/gguf-writer.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a right file ------------------------------------------------------------------------- */

static const char *const fruits[] = { "apple", "", "pear" };
static const gint32 numbers[] = { -1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

/* Every kind of value, three tensors of different types, the last one without padding. */
static GByteArray *
make_file (guint32 version)
{
  GByteArray *out = g_byte_array_new ();
  const float pi = 3.25f;
  const double e = -2.5;
  guint32 bits;
  guint64 bits64;

  put_header (out, version, 3, 16);
  put_key_text (out, "general.architecture", "llama");
  put_key_u32 (out, "general.alignment", 64);
  put_key (out, "t.u8", KVASIR_GGUF_U8);
  g_byte_array_append (out, (const guint8 *) "\xff", 1);
  put_key (out, "t.i8", KVASIR_GGUF_I8);
  g_byte_array_append (out, (const guint8 *) "\xff", 1);
  put_key (out, "t.u16", KVASIR_GGUF_U16);
  g_byte_array_append (out, (const guint8 *) "\x34\x12", 2);
  put_key (out, "t.i16", KVASIR_GGUF_I16);
  g_byte_array_append (out, (const guint8 *) "\xfe\xff", 2);
  put_key (out, "t.i32", KVASIR_GGUF_I32);
  put_u32 (out, (guint32) -70000);
  put_key (out, "t.f32", KVASIR_GGUF_F32);
  memcpy (&bits, &pi, sizeof bits);
  put_u32 (out, bits);
  put_key (out, "t.u64", KVASIR_GGUF_U64);
  put_u64 (out, G_MAXUINT64);
  put_key (out, "t.i64", KVASIR_GGUF_I64);
  put_u64 (out, (guint64) G_MININT64);
  put_key (out, "t.f64", KVASIR_GGUF_F64);
  memcpy (&bits64, &e, sizeof bits64);
  put_u64 (out, bits64);
  put_key_bool (out, "t.bool", TRUE);
  put_key_texts (out, "t.fruits", fruits, G_N_ELEMENTS (fruits));
  put_key_i32s (out, "t.numbers", numbers, G_N_ELEMENTS (numbers));
  put_key (out, "t.wide", KVASIR_GGUF_U64);
  put_u64 (out, 5000000000u);
  put_key_text (out, "t.raw", "a\033]52;x");
  put_tensor (out, "a.weight", 32, 2, KVASIR_TYPE_Q8_0, 0); /* 68 bytes: 128 with padding */
  put_tensor (out, "b.weight", 3, 0, KVASIR_TYPE_F32, 128);
  put_tensor (out, "c.weight", 5, 1, KVASIR_TYPE_F16, 192);
  put_data (out, 64, 192 + 10);
  return out;
}

static void
test_values (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, &error);
  gint64 integer = 0;
  guint32 u32 = 0;
  float f32 = 0;
  gboolean flag = FALSE;
  gsize len = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (kvasir_gguf_get_version (gguf), ==, 3);
  g_assert_cmpuint (kvasir_gguf_get_n_keys (gguf), ==, 16);
  g_assert_cmpuint (kvasir_gguf_get_alignment (gguf), ==, 64);
  g_assert_cmpuint (kvasir_gguf_get_file_bytes (gguf), ==, bytes->len);
  g_assert_true (kvasir_gguf_get_u32 (gguf, "t.u8", &u32) && u32 == 255);
  g_assert_true (kvasir_gguf_get_i64 (gguf, "t.i8", &integer) && integer == -1);
  g_assert_true (kvasir_gguf_get_u32 (gguf, "t.u16", &u32) && u32 == 0x1234);
  g_assert_true (kvasir_gguf_get_i64 (gguf, "t.i16", &integer) && integer == -2);
  g_assert_true (kvasir_gguf_get_i64 (gguf, "t.i32", &integer) && integer == -70000);
  g_assert_true (kvasir_gguf_get_i64 (gguf, "t.i64", &integer) && integer == G_MININT64);
  g_assert_true (kvasir_gguf_get_f32 (gguf, "t.f32", &f32) && f32 == 3.25f);
  g_assert_true (kvasir_gguf_get_f32 (gguf, "t.f64", &f32) && f32 == -2.5f);
  g_assert_true (kvasir_gguf_get_bool (gguf, "t.bool", &flag) && flag);
  g_assert_cmpstr (kvasir_gguf_get_string (gguf, "general.architecture", &len), ==, "llama");
  g_assert_cmpuint (len, ==, 5);
}

/* What does not fit is refused and leaves the value alone. */
static void
test_wrong_kinds (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, NULL);
  gint64 integer = 77;
  guint32 u32 = 77;
  KvasirGgufStrings strings;
  float f32 = 77;
  gboolean flag = 77;

  g_assert_nonnull (gguf);
  g_assert_false (kvasir_gguf_get_u32 (gguf, "t.i8", &u32));
  g_assert_false (kvasir_gguf_get_u32 (gguf, "t.u64", &u32));
  g_assert_false (kvasir_gguf_get_u32 (gguf, "t.wide", &u32));
  g_assert_false (kvasir_gguf_get_i64 (gguf, "t.u64", &integer));
  g_assert_false (kvasir_gguf_get_i64 (gguf, "t.f32", &integer));
  g_assert_false (kvasir_gguf_get_i64 (gguf, "t.bool", &integer));
  g_assert_false (kvasir_gguf_get_i64 (gguf, "t.missing", &integer));
  g_assert_false (kvasir_gguf_get_f32 (gguf, "t.i32", &f32));
  g_assert_false (kvasir_gguf_get_f32 (gguf, "t.fruits", &f32));
  g_assert_false (kvasir_gguf_get_bool (gguf, "t.u8", &flag));
  g_assert_null (kvasir_gguf_get_string (gguf, "t.u8", NULL));
  g_assert_null (kvasir_gguf_get_array_data (gguf, "t.u8"));
  g_assert_false (kvasir_gguf_get_strings (gguf, "t.numbers", &strings));
  g_assert_true (integer == 77 && u32 == 77 && f32 == 77.0f && flag == 77);
}

static void
test_arrays (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, NULL);
  KvasirGgufStrings strings;
  KvasirGgufType type = KVASIR_GGUF_U8;
  guint64 n = 0;
  gsize len = 0;
  gint32 last;

  g_assert_nonnull (gguf);
  g_assert_true (kvasir_gguf_get_array (gguf, "t.fruits", &type, &n));
  g_assert_true (type == KVASIR_GGUF_STRING && n == 3);
  g_assert_true (kvasir_gguf_get_strings (gguf, "t.fruits", &strings));
  g_assert_cmpuint (strings.n, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const char *text = kvasir_gguf_strings_get (&strings, i, &len);

      g_assert_cmpmem (text, len, fruits[i], strlen (fruits[i]));
    }
  g_assert_true (kvasir_gguf_get_array (gguf, "t.numbers", &type, &n));
  g_assert_true (type == KVASIR_GGUF_I32 && n == 10);
  memcpy (&last, kvasir_gguf_get_array_data (gguf, "t.numbers") + 36, sizeof last);
  g_assert_cmpint (GINT32_FROM_LE (last), ==, 10);
}

static void
test_tensors (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, NULL);
  const KvasirGgufTensor *tensor;
  guint64 data = (bytes->len - 192 - 10);

  g_assert_nonnull (gguf);
  g_assert_cmpuint (data % 64, ==, 0);
  g_assert_cmpuint (kvasir_gguf_get_data_offset (gguf), ==, data);
  g_assert_cmpuint (kvasir_gguf_get_n_tensors (gguf), ==, 3);
  tensor = kvasir_gguf_get_tensor (gguf, 0);
  g_assert_cmpstr (tensor->name, ==, "a.weight");
  g_assert_true (tensor->type == KVASIR_TYPE_Q8_0 && tensor->n_dims == 2);
  g_assert_true (tensor->ne[0] == 32 && tensor->ne[1] == 2 && tensor->ne[3] == 1);
  g_assert_cmpuint (tensor->n_bytes, ==, 68);
  g_assert_cmpuint (tensor->offset, ==, data);
  tensor = kvasir_gguf_find_tensor (gguf, "c.weight");
  g_assert_true (tensor == kvasir_gguf_get_tensor (gguf, 2));
  g_assert_cmpuint (tensor->offset, ==, data + 192);
  g_assert_cmpuint (tensor->n_bytes, ==, 10);
  g_assert_null (kvasir_gguf_find_tensor (gguf, "d.weight"));
}

static void
test_version_2 (void)
{
  g_autoptr (GByteArray) bytes = make_file (2);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (kvasir_gguf_get_version (gguf), ==, 2);
}

static char *
format (const KvasirGguf *gguf, const char *key)
{
  for (guint i = 0; i < kvasir_gguf_get_n_keys (gguf); i++)
    if (strcmp (kvasir_gguf_get_key (gguf, i, NULL), key) == 0)
      return kvasir_gguf_format_value (gguf, i);
  g_assert_not_reached ();
}

static void
test_format (void)
{
  static const char *const expected[][2] = {
    { "general.architecture", "llama" },
    { "t.u8", "255" },
    { "t.i16", "-2" },
    { "t.u64", "18446744073709551615" },
    { "t.i64", "-9223372036854775808" },
    { "t.f32", "3.25" },
    { "t.f64", "-2.5" },
    { "t.bool", "true" },
    { "t.fruits", "[apple, , pear]" },
    { "t.numbers", "[-1, 2, 3, 4, 5, 6, 7, 8, ... (10 values)]" },
    { "t.raw", "a\\x1b]52;x" },
  };
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, NULL);

  g_assert_nonnull (gguf);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autofree char *text = format (gguf, expected[i][0]);

      g_assert_cmpstr (text, ==, expected[i][1]);
    }
}

/* ---- wrong files -------------------------------------------------------------------------- */

/* Writes a file that breaks one rule. */
typedef void (*MakeFunc) (GByteArray *out);

typedef struct
{
  const char *name;
  MakeFunc make;
  const char *message; /* part of the error's, with the offset where it is known */
} BadFile;

static void
make_empty (GByteArray *out)
{
}

static void
make_other_magic (GByteArray *out)
{
  g_byte_array_append (out, (const guint8 *) "GGML\3\0\0\0", 8);
  put_u64 (out, 0);
  put_u64 (out, 0);
}

static void
make_version_1 (GByteArray *out)
{
  put_header (out, 1, 0, 0);
}

static void
make_version_4 (GByteArray *out)
{
  put_header (out, 4, 0, 0);
}

static void
make_big_endian (GByteArray *out)
{
  put_header (out, 3u << 24, 0, 0);
}

static void
make_too_many_keys (GByteArray *out)
{
  put_header (out, 3, 0, (guint64) 1 << 60);
}

static void
make_keys_past_end (GByteArray *out)
{
  put_header (out, 3, 0, 60000);
}

static void
make_negative_tensors (GByteArray *out)
{
  put_header (out, 3, (guint64) -1, 0);
}

static void
make_tensors_past_end (GByteArray *out)
{
  put_header (out, 3, 2, 0);
  put_tensor (out, "a", 1, 0, KVASIR_TYPE_F32, 0);
}

static void
make_empty_key (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key_u32 (out, "", 1);
}

static void
make_long_key (GByteArray *out)
{
  g_autofree char *key = g_strnfill (65536, 'k');

  put_header (out, 3, 0, 1);
  put_key_u32 (out, key, 1);
}

static void
make_binary_key (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key_u32 (out, "a\033b", 1);
}

static void
make_key_twice (GByteArray *out)
{
  put_header (out, 3, 0, 3);
  put_key_u32 (out, "a", 1);
  put_key_u32 (out, "b", 1);
  put_key_u32 (out, "a", 1);
}

static void
make_string_past_end (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key (out, "a", KVASIR_GGUF_STRING);
  put_u64 (out, 100);
}

static void
make_string_too_long (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key (out, "a", KVASIR_GGUF_STRING);
  put_u64 (out, ((guint64) 1 << 30) + 1);
}

static void
make_unknown_type (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key (out, "a", (KvasirGgufType) 13);
  put_u64 (out, 0);
}

static void
put_array_head (GByteArray *out, guint32 type, guint64 n)
{
  put_header (out, 3, 0, 1);
  put_key (out, "a", KVASIR_GGUF_ARRAY);
  put_u32 (out, type);
  put_u64 (out, n);
}

static void
make_array_too_long (GByteArray *out)
{
  put_array_head (out, KVASIR_GGUF_U8, ((guint64) 1 << 30) + 1);
}

static void
make_array_past_end (GByteArray *out)
{
  put_array_head (out, KVASIR_GGUF_U64, 2);
  put_data (out, 1, 15);
}

static void
make_strings_past_end (GByteArray *out)
{
  put_array_head (out, KVASIR_GGUF_STRING, (guint64) 1 << 29);
  put_text (out, "x");
}

static void
make_array_of_arrays (GByteArray *out)
{
  put_array_head (out, KVASIR_GGUF_ARRAY, 1);
  put_data (out, 1, 64);
}

static void
put_alignment (GByteArray *out, guint32 alignment)
{
  put_header (out, 3, 0, 1);
  put_key_u32 (out, "general.alignment", alignment);
}

static void
make_alignment_0 (GByteArray *out)
{
  put_alignment (out, 0);
}

static void
make_alignment_24 (GByteArray *out)
{
  put_alignment (out, 24);
}

static void
make_alignment_2_30 (GByteArray *out)
{
  put_alignment (out, 1u << 30);
}

static void
make_alignment_text (GByteArray *out)
{
  put_header (out, 3, 0, 1);
  put_key_text (out, "general.alignment", "32");
}

static void
put_tensor_head (GByteArray *out, const char *name, guint32 n_dims)
{
  put_header (out, 3, 1, 0);
  put_text (out, name);
  put_u32 (out, n_dims);
}

static void
make_long_name (GByteArray *out)
{
  g_autofree char *name = g_strnfill (64, 'n');

  put_tensor_head (out, name, 0);
  put_data (out, 1, 64);
}

static void
make_name_with_nul (GByteArray *out)
{
  put_header (out, 3, 1, 0);
  put_u64 (out, 3);
  g_byte_array_append (out, (const guint8 *) "a\0b", 3);
  put_data (out, 1, 64);
}

static void
make_name_twice (GByteArray *out)
{
  put_header (out, 3, 2, 0);
  put_tensor (out, "w", 8, 0, KVASIR_TYPE_F32, 0);
  put_tensor (out, "w", 8, 0, KVASIR_TYPE_F32, 32);
  put_data (out, 32, 64);
}

static void
make_five_dims (GByteArray *out)
{
  put_tensor_head (out, "w", 5);
  put_data (out, 1, 64);
}

static void
make_negative_extent (GByteArray *out)
{
  put_tensor_head (out, "w", 2);
  put_u64 (out, 4);
  put_u64 (out, (guint64) -4);
  put_data (out, 1, 64);
}

static void
make_product_overflow (GByteArray *out)
{
  put_tensor_head (out, "w", 3);
  put_u64 (out, (guint64) 1 << 31);
  put_u64 (out, (guint64) 1 << 31);
  put_u64 (out, 2);
  put_data (out, 1, 64);
}

static void
make_unknown_tensor_type (GByteArray *out)
{
  put_header (out, 3, 1, 0);
  put_tensor (out, "w", 32, 0, KVASIR_N_TYPES, 0);
  put_data (out, 32, 64);
}

static void
make_removed_tensor_type (GByteArray *out)
{
  put_header (out, 3, 1, 0);
  put_tensor (out, "w", 32, 0, 4, 0);
  put_data (out, 32, 64);
}

static void
make_half_block (GByteArray *out)
{
  put_header (out, 3, 1, 0);
  put_tensor (out, "w", 48, 0, KVASIR_TYPE_Q4_0, 0);
  put_data (out, 32, 64);
}

static void
make_bytes_overflow (GByteArray *out)
{
  put_tensor_head (out, "w", 2);
  put_u64 (out, (guint64) 1 << 31);
  put_u64 (out, ((guint64) 1 << 31) - 1);
  put_u32 (out, KVASIR_TYPE_F64);
  put_u64 (out, 0);
  put_data (out, 32, 64);
}

static void
make_gap (GByteArray *out)
{
  put_header (out, 3, 2, 0);
  put_tensor (out, "v", 8, 0, KVASIR_TYPE_F32, 0);
  put_tensor (out, "w", 8, 0, KVASIR_TYPE_F32, 64);
  put_data (out, 32, 96);
}

static void
make_overlap (GByteArray *out)
{
  put_header (out, 3, 2, 0);
  put_tensor (out, "v", 8, 0, KVASIR_TYPE_F32, 0);
  put_tensor (out, "w", 8, 0, KVASIR_TYPE_F32, 0);
  put_data (out, 32, 64);
}

/* Padded sizes whose sum wraps to a small number in 64 bits. */
static void
make_sum_overflow (GByteArray *out)
{
  put_header (out, 3, 3, 0);
  put_tensor (out, "u", (gint64) 1 << 60, 0, KVASIR_TYPE_F64, 0);
  put_tensor (out, "v", (gint64) 1 << 60, 0, KVASIR_TYPE_F64, (guint64) 1 << 63);
  put_tensor (out, "w", 8, 0, KVASIR_TYPE_F32, 0);
  put_data (out, 32, 64);
}

static void
make_data_cut (GByteArray *out)
{
  put_header (out, 3, 1, 0);
  put_tensor (out, "w", 16, 0, KVASIR_TYPE_F32, 0);
  put_data (out, 32, 63);
}

static const BadFile bad_files[] = {
  { "empty-file", make_empty, "byte 0: magic: expected 4 bytes, found 0" },
  { "other-magic", make_other_magic, "byte 0: magic: expected \"GGUF\", found \"GGML\"" },
  { "version-1", make_version_1, "byte 4: version: expected 2 or 3, found 1" },
  { "version-4", make_version_4, "byte 4: version: expected 2 or 3, found 4" },
  { "big-endian", make_big_endian, "found 0x03000000: big-endian files are not supported" },
  { "too-many-keys", make_too_many_keys,
    "byte 16: number of keys: expected at most 65536, found 1152921504606846976" },
  { "keys-past-end", make_keys_past_end,
    "byte 16: number of keys: expected at most 0 in the 0 bytes left in the file, found 60000" },
  { "negative-tensors", make_negative_tensors, "found 18446744073709551615" },
  { "tensors-past-end", make_tensors_past_end,
    "number of tensors: expected at most 1 in the 33 bytes left in the file, found 2" },
  { "empty-key", make_empty_key, "byte 32: key 0: expected a name, found an empty one" },
  { "long-key", make_long_key,
    "byte 24: key 0: expected a length of at most 65535 bytes, found 65536" },
  { "binary-key", make_binary_key, "byte 33: key 0: expected printable ASCII, found 0x1b" },
  { "key-twice", make_key_twice,
    "byte 66: key 2: expected each key once, found \"a\" again (first at byte 32)" },
  { "string-past-end", make_string_past_end,
    "byte 45: key \"a\": expected 100 bytes, found 0 up to the end of the file" },
  { "string-too-long", make_string_too_long,
    "byte 37: key \"a\": expected a length of at most 1073741824 bytes, found 1073741825" },
  { "unknown-value-type", make_unknown_type,
    "byte 33: key \"a\": expected a value type of 0 to 12, found 13" },
  { "array-too-long", make_array_too_long,
    "byte 41: key \"a\": expected at most 1073741824, found 1073741825" },
  { "array-past-end", make_array_past_end,
    "byte 41: key \"a\": expected at most 1 in the 15 bytes left in the file, found 2" },
  { "strings-past-end", make_strings_past_end, "expected at most 1 in the 9 bytes left" },
  { "array-of-arrays", make_array_of_arrays,
    "byte 37: key \"a\": expected an array of plain values, found one of arrays" },
  { "alignment-0", make_alignment_0,
    "byte 53: general.alignment: expected a power of two from 8 to 65536, found 0" },
  { "alignment-24", make_alignment_24, "found 24" },
  { "alignment-2-30", make_alignment_2_30, "found 1073741824" },
  { "alignment-text", make_alignment_text,
    "byte 32: general.alignment: expected value type 4 (u32), found 8" },
  { "long-tensor-name", make_long_name,
    "byte 24: name of tensor 0: expected a length of at most 63 bytes, found 64" },
  { "tensor-name-with-nul", make_name_with_nul,
    "byte 33: name of tensor 0: expected text, found a byte of 0" },
  { "tensor-name-twice", make_name_twice,
    "name of tensor 1: expected each name once, found \"w\" again" },
  { "five-dimensions", make_five_dims,
    "byte 33: tensor \"w\": expected at most 4 dimensions, found 5" },
  { "negative-extent", make_negative_extent,
    "byte 45: tensor \"w\": extent 1: expected 0 or more, found -4" },
  { "element-overflow", make_product_overflow,
    "byte 53: tensor \"w\": expected below 2^63 elements, found more with extent 2 of 2" },
  { "unknown-tensor-type", make_unknown_tensor_type,
    "byte 45: tensor \"w\": expected a tensor type of 0 to 42 that is in use, found 43" },
  { "removed-tensor-type", make_removed_tensor_type, "that is in use, found 4" },
  { "half-a-block", make_half_block,
    "tensor \"w\": expected rows of a multiple of 32 elements for type q4_0, found 48" },
  { "byte-overflow", make_bytes_overflow, "expected below 2^64 bytes, found 4611686016279904256" },
  { "gap-between-tensors", make_gap,
    "tensor \"w\": expected an offset of 32, the end of the tensors before, found 64" },
  { "overlapping-tensors", make_overlap, "expected an offset of 32" },
  { "sizes-that-wrap", make_sum_overflow,
    "tensor \"u\": expected its 9223372036854775808 bytes from 0 of the data on" },
  { "data-cut", make_data_cut,
    "byte 64: tensor \"w\": expected 64 bytes of data, found the end of the file at byte 127; the "
    "download may be incomplete" },
};

static void
test_bad_file (gconstpointer data)
{
  const BadFile *bad = data;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = NULL;

  bad->make (bytes);
  gguf = open_bytes (bytes->data, bytes->len, &error);
  g_assert_null (gguf);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
  if (!strstr (error->message, bad->message))
    g_error ("expected \"%s\" in \"%s\"", bad->message, error->message);
  g_assert_true (g_str_has_prefix (error->message, "/proc/self/fd/"));
}

static void
test_no_file (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (kvasir_gguf_open ("/nowhere/model.gguf", &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_true (g_str_has_prefix (error->message, "/nowhere/model.gguf: cannot be opened: "));
  g_clear_error (&error);
  g_assert_null (kvasir_gguf_open ("/proc/self", &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "expected a regular file, found a folder"));
}

/* ---- damaged files ------------------------------------------------------------------------ */

/* Reads everything that a header gives out; the sanitizers look on. */
static void
walk (const KvasirGguf *gguf)
{
  for (guint i = 0; i < kvasir_gguf_get_n_keys (gguf); i++)
    {
      KvasirGgufType type = KVASIR_GGUF_U8;
      const char *key = kvasir_gguf_get_key (gguf, i, &type);
      g_autofree char *text = kvasir_gguf_format_value (gguf, i);
      gsize len = 0;
      const char *string = kvasir_gguf_get_string (gguf, key, &len);

      g_assert_true (kvasir_gguf_has_key (gguf, key));
      g_assert_true (g_utf8_validate (text, -1, NULL));
      if (string)
        g_assert_cmpint (string[len], ==, 0);
    }
  for (guint i = 0; i < kvasir_gguf_get_n_tensors (gguf); i++)
    {
      const KvasirGgufTensor *tensor = kvasir_gguf_get_tensor (gguf, i);

      g_assert_true (kvasir_gguf_find_tensor (gguf, tensor->name) == tensor);
      g_assert_cmpuint (tensor->offset + tensor->n_bytes, <=, kvasir_gguf_get_file_bytes (gguf));
    }
}

static void
test_cut_anywhere (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);

  for (guint n = 0; n < bytes->len; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, n, &error);

      g_assert_null (gguf);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
      g_assert_nonnull (strstr (error->message, ": byte "));
      g_assert_nonnull (strstr (error->message, "expected "));
      g_assert_nonnull (strstr (error->message, "found "));
    }
}

static void
test_any_bit_flipped (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);

  for (guint bit = 0; bit < bytes->len * 8; bit++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirGguf) gguf = NULL;

      bytes->data[bit / 8] ^= (guint8) (1u << (bit % 8));
      gguf = open_bytes (bytes->data, bytes->len, &error);
      bytes->data[bit / 8] ^= (guint8) (1u << (bit % 8));
      g_assert_true ((gguf == NULL) == (error != NULL));
      if (gguf)
        walk (gguf);
    }
}

static void
test_random_bytes (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20261129);
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autofree guint8 *copy = g_malloc (bytes->len);

  for (guint round = 0; round < 4000; round++)
    {
      g_autoptr (KvasirGguf) gguf = NULL;
      gint n_changes = g_rand_int_range (random, 1, 9);

      memcpy (copy, bytes->data, bytes->len);
      for (gint i = 0; i < n_changes; i++)
        copy[g_rand_int_range (random, 4, (gint32) bytes->len)] =
            (guint8) g_rand_int_range (random, 0, 256);
      gguf = open_bytes (copy, bytes->len, NULL);
      if (gguf)
        walk (gguf);
    }
}

/* ---- memory ------------------------------------------------------------------------------- */

static gsize
get_peak_bytes (void)
{
  g_autofree char *status = NULL;
  const char *line;

  g_assert_true (g_file_get_contents ("/proc/self/status", &status, NULL, NULL));
  line = strstr (status, "VmHWM:");
  g_assert_nonnull (line);
  return (gsize) g_ascii_strtoull (line + strlen ("VmHWM:"), NULL, 10) * 1024;
}

static void
test_claims_take_no_memory (void)
{
  static const guint64 claims[] = { (guint64) 1 << 60, (guint64) 1 << 40, ((guint64) 1 << 30) - 1,
                                    G_MAXUINT64, G_MAXINT64 };
  gsize before;

  test_bad_file (&bad_files[0]);
  before = get_peak_bytes ();
  for (gsize i = 0; i < G_N_ELEMENTS (claims); i++)
    for (guint place = 0; place < 5; place++)
      {
        g_autoptr (GByteArray) bytes = g_byte_array_new ();
        g_autoptr (KvasirGguf) gguf = NULL;

        put_header (bytes, 3, place == 0 ? claims[i] : 0, place == 1 ? claims[i] : 1);
        if (place == 2)
          put_u64 (bytes, claims[i]);
        else
          put_key (bytes, "a", place == 3 ? KVASIR_GGUF_STRING : KVASIR_GGUF_ARRAY);
        if (place == 4)
          put_u32 (bytes, KVASIR_GGUF_STRING);
        put_u64 (bytes, claims[i]);
        gguf = open_bytes (bytes->data, bytes->len, NULL);
        g_assert_null (gguf);
      }
  g_assert_cmpuint (get_peak_bytes () - before, <, 1 << 20);
}

/* The header is a copy: nothing that happens to the file later reaches it. */
static void
test_file_may_change_later (void)
{
  g_autoptr (GByteArray) bytes = make_file (3);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("kvasir-gguf-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (gssize) bytes->len);
  gguf = kvasir_gguf_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (ftruncate (fd, 0), ==, 0);
  g_assert_cmpstr (kvasir_gguf_get_path (gguf), ==, path);
  walk (gguf);
  close (fd);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/gguf/reads-every-kind-of-value", test_values);
  g_test_add_func ("/engine/gguf/wrong-kinds-leave-the-value", test_wrong_kinds);
  g_test_add_func ("/engine/gguf/arrays", test_arrays);
  g_test_add_func ("/engine/gguf/tensors", test_tensors);
  g_test_add_func ("/engine/gguf/version-2", test_version_2);
  g_test_add_func ("/engine/gguf/text-of-values", test_format);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_files); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/gguf/refuses/", bad_files[i].name, NULL);

      g_test_add_data_func (path, &bad_files[i], test_bad_file);
    }
  g_test_add_func ("/engine/gguf/no-file", test_no_file);
  g_test_add_func ("/engine/gguf/cut-anywhere", test_cut_anywhere);
  g_test_add_func ("/engine/gguf/any-bit-flipped", test_any_bit_flipped);
  g_test_add_func ("/engine/gguf/random-bytes", test_random_bytes);
  g_test_add_func ("/engine/gguf/claims-take-no-memory", test_claims_take_no_memory);
  g_test_add_func ("/engine/gguf/file-may-change-later", test_file_may_change_later);
  return g_test_run ();
}
