#include "viz/event-text.h"

#include <glib/gi18n.h>

#include "engine/memory/memory.h"
#include "viz/format.h"
#include "viz/memory-sums.h"

KvasirLogKind
kvasir_event_get_log_kind (KvasirEventType type)
{
  switch (type)
    {
    case KVASIR_EVENT_STEP_BEGIN:
    case KVASIR_EVENT_STEP_END:
    case KVASIR_EVENT_UBATCH:
      return KVASIR_LOG_STEPS;
    case KVASIR_EVENT_SEARCH:
    case KVASIR_EVENT_CELLS:
    case KVASIR_EVENT_HEAD:
    case KVASIR_EVENT_HORIZON:
      return KVASIR_LOG_PLACEMENT;
    case KVASIR_EVENT_SEQ_RM:
    case KVASIR_EVENT_SEQ_CP:
    case KVASIR_EVENT_SEQ_KEEP:
    case KVASIR_EVENT_SEQ_ADD:
    case KVASIR_EVENT_SEQ_DIV:
    case KVASIR_EVENT_SHIFT_APPLIED:
    case KVASIR_EVENT_CLEAR:
      return KVASIR_LOG_SEQUENCES;
    case KVASIR_EVENT_SAMPLE:
      return KVASIR_LOG_TOKENS;
    case KVASIR_EVENT_STATE_SAVE:
    case KVASIR_EVENT_STATE_LOAD:
    case KVASIR_EVENT_BUFFER:
      return KVASIR_LOG_MEMORY;
    case KVASIR_EVENT_SEARCH_FAILED:
    case KVASIR_EVENT_PURGE:
    case KVASIR_EVENT_ROLLBACK:
    case KVASIR_EVENT_EVICT:
    case KVASIR_EVENT_NOTE:
    case KVASIR_EVENT_ERROR:
      return KVASIR_LOG_TROUBLE;
    }
  g_return_val_if_reached (KVASIR_LOG_TROUBLE);
}

const char *
kvasir_log_kind_get_label (KvasirLogKind kind)
{
  switch (kind)
    {
    case KVASIR_LOG_STEPS:
      return _ ("steps");
    case KVASIR_LOG_PLACEMENT:
      return _ ("placement");
    case KVASIR_LOG_SEQUENCES:
      return _ ("sequences");
    case KVASIR_LOG_TOKENS:
      return _ ("tokens");
    case KVASIR_LOG_MEMORY:
      return _ ("memory");
    case KVASIR_LOG_TROUBLE:
      return _ ("notes and trouble");
    case KVASIR_N_LOG_KINDS:
      break;
    }
  g_return_val_if_reached ("");
}

/* ---- pieces */

/* "A" or "all sequences". */
static const char *
name_seq (KvasirLetter *letter, gint64 seq)
{
  if (seq < 0)
    return _ ("all sequences");
  *letter = kvasir_palette_get_letter ((guint) seq);
  return letter->s;
}

/* "positions 4–11", "all positions", "positions from 4 on". */
static void
append_positions (GString *out, gint32 p0, gint64 p1)
{
  gint64 first = MAX (p0, 0);
  if (p1 < 0 && first == 0)
    g_string_append (out, _ ("all positions"));
  else if (p1 < 0)
    g_string_append_printf (out, _ ("positions from %s on"), kvasir_format_count (first).s);
  else if (p1 <= first)
    g_string_append (out, _ ("no position"));
  else
    g_string_append_printf (out, _ ("positions %s"), kvasir_format_range (first, p1 - 1).s);
}

static void
append_state (GString *out, const KvasirRunState *state, gint32 n)
{
  if (kvasir_seq_set_is_empty (&state->seqs))
    {
      g_string_append (out, _ ("free"));
      return;
    }
  kvasir_palette_append_letters (out, &state->seqs, " ", 4);
  g_string_append_printf (out, " %s",
                          kvasir_format_range (state->pos, (gint64) state->pos + n - 1).s);
  if (state->shift != 0)
    g_string_append_printf (out, _ (", shift %s"), kvasir_format_count (state->shift).s);
}

