#include "engine/sampling/order.h"

static void
test_round_trip (void)
{
  static const struct
  {
    const char *text;
    const char *again; /* NULL: refused */
    KvasirSamplerStage first;
  } cases[] = {
    { "top_k;temperature", "top_k;temperature", KVASIR_STAGE_TOP_K },
    { "xtc, min_p,dry", "xtc;min_p;dry", KVASIR_STAGE_XTC },
    { "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature", "",
      KVASIR_STAGE_PENALTIES },
    { "", "", KVASIR_STAGE_END },
    { "top_k;nonsense", NULL, KVASIR_STAGE_END },
    { "top_k;top_k", NULL, KVASIR_STAGE_END },
    { "top_k;", NULL, KVASIR_STAGE_END },
    { ";", NULL, KVASIR_STAGE_END },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      KvasirSamplerParams params;
      kvasir_sampler_params_init (&params);
      g_test_message ("%s", cases[i].text);
      gboolean ok = kvasir_sampler_order_parse (cases[i].text, params.order);
      g_assert_cmpint (ok, ==, cases[i].again != NULL);
      g_assert_cmpint (params.order[0], ==, cases[i].first);
      if (!ok)
        continue;
      g_autofree char *again = kvasir_sampler_order_to_string (params.order);
      if (*cases[i].text != '\0')
        g_assert_cmpstr (again, ==, cases[i].again);
    }
}

static void
test_names (void)
{
  static const char *const names[] = { "penalties", "dry",   "top_n_sigma", "top_k",      "typ_p",
                                       "top_p",     "min_p", "xtc",         "temperature" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      KvasirSamplerStage order[KVASIR_SAMPLER_N_STAGES];
      g_assert_true (kvasir_sampler_order_parse (names[i], order));
      g_assert_cmpint (order[0], ==, (int) i + 1);
      g_assert_cmpint (order[1], ==, KVASIR_STAGE_END);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/sampler/order/round-trip", test_round_trip);
  g_test_add_func ("/engine/sampler/order/names", test_names);
  return g_test_run ();
}
