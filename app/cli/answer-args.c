#include "app/cli/answer-args.h"

#include <string.h>

#include "app/cli/cli.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/schema.h"
#include "engine/sampling/order.h"

typedef enum
{
  REAL,  /* float */
  COUNT, /* guint; -1 is as many as there are */
  SEED   /* guint64 */
} Kind;

typedef struct
{
  const char *name;
  Kind kind;
  gsize at; /* in KvasirAnswerArgs */
  double min;
  double max;
  const char *unit;
  const char *help;
} Number;

#define AT(member) offsetof (KvasirAnswerArgs, member)
#define MAX_COUNT 1e9
/* Up to here a double holds every whole number. */
#define MAX_SEED 9007199254740992.0

static const Number numbers[] = {
  { "temp", REAL, AT (sampling.temperature), 0, 10, "T", "0: always the likeliest token" },
  { "temperature", REAL, AT (sampling.temperature), 0, 10, "T", "The same" },
  { "dynatemp-range", REAL, AT (sampling.dynatemp_range), 0, 10, "T",
    "The temperature follows the entropy, this far down and up; 0: off" },
  { "dynatemp-exp", REAL, AT (sampling.dynatemp_exponent), 0, 10, "X", "How it follows" },
  { "top-k", COUNT, AT (sampling.top_k), 0, MAX_COUNT, "N", "The likeliest N; 0: off" },
  { "top-p", REAL, AT (sampling.top_p), 0, 1, "P", "The likeliest that reach P; 1: off" },
  { "min-p", REAL, AT (sampling.min_p), 0, 1, "P", "At least P times the likeliest; 0: off" },
  { "typical", REAL, AT (sampling.typical_p), 0, 1, "P",
    "Those of most usual surprise that reach P; 1: off" },
  { "top-nsigma", REAL, AT (sampling.top_n_sigma), -1, 100, "N",
    "At most N standard deviations below the best logit; 0 or -1: off" },
  { "xtc-probability", REAL, AT (sampling.xtc_probability), 0, 1, "P",
    "How often the likeliest are left out; 0: never" },
  { "xtc-threshold", REAL, AT (sampling.xtc_threshold), 0, 1, "P",
    "All but the last one of those above P; more than 0.5: off" },
  { "repeat-penalty", REAL, AT (sampling.repeat_penalty), 0.01, 100, "X",
    "Factor against tokens that are there; 1: off" },
  { "presence-penalty", REAL, AT (sampling.presence_penalty), -100, 100, "X",
    "Taken off the logits of tokens that are there; 0: off" },
  { "frequency-penalty", REAL, AT (sampling.frequency_penalty), -100, 100, "X",
    "Taken off for each time they are; 0: off" },
  { "repeat-last-n", COUNT, AT (sampling.penalty_last_n), -1, MAX_COUNT, "N",
    "Tokens that the penalties look at; -1: all" },
  { "dry-multiplier", REAL, AT (sampling.dry_multiplier), 0, 100, "X",
    "Against rows of tokens that come again; 0: off" },
  { "dry-base", REAL, AT (sampling.dry_base), 1, 100, "X", "Growth for each token of such a row" },
  { "dry-allowed-length", COUNT, AT (sampling.dry_allowed_length), 0, MAX_COUNT, "N",
    "A row as short as this costs the least" },
  { "dry-penalty-last-n", COUNT, AT (sampling.dry_last_n), -1, MAX_COUNT, "N",
    "Tokens that DRY looks at; 0: off, -1: all" },
  { "mirostat", COUNT, AT (sampling.mirostat), 0, 2, "N", "Version 1 or 2 for the cuts; 0: off" },
  { "mirostat-lr", REAL, AT (sampling.mirostat_eta), 0, 10, "X", "How fast it follows" },
  { "mirostat-ent", REAL, AT (sampling.mirostat_tau), 0, 100, "BITS", "Surprise aimed at" },
  { "seed", SEED, AT (sampling.seed), -1, MAX_SEED, "N",
    "The same seed gives the same answers; -1: any" },
  { "predict", COUNT, AT (max_tokens), -1, MAX_COUNT, "N",
    "Longest answer in tokens; 0 or -1: no limit" },
};

