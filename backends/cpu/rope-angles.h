/* backends/cpu/rope-angles.h - how far each pair of elements turns
 *
 * Thread: any, pure.
 */
#pragma once

#include "backends/backend.h"

typedef struct
{
  const KvasirRopeParams *params;
  const float *factors; /* [n_rot / 2] or NULL */
  double low, high;     /* yarn's ramp, in pairs */
  double magnitude;     /* of cosines and sines */
  bool as_traces;       /* angles are computed in float */
} KvasirRopeTurn;

/* Of a ROPE or ROPE_SHIFT node. */
KvasirRopeTurn kvasir_rope_get_turn (const KvasirTensor *node);
/* Angle of pair @i per position. */
double kvasir_rope_get_frequency (const KvasirRopeTurn *turn, int i);
/* That angle at @position, in float and with each pair's from the one before, as in recorded
 * traces: at position 8000 they are off by some thousandths. */
float kvasir_rope_get_float_angle (const KvasirRopeTurn *turn, int i, int32_t position);
/* Whether tokens have four positions, and which of them turns pair @i. */
bool kvasir_rope_has_planes (const KvasirRopeParams *params);
int kvasir_rope_get_plane (const KvasirRopeParams *params, int i);