static void
append_cells (GString *out, const KvasirEvent *event)
{
  g_string_append_printf (out, ngettext ("cell %s: ", "cells %s: ", (gulong) event->n),
                          kvasir_format_range (event->cell, (gint64) event->cell + event->n - 1).s);
  append_state (out, &event->before, event->n);
  g_string_append (out, " → ");
  append_state (out, &event->after, event->n);
}

static void
append_taken (GString *out, const gint32 *data, guint n_data)
{
  for (guint i = 0; i + 1 < n_data && i < 12; i += 2)
    g_string_append_printf (out, "%s%s", i > 0 ? ", " : "",
                            kvasir_format_range (data[i], (gint64) data[i] + data[i + 1] - 1).s);
  g_string_append (out, n_data > 12 ? ", …" : "");
}

/* ---- groups of events */

static void
append_step (GString *out, const KvasirEvent *event)
{
  switch (event->type)
    {
    case KVASIR_EVENT_STEP_BEGIN:
      g_string_append_printf (out,
                              ngettext ("reads %s token, %s with an output",
                                        "reads %s tokens, %s with an output", (gulong) event->n),
                              kvasir_format_count (event->n).s, kvasir_format_count (event->a).s);
      break;
    case KVASIR_EVENT_STEP_END:
      if (event->a == 0)
        g_string_append_printf (out, _ ("done in %s"), kvasir_format_duration (event->b).s);
      else
        g_string_append_printf (out, _ ("ended with code %d after %s"), (int) event->a,
                                kvasir_format_duration (event->b).s);
      break;
    default:
      g_string_append_printf (out,
                              ngettext ("part %u: %s token, reads up to %s",
                                        "part %u: %s tokens, reads up to %s", (gulong) event->n),
                              (guint) event->a + 1, kvasir_format_count (event->n).s,
                              kvasir_format_count (event->b).s);
      break;
    }
}

static void
append_placement (GString *out, const KvasirEvent *event, const gint32 *data, guint n_data)
{
  switch (event->type)
    {
    case KVASIR_EVENT_SEARCH:
      g_string_append_printf (out,
                              ngettext ("search from %s for %s cell: ",
                                        "search from %s for %s cells: ", (gulong) event->n),
                              kvasir_format_count (event->cell).s,
                              kvasir_format_count (event->n).s);
      append_taken (out, data, n_data);
      g_string_append_printf (out, _ (" · %s tested%s"), kvasir_format_count (event->a).s,
                              event->b == 1 ? _ (", restarted at 0") : "");
      break;
    case KVASIR_EVENT_SEARCH_FAILED:
      g_string_append_printf (
          out, _ ("no room: search from %s needs %s cells, %s are free, the longest run is %s"),
          kvasir_format_count (event->cell).s, kvasir_format_count (event->n).s,
          kvasir_format_count (event->a).s, kvasir_format_count (event->b).s);
      break;
    case KVASIR_EVENT_HEAD:
      g_string_append_printf (out, _ ("head %s → %s"), kvasir_format_count (event->a).s,
                              kvasir_format_count (event->cell).s);
      break;
    case KVASIR_EVENT_HORIZON:
      g_string_append_printf (out, _ ("read up to %s → %s"), kvasir_format_count (event->b).s,
                              kvasir_format_count (event->a).s);
      break;
    default:
      append_cells (out, event);
      break;
    }
}

