/* engine/vocab/joints.h - where a text can be cut without hindering any merge
 *
 * Merging joins neighbours into texts that the vocabulary knows. Where the bytes on both sides of a
 * place stand side by side in none of them, no merge goes across, and what lies before and behind
 * can be merged by itself: a text becomes many short words instead of one long run.
 * Owner:  the vocabulary. Immutable once made: any thread may ask.
 * Bounds: 64 KiB.
 */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 pairs[256][256];   /* a byte, and the one behind it that starts a character */
  guint8 before_space[256]; /* a byte before U+2581, which many other characters start like */
} KvasirJoints;

static inline gboolean
kvasir_joints_is_space (const char *text, gsize len)
{
  return len >= 3 && memcmp (text, "\xe2\x96\x81", 3) == 0;
}

/* Takes in a text that merging can give. */
void kvasir_joints_add (KvasirJoints *self, const char *text, gsize len);
/* Whether something may join the characters that end before and start at 0 < @i < @len. */
gboolean kvasir_joints_is_joint (const KvasirJoints *self, const char *text, gsize len, gsize i);
/* Where the piece of @text that starts at @start < @len ends. */
gsize kvasir_joints_find_end (const KvasirJoints *self, const char *text, gsize len, gsize start);

G_END_DECLS
