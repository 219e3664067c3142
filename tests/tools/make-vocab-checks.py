#!/usr/bin/env python3
"""Writes the checks of tests/engine/vocab/test-vocab-random.c into a folder: make-vocab-checks.py DIR [COUNT]

Each file holds a vocabulary, the parts of which random texts are made, and for each text a digest of the
ids that another implementation gives: of WordPiece the PyPI package tokenizers, of unigrams sentencepiece,
which trains the vocabulary too, of RWKV the rule itself, tried on all tokens. The test makes the same texts
by the same generator, so the files stay small and no network is needed to run it.
"""

import base64
import json
import random
import struct
import sys
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_format
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
MARK = "\u2581"

# What the implementations do differently stays out of the texts: see tests/data/vocab/README.md.
PARTS = [
    " ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000",
    "a", "b", "e", "n", "o", "r", "s", "t", "A", "E", "T", "S", "1", "2", "17", "the", "The", "cache", "CACHE",
    "ing", "er", "token", "mem", "ory", "re", "un", "able", "bee", "honey", "xq", "zzzz", "aaaaaaaa",
    ".", ",", "!", "?", "'", "'s", "\"", "-", "--", "_", "(", ")", "[", "]", "{", "<", ">", "|", "@", "#", "$", "%",
    "^", "&", "*", "+", "=", "~", "`", "\\", "/", ":", ";", "\u2026", "\u2014", "\u201c", "\u2019", "\u20ac", "\u00a3", "\u00b7",
    "[CLS]", "[UNK]", "<s>", "</s>", "<unk>",
    "\u00e9", "e\u0301", "\u00fc", "\u00c5", "\u212b", "\u01d8", "\u0142", "\u00df", "\u1e9e", "\u0130", "\u00f1", "\u0301", "\u0323",
    "\u00bd", "\u00b2", "\ufb01", "\u2460", "\uff21", "\uff42", "\u2126", "\u00b5",
    "\u043c", "\u0451", "\u0419", "\u0435\u0434", "\u03b1", "\u03ac", "\u03a3", "\u03c2", "\u05d0", "\u05b8", "\u0627", "\u064e", "\u0915", "\u093c",
    "\u4e2d", "\u6587", "\u871c\u8702", "\u3042", "\u304c", "\u30d0", "\u3002", "\uff0c", "\u0e1c", "\u0e36",
    "\U0001f600", "\U0001f468\u200d\U0001f469", "\ufe0f", "\u200b", "\u200d", "\ufeff", "\u00ad", "\x01", "\x1b", "\x7f",
    "\U00010330", "\U0001d4d7", "\U0002000b",
]


class Texts:
    """The generator that the test has too: the upper half of a linear congruence, modulo 2^32."""

    def __init__(self, parts, seed):
        self.parts, self.state = parts, seed

    def draw(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 16) % n

    def next(self):
        return "".join(self.parts[self.draw(len(self.parts))] for _ in range(self.draw(13)))


def digest(ids):
    """FNV-1a over the ids as 32 bits each, folded to 16 bits."""
    value = 2166136261
    for byte in b"".join(struct.pack("<i", i) for i in ids):
        value = (value ^ byte) * 16777619 % 2**32
    return value >> 16 ^ value & 0xFFFF


def write(path, count, parts, encode, fields):
    texts = Texts(parts, 1)
    digests = b"".join(struct.pack("<H", digest(encode(texts.next()))) for _ in range(count))
    fields |= {"parts": parts, "digests": base64.b64encode(digests).decode()}
    with open(path, "w", encoding="utf-8") as out:
        json.dump(fields, out, ensure_ascii=True, separators=(",", ":"))
        out.write("\n")


def word_pieces(lower):
    """A random vocabulary of words and continuations, as pairs of this format's text and BERT's."""
    rng = random.Random(7)
    normal = normalizers.BertNormalizer(lowercase=lower)
    letters = sorted({c for part in PARTS for c in normal.normalize_str(part) if not c.isspace()})
    pieces = []
    for letter in letters:
        if rng.random() < 0.9:
            pieces.append((MARK + letter, letter))
        if rng.random() < 0.8:
            pieces.append((letter, "##" + letter))
    while len(pieces) < 700:
        word = normal.normalize_str("".join(rng.choice(PARTS[11:44]) for _ in range(rng.randint(1, 3))))
        word = word[: rng.randint(2, 9)]
        pieces.append((MARK + word, word) if rng.random() < 0.5 else (word, "##" + word))
    return list(dict.fromkeys(pieces))


def make_word_piece(path, count, lower):
    pieces = [("[UNK]", "[UNK]")] + word_pieces(lower)
    model = models.WordPiece({piece[1]: i for i, piece in enumerate(pieces)}, unk_token="[UNK]",
                             max_input_chars_per_word=10**9)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokens = [[piece[0], UNKNOWN if i == 0 else NORMAL, 0] for i, piece in enumerate(pieces)]
    write(path, count, PARTS, lambda text: tokenizer.encode(text).ids,
          {"model": "bert", "tokens": tokens, "unk": 0, "lowercase": lower})


# What the normaliser of the unigram vocabulary turns into what; sentencepiece compiles it.
RULES = {
    "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u2003": " ", "\u3000": " ", "\u200b": "", "\ufeff": "", "\u00ad": "", "\x01": "",
    "e\u0301": "\u00e9", "A\u030a": "\u00c5", "\u212b": "\u00c5", "\ufb01": "fi", "\u2460": "1", "\uff21": "A", "\uff42": "b", "\u00bd": "1\u20442",
    "\u00b2": "2", "\u2126": "\u03a9", "\u00b5": "\u03bc", "--": "\u2014", "\u4e2d": "\u6587", "\U0001d4d7": "H",
}


