/* One line of a scenario: which members an operation has, and what each must be. */
#include "app/cli/scenario.h"

#include "engine/json-name.h"

#include <string.h>

typedef enum
{
  MEMBER_INT,        /* a 32-bit whole number */
  MEMBER_COUNT,      /* the same, not negative */
  MEMBER_DIVISOR,    /* the same, at least 1 */
  MEMBER_SEQ,        /* a sequence id */
  MEMBER_SEQ_OR_ALL, /* a sequence id or -1 */
  MEMBER_BOOL,
  MEMBER_TEXT,
  MEMBER_NAME, /* a text without NUL */
  MEMBER_TOKENS,
  MEMBER_SEQS,   /* of decode: an id, a list of ids, or a list of lists */
  MEMBER_POS,    /* one number per token */
  MEMBER_LOGITS, /* "last", "all", "none" or one boolean per token */
  MEMBER_MESSAGES,
  MEMBER_VARS
} MemberType;

typedef struct
{
  const char *name;
  MemberType type;
  gsize offset;
  gboolean required;
} Member;

#define MAX_MEMBERS 6
#define AT(member) G_STRUCT_OFFSET (KvasirScenarioOp, member)
#define RANGE                                                                                      \
  { "p0", MEMBER_INT, AT (p0), FALSE }, { "p1", MEMBER_INT, AT (p1), FALSE }

typedef struct
{
  const char *name;
  Member members[MAX_MEMBERS];
} OpFormat;

static const OpFormat formats[] = {
  [KVASIR_OP_KIND_DECODE] = { "decode",
                              { { "tokens", MEMBER_TOKENS, AT (tokens), TRUE },
                                { "seq", MEMBER_SEQS, 0, FALSE },
                                { "pos", MEMBER_POS, AT (pos), FALSE },
                                { "logits", MEMBER_LOGITS, AT (outputs), FALSE } } },
  [KVASIR_OP_KIND_SEQ_RM] = { "seq_rm", { { "seq", MEMBER_SEQ_OR_ALL, AT (seq), FALSE }, RANGE } },
  [KVASIR_OP_KIND_SEQ_CP] = { "seq_cp",
                              { { "src", MEMBER_SEQ, AT (src), TRUE },
                                { "dst", MEMBER_SEQ, AT (dst), TRUE },
                                RANGE } },
  [KVASIR_OP_KIND_SEQ_KEEP] = { "seq_keep", { { "seq", MEMBER_SEQ, AT (seq), TRUE } } },
  [KVASIR_OP_KIND_SEQ_ADD] = { "seq_add",
                               { { "seq", MEMBER_SEQ, AT (seq), FALSE },
                                 RANGE,
                                 { "delta", MEMBER_INT, AT (delta), TRUE } } },
  [KVASIR_OP_KIND_SEQ_DIV] = { "seq_div",
                               { { "seq", MEMBER_SEQ, AT (seq), FALSE },
                                 RANGE,
                                 { "d", MEMBER_DIVISOR, AT (d), TRUE } } },
  [KVASIR_OP_KIND_CLEAR] = { "clear", { { "data", MEMBER_BOOL, AT (data), FALSE } } },
  [KVASIR_OP_KIND_UPDATE] = { "update", { { NULL } } },
  [KVASIR_OP_KIND_SAVE] = { "save",
                            { { "to", MEMBER_NAME, AT (text), TRUE },
                              { "seq", MEMBER_SEQ_OR_ALL, AT (seq), FALSE },
                              { "partial", MEMBER_BOOL, AT (partial), FALSE } } },
  [KVASIR_OP_KIND_LOAD] = { "load",
                            { { "from", MEMBER_NAME, AT (text), TRUE },
                              { "seq", MEMBER_SEQ_OR_ALL, AT (seq), FALSE },
                              { "partial", MEMBER_BOOL, AT (partial), FALSE } } },
  [KVASIR_OP_KIND_GENERATE] = { "generate",
                                { { "seq", MEMBER_SEQ, AT (seq), FALSE },
                                  { "n", MEMBER_COUNT, AT (n), TRUE } } },
  [KVASIR_OP_KIND_SCORE] = { "score",
                             { { "tokens", MEMBER_TOKENS, AT (tokens), TRUE },
                               { "seq", MEMBER_SEQ, AT (seq), FALSE } } },
  [KVASIR_OP_KIND_TOKENIZE] = { "tokenize",
                                { { "text", MEMBER_TEXT, AT (text), TRUE },
                                  { "add_special", MEMBER_BOOL, AT (add_special), FALSE },
                                  { "parse_special", MEMBER_BOOL, AT (parse_special), FALSE } } },
  [KVASIR_OP_KIND_DETOKENIZE] = { "detokenize",
                                  { { "tokens", MEMBER_TOKENS, AT (tokens), TRUE },
                                    { "special", MEMBER_BOOL, AT (special), FALSE } } },
  [KVASIR_OP_KIND_TEMPLATE] = { "template",
                                { { "messages", MEMBER_MESSAGES, AT (messages), TRUE },
                                  { "add_generation_prompt", MEMBER_BOOL,
                                    AT (add_generation_prompt), FALSE },
                                  { "template", MEMBER_TEXT, AT (text), FALSE },
                                  { "vars", MEMBER_VARS, AT (vars), FALSE } } },
};

