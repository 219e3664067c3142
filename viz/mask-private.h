/* viz/mask-private.h - the parts of the Mask view; only mask-*.c include it */
#pragma once

#include "viz/axis.h"
#include "viz/legend.h"
#include "viz/mask-model.h"
#include "viz/view-private.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirView base;
  KvasirMaskModel *model; /* (owned) */
  KvasirLegend *legend;   /* (owned) */
  KvasirRect skipped;     /* the note on blocks, in the legend's column */
  KvasirRect plot;        /* rows x columns */
  gint row_px;            /* device pixels of a row */
  double axis_y;          /* ticks of the columns */
  double bracket_y;
  KvasirRect waterfall; /* h = 0: none */
  guint n_steps;        /* shown in it */
  gint step_px;
} KvasirMaskView;

/* The row whose counts are shown: the one in focus, else the last. */
guint kvasir_mask_view_get_row (const KvasirMaskView *self);
/* Left edge of a cell's column. */
double kvasir_mask_view_get_x (const KvasirMaskView *self, double cell);
double kvasir_mask_view_get_row_y (const KvasirMaskView *self, guint row);

void kvasir_mask_view_fill_legend (KvasirMaskView *self, KvasirRect column);
void kvasir_mask_view_draw (KvasirView *view, KvasirCanvas *canvas);
void kvasir_mask_view_draw_plot (KvasirMaskView *self, KvasirCanvas *canvas);
void kvasir_mask_view_draw_waterfall (KvasirMaskView *self, KvasirCanvas *canvas);
gboolean kvasir_mask_view_draw_mark (KvasirView *view,
                                     KvasirCanvas *canvas,
                                     const KvasirThing *thing,
                                     gboolean locked);
void kvasir_mask_view_describe (KvasirView *view, const KvasirThing *thing, GString *out);
void kvasir_mask_view_append_text (KvasirView *view, GString *out);
/* "A 1 284 \"Mars\"". */
void kvasir_mask_view_append_row_name (KvasirMaskView *self, guint row, GString *out);

G_END_DECLS
