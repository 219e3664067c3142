#include "ui/store/database.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "ui/store/schema.h"
#include "ui/store/text-search.h"

G_DEFINE_QUARK (kvasir_store_error_quark, kvasir_store_error)

struct _KvasirDatabase
{
  sqlite3 *db;
  sqlite3_stmt *put_chat;
  sqlite3_stmt *put_message;
};

void
kvasir_store_opening_free (KvasirStoreOpening *self)
{
  g_free (self->detail);
  g_free (self->aside_path);
  g_free (self);
}

static gboolean
fail (KvasirDatabase *self, GError **error)
{
  KvasirStoreError code = KVASIR_STORE_ERROR_IO;
  int result = sqlite3_errcode (self->db);

  if (result == SQLITE_FULL)
    code = KVASIR_STORE_ERROR_FULL;
  else if (result == SQLITE_CORRUPT || result == SQLITE_NOTADB)
    code = KVASIR_STORE_ERROR_CORRUPT;
  else if (result == SQLITE_CONSTRAINT)
    code = KVASIR_STORE_ERROR_GONE;
  g_set_error (error, KVASIR_STORE_ERROR, code, "%s", sqlite3_errmsg (self->db));
  return FALSE;
}

/* ---- opening */

/* The settings that a file from elsewhere could abuse are closed before anything is read. */
static int
configure (sqlite3 *db)
{
  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  return sqlite3_exec (db,
                       "PRAGMA trusted_schema = OFF;"
                       "PRAGMA cell_size_check = ON;"
                       "PRAGMA locking_mode = EXCLUSIVE;"
                       "PRAGMA journal_mode = WAL;"
                       "PRAGMA synchronous = FULL;"
                       "PRAGMA foreign_keys = ON;"
                       /* Takes the lock now, so that a second program learns of it at once. */
                       "BEGIN IMMEDIATE; COMMIT;",
                       NULL, NULL, NULL);
}

static int
check_row (void *user_data, int n, char **values, char **names)
{
  gboolean *sound = user_data;

  *sound = n == 1 && g_strcmp0 (values[0], "ok") == 0;
  return 0;
}

static gboolean
is_sound (sqlite3 *db)
{
  gboolean sound = FALSE;

  return sqlite3_exec (db, "PRAGMA quick_check (1)", check_row, &sound, NULL) == SQLITE_OK && sound;
}

static KvasirStoreStatus
status_of_result (int result)
{
  switch (result)
    {
    case SQLITE_OK:
      return KVASIR_STORE_KEPT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return KVASIR_STORE_IN_USE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return KVASIR_STORE_MOVED_ASIDE;
    default:
      return KVASIR_STORE_IN_MEMORY;
    }
}

/* What is the matter with the open file; KEPT: nothing. */
static KvasirStoreStatus
examine (sqlite3 *db)
{
  int result = configure (db);

  if (result != SQLITE_OK)
    return status_of_result (result);
  if (!is_sound (db))
    return KVASIR_STORE_MOVED_ASIDE;
  switch (kvasir_schema_migrate (kvasir_schema_get (), db))
    {
    case KVASIR_MIGRATE_OK:
      return KVASIR_STORE_KEPT;
    case KVASIR_MIGRATE_NEWER:
      return KVASIR_STORE_NEWER;
    case KVASIR_MIGRATE_FAILED:
    default:
      /* Foreign tables of the same names fail a step as SQLITE_ERROR: such a file isn't ours. */
      result = sqlite3_errcode (db);
      return result == SQLITE_ERROR ? KVASIR_STORE_MOVED_ASIDE : status_of_result (result);
    }
}

/* SQLite's words on what failed last; NULL where it was no call of SQLite's.
 * Returns: (transfer full) */
static char *
make_detail (sqlite3 *db)
{
  const int code = sqlite3_errcode (db) & 0xff;
  const gboolean is_error = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;

  return is_error ? g_strdup (sqlite3_errmsg (db)) : NULL;
}

