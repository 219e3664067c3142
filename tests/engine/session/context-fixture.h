/* tests/engine/session/context-fixture.h - a context on a device that can be made to fail
 *
 * The device is the CPU's, with its vtable and buffer types copied so that a test can put
 * something of its own in between. Thread: one.
 */
#pragma once

#include "engine/session/context.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirDevice *device;
  const KvasirDeviceVtable *real_vtable;
  KvasirBufferType *real_type;
  KvasirDeviceVtable vtable;
  KvasirBufferType type;  /* of results and caches */
  KvasirBufferType host;  /* of inputs and logits */
  KvasirModel *model;     /* of tests/data/models: the test's data, or tiny-llama.gguf */
  KvasirContext *context; /* as make_context() made it, or NULL */
} ContextFixture;

void context_fixture_set_up (ContextFixture *self, gconstpointer data);
void context_fixture_tear_down (ContextFixture *self, gconstpointer data);

/* 256 cells, 2 sequences, ubatches of 16, batches of 64. */
KvasirContextParams make_small_params (void);
void make_context (ContextFixture *self, const KvasirContextParams *params);
/* Decodes @n tokens of sequence 0, ids @first, @first + 1, ...; all rows where @all. */
KvasirDecode
decode_run (KvasirContext *context, gint32 first, guint n, gboolean all, GError **error);
/* decode_run() that must succeed. */
void decode_ok (KvasirContext *context, gint32 first, guint n);
gint32 get_last (KvasirContext *context);

G_END_DECLS
