/* backends/cpu/machine.h - what the machine under the process has
 *
 * Thread: any.
 */
#pragma once

#include <stddef.h>

/* Logical processors that this process may use, at least 1. */
int kvasir_machine_get_n_cpus (void);
/* As many of them as are cores of their own, at least 1. */
int kvasir_machine_get_n_cores (void);
/* Memory that programs can still take without swapping, and all of it; 0 where unknown. */
void kvasir_machine_get_memory (size_t *free_bytes, size_t *total_bytes);
/* The processor's name, as the system knows it, or "". Fills @name, always terminated. */
void kvasir_machine_get_cpu_name (char *name, size_t n_bytes);
