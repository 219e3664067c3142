#!/usr/bin/env python3
"""Random texts cut into tokens, and the tokens turned back into text, by Kvasir and by llama.cpp: for
each kind of tokenizer with the vocabularies at hand, for BPE with every pre-tokenizer. Prints a line
for each kind; exits with 1 where something differs that vocabularies.md does not explain.

Packages: llama-cpp-python==0.3.36
"""

import argparse
import base64
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "tools"))
import gguf_file  # noqa: E402

ADD_SPECIAL, PARSE_SPECIAL, FROM_IDS = 1, 2, 4
MAX_SHOWN = 10
N_VARIANTS = 6
MODELS = os.path.join(os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")), "kvasir", "models")
LETTERS = list("abdelmrstvzABDELMSTVZ0123456789   \t\n\r\v'''.,:;!?-_/\\()[]{}<>|@#$%^&*+=~`\"") + list(
    "éßÉǅªʰΩωДдעا中五のカ한ㄱ½²Ⅳ٣…—“”‘。，、।۔،　\u00a0\u2003\u200b\u200d\u0301\u0903\u20dd€©😀𐐀ሀไခក")
MARKS = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "[CLS]", "[SEP]", "[UNK]", "<unk>", "<bos>",
         "<start_of_turn>", "<end_of_turn>", "<0x0A>", "▁", "▁▁", "<|", "|>", "\n\n", "    ", "n't", "'ll", " the"]


def read_parts():
    with open(os.path.join(TESTS, "data", "vocab", "random-wpm.json"), encoding="utf-8") as file:
        return json.load(file)["parts"]


class Texts:
    """Random texts: of letters that scanners look at, of parts of words, and of any character."""

    def __init__(self, seed):
        self.random, self.parts = random.Random(seed), read_parts()

    def any_character(self):
        while True:
            c = chr(self.random.choice((self.random.randrange(1, 0x3000), self.random.randrange(1, 0x20000))))
            if unicodedata.category(c) not in ("Cs", "Cn", "Co"):
                return c

    def part(self, style):
        if style == 0:
            return self.random.choice(LETTERS) * self.random.choice((1, 1, 1, 1, 2, 5))
        roll = self.random.random()
        if roll < 0.15:
            return self.random.choice(MARKS)
        if roll < 0.2:
            return self.any_character()
        if roll < 0.3:
            return self.random.choice(LETTERS)
        return self.random.choice(self.parts)

    def next(self):
        style = self.random.randrange(2)
        return "".join(self.part(style) for _ in range(self.random.randint(0, 16)))


# ---- vocabularies ---------------------------------------------------------------------------


def list_byte_texts():
    texts = []
    for byte in range(256):
        prints = 33 <= byte <= 126 or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        texts.append(chr(byte) if prints else chr(256 + sum(ord(text) >= 256 for text in texts)))
    return texts


def write_pairs(path, pre):
    """A vocabulary of all pairs of bytes, by which one sees where a text was cut."""
    texts = list_byte_texts()
    used = sorted({byte for letter in LETTERS for byte in letter.encode()})
    pairs = [(texts[a], texts[b]) for a in used for b in used]
    random.Random(3).shuffle(pairs)
    tokens = texts + [a + b for a, b in pairs]
    gguf_file.write(path, [
        ("general.architecture", "str", "llama"), ("tokenizer.ggml.model", "str", "gpt2"),
        ("tokenizer.ggml.pre", "str", pre), ("tokenizer.ggml.tokens", "[str]", tokens),
        ("tokenizer.ggml.token_type", "[i32]", [1] * len(tokens)),
        ("tokenizer.ggml.merges", "[str]", [f"{a} {b}" for a, b in pairs]),
        ("tokenizer.ggml.bos_token_id", "u32", 0), ("tokenizer.ggml.eos_token_id", "u32", 1)])


def draw_flags(rng):
    """Rules that a file can state: each, or not."""
    names = ("add_bos_token", "add_eos_token", "add_space_prefix", "remove_extra_whitespaces")
    return {name: rng.random() < 0.5 for name in names if rng.random() < 0.7}