static void
append_operation (GString *out, const KvasirEvent *event)
{
  KvasirLetter letter;
  KvasirLetter other;
  const char *seq = name_seq (&letter, event->seq);
  switch (event->type)
    {
    case KVASIR_EVENT_SEQ_RM:
      g_string_append_printf (out, _ ("remove %s, "), seq);
      append_positions (out, event->pos, event->a);
      break;
    case KVASIR_EVENT_SEQ_CP:
      g_string_append_printf (out, _ ("copy %s to %s, "), seq, name_seq (&other, event->b));
      append_positions (out, event->pos, event->a);
      break;
    case KVASIR_EVENT_SEQ_KEEP:
      g_string_append_printf (out, _ ("keep only %s"), seq);
      break;
    case KVASIR_EVENT_SEQ_ADD:
      g_string_append_printf (out, _ ("shift %s by %s, "), seq, kvasir_format_count (event->b).s);
      append_positions (out, event->pos, event->a);
      break;
    case KVASIR_EVENT_SEQ_DIV:
      g_string_append_printf (out, _ ("divide %s by %s, "), seq, kvasir_format_count (event->b).s);
      append_positions (out, event->pos, event->a);
      break;
    case KVASIR_EVENT_SHIFT_APPLIED:
      g_string_append_printf (out, _ ("turned the keys of %s cells in %s"),
                              kvasir_format_count (event->n).s,
                              kvasir_format_duration (event->b).s);
      break;
    default:
      g_string_append (out, event->a == 1 ? _ ("cleared all cells and their bytes")
                                          : _ ("cleared all cells"));
      break;
    }
}

static void
append_memory (GString *out, const KvasirEvent *event)
{
  KvasirLetter letter;
  const char *whose = event->seq < 0 ? _ ("the whole memory") : name_seq (&letter, event->seq);
  switch (event->type)
    {
    case KVASIR_EVENT_STATE_SAVE:
      g_string_append_printf (out, _ ("saved %s: %s cells, %s"), whose,
                              kvasir_format_count (event->n).s,
                              kvasir_format_size ((guint64) event->a).s);
      break;
    case KVASIR_EVENT_STATE_LOAD:
      g_string_append_printf (
          out,
          event->b == 1 ? _ ("loaded %s: %s cells, %s") : _ ("refused to load %s: %s cells, %s"),
          whose, kvasir_format_count (event->n).s, kvasir_format_size ((guint64) event->a).s);
      break;
    default:
      g_string_append_printf (
          out, event->a >= 0 ? _ ("allocated %s in %s for %s") : _ ("freed %s in %s for %s"),
          kvasir_format_size ((guint64) ABS (event->a)).s, event->text,
          event->b >= 0 && event->b < KVASIR_N_KINDS
              ? kvasir_memory_sums_get_kind_label ((KvasirMemoryKind) event->b)
              : "?");
      break;
    }
}

static void
append_trouble (GString *out, const KvasirEvent *event)
{
  KvasirLetter letter;
  const char *seq = name_seq (&letter, event->seq);
  switch (event->type)
    {
    case KVASIR_EVENT_PURGE:
      g_string_append_printf (out, _ ("purged %s, "), seq);
      append_positions (out, event->pos, event->a);
      g_string_append_printf (out, _ (", because cell %s was used again"),
                              kvasir_format_count (event->cell).s);
      break;
    case KVASIR_EVENT_ROLLBACK:
      g_string_append_printf (
          out, ngettext ("took back %s token", "took back %s tokens", (gulong) event->n),
          kvasir_format_count (event->n).s);
      break;
    case KVASIR_EVENT_EVICT:
      g_string_append_printf (out, _ ("dropped %s of an idle chat to make room: %s cells"), seq,
                              kvasir_format_count (event->n).s);
      break;
    case KVASIR_EVENT_ERROR:
      g_string_append_printf (out, _ ("error: %s"), event->text);
      break;
    default:
      g_string_append (out, event->text);
      break;
    }
}

/* Chances come in millionths. */
static void
append_chance (GString *out, gint64 token, const gint32 *data, guint n_data)
{
  for (guint i = 0; i + 1 < n_data; i += 2)
    if (data[i] == token)
      g_string_append_printf (out, _ (" at %.1f %% of %u candidates"), data[i + 1] / 1e4,
                              n_data / 2);
}

