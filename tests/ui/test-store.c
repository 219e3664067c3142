/* The history's file: order, trees, damage, kills, versions. */
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ui/wait.h"
#include "ui/store/schema.h"
#include "ui/store/store.h"
#include "ui/store/text-search.h"

typedef struct
{
  char *folder;
  char *path;
  KvasirStore *store;
  KvasirStoreOpening *opening;
} Fixture;

static void
opened_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  *(KvasirStoreOpening **) user_data =
      kvasir_store_open_finish (KVASIR_STORE (source), result, NULL);
}

static void
open_store (Fixture *f)
{
  g_clear_pointer (&f->opening, kvasir_store_opening_free);
  f->store = kvasir_store_new (f->path);
  kvasir_store_open_async (f->store, opened_cb, &f->opening);
  test_wait (f->opening != NULL);
}

static void
close_store (Fixture *f)
{
  kvasir_store_close (f->store);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_finalize_object (g_steal_pointer (&f->store));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = g_dir_make_tmp ("kvasir-store-XXXXXX", NULL);
  f->path = g_build_filename (f->folder, "history.db", NULL);
  open_store (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);
  const char *name;

  if (f->store != NULL)
    close_store (f);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (f->folder, name, NULL);
      g_unlink (path);
    }
  g_rmdir (f->folder);
  kvasir_store_opening_free (f->opening);
  g_free (f->folder);
  g_free (f->path);
}

static void
put_chat (KvasirStore *store, guint64 id, const char *title)
{
  const KvasirChatRecord chat = { .id = id,
                                  .title = (char *) title,
                                  .created_us = 1,
                                  .updated_us = (gint64) id,
                                  .system_prompt = (char *) "",
                                  .draft = (char *) "a draft",
                                  .sampling = (char *) "" };

  kvasir_store_put_chat_async (store, &chat, NULL, NULL);
}

static void
put_message (KvasirStore *store, guint64 id, guint64 chat_id, guint64 parent_id, const char *text)
{
  const KvasirMessageRecord message = { .id = id,
                                        .chat_id = chat_id,
                                        .parent_id = parent_id,
                                        .role = KVASIR_ROLE_USER,
                                        .content = (char *) text,
                                        .created_us = 5 };

  kvasir_store_put_message_async (store, &message, NULL, NULL);
}

static void
rows_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  *(GPtrArray **) user_data = kvasir_store_read_finish (KVASIR_STORE (source), result, NULL);
}

static GPtrArray *
list_messages (KvasirStore *store, guint64 chat_id)
{
  GPtrArray *rows = NULL;

  kvasir_store_list_messages_async (store, chat_id, rows_cb, &rows);
  test_wait (rows != NULL);
  return rows;
}

static GPtrArray *
list_chats (KvasirStore *store)
{
  GPtrArray *rows = NULL;

  kvasir_store_list_chats_async (store, rows_cb, &rows);
  test_wait (rows != NULL);
  return rows;
}