const char *
kvasir_scenario_get_op_name (KvasirOpKind kind)
{
  return formats[kind].name;
}

/* The scenario, line and member that is being read, for messages. */
typedef struct
{
  const KvasirScenario *scenario;
  KvasirScenarioOp *op;
  const char *member;
  GError **error;
} Reader;

static gboolean
wrong (const Reader *reader, const char *expected, const json_t *found)
{
  return kvasir_scenario_fail (reader->scenario, reader->op->line, reader->member, reader->error,
                               "%s expected, %s found", expected, kvasir_json_name_type (found));
}

static gboolean
read_int (const Reader *reader, const json_t *value, gint32 min, gint32 max, gint32 *out)
{
  json_int_t n;

  if (!json_is_integer (value))
    return wrong (reader, "a whole number", value);
  n = json_integer_value (value);
  if (n < min || n > max)
    return kvasir_scenario_fail (reader->scenario, reader->op->line, reader->member, reader->error,
                                 "%d to %d expected, %" JSON_INTEGER_FORMAT " found", min, max, n);
  *out = (gint32) n;
  return TRUE;
}

static gboolean
read_ints (const Reader *reader, const json_t *value, GArray *out)
{
  gsize i;
  const json_t *element;

  if (!json_is_array (value))
    return wrong (reader, "a list of whole numbers", value);
  json_array_foreach (value, i, element)
  {
    gint32 n;
    if (!read_int (reader, element, G_MININT32, G_MAXINT32, &n))
      return FALSE;
    g_array_append_val (out, n);
  }
  return TRUE;
}

/* One list for every token. */
static gboolean
read_seq_lists (const Reader *reader, const json_t *value)
{
  KvasirScenarioOp *op = reader->op;
  gsize i;
  const json_t *list;

  if (json_array_size (value) != op->tokens->len)
    return kvasir_scenario_fail (reader->scenario, op->line, reader->member, reader->error,
                                 "%u lists of sequence ids expected, one per token, %u found",
                                 op->tokens->len, (guint) json_array_size (value));
  json_array_foreach (value, i, list)
  {
    guint before = op->seq_ids->len, n;
    if (!read_ints (reader, list, op->seq_ids))
      return FALSE;
    n = op->seq_ids->len - before;
    g_array_append_val (op->n_seqs, n);
  }
  return TRUE;
}

static void
fill_seqs (KvasirScenarioOp *op, const gint32 *ids, guint n)
{
  for (guint i = 0; i < op->tokens->len; i++)
    {
      g_array_append_vals (op->seq_ids, ids, n);
      g_array_append_val (op->n_seqs, n);
    }
}

/* The same ids for every token. */
static gboolean
read_seqs (const Reader *reader, const json_t *value)
{
  KvasirScenarioOp *op = reader->op;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

  if (json_is_array (value) && json_is_array (json_array_get (value, 0)))
    return read_seq_lists (reader, value);
  if (json_is_integer (value))
    {
      gint32 id;
      if (!read_int (reader, value, G_MININT32, G_MAXINT32, &id))
        return FALSE;
      g_array_append_val (ids, id);
    }
  else if (!json_is_array (value))
    return wrong (reader, "a sequence id, a list of ids or a list of lists", value);
  else if (!read_ints (reader, value, ids))
    return FALSE;
  fill_seqs (op, (const gint32 *) (gpointer) ids->data, ids->len);
  return TRUE;
}