static void
write_number (KvasirAnswerArgs *self, const Number *number, double value)
{
  gpointer at = (char *) self + number->at;

  if (number->kind == REAL)
    *(float *) at = (float) value;
  else if (number->kind == SEED)
    *(guint64 *) at = value < 0 ? g_random_int () : (guint64) value;
  else if (number->at == AT (max_tokens))
    self->max_tokens = (guint) MAX (value, 0);
  else
    *(guint *) at = value < 0 ? G_MAXUINT : (guint) value;
}

static double
read_number (const KvasirAnswerArgs *self, const Number *number)
{
  const void *at = (const char *) self + number->at;

  if (number->kind == REAL)
    return (double) *(const float *) at;
  return number->kind == SEED ? (double) *(const guint64 *) at : *(const guint *) at;
}

static gboolean
number_cb (const char *option, const char *value, gpointer data, GError **error)
{
  const Number *number = numbers;
  char *end;
  double read = g_ascii_strtod (value, &end);

  while (strcmp (number->name, option + 2) != 0)
    number++;
  /* No number compares with a nan. */
  gboolean fits = end != value && *end == '\0' && read >= number->min && read <= number->max;
  if (fits && (number->kind == REAL || read == (double) (gint64) read))
    {
      write_number (data, number, read);
      return TRUE;
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: %g to %g expected, %s found",
               option, number->min, number->max, value);
  return FALSE;
}

/* ---- lists */

/* Takes @text. */
static void
append (char ***list, char *text)
{
  guint n = *list != NULL ? g_strv_length (*list) : 0;

  *list = g_renew (char *, *list, n + 2);
  (*list)[n] = text;
  (*list)[n + 1] = NULL;
}

static gboolean
stop_cb (const char *option, const char *value, gpointer data, GError **error)
{
  KvasirAnswerArgs *self = data;

  append (&self->texts.stops, kvasir_sampling_text_unescape (value));
  return TRUE;
}

/* The first one takes the place of the usual ones, "none" of all. */
static gboolean
breaker_cb (const char *option, const char *value, gpointer data, GError **error)
{
  KvasirAnswerArgs *self = data;

  if (!self->own_breakers || strcmp (value, "none") == 0)
    g_clear_pointer (&self->texts.breakers, g_strfreev);
  self->own_breakers = TRUE;
  if (strcmp (value, "none") != 0)
    append (&self->texts.breakers, kvasir_sampling_text_unescape (value));
  return TRUE;
}

static gboolean
bias_cb (const char *option, const char *value, gpointer data, GError **error)
{
  KvasirAnswerArgs *self = data;
  KvasirTokenBias bias;

  if (!kvasir_token_bias_parse (value, &bias))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "%s: a token and its bias, such as 15043+1, expected, %s found", option, value);
      return FALSE;
    }
  append (&self->texts.biases, g_strdup (value));
  return TRUE;
}

static gboolean
samplers_cb (const char *option, const char *value, gpointer data, GError **error)
{
  KvasirAnswerArgs *self = data;

  if (kvasir_sampler_order_parse (value, self->sampling.order))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "%s: each at most once of penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, "
               "xtc and temperature expected, %s found",
               option, value);
  return FALSE;
}

/* ---- the form of an answer */

/* A text for a grammar takes the place of one before it, and of a schema; so the other way round.
 */
static void
take_form (KvasirAnswerArgs *self, gboolean is_schema, char *text)
{
  g_clear_pointer (&self->texts.grammar, g_free);
  g_clear_pointer (&self->texts.schema, g_free);
  *(is_schema ? &self->texts.schema : &self->texts.grammar) = text;
}

/* What only a model's tokens can tell is said when it is asked. */
static gboolean
check_form (const char *text, gboolean is_schema, GError **error)
{
  g_autofree char *made = is_schema ? kvasir_schema_to_grammar (text, error) : NULL;
  if (is_schema && made == NULL)
    return FALSE;
  g_autoptr (KvasirGrammar) grammar = kvasir_grammar_new (is_schema ? made : text, NULL, error);
  return grammar != NULL;
}

