/* tests/bench/desk.h - a window with a chat and the inspector, for benchmarks
 *
 * The history lies in a folder of its own, which is removed again. Thread: main thread.
 */
#pragma once

#include <adwaita.h>

#include "ui/engine-client.h"
#include "ui/history/history.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirDevice *device;
  KvasirEngineClient *client;
  KvasirConversation *conversation; /* of a new chat */
  KvasirStore *store;
  KvasirHistory *history;
  char *folder;
} BenchDesk;

/* Starts the toolkit and loads the model, without which the pages show nothing. FALSE: it could
 * not be loaded. */
gboolean bench_desk_open (BenchDesk *desk, const char *model);
void bench_desk_close (BenchDesk *desk);

GtkWidget *bench_desk_make_transcript (BenchDesk *desk);
/* All pages of the inspector at once. */
GtkWidget *bench_desk_make_pages (BenchDesk *desk);
GtkWidget *bench_desk_put_beside (GtkWidget *left, GtkWidget *right);
GtkWidget *bench_desk_open_window (GtkWidget *child);

G_END_DECLS
