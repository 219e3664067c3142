#include "ui/history/sampling.h"

#include <glib/gi18n.h>
#include <jansson.h>
#include <math.h>

#include "engine/sampling/order.h"

typedef enum
{
  REAL,  /* float */
  COUNT, /* guint */
  SEED   /* guint64 */
} Kind;

#define AT(member) offsetof (KvasirSampling, member)
#define LAST_N 1000000

static const struct
{
  const char *key;
  Kind kind;
  gsize at;
  double min;
  double max;
} numbers[KVASIR_SAMPLING_N_NUMBERS] = {
  [KVASIR_SAMPLING_TEMPERATURE] = { "temperature", REAL, AT (params.temperature), 0, 10 },
  [KVASIR_SAMPLING_SEED] = { "seed", SEED, AT (params.seed), 0, 9007199254740992.0 },
  [KVASIR_SAMPLING_DYNATEMP_RANGE] = { "dynatemp_range", REAL, AT (params.dynatemp_range), 0, 10 },
  [KVASIR_SAMPLING_DYNATEMP_EXPONENT] = { "dynatemp_exponent", REAL, AT (params.dynatemp_exponent),
                                          0, 10 },
  [KVASIR_SAMPLING_TOP_K] = { "top_k", COUNT, AT (params.top_k), 0, LAST_N },
  [KVASIR_SAMPLING_TOP_P] = { "top_p", REAL, AT (params.top_p), 0, 1 },
  [KVASIR_SAMPLING_MIN_P] = { "min_p", REAL, AT (params.min_p), 0, 1 },
  [KVASIR_SAMPLING_TYPICAL_P] = { "typical_p", REAL, AT (params.typical_p), 0, 1 },
  [KVASIR_SAMPLING_TOP_N_SIGMA] = { "top_n_sigma", REAL, AT (params.top_n_sigma), 0, 10 },
  [KVASIR_SAMPLING_XTC_PROBABILITY] = { "xtc_probability", REAL, AT (params.xtc_probability), 0,
                                        1 },
  [KVASIR_SAMPLING_XTC_THRESHOLD] = { "xtc_threshold", REAL, AT (params.xtc_threshold), 0, 1 },
  [KVASIR_SAMPLING_MIROSTAT] = { "mirostat", COUNT, AT (params.mirostat), 0, 2 },
  [KVASIR_SAMPLING_MIROSTAT_TAU] = { "mirostat_tau", REAL, AT (params.mirostat_tau), 0, 20 },
  [KVASIR_SAMPLING_MIROSTAT_ETA] = { "mirostat_eta", REAL, AT (params.mirostat_eta), 0, 1 },
  [KVASIR_SAMPLING_REPEAT_PENALTY] = { "repeat_penalty", REAL, AT (params.repeat_penalty), 0.1,
                                       10 },
  [KVASIR_SAMPLING_PRESENCE_PENALTY] = { "presence_penalty", REAL, AT (params.presence_penalty),
                                         -10, 10 },
  [KVASIR_SAMPLING_FREQUENCY_PENALTY] = { "frequency_penalty", REAL, AT (params.frequency_penalty),
                                          -10, 10 },
  [KVASIR_SAMPLING_PENALTY_LAST_N] = { "penalty_last_n", COUNT, AT (params.penalty_last_n), 0,
                                       LAST_N },
  [KVASIR_SAMPLING_DRY_MULTIPLIER] = { "dry_multiplier", REAL, AT (params.dry_multiplier), 0, 100 },
  [KVASIR_SAMPLING_DRY_BASE] = { "dry_base", REAL, AT (params.dry_base), 1, 10 },
  [KVASIR_SAMPLING_DRY_ALLOWED_LENGTH] = { "dry_allowed_length", COUNT,
                                           AT (params.dry_allowed_length), 0, 1000 },
  [KVASIR_SAMPLING_DRY_LAST_N] = { "dry_last_n", COUNT, AT (params.dry_last_n), 0, LAST_N },
  [KVASIR_SAMPLING_MAX_TOKENS] = { "max_tokens", COUNT, AT (max_tokens), 0, LAST_N },
};

double
kvasir_sampling_get_number (const KvasirSampling *self, KvasirSamplingNumber number)
{
  g_return_val_if_fail (number < KVASIR_SAMPLING_N_NUMBERS, 0);

  const void *at = (const char *) self + numbers[number].at;
  if (numbers[number].kind == REAL)
    return (double) *(const float *) at;
  return numbers[number].kind == SEED ? (double) *(const guint64 *) at : *(const guint *) at;
}