static sqlite3 *
open_file (const char *path, KvasirStoreStatus *status, char **detail)
{
  sqlite3 *db = NULL;
  int result = sqlite3_open_v2 (
      path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

  *status = result == SQLITE_OK ? examine (db) : status_of_result (result);
  if (*status == KVASIR_STORE_KEPT)
    return db;
  if (*detail == NULL)
    *detail = make_detail (db);
  sqlite3_close (db);
  return NULL;
}

/* Renames the file and its companions. Returns: (transfer full): the new path. */
static char *
move_aside (const char *path)
{
  static const char *const suffixes[] = { "", "-wal", "-shm" };
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *stamp = g_date_time_format (now, "%Y%m%d-%H%M%S");
  g_autofree char *aside = g_strdup_printf ("%s.damaged-%s", path, stamp);

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *from = g_strconcat (path, suffixes[i], NULL);
      g_autofree char *to = g_strconcat (aside, suffixes[i], NULL);

      if (g_rename (from, to) != 0 && i == 0)
        return NULL;
    }
  return g_steal_pointer (&aside);
}

static sqlite3 *
open_memory (void)
{
  sqlite3 *db = NULL;
  int result = sqlite3_open (":memory:", &db);

  g_assert (result == SQLITE_OK);
  sqlite3_exec (db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
  kvasir_schema_migrate (kvasir_schema_get (), db);
  return db;
}

static guint64
query_number (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *statement = NULL;
  guint64 number = 0;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW)
    number = (guint64) sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return number;
}

/* Nobody writes these answers any more. */
static guint
mark_interrupted (sqlite3 *db)
{
  g_autofree char *sql = g_strdup_printf ("UPDATE messages SET state = %d WHERE state = %d",
                                          KVASIR_MESSAGE_INTERRUPTED, KVASIR_MESSAGE_WRITING);

  sqlite3_exec (db, sql, NULL, NULL, NULL);
  return (guint) sqlite3_changes (db);
}

KvasirDatabase *
kvasir_database_new (const char *path, KvasirStoreOpening *opening)
{
  KvasirDatabase *self = g_new0 (KvasirDatabase, 1);
  g_autofree char *folder = g_path_get_dirname (path);
  KvasirStoreStatus status;

  g_mkdir_with_parents (folder, 0700);
  self->db = open_file (path, &opening->status, &opening->detail);
  if (self->db == NULL && opening->status == KVASIR_STORE_MOVED_ASIDE)
    {
      opening->aside_path = move_aside (path);
      self->db = open_file (path, &status, &opening->detail);
    }
  if (self->db == NULL)
    {
      if (opening->status == KVASIR_STORE_MOVED_ASIDE)
        opening->status = KVASIR_STORE_IN_MEMORY;
      self->db = open_memory ();
    }
  kvasir_text_search_register (self->db);
  opening->n_interrupted = mark_interrupted (self->db);
  opening->last_id =
      query_number (self->db, "SELECT max(coalesce((SELECT max(id) FROM chats), 0),"
                              "           coalesce((SELECT max(id) FROM messages), 0))");
  return self;
}

void
kvasir_database_free (KvasirDatabase *self)
{
  sqlite3_finalize (self->put_chat);
  sqlite3_finalize (self->put_message);
  sqlite3_close (self->db);
  g_free (self);
}

/* ---- writing */

static gboolean
prepare (KvasirDatabase *self, sqlite3_stmt **statement, const char *sql, GError **error)
{
  if (*statement != NULL)
    return TRUE;
  if (sqlite3_prepare_v3 (self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) !=
      SQLITE_OK)
    return fail (self, error);
  return TRUE;
}

static gboolean
run (KvasirDatabase *self, sqlite3_stmt *statement, GError **error)
{
  gboolean done = sqlite3_step (statement) == SQLITE_DONE;

  if (!done)
    fail (self, error);
  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return done;
}

static void
bind_id (sqlite3_stmt *statement, int column, guint64 id)
{
  sqlite3_bind_int64 (statement, column, (sqlite3_int64) id);
}

static void
bind_text (sqlite3_stmt *statement, int column, const char *text)
{
  sqlite3_bind_text (statement, column, text, -1, SQLITE_STATIC);
}

