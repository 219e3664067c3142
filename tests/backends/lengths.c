#include "lengths.h"

#include <math.h>

static const gint64 lengths[] = { 1, 7, 8, 16, 31, 64, 100, 576, 1000 };

void
for_each_isa_and_length (CheckFn check)
{
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    for (gsize i = 0; i < G_N_ELEMENTS (lengths); i++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) lengths[i]);
        g_autoptr (Rig) rig = rig_new (*isa, 2);
        Setup setup = { rig, rand, lengths[i] };
        check (&setup);
      }
}

KvasirTensor *
random_floats (Setup *setup, gint64 ne0, gint64 ne1, gint64 ne2)
{
  return rig_random (setup->rig, setup->rand, KVASIR_TYPE_F32, ne0, ne1, ne2);
}

float
get_float (const KvasirTensor *tensor, gint64 i, gint64 j, gint64 k)
{
  const char *p = tensor->data;

  return *(const float *) (const void *) (p + i * 4 + j * (gint64) tensor->nb[1] +
                                          k * (gint64) tensor->nb[2]);
}

void
compute_setup (Setup *setup)
{
  g_assert_cmpint (rig_compute (setup->rig, 3, 0), ==, KVASIR_STATUS_OK);
}

void
assert_near (double value, double expected)
{
  g_assert_cmpfloat_with_epsilon (value, expected, 2e-6 * (1 + fabs (expected)));
}
