/* The inspector in a window of its own, fed with made-up snapshots at a steady rate: to be looked
 * at, and to measure the gaps of the main loop.
 *
 *   inspector-window --model tests/data/vocab/tiny-llama.gguf --size 860x900 --page 0
 *   inspector-window --model ... --all --rate 60 --seconds 10
 */
#include <adwaita.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backends/cpu/cpu.h"
#include "tests/viz/fake-snapshot.h"
#include "ui/inspector/inspector.h"

#define N_SNAPSHOTS 48
#define MAX_GAPS 200000

static char *model_path;
static char *size_text;
static char *question;
static int page;
static int rate;
static int seconds;
static int message = -1;
static gboolean all;
static gboolean dark;
static gboolean streams;

static const GOptionEntry options[] = {
  { "model", 0, 0, G_OPTION_ARG_FILENAME, &model_path, "Model that stands behind", "FILE" },
  { "size", 0, 0, G_OPTION_ARG_STRING, &size_text, "Size of the window", "WxH" },
  { "ask", 0, 0, G_OPTION_ARG_STRING, &question, "Ask the model instead", "TEXT" },
  { "page", 0, 0, G_OPTION_ARG_INT, &page, "Page to show", "N" },
  { "rate", 0, 0, G_OPTION_ARG_INT, &rate, "Snapshots a second", "N" },
  { "seconds", 0, 0, G_OPTION_ARG_INT, &seconds, "End after this time and print the gaps", "N" },
  { "message", 0, 0, G_OPTION_ARG_INT, &message, "Message whose cells are outlined", "N" },
  { "all", 0, 0, G_OPTION_ARG_NONE, &all, "All five pages at once", NULL },
  { "streams", 0, 0, G_OPTION_ARG_NONE, &streams, "Cells of its own for each sequence", NULL },
  { "dark", 0, 0, G_OPTION_ARG_NONE, &dark, "Dark style", NULL },
  { NULL }
};

typedef struct
{
  KvasirEngineClient *client;
  GMainLoop *loop;
  GtkWidget *window;
  GtkWidget *inspectors[KVASIR_N_INSPECTOR_PAGES];
  const KvasirSnapshot *snapshots[N_SNAPSHOTS];
  guint next;
  gboolean loaded;
  gint64 last_us;
  gint64 last_cpu_us;
  gint64 *gaps; /* microseconds */
  gint64 *work; /* of the main thread in them, microseconds */
  guint n_gaps;
} Demo;

static void
emit_snapshot (Demo *demo)
{
  const KvasirSnapshot *snapshot = demo->snapshots[demo->next++ % N_SNAPSHOTS];
  g_signal_emit_by_name (demo->client, "snapshot", snapshot);
}

static gboolean
feed_cb (gpointer user_data)
{
  emit_snapshot (user_data);
  return G_SOURCE_CONTINUE;
}

static gint64
get_thread_us (void)
{
  struct timespec time;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * G_USEC_PER_SEC + time.tv_nsec / 1000;
}

static gboolean
gap_cb (gpointer user_data)
{
  Demo *demo = user_data;
  gint64 now_us = g_get_monotonic_time ();
  gint64 cpu_us = get_thread_us ();
  if (demo->last_us > 0 && demo->n_gaps < MAX_GAPS)
    {
      demo->gaps[demo->n_gaps] = now_us - demo->last_us;
      demo->work[demo->n_gaps++] = cpu_us - demo->last_cpu_us;
    }
  demo->last_us = now_us;
  demo->last_cpu_us = cpu_us;
  return G_SOURCE_CONTINUE;
}

static int
compare_gaps (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a;
  gint64 y = *(const gint64 *) b;
  return x < y ? -1 : x > y;
}

static void
print_gaps (const char *name, gint64 *us, guint n)
{
  qsort (us, n, sizeof (gint64), compare_gaps);
  printf ("%s: %u, median %.1f ms, p99 %.1f ms, max %.1f ms\n", name, n, (double) us[n / 2] / 1e3,
          (double) us[n * 99 / 100] / 1e3, (double) us[n - 1] / 1e3);
}

