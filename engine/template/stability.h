/* engine/template/stability.h - how much of a prompt is still there a turn later
 *
 * A chat template that only adds to what it rendered before lets a cache read new text alone. Many
 * do not: they put text before old replies, write the beginning of a reply otherwise once it is
 * there, or move the system text. This is measured by rendering two turns of a made-up chat.
 * Rules:  formats.md 6.4. Thread: any.
 */
#pragma once

#include "engine/template/template.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_PREFIX_STABLE,       /* only new text is read */
  KVASIR_PREFIX_REPLY_MOVES,  /* text comes before the last reply, which is read again */
  KVASIR_PREFIX_PROMPT_MOVES, /* the beginning of the reply is rewritten, too */
  KVASIR_PREFIX_ALL_MOVES,    /* earlier messages change: the chat is read again */
  KVASIR_PREFIX_UNKNOWN       /* the template refuses a plain chat of two turns */
} KvasirPrefixStability;

/* @bos, @eos: what the template sees as the tokens' texts */
KvasirPrefixStability
kvasir_template_measure_stability (const KvasirTemplate *self, const char *bos, const char *eos);
/* "stable", "reply-moves", "prompt-moves", "all-moves", "unknown" */
const char *kvasir_prefix_stability_get_name (KvasirPrefixStability stability);

G_END_DECLS
