#include "engine/sampling/order.h"

#include <string.h>

static const char *const names[] = {
  [KVASIR_STAGE_END] = NULL,      [KVASIR_STAGE_PENALTIES] = "penalties",
  [KVASIR_STAGE_DRY] = "dry",     [KVASIR_STAGE_TOP_N_SIGMA] = "top_n_sigma",
  [KVASIR_STAGE_TOP_K] = "top_k", [KVASIR_STAGE_TYPICAL] = "typ_p",
  [KVASIR_STAGE_TOP_P] = "top_p", [KVASIR_STAGE_MIN_P] = "min_p",
  [KVASIR_STAGE_XTC] = "xtc",     [KVASIR_STAGE_TEMPERATURE] = "temperature",
};

static KvasirSamplerStage
find_stage (const char *name)
{
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return KVASIR_STAGE_END;
}

gboolean
kvasir_sampler_order_parse (const char *text, KvasirSamplerStage *order)
{
  g_return_val_if_fail (text != NULL && order != NULL, FALSE);

  KvasirSamplerStage found[KVASIR_SAMPLER_N_STAGES] = { 0 };
  g_auto (GStrv) parts = g_strsplit_set (text, ";,", -1);
  guint seen = 0;
  guint n = 0;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      KvasirSamplerStage stage = find_stage (g_strstrip (parts[i]));
      if (parts[i][0] == '\0' && parts[1] == NULL)
        break;
      if (stage == KVASIR_STAGE_END || (seen & 1u << stage) != 0)
        return FALSE;
      found[n++] = stage;
      seen |= 1u << stage;
    }
  memcpy (order, found, sizeof found);
  return TRUE;
}

char *
kvasir_sampler_order_to_string (const KvasirSamplerStage *order)
{
  g_return_val_if_fail (order != NULL, NULL);

  GString *text = g_string_new (NULL);
  gboolean usual = TRUE;
  for (guint i = 0; i < KVASIR_SAMPLER_N_STAGES; i++)
    usual &= order[i] == i + 1;
  for (guint i = 0; !usual && i < KVASIR_SAMPLER_N_STAGES && order[i] != KVASIR_STAGE_END; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ";" : "", names[order[i]]);
  return g_string_free (text, FALSE);
}
