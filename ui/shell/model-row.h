/* ui/shell/model-row.h - a model of the library as a row: name, size, memory kind, whether it fits
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/shell/model-entry.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_MODEL_ROW (kvasir_model_row_get_type ())
G_DECLARE_FINAL_TYPE (KvasirModelRow, kvasir_model_row, KVASIR, MODEL_ROW, GtkListBoxRow)

/* Columns: widths shared by the heads and all rows. */
typedef struct
{
  GtkSizeGroup *size; /* (owned) */
  GtkSizeGroup *kind; /* (owned) */
  GtkSizeGroup *fit;  /* (owned) */
} KvasirModelColumns;

GtkWidget *kvasir_model_row_new (KvasirModelEntry *entry,
                                 const KvasirModelColumns *columns) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer none) */
KvasirModelEntry *kvasir_model_row_get_entry (KvasirModelRow *self);
/* Size and kind go below the name. */
void kvasir_model_row_set_compact (KvasirModelRow *self, gboolean compact);

G_END_DECLS