static gboolean
end_cb (gpointer user_data)
{
  Demo *demo = user_data;
  if (demo->n_gaps > 0)
    {
      print_gaps ("gaps of the main loop", demo->gaps, demo->n_gaps);
      print_gaps ("work in them", demo->work, demo->n_gaps);
    }
  g_main_loop_quit (demo->loop);
  return G_SOURCE_REMOVE;
}

static gboolean
start_measuring_cb (gpointer user_data)
{
  g_timeout_add_full (G_PRIORITY_HIGH, 1, gap_cb, user_data, NULL);
  return G_SOURCE_REMOVE;
}

static void
ask (Demo *demo)
{
  KvasirRequest *request = kvasir_request_new (1, 2);
  g_ptr_array_add (request->messages, kvasir_message_new (1, KVASIR_ROLE_USER, question));
  kvasir_engine_client_send (demo->client, request);
}

static void
loaded_cb (KvasirEngineClient *client, GParamSpec *pspec, gpointer user_data)
{
  Demo *demo = user_data;
  if (kvasir_engine_client_get_state (client) != KVASIR_ENGINE_READY || demo->loaded)
    return;
  demo->loaded = TRUE;
  if (question != NULL)
    {
      ask (demo);
      return;
    }
  emit_snapshot (demo);
  if (message >= 0)
    kvasir_inspector_show_message_cells (KVASIR_INSPECTOR (demo->inspectors[0]), (guint64) message);
  if (rate > 0)
    g_timeout_add (1000 / (guint) rate, feed_cb, demo);
}

static char *
name_chat (guint64 chat_id, gpointer user_data)
{
  return g_strdup ("Why is the sky blue?");
}

static void
add_inspectors (Demo *demo)
{
  GtkWidget *grid = gtk_grid_new ();
  guint n = all ? KVASIR_N_INSPECTOR_PAGES : 1;
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *inspector = kvasir_inspector_new (demo->client);
      demo->inspectors[i] = inspector;
      kvasir_inspector_set_chat_name_func (KVASIR_INSPECTOR (inspector), name_chat, NULL, NULL);
      kvasir_inspector_set_page (KVASIR_INSPECTOR (inspector), all ? i : (guint) page);
      gtk_widget_set_hexpand (inspector, TRUE);
      gtk_widget_set_vexpand (inspector, TRUE);
      gtk_grid_attach (GTK_GRID (grid), inspector, (gint) i % 3, (gint) i / 3, 1, 1);
    }
  gtk_window_set_child (GTK_WINDOW (demo->window), grid);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  Demo demo = { 0 };
  int width = 860;
  int height = 900;
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    g_error ("%s", error->message);
  adw_init ();
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (),
                                      dark ? ADW_COLOR_SCHEME_FORCE_DARK
                                           : ADW_COLOR_SCHEME_FORCE_LIGHT);
  if (size_text != NULL)
    sscanf (size_text, "%dx%d", &width, &height);
  KvasirCpuOptions cpu = { .isa = KVASIR_CPU_ISA_AUTO };
  KvasirDevice *device = kvasir_cpu_device_new (&cpu);
  for (guint i = 0; i < N_SNAPSHOTS; i++)
    demo.snapshots[i] = fake_make_snapshot (i);
  demo.gaps = g_new (gint64, MAX_GAPS);
  demo.work = g_new (gint64, MAX_GAPS);
  demo.loop = g_main_loop_new (NULL, FALSE);
  demo.client = kvasir_engine_client_new (device);
  demo.window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (demo.window), width, height);
  gtk_window_set_decorated (GTK_WINDOW (demo.window), FALSE);
  add_inspectors (&demo);
  g_signal_connect (demo.client, "notify::state", G_CALLBACK (loaded_cb), &demo);
  gtk_window_present (GTK_WINDOW (demo.window));
  if (model_path != NULL)
    {
      KvasirContextParams params;
      kvasir_context_params_init (&params);
      params.kv_unified = !streams;
      params.n_seq_max = streams ? 3 : params.n_seq_max;
      kvasir_engine_client_load (demo.client, model_path, &params);
    }
  if (seconds > 0)
    {
      g_timeout_add (1500, start_measuring_cb, &demo);
      g_timeout_add ((guint) seconds * 1000 + 1500, end_cb, &demo);
    }
  g_main_loop_run (demo.loop);
  return 0;
}
