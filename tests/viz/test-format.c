/* Numbers, letters and colours: expected values are written by hand or follow from a formula. */
#include <math.h>

#include "viz/format.h"
#include "viz/palette.h"

static void
test_count (void)
{
  g_assert_cmpstr (kvasir_format_count (0).s, ==, "0");
  g_assert_cmpstr (kvasir_format_count (999).s, ==, "999");
  g_assert_cmpstr (kvasir_format_count (1755).s, ==, "1\u2009\u2060755");
  g_assert_cmpstr (kvasir_format_count (131072).s, ==, "131\u2009\u2060072");
  g_assert_cmpstr (kvasir_format_count (1000000).s, ==, "1\u2009\u2060000\u2009\u2060000");
  g_assert_cmpstr (kvasir_format_count (-3000).s, ==, "\u22123\u2009\u2060000");
  g_assert_cmpstr (kvasir_format_count (G_MININT64).s, ==,
                   "\u22129\u2009\u2060223\u2009\u2060372\u2009\u2060036\u2009\u2060854\u2009\u2060"
                   "775\u2009\u2060808");
}

static void
test_range (void)
{
  g_assert_cmpstr (kvasir_format_range (0, 1338).s, ==, "0\u20131\u2009\u2060338");
  g_assert_cmpstr (kvasir_format_range (7, 7).s, ==, "7");
}

static void
test_size (void)
{
  g_assert_cmpstr (kvasir_format_size (512).s, ==, "512 B");
  g_assert_cmpstr (kvasir_format_size (23040).s, ==, "22.5 KiB");
  g_assert_cmpstr (kvasir_format_size (11520).s, ==, "11.25 KiB");
  g_assert_cmpstr (kvasir_format_size (4096).s, ==, "4 KiB");
  g_assert_cmpstr (kvasir_format_size (1755 * 23040).s, ==, "38.6 MiB");
  g_assert_cmpstr (kvasir_format_size (4096 * 23040).s, ==, "90.0 MiB");
  g_assert_cmpstr (kvasir_format_size (G_GUINT64_CONSTANT (2560) << 20).s, ==,
                   "2\u2009\u2060560.0 MiB");
  g_assert_cmpstr (kvasir_format_size (G_GUINT64_CONSTANT (16) << 30).s, ==, "16.0 GiB");
}

static void
test_difference (void)
{
  const guint64 mib = 1024 * 1024;
  g_assert_cmpstr (kvasir_format_mib_difference (641 * mib, 638 * mib).s, ==, "+3.0");
  g_assert_cmpstr (kvasir_format_mib_difference (638 * mib, 641 * mib).s, ==, "\u22123.0");
  g_assert_cmpstr (kvasir_format_mib_difference (mib, mib).s, ==, "0.0");
  g_assert_cmpstr (kvasir_format_mib_difference (mib, mib + 100).s, ==, "0.0");
}

static void
test_layers (void)
{
  g_assert_cmpstr (kvasir_format_layers (1).s, ==, "1 layer");
  g_assert_cmpstr (kvasir_format_layers (30).s, ==, "30 layers");
}

static void
test_duration (void)
{
  g_assert_cmpstr (kvasir_format_duration (180).s, ==, "180 µs");
  g_assert_cmpstr (kvasir_format_duration (3400).s, ==, "3.4 ms");
  g_assert_cmpstr (kvasir_format_duration (243000).s, ==, "243.0 ms");
  g_assert_cmpstr (kvasir_format_duration (1900000).s, ==, "1.9 s");
  g_assert_cmpstr (kvasir_format_duration (125000000).s, ==, "2 min 5 s");
}

static void
test_visible (void)
{
  g_autofree char *lines = kvasir_format_dup_visible (" a\n\tb");
  g_autofree char *broken = kvasir_format_dup_visible ("x\xe2\x82");
  g_assert_cmpstr (lines, ==, " a↵⇥b");
  g_assert_true (g_utf8_validate (broken, -1, NULL));
  g_assert_cmpint (broken[0], ==, 'x');
}

