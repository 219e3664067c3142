/* engine/vocab/charsmap.h - the precompiled table by which unigram models normalise text
 *
 * The bytes of the file: the size of a trie as 32 bits, the trie as a double array of 32-bit units
 * (the format of darts-clone), and replacement texts that end in NUL each. Units: bit 31 and bits 0
 * to 7 are the label of the byte that leads here, bit 8 says that a string ends here, and the upper
 * bits are the distance to the children; of the unit behind an end, 31 bits are where the
 * replacement begins.
 * Owner:  the vocabulary. Immutable: any thread may look up. Nothing in it is trusted: every index
 *   is compared with the size.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint32 *units; /* (owned) (nullable) [n_units] */
  gsize n_units;
  char *texts; /* (owned) (nullable) [n_text_bytes], the last byte is NUL */
  gsize n_text_bytes;
} KvasirCharsMap;

/* Copies what it needs. Returns: NULL, or what is wrong with the @len bytes (static text) */
const char *kvasir_chars_map_init (KvasirCharsMap *self, const guint8 *bytes, gsize len);
void kvasir_chars_map_clear (KvasirCharsMap *self);

/* Looks for the longest string of the table that @text begins with. Returns: its length and the
 * @replacement, which ends in NUL; 0 where there is none */
gsize kvasir_chars_map_match (const KvasirCharsMap *self,
                              const char *text,
                              gsize len,
                              const char **replacement);

G_END_DECLS