static gboolean
form_cb (const char *option, const char *value, gpointer data, GError **error)
{
  gboolean is_schema = strcmp (option, "-j") == 0 || strstr (option, "schema") != NULL;
  g_autofree char *text = NULL;

  if (!g_str_has_suffix (option, "-file"))
    text = g_strdup (value);
  else if ((text = kvasir_cli_read_text (value, error)) == NULL)
    {
      g_prefix_error (error, "%s %s: ", option, value);
      return FALSE;
    }
  if (!check_form (text, is_schema, error))
    return FALSE;
  take_form (data, is_schema, g_steal_pointer (&text));
  return TRUE;
}

static const GOptionEntry lists[] = {
  { "grammar", 0, 0, G_OPTION_ARG_CALLBACK, form_cb, "What the answer is held to, in GBNF",
    "TEXT" },
  { "grammar-file", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, form_cb, "The same, read",
    "FILE" },
  { "json-schema", 'j', 0, G_OPTION_ARG_CALLBACK, form_cb,
    "The answer is JSON that this schema allows", "TEXT" },
  { "json-schema-file", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, form_cb, "The same, read",
    "FILE" },
  { "dry-sequence-breaker", 0, 0, G_OPTION_ARG_CALLBACK, breaker_cb,
    "Ends what DRY takes for a row, in place of \\n, :, \" and *; none: nothing does", "TEXT" },
  { "logit-bias", 0, 0, G_OPTION_ARG_CALLBACK, bias_cb,
    "Makes a token (its id, or all tokens of a text) more or less likely; -inf: never",
    "TOKEN+BIAS" },
  { "samplers", 0, 0, G_OPTION_ARG_CALLBACK, samplers_cb,
    "Order (default penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature)",
    "A;B;..." },
  { "stop", 0, 0, G_OPTION_ARG_CALLBACK, stop_cb,
    "Ends the answer and is no part of it; \\n is a line break", "TEXT" },
  G_OPTION_ENTRY_NULL,
};

/* ---- the group */

void
kvasir_answer_args_init (KvasirAnswerArgs *self)
{
  *self = (KvasirAnswerArgs){ .helps = g_ptr_array_new_with_free_func (g_free) };
  kvasir_sampler_params_init (&self->sampling);
  kvasir_sampling_texts_init (&self->texts);
}

void
kvasir_answer_args_clear (KvasirAnswerArgs *self)
{
  kvasir_sampling_texts_clear (&self->texts);
  g_clear_pointer (&self->helps, g_ptr_array_unref);
}

GOptionGroup *
kvasir_answer_args_make_group (KvasirAnswerArgs *self)
{
  GOptionGroup *group =
      g_option_group_new ("answer", "Answers:", "Show how answers are drawn", self, NULL);
  GOptionEntry entries[G_N_ELEMENTS (numbers) + 1] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      char usual[G_ASCII_DTOSTR_BUF_SIZE];
      g_ascii_formatd (usual, sizeof usual, "%g", read_number (self, &numbers[i]));
      char *help = g_strdup_printf ("%s (default %s)", numbers[i].help, usual);
      g_ptr_array_add (self->helps, help);
      entries[i] = (GOptionEntry){ .long_name = numbers[i].name,
                                   .arg = G_OPTION_ARG_CALLBACK,
                                   .arg_data = number_cb,
                                   .description = help,
                                   .arg_description = numbers[i].unit };
    }
  g_option_group_add_entries (group, entries);
  g_option_group_add_entries (group, lists);
  return group;
}

void
kvasir_answer_args_apply (const KvasirAnswerArgs *self, KvasirRequest *request)
{
  request->sampling = self->sampling;
  request->max_tokens = self->max_tokens;
  kvasir_sampling_texts_clear (&request->texts);
  kvasir_sampling_texts_copy (&self->texts, &request->texts);
}
