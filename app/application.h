/* app/application.h - puts device, engine, history and window together
 *
 * One instance for a session of the desktop; files come by the command line.
 * Thread: main thread.
 */
#pragma once

#include <adwaita.h>

#include "backends/backend.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_APPLICATION (kvasir_application_get_type ())
G_DECLARE_FINAL_TYPE (KvasirApplication, kvasir_application, KVASIR, APPLICATION, AdwApplication)

/* @device: outlives the application. */
KvasirApplication *kvasir_application_new (KvasirDevice *device) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
