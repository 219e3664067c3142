/* A session on a tiny model, driven by hand, with what it told. */
#pragma once

#include "engine/session/session-private.h"

typedef struct
{
  KvasirDevice *device;
  KvasirSession *session;
  KvasirMemory *memory;
  GPtrArray *notices; /* of KvasirNotice, since the last request */
  GArray *events;     /* of KvasirEvent, since the last request */
  gint abort_flag;
  gint stop_after_ubatches; /* sets the abort flag, 0: never */
  gint n_ubatches;
  guint32 stop_in_step; /* sets the abort flag once this step has begun, 0: never */
} Rig;

typedef struct
{
  guint n_ctx;
  guint n_seq_max;
  guint n_ubatch;
  gboolean streams; /* cells of its own for each sequence */
  gboolean exact;   /* caches of F32, so that the order of reading shows less in the logits */
  gboolean coarse;  /* caches of Q8_0 */
  guint n_rs_seq;
} RigParams;

/* What came of a request. */
typedef struct
{
  KvasirNotice end; /* DONE or FAILED, without what it owns */
  gint error_code;
  GArray *tokens; /* of gint32 */
  GString *text;
} Answer;

char *rig_get_model_path (void);
/* A copy of the model's file in which @from is written over by @to, both of @len bytes; where @from
 * is NULL, the file's last @len bytes are. Remove it after use. */
char *rig_write_changed (const char *from, const char *to, gsize len);
Rig *rig_new (const RigParams *params);
Rig *rig_new_for (const char *path, const RigParams *params);
void rig_free (Rig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rig, rig_free)

/* Greedy. */
KvasirRequest *rig_new_request (guint64 chat_id, guint64 answer_id, guint max_tokens);
void rig_add_user (KvasirRequest *request, guint64 id, const char *text);
void rig_add_answer (KvasirRequest *request, guint64 id, const Answer *answer);
/* (transfer full) request. Runs it to its end, or until @max_steps steps were made and then stops
 * it; 0: to its end. */
Answer *rig_run (Rig *self, KvasirRequest *request, guint max_steps);
void answer_free (Answer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Answer, answer_free)

/* The tokens at positions 0, 1, ... of a sequence; all of them must be there, each once. */
GArray *rig_dup_tokens (Rig *self, gint seq);
/* Everything about every cell, for comparing. */
GBytes *rig_dump_cells (Rig *self);
guint rig_count_notices (Rig *self, KvasirNoticeKind kind);
const KvasirNotice *rig_find_notice (Rig *self, KvasirNoticeKind kind);
guint rig_count_events (Rig *self, KvasirEventType type);
/* The tokens that a request's prompt has. (transfer none) request */
GArray *rig_dup_prompt (Rig *self, const KvasirRequest *request);

#define assert_same_tokens(a, b)                                                                   \
  g_assert_cmpmem ((a)->data, (a)->len * sizeof (gint32), (b)->data, (b)->len * sizeof (gint32))