static void
run_sql (const char *path, const char *sql)
{
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static void
test_keeps_everything (Fixture *f, gconstpointer data)
{
  const gint32 ids[] = { 7, 0, -1, 49151 };
  const KvasirMessageRecord answer = { .id = 3,
                                       .chat_id = 1,
                                       .parent_id = 2,
                                       .role = KVASIR_ROLE_ASSISTANT,
                                       .state = KVASIR_MESSAGE_LENGTH,
                                       .content = (char *) "ünïcode \xf0\x9f\x8c\x8d",
                                       .tokens = (gint32 *) ids,
                                       .n_tokens = G_N_ELEMENTS (ids),
                                       .created_us = 77,
                                       .model_title = (char *) "Tiny",
                                       .n_reused = 11,
                                       .n_read = 12,
                                       .generate_us = 13,
                                       .prefill_us = 14,
                                       .selected_child = 9,
                                       .reasons = TRUE };
  g_autoptr (GPtrArray) messages = NULL;
  g_autoptr (GPtrArray) chats = NULL;
  const KvasirMessageRecord *read;

  g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_KEPT);
  put_chat (f->store, 1, "One");
  put_message (f->store, 2, 1, 0, "question");
  kvasir_store_put_message_async (f->store, &answer, NULL, NULL);
  close_store (f);
  open_store (f);
  g_assert_cmpuint (f->opening->last_id, ==, 3);
  chats = list_chats (f->store);
  g_assert_cmpuint (chats->len, ==, 1);
  g_assert_cmpstr (((KvasirChatRecord *) g_ptr_array_index (chats, 0))->draft, ==, "a draft");
  messages = list_messages (f->store, 1);
  g_assert_cmpuint (messages->len, ==, 2);
  read = g_ptr_array_index (messages, 1);
  g_assert_cmpuint (read->parent_id, ==, 2);
  g_assert_cmpint (read->role, ==, KVASIR_ROLE_ASSISTANT);
  g_assert_cmpint (read->state, ==, KVASIR_MESSAGE_LENGTH);
  g_assert_cmpstr (read->content, ==, answer.content);
  g_assert_cmpmem (read->tokens, read->n_tokens * 4, ids, sizeof ids);
  g_assert_cmpint (read->created_us, ==, 77);
  g_assert_cmpstr (read->model_title, ==, "Tiny");
  g_assert_cmpuint (read->n_reused + 100 * read->n_read, ==, 11 + 1200);
  g_assert_cmpint (read->generate_us + 100 * read->prefill_us, ==, 13 + 1400);
  g_assert_cmpuint (read->selected_child, ==, 9);
  g_assert_true (read->reasons);
}

/* A file that was written before answers knew of reasoning. */
static void
test_first_version_is_read (Fixture *f, gconstpointer data)
{
  const KvasirSchema first = { kvasir_schema_get ()->steps, 1 };
  g_autoptr (GPtrArray) messages = NULL;
  sqlite3 *db;

  close_store (f);
  g_unlink (f->path);
  g_assert_cmpint (sqlite3_open (f->path, &db), ==, SQLITE_OK);
  g_assert_cmpint (kvasir_schema_migrate (&first, db), ==, KVASIR_MIGRATE_OK);
  sqlite3_close (db);
  run_sql (f->path, "INSERT INTO chats (id, title, created_us, updated_us) VALUES (1, 'Old', 1, 1);"
                    "INSERT INTO messages (id, chat_id, role, state, content, created_us)"
                    " VALUES (2, 1, 2, 2, 'Well', 5)");
  open_store (f);
  g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_KEPT);
  messages = list_messages (f->store, 1);
  g_assert_cmpuint (messages->len, ==, 1);
  g_assert_cmpstr (((KvasirMessageRecord *) messages->pdata[0])->content, ==, "Well");
  g_assert_false (((KvasirMessageRecord *) messages->pdata[0])->reasons);
}

static void
test_chats_come_latest_first (Fixture *f, gconstpointer data)
{
  g_autoptr (GPtrArray) chats = NULL;

  put_chat (f->store, 1, "old");
  put_chat (f->store, 3, "new");
  put_chat (f->store, 2, "middle");
  put_chat (f->store, 2, "middle again");
  chats = list_chats (f->store);
  g_assert_cmpuint (chats->len, ==, 3);
  g_assert_cmpstr (((KvasirChatRecord *) g_ptr_array_index (chats, 0))->title, ==, "new");
  g_assert_cmpstr (((KvasirChatRecord *) g_ptr_array_index (chats, 1))->title, ==, "middle again");
}

static void
test_deleting_a_chat_takes_its_messages (Fixture *f, gconstpointer data)
{
  g_autoptr (GPtrArray) gone = NULL;
  g_autoptr (GPtrArray) kept = NULL;

  put_chat (f->store, 1, "one");
  put_chat (f->store, 2, "two");
  put_message (f->store, 3, 1, 0, "goes");
  put_message (f->store, 4, 2, 0, "stays");
  kvasir_store_delete_chat_async (f->store, 1, NULL, NULL);
  gone = list_messages (f->store, 1);
  kept = list_messages (f->store, 2);
  g_assert_cmpuint (gone->len, ==, 0);
  g_assert_cmpuint (kept->len, ==, 1);
}

static void
write_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GError **error = user_data;

  kvasir_store_write_finish (KVASIR_STORE (source), result, error);
  if (*error == NULL)
    *error = g_error_new_literal (KVASIR_STORE_ERROR, -1, "no error");
}

