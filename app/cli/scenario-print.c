/* What an operation left behind, as JSON. */
#include "app/cli/scenario.h"

#include <math.h>

static json_t *
make_ids (const KvasirSeqSet *seqs)
{
  json_t *ids = json_array ();
  for (gint s = kvasir_seq_set_next (seqs, 0); s >= 0;
       s = s + 1 < KVASIR_MAX_SEQS ? kvasir_seq_set_next (seqs, (guint) s + 1) : -1)
    json_array_append_new (ids, json_integer (s));
  return ids;
}

/* Where the run that begins at @first ends. */
static guint
find_run_end (const KvasirMemory *memory,
              guint cache,
              guint stream,
              guint first,
              guint end,
              const KvasirCell *start)
{
  guint cell = first + 1;

  for (; cell < end; cell++)
    {
      KvasirCell next;
      kvasir_memory_get_cell (memory, cache, stream, cell, &next);
      if (next.pos != start->pos + (gint32) (cell - first) || next.shift != start->shift ||
          !kvasir_seq_set_equal (&next.seqs, &start->seqs))
        break;
    }
  return cell;
}

static json_t *
make_runs (const KvasirMemory *memory, guint cache, guint stream)
{
  json_t *runs = json_array ();
  const guint end = kvasir_memory_get_used_max (memory, cache, stream);

  for (guint cell = 0; cell < end;)
    {
      KvasirCell start;
      guint next;
      kvasir_memory_get_cell (memory, cache, stream, cell, &start);
      if (start.pos < 0)
        {
          cell++;
          continue;
        }
      next = find_run_end (memory, cache, stream, cell, end, &start);
      json_array_append_new (runs, json_pack ("[i, i, i, o, i]", (int) cell, (int) (next - cell),
                                              (int) start.pos, make_ids (&start.seqs),
                                              (int) start.shift));
      cell = next;
    }
  return runs;
}

static json_t *
make_cache (const KvasirMemory *memory, guint cache)
{
  KvasirCacheInfo info;
  json_t *streams = json_array ();

  kvasir_memory_get_cache_info (memory, cache, &info);
  for (guint s = 0; s < info.n_streams; s++)
    json_array_append_new (streams,
                           json_pack ("{s:i, s:i, s:o}", "head",
                                      (int) kvasir_memory_get_head (memory, cache, s), "used",
                                      (int) kvasir_memory_get_used (memory, cache, s), "runs",
                                      make_runs (memory, cache, s)));
  return json_pack ("{s:s, s:i, s:i, s:o}", "name", info.name, "n_swa", (int) info.n_swa, "size",
                    (int) info.size, "streams", streams);
}

json_t *
kvasir_scenario_make_state (const KvasirMemory *memory, guint n_seq_max)
{
  json_t *seqs = json_array (), *caches = json_array ();

  for (guint s = 0; s < n_seq_max; s++)
    {
      gint32 last = kvasir_memory_seq_pos_max (memory, (gint) s);
      if (last >= 0)
        json_array_append_new (seqs, json_pack ("[i, i, i]", (int) s,
                                                (int) kvasir_memory_seq_pos_min (memory, (gint) s),
                                                (int) last));
    }
  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    json_array_append_new (caches, make_cache (memory, c));
  return json_pack ("{s:s, s:o, s:o}", "kind",
                    kvasir_memory_class_get_name (kvasir_memory_get_class (memory)), "seq", seqs,
                    "caches", caches);
}

#define N_SAMPLES 8

static json_t *
make_row (guint index, const float *logits, guint n_vocab)
{
  json_t *at = json_array ();
  double best = -INFINITY, second = -INFINITY, sum = 0;
  guint argmax = 0;

  for (guint i = 0; i < n_vocab; i++)
    if (logits[i] > best)
      {
        second = best;
        best = logits[i];
        argmax = i;
      }
    else if (logits[i] > second)
      second = logits[i];
  for (guint i = 0; i < n_vocab; i++)
    sum += exp ((double) logits[i] - best);
  for (guint k = 0; k < N_SAMPLES; k++)
    json_array_append_new (at, kvasir_cli_json_real (logits[(guint64) k * n_vocab / N_SAMPLES]));
  return json_pack ("{s:i, s:i, s:o, s:o, s:o}", "i", (int) index, "argmax", (int) argmax, "gap",
                    kvasir_cli_json_real (best - second), "lse",
                    kvasir_cli_json_real (best + log (sum)), "at", at);
}

json_t *
kvasir_scenario_make_logits (KvasirContext *context, guint n_tokens, guint n_vocab)
{
  json_t *rows = json_array ();
  for (guint i = 0; i < n_tokens; i++)
    {
      const float *logits = kvasir_context_get_logits_of_token (context, i);
      if (logits != NULL)
        json_array_append_new (rows, make_row (i, logits, n_vocab));
    }
  return rows;
}

json_t *
kvasir_scenario_make_ubatch (const KvasirMemory *memory, const KvasirUbatch *ubatch)
{
  g_autofree gint64 *slots = g_new (gint64, ubatch->n_tokens);
  json_t *tokens = json_array (), *n_kv = json_object (), *placed = json_object ();

  for (guint i = 0; i < ubatch->n_tokens; i++)
    json_array_append_new (tokens, json_integer (ubatch->index[i]));
  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    {
      KvasirCacheInfo info;
      json_t *cells = json_array ();
      kvasir_memory_get_cache_info (memory, c, &info);
      kvasir_memory_fill_slots (memory, c, slots);
      for (guint i = 0; i < ubatch->n_tokens; i++)
        json_array_append_new (cells, json_integer (slots[i] % info.size));
      json_object_set_new (n_kv, info.name, json_integer (kvasir_memory_get_n_kv (memory, c)));
      json_object_set_new (placed, info.name, json_pack ("[[i, o]]", 0, cells));
    }
  return json_pack ("{s:o, s:i, s:i, s:o, s:o}", "tokens", tokens, "n_seq_tokens",
                    (int) ubatch->n_seq_tokens, "n_seqs", (int) ubatch->n_seqs, "n_kv", n_kv,
                    "slots", placed);
}

/* The open cells of a row as half-open intervals. */
static json_t *
make_mask_row (const guint64 *words, guint n_kv)
{
  json_t *row = json_array ();
  guint cell = 0;

  while (cell < n_kv)
    {
      guint first;
      for (; cell < n_kv && !(words[cell / 64] >> (cell % 64) & 1); cell++)
        ;
      first = cell;
      for (; cell < n_kv && (words[cell / 64] >> (cell % 64) & 1); cell++)
        ;
      if (cell > first)
        json_array_append_new (row, json_pack ("[i, i]", (int) first, (int) cell));
    }
  return row;
}

json_t *
kvasir_scenario_make_mask (const KvasirMemory *memory, const KvasirUbatch *ubatch)
{
  json_t *kinds = json_object ();

  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    {
      KvasirCacheInfo info;
      const guint n_kv = kvasir_memory_get_n_kv (memory, c), n_words = (n_kv + 63) / 64;
      g_autofree guint64 *words = g_new0 (guint64, (gsize) n_words * ubatch->n_tokens);
      json_t *rows = json_array ();
      kvasir_memory_get_cache_info (memory, c, &info);
      kvasir_memory_fill_mask (memory, c, words, n_words);
      for (guint i = 0; i < ubatch->n_tokens; i++)
        json_array_append_new (rows, make_mask_row (words + (gsize) i * n_words, n_kv));
      json_object_set_new (kinds, info.n_swa > 0 ? "swa" : "full", rows);
    }
  return kinds;
}
