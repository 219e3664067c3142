/* viz/palette.h - the colours of the views and the letters beside them
 *
 * The canvas is dark in both themes: of the Okabe-Ito hues only five reach a contrast of 3:1 on
 * white, all but black do on #1E1E1E. A hue never stands alone; letters and patterns go with it.
 * Thread: any; everything here is pure.
 */
#pragma once

#include <cairo.h>
#include <glib.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

typedef guint32 KvasirRgb; /* 0xRRGGBB */

#define KVASIR_RGB_CANVAS 0x1E1E1Eu  /* behind cells, masks and plots */
#define KVASIR_RGB_PAGE 0x242424u    /* around them */
#define KVASIR_RGB_FREE 0x2B2B2Bu    /* a free cell, the track of a bar */
#define KVASIR_RGB_SWATCH 0x3D3D3Du  /* "free" in legends */
#define KVASIR_RGB_RULE 0x3D3D3Du    /* lines between parts */
#define KVASIR_RGB_TEXT 0xF2F2F0u    /* what matters */
#define KVASIR_RGB_LABEL 0xD0D0CDu   /* names */
#define KVASIR_RGB_DIM 0xA1A19Eu     /* axes, notes */
#define KVASIR_RGB_INK 0x161616u     /* text on a hue */
#define KVASIR_RGB_WHITE 0xFFFFFFu   /* marks: head, ring, outlines */
#define KVASIR_RGB_HORIZON 0xF8E45Cu /* the n_kv line, mixed blocks */
#define KVASIR_RGB_OPEN 0xE9E9E4u    /* an open entry of the mask */
#define KVASIR_RGB_FUTURE 0xC6A5E8u
#define KVASIR_RGB_GOOD 0x8FF0A4u
#define KVASIR_RGB_WARN 0xFFBE6Fu
#define KVASIR_RGB_BAD 0xFF938Cu

/* Sequence ids with a hue of their own; later ones share steps of grey, told apart by letter. */
#define KVASIR_N_HUES 7

/* The same sequence has the same colour in every view, whatever else is in the cells. */
KvasirRgb kvasir_palette_get_sequence (guint seq);

typedef struct
{
  char s[8];
} KvasirLetter;

/* "A" to "Z", then "A1" and so on. Use as kvasir_palette_get_letter (seq).s */
KvasirLetter kvasir_palette_get_letter (guint seq);
/* Appends "A B D"; @separator between them. At most @max letters, then "+n". */
void kvasir_palette_append_letters (GString *out,
                                    const KvasirSeqSet *set,
                                    const char *separator,
                                    guint max);

/* The next member above @seq, or -1; start with -1. */
static inline gint
kvasir_palette_next_seq (const KvasirSeqSet *set, gint seq)
{
  return seq + 1 < KVASIR_MAX_SEQS ? kvasir_seq_set_next (set, (guint) (seq + 1)) : -1;
}

KvasirRgb kvasir_palette_get_kind (KvasirMemoryKind kind);

/* @t = 0 gives @a, 1 gives @b. */
KvasirRgb kvasir_palette_mix (KvasirRgb a, KvasirRgb b, double t);
/* Dark or white, whichever reads better on @rgb. */
KvasirRgb kvasir_palette_get_ink (KvasirRgb rgb);
void kvasir_palette_set_source (cairo_t *cr, KvasirRgb rgb, double alpha);

G_END_DECLS