def draw_added(path, rng):
    """A random vocabulary has some of its tokens user-defined: those of a unigram file."""
    with open(path, encoding="utf-8") as file:
        fields = json.load(file)
    return rng.sample([token[0] for token in fields["tokens"][3:]], 4) if fields["model"] == "t5" else []


def write_random(path, source, flags, added):
    """One of the random vocabularies of the unit tests, with @flags instead of its own, and tokens @added."""
    with open(source, encoding="utf-8") as file:
        fields = json.load(file)
    texts, kinds, scores = zip(*fields["tokens"])
    kinds = [4 if text in added else kind for text, kind in zip(texts, kinds)]
    keys = [("general.architecture", "str", "llama"), ("tokenizer.ggml.model", "str", fields["model"]),
            ("tokenizer.ggml.pre", "str", "default"), ("tokenizer.ggml.tokens", "[str]", texts),
            ("tokenizer.ggml.token_type", "[i32]", kinds), ("tokenizer.ggml.scores", "[f32]", scores)]
    for name in ("bos", "eos", "unknown", "cls", "seperator", "padding"):
        keys.append((f"tokenizer.ggml.{name}_token_id", "u32", 0))
    for name, key in (("lowercase", "normalizer.lowercase"), ("joins", "remove_extra_whitespaces"),
                      ("prefix", "add_space_prefix")):
        if name in fields and key not in flags:
            keys.append(("tokenizer.ggml." + key, "bool", fields[name]))
    keys += [("tokenizer.ggml." + name, "bool", value) for name, value in flags.items()]
    if "merges" in fields:
        keys.append(("tokenizer.ggml.merges", "[str]", fields["merges"]))
    if "charsmap" in fields:
        keys.append(("tokenizer.ggml.precompiled_charsmap", "[u8]", base64.b64decode(fields["charsmap"])))
    gguf_file.write(path, keys)


def list_pre_tokenizers():
    """The names of the table, out of its source."""
    with open(os.path.join(TESTS, "..", "engine", "vocab", "pretokenizer.c"), encoding="utf-8") as file:
        source = file.read()
    # llama.cpp knows minerva by its longer name alone, and gives up at whitespace where that has no token.
    return [name for name in re.findall(r'(?:\.name = |[A-Z0-9_]+ \()"([^"]+)"', source[source.index("pre_tokenizers[]"):])
            if name not in ("minerva", "whitespace")]


def collect(folder, folders, seed, added_of):
    """Paths of vocabularies, by kind, and in @added_of the user-defined tokens of some."""
    rng = random.Random(seed)
    found = {"BPE": [], "SPM": [], "WPM": [], "UGM": [], "RWKV": []}
    kinds = {"gpt2": "BPE", "gemma4": "BPE", "llama": "SPM", "bert": "WPM", "t5": "UGM", "rwkv": "RWKV"}
    for source in sorted(glob.glob(os.path.join(TESTS, "data", "vocab", "random-*.json"))):
        with open(source, encoding="utf-8") as file:
            kind = kinds[json.load(file)["model"]]
        for variant in range(N_VARIANTS):
            path = os.path.join(folder, f"{os.path.basename(source)[:-5]}-{variant}.gguf")
            added_of[path] = draw_added(source, rng) if variant > 2 else []
            write_random(path, source, draw_flags(rng) if variant > 0 else {}, added_of[path])
            found[kind].append(path)
    for directory in [os.path.join(TESTS, "data", "vocab"), MODELS, *folders]:
        for path in sorted(glob.glob(os.path.join(directory, "*.gguf"))):
            with open(path, "rb") as file:
                head = file.read(1 << 16)
            at = head.find(b"tokenizer.ggml.model\x08\0\0\0")
            if at >= 0:
                n = struct.unpack_from("<Q", head, at + 24)[0]
                found[kinds[head[at + 32 : at + 32 + n].decode()]].append(path)
    for pre in list_pre_tokenizers():
        path = os.path.join(folder, f"pre-{pre}.gguf")
        write_pairs(path, pre)
        found["BPE"].append(path)
    return found


# ---- comparing ------------------------------------------------------------------------------