static void
append_sample (GString *out,
               const KvasirEvent *event,
               const gint32 *data,
               guint n_data,
               KvasirTokenTextFunc token_text,
               gpointer user_data)
{
  KvasirLetter letter;
  g_autofree char *raw = token_text != NULL ? token_text ((gint32) event->a, user_data) : NULL;
  g_autofree char *text = kvasir_format_dup_visible (raw != NULL ? raw : "?");
  g_string_append_printf (out, _ ("chose \"%s\" (%s) for %s %s"), text,
                          kvasir_format_count (event->a).s, name_seq (&letter, event->seq),
                          kvasir_format_count (event->pos).s);
  append_chance (out, event->a, data, n_data);
}

void
kvasir_event_append_text (const KvasirEvent *event,
                          const gint32 *data,
                          guint n_data,
                          KvasirTokenTextFunc token_text,
                          gpointer user_data,
                          GString *out)
{
  switch (kvasir_event_get_log_kind (event->type))
    {
    case KVASIR_LOG_STEPS:
      append_step (out, event);
      break;
    case KVASIR_LOG_PLACEMENT:
      append_placement (out, event, data, n_data);
      break;
    case KVASIR_LOG_SEQUENCES:
      append_operation (out, event);
      break;
    case KVASIR_LOG_MEMORY:
      append_memory (out, event);
      break;
    case KVASIR_LOG_TOKENS:
      append_sample (out, event, data, n_data, token_text, user_data);
      break;
    case KVASIR_LOG_TROUBLE:
      if (event->type == KVASIR_EVENT_SEARCH_FAILED)
        append_placement (out, event, data, n_data);
      else
        append_trouble (out, event);
      break;
    case KVASIR_N_LOG_KINDS:
      break;
    }
}

void
kvasir_event_places_init (KvasirEventPlaces *self, const KvasirCellsShot *cells)
{
  *self = (KvasirEventPlaces){ .n_caches = MIN (cells->n_caches, KVASIR_MAX_PLACES) };
  for (guint i = 0; i < self->n_caches; i++)
    {
      g_strlcpy (self->names[i], cells->caches[i].name, sizeof self->names[i]);
      self->n_streams = MAX (self->n_streams, cells->caches[i].n_streams);
    }
}

/* What is told of one cache; the rest is of all of them. */
static gboolean
has_place (KvasirEventType type)
{
  switch (type)
    {
    case KVASIR_EVENT_SEARCH:
    case KVASIR_EVENT_SEARCH_FAILED:
    case KVASIR_EVENT_CELLS:
    case KVASIR_EVENT_PURGE:
    case KVASIR_EVENT_HEAD:
    case KVASIR_EVENT_HORIZON:
    case KVASIR_EVENT_SHIFT_APPLIED:
      return TRUE;
    default:
      return FALSE;
    }
}

void
kvasir_event_append_place (const KvasirEvent *event, const KvasirEventPlaces *places, GString *out)
{
  if (!has_place (event->type) || event->cache >= places->n_caches ||
      (places->n_caches < 2 && places->n_streams < 2))
    return;
  g_string_append (out, places->names[event->cache]);
  if (places->n_streams > 1)
    g_string_append_printf (out, " %u", event->stream);
  g_string_append (out, ": ");
}

static void
add_run (GArray *runs, const KvasirEvent *event, gint32 cell, gint32 n)
{
  KvasirCellRun run = { event->cache, event->stream, (guint) cell, (guint) n };
  if (cell >= 0 && n > 0)
    g_array_append_val (runs, run);
}

void
kvasir_event_append_cells (const KvasirEvent *event, const gint32 *data, guint n_data, GArray *runs)
{
  switch (event->type)
    {
    case KVASIR_EVENT_SEARCH:
      for (guint i = 0; i + 1 < n_data; i += 2)
        add_run (runs, event, data[i], data[i + 1]);
      break;
    case KVASIR_EVENT_CELLS:
      add_run (runs, event, event->cell, event->n);
      break;
    case KVASIR_EVENT_HEAD:
    case KVASIR_EVENT_PURGE:
      add_run (runs, event, event->cell, 1);
      break;
    default:
      break;
    }
}
