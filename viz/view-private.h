/* viz/view-private.h - the base of the views; only viz/ includes it */
#pragma once

#include "viz/view.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirViews needs;
  void (*free) (KvasirView *self);
  /* Called with data, size and scale set; sets min_height and has_data. */
  void (*layout) (KvasirView *self);
  void (*draw) (KvasirView *self, KvasirCanvas *canvas);
  gboolean (*hit) (KvasirView *self, double x, double y, KvasirThing *thing);
  gboolean (*draw_mark) (KvasirView *self,
                         KvasirCanvas *canvas,
                         const KvasirThing *thing,
                         gboolean locked);
  gboolean (*move) (KvasirView *self, KvasirThing *thing, KvasirMove move);
  gboolean (*translate) (KvasirView *self, const KvasirThing *thing, KvasirThing *translated);
  void (*describe) (KvasirView *self, const KvasirThing *thing, GString *out);
  void (*append_text) (KvasirView *self, GString *out);
  /* NULL: the picture is the same whatever has the focus. */
  gboolean (*can_focus) (const KvasirThing *thing);
  /* NULL where the view does not zoom. */
  gboolean (*zoom) (KvasirView *self, gint delta, const KvasirThing *anchor);
  gboolean (*scroll) (KvasirView *self, double rows);
  gboolean (*follow) (KvasirView *self);
  gboolean (*reveal) (KvasirView *self, const KvasirThing *thing);
} KvasirViewClass;

struct _KvasirView
{
  const KvasirViewClass *klass;
  KvasirCanvas *canvas; /* (owned) */
  KvasirVizData data;   /* (unowned) parts */
  double width;
  double height;
  double scale;
  double min_height;
  gboolean has_data;
  KvasirThing focus;
  GArray *runs; /* (owned) of KvasirCellRun */
  KvasirTokenTextFunc token_text;
  gpointer token_text_data;
  KvasirChatNameFunc chat_name;
  gpointer chat_name_data;
};

void kvasir_view_init (KvasirView *self, const KvasirViewClass *klass);

/* Space that grows with the text: @n at the usual size. */
double kvasir_view_units (const KvasirView *self, double n);
/* Returns: (transfer full): with blanks and line ends made visible; "#12" where unknown, "" for -1
 */
char *kvasir_view_dup_token_text (const KvasirView *self, gint32 token);
/* Appends `token " wavelengths" (14 831)`. */
void kvasir_view_append_token (const KvasirView *self, gint32 token, GString *out);
/* Appends `message 3 (assistant)` where the position belongs to one; FALSE where it does not. */
gboolean kvasir_view_append_message (const KvasirView *self, gint seq, gint32 pos, GString *out);

G_END_DECLS
