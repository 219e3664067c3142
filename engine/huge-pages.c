#include "engine/huge-pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((gsize) 2 << 20)

gpointer
kvasir_huge_pages_alloc (gsize n_bytes)
{
  gpointer block = NULL;

  if (n_bytes < HUGE_PAGE)
    return g_try_malloc (MAX (n_bytes, 1));
  if (posix_memalign (&block, HUGE_PAGE, n_bytes) != 0)
    return NULL;
  /* A refusal leaves pages of the usual size. */
  (void) madvise (block, n_bytes, MADV_HUGEPAGE);
  return block;
}

gpointer
kvasir_huge_pages_alloc0 (gsize n_bytes)
{
  gpointer block = kvasir_huge_pages_alloc (n_bytes);

  if (block)
    memset (block, 0, n_bytes);
  return block;
}