static gboolean
read_pos (const Reader *reader, const json_t *value)
{
  KvasirScenarioOp *op = reader->op;

  op->pos = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (!read_ints (reader, value, op->pos))
    return FALSE;
  if (op->pos->len == op->tokens->len)
    return TRUE;
  return kvasir_scenario_fail (reader->scenario, op->line, reader->member, reader->error,
                               "%u positions expected, one per token, %u found", op->tokens->len,
                               op->pos->len);
}

static gboolean
read_logits (const Reader *reader, const json_t *value)
{
  KvasirScenarioOp *op = reader->op;
  const char *text = json_string_value (value);
  guint8 all = text != NULL && strcmp (text, "all") == 0;

  if (text != NULL && strcmp (text, "last") == 0)
    return TRUE;
  op->outputs = g_array_new (FALSE, TRUE, 1);
  if (all || (text != NULL && strcmp (text, "none") == 0))
    {
      for (guint i = 0; i < op->tokens->len; i++)
        g_array_append_val (op->outputs, all);
      return TRUE;
    }
  if (!json_is_array (value))
    return wrong (reader, "\"last\", \"all\", \"none\" or a list of booleans", value);
  if (json_array_size (value) != op->tokens->len)
    return kvasir_scenario_fail (reader->scenario, op->line, reader->member, reader->error,
                                 "%u booleans expected, one per token, %u found", op->tokens->len,
                                 (guint) json_array_size (value));
  for (guint i = 0; i < op->tokens->len; i++)
    {
      const json_t *element = json_array_get (value, i);
      guint8 wanted = json_is_true (element);
      if (!json_is_boolean (element))
        return wrong (reader, "a boolean", element);
      g_array_append_val (op->outputs, wanted);
    }
  return TRUE;
}

/* One member is no variable: "now" is the clock. */
static gboolean
read_vars (const Reader *reader, const json_t *value)
{
  const json_t *now = json_object_get (value, "now");

  reader->op->vars = value;
  if (!json_is_object (value))
    return wrong (reader, "an object", value);
  return now == NULL || json_is_string (now) || wrong (reader, "\"now\" as a text", now);
}

static gboolean
read_number (const Reader *reader, const Member *member, const json_t *value)
{
  gint32 *out = &G_STRUCT_MEMBER (gint32, reader->op, member->offset);
  const gint32 last_seq = (gint32) reader->scenario->params.n_seq_max - 1;

  switch (member->type)
    {
    case MEMBER_COUNT:
      return read_int (reader, value, 0, G_MAXINT32, out);
    case MEMBER_DIVISOR:
      return read_int (reader, value, 1, G_MAXINT32, out);
    case MEMBER_SEQ:
      return read_int (reader, value, 0, last_seq, out);
    case MEMBER_SEQ_OR_ALL:
      return read_int (reader, value, -1, last_seq, out);
    default:
      return read_int (reader, value, G_MININT32, G_MAXINT32, out);
    }
}

/* The whole of a name tells it from others, so that it must not hold what ends texts in C. */
static gboolean
read_text (const Reader *reader, const json_t *value, gboolean is_name)
{
  KvasirScenarioOp *op = reader->op;

  if (!json_is_string (value))
    return wrong (reader, "a text", value);
  op->text = json_string_value (value);
  op->text_len = json_string_length (value);
  if (!is_name || strlen (op->text) == op->text_len)
    return TRUE;
  return kvasir_scenario_fail (reader->scenario, op->line, reader->member, reader->error,
                               "a name without NUL expected, one after \"%s\" found", op->text);
}

static gboolean
read_member (const Reader *reader, const Member *member, const json_t *value)
{
  KvasirScenarioOp *op = reader->op;

  switch (member->type)
    {
    case MEMBER_BOOL:
      if (!json_is_boolean (value))
        return wrong (reader, "true or false", value);
      G_STRUCT_MEMBER (gboolean, op, member->offset) = json_is_true (value);
      return TRUE;
    case MEMBER_TEXT:
    case MEMBER_NAME:
      return read_text (reader, value, member->type == MEMBER_NAME);
    case MEMBER_TOKENS:
      return read_ints (reader, value, op->tokens);
    case MEMBER_SEQS:
      return read_seqs (reader, value);
    case MEMBER_POS:
      return read_pos (reader, value);
    case MEMBER_LOGITS:
      return read_logits (reader, value);
    case MEMBER_MESSAGES:
      op->messages = value;
      return json_is_array (value) || wrong (reader, "a list of messages", value);
    case MEMBER_VARS:
      return read_vars (reader, value);
    default:
      return read_number (reader, member, value);
    }
}

