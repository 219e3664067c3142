/* engine/template/clock.h - strftime with English names
 *
 * Thread: that of the heap.
 */
#pragma once

#include "engine/template/text.h"

G_BEGIN_DECLS

/* @now: (nullable): local time such as "2026-03-07T14:05:09"; NULL: the real one. NULL with a
 * failure if @now is no time. The format's other bytes keep their origin. */
KvasirJinjaText *kvasir_jinja_format_time (KvasirJinjaHeap *heap,
                                           KvasirJinjaText *format,
                                           const char *now) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
