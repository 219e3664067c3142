/* Reads rows of blocks and writes their values as floats, once for each instruction set that this
 * processor has: dequantise TYPE EXTENT N_ROWS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/backends/rig.h"

static KvasirType
find_type (const char *name)
{
  for (int i = 0; i < KVASIR_N_TYPES; i++)
    if (kvasir_type_get_name (i) != NULL &&
        g_ascii_strcasecmp (kvasir_type_get_name (i), name) == 0)
      return (KvasirType) i;
  g_error ("%s: no such type", name);
}

static void
write_rows (KvasirCpuIsa isa, KvasirType type, const guint8 *blocks, gint64 extent, gint64 n_rows)
{
  g_autoptr (Rig) rig = rig_new (isa, 1);
  KvasirTensor *table = rig_tensor (rig, type, extent, n_rows, 1);
  KvasirTensor *ids = rig_tensor (rig, KVASIR_TYPE_I32, n_rows, 1, 1);
  KvasirTensor *rows;

  memcpy (table->data, blocks, (gsize) n_rows * kvasir_type_get_row_bytes (type, extent));
  for (gint32 i = 0; i < n_rows; i++)
    ((gint32 *) ids->data)[i] = i;
  rows = rig_node (rig, KVASIR_OP_GET_ROWS, (gint64[]){ extent, n_rows, 1 }, table, ids, NULL);
  g_assert_cmpint (rig_compute (rig, (int) n_rows, 0), ==, KVASIR_STATUS_OK);
  fwrite (rows->data, sizeof (float), (gsize) (extent * n_rows), stdout);
}

int
main (int argc, char **argv)
{
  const gint64 extent = argc == 4 ? atoll (argv[2]) : 0, n_rows = argc == 4 ? atoll (argv[3]) : 0;
  const KvasirType type = argc == 4 ? find_type (argv[1]) : KVASIR_TYPE_F32;
  const gsize n_bytes = (gsize) n_rows * kvasir_type_get_row_bytes (type, extent);
  g_autofree guint8 *blocks = g_malloc (n_bytes);

  if (argc != 4 || fread (blocks, 1, n_bytes, stdin) != n_bytes)
    return 1;
  for (const KvasirCpuIsa *isa = rig_get_isas (); *isa != KVASIR_CPU_ISA_AUTO; isa++)
    write_rows (*isa, type, blocks, extent, n_rows);
  return 0;
}