static void
test_message_of_a_deleted_chat_is_refused (Fixture *f, gconstpointer data)
{
  const KvasirMessageRecord message = { .id = 9, .chat_id = 8, .content = (char *) "late" };
  g_autoptr (GError) error = NULL;

  kvasir_store_put_message_async (f->store, &message, write_cb, &error);
  test_wait (error != NULL);
  g_assert_error (error, KVASIR_STORE_ERROR, KVASIR_STORE_ERROR_GONE);
}

static void
test_damaged_file_is_moved_aside (Fixture *f, gconstpointer data)
{
  g_autofree char *kept = NULL;
  g_autoptr (GPtrArray) chats = NULL;
  char rubbish[8192];

  close_store (f);
  memset (rubbish, 'x', sizeof rubbish);
  g_assert_true (g_file_set_contents (f->path, rubbish, sizeof rubbish, NULL));
  open_store (f);
  g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_MOVED_ASIDE);
  g_assert_nonnull (f->opening->detail);
  g_assert_true (g_file_get_contents (f->opening->aside_path, &kept, NULL, NULL));
  g_assert_cmpmem (kept, sizeof rubbish, rubbish, sizeof rubbish);
  put_chat (f->store, 1, "goes on");
  chats = list_chats (f->store);
  g_assert_cmpuint (chats->len, ==, 1);
}

static void
test_damaged_page_is_moved_aside (Fixture *f, gconstpointer data)
{
  g_autofree char *bytes = NULL;
  gsize len;

  put_chat (f->store, 1, "one");
  for (guint i = 0; i < 300; i++)
    put_message (f->store, 10 + i, 1, 0, "a text that fills pages of the file with itself");
  close_store (f);
  g_assert_true (g_file_get_contents (f->path, &bytes, &len, NULL));
  g_assert_cmpuint (len, >, 4 * 4096);
  for (gsize i = 2 * 4096; i < len; i++)
    bytes[i] = (char) (bytes[i] ^ 0x55);
  g_assert_true (g_file_set_contents (f->path, bytes, (gssize) len, NULL));
  open_store (f);
  g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_MOVED_ASIDE);
}

static void
test_file_in_use_is_left_alone (Fixture *f, gconstpointer data)
{
  Fixture second = { .path = f->path };

  put_chat (f->store, 1, "mine");
  open_store (&second);
  g_assert_cmpint (second.opening->status, ==, KVASIR_STORE_IN_USE);
  put_chat (second.store, 2, "kept in memory");
  g_ptr_array_unref (list_chats (second.store));
  close_store (&second);
  kvasir_store_opening_free (second.opening);
  close_store (f);
  open_store (f);
  g_assert_cmpuint (f->opening->last_id, ==, 1);
}

static void
test_newer_version_is_left_alone (Fixture *f, gconstpointer data)
{
  close_store (f);
  run_sql (f->path, "PRAGMA user_version = 1000");
  open_store (f);
  g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_NEWER);
  /* Nothing failed, so SQLite has no words on it. */
  g_assert_null (f->opening->detail);
  g_assert_null (f->opening->aside_path);
}

static void
test_ladder_climbs_from_each_version (void)
{
  static const char *const steps[] = { "CREATE TABLE t (a INTEGER)",
                                       "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 5",
                                       "UPDATE t SET b = b + a" };
  const KvasirSchema first = { steps, 1 };
  const KvasirSchema all = { steps, 3 };
  sqlite3_stmt *statement;
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (":memory:", &db), ==, SQLITE_OK);
  g_assert_cmpint (kvasir_schema_migrate (&first, db), ==, KVASIR_MIGRATE_OK);
  sqlite3_exec (db, "INSERT INTO t VALUES (2)", NULL, NULL, NULL);
  g_assert_cmpint (kvasir_schema_migrate (&all, db), ==, KVASIR_MIGRATE_OK);
  g_assert_cmpint (kvasir_schema_migrate (&all, db), ==, KVASIR_MIGRATE_OK);
  g_assert_cmpint (kvasir_schema_migrate (&first, db), ==, KVASIR_MIGRATE_NEWER);
  sqlite3_prepare_v2 (db, "SELECT b FROM t", -1, &statement, NULL);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  g_assert_cmpint (sqlite3_column_int (statement, 0), ==, 7);
  sqlite3_finalize (statement);
  sqlite3_close (db);
}

