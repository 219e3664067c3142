#include "ui/history/sampling.h"

#include <glib/gi18n.h>
#include <jansson.h>
#include <math.h>

#define MAX_COUNT 1000000

void
kvasir_sampling_init (KvasirSampling *self)
{
  kvasir_sampler_params_init (&self->params);
  self->params.temperature = 0.7f;
  self->params.top_p = 0.95f;
  self->params.seed = 42;
  self->max_tokens = 0;
}

static void
read_float (const json_t *object, const char *key, float min, float max, float *value)
{
  const json_t *member = json_object_get (object, key);
  double number = json_number_value (member);

  if (json_is_number (member) && isfinite (number) && number >= min && number <= max)
    *value = (float) number;
}

static void
read_count (const json_t *object, const char *key, guint *value)
{
  const json_t *member = json_object_get (object, key);
  json_int_t number = json_integer_value (member);

  if (json_is_integer (member) && number >= 0 && number <= MAX_COUNT)
    *value = (guint) number;
}

void
kvasir_sampling_parse (KvasirSampling *self, const char *text)
{
  json_t *object = json_loads (text, 0, NULL);
  const json_t *seed;

  kvasir_sampling_init (self);
  if (json_is_object (object))
    {
      read_float (object, "temperature", 0, 10, &self->params.temperature);
      read_float (object, "top_p", 0, 1, &self->params.top_p);
      read_float (object, "min_p", 0, 1, &self->params.min_p);
      read_float (object, "repeat_penalty", 0.1f, 10, &self->params.repeat_penalty);
      read_float (object, "presence_penalty", -10, 10, &self->params.presence_penalty);
      read_float (object, "frequency_penalty", -10, 10, &self->params.frequency_penalty);
      read_count (object, "top_k", &self->params.top_k);
      read_count (object, "penalty_last_n", &self->params.penalty_last_n);
      read_count (object, "max_tokens", &self->max_tokens);
      seed = json_object_get (object, "seed");
      if (json_is_integer (seed) && json_integer_value (seed) >= 0)
        self->params.seed = (guint64) json_integer_value (seed);
    }
  json_decref (object);
}

/* Three decimals are what the controls can set; a float's own digits would store 0.699999988. */
static json_t *
make_number (float value)
{
  return json_real (round ((double) value * 1000) / 1000);
}

char *
kvasir_sampling_to_string (const KvasirSampling *self)
{
  const KvasirSamplerParams *p = &self->params;
  json_t *object = json_object ();
  char *dump;
  char *text;

  json_object_set_new (object, "temperature", make_number (p->temperature));
  json_object_set_new (object, "top_k", json_integer (p->top_k));
  json_object_set_new (object, "top_p", make_number (p->top_p));
  json_object_set_new (object, "min_p", make_number (p->min_p));
  json_object_set_new (object, "repeat_penalty", make_number (p->repeat_penalty));
  json_object_set_new (object, "presence_penalty", make_number (p->presence_penalty));
  json_object_set_new (object, "frequency_penalty", make_number (p->frequency_penalty));
  json_object_set_new (object, "penalty_last_n", json_integer (p->penalty_last_n));
  json_object_set_new (object, "seed", json_integer ((json_int_t) p->seed));
  json_object_set_new (object, "max_tokens", json_integer (self->max_tokens));
  dump = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (6));
  text = g_strdup (dump);
  free (dump);
  json_decref (object);
  return text;
}

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

static void
append_penalties (GString *out, const KvasirSamplerParams *p, const KvasirSamplerParams *usual)
{
  if (p->repeat_penalty != usual->repeat_penalty)
    append (out, g_strdup_printf (_ ("repeat penalty %s"), show (p->repeat_penalty).s));
  if (p->presence_penalty != usual->presence_penalty)
    append (out, g_strdup_printf (_ ("presence penalty %s"), show (p->presence_penalty).s));
  if (p->frequency_penalty != usual->frequency_penalty)
    append (out, g_strdup_printf (_ ("frequency penalty %s"), show (p->frequency_penalty).s));
}

char *
kvasir_sampling_describe (const KvasirSampling *self)
{
  const KvasirSamplerParams *p = &self->params;
  KvasirSampling usual;
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, p->seed);
  GString *out = g_string_new (NULL);

  kvasir_sampling_init (&usual);
  append (out, g_strdup_printf (_ ("Temperature %s"), show (p->temperature).s));
  append (out, g_strdup_printf (_ ("top-p %s"), show (p->top_p).s));
  if (p->top_k != usual.params.top_k)
    append (out, g_strdup_printf (_ ("top-k %u"), p->top_k));
  if (p->min_p != usual.params.min_p)
    append (out, g_strdup_printf (_ ("min-p %s"), show (p->min_p).s));
  append_penalties (out, p, &usual.params);
  append (out, g_strdup_printf (_ ("seed %s"), seed));
  if (self->max_tokens > 0)
    append (out,
            g_strdup_printf (ngettext ("at most %u token", "at most %u tokens", self->max_tokens),
                             self->max_tokens));
  return g_string_free (out, FALSE);
}