void
kvasir_sampling_set_number (KvasirSampling *self, KvasirSamplingNumber number, double value)
{
  g_return_if_fail (number < KVASIR_SAMPLING_N_NUMBERS);

  gpointer at = (char *) self + numbers[number].at;
  if (numbers[number].kind == REAL)
    *(float *) at = (float) value;
  else if (numbers[number].kind == SEED)
    *(guint64 *) at = (guint64) value;
  else
    *(guint *) at = (guint) round (value);
}

void
kvasir_sampling_get_range (KvasirSamplingNumber number, double *min, double *max)
{
  g_return_if_fail (number < KVASIR_SAMPLING_N_NUMBERS);

  *min = numbers[number].min;
  *max = numbers[number].max;
}

void
kvasir_sampling_init (KvasirSampling *self)
{
  kvasir_sampler_params_init (&self->params);
  kvasir_sampling_texts_init (&self->texts);
  self->params.temperature = 0.7f;
  self->params.top_p = 0.95f;
  self->params.seed = 42;
  self->max_tokens = 0;
  self->adapt = FALSE;
  self->thinking = KVASIR_THINKING_USUAL;
}

void
kvasir_sampling_clear (KvasirSampling *self)
{
  kvasir_sampling_texts_clear (&self->texts);
}

void
kvasir_sampling_copy (const KvasirSampling *self, KvasirSampling *to)
{
  to->params = self->params;
  to->max_tokens = self->max_tokens;
  to->adapt = self->adapt;
  to->thinking = self->thinking;
  kvasir_sampling_texts_copy (&self->texts, &to->texts);
}

/* ---- as it is kept */

static void
read_number (KvasirSampling *self, KvasirSamplingNumber number, const json_t *object)
{
  const json_t *member = json_object_get (object, numbers[number].key);
  double value = json_number_value (member);

  if (numbers[number].kind == REAL ? !json_is_number (member) : !json_is_integer (member))
    return;
  if (isfinite (value) && value >= numbers[number].min && value <= numbers[number].max)
    kvasir_sampling_set_number (self, number, value);
}

/* Takes the place of @list where the member is a list; what of it is no text is left out. */
static void
read_list (char ***list, const json_t *object, const char *key)
{
  const json_t *member = json_object_get (object, key);
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  const json_t *text;
  size_t i;

  if (!json_is_array (member))
    return;
  json_array_foreach (member, i, text) if (json_is_string (text))
      g_ptr_array_add (texts, g_strdup (json_string_value (text)));
  g_ptr_array_add (texts, NULL);
  g_strfreev (*list);
  *list = (char **) g_ptr_array_steal (texts, NULL);
}

static void
read_text (char **text, const json_t *object, const char *key)
{
  const char *member = json_string_value (json_object_get (object, key));

  g_free (*text);
  *text = member != NULL && *member != '\0' ? g_strdup (member) : NULL;
}

void
kvasir_sampling_parse (KvasirSampling *self, const char *text)
{
  json_t *object = json_loads (text, 0, NULL);
  const char *order = json_string_value (json_object_get (object, "samplers"));

  kvasir_sampling_init (self);
  for (guint i = 0; i < KVASIR_SAMPLING_N_NUMBERS; i++)
    read_number (self, i, object);
  read_list (&self->texts.stops, object, "stop");
  read_list (&self->texts.breakers, object, "dry_breakers");
  read_list (&self->texts.biases, object, "logit_bias");
  read_text (&self->texts.grammar, object, "grammar");
  read_text (&self->texts.schema, object, "json_schema");
  self->adapt = json_is_true (json_object_get (object, "adapt"));
  kvasir_thinking_parse (&self->thinking, json_string_value (json_object_get (object, "thinking")));
  if (order != NULL)
    kvasir_sampler_order_parse (order, self->params.order);
  json_decref (object);
}

/* Three decimals are what the controls can set; a float's own digits would store 0.699999988. */
static json_t *
make_number (const KvasirSampling *self, KvasirSamplingNumber number)
{
  double value = kvasir_sampling_get_number (self, number);

  if (numbers[number].kind == REAL)
    return json_real (round (value * 1000) / 1000);
  return json_integer ((json_int_t) value);
}

static json_t *
make_list (char **list)
{
  json_t *array = json_array ();

  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    json_array_append_new (array, json_string (list[i]));
  return array;
}

