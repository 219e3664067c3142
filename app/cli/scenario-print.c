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
make_streams (const KvasirMemory *memory, guint cache, guint n_streams)
{
  json_t *streams = json_array ();

  for (guint s = 0; s < n_streams; s++)
    json_array_append_new (streams,
                           json_pack ("{s:i, s:i, s:o}", "head",
                                      (int) kvasir_memory_get_head (memory, cache, s), "used",
                                      (int) kvasir_memory_get_used (memory, cache, s), "runs",
                                      make_runs (memory, cache, s)));
  return streams;
}

/* The states of a recurrent cache that somebody owns. */
static json_t *
make_states (const KvasirMemory *memory, guint cache, guint size)
{
  json_t *cells = json_array ();

  for (guint i = 0; i < size; i++)
    {
      KvasirCell cell;
      kvasir_memory_get_cell (memory, cache, 0, i, &cell);
      if (cell.pos >= 0)
        json_array_append_new (
            cells, json_pack ("[i, i, o]", (int) i, (int) cell.pos, make_ids (&cell.seqs)));
    }
  return cells;
}

static json_t *
make_cache (const KvasirMemory *memory, guint cache)
{
  KvasirCacheInfo info;
  json_t *out;

  kvasir_memory_get_cache_info (memory, cache, &info);
  out = json_pack ("{s:s, s:i, s:i}", "name", info.name, "n_swa", (int) info.n_swa, "size",
                   (int) info.size);
  if (info.is_recurrent)
    json_object_set_new (out, "cells", make_states (memory, cache, info.size));
  else
    json_object_set_new (out, "streams", make_streams (memory, cache, info.n_streams));
  return out;
}

/* Encoders work in scratch rows, which keep nothing. */
static gboolean
keeps_cells (const KvasirMemory *memory)
{
  return kvasir_memory_get_class (memory) != KVASIR_MEMORY_NONE;
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
  for (guint c = 0; keeps_cells (memory) && c < kvasir_memory_get_n_caches (memory); c++)
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

static json_t *
make_embedding (const float *row, guint n)
{
  json_t *values = json_array ();
  for (guint i = 0; i < MIN (n, N_SAMPLES); i++)
    json_array_append_new (values, kvasir_cli_json_real (row[i]));
  return values;
}

/* A model either pools the rows of a sequence or gives those of tokens. */
json_t *
kvasir_scenario_make_embeddings (KvasirContext *context, guint n_tokens, guint n_seq_max)
{
  const guint n_embd = kvasir_context_get_n_embd (context);
  json_t *rows = json_array ();

  for (guint i = 0; i < n_seq_max; i++)
    {
      const float *row = kvasir_context_get_embedding_of_seq (context, (gint) i);
      if (row != NULL)
        json_array_append_new (rows, make_embedding (row, n_embd));
    }
  for (guint i = 0; i < n_tokens; i++)
    {
      const float *row = kvasir_context_get_embedding_of_token (context, i);
      if (row != NULL)
        json_array_append_new (rows, make_embedding (row, n_embd));
    }
  return rows;
}

/* Where the tokens of a ubatch lie in one cache: for each stream its cells. */
static json_t *
make_slots (const gint64 *slots, guint n_tokens, guint size)
{
  json_t *streams = json_array (), *cells = NULL;
  gint64 last = -1;

  for (guint i = 0; i < n_tokens; i++)
    {
      const gint64 stream = slots[i] / size;
      if (stream != last)
        {
          cells = json_array ();
          json_array_append_new (streams, json_pack ("[i, o]", (int) stream, cells));
          last = stream;
        }
      json_array_append_new (cells, json_integer (slots[i] % size));
    }
  return streams;
}

json_t *
kvasir_scenario_make_ubatch (const KvasirMemory *memory, const KvasirUbatch *ubatch)
{
  g_autofree gint64 *slots = g_new (gint64, ubatch->n_tokens);
  json_t *tokens = json_array (), *n_kv = json_object (), *placed = json_object ();

  for (guint i = 0; i < ubatch->n_tokens; i++)
    json_array_append_new (tokens, json_integer (ubatch->index[i]));
  for (guint c = 0; keeps_cells (memory) && c < kvasir_memory_get_n_caches (memory); c++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, c, &info);
      if (info.is_recurrent)
        continue;
      kvasir_memory_fill_slots (memory, c, slots);
      json_object_set_new (n_kv, info.name, json_integer (kvasir_memory_get_n_kv (memory, c)));
      json_object_set_new (placed, info.name, make_slots (slots, ubatch->n_tokens, info.size));
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

static json_t *
make_mask_rows (const KvasirMemory *memory, guint cache, guint n_tokens)
{
  const guint n_kv = kvasir_memory_get_n_kv (memory, cache), n_words = (n_kv + 63) / 64;
  g_autofree guint64 *words = g_new0 (guint64, (gsize) n_words * n_tokens);
  json_t *rows = json_array ();

  kvasir_memory_fill_mask (memory, cache, words, n_words);
  for (guint i = 0; i < n_tokens; i++)
    json_array_append_new (rows, make_mask_row (words + (gsize) i * n_words, n_kv));
  return rows;
}

/* Only of the caches that layers of the model read. */
json_t *
kvasir_scenario_make_mask (const KvasirMemory *memory, const KvasirUbatch *ubatch)
{
  json_t *kinds = json_object ();

  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, c, &info);
      if (!info.is_recurrent && info.n_layers > 0)
        json_object_set_new (kinds, info.n_swa > 0 ? "swa" : "full",
                             make_mask_rows (memory, c, ubatch->n_tokens));
    }
  return kinds;
}
