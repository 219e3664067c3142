#include "viz/palette.h"

#include <string.h>

static const KvasirRgb hues[KVASIR_N_HUES] = {
  0x56B4E9, /* sky */
  0xE69F00, /* orange */
  0x009E73, /* green */
  0xCC79A7, /* purple */
  0xF0E442, /* yellow */
  0x0072B2, /* blue */
  0xD55E00, /* vermillion */
};

static const KvasirRgb greys[] = { 0xB8B8B8, 0x8E8E8E, 0xD6D6D6, 0x7A7A7A };

KvasirRgb
kvasir_palette_get_sequence (guint seq)
{
  if (seq < KVASIR_N_HUES)
    return hues[seq];
  return greys[(seq - KVASIR_N_HUES) % G_N_ELEMENTS (greys)];
}

KvasirLetter
kvasir_palette_get_letter (guint seq)
{
  KvasirLetter letter = { { (char) ('A' + seq % 26) } };
  if (seq >= 26)
    g_snprintf (letter.s + 1, sizeof letter.s - 1, "%u", seq / 26);
  return letter;
}

void
kvasir_palette_append_letters (GString *out,
                               const KvasirSeqSet *set,
                               const char *separator,
                               guint max)
{
  guint n = 0;
  gint seq = kvasir_palette_next_seq (set, -1);
  for (; seq >= 0 && n < max; seq = kvasir_palette_next_seq (set, seq), n++)
    {
      g_string_append (out, n > 0 ? separator : "");
      g_string_append (out, kvasir_palette_get_letter ((guint) seq).s);
    }
  if (seq >= 0)
    g_string_append_printf (out, "%s+%u", separator, kvasir_seq_set_count (set) - n);
}

KvasirRgb
kvasir_palette_get_kind (KvasirMemoryKind kind)
{
  static const KvasirRgb kinds[KVASIR_N_KINDS] = {
    [KVASIR_KIND_WEIGHTS] = 0x62A0EA,     [KVASIR_KIND_KV_K] = 0x56B4E9,
    [KVASIR_KIND_KV_V] = 0x0072B2,        [KVASIR_KIND_SWA_K] = 0x009E73,
    [KVASIR_KIND_SWA_V] = 0x7FD1B9,       [KVASIR_KIND_RECURRENT] = 0xCC79A7,
    [KVASIR_KIND_COMPUTE] = 0xF0E442,     [KVASIR_KIND_OUTPUT] = 0xE69F00,
    [KVASIR_KIND_CHECKPOINTS] = 0xD55E00, [KVASIR_KIND_GUESSING] = 0x9A7FD1,
  };
  return kinds[MIN (kind, KVASIR_N_KINDS - 1)];
}

static guint
mix_channel (KvasirRgb a, KvasirRgb b, guint shift, double t)
{
  double from = (double) ((a >> shift) & 0xff);
  double to = (double) ((b >> shift) & 0xff);
  return (guint) (from + (to - from) * t + 0.5) << shift;
}

KvasirRgb
kvasir_palette_mix (KvasirRgb a, KvasirRgb b, double t)
{
  return mix_channel (a, b, 16, t) | mix_channel (a, b, 8, t) | mix_channel (a, b, 0, t);
}

KvasirRgb
kvasir_palette_get_ink (KvasirRgb rgb)
{
  /* Rec. 709 luma is close enough to choose between two inks. */
  double luma = 0.2126 * (double) (rgb >> 16) + 0.7152 * (double) ((rgb >> 8) & 0xff) +
                0.0722 * (double) (rgb & 0xff);
  return luma > 105 ? KVASIR_RGB_INK : KVASIR_RGB_WHITE;
}

void
kvasir_palette_set_source (cairo_t *cr, KvasirRgb rgb, double alpha)
{
  cairo_set_source_rgba (cr, (double) (rgb >> 16) / 255.0, (double) ((rgb >> 8) & 0xff) / 255.0,
                         (double) (rgb & 0xff) / 255.0, alpha);
}
