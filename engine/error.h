/* engine/error.h - the engine's error domain
 *
 * Messages are for people: they say what, where, expected and found. They are not translated
 * here; ui/ maps codes to its own sentences and shows the message as the detail.
 * Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_ENGINE_ERROR (kvasir_engine_error_quark ())
GQuark kvasir_engine_error_quark (void);

typedef enum
{
  KVASIR_ENGINE_ERROR_FILE,        /* cannot be opened, read or mapped */
  KVASIR_ENGINE_ERROR_BAD_FILE,    /* not a GGUF, or one that breaks the format's rules */
  KVASIR_ENGINE_ERROR_UNSUPPORTED, /* a right file that this engine cannot run (architecture, type,
                                      tokenizer) */
  KVASIR_ENGINE_ERROR_NO_MEMORY,
  KVASIR_ENGINE_ERROR_BAD_ARGUMENT, /* a setting, id or text from outside that makes no sense */
  KVASIR_ENGINE_ERROR_TEMPLATE,  /* the chat template does not parse, raised, or exceeded a limit */
  KVASIR_ENGINE_ERROR_NO_ROOM,   /* the cache has fewer usable cells than needed */
  KVASIR_ENGINE_ERROR_BAD_BATCH, /* decode code -1 */
  KVASIR_ENGINE_ERROR_ABORTED,   /* decode code 2 */
  KVASIR_ENGINE_ERROR_COMPUTE    /* decode code -3 */
} KvasirEngineError;

G_END_DECLS