static gboolean
check_known (Reader *reader, const OpFormat *format)
{
  static const char *const common[] = { "op", "id", "expect", "emit" };
  const char *key;
  json_t *value;

  json_object_foreach (reader->op->json, key, value)
  {
    gboolean known = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS (common); i++)
      known |= strcmp (key, common[i]) == 0;
    for (guint i = 0; i < MAX_MEMBERS && format->members[i].name != NULL; i++)
      known |= strcmp (key, format->members[i].name) == 0;
    if (!known)
      return kvasir_scenario_fail (reader->scenario, reader->op->line, key, reader->error,
                                   "%s has no such member", format->name);
  }
  return TRUE;
}

static gboolean
read_common (Reader *reader)
{
  KvasirScenarioOp *op = reader->op;

  op->id = json_object_get (op->json, "id");
  op->expect = json_object_get (op->json, "expect");
  op->emit = reader->scenario->emit;
  if (!kvasir_scenario_parse_emit (reader->scenario, op->line, json_object_get (op->json, "emit"),
                                   &op->emit, reader->error))
    return FALSE;
  reader->member = "expect";
  if (op->expect != NULL && !json_is_object (op->expect))
    return wrong (reader, "an object", op->expect);
  op->make = op->emit;
  op->make.state |= json_object_get (op->expect, "state") != NULL;
  op->make.logits |= json_object_get (op->expect, "logits") != NULL ||
                     json_object_get (op->expect, "embd") != NULL;
  op->make.ubatches |= json_object_get (op->expect, "ubatches") != NULL;
  op->make.mask |= json_object_get (op->expect, "mask") != NULL;
  return TRUE;
}

static gboolean
find_format (Reader *reader)
{
  const json_t *name = json_object_get (reader->op->json, "op");

  reader->member = "op";
  if (name == NULL)
    return kvasir_scenario_fail (reader->scenario, reader->op->line, "op", reader->error,
                                 "the name of an operation expected, nothing found");
  if (!json_is_string (name))
    return wrong (reader, "the name of an operation", name);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (json_string_value (name), formats[i].name) == 0)
      {
        reader->op->kind = (KvasirOpKind) i;
        return TRUE;
      }
  return kvasir_scenario_fail (reader->scenario, reader->op->line, "op", reader->error,
                               "a known operation expected, \"%s\" found",
                               json_string_value (name));
}

static void
set_defaults (KvasirScenarioOp *op)
{
  op->tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  op->seq_ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  op->n_seqs = g_array_new (FALSE, FALSE, sizeof (guint));
  op->p0 = op->p1 = -1;
  op->seq = op->kind == KVASIR_OP_KIND_SAVE || op->kind == KVASIR_OP_KIND_LOAD ? -1 : 0;
  op->add_special = op->parse_special = op->special = op->add_generation_prompt = TRUE;
}

gboolean
kvasir_scenario_parse_op (const KvasirScenario *self, KvasirScenarioOp *op, GError **error)
{
  Reader reader = { self, op, NULL, error };
  const OpFormat *format;

  if (!find_format (&reader))
    return FALSE;
  set_defaults (op);
  format = &formats[op->kind];
  if (!check_known (&reader, format) || !read_common (&reader))
    return FALSE;
  for (guint i = 0; i < MAX_MEMBERS && format->members[i].name != NULL; i++)
    {
      const Member *member = &format->members[i];
      const json_t *value = json_object_get (op->json, member->name);
      reader.member = member->name;
      if (value == NULL && member->required)
        return kvasir_scenario_fail (self, op->line, member->name, error,
                                     "%s needs this member, none found", format->name);
      if (value != NULL && !read_member (&reader, member, value))
        return FALSE;
    }
  if (json_object_get (op->json, "seq") == NULL)
    fill_seqs (op, &op->seq, 1);
  return TRUE;
}
