/* Markdown as blocks: what people and models write, and what wants to do harm. */
#include <pango/pango.h>
#include <string.h>

#include "ui/base/display-text.h"
#include "ui/markdown/builder.h"
#include "ui/markdown/document.h"
#include "ui/markdown/inline.h"

static KvasirDocument *
parse (const char *text)
{
  return kvasir_document_new (text, strlen (text));
}

static const KvasirBlock *
get_block (KvasirDocument *document, guint i)
{
  g_assert_cmpuint (i, <, document->blocks->len);
  return g_ptr_array_index (document->blocks, i);
}

static void
check_markup (const char *markup)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *bare = NULL;
  GString *without_links = g_string_new (NULL);

  /* Links are GtkLabel's own; Pango knows the rest. */
  for (const char *p = markup; *p != '\0';)
    {
      if (g_str_has_prefix (p, "<a "))
        p = strchr (p, '>') + 1;
      else if (g_str_has_prefix (p, "</a>"))
        p += 4;
      else
        g_string_append_c (without_links, *p++);
    }
  pango_parse_markup (without_links->str, -1, 0, NULL, &bare, NULL, &error);
  g_assert_no_error (error);
  g_string_free (without_links, TRUE);
}

/* Whatever the text, every block can be shown. */
static void
check_document (KvasirDocument *document)
{
  for (guint i = 0; i < document->blocks->len; i++)
    {
      const KvasirBlock *block = get_block (document, i);

      if (block->kind == KVASIR_BLOCK_TEXT || block->kind == KVASIR_BLOCK_HEADING)
        check_markup (block->text);
      if (block->kind == KVASIR_BLOCK_CODE)
        g_assert_true (g_utf8_validate (block->text, -1, NULL));
      for (guint j = 0; block->cells != NULL && j < block->cells->len; j++)
        check_markup (g_ptr_array_index (block->cells, j));
      g_assert_cmpuint (block->indent, <=, 8);
      g_assert_cmpuint (block->n_quotes, <=, 8);
    }
}

static void
test_blocks (void)
{
  g_autoptr (KvasirDocument) document = parse ("# Head *line*\n\nA **bold** `x<y`.\n\n"
                                               "- one\n- two\n  1. deep\n\n"
                                               "> quoted\n\n---\n\n- [ ] open\n- [x] done\n");

  check_document (document);
  g_assert_cmpint (get_block (document, 0)->kind, ==, KVASIR_BLOCK_HEADING);
  g_assert_cmpstr (get_block (document, 0)->text, ==, "Head <i>line</i>");
  g_assert_cmpstr (get_block (document, 1)->text, ==, "A <b>bold</b> <tt>x&lt;y</tt>.");
  g_assert_cmpstr (get_block (document, 2)->marker, ==, "•");
  g_assert_cmpstr (get_block (document, 4)->marker, ==, "1.");
  g_assert_cmpuint (get_block (document, 4)->indent, ==, 2);
  g_assert_cmpuint (get_block (document, 5)->n_quotes, ==, 1);
  g_assert_cmpint (get_block (document, 6)->kind, ==, KVASIR_BLOCK_RULE);
  g_assert_cmpstr (get_block (document, 7)->marker, ==, "☐");
  g_assert_cmpstr (get_block (document, 8)->marker, ==, "☑");
  g_assert_cmpuint (document->blocks->len, ==, 9);
}

/* Cut between words, with the tags that are open closed and opened again. */
static void
test_long_paragraph_comes_in_pieces (void)
{
  GString *source = g_string_new ("**");
  GString *shown = g_string_new (NULL);
  g_autoptr (KvasirDocument) document = NULL;
  g_autofree char *expected = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (source, "word%u ", i);
  expected = g_strdup (source->str + 2);
  g_string_append (source, "end**");
  document = parse (source->str);
  check_document (document);
  g_assert_cmpuint (document->blocks->len, >, 3);
  for (guint i = 0; i < document->blocks->len; i++)
    {
      const KvasirBlock *block = get_block (document, i);

      g_assert_true (g_str_has_prefix (block->text, "<b>"));
      g_assert_true (g_str_has_suffix (block->text, "</b>"));
      g_assert_cmpuint (strlen (block->text), <=, KVASIR_PIECE_BYTES + 7);
      g_assert_cmpint (block->continues, ==, i > 0);
      g_string_append_len (shown, block->text + 3, (gssize) strlen (block->text) - 7);
    }
  g_string_truncate (shown, shown->len - 3);
  g_assert_cmpstr (shown->str, ==, expected);
  g_string_free (source, TRUE);
  g_string_free (shown, TRUE);
}

