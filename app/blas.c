#include "app/blas.h"

#include <glib.h>

#include "backends/cpu/cpu.h"

void
kvasir_app_prepare_blas (void)
{
  const char *core = kvasir_cpu_get_blas_core_type ();

  if (core != NULL)
    g_setenv ("OPENBLAS_CORETYPE", core, FALSE);
  g_setenv ("OPENBLAS_NUM_THREADS", "1", FALSE);
}
