#!/usr/bin/env python3
"""Random grammars, read by Kvasir and by llama.cpp: which texts are whole answers, and which tokens may follow.
Prints what differs and a line of counts; exits with 1 where something does.

Packages: llama-cpp-python==0.3.36
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "tools"))

from llama_grammar import Grammar, Vocab, comparable, guarded, is_answer  # noqa: E402

VOCAB = os.path.join(TESTS, "data", "vocab", "tiny-llama.gguf")
CHARS = ["a", "b", "c", "é", "漢", "😀", "\\n", "-", "\\\\", '\\"', "]", "[", "^", "\\x41", "\\u00e9", "\\U0001F600"]
TEXT = "aabbcc" + "aé漢😀\n-\\\"][^A0d"
MAX_SHOWN = 20


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def literal(self):
        return '"' + "".join(self.random.choice(CHARS) for _ in range(self.random.choice([0, 1, 1, 1, 2, 3]))) + '"'

    def klass(self):
        items = ["a-c", "b-é", "é-漢", "0-9", "\\x41-\\x5A", "\\u4e00-\\u9fff", "a-😀", "a", "b", "é", "\\\\", "\\]", "\\[", "\\n", "d", "😀"]
        inside = "".join(self.random.choice(items) for _ in range(self.random.randint(1, 3)))
        return "[" + self.random.choice(["", "", "^"]) + inside + "]"

    def item(self, depth, names):
        roll = self.random.random()
        if roll < 0.35:
            return self.literal()
        if roll < 0.55:
            return self.klass()
        if roll < 0.6:
            return "."
        if roll < 0.8 and names:
            return self.random.choice(names)
        if depth > 0:
            gap = self.random.choice(["", " ", "\n "])
            return "(" + gap + self.alternatives(depth - 1, names) + gap + ")"
        return self.literal()

    def sequence(self, depth, names):
        items = []
        for _ in range(self.random.choice([0, 1, 1, 2, 2, 3])):
            item = self.item(depth, names)
            if self.random.random() < 0.3:
                item += self.random.choice(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{3}"])
            items.append(item)
        return " ".join(items)

    def alternatives(self, depth, names):
        return " | ".join(self.sequence(depth, names) for _ in range(self.random.choice([1, 1, 2, 2, 3])))

    def grammar(self):
        names = [f"r{i}" for i in range(self.random.randint(0, 3))]
        return "".join(f"{name} ::= {self.alternatives(2, names)}\n" for name in ["root"] + names)

    def text(self):
        return "".join(self.random.choice(TEXT) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6])))


def ask_theirs(vocab, grammar, maker):
    state = Grammar(vocab, grammar)
    if not state.ok:
        return {"ok": False, "left": any(b"left recursion" in line for line in vocab.log)}
    walks, before = [], []
    for _ in range(maker.random.choice([1, 2, 4])):
        ids = comparable(vocab, grammar, before, state.allowed())
        walks.append([list(before), ids])
        onward = [i for i in ids if i not in vocab.ends]
        if not onward:
            break
        token = maker.random.choice(onward)
        state.accept(token)
        before.append(token)
    texts = [maker.text() for _ in range(8)]
    return {"ok": True, "walks": walks, "texts": [[text, is_answer(vocab, grammar, text)] for text in texts]}


def is_wider(grammar, theirs, error):
    """Where one side takes what the other refuses: known.

    There, what may be empty can't be repeated, nor an empty text; here, a rule that begins with itself behind one
    that may be empty is refused, which there is not noticed and may never end.
    """
    if theirs["ok"]:
        return "left recursion" in error
    return theirs["left"] or re.search(r'""[ \n]*[*+?{]', grammar) is not None


class Run:
    def __init__(self, probe, seed):
        self.vocab = Vocab(VOCAB)
        self.maker = Maker(seed)
        self.probe = subprocess.Popen([probe, VOCAB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.counts = dict(grammars=0, refused=0, wider=0, slow_there=0, texts=0, accepted=0, walks=0, differ=0)

    def ask_ours(self, question):
        self.probe.stdin.write(json.dumps(question) + "\n")
        self.probe.stdin.flush()
        return json.loads(self.probe.stdout.readline())

    def differ(self, *what):
        self.counts["differ"] += 1
        if self.counts["differ"] <= MAX_SHOWN:
            print(*(repr(part) for part in what))

    def one(self):
        grammar = self.maker.grammar()
        theirs = guarded(ask_theirs, self.vocab, grammar, self.maker)
        self.maker.random.random()
        self.counts["grammars"] += 1
        if theirs is None:
            self.counts["slow_there"] += 1
            return
        question = {
            "grammar": grammar,
            "texts": [text for text, _ in theirs.get("texts", [])],
            "walk": [before for before, _ in theirs.get("walks", [])],
        }
        ours = self.ask_ours(question)
        if ("error" in ours) == theirs["ok"]:
            if is_wider(grammar, theirs, ours.get("error")):
                self.counts["wider"] += 1
            else:
                self.differ(grammar, "llama.cpp reads it:", theirs["ok"], ours.get("error"))
        elif not theirs["ok"]:
            self.counts["refused"] += 1
        else:
            self.compare(grammar, theirs, ours)

    def compare(self, grammar, theirs, ours):
        for (text, expected), found in zip(theirs["texts"], ours["texts"]):
            self.counts["texts"] += 1
            self.counts["accepted"] += expected
            if expected != found:
                self.differ(grammar, text, "llama.cpp:", expected)
        for (before, expected), found in zip(theirs["walks"], ours["walk"]):
            self.counts["walks"] += 1
            found = comparable(self.vocab, grammar, before, found)
            if expected != found:
                self.differ(grammar, before, "only there:", sorted(set(expected) - set(found))[:9],
                            "only here:", sorted(set(found) - set(expected))[:9])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    args = parser.parse_args()
    # llama.cpp prints every grammar that it refuses.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    run = Run(os.path.join(args.build, "tests", "differ", "grammar-probe"), args.seed)
    for _ in range(args.n):
        run.one()
    print(f"grammars, seed {args.seed}:", ", ".join(f"{name} {n}" for name, n in run.counts.items()))
    sys.exit(1 if run.counts["differ"] > 0 else 0)


if __name__ == "__main__":
    main()
