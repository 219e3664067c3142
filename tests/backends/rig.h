/* tests/backends/rig.h - one device, some tensors, one plan
 *
 * Tensors live in buffers of the device's own; everything is freed with the rig.
 */
#pragma once

#include <glib.h>

#include "backends/cpu/cpu.h"

typedef struct
{
  KvasirDevice *device;
  GPtrArray *tensors; /* (owned) */
  GPtrArray *nodes;   /* in the order they were made */
} Rig;

/* The instruction sets that this processor has, ended by KVASIR_CPU_ISA_AUTO. */
const KvasirCpuIsa *rig_get_isas (void);

Rig *rig_new (KvasirCpuIsa isa, int n_threads);
/* On a device that rounds as recorded traces do. */
Rig *rig_new_as_traces (KvasirCpuIsa isa, int n_threads);
Rig *rig_new_with_blas (KvasirCpuIsa isa, int n_threads, KvasirCpuBlas blas);
void rig_free (Rig *rig);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rig, rig_free)

/* A placed, cleared tensor without an operation. */
KvasirTensor *rig_tensor (Rig *rig, KvasirType type, gint64 ne0, gint64 ne1, gint64 ne2);
/* The same with random values: floats around 0, quantised ones by rounding such floats, or
 * random blocks where the type can't be written. */
KvasirTensor *
rig_random (Rig *rig, GRand *rand, KvasirType type, gint64 ne0, gint64 ne1, gint64 ne2);
/* Gives @w a place for the device's own order and packs @n_bytes. Returns: (transfer full) it */
KvasirBuffer *rig_pack (Rig *rig, KvasirTensor *w, gsize n_bytes);
/* A tensor that is the result of an operation on up to three sources (NULL: none). */
KvasirTensor *rig_node (Rig *rig,
                        KvasirOp op,
                        const gint64 ne[3],
                        KvasirTensor *s0,
                        KvasirTensor *s1,
                        KvasirTensor *s2);
/* A node that writes into bytes of @root. */
KvasirTensor *rig_view_node (Rig *rig, KvasirOp op, KvasirTensor *root);

/* Plans and computes all nodes; n_tokens decides which threads are used. */
KvasirStatus rig_compute (Rig *rig, int n_tokens, int n_kv);
KvasirStatus rig_compute_step (Rig *rig, const KvasirStep *step);

/* Elements of a tensor as floats, whatever its type, by the scalar path. (transfer full) */
float *rig_get_floats (const KvasirTensor *tensor);

/* sum (a - b)^2 / sum b^2 */
double rig_get_nmse (const float *a, const float *b, gsize n);
double rig_get_nmse_double (const float *a, const double *b, gsize n);