/* Upserts, never REPLACE: that would delete the row first and take the messages with it. */
gboolean
kvasir_database_put_chat (KvasirDatabase *self, const KvasirChatRecord *chat, GError **error)
{
  if (!prepare (self, &self->put_chat,
                "INSERT INTO chats (id, title, title_fixed, created_us, updated_us,"
                "  system_prompt, draft, sampling, selected_root)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                " ON CONFLICT (id) DO UPDATE SET title = ?2, title_fixed = ?3, updated_us = ?5,"
                "  system_prompt = ?6, draft = ?7, sampling = ?8, selected_root = ?9",
                error))
    return FALSE;
  bind_id (self->put_chat, 1, chat->id);
  bind_text (self->put_chat, 2, chat->title);
  sqlite3_bind_int (self->put_chat, 3, chat->title_fixed);
  sqlite3_bind_int64 (self->put_chat, 4, chat->created_us);
  sqlite3_bind_int64 (self->put_chat, 5, chat->updated_us);
  bind_text (self->put_chat, 6, chat->system_prompt);
  bind_text (self->put_chat, 7, chat->draft);
  bind_text (self->put_chat, 8, chat->sampling);
  bind_id (self->put_chat, 9, chat->selected_root);
  return run (self, self->put_chat, error);
}

static gboolean
prepare_put_message (KvasirDatabase *self, GError **error)
{
  return prepare (
      self, &self->put_message,
      "INSERT INTO messages (id, chat_id, parent_id, role, state, content, tokens, created_us,"
      "  model_title, n_reused, n_read, generate_us, prefill_us, selected_child, reasons)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
      " ON CONFLICT (id) DO UPDATE SET state = ?5, content = ?6, tokens = ?7, model_title = ?9,"
      "  n_reused = ?10, n_read = ?11, generate_us = ?12, prefill_us = ?13, selected_child = ?14,"
      "  reasons = ?15",
      error);
}

gboolean
kvasir_database_put_message (KvasirDatabase *self,
                             const KvasirMessageRecord *message,
                             GError **error)
{
  sqlite3_stmt *s;

  if (!prepare_put_message (self, error))
    return FALSE;
  s = self->put_message;
  bind_id (s, 1, message->id);
  bind_id (s, 2, message->chat_id);
  bind_id (s, 3, message->parent_id);
  sqlite3_bind_int (s, 4, (int) message->role);
  sqlite3_bind_int (s, 5, (int) message->state);
  bind_text (s, 6, message->content);
  if (message->n_tokens > 0)
    sqlite3_bind_blob64 (s, 7, message->tokens, message->n_tokens * sizeof *message->tokens,
                         SQLITE_STATIC);
  sqlite3_bind_int64 (s, 8, message->created_us);
  bind_text (s, 9, message->model_title);
  sqlite3_bind_int64 (s, 10, message->n_reused);
  sqlite3_bind_int64 (s, 11, message->n_read);
  sqlite3_bind_int64 (s, 12, message->generate_us);
  sqlite3_bind_int64 (s, 13, message->prefill_us);
  bind_id (s, 14, message->selected_child);
  sqlite3_bind_int (s, 15, message->reasons);
  return run (self, s, error);
}

static gboolean
delete_row (KvasirDatabase *self, const char *table, guint64 id, GError **error)
{
  g_autofree char *sql =
      g_strdup_printf ("DELETE FROM %s WHERE id = %" G_GUINT64_FORMAT, table, id);

  if (sqlite3_exec (self->db, sql, NULL, NULL, NULL) != SQLITE_OK)
    return fail (self, error);
  return TRUE;
}

gboolean
kvasir_database_delete_chat (KvasirDatabase *self, guint64 chat_id, GError **error)
{
  return delete_row (self, "chats", chat_id, error);
}

gboolean
kvasir_database_delete_message (KvasirDatabase *self, guint64 message_id, GError **error)
{
  return delete_row (self, "messages", message_id, error);
}

/* ---- reading */

static char *
column_text (sqlite3_stmt *statement, int column)
{
  return g_strdup ((const char *) sqlite3_column_text (statement, column));
}

static gpointer
read_chat (sqlite3_stmt *s)
{
  KvasirChatRecord *chat = g_new0 (KvasirChatRecord, 1);

  chat->id = (guint64) sqlite3_column_int64 (s, 0);
  chat->title = column_text (s, 1);
  chat->title_fixed = sqlite3_column_int (s, 2) != 0;
  chat->created_us = sqlite3_column_int64 (s, 3);
  chat->updated_us = sqlite3_column_int64 (s, 4);
  chat->system_prompt = column_text (s, 5);
  chat->draft = column_text (s, 6);
  chat->sampling = column_text (s, 7);
  chat->selected_root = (guint64) sqlite3_column_int64 (s, 8);
  return chat;
}

