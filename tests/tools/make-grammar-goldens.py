#!/usr/bin/env python3
"""Has llama.cpp say which texts grammars allow and which tokens may follow in them.

    make-grammar-goldens.py VOCAB.gguf > tests/data/grammar/gbnf.jsonl

One grammar a line: the texts that are whole answers, those that are not, and for some beginnings of answers, as
ids, the ids that may follow. The grammars are written for this purpose; the texts are chosen by hand, and the
beginnings at random.

Needs: pip install llama-cpp-python==0.3.36
"""

import json
import random
import sys

from llama_grammar import Grammar, Vocab, comparable, is_answer

CASES = [
    ('root ::= "a" "bc" | "d"', ["abc", "d", "ab", "abcd", "", "ad"]),
    ('root ::= "\\x41\\u00e9\\U0001F600\\n\\t\\r\\"\\\\"', ["Aé😀\n\t\r\"\\", "Aé😀\n\t\r\"", "Aé"]),
    ('root ::= [a-c] [^a-c] [-x] [x-] [\\]\\[] [\\n\\x41-\\u0043]', ["ad--]\n", "cx-x[C", "aax-]A", "ad--]D"]),
    ('root ::= [é-漢]+ "!"', ["éé!", "漢é!", "a!", "字!", "!"]),
    ("root ::= . . .", ["abc", "é漢😀", "\n\n\n", "ab", "abcd"]),
    ('root ::= ("a" | "b" "c")* "d"', ["d", "ad", "bcd", "abcabcd", "bd", "acd"]),
    ('root ::= "a"+ "b"? "c"{2} "d"{1,} "e"{0,2}', ["accd", "aabccdddee", "acd", "ccd", "accdeee", "accde"]),
    ('root ::= "ab"{2,3}', ["abab", "ababab", "ab", "abababab", "aba"]),
    ('root ::= ( "a"{1,2} "b" ){2,3}', ["abab", "aabab", "aabaabab", "ab", "aaabab"]),
    ('root ::= "a" | ', ["a", "", "b"]),
    ('root ::= ""', ["", "a"]),
    ('root ::= x\nx ::= "a" x "b" | "c"', ["c", "acb", "aacbb", "acbb", "aacb"]),
    ('root ::= "a" root "a" | "b" root "b" | "c"', ["c", "aca", "abcba", "abcab", "aabacabaa"]),
    ('root ::= "a" root root | "b"', ["b", "abb", "aabbb", "ababb", "ab", "abbb"]),
    ('# a list\nroot ::= item (", " item)* # of items\n\nitem ::= [0-9]+ |\n  "x"', ["1", "12, x, 3", "x,x", "1, "]),
    ('root ::= (\n  "a" # first\n  | "b"\n) "c"', ["ac", "bc", "c", "ab"]),
    ('root ::= a-1 B2\na-1 ::= "x"\nB2 ::= "y"', ["xy", "x", "y"]),
    ('root ::= [a-zA-Z_] [a-zA-Z0-9_]*', ["a", "_b9", "9a", "a-b", "A" * 50]),
    ('root ::= ("a" | "aa" | "aaa")+ "b"', ["ab", "aaaaaaab", "b", "aaa"]),
    (
        'root ::= object\n'
        'value ::= object | array | string | number | ("true" | "false" | "null") ws\n'
        'object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws\n'
        'array ::= "[" ws (value ("," ws value)*)? "]" ws\n'
        'string ::= "\\"" ([^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\\"" ws\n'
        'number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws\n'
        'ws ::= | " " | "\\n" [ \\t]{0,20}\n',
        ['{}', '{"a":1}', '{"a": [1, 2.5e3, {"b": null}]}', '{"a":}', '{"a":1,}', '[1]', '{"é": "\\u00e9\\n"}', '{\n  "a": true}'],
    ),
]


def make_case(vocab, grammar, texts, rng):
    case = {"grammar": grammar, "yes": [], "no": [], "next": []}
    for text in texts:
        case["yes" if is_answer(vocab, grammar, text) else "no"].append(text)
    state = Grammar(vocab, grammar)
    before = []
    for _ in range(6):
        ids = comparable(vocab, grammar, before, state.allowed())
        case["next"].append([list(before), ids])
        onward = [i for i in ids if i not in vocab.ends]
        if not onward:
            break
        token = rng.choice(onward)
        state.accept(token)
        before.append(token)
    state.close()
    return case


def main():
    vocab = Vocab(sys.argv[1])
    rng = random.Random(1)
    for grammar, texts in CASES:
        print(json.dumps(make_case(vocab, grammar, texts, rng), separators=(",", ":")))


if __name__ == "__main__":
    main()