static void
test_code_keeps_its_text (void)
{
  g_autoptr (KvasirDocument) document = parse ("```c\nint a;\n\n  b &lt; <b>\n```\n");
  const KvasirBlock *block = get_block (document, 0);

  g_assert_cmpint (block->kind, ==, KVASIR_BLOCK_CODE);
  g_assert_cmpstr (block->language, ==, "c");
  g_assert_cmpstr (block->text, ==, "int a;\n\n  b &lt; <b>");
  g_assert_cmpstr (block->source, ==, "int a;\n\n  b &lt; <b>\n");
}

static void
test_long_code_comes_in_pieces (void)
{
  GString *text = g_string_new ("```\n");
  GString *shown = g_string_new (NULL);
  g_autoptr (KvasirDocument) document = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (text, "line %u\n", i);
  g_string_append (text, "```\n");
  document = parse (text->str);
  g_assert_cmpuint (document->blocks->len, ==, 5);
  for (guint i = 0; i < document->blocks->len; i++)
    {
      g_assert_cmpint (get_block (document, i)->continues, ==, i > 0);
      g_string_append_printf (shown, "%s\n", get_block (document, i)->text);
    }
  g_assert_cmpstr (shown->str, ==, get_block (document, 0)->source);
  g_string_free (text, TRUE);
  g_string_free (shown, TRUE);
}

static void
test_table (void)
{
  g_autoptr (KvasirDocument) document = parse ("| a | b |\n|:-:|--:|\n| 1 | **2** |\n");
  const KvasirBlock *block = get_block (document, 0);

  g_assert_cmpint (block->kind, ==, KVASIR_BLOCK_TABLE);
  g_assert_cmpuint (block->n_columns, ==, 2);
  g_assert_cmpuint (block->cells->len, ==, 4);
  g_assert_cmpstr (g_ptr_array_index (block->cells, 3), ==, "<b>2</b>");
  g_assert_cmpint (g_array_index (block->aligns, KvasirBlockAlign, 0), ==, KVASIR_ALIGN_CENTER);
  g_assert_cmpint (g_array_index (block->aligns, KvasirBlockAlign, 1), ==, KVASIR_ALIGN_END);
}