def ask(command, requests):
    """@requests: flags and bytes. Returns the answers, or None where the program refuses the file."""
    stream = b"".join(struct.pack("<BI", flags, len(raw)) + raw for flags, raw in requests)
    done = subprocess.run(command, input=stream, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    answers, at = [], 0
    while at < len(done.stdout):
        n = struct.unpack_from("<I", done.stdout, at)[0]
        answers.append(done.stdout[at + 4 : at + 4 + n])
        at += 4 + n
    return answers


class Tally:
    def __init__(self, added=()):
        self.added = added
        self.n_texts = self.n_back = self.n_explained = self.n_differ = self.n_refused = 0

    def add(self, path, what, mine, theirs, kind):
        if mine == theirs:
            return
        if is_explained(kind, what, mine, theirs, self.added):
            self.n_explained += 1
            return
        self.n_differ += 1
        if self.n_differ <= MAX_SHOWN:
            print(json.dumps({"vocabulary": os.path.basename(path), "input": what, "kvasir": mine, "llama.cpp": theirs},
                             ensure_ascii=False))


def is_torn(raw, added):
    """Whether something begins like a user-defined token, but is none."""
    for i in range(len(raw)):
        path = max((os.path.commonprefix([raw[i:], token]) for token in added), key=len, default=b"")
        if path and path not in added:
            return True
    return False


def is_explained(kind, what, mine, theirs, added):
    """See vocabularies.md; @what is the flags and the text, or the ids."""
    text = what[1]
    if not isinstance(text, str):
        return False
    if kind == "RWKV":
        return "<s>" in text and theirs.count(0) > mine.count(0)
    if kind == "UGM":
        return is_torn(text.encode(), [token.encode() for token in added])
    # llama.cpp does not read the file's own id of [CLS].
    return kind == "WPM" and theirs[:1] == [101] and mine[1:] == theirs[1:]


def list_ids(raw):
    return list(struct.unpack(f"<{len(raw) // 4}i", raw))


def compare(path, kind, texts, n, commands, tally):
    requests = [(texts.random.randrange(4), texts.next().encode()) for _ in range(n)]
    mine, theirs = ask([commands[0], path], requests), ask([*commands[1], path], requests)
    if mine is None or theirs is None:
        tally.n_refused += 1
        print(f"{os.path.basename(path)}: refused by {'Kvasir' if mine is None else 'llama.cpp'}")
        return
    tally.n_texts += n
    for (flags, raw), a, b in zip(requests, mine, theirs):
        tally.add(path, [flags, raw.decode()], list_ids(a), list_ids(b), kind)
    requests = [(FROM_IDS | flags & PARSE_SPECIAL, ids) for (flags, _), ids in zip(requests, theirs)]
    mine, theirs = ask([commands[0], path], requests), ask([*commands[1], path], requests)
    tally.n_back += n
    for (flags, ids), a, b in zip(requests, mine, theirs):
        tally.add(path, [flags, list_ids(ids)], a.decode(errors="replace"), b.decode(errors="replace"), kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=200000, help="texts for each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--folder", action="append", default=[], help="more vocabularies")
    parser.add_argument("--kind", help="one kind alone")
    args = parser.parse_args()
    commands = (os.path.join(args.build, "tests", "differ", "tokenize"),
                [sys.executable, os.path.join(TESTS, "tools", "peer-tokenize.py")])
    texts, n_differ = Texts(args.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        added_of = {}
        for kind, paths in collect(folder, args.folder, args.seed, added_of).items():
            tally = Tally()
            if args.kind not in (None, kind):
                continue
            for path in paths:
                tally.added = added_of.get(path, ())
                compare(path, kind, texts, -(-args.n // len(paths)), commands, tally)
            print(f"{kind}: {tally.n_texts} texts and {tally.n_back} rows of tokens with {len(paths)} vocabularies, "
                  f"{tally.n_explained} differ as explained, {tally.n_differ} differ, seed {args.seed}", flush=True)
            n_differ += tally.n_differ + tally.n_refused
    sys.exit(n_differ > 0)


if __name__ == "__main__":
    main()
