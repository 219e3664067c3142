/* How fast an answer is written with the window open and all views live, and with none.
 *
 *   bench-window MODEL.gguf
 *
 * Prints one line of JSON when ready; then each line of the input, "window" or "headless", is one
 * answer, always the same one, in a chat of its own, and answered by a line with tokens per second,
 * the share of one processor that the main thread took meanwhile, and the frames a second.
 * Needs a display; ./dev bench peer gives it one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/bench/desk.h"
#include "tests/bench/gaps.h"

#define N_TOKENS 400
#define PROMPT "Write a long story about a lighthouse keeper who finds a map. Tell every detail."

typedef struct
{
  BenchDesk desk;
  GMainLoop *loop;
  guint64 chat;
  KvasirMessageNode *answer; /* NULL: nobody looks */
  double rate, busy, frames; /* of the last answer */
  guint n_frames;
} Bench;

/* Of the main thread, seconds. */
static double
get_cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void
notice_cb (KvasirEngineClient *client, const KvasirNotice *notice, gpointer user_data)
{
  Bench *b = user_data;

  if (notice->kind == KVASIR_NOTICE_TOKEN && b->answer != NULL)
    kvasir_message_node_append (b->answer, notice->text, notice->token);
  if (notice->kind == KVASIR_NOTICE_FAILED)
    g_error ("%s", notice->error->message);
  if (notice->kind != KVASIR_NOTICE_DONE)
    return;
  b->rate = notice->n_generated * 1e6 / (double) MAX (notice->us, 1);
  g_main_loop_quit (b->loop);
}

static void
write_answer (Bench *b)
{
  KvasirRequest *request = kvasir_request_new (++b->chat, 2);
  const double cpu = get_cpu_time ();
  const gint64 start = g_get_monotonic_time ();
  double seconds;

  b->n_frames = 0;
  g_ptr_array_add (request->messages, kvasir_message_new (1, KVASIR_ROLE_USER, PROMPT));
  request->max_tokens = N_TOKENS;
  request->sampling.seed = 1;
  kvasir_engine_client_send (b->desk.client, request);
  g_main_loop_run (b->loop);
  seconds = (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  b->busy = (get_cpu_time () - cpu) / seconds;
  b->frames = b->n_frames / seconds;
  kvasir_engine_client_clear (b->desk.client);
}

static void
painted_cb (GdkFrameClock *clock, Bench *b)
{
  b->n_frames++;
}

static void
write_in_window (Bench *b)
{
  KvasirConversation *conversation = b->desk.conversation;
  KvasirMessageNode *asked = kvasir_conversation_add (
      conversation, kvasir_conversation_get_leaf (conversation), KVASIR_ROLE_USER, PROMPT);
  GtkWidget *window = bench_desk_open_window (bench_desk_put_beside (
      bench_desk_make_transcript (&b->desk), bench_desk_make_pages (&b->desk)));

  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint", G_CALLBACK (painted_cb), b);
  b->answer = kvasir_conversation_add_answer (conversation, asked, "Bench");
  write_answer (b);
  kvasir_message_node_set_state (b->answer, KVASIR_MESSAGE_COMPLETE);
  b->answer = NULL;
  gtk_window_destroy (GTK_WINDOW (window));
  gaps_rest (0.5);
}

static void
serve (Bench *b)
{
  char line[32];

  /* Caches and threads wake up, and what goes on behind after loading comes to its end. */
  write_answer (b);
  printf ("{}\n");
  fflush (stdout);
  while (fgets (line, sizeof line, stdin) != NULL)
    {
      if (g_str_has_prefix (line, "window"))
        write_in_window (b);
      else
        write_answer (b);
      printf ("{\"rate\": %.3f, \"main\": %.3f, \"frames\": %.1f}\n", b->rate, b->busy, b->frames);
      fflush (stdout);
    }
}

int
main (int argc, char **argv)
{
  Bench b = { 0 };

  if (argc != 2 || !bench_desk_open (&b.desk, argv[1]))
    {
      g_printerr ("usage: bench-window MODEL.gguf (one that can be loaded)\n");
      return 2;
    }
  b.loop = g_main_loop_new (NULL, FALSE);
  g_signal_connect (b.desk.client, "notice", G_CALLBACK (notice_cb), &b);
  serve (&b);
  g_main_loop_unref (b.loop);
  bench_desk_close (&b.desk);
  return 0;
}
