/* engine/session/stop-texts.h - texts that end an answer
 *
 * An answer's text goes through here as its tokens give it. What may still become the beginning of
 * a stop text is held back, whatever tokens it is made of; a stop text itself never comes out.
 *
 * Owner: KvasirSession, one per answer. Thread: engine thread.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _KvasirStopTexts KvasirStopTexts;

/* @texts: (nullable), ends with NULL; empty ones are ignored. Returns: (nullable): NULL where there
 * is nothing to look for */
KvasirStopTexts *kvasir_stop_texts_new (char **texts) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_stop_texts_free (KvasirStopTexts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirStopTexts, kvasir_stop_texts_free)

/* Takes the whole characters that one more token made certain and appends to @out what can be shown
 * of all so far. TRUE: a stop text is complete, and the answer ends with @out. */
gboolean kvasir_stop_texts_push (KvasirStopTexts *self, const char *text, GString *out);
/* Appends what is held back: the answer ended without a stop text. */
void kvasir_stop_texts_flush (KvasirStopTexts *self, GString *out);
/* After a stop text: how many of the tokens pushed give the text that came out; 0 where none do,
 * since the stop text begins inside of one. */
guint kvasir_stop_texts_count_kept (const KvasirStopTexts *self);

G_END_DECLS
