/* tests/app/trace-compare.h - compares two outputs of a scenario, operation by operation
 *
 * `ret`, `state`, `ubatches` and `mask` are exact, but for what a save returns (a size of the
 * engine's own) and a score (0.01 + 0.5 %). Logits are compared with atol + rtol times the row's
 * largest value; the best id only where it leads by more than twice that.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

typedef struct
{
  double atol;
  double rtol;
} TraceTolerance;

/* One object per line. Returns: (transfer full): a JSON array, or NULL where a line is no object */
json_t *trace_parse (const char *text);

/* The first difference, as "n op path: expected A, got B"; NULL where there is none.
 * Returns: (transfer full) */
char *trace_compare (const json_t *expected, const json_t *actual, const TraceTolerance *tolerance);

G_END_DECLS
