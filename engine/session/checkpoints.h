/* engine/session/checkpoints.h - states that a rewind can be refused without
 *
 * Sliding and recurrent memories forget: a state in the middle of a text is gone once the text went
 * on. A checkpoint keeps the partial state of a sequence together with the tokens that lead to it.
 * It fits wherever these tokens are the beginning of a prompt, whatever the sequence.
 * There are few of them, and they hold few bytes: the one used longest ago gives way.
 *
 * Owner: KvasirSession. Thread: engine thread only.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 chat_id; /* whose text it is */
  gint32 *tokens;  /* (owned) [n_tokens], at positions 0, 1, ... */
  guint n_tokens;
  GByteArray *state; /* (owned) as kvasir_memory_state_write() wrote it */
  guint64 used_at;
} KvasirCheckpoint;

typedef struct _KvasirCheckpoints KvasirCheckpoints;

KvasirCheckpoints *kvasir_checkpoints_new (guint max_n, gsize max_bytes) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_checkpoints_free (KvasirCheckpoints *self);

/* Keeps @state (transfer full) for @tokens [n], in place of others where there is no room; one that
 * is larger than all may be together is not kept. */
void kvasir_checkpoints_add (
    KvasirCheckpoints *self, guint64 chat_id, const gint32 *tokens, guint n, GByteArray *state);
/* The longest whose tokens are the first ones of @tokens [n]; NULL: none. Holds until one is added
 * or dropped. */
const KvasirCheckpoint *
kvasir_checkpoints_find (const KvasirCheckpoints *self, const gint32 *tokens, guint n);
void kvasir_checkpoints_use (KvasirCheckpoints *self, const KvasirCheckpoint *checkpoint);
/* Those of a chat; 0: all. */
void kvasir_checkpoints_drop (KvasirCheckpoints *self, guint64 chat_id);

/* Tokens and states. */
gsize kvasir_checkpoints_get_bytes (const KvasirCheckpoints *self);

G_END_DECLS