static void
test_nothing_is_fetched_or_run (void)
{
  g_autoptr (KvasirDocument) document =
      parse ("![secret](https://host/p?d=1) [local](file:///etc/passwd) [web](https://a.b/?x=1&y) "
             "<script>alert(1)</script> www.example.com\n\n<div onclick=\"x\">raw</div>\n");
  const char *text = get_block (document, 0)->text;

  check_document (document);
  g_assert_nonnull (strstr (text, "secret · https://host/p?d=1]"));
  g_assert_null (strstr (text, "href=\"file"));
  g_assert_nonnull (strstr (text, "<u>local</u> (file:///etc/passwd)"));
  g_assert_nonnull (strstr (text, "<a href=\"https://a.b/?x=1&amp;y\""));
  g_assert_nonnull (strstr (text, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  g_assert_null (strstr (text, "href=\"http://www.example"));
  g_assert_cmpstr (get_block (document, 1)->text, ==,
                   "&lt;div onclick=&quot;x&quot;&gt;raw&lt;/div&gt;");
}

static void
test_urls (void)
{
  g_assert_true (kvasir_url_is_allowed ("https://a"));
  g_assert_true (kvasir_url_is_allowed ("HTTP://a"));
  g_assert_true (kvasir_url_is_allowed ("mailto:a@b"));
  g_assert_false (kvasir_url_is_allowed ("file:///x"));
  g_assert_false (kvasir_url_is_allowed ("javascript:x"));
  g_assert_false (kvasir_url_is_allowed (" https://a"));
}

static void
test_display_marks_what_hides (void)
{
  static const struct
  {
    const char *from;
    const char *to;
  } cases[] = {
    { "plain\n\tText", "plain\n\tText" },
    { "\x1b[2J", "␛[2J" },
    { "a\x7f", "a␡" },
    { "a\xe2\x80\xae b", "a⟦U+202E⟧ b" },
    { "\xf3\xa0\x81\x81", "⟦U+E0041⟧" },
    { "\xc3\x28", "\xef\xbf\xbd(" },
    { "half \xf0\x9f\x8c", "half \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = kvasir_display_text (cases[i].from, -1);
      g_assert_cmpstr (shown, ==, cases[i].to);
    }
}

static void
test_display_limits_combining_marks (void)
{
  GString *text = g_string_new ("a");
  g_autofree char *shown = NULL;

  for (guint i = 0; i < 10000; i++)
    g_string_append (text, "\xcc\x81");
  shown = kvasir_display_text (text->str, -1);
  g_assert_cmpuint (strlen (shown), <, 100);
  g_string_free (text, TRUE);
}

static void
test_display_line_is_short (void)
{
  g_autofree char *line = kvasir_display_line ("  a \n\n b\tcdef ", 6);
  g_autofree char *whole = kvasir_display_line ("a b", 6);

  g_assert_cmpstr (line, ==, "a b cd…");
  g_assert_cmpstr (whole, ==, "a b");
}

/* Each beginning of a text is a text that was on screen at some moment. */
static void
test_every_beginning_of_a_stream (void)
{
  static const char text[] =
      "# T\n\n````md\n```c\nint *p = &x; // <>\n```\n````\n\n| a | b |\n|---|---|\n| `c` | **d |\n"
      "~~~\nopen fence\n~~~\n\n1. *one **two `three` four** five*\n   > quote\n\n"
      "[l](https://x.y/\"q\") <https://auto.link> &amp; &#x1F600; ä\xf0\x9f\x8c\x8d ![i](u\n"
      "\n<!-- open comment\n\n```";

  for (gsize len = 0; len <= sizeof text - 1; len++)
    {
      const char *end;
      g_autoptr (KvasirDocument) document = NULL;

      if (!g_utf8_validate (text, (gssize) len, &end))
        continue;
      document = kvasir_document_new (text, len);
      check_document (document);
    }
}

/* What was there stays equal while text is added, but for the last blocks. */
static void
test_stream_changes_the_end_only (void)
{
  GString *text = g_string_new (NULL);
  g_autoptr (KvasirDocument) before = NULL;

  for (guint i = 0; i < 40; i++)
    {
      g_autoptr (KvasirDocument) after = NULL;

      g_string_append_printf (text, "Paragraph %u with some words.\n\n- item\n- item\n\n", i);
      after = parse (text->str);
      for (guint j = 0; before != NULL && j + 2 < before->blocks->len; j++)
        g_assert_true (kvasir_block_equal (get_block (before, j), get_block (after, j)));
      g_clear_pointer (&before, kvasir_document_free);
      before = g_steal_pointer (&after);
    }
  g_string_free (text, TRUE);
}

static char *
repeat (const char *piece, guint n, const char *tail)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (out, piece);
  return g_string_free (g_string_append (out, tail), FALSE);
}

/* Inputs that are known to cost other programs seconds or their stack. */
static void
test_hostile_texts_stay_cheap (void)
{
  static const struct
  {
    const char *piece;
    guint n;
    const char *tail;
  } cases[] = {
    { "[", 32000, "]" },    { "[a](", 20000, "" },    { "> ", 4000, "x" },
    { "- ", 2000, "x" },    { "*a **b ", 9000, "" },  { "`", 40000, "a" },
    { "a| ", 20000, "\n" }, { "<", 60000, "" },       { "&", 60000, ";" },
    { "![", 20000, "" },    { "\\", 60000, "" },      { "A", 65536, "" },
    { "a*", 30000, "" },    { "_a_", 20000, "" },     { "~~a", 20000, "" },
    { "\n", 60000, "x" },   { "1. x\n", 20000, "" },  { "# h\n", 20000, "" },
    { "```\n", 20001, "" }, { "<a@b.c> ", 9000, "" }, { "\t", 60000, "x" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = repeat (cases[i].piece, cases[i].n, cases[i].tail);
      gint64 from = g_get_monotonic_time ();
      g_autoptr (KvasirDocument) document = parse (text);
      gint64 ms = (g_get_monotonic_time () - from) / 1000;

      g_test_message ("%u x “%s”: %d ms", cases[i].n, cases[i].piece, (int) ms);
      g_assert_cmpint (ms, <, 4000);
      check_document (document);
    }
}

static void
test_long_table_row (void)
{
  g_autofree char *row = repeat ("| www.example.com ", 3500, "|\n");
  g_autofree char *rule = repeat ("|---", 3500, "|\n");
  g_autofree char *text = g_strconcat (row, rule, row, NULL);
  gint64 from = g_get_monotonic_time ();
  g_autoptr (KvasirDocument) document = parse (text);

  g_assert_cmpint (g_get_monotonic_time () - from, <, 2 * G_USEC_PER_SEC);
  check_document (document);
  /* Too many cells for a grid: the source is shown instead. */
  for (guint i = 0; i < document->blocks->len; i++)
    g_assert_cmpint (get_block (document, i)->kind, !=, KVASIR_BLOCK_TABLE);
}

static void
test_blocks_are_limited (void)
{
  g_autofree char *text = repeat ("p\n\n", 5000, "the last words\n");
  g_autoptr (KvasirDocument) document = parse (text);
  const KvasirBlock *last = get_block (document, document->blocks->len - 1);

  g_assert_cmpuint (document->blocks->len, <=, KVASIR_MAX_BLOCKS + 20);
  g_assert_nonnull (strstr (last->text, "the last words"));
  g_assert_false (document->cut);
}

static void
test_huge_text_is_cut_and_says_so (void)
{
  g_autofree char *text = repeat ("some words and more of them\n", 60000, "");
  g_autoptr (KvasirDocument) document = parse (text);

  g_assert_true (document->cut);
  g_assert_cmpuint (document->blocks->len, <=, KVASIR_MAX_ALL_BLOCKS);
}

static void
test_plain_text_stays_plain (void)
{
  static const char text[] = "# no *head*\n<b>&amp;";
  g_autoptr (KvasirDocument) document = kvasir_document_new_plain (text, strlen (text));

  g_assert_cmpuint (document->blocks->len, ==, 1);
  g_assert_cmpstr (get_block (document, 0)->text, ==, "# no *head*\n&lt;b&gt;&amp;amp;");
}

static void
test_pieces_end_between_characters (void)
{
  static const char text[] = "ääää";

  g_assert_cmpuint (kvasir_text_get_piece ("hello world", 11, 8), ==, 6);
  g_assert_cmpuint (kvasir_text_get_piece (text, 8, 3), ==, 2);
  g_assert_cmpuint (kvasir_text_get_piece (text, 8, 100), ==, 8);
}

#define add(name, function) g_test_add_func ("/ui/markdown/" name, function)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("blocks", test_blocks);
  add ("long-paragraph-comes-in-pieces", test_long_paragraph_comes_in_pieces);
  add ("code-keeps-its-text", test_code_keeps_its_text);
  add ("long-code-comes-in-pieces", test_long_code_comes_in_pieces);
  add ("table", test_table);
  add ("nothing-is-fetched-or-run", test_nothing_is_fetched_or_run);
  add ("urls", test_urls);
  add ("display-marks-what-hides", test_display_marks_what_hides);
  add ("display-limits-combining-marks", test_display_limits_combining_marks);
  add ("display-line-is-short", test_display_line_is_short);
  add ("every-beginning-of-a-stream", test_every_beginning_of_a_stream);
  add ("stream-changes-the-end-only", test_stream_changes_the_end_only);
  add ("hostile-texts-stay-cheap", test_hostile_texts_stay_cheap);
  add ("long-table-row", test_long_table_row);
  add ("blocks-are-limited", test_blocks_are_limited);
  add ("huge-text-is-cut-and-says-so", test_huge_text_is_cut_and_says_so);
  add ("plain-text-stays-plain", test_plain_text_stays_plain);
  add ("pieces-end-between-characters", test_pieces_end_between_characters);
  return g_test_run ();
}
