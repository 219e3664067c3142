/* app/cli/scenario.h - a scenario file: reading it, playing it, printing what happens
 *
 * The format is that of scenario files, version 1. The whole file is read and checked before
 * anything runs; what only shows while running (a generate without logits) is an error too.
 * Errors: KVASIR_CLI_ERROR, "FILE:LINE: MEMBER: expected, found", the code is the exit status.
 */
#pragma once

#include "app/cli/cli.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_OP_KIND_DECODE,
  KVASIR_OP_KIND_SEQ_RM,
  KVASIR_OP_KIND_SEQ_CP,
  KVASIR_OP_KIND_SEQ_KEEP,
  KVASIR_OP_KIND_SEQ_ADD,
  KVASIR_OP_KIND_SEQ_DIV,
  KVASIR_OP_KIND_CLEAR,
  KVASIR_OP_KIND_UPDATE,
  KVASIR_OP_KIND_SAVE,
  KVASIR_OP_KIND_LOAD,
  KVASIR_OP_KIND_GENERATE,
  KVASIR_OP_KIND_SCORE,
  KVASIR_OP_KIND_TOKENIZE,
  KVASIR_OP_KIND_DETOKENIZE,
  KVASIR_OP_KIND_TEMPLATE
} KvasirOpKind;

typedef struct
{
  gboolean state;
  gboolean logits; /* of encoders: embeddings */
  gboolean ubatches;
  gboolean mask;
} KvasirEmit;

/* One line. Members that its operation does not have keep their defaults. */
typedef struct
{
  guint line;
  KvasirOpKind kind;
  json_t *json;         /* (owned) the line */
  const json_t *id;     /* (unowned) (nullable) */
  const json_t *expect; /* (unowned) (nullable) */
  KvasirEmit emit;      /* what is printed */
  KvasirEmit make;      /* what is computed: emit and what expect names */
  GArray *tokens;       /* (owned) of gint32 */
  GArray *pos;          /* (owned) (nullable) of gint32, one per token */
  GArray *outputs;      /* (owned) (nullable) of guint8, one per token */
  GArray *seq_ids;      /* (owned) of gint32, the lists of decode one after the other */
  GArray *n_seqs;       /* (owned) of guint, one per token: how many of seq_ids are its own */
  gint32 seq, src, dst;
  gint32 p0, p1, delta, d, n;
  gboolean data, partial, add_special, parse_special, special, add_generation_prompt;
  const char *text;       /* also the name of save and load, and the template (nullable) */
  gsize text_len;         /* a text to be read may hold NUL */
  const json_t *messages; /* (unowned) */
  const json_t *vars;     /* (unowned) (nullable) */
} KvasirScenarioOp;

typedef struct
{
  char *path;     /* (owned) */
  json_t *header; /* (owned) */
  const char *model;
  gboolean vocab_only;
  KvasirContextParams params;
  KvasirEmit emit;
  GPtrArray *ops; /* (owned) of KvasirScenarioOp */
} KvasirScenario;

KvasirScenario *kvasir_scenario_read (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_scenario_free (KvasirScenario *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirScenario, kvasir_scenario_free)

const char *kvasir_scenario_get_op_name (KvasirOpKind kind);
/* Always FALSE. @member: (nullable) */
gboolean kvasir_scenario_fail (const KvasirScenario *self,
                               guint line,
                               const char *member,
                               GError **error,
                               const char *format,
                               ...) G_GNUC_PRINTF (5, 6);
/* Checks the members of one operation and fills @op, whose line and json are set. */
gboolean
kvasir_scenario_parse_op (const KvasirScenario *self, KvasirScenarioOp *op, GError **error);
/* The members of an `emit` object over the defaults in @emit. */
gboolean kvasir_scenario_parse_emit (
    const KvasirScenario *self, guint line, const json_t *json, KvasirEmit *emit, GError **error);

/* ---- playing */

/* What an operation shows of its physical batches while it runs. */
typedef struct
{
  json_t *ubatches; /* (owned) (nullable): NULL where not asked for */
  json_t *mask;     /* (owned) (nullable) */
} KvasirReport;

typedef struct
{
  const KvasirScenario *scenario;
  KvasirModel *model;
  KvasirContext *context; /* NULL with vocab_only */
  KvasirMemory *memory;
  gboolean is_encoder; /* only decode and what needs no context work */
  GHashTable *saved;   /* (owned) name -> GByteArray, what save wrote */
  gint32 *best;        /* [n_seq_max], best id of the last requested row, -1: none */
  KvasirReport report;
} KvasirPlayer;

/* @ret: (out) (transfer full): the member `ret`; @message: (out): the member `error`, or NULL */
gboolean kvasir_player_execute (
    KvasirPlayer *self, const KvasirScenarioOp *op, json_t **ret, char **message, GError **error);

/* ---- printing. (transfer full) */
json_t *kvasir_scenario_make_state (const KvasirMemory *memory, guint n_seq_max);
json_t *kvasir_scenario_make_logits (KvasirContext *context, guint n_tokens, guint n_vocab);
json_t *kvasir_scenario_make_embeddings (KvasirContext *context, guint n_tokens, guint n_seq_max);
json_t *kvasir_scenario_make_ubatch (const KvasirMemory *memory, const KvasirUbatch *ubatch);
json_t *kvasir_scenario_make_mask (const KvasirMemory *memory, const KvasirUbatch *ubatch);

/* The first place where @actual is not as @expected says, as "path: expected A, found B"; NULL
 * where it is. Returns: (transfer full) */
char *kvasir_scenario_compare (const json_t *expected, const json_t *actual);

G_END_DECLS
