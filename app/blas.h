/* app/blas.h - what OpenBLAS is told before it is loaded
 *
 * Thread: the only one there is; before the first device.
 */
#pragma once

/* Which kernels it takes, and that it makes no threads of its own; what the user has set stays. */
void kvasir_app_prepare_blas (void);
