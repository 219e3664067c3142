/* tests/engine/session/runner.h - a context that knows what each sequence has read
 *
 * So that at any time a cold context can be asked what the next row must be. Thread: one.
 */
#pragma once

#include "tests/engine/session/context-fixture.h"

#define RUNNER_N_SEQS 3

typedef struct
{
  KvasirContext *context; /* (owned) */
  KvasirContext *cold;    /* (owned) the same, empty between questions */
  KvasirMemory *memory;   /* (unowned) of context */
  guint n_vocab;
  GArray *read[RUNNER_N_SEQS]; /* (owned) of gint32, tokens at positions 0, 1, ... */
  float *row;                  /* (owned) [n_vocab] the last logits of the last decode */
} Runner;

/* 512 cells for each stream, 3 sequences, ubatches of 16, 3 earlier states where the model can. */
KvasirContextParams runner_make_params (void);
void runner_init (Runner *self, KvasirModel *model, const KvasirContextParams *params);
void runner_clear (Runner *self);

/* Decodes and, if it succeeds, remembers. */
KvasirDecode runner_read (Runner *self, gint seq, const gint32 *tokens, guint n);
/* @n made-up tokens, the same for the same @first. */
KvasirDecode runner_read_some (Runner *self, gint seq, guint n, gint32 first);
/* What is read of @seq is what its memory says: the first @n tokens. */
void runner_forget (Runner *self, gint seq, guint n);
void runner_copy (Runner *self, gint src, gint dst);
guint runner_get_n_read (const Runner *self, gint seq);

/* Reads one more token, whose row must be that of a cold run of all that @seq has read. */
void runner_assert_like_cold (Runner *self, gint seq, gint32 token);
/* The last row must be that of a cold run of all that @seq has read, its token included. */
void runner_compare (Runner *self, gint seq);
/* @n times the best token after the last row, which must be of @seq. */
void runner_greedy (Runner *self, gint seq, guint n, gint32 *ids);
