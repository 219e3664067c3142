#include "engine/error.h"

G_DEFINE_QUARK (kvasir_engine_error_quark, kvasir_engine_error)
