/* backends/cpu/x86/amx.h - whether the AMX products may be used
 *
 * Thread: any.
 */
#pragma once

#include <stdbool.h>

/* Whether processor and system have AMX tiles of the usual size with int8 products, and the system
 * lets this process use them, which it is asked for here: for all threads and for good. */
bool kvasir_amx_is_usable (void);
