/* engine/sampling/cuts.h - the stages of a chain that take candidates out of the pool
 *
 * Each keeps at least one. Meaning and formulas are those of the samplers of the same names in
 * llama.cpp, but without its sorts: a set is found by its threshold. Chances are those in the pool
 * as it is, at the temperature it has. Thread: the sampler's.
 */
#pragma once

#include "engine/sampling/pool.h"

G_BEGIN_DECLS

void kvasir_cut_top_k (KvasirPool *pool, guint k);
/* The shortest row of best ones whose chances reach @p < 1. */
void kvasir_cut_top_p (KvasirPool *pool, float p);
/* What has at least @min_p times the best one's chance. */
void kvasir_cut_min_p (KvasirPool *pool, float min_p);
/* What lies at most @n_sigma standard deviations of the pool's logits below the best (Tang and
 * others, arXiv 2411.07641). */
void kvasir_cut_top_n_sigma (KvasirPool *pool, float n_sigma);
/* The shortest row, by how far a token's surprise is from the entropy, whose chances reach @p < 1
 * (Meister and others, arXiv 2202.00666). */
void kvasir_cut_typical (KvasirPool *pool, float p);
/* Of the candidates with a chance of at least @threshold all but the least likely go. */
void kvasir_cut_xtc (KvasirPool *pool, float threshold);

/* Both by Basu and others, arXiv 2007.14966; @mu is the surprise in bits that is let through. The
 * first is for a pool that was not cut. */
void kvasir_cut_mirostat_1 (KvasirPool *pool, double mu);
void kvasir_cut_mirostat_2 (KvasirPool *pool, double mu);

G_END_DECLS
