/* viz/memory-private.h - the parts of the Memory view; only memory-*.c include it */
#pragma once

#include "viz/legend.h"
#include "viz/memory-sums.h"
#include "viz/view-private.h"

G_BEGIN_DECLS

/* A box that stands for bytes. */
typedef struct
{
  KvasirRect rect;
  KvasirRgb rgb;
  gint pattern; /* KvasirPattern, -1: none */
  char *label;  /* (owned) (nullable): inside the box, where it fits */
  char *text;   /* (owned): the details */
} KvasirMemoryPart;

/* A line of text that belongs to the layout. */
typedef struct
{
  double x, y;
  KvasirTextStyle style;
  KvasirRgb rgb;
  gint align; /* -1 left, 0 middle, 1 right */
  char *text; /* (owned) */
} KvasirMemoryText;

typedef struct
{
  KvasirView base;
  KvasirMemorySums *sums; /* (owned) */
  GArray *parts;          /* (owned) of KvasirMemoryPart, from top to bottom */
  GArray *texts;          /* (owned) of KvasirMemoryText */
  KvasirLegend *facts;    /* (owned) */
  KvasirRect table;
  double unit;
} KvasirMemoryView;

KvasirMemoryPart *
kvasir_memory_view_add_part (KvasirMemoryView *self, KvasirRect rect, KvasirRgb rgb);
void kvasir_memory_view_add_text (
    KvasirMemoryView *self, double x, double y, KvasirTextStyle style, gint align, char *text);

/* Each adds its boxes from @y on and returns where the next section may begin. */
double kvasir_memory_view_add_devices (KvasirMemoryView *self, double y);
double kvasir_memory_view_add_live (KvasirMemoryView *self, double y);
double kvasir_memory_view_add_icicle (KvasirMemoryView *self, double y);
double kvasir_memory_view_add_layers (KvasirMemoryView *self, double y, double height);

void kvasir_memory_view_draw (KvasirView *view, KvasirCanvas *canvas);
void kvasir_memory_view_describe (KvasirView *view, const KvasirThing *thing, GString *out);
void kvasir_memory_view_append_text (KvasirView *view, GString *out);

G_END_DECLS
