#include "tests/bench/desk.h"

#include <glib/gstdio.h>

#include "backends/cpu/cpu.h"
#include "kvasir-resources.h"
#include "tests/bench/gaps.h"
#include "ui/inspector/inspector.h"
#include "ui/transcript/transcript.h"

#define N_COLUMNS 3
#define TRANSCRIPT_WIDTH 560

static void
load_style (void)
{
  g_autoptr (GtkCssProvider) provider = gtk_css_provider_new ();

  g_assert (kvasir_get_resource () != NULL);
  gtk_css_provider_load_from_resource (provider, "/org/kvasir/Kvasir/style.css");
  gtk_style_context_add_provider_for_display (
      gdk_display_get_default (), GTK_STYLE_PROVIDER (provider), GTK_STYLE_PROVIDER_PRIORITY_USER);
}

static gboolean
load_model (BenchDesk *desk, const char *path)
{
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  kvasir_engine_client_load (desk->client, path, &params);
  while (kvasir_engine_client_get_state (desk->client) == KVASIR_ENGINE_LOADING)
    g_main_context_iteration (NULL, TRUE);
  return kvasir_engine_client_get_state (desk->client) == KVASIR_ENGINE_READY;
}

static void
open_chat (BenchDesk *desk)
{
  g_autofree char *path = NULL;
  KvasirChat *chat;

  desk->folder = g_dir_make_tmp ("kvasir-bench-XXXXXX", NULL);
  path = g_build_filename (desk->folder, "history.db", NULL);
  desk->store = kvasir_store_new (path);
  desk->history = kvasir_history_new (desk->store);
  while (!kvasir_history_get_loaded (desk->history))
    g_main_context_iteration (NULL, TRUE);
  chat = kvasir_history_add_chat (desk->history, "");
  desk->conversation = kvasir_history_open_chat (desk->history, chat);
  kvasir_history_touch (desk->history, chat, NULL);
}

gboolean
bench_desk_open (BenchDesk *desk, const char *model)
{
  adw_init ();
  load_style ();
  desk->device = kvasir_cpu_device_new (NULL);
  desk->client = kvasir_engine_client_new (desk->device);
  open_chat (desk);
  return load_model (desk, model);
}

void
bench_desk_close (BenchDesk *desk)
{
  g_autofree char *path = g_build_filename (desk->folder, "history.db", NULL);

  kvasir_history_close (desk->history);
  g_unlink (path);
  g_rmdir (desk->folder);
  g_free (desk->folder);
  g_object_unref (desk->client);
  desk->device->vtable->free (desk->device);
}

GtkWidget *
bench_desk_make_transcript (BenchDesk *desk)
{
  GtkWidget *transcript = kvasir_transcript_new ();

  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (transcript), desk->conversation);
  return transcript;
}

GtkWidget *
bench_desk_make_pages (BenchDesk *desk)
{
  GtkWidget *grid = gtk_grid_new ();

  gtk_grid_set_row_homogeneous (GTK_GRID (grid), TRUE);
  gtk_grid_set_column_homogeneous (GTK_GRID (grid), TRUE);
  for (int i = 0; i < KVASIR_N_INSPECTOR_PAGES; i++)
    {
      GtkWidget *inspector = kvasir_inspector_new (desk->client);
      kvasir_inspector_set_page (KVASIR_INSPECTOR (inspector), (KvasirInspectorPage) i);
      gtk_widget_set_hexpand (inspector, TRUE);
      gtk_widget_set_vexpand (inspector, TRUE);
      gtk_grid_attach (GTK_GRID (grid), inspector, i % N_COLUMNS, i / N_COLUMNS, 1, 1);
    }
  return grid;
}

GtkWidget *
bench_desk_put_beside (GtkWidget *left, GtkWidget *right)
{
  GtkWidget *panes = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL);

  gtk_paned_set_start_child (GTK_PANED (panes), left);
  gtk_paned_set_end_child (GTK_PANED (panes), right);
  gtk_paned_set_position (GTK_PANED (panes), TRANSCRIPT_WIDTH);
  return panes;
}

GtkWidget *
bench_desk_open_window (GtkWidget *child)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), 1600, 1000);
  gtk_window_set_child (GTK_WINDOW (window), child);
  gtk_window_present (GTK_WINDOW (window));
  gaps_rest (1);
  return window;
}