static gpointer
read_message (sqlite3_stmt *s)
{
  KvasirMessageRecord *message = g_new0 (KvasirMessageRecord, 1);
  gsize n_bytes = (gsize) sqlite3_column_bytes (s, 6);

  message->id = (guint64) sqlite3_column_int64 (s, 0);
  message->chat_id = (guint64) sqlite3_column_int64 (s, 1);
  message->parent_id = (guint64) sqlite3_column_int64 (s, 2);
  message->role = (KvasirRole) sqlite3_column_int (s, 3);
  message->state = (KvasirMessageState) sqlite3_column_int (s, 4);
  message->content = column_text (s, 5);
  message->n_tokens = (guint) (n_bytes / sizeof (gint32));
  message->tokens = g_memdup2 (sqlite3_column_blob (s, 6), message->n_tokens * sizeof (gint32));
  message->created_us = sqlite3_column_int64 (s, 7);
  message->model_title = column_text (s, 8);
  message->n_reused = (guint) sqlite3_column_int64 (s, 9);
  message->n_read = (guint) sqlite3_column_int64 (s, 10);
  message->generate_us = sqlite3_column_int64 (s, 11);
  message->prefill_us = sqlite3_column_int64 (s, 12);
  message->selected_child = (guint64) sqlite3_column_int64 (s, 13);
  message->reasons = sqlite3_column_int (s, 14) != 0;
  return message;
}

static gpointer
read_hit (sqlite3_stmt *s)
{
  KvasirSearchHit *hit = g_new0 (KvasirSearchHit, 1);

  hit->chat_id = (guint64) sqlite3_column_int64 (s, 0);
  hit->snippet = column_text (s, 1);
  return hit;
}

/* Runs @statement, which it takes, and makes a record of each row. */
static GPtrArray *
collect (KvasirDatabase *self,
         sqlite3_stmt *statement,
         gpointer (*read_row) (sqlite3_stmt *),
         GDestroyNotify free_row,
         GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (free_row);
  int result;

  while ((result = sqlite3_step (statement)) == SQLITE_ROW)
    g_ptr_array_add (rows, read_row (statement));
  sqlite3_finalize (statement);
  if (result == SQLITE_DONE)
    return g_steal_pointer (&rows);
  fail (self, error);
  return NULL;
}

GPtrArray *
kvasir_database_list_chats (KvasirDatabase *self, GError **error)
{
  sqlite3_stmt *statement = NULL;

  if (!prepare (self, &statement,
                "SELECT id, title, title_fixed, created_us, updated_us, system_prompt, draft,"
                " sampling, selected_root FROM chats ORDER BY updated_us DESC, id DESC",
                error))
    return NULL;
  return collect (self, statement, read_chat, (GDestroyNotify) kvasir_chat_record_free, error);
}

GPtrArray *
kvasir_database_list_messages (KvasirDatabase *self, guint64 chat_id, GError **error)
{
  sqlite3_stmt *statement = NULL;

  /* Ids rise with creation, so a parent always comes before its children. */
  if (!prepare (self, &statement,
                "SELECT id, chat_id, parent_id, role, state, content, tokens, created_us,"
                " model_title, n_reused, n_read, generate_us, prefill_us, selected_child, reasons"
                " FROM messages WHERE chat_id = ?1 ORDER BY id",
                error))
    return NULL;
  bind_id (statement, 1, chat_id);
  return collect (self, statement, read_message, (GDestroyNotify) kvasir_message_record_free,
                  error);
}

GPtrArray *
kvasir_database_search (KvasirDatabase *self, const char *text, GError **error)
{
  sqlite3_stmt *statement = NULL;

  /* The latest message with the text gives the snippet; a title that has it needs none. */
  if (!prepare (self, &statement,
                "SELECT id, NULL FROM chats WHERE kvasir_find (title, ?1) IS NOT NULL"
                " UNION ALL "
                "SELECT chat_id, snippet FROM ("
                "  SELECT chat_id, kvasir_find (content, ?1) AS snippet, max(id)"
                "  FROM messages WHERE snippet IS NOT NULL GROUP BY chat_id)"
                " WHERE chat_id NOT IN"
                "  (SELECT id FROM chats WHERE kvasir_find (title, ?1) IS NOT NULL)",
                error))
    return NULL;
  sqlite3_bind_text (statement, 1, text, -1, SQLITE_TRANSIENT);
  return collect (self, statement, read_hit, (GDestroyNotify) kvasir_search_hit_free, error);
}