/* The Okabe-Ito palette as published, in the order of best separation. */
static void
test_hues (void)
{
  const KvasirRgb published[] = { 0x56B4E9, 0xE69F00, 0x009E73, 0xCC79A7,
                                  0xF0E442, 0x0072B2, 0xD55E00 };
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    g_assert_cmphex (kvasir_palette_get_sequence (i), ==, published[i]);
}

/* WCAG 2: relative luminance of sRGB. */
static double
get_luminance (KvasirRgb rgb)
{
  const double weights[] = { 0.2126, 0.7152, 0.0722 };
  double sum = 0;
  for (guint i = 0; i < 3; i++)
    {
      double c = ((rgb >> (16 - 8 * i)) & 0xff) / 255.0;
      sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow ((c + 0.055) / 1.055, 2.4));
    }
  return sum;
}

static double
get_contrast (KvasirRgb a, KvasirRgb b)
{
  double x = get_luminance (a);
  double y = get_luminance (b);
  return (MAX (x, y) + 0.05) / (MIN (x, y) + 0.05);
}

static void
test_contrast (void)
{
  for (guint seq = 0; seq < KVASIR_MAX_SEQS; seq++)
    {
      KvasirRgb rgb = kvasir_palette_get_sequence (seq);
      g_assert_cmpfloat (get_contrast (rgb, KVASIR_RGB_CANVAS), >=, 3.0);
      g_assert_cmpfloat (get_contrast (rgb, kvasir_palette_get_ink (rgb)), >=, 3.0);
    }
  g_assert_cmpfloat (get_contrast (KVASIR_RGB_DIM, KVASIR_RGB_PAGE), >=, 4.5);
  g_assert_cmpfloat (get_contrast (KVASIR_RGB_LABEL, KVASIR_RGB_PAGE), >=, 4.5);
}

static void
test_letters (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_assert_cmpstr (kvasir_palette_get_letter (0).s, ==, "A");
  g_assert_cmpstr (kvasir_palette_get_letter (25).s, ==, "Z");
  for (guint seq = 0; seq < KVASIR_MAX_SEQS; seq++)
    g_assert_true (g_hash_table_add (seen, g_strdup (kvasir_palette_get_letter (seq).s)));
}

static void
test_letter_lists (void)
{
  KvasirSeqSet set = { { 0x2B, 0, 0, G_GUINT64_CONSTANT (1) << 63 } };
  g_autoptr (GString) all = g_string_new (NULL);
  g_autoptr (GString) some = g_string_new (NULL);
  kvasir_palette_append_letters (all, &set, " ", 8);
  kvasir_palette_append_letters (some, &set, " ", 2);
  g_assert_cmpstr (all->str, ==, "A B D F V9");
  g_assert_cmpstr (some->str, ==, "A B +3");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/format/count-has-thin-gaps", test_count);
  g_test_add_func ("/viz/format/range-of-one-is-one-number", test_range);
  g_test_add_func ("/viz/format/size-in-the-fitting-unit", test_size);
  g_test_add_func ("/viz/format/difference-is-signed", test_difference);
  g_test_add_func ("/viz/format/layers-are-counted-in-words", test_layers);
  g_test_add_func ("/viz/format/duration-in-the-fitting-unit", test_duration);
  g_test_add_func ("/viz/format/token-bytes-become-one-line", test_visible);
  g_test_add_func ("/viz/palette/hues-are-okabe-ito", test_hues);
  g_test_add_func ("/viz/palette/graphics-have-contrast-3", test_contrast);
  g_test_add_func ("/viz/palette/every-sequence-has-its-letter", test_letters);
  g_test_add_func ("/viz/palette/long-lists-say-how-many-more", test_letter_lists);
  return g_test_run ();
}
