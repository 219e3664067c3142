/* Leaves and bits from Intel's manual, volume 1, chapter 18; the request from Linux's
 * Documentation/arch/x86/xstate.rst. */
#include "backends/cpu/x86/amx.h"

#include <cpuid.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/cpu/x86/tiles.h"

#define REQUEST_PERMISSION 0x1023 /* ARCH_REQ_XCOMP_PERM, which older headers lack */
#define TILE_CONFIG_STATE 17
#define TILE_DATA_STATE 18

typedef struct
{
  uint32_t a, b, c, d;
} Leaf;

static bool
get_leaf (uint32_t leaf, uint32_t subleaf, Leaf *out)
{
  return __get_cpuid_count (leaf, subleaf, &out->a, &out->b, &out->c, &out->d) != 0;
}

static bool
processor_has_amx (void)
{
  const uint32_t tile = UINT32_C (1) << 24, int8 = UINT32_C (1) << 25;
  Leaf features;

  return get_leaf (7, 0, &features) && (features.d & tile) && (features.d & int8);
}

/* Palette 1, which the configurations of the products name. */
static bool
has_usual_tiles (void)
{
  Leaf palettes, palette;

  if (!get_leaf (0x1d, 0, &palettes) || palettes.a < 1 || !get_leaf (0x1d, 1, &palette))
    return false;
  return palette.a >> 16 == TILE_HEIGHT * TILE_WIDTH && palette.b >> 16 >= N_TILES &&
         (palette.b & 0xffff) == TILE_WIDTH && (palette.c & 0xffff) >= TILE_HEIGHT;
}

/* Whether the system keeps the state of tiles over switches between threads. */
static bool
system_saves_tiles (void)
{
  const uint32_t both = UINT32_C (1) << TILE_CONFIG_STATE | UINT32_C (1) << TILE_DATA_STATE;
  Leaf features;
  uint32_t low, high;

  if (!get_leaf (1, 0, &features) || (features.c & bit_OSXSAVE) == 0)
    return false;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & both) == both;
}

bool
kvasir_amx_is_usable (void)
{
  if (!processor_has_amx () || !has_usual_tiles () || !system_saves_tiles ())
    return false;
  return syscall (SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA_STATE) == 0;
}
