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

extern const int8_t kvasir_iq4_values[16];
/* Twice the values of e2m1 floats. */
extern const int8_t kvasir_mxfp4_values[16];
