/* What a memory is made of, for `info` and `plan`. */
#include "app/cli/cli.h"

/* "4096 cells", "16 streams of 256 cells", "16 states". Returns: (transfer full) */
static char *
format_size (const KvasirCacheInfo *info)
{
  if (info->is_recurrent)
    return g_strdup_printf ("%u states", info->size);
  if (info->n_streams > 1)
    return g_strdup_printf ("%u streams of %u cells", info->n_streams, info->size);
  return g_strdup_printf ("%u cells", info->size);
}

/* What one more token, or sequence, takes here. Returns: (transfer full) */
static char *
format_price (const KvasirCacheInfo *info)
{
  g_autofree char *bytes = kvasir_cli_format_bytes (info->bytes_per_cell);

  if (info->n_layers == 0)
    return g_strdup ("nothing: no layer uses it");
  if (info->is_recurrent)
    return g_strdup_printf ("%s for each sequence, whatever its length", bytes);
  if (info->n_swa > 0)
    return g_strdup_printf ("%s for each of the last %u tokens", bytes, info->n_swa);
  return g_strdup_printf ("%s for each token", bytes);
}

void
kvasir_cli_print_caches (const KvasirFit *fit)
{
  if (fit->caches->len > 0)
    g_print ("%-12s %6s  %-28s %s\n", "cache", "layers", "size", "takes");
  for (guint i = 0; i < fit->caches->len; i++)
    {
      const KvasirCacheInfo *info = &g_array_index (fit->caches, KvasirCacheInfo, i);
      g_autofree char *size = format_size (info);
      g_autofree char *price = format_price (info);
      g_print ("%-12s %6u  %-28s %s\n", info->name, info->n_layers, size, price);
    }
}

json_t *
kvasir_cli_make_caches (const KvasirFit *fit)
{
  json_t *list = json_array ();

  for (guint i = 0; i < fit->caches->len; i++)
    {
      const KvasirCacheInfo *info = &g_array_index (fit->caches, KvasirCacheInfo, i);
      json_array_append_new (
          list, json_pack ("{s:s, s:i, s:i, s:i, s:i, s:I, s:b}", "name", info->name, "n_layers",
                           (int) info->n_layers, "size", (int) info->size, "n_streams",
                           (int) info->n_streams, "n_swa", (int) info->n_swa, "bytes_per_cell",
                           (json_int_t) info->bytes_per_cell, "is_recurrent", info->is_recurrent));
    }
  return list;
}
