/* ui/store/schema.h - the history's tables and the ladder that brings old files up to date
 *
 * The version is SQLite's user_version. Each step goes from one version to the next in a
 * transaction of its own, so that a crash leaves the file at the version before or after it.
 * Thread: the store's.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/* Steps [n_steps]: steps[i] is SQL that goes from version i to i + 1. */
typedef struct
{
  const char *const *steps;
  guint n_steps;
} KvasirSchema;

/* The history's own ladder. */
const KvasirSchema *kvasir_schema_get (void);

typedef enum
{
  KVASIR_MIGRATE_OK,
  KVASIR_MIGRATE_NEWER, /* a later program wrote it; nothing was touched */
  KVASIR_MIGRATE_FAILED /* the database says why; it stays at the last version that worked */
} KvasirMigrate;

KvasirMigrate kvasir_schema_migrate (const KvasirSchema *self, sqlite3 *db);

G_END_DECLS
