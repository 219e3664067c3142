/* viz/mask-private.h - the parts of the Mask view; only mask-*.c include it */
#pragma once

#include "viz/axis.h"
#include "viz/legend.h"
#include "viz/mask-model.h"
#include "viz/view-private.h"

G_BEGIN_DECLS

typedef struct _KvasirMaskView KvasirMaskView;

/* The mask of one cache: the last ubatch above, the waterfall below. */
typedef struct
{
  KvasirMaskView *view;
  const KvasirMaskShot *shot; /* (unowned) */
  KvasirMaskModel *model;     /* (owned) */
  double head_y;              /* middle of the title */
  double bracket_y;
  double axis_y;        /* ticks of the columns */
  KvasirRect plot;      /* rows x columns */
  gint row_px;          /* device pixels of a row */
  KvasirRect waterfall; /* h = 0: none */
  guint n_steps;        /* shown in it */
  gint step_px;
} KvasirMaskPanel;

/* Panels stand one below the other; what is counted at the side is of one row of one panel. */
struct _KvasirMaskView
{
  KvasirView base;
  KvasirMaskPanel *panels; /* (owned) [n_panels] */
  guint n_panels;
  KvasirLegend *legend; /* (owned) */
  KvasirRect skipped;   /* the note on blocks, in the legend's column */
};

/* The panel in focus, else the first. */
KvasirMaskPanel *kvasir_mask_view_get_panel (const KvasirMaskView *self);
/* The panel of a thing's cache, or NULL. */
KvasirMaskPanel *kvasir_mask_view_find_panel (const KvasirMaskView *self, const KvasirThing *thing);

/* The row whose counts are shown: the one in focus, else the last. */
guint kvasir_mask_panel_get_row (const KvasirMaskPanel *self);
/* Left edge of a cell's column. */
double kvasir_mask_panel_get_x (const KvasirMaskPanel *self, double cell);
double kvasir_mask_panel_get_row_y (const KvasirMaskPanel *self, guint row);

void kvasir_mask_view_fill_legend (KvasirMaskView *self, KvasirRect column);
void kvasir_mask_view_draw (KvasirView *view, KvasirCanvas *canvas);
void kvasir_mask_panel_draw_plot (const KvasirMaskPanel *self, KvasirCanvas *canvas);
void kvasir_mask_panel_draw_waterfall (const KvasirMaskPanel *self, KvasirCanvas *canvas);
gboolean kvasir_mask_view_draw_mark (KvasirView *view,
                                     KvasirCanvas *canvas,
                                     const KvasirThing *thing,
                                     gboolean locked);
void kvasir_mask_view_describe (KvasirView *view, const KvasirThing *thing, GString *out);
void kvasir_mask_view_append_text (KvasirView *view, GString *out);
/* "A 1 284 \"Mars\"". */
void kvasir_mask_panel_append_row_name (const KvasirMaskPanel *self, guint row, GString *out);
/* "base", or "base, stream 2" where there are several. */
void kvasir_mask_panel_append_cache (const KvasirMaskPanel *self, GString *out);

G_END_DECLS
