/* engine/session/seq-table.h - who the sequences are: chats, branches, messages by position
 *
 * The cells know tokens and positions; this knows to whom they belong. It never says what is in
 * the cells: runs may reach beyond the last position that is there, readers clip them.
 *
 * Owner:  KvasirSession. Thread: engine thread only.
 */
#pragma once

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

#define KVASIR_ROLE_TEMPLATE 3

typedef struct
{
  guint64 chat_id;   /* 0: nobody's */
  guint64 leaf_id;   /* message at the end of its path */
  gint parent;       /* sequence that it was forked from, -1 */
  gint32 parent_pos; /* first position that is its own */
  guint64 used_at;   /* rises with each use */
  GArray *runs;      /* (owned) of KvasirMessageRun, ascending, without overlaps */
  GArray *tokens;    /* (owned) of gint32: those read at positions 0, 1, ..., as far as known; only
                        for memories whose cells do not know them */
} KvasirSeqRecord;

typedef struct _KvasirSeqTable KvasirSeqTable;

KvasirSeqTable *kvasir_seq_table_new (guint n_seqs) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_seq_table_free (KvasirSeqTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirSeqTable, kvasir_seq_table_free)

guint kvasir_seq_table_get_n_seqs (const KvasirSeqTable *self);
const KvasirSeqRecord *kvasir_seq_table_get (const KvasirSeqTable *self, gint seq);
/* Gives the sequence to nobody. Sequences forked from it lose their parent. */
void kvasir_seq_table_reset (KvasirSeqTable *self, gint seq);
/* Says whose it is and that it was used just now. */
void kvasir_seq_table_claim (KvasirSeqTable *self, gint seq, guint64 chat_id, guint64 leaf_id);
/* @dst becomes a fork of @src at @pos, with the messages before it. */
void kvasir_seq_table_fork (KvasirSeqTable *self, gint src, gint dst, gint32 pos);

/* Forgets the messages at positions p0 ... p1 - 1, and the tokens from @p0 on. */
void kvasir_seq_table_erase (KvasirSeqTable *self, gint seq, gint32 p0, gint32 p1);
/* The @n positions from @pos on, behind all others, are a message's. */
void kvasir_seq_table_append (KvasirSeqTable *self, const KvasirMessageRun *run);
/* The @n tokens from @pos on were read. */
void kvasir_seq_table_note_tokens (
    KvasirSeqTable *self, gint seq, gint32 pos, const gint32 *tokens, guint n);
/* The run that holds the position, or NULL. */
const KvasirMessageRun *kvasir_seq_table_find (const KvasirSeqTable *self, gint seq, gint32 pos);

/* The chat whose newest sequence was used longest ago, looking only at the sequences in @among and
 * not at the chat @except; FALSE where there is none. What belongs to nobody is chat 0, the oldest.
 */
gboolean kvasir_seq_table_find_oldest (const KvasirSeqTable *self,
                                       guint64 except,
                                       const KvasirSeqSet *among,
                                       guint64 *chat_id);
/* The sequences of a chat. */
KvasirSeqSet kvasir_seq_table_get_seqs (const KvasirSeqTable *self, guint64 chat_id);

G_END_DECLS
