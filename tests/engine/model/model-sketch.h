/* tests/engine/model/model-sketch.h - writes a model of any architecture from lines of text
 *
 *   arch bloom                      the first line
 *   u32 block_count 1               keys, named without the architecture: u32, f32, bool, text;
 *   u32 tokenizer.ggml.token_type_count 2               but those of the tokenizer in full
 *   i32s rope.dimension_sections 2 3 3 0                and f32s
 *   tensor blk.0.attn_q.weight 8 16 f16
 *
 * A tensor has one to three extents and may name its type (f32 else); weights are zeros. Changes
 * are lines of the same form: one with the name of another stands in its place, "drop NAME" takes
 * it away, the rest is added. There is no tokenizer. Thread: one.
 */
#pragma once

#include "engine/model/model.h"

G_BEGIN_DECLS

/* @changes: (nullable). Returns: (transfer full): a path that delete_model() takes away */
char *write_sketch (const char *sketch, const char *changes);
/* Returns: (transfer full) (nullable) */
KvasirModel *
load_sketch (KvasirDevice *device, const char *sketch, const char *changes, GError **error);

G_END_DECLS
