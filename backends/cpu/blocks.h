/* backends/cpu/blocks.h - the block layouts of quantised tensors
 *
 * Little endian, as in the file. d and m are halves. "lo/hi": the low nibbles of a byte array hold
 * the first half of the block, the high ones the second half.
 */
#pragma once

#include <stdint.h>

typedef struct
{
  uint16_t d;
  uint8_t qs[16];
} KvasirBlockQ4_0; /* (q - 8) d, lo/hi */

typedef struct
{
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
} KvasirBlockQ4_1; /* q d + m, lo/hi */

typedef struct
{
  uint16_t d;
  uint8_t qh[4]; /* bit j: fifth bit of element j */
  uint8_t qs[16];
} KvasirBlockQ5_0; /* (q - 16) d */

typedef struct
{
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
} KvasirBlockQ5_1; /* q d + m */

typedef struct
{
  uint16_t d;
  int8_t qs[32];
} KvasirBlockQ8_0; /* q d */

typedef struct
{
  uint8_t scales[16]; /* low nibble scale, high nibble minimum, of 16 elements each */
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
} KvasirBlockQ2K;

typedef struct
{
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12]; /* 16 six-bit values */
  uint16_t d;
} KvasirBlockQ3K;

typedef struct
{
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12]; /* 8 pairs of six bits */
  uint8_t qs[128];
} KvasirBlockQ4K;

typedef struct
{
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
} KvasirBlockQ5K;

typedef struct
{
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
} KvasirBlockQ6K;

typedef struct
{
  uint16_t d;
  uint8_t qs[16]; /* lo/hi, indices into kvasir_iq4_values */
} KvasirBlockIq4Nl;

typedef struct
{
  uint16_t d;
  uint16_t scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128]; /* 8 times 16 bytes lo/hi */
} KvasirBlockIq4Xs;

typedef struct
{
  uint8_t e;      /* the scale is 2^(e - 128) */
  uint8_t qs[16]; /* lo/hi, indices into kvasir_mxfp4_values */
} KvasirBlockMxfp4;

/* Points of a lattice (iq-tables.h) and signs of eight elements each. "seven": seven signs, the
 * eighth makes their number even. */
typedef struct
{
  uint16_t d;
  uint16_t qs[32]; /* per 32 elements four points, then four times seven signs and a scale */
} KvasirBlockIq2Xxs;

typedef struct
{
  uint16_t d;
  uint16_t qs[32]; /* nine bits of a point, then seven signs */
  uint8_t scales[8];
} KvasirBlockIq2Xs;

typedef struct
{
  uint16_t d;
  uint8_t qs[32]; /* the low eight bits of a point */
  uint8_t signs[32];
  uint8_t qh[8]; /* the other two bits, four times */
  uint8_t scales[8];
} KvasirBlockIq2S;

typedef struct
{
  uint16_t d;
  uint8_t qs[64];    /* points of four elements */
  uint16_t rest[16]; /* per 32 elements four times seven signs and a scale */
} KvasirBlockIq3Xxs;

typedef struct
{
  uint16_t d;
  uint8_t qs[64];
  uint8_t qh[8]; /* the ninth bits of eight points */
  uint8_t signs[32];
  uint8_t scales[4];
} KvasirBlockIq3S;

typedef struct
{
  uint16_t d;
  uint8_t qs[32];
  uint16_t qh[8]; /* three more bits of four points, a scale, the sign of the offset */
} KvasirBlockIq1S;

typedef struct
{
  uint8_t qs[32];
  uint8_t qh[16];     /* nibbles: three more bits of a point, the sign of its offset */
  uint16_t scales[4]; /* four scales of three bits, and a quarter of d */
} KvasirBlockIq1M;

typedef struct
{
  uint8_t qs[48]; /* five base-3 digits each */
  uint8_t qh[4];  /* four digits each */
  uint16_t d;
} KvasirBlockTq1_0; /* (digit - 1) d */

typedef struct
{
  uint8_t qs[64];
  uint16_t d;
} KvasirBlockTq2_0; /* (q - 1) d */

typedef struct
{
  uint8_t scales[4]; /* unsigned e4m3 floats, one for 16 elements */
  uint8_t qs[32];    /* 4 times 8 bytes lo/hi, indices into kvasir_mxfp4_values */
} KvasirBlockNvfp4;

typedef struct
{
  uint16_t d;
  uint8_t qs[16];
} KvasirBlockQ1_0; /* d where the bit is 1, otherwise -d; 128 elements */

typedef struct
{
  uint16_t d;
  uint8_t qs[16];
} KvasirBlockQ2_0; /* (q - 1) d; 64 elements, the lowest bits first */

_Static_assert(sizeof (KvasirBlockQ4_0) == 18, "q4_0 block");
_Static_assert(sizeof (KvasirBlockQ4_1) == 20, "q4_1 block");
_Static_assert(sizeof (KvasirBlockQ5_0) == 22, "q5_0 block");
_Static_assert(sizeof (KvasirBlockQ5_1) == 24, "q5_1 block");
_Static_assert(sizeof (KvasirBlockQ8_0) == 34, "q8_0 block");
_Static_assert(sizeof (KvasirBlockQ2K) == 84, "q2_K block");
_Static_assert(sizeof (KvasirBlockQ3K) == 110, "q3_K block");
_Static_assert(sizeof (KvasirBlockQ4K) == 144, "q4_K block");
_Static_assert(sizeof (KvasirBlockQ5K) == 176, "q5_K block");
_Static_assert(sizeof (KvasirBlockQ6K) == 210, "q6_K block");
_Static_assert(sizeof (KvasirBlockIq4Nl) == 18, "iq4_nl block");
_Static_assert(sizeof (KvasirBlockIq4Xs) == 136, "iq4_xs block");
_Static_assert(sizeof (KvasirBlockMxfp4) == 17, "mxfp4 block");
_Static_assert(sizeof (KvasirBlockIq2Xxs) == 66, "iq2_xxs block");
_Static_assert(sizeof (KvasirBlockIq2Xs) == 74, "iq2_xs block");
_Static_assert(sizeof (KvasirBlockIq2S) == 82, "iq2_s block");
_Static_assert(sizeof (KvasirBlockIq3Xxs) == 98, "iq3_xxs block");
_Static_assert(sizeof (KvasirBlockIq3S) == 110, "iq3_s block");
_Static_assert(sizeof (KvasirBlockIq1S) == 50, "iq1_s block");
_Static_assert(sizeof (KvasirBlockIq1M) == 56, "iq1_m block");
_Static_assert(sizeof (KvasirBlockTq1_0) == 54, "tq1_0 block");
_Static_assert(sizeof (KvasirBlockTq2_0) == 66, "tq2_0 block");
_Static_assert(sizeof (KvasirBlockNvfp4) == 36, "nvfp4 block");
_Static_assert(sizeof (KvasirBlockQ1_0) == 18, "q1_0 block");
_Static_assert(sizeof (KvasirBlockQ2_0) == 18, "q2_0 block");

extern const int8_t kvasir_iq4_values[16];
/* Twice the values of e2m1 floats. */
extern const int8_t kvasir_mxfp4_values[16];