def train(folder, joins, **changes):
    rng = random.Random(11)
    weights = [1 / (i % 23 + 1) for i in range(len(PARTS))]
    with open(folder + "/rules.tsv", "w", encoding="utf-8") as out:
        for source, target in RULES.items():
            out.write("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in (source, target)) + "\n")
    with open(folder + "/text.txt", "w", encoding="utf-8") as out:
        for _ in range(4000):
            words = ["".join(rng.choices(PARTS[11:], weights[11:], k=rng.randint(1, 3))) for _ in range(8)]
            out.write(" ".join(words).replace("\r", "").replace("\n", "") + "\n")
    options = {"vocab_size": 400, "model_type": "unigram", "normalization_rule_tsv": folder + "/rules.tsv",
               "hard_vocab_limit": False}
    if changes:
        options = changes
    sentencepiece.SentencePieceTrainer.train(
        input=folder + "/text.txt", model_prefix=folder + "/model", character_coverage=0.98,
        remove_extra_whitespaces=joins, num_threads=1, minloglevel=2, **options)
    return folder + "/model.model"


def make_unigram(path, count, joins):
    with tempfile.TemporaryDirectory() as folder:
        name = train(folder, joins)
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=name)
        model = model_format.ModelProto()
        with open(name, "rb") as source:
            model.ParseFromString(source.read())
    # Blanks alone get no prefix in this format, and everything else does.
    model.normalizer_spec.add_dummy_prefix = False
    bare = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    tokens = [[piece.piece, piece.type, piece.score] for piece in model.pieces]
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    write(path, count, PARTS, lambda text: (tokenizer if tokenizer.normalize(text).strip(MARK) else bare).encode(text),
          {"model": "t5", "tokens": tokens, "unk": 0, "joins": joins, "prefix": True, "charsmap": charsmap})


def make_text_bpe(path, count):
    """Ranked merges of plain characters, with a token for each byte, as Gemma 4 has them."""
    rng = random.Random(19)
    letters = sorted({c for part in PARTS for c in part.replace(" ", MARK) if rng.random() < 0.95} | {MARK})
    texts, merges = [f"<0x{b:02X}>" for b in range(256)] + letters, []
    while len(merges) < 500:
        left, right = rng.choice(texts[256:]), rng.choice(texts[256:])
        if "\n" in (left + right).strip("\n") or (right.startswith(MARK) and left.strip(MARK)):
            continue
        if len(left + right) <= 6 and left + right not in texts:
            merges.append((left, right))
            texts.append(left + right)
    model = models.BPE({text: i for i, text in enumerate(texts)}, merges, byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[^\n]+|[\n]+"), "isolated")
    tokens = [[text, BYTE if i < 256 else NORMAL, 0] for i, text in enumerate(texts)]
    write(path, count, PARTS, lambda text: tokenizer.encode(text).ids,
          {"model": "gemma4", "tokens": tokens, "merges": [" ".join(merge) for merge in merges]})


def make_spm(path, count):
    """SPM files come from sentencepiece's own pair merges, with a token for each byte."""
    with tempfile.TemporaryDirectory() as folder:
        train(folder, False, model_type="bpe", byte_fallback=True, vocab_size=800, normalization_rule_name="identity")
        with open(folder + "/model.model", "rb") as source:
            proto = source.read()
    tokenizer = sentencepiece.SentencePieceProcessor(model_proto=proto)
    model = model_format.ModelProto()
    model.ParseFromString(proto)
    tokens = [[piece.piece, piece.type, piece.score] for piece in model.pieces]
    write(path, count, PARTS, tokenizer.encode, {"model": "llama", "tokens": tokens, "unk": 0, "prefix": True})


def escape(raw):
    names = {9: "\\t", 10: "\\n", 13: "\\r", 39: "\\'", 92: "\\\\"}
    return "".join(names.get(b, chr(b) if 32 <= b < 127 else f"\\x{b:02x}") for b in raw)


def make_rwkv(path, count):
    rng = random.Random(13)
    raws = {bytes([b]) for b in range(256) if rng.random() < 0.9}
    while len(raws) < 900:
        text = "".join(rng.choice(PARTS) for _ in range(rng.randint(1, 4))).encode()
        start = rng.randrange(len(text))
        raws.add(text[start : start + rng.randint(1, 8)])
    raws = sorted(raws - {b"<s>", b"</s>"})  # texts that only the model itself may write

    def encode(text):
        ids, rest = [], text.encode()
        while rest:
            best = max((raw for raw in raws if rest.startswith(raw)), key=len, default=None)
            if best is not None:
                ids.append(raws.index(best) + 1)
            rest = rest[len(best or b"?") :]
        return ids

    tokens = [["<s>", CONTROL, 0]] + [[escape(raw), NORMAL, 0] for raw in raws]
    write(path, count, PARTS, encode, {"model": "rwkv", "tokens": tokens})


def main():
    folder = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    make_word_piece(folder + "/random-wpm.json", count, True)
    make_word_piece(folder + "/random-wpm-cased.json", count, False)
    make_unigram(folder + "/random-ugm.json", count, True)
    make_unigram(folder + "/random-ugm-spaces.json", count, False)
    make_text_bpe(folder + "/random-text-bpe.json", count)
    make_spm(folder + "/random-spm.json", count)
    make_rwkv(folder + "/random-rwkv.json", min(count, 20000))


main()