static void
test_failed_step_changes_nothing (void)
{
  static const char *const steps[] = { "CREATE TABLE t (a)", "CREATE TABLE u (a); SYNTAX ERROR" };
  const KvasirSchema schema = { steps, 2 };
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (":memory:", &db), ==, SQLITE_OK);
  g_assert_cmpint (kvasir_schema_migrate (&schema, db), ==, KVASIR_MIGRATE_FAILED);
  /* The first step stands, the second left no half of itself. */
  g_assert_cmpint (sqlite3_exec (db, "SELECT * FROM t", NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "SELECT * FROM u", NULL, NULL, NULL), ==, SQLITE_ERROR);
  sqlite3_close (db);
}

static char *
search (KvasirStore *store, const char *text)
{
  GPtrArray *rows = NULL;
  GString *out = g_string_new (NULL);

  kvasir_store_search_async (store, text, NULL, rows_cb, &rows);
  test_wait (rows != NULL);
  for (guint i = 0; i < rows->len; i++)
    {
      KvasirSearchHit *hit = g_ptr_array_index (rows, i);
      g_string_append_printf (out, "%u:%s;", (guint) hit->chat_id, hit->snippet ? "text" : "title");
    }
  g_ptr_array_unref (rows);
  return g_string_free (out, FALSE);
}

static void
test_search_finds_titles_and_texts (Fixture *f, gconstpointer data)
{
  g_autofree char *lower = NULL;
  g_autofree char *umlaut = NULL;
  g_autofree char *percent = NULL;

  put_chat (f->store, 1, "About Cells");
  put_chat (f->store, 2, "Other");
  put_message (f->store, 10, 2, 0, "the CELLS of ÄPFEL");
  put_message (f->store, 11, 1, 0, "cells here as well");
  lower = search (f->store, "cells");
  umlaut = search (f->store, "äpfel");
  percent = search (f->store, "%");
  g_assert_cmpstr (lower, ==, "1:title;2:text;");
  g_assert_cmpstr (umlaut, ==, "2:text;");
  g_assert_cmpstr (percent, ==, "");
}

static void
test_snippet_is_cut_between_characters (void)
{
  GString *text = g_string_new (NULL);
  g_autofree char *piece = NULL;

  for (guint i = 0; i < 200; i++)
    g_string_append (text, "ä");
  g_string_append (text, "needle\n");
  for (guint i = 0; i < 200; i++)
    g_string_append (text, "ö");
  piece = kvasir_text_search_find (text->str, "NEEDLE");
  g_assert_true (g_utf8_validate (piece, -1, NULL));
  g_assert_nonnull (strstr (piece, "needle "));
  g_assert_cmpint (g_utf8_strlen (piece, -1), ==, 1 + 20 + 60);
  g_string_free (text, TRUE);
}

static void
trouble_cb (KvasirStore *store, const char *message, guint *counts)
{
  counts[message != NULL ? 0 : 1]++;
}

/* The limit on a file's size stands for a full disk. What could not be written waits and is written
 * when there is room again. */
static void
test_full_disk_loses_nothing (Fixture *f, gconstpointer data)
{
  g_autofree char *text = g_strnfill (300000, 'x');
  g_autoptr (GPtrArray) messages = NULL;
  guint counts[2] = { 0, 0 };
  struct rlimit before, small;

  put_chat (f->store, 1, "one");
  g_ptr_array_unref (list_messages (f->store, 1));
  g_signal_connect (f->store, "trouble", G_CALLBACK (trouble_cb), counts);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 100000;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  put_message (f->store, 2, 1, 0, text);
  put_message (f->store, 3, 1, 2, "after it");
  test_wait (counts[0] == 1);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  test_wait (counts[1] == 1);
  messages = list_messages (f->store, 1);
  g_assert_cmpuint (messages->len, ==, 2);
  g_assert_cmpstr (((KvasirMessageRecord *) g_ptr_array_index (messages, 0))->content, ==, text);
}

/* A child writes one message after the other and says in a pipe which are committed, until it is
 * killed. What it said must be there. */
