/* ui/shell/draft-status.h - the words under the draft: its cost, or what the engine does
 *
 * Thread: main thread.
 */
#pragma once

#include "ui/engine-client.h"
#include "ui/history/message-node.h"

G_BEGIN_DECLS

/* What a count said. */
typedef struct
{
  guint n_draft;
  guint n_needed;
  guint n_free;
  gboolean fits;
} KvasirDraftCount;

/* "draft 19 tokens · 2 255 cells free · fits", "draft 530 tokens · needs 548, free 412 · 136 too
 * many". */
char *kvasir_draft_status_describe (const KvasirDraftCount *count) G_GNUC_WARN_UNUSED_RESULT;
/* An empty draft. @snapshot (nullable) */
char *kvasir_draft_status_describe_empty (const KvasirSnapshot *snapshot) G_GNUC_WARN_UNUSED_RESULT;
/* "opening the model · 43 % · 2 s left" */
char *kvasir_draft_status_describe_loading (double fraction, gint64 us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
