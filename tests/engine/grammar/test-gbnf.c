/* Reading grammars: what is refused and where, and what each part of the notation lets through. */
#include "tests/engine/grammar/support.h"

#include <string.h>

static void
test_errors_say_where (void)
{
  static const struct
  {
    const char *text;
    const char *message;
  } cases[] = {
    { "", "Grammar, line 1, column 1: there is no rule called 'root'" },
    { "a ::= \"b\"\n", "Grammar, line 2, column 1: there is no rule called 'root'" },
    { "root := \"a\"", "Grammar, line 1, column 6: expected '::=', found ':'" },
    { "root ::= \"a\n", "Grammar, line 1, column 12: expected '\"' that ends the literal, found a "
                        "new line" },
    { "root ::= \"\\q\"",
      "Grammar, line 1, column 12: expected one of n r t \" \\ [ ] x u U behind "
      "the backslash, found 'q'" },
    { "root ::= \"\\x4\"",
      "Grammar, line 1, column 14: expected a hexadecimal digit of the escape, "
      "found '\"'" },
    { "root ::= \"\\uD800\"", "Grammar, line 1, column 13: U+D800 is no character" },
    { "root ::= [a", "Grammar, line 1, column 12: expected a character, found the end" },
    { "root ::= []", "Grammar, line 1, column 11: expected a character of the class, found ']'" },
    { "root ::= [c-a]", "Grammar, line 1, column 11: the range from U+0063 to U+0061 runs "
                        "backwards" },
    { "root ::= (\"a\"\n | \"b\"", "Grammar, line 2, column 7: expected ')', found the end" },
    { "root ::= *", "Grammar, line 1, column 10: expected something to repeat before it, found "
                    "'*'" },
    { "root ::= \"a\"{2", "Grammar, line 1, column 15: expected '}', found the end" },
    { "root ::= \"a\"{x}", "Grammar, line 1, column 14: expected a number, found 'x'" },
    { "root ::= \"a\"{3,2}", "Grammar, line 1, column 13: at least 3 but at most 2 times" },
    { "root ::= \"a\"{9999999999}", "Grammar, line 1, column 14: the number is above 4294967294" },
    { "root ::= \"é\" )", "Grammar, line 1, column 14: expected more of the rule or a new line, "
                          "found ')'" },
    { "root ::= a\n  b\n", "Grammar, line 2, column 4: expected '::=', found a new line" },
    { "root ::= a\na ::= b c\nb ::= \"x\"",
      "Grammar, line 2, column 9: the rule 'c' is used here but "
      "defined nowhere" },
    { "root ::= \"a\"\nroot ::= \"b\"",
      "Grammar, line 2, column 1: the rule 'root' is there twice" },
    { "root ::= \"\x01\" \x01",
      "Grammar, line 1, column 14: expected more of the rule or a new line, "
      "found U+0001" },
    { "root ::= \"a\xff\"", "Grammar, line 1, column 12: expected UTF-8, found the byte 0xFF" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, cases[i].message);
}

static void
test_left_recursion_is_named (void)
{
  assert_refused ("root ::= list\nlist ::= list \",\" \"a\" | \"a\"",
                  "Grammar, line 2, column 1: the rule 'list' begins with itself (left recursion)");
  assert_refused (
      "root ::= \"x\" e\ne ::= s? (t | \"b\")\ns ::= \"-\"\nt ::= (\"\" | \"q\") e \"c\"",
      "Grammar, line 2, column 1: the rule 'e' begins with itself (left recursion)");
  assert_refused ("root ::= (\"a\"? root)*",
                  "Grammar, line 1, column 1: the rule 'root' begins with itself (left recursion)");
}

static void
test_tokens_are_named_exactly (void)
{
  assert_refused ("root ::= <[5000]>",
                  "Grammar, line 1, column 10: there is no token 5000, the model has 1786");
  assert_refused ("root ::= <[5>",
                  "Grammar, line 1, column 13: expected ']>' behind the token's number, found '>'");
  assert_refused ("root ::= <a",
                  "Grammar, line 1, column 12: expected '>' that ends the token's text, "
                  "found the end");
  assert_refused ("root ::= !a",
                  "Grammar, line 1, column 11: expected a token in '<' and '>', found "
                  "'a'");
  assert_refused ("root ::= <nothing like it>",
                  "Grammar, line 1, column 10: expected a text that is one token, "
                  "<nothing like it> is 9");
}

static void
test_limits (void)
{
  g_autoptr (GString) deep = g_string_new ("root ::= ");
  for (guint i = 0; i < 300; i++)
    g_string_append_c (deep, '(');
  assert_refused (deep->str, "Grammar, line 1, column 210: groups are nested more than 200 deep");

  g_autoptr (GString) many = g_string_new ("root ::= ");
  for (guint i = 0; i < 300000; i++)
    g_string_append (many, "()");
  assert_refused (many->str, "Grammar, line 1, column 524296: more than 262144 rules and groups");

  g_autoptr (GString) kinds = g_string_new ("root ::= \"");
  for (gunichar c = 0x20000; c < 0x20000 + 0x24000; c += 2)
    g_string_append_unichar (kinds, c);
  g_string_append_c (kinds, '"');
  assert_refused (kinds->str, "The grammar tells 147457 kinds of characters apart, at most 65536 "
                              "can be");
}

/* Wider than the notation's other readers: a line may begin with the bar, bounds may lack the
 * first number, an empty text may be repeated. */
static void
test_wider_notation (void)
{
  g_autoptr (KvasirGrammar) bars =
      make_grammar ("root ::= \"a\"\n  | \"b\"\n\n  | \"c\"\nx ::= \"d\"");
  g_assert_true (matches (bars, "c", -1));
  g_assert_false (matches (bars, "d", -1));
  g_autoptr (KvasirGrammar) bounds = make_grammar ("root ::= \"a\"{,2} \"\"{3} [b\\-\\^]{ 1 , 2 }");
  g_assert_true (matches (bounds, "aab", -1));
  g_assert_true (matches (bounds, "-^", -1));
  g_assert_false (matches (bounds, "aaab", -1));
  g_autoptr (KvasirGrammar) stacked = make_grammar ("root ::= \"ab\"{2}{2}? \"a\"{0} \"c\"");
  g_assert_true (matches (stacked, "ababababc", -1));
  g_assert_true (matches (stacked, "c", -1));
  g_assert_false (matches (stacked, "ababc", -1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/grammar/errors-say-where", test_errors_say_where);
  g_test_add_func ("/engine/grammar/left-recursion-is-named", test_left_recursion_is_named);
  g_test_add_func ("/engine/grammar/tokens-are-named-exactly", test_tokens_are_named_exactly);
  g_test_add_func ("/engine/grammar/limits", test_limits);
  g_test_add_func ("/engine/grammar/wider-notation", test_wider_notation);
  return g_test_run ();
}