static void
told_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  guint64 id = GPOINTER_TO_SIZE (user_data) & 0xffffff;
  int fd = (int) (GPOINTER_TO_SIZE (user_data) >> 24);

  if (kvasir_store_write_finish (KVASIR_STORE (source), result, NULL))
    g_assert_cmpint (write (fd, &id, sizeof id), ==, sizeof id);
}

static void
write_until_killed (const char *path, int fd)
{
  KvasirStore *store = kvasir_store_new (path);
  KvasirStoreOpening *opening = NULL;

  kvasir_store_open_async (store, opened_cb, &opening);
  while (opening == NULL)
    g_main_context_iteration (NULL, TRUE);
  put_chat (store, 1, "killed");
  for (guint64 id = 2;; id++)
    {
      const KvasirMessageRecord message = { .id = id,
                                            .chat_id = 1,
                                            .state = KVASIR_MESSAGE_WRITING,
                                            .content = (char *) "typed by a person" };

      kvasir_store_put_message_async (store, &message, told_cb,
                                      GSIZE_TO_POINTER (id | ((gsize) fd << 24)));
      while (g_main_context_iteration (NULL, id % 16 == 0))
        ;
    }
}

static void
test_kill_loses_nothing_committed (Fixture *f, gconstpointer data)
{
  for (guint round = 0; round < 12; round++)
    {
      g_autoptr (GPtrArray) messages = NULL;
      guint64 last = 0;
      guint64 id;
      int fds[2];
      pid_t child;

      close_store (f);
      g_assert_cmpint (pipe (fds), ==, 0);
      child = fork ();
      if (child == 0)
        {
          write_until_killed (f->path, fds[1]);
          _exit (1);
        }
      close (fds[1]);
      /* A few commits, then the kill at some moment within the next. */
      for (guint i = 0; i < 3 + round; i++)
        g_assert_cmpint (read (fds[0], &last, sizeof last), ==, sizeof last);
      g_usleep (g_random_int_range (0, 6000));
      kill (child, SIGKILL);
      waitpid (child, NULL, 0);
      while (read (fds[0], &id, sizeof id) == sizeof id)
        last = id;
      close (fds[0]);
      open_store (f);
      g_assert_cmpint (f->opening->status, ==, KVASIR_STORE_KEPT);
      g_assert_cmpuint (f->opening->last_id, >=, last);
      g_assert_cmpuint (f->opening->n_interrupted, >, 0);
      messages = list_messages (f->store, 1);
      g_assert_cmpuint (messages->len, >=, last - 1);
      g_assert_cmpint (((KvasirMessageRecord *) g_ptr_array_index (messages, 0))->state, ==,
                       KVASIR_MESSAGE_INTERRUPTED);
    }
}

#define add(name, function)                                                                        \
  g_test_add ("/ui/store/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("keeps-everything", test_keeps_everything);
  add ("first-version-is-read", test_first_version_is_read);
  add ("chats-come-latest-first", test_chats_come_latest_first);
  add ("deleting-a-chat-takes-its-messages", test_deleting_a_chat_takes_its_messages);
  add ("message-of-a-deleted-chat-is-refused", test_message_of_a_deleted_chat_is_refused);
  add ("damaged-file-is-moved-aside", test_damaged_file_is_moved_aside);
  add ("damaged-page-is-moved-aside", test_damaged_page_is_moved_aside);
  add ("file-in-use-is-left-alone", test_file_in_use_is_left_alone);
  add ("newer-version-is-left-alone", test_newer_version_is_left_alone);
  add ("full-disk-loses-nothing", test_full_disk_loses_nothing);
  add ("search-finds-titles-and-texts", test_search_finds_titles_and_texts);
  add ("kill-loses-nothing-committed", test_kill_loses_nothing_committed);
  g_test_add_func ("/ui/store/ladder-climbs-from-each-version",
                   test_ladder_climbs_from_each_version);
  g_test_add_func ("/ui/store/failed-step-changes-nothing", test_failed_step_changes_nothing);
  g_test_add_func ("/ui/store/snippet-is-cut-between-characters",
                   test_snippet_is_cut_between_characters);
  return g_test_run ();
}
