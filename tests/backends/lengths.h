/* tests/backends/lengths.h - checks an operation on every instruction set and with odd row lengths
 */
#pragma once

#include "rig.h"

typedef struct
{
  Rig *rig;
  GRand *rand;
  gint64 n; /* length of a row */
} Setup;

typedef void (*CheckFn) (Setup *setup);

void for_each_isa_and_length (CheckFn check);
KvasirTensor *random_floats (Setup *setup, gint64 ne0, gint64 ne1, gint64 ne2);
/* An element of a tensor whose rows may lie apart. */
float get_float (const KvasirTensor *tensor, gint64 i, gint64 j, gint64 k);
/* Three tokens. */
void compute_setup (Setup *setup);
void assert_near (double value, double expected);
