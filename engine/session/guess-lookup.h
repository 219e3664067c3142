/* engine/session/guess-lookup.h - what followed where the last tokens stood before
 *
 * Thread: any; pure.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Tokens that must be alike for a place to count, and beyond which a longer likeness is no better.
 */
#define KVASIR_LOOKUP_MIN 2
#define KVASIR_LOOKUP_MAX 8

/* Finds the place before whose end most tokens are as at the end of @text, up to KVASIR_LOOKUP_MAX;
 * of several the last one. What follows there goes to @guesses, at most @max tokens; a text that
 * turns in a circle goes on turning. Returns: how many tokens were alike, 0: none or fewer than
 * KVASIR_LOOKUP_MIN, and nothing was written */
guint kvasir_guess_lookup (const gint32 *text, guint n, guint max, gint32 *guesses);

G_END_DECLS