char *
kvasir_sampling_to_string (const KvasirSampling *self)
{
  json_t *object = json_object ();
  g_autofree char *order = kvasir_sampler_order_to_string (self->params.order);
  char *dump;
  char *text;

  for (guint i = 0; i < KVASIR_SAMPLING_N_NUMBERS; i++)
    json_object_set_new (object, numbers[i].key, make_number (self, i));
  json_object_set_new (object, "stop", make_list (self->texts.stops));
  json_object_set_new (object, "dry_breakers", make_list (self->texts.breakers));
  json_object_set_new (object, "logit_bias", make_list (self->texts.biases));
  if (self->texts.grammar != NULL)
    json_object_set_new (object, "grammar", json_string (self->texts.grammar));
  if (self->texts.schema != NULL)
    json_object_set_new (object, "json_schema", json_string (self->texts.schema));
  json_object_set_new (object, "samplers", json_string (order));
  json_object_set_new (object, "adapt", json_boolean (self->adapt));
  json_object_set_new (object, "thinking", json_string (kvasir_thinking_get_name (self->thinking)));
  dump = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (6));
  text = g_strdup (dump);
  free (dump);
  json_decref (object);
  return text;
}

/* ---- as it is shown */

typedef struct
{
  char s[32];
} Number;

/* With the locale's decimal sign: this is for reading, not for keeping. */
static Number
show (double value)
{
  Number number;

  g_snprintf (number.s, sizeof number.s, "%.3g", value);
  return number;
}

/* Takes @part. */
static void
append (GString *out, char *part)
{
  if (out->len > 0)
    g_string_append (out, " · ");
  g_string_append (out, part);
  g_free (part);
}

/* What is off as long as it is the usual number, in the order of the chain's stages. */
static const struct
{
  KvasirSamplingNumber number;
  const char *format;
} extras[] = {
  { KVASIR_SAMPLING_TOP_K, N_ ("top-k %s") },
  { KVASIR_SAMPLING_MIN_P, N_ ("min-p %s") },
  { KVASIR_SAMPLING_TYPICAL_P, N_ ("typical-p %s") },
  { KVASIR_SAMPLING_TOP_N_SIGMA, N_ ("top-n-sigma %s") },
  { KVASIR_SAMPLING_XTC_PROBABILITY, N_ ("XTC %s") },
  { KVASIR_SAMPLING_DYNATEMP_RANGE, N_ ("temperature range %s") },
  { KVASIR_SAMPLING_MIROSTAT, N_ ("mirostat %s") },
  { KVASIR_SAMPLING_REPEAT_PENALTY, N_ ("repeat penalty %s") },
  { KVASIR_SAMPLING_PRESENCE_PENALTY, N_ ("presence penalty %s") },
  { KVASIR_SAMPLING_FREQUENCY_PENALTY, N_ ("frequency penalty %s") },
  { KVASIR_SAMPLING_DRY_MULTIPLIER, N_ ("DRY %s") },
};

static void
append_extras (GString *out, const KvasirSampling *self)
{
  g_auto (KvasirSampling) usual = { 0 };

  kvasir_sampling_init (&usual);
  for (guint i = 0; i < G_N_ELEMENTS (extras); i++)
    {
      double value = kvasir_sampling_get_number (self, extras[i].number);
      g_autofree char *format = g_strdup (_ (extras[i].format));
      g_auto (GStrv) parts = g_strsplit (format, "%s", 2);

      if (value != kvasir_sampling_get_number (&usual, extras[i].number))
        append (out, g_strjoinv (show (value).s, parts));
    }
}

static void
append_texts (GString *out, const KvasirSamplingTexts *texts)
{
  guint n_stops = texts->stops != NULL ? g_strv_length (texts->stops) : 0;
  guint n_biases = texts->biases != NULL ? g_strv_length (texts->biases) : 0;

  if (n_biases > 0)
    append (out, g_strdup_printf (ngettext ("%u bias", "%u biases", n_biases), n_biases));
  if (n_stops > 0)
    append (out, g_strdup_printf (ngettext ("%u stop text", "%u stop texts", n_stops), n_stops));
  if (texts->grammar != NULL)
    append (out, g_strdup (_ ("by a grammar")));
  if (texts->schema != NULL)
    append (out, g_strdup (_ ("JSON by a schema")));
}

char *
kvasir_sampling_describe (const KvasirSampling *self)
{
  const KvasirSamplerParams *p = &self->params;
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, p->seed);
  g_autofree char *order = kvasir_sampler_order_to_string (p->order);
  GString *out = g_string_new (NULL);

  append (out, g_strdup_printf (_ ("Temperature %s"), show (p->temperature).s));
  append (out, g_strdup_printf (_ ("top-p %s"), show (p->top_p).s));
  append_extras (out, self);
  if (*order != '\0')
    append (out, g_strdup (_ ("own order")));
  append_texts (out, &self->texts);
  append (out, g_strdup_printf (_ ("seed %s"), seed));
  if (self->max_tokens > 0)
    append (out,
            g_strdup_printf (ngettext ("at most %u token", "at most %u tokens", self->max_tokens),
                             self->max_tokens));
  if (self->adapt)
    append (out, g_strdup (_ ("simpler form")));
  return g_string_free (out, FALSE);
}
