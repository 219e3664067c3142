#include "ui/store/schema.h"

/* Times are Unix microseconds; tokens are little-endian int32. */
static const char version_1[] =
    "CREATE TABLE chats ("
    "  id INTEGER PRIMARY KEY,"
    "  title TEXT NOT NULL,"
    "  title_fixed INTEGER NOT NULL DEFAULT 0,"
    "  created_us INTEGER NOT NULL,"
    "  updated_us INTEGER NOT NULL,"
    "  system_prompt TEXT NOT NULL DEFAULT '',"
    "  draft TEXT NOT NULL DEFAULT '',"
    "  sampling TEXT NOT NULL DEFAULT '',"
    "  selected_root INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE TABLE messages ("
    "  id INTEGER PRIMARY KEY,"
    "  chat_id INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,"
    "  parent_id INTEGER NOT NULL DEFAULT 0,"
    "  role INTEGER NOT NULL,"
    "  state INTEGER NOT NULL,"
    "  content TEXT NOT NULL,"
    "  tokens BLOB,"
    "  created_us INTEGER NOT NULL,"
    "  model_title TEXT,"
    "  n_reused INTEGER NOT NULL DEFAULT 0,"
    "  n_read INTEGER NOT NULL DEFAULT 0,"
    "  generate_us INTEGER NOT NULL DEFAULT 0,"
    "  prefill_us INTEGER NOT NULL DEFAULT 0,"
    "  selected_child INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX messages_by_chat ON messages (chat_id);";

/* Answers to prompts that ended inside the model's reasoning. */
static const char version_2[] =
    "ALTER TABLE messages ADD COLUMN reasons INTEGER NOT NULL DEFAULT 0";

static const char *const steps[] = { version_1, version_2 };
static const KvasirSchema schema = { steps, G_N_ELEMENTS (steps) };

const KvasirSchema *
kvasir_schema_get (void)
{
  return &schema;
}

static gint
read_version (sqlite3 *db)
{
  sqlite3_stmt *statement = NULL;
  gint version = -1;

  if (sqlite3_prepare_v2 (db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW)
    version = sqlite3_column_int (statement, 0);
  sqlite3_finalize (statement);
  return version;
}

static gboolean
climb (sqlite3 *db, const char *step, guint to)
{
  g_autofree char *sql =
      g_strdup_printf ("BEGIN IMMEDIATE; %s; PRAGMA user_version = %u; COMMIT", step, to);

  if (sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK)
    return TRUE;
  /* The reason is kept for the caller: a rollback would overwrite it only if it failed too. */
  if (!sqlite3_get_autocommit (db))
    sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
  return FALSE;
}

KvasirMigrate
kvasir_schema_migrate (const KvasirSchema *self, sqlite3 *db)
{
  gint version = read_version (db);

  if (version < 0)
    return KVASIR_MIGRATE_FAILED;
  if ((guint) version > self->n_steps)
    return KVASIR_MIGRATE_NEWER;
  for (guint i = (guint) version; i < self->n_steps; i++)
    if (!climb (db, self->steps[i], i + 1))
      return KVASIR_MIGRATE_FAILED;
  return KVASIR_MIGRATE_OK;
}
