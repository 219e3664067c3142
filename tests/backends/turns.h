/* tests/backends/turns.h - rotary embedding once more, from its formulas and in double */
#pragma once

#include <glib.h>

#include "backends/backend.h"

typedef struct
{
  const char *name;
  KvasirRopeParams params;
  gboolean has_factors;
  int head_dim;
} TurnCase;

/* All kinds of scaling, pairings and partial heads. */
const TurnCase *turn_get_cases (gsize *n);

/* What ROPE multiplies cosines and sines with. */
double turn_get_magnitude (const KvasirRopeParams *p);
/* Turns a head in place. @factors may be NULL. @positions: one, or with sections four. */
void turn_head (const KvasirRopeParams *p,
                const float *factors,
                const double *positions,
                double magnitude,
                double *head);
