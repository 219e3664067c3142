/* How long the main loop is held while a made-up answer streams in and the views follow.
 *
 * 200 tokens a second go into a transcript; as many events and 60 snapshots a second into the
 * inspector. First each of its pages is shown in turn beside the transcript, whose text is what
 * the heap grows by; then all five pages at once, without it.
 * Needs a display: ./dev bench ui
 */
#include <stdio.h>

#include "engine/session/mailbox.h"
#include "tests/bench/desk.h"
#include "tests/bench/gaps.h"
#include "tests/viz/fake-snapshot.h"
#include "ui/inspector/inspector.h"

#define TOKENS_PER_SECOND 200
#define SNAPSHOTS_PER_SECOND 60
#define N_SNAPSHOTS 48
#define EVENT_BYTES (1 << 16)
#define LOG_LINES 6000

typedef struct
{
  BenchDesk desk;
  KvasirMailbox *mailbox;
  const KvasirSnapshot *snapshots[N_SNAPSHOTS];
  KvasirMessageNode *answer;
  guint n_tokens;
  guint n_shown;
} Bench;

/* Pieces of what models write: words, lists, code. */
static const char *
get_token (guint i)
{
  static const char *const words[] = { "The ",    "cache ", "keeps ", "**keys** ", "and ",
                                       "values ", "of ",    "every ", "token",     ", " };
  guint at = i % 400;

  if (at == 0)
    return "\n\n## A heading\n\n";
  if (at == 60 || at == 80)
    return "\n- one item ";
  if (at == 120)
    return "\n\n```c\nint main (void)\n{\n  return 0;\n}\n```\n\n";
  return at % 60 == 59 ? ".\n\n" : words[i % G_N_ELEMENTS (words)];
}

static gboolean
snapshot_cb (gpointer user_data)
{
  Bench *b = user_data;

  g_signal_emit_by_name (b->desk.client, "snapshot", b->snapshots[b->n_shown++ % N_SNAPSHOTS]);
  return G_SOURCE_CONTINUE;
}

/* Every event is drained right after it was put. */
static void
wakeup_cb (gpointer user_data)
{
}

static void
send_event (Bench *b)
{
  KvasirEvent event = { .type = KVASIR_EVENT_CELLS, .step = b->n_tokens, .n = 1 };
  gint32 token = (gint32) (b->n_tokens % 300);
  KvasirMail mail;

  event.cell = (gint32) (b->n_tokens % 4096);
  event.before.pos = -1;
  event.after.pos = (gint32) b->n_tokens;
  kvasir_seq_set_add (&event.after.seqs, 0);
  kvasir_mailbox_put_event (b->mailbox, &event, &token, 1);
  kvasir_mail_init (&mail);
  kvasir_mailbox_drain (b->mailbox, &mail);
  g_signal_emit_by_name (b->desk.client, "events", &mail);
  kvasir_mail_clear (&mail);
}

static gboolean
token_cb (gpointer user_data)
{
  Bench *b = user_data;

  kvasir_message_node_append (b->answer, get_token (b->n_tokens), -1);
  send_event (b);
  b->n_tokens++;
  return G_SOURCE_CONTINUE;
}

static void
measure (Bench *b, Gaps *gaps, const char *name, double seconds)
{
  KvasirMessageNode *asked = kvasir_conversation_add (
      b->desk.conversation, kvasir_conversation_get_leaf (b->desk.conversation), KVASIR_ROLE_USER,
      "go");
  guint tokens, snapshots;

  b->answer = kvasir_conversation_add_answer (b->desk.conversation, asked, "Bench");
  tokens = g_timeout_add (1000 / TOKENS_PER_SECOND, token_cb, b);
  snapshots = g_timeout_add (1000 / SNAPSHOTS_PER_SECOND, snapshot_cb, b);
  gaps_rest (1);
  gaps_run (gaps, seconds);
  g_source_remove (tokens);
  g_source_remove (snapshots);
  kvasir_message_node_set_state (b->answer, KVASIR_MESSAGE_COMPLETE);
  gaps_print (gaps, name);
}

static void
measure_pages (Bench *b, Gaps *gaps)
{
  static const char *const names[] = { "Cells", "Positions", "Mask", "Memory", "Log" };
  GtkWidget *inspector = kvasir_inspector_new (b->desk.client);
  GtkWidget *window = bench_desk_open_window (
      bench_desk_put_beside (bench_desk_make_transcript (&b->desk), inspector));

  for (guint i = 0; i < KVASIR_N_INSPECTOR_PAGES; i++)
    {
      kvasir_inspector_set_page (KVASIR_INSPECTOR (inspector), (KvasirInspectorPage) i);
      measure (b, gaps, names[i], 5);
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
measure_all (Bench *b, Gaps *gaps)
{
  GtkWidget *window = bench_desk_open_window (bench_desk_make_pages (&b->desk));

  /* The log keeps its newest lines; what it grows by until it is full is not measured. */
  for (guint i = 0; i < LOG_LINES; i++, b->n_tokens++)
    send_event (b);
  measure (b, gaps, "all five pages at once", 10);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
set_up (Bench *b)
{
  b->mailbox = kvasir_mailbox_new (EVENT_BYTES, wakeup_cb, NULL);
  for (guint i = 0; i < N_SNAPSHOTS; i++)
    b->snapshots[i] = fake_make_snapshot (i);
}

static void
tear_down (Bench *b)
{
  for (guint i = 0; i < N_SNAPSHOTS; i++)
    kvasir_snapshot_unref (b->snapshots[i]);
  kvasir_mailbox_free (b->mailbox);
  bench_desk_close (&b->desk);
}

int
main (int argc, char **argv)
{
  Bench b = { 0 };
  g_autoptr (Gaps) gaps = gaps_new ();

  if (argc != 2)
    {
      g_printerr ("usage: bench-ui MODEL.gguf\n");
      return 2;
    }
  if (!bench_desk_open (&b.desk, argv[1]))
    {
      g_printerr ("%s could not be loaded\n", argv[1]);
      return 3;
    }
  set_up (&b);
  printf ("gaps of the main loop, %d tokens a second, window 1600 x 1000\n", TOKENS_PER_SECOND);
  measure_pages (&b, gaps);
  measure_all (&b, gaps);
  tear_down (&b);
  return 0;
}
