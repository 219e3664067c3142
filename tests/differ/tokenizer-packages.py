#!/usr/bin/env python3
"""Vocabularies that the packages tokenizers and sentencepiece learn from texts, written as model files:
random texts cut into tokens by Kvasir and by the package, and the tokens turned back into text. Prints a
line for each kind; exits with 1 where something differs that vocabularies.md does not explain.

Packages: tokenizers==0.23.3 sentencepiece==0.2.3 protobuf==7.36.2
"""

import argparse
import glob
import io
import json
import os
import random
import re
import sys
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_format
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

import vocabularies
from vocabularies import ADD_SPECIAL, FROM_IDS, LETTERS, PARSE_SPECIAL, TESTS, gguf_file

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
MARK = "\u2581"
SPECIAL = ["<s>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>"]
ADDED = ["<tool>", "[[x]]", "{ <<", "—x…"]

# ---- what models' own files say --------------------------------------------------------------

CON0, CON = "'s|'t|'re|'ve|'m|'ll|'d", "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = CON0 + r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"(?:(?=\p{L})[^a-z])", r"(?:(?=\p{L})[^A-Z])"


def llama3(digits):
    return CON + rf"|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*" + TAIL


def o200(digits, ending):
    start = r"[^\r\n\p{L}\p{N}]?"
    return (rf"{start}{UPPER}*{LOWER}+{ending}|{start}{UPPER}+{LOWER}*{ending}|\p{{N}}{digits}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + TAIL)


# Expressions, whether a piece that is a token is taken at once, and whether text is cleaned up.
BPE = {
    "gpt-2": ([GPT2], False, True),
    "smollm": ([r"\p{N}", GPT2], False, False),
    "starcoder": ([r"\p{N}", GPT2], False, True),
    "llama-bpe": ([llama3("{1,3}")], True, True),
    "dbrx": ([llama3("{1,3}")], False, True),
    "qwen2": ([llama3("")], False, False),
    "qwen35": ([CON + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + TAIL], False, False),
    "gpt-4o": ([o200("{1,3}", f"(?:{CON})?")], False, False),
    "tekken": ([o200("", "")], True, False),
    "deepseek-v3": ([r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+",
                     r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                     r"| ?[\p{P}\p{S}]+[\r\n]*" + TAIL], False, False),
    "bloom": ([" ?[^(\\s|.,!?…。，、।۔،)]+"], False, True),
}

# ---- texts -----------------------------------------------------------------------------------


def is_old(c):
    """Characters that all tables know, and know alike."""
    category = unicodedata.category(c)
    return category == unicodedata.ucd_3_2_0.category(c) and category not in ("Cs", "Cn", "Co")


class Texts(vocabularies.Texts):
    def any_character(self):
        while True:
            c = super().any_character()
            if is_old(c):
                return c

    def part(self, style):
        if self.random.random() < 0.04:
            return self.random.choice(SPECIAL + ADDED)
        return super().part(style)


def read_corpus(texts):
    """Something to learn from: what is written in this tree, and random texts."""
    lines = []
    for path in sorted(glob.glob(os.path.join(TESTS, "..", "*", "**", "*.md"), recursive=True))[:60]:
        with open(path, encoding="utf-8") as file:
            lines += file.read().splitlines()
    lines += [texts.next() for _ in range(3000)]
    # What is to be a special token must not be learnt as a text besides.
    return [re.sub("|".join(map(re.escape, SPECIAL + ADDED + vocabularies.MARKS[:12])), " ", line) for line in lines]


def clean_up(text):
    """As transformers cleans up, but for the contractions of 'not'."""
    for old, new in ((" ?", "?"), (" !", "!"), (" .", "."), (" ,", ","), (" ' ", "'"), (" 's", "'s"), (" 'm", "'m"),
                     (" 're", "'re"), (" 've", "'ve")):
        text = text.replace(old, new)
    return text


# ---- vocabularies ----------------------------------------------------------------------------


class Case:
    """A file, and what the package makes of texts and ids. Texts for which explain() says why are those
    where vocabularies.md says that the two differ. sentencepiece gives no
    text for control tokens, which are left out of the ids there."""

    def __init__(self, name, keys, encode, decode, explain=lambda text, mine, theirs: None):
        self.name, self.keys, self.encode, self.decode, self.explain = name, keys, encode, decode, explain

    def drop(self, ids):
        return ids if self.name[:3] in ("BPE", "WPM") else [i for i in ids if i > 2]

    def write(self, path):
        gguf_file.write(path, [("general.architecture", "str", "llama"), *self.keys])


def list_keys(model, tokens, kinds, **values):
    keys = [("tokenizer.ggml.model", "str", model), ("tokenizer.ggml.tokens", "[str]", tokens),
            ("tokenizer.ggml.token_type", "[i32]", kinds)]
    types = {bool: "bool", int: "u32", str: "str", bytes: "[u8]"}
    for name, value in values.items():
        kind = types[type(value)] if not isinstance(value, list) else "[str]" if isinstance(value[0], str) else "[f32]"
        keys.append(("tokenizer.ggml." + name.replace("__", "."), kind, value))
    return keys


def read_tokens(tokenizer):
    """Texts and kinds by id, and the merges."""
    fields = json.loads(tokenizer.to_str())
    vocab = dict(fields["model"]["vocab"])
    kinds = {}
    for token in fields["added_tokens"]:
        vocab[token["content"]] = token["id"]
        kinds[token["content"]] = CONTROL if token["special"] else USER_DEFINED
    texts = sorted(vocab, key=vocab.get)
    return texts, [kinds.get(text, NORMAL) for text in texts], fields["model"].get("merges")


def add_tokens(tokenizer):
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ADDED])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(text, tokenizer.token_to_id(text)) for text in ("<s>", "</s>")])


def encode_with(tokenizer):
    def encode(text, flags):
        # Where special tokens do not count, their texts are cut like others.
        tokenizer.encode_special_tokens = not flags & PARSE_SPECIAL
        return tokenizer.encode(text, add_special_tokens=bool(flags & ADD_SPECIAL)).ids
    return encode


def drop_controls(ids, kinds):
    return [i for i in ids if kinds[i] not in (CONTROL, UNKNOWN)]


def make_bpe(pre, corpus):
    expressions, ignores_merges, cleans = BPE[pre]
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignores_merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(expression), "isolated") for expression in expressions]
        + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=2500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    add_tokens(tokenizer)
    texts, kinds, merges = read_tokens(tokenizer)
    keys = list_keys("gpt2", texts, kinds, pre=pre, merges=[" ".join(merge) for merge in merges],
                     bos_token_id=texts.index("<s>"), eos_token_id=texts.index("</s>"), add_bos_token=True,
                     add_eos_token=True)

    def decode(ids, flags):
        ids = ids if flags & PARSE_SPECIAL else drop_controls(ids, kinds)
        text = tokenizer.decode(ids, skip_special_tokens=False)
        return clean_up(text) if cleans else text

    return Case(f"BPE {pre}", keys, encode_with(tokenizer), decode)


def make_word_piece(lower, corpus):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=10**6))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(
        vocab_size=2500, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]"], show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    texts, kinds, _ = read_tokens(tokenizer)
    kinds[0] = UNKNOWN
    names = [text if kind != NORMAL else text[2:] if text.startswith("##") else MARK + text
             for text, kind in zip(texts, kinds)]
    keys = list_keys("bert", names, kinds, unknown_token_id=0, cls_token_id=1, seperator_token_id=2, bos_token_id=1,
                     padding_token_id=3, normalizer__lowercase=lower)

    def decode(ids, flags):
        ids = ids if flags & PARSE_SPECIAL else drop_controls(ids, kinds)
        text = "".join(texts[i] if kinds[i] != NORMAL else texts[i][2:] if texts[i].startswith("##") else " " + texts[i]
                       for i in ids)
        return clean_up(text.replace(MARK, " "))

    def explain(text, mine, theirs):
        parts = unicodedata.normalize("NFD", text)
        if lower and any(unicodedata.category(c) in ("Mc", "Me") for c in parts):
            return "marks"
        return "other characters" if re.search("[\x0b\x0c\x85\u1100-\u11ff\u2581\U0002b820-\U0002b91f]", parts) else None

    return Case(f"WPM {'uncased' if lower else 'cased'}", keys, encode_with(tokenizer), decode, explain)


def learn(corpus, added, **options):
    proto = io.BytesIO()
    lines = [line.replace("\r", " ").replace("\0", " ") for line in corpus if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=proto, hard_vocab_limit=False, num_threads=1, minloglevel=2,
        max_sentence_length=100000, user_defined_symbols=list(added), **options)
    return proto.getvalue()


def read_model(proto):
    model = model_format.ModelProto()
    model.ParseFromString(proto)
    return model


def load_piece_model(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def list_piece_keys(name, model, **more):
    """What is common to sentencepiece's two kinds; @name is the format's."""
    return list_keys(name, [piece.piece for piece in model.pieces], [piece.type for piece in model.pieces],
                     scores=[piece.score for piece in model.pieces], add_bos_token=True, add_eos_token=True,
                     bos_token_id=1, eos_token_id=2, unknown_token_id=0,
                     add_space_prefix=model.normalizer_spec.add_dummy_prefix,
                     remove_extra_whitespaces=model.normalizer_spec.remove_extra_whitespaces, **more)


def encode_parts(encode, added):
    """The format cuts a text at special tokens, and each part between them is a text of its own."""
    def encode_all(text, flags):
        marks = sorted([*added, *(SPECIAL[:3] if flags & PARSE_SPECIAL else ())], key=len, reverse=True)
        ids = []
        for i, part in enumerate(re.split("(" + "|".join(map(re.escape, marks)) + ")", text) if marks else [text]):
            ids += [find_piece[part]] if i % 2 else encode(part)
        return [1, *ids, 2] if flags & ADD_SPECIAL else ids

    find_piece = {"<unk>": 0, "<s>": 1, "</s>": 2} | {text: 3 + i for i, text in enumerate(added)}
    return encode_all


def make_spm(corpus, prefix, added=()):
    model = read_model(learn(corpus, added, model_type="bpe", vocab_size=2500, byte_fallback=True, add_dummy_prefix=prefix,
                             normalization_rule_name="identity", remove_extra_whitespaces=False))
    processor = load_piece_model(model)
    keys = list_piece_keys("llama", model)
    return Case(f"SPM {'with' if prefix else 'without'} prefix{', added' if added else ''}", keys,
                encode_parts(processor.encode, added), lambda ids, flags: processor.decode(ids))


def make_unigram(corpus, joins, prefix, added=()):
    model = read_model(learn(corpus, added, model_type="unigram", vocab_size=2000, remove_extra_whitespaces=joins,
                             add_dummy_prefix=prefix))
    processor = load_piece_model(model)
    keys = list_piece_keys("t5", model, precompiled_charsmap=model.normalizer_spec.precompiled_charsmap)
    # Blanks alone get no prefix in this format.
    model.normalizer_spec.add_dummy_prefix = False
    bare = load_piece_model(model)
    lowest = min(piece.score for piece in model.pieces if piece.type == NORMAL)

    def encode(part):
        return (processor if processor.normalize(part).strip(MARK) else bare).encode(part)

    def sum_up(ids):
        return sum(lowest - 10 if model.pieces[i].type == UNKNOWN else model.pieces[i].score for i in ids)

    def explain(text, mine, theirs):
        if joins and MARK in text:
            return "U+2581"
        same = processor.decode(mine) == processor.decode(theirs)
        return "equal sums" if same and abs(sum_up(mine) - sum_up(theirs)) < 1e-3 else None

    return Case(f"UGM {'joins' if joins else 'keeps'} spaces{', prefix' if prefix else ''}{', added' if added else ''}",
                keys, encode_parts(encode, added), lambda ids, flags: processor.decode(ids), explain)


def list_cases(corpus):
    """By kind: functions that make the cases."""
    return {
        "BPE": [lambda pre=pre: make_bpe(pre, corpus) for pre in BPE],
        "WPM": [lambda: make_word_piece(True, corpus), lambda: make_word_piece(False, corpus)],
        "SPM": [lambda: make_spm(corpus, True), lambda: make_spm(corpus, False),
                lambda: make_spm(corpus, True, ADDED[:2])],
        "UGM": [lambda: make_unigram(corpus, True, True), lambda: make_unigram(corpus, False, True),
                lambda: make_unigram(corpus, True, True, ADDED)],
    }


# ---- comparing -------------------------------------------------------------------------------


class Tally:
    def __init__(self):
        self.n_texts = self.n_back = self.n_differ = 0
        self.explained = {}

    def add(self, case, what, mine, theirs, reason):
        if mine == theirs:
            return
        if reason:
            self.explained[reason] = self.explained.get(reason, 0) + 1
            return
        self.n_differ += 1
        if self.n_differ <= vocabularies.MAX_SHOWN:
            print(json.dumps({"case": case.name, "input": what, "kvasir": mine, "package": theirs}, ensure_ascii=False))


def compare(case, folder, texts, n, command, tally):
    path = os.path.join(folder, re.sub("[^a-z0-9]+", "-", case.name.lower()) + ".gguf")
    case.write(path)
    inputs = [(texts.random.randrange(4), texts.next().replace("\0", "")) for _ in range(n)]
    theirs = [case.encode(text, flags) for flags, text in inputs]
    mine = vocabularies.ask([command, path], [(flags, text.encode()) for flags, text in inputs])
    if mine is None:
        sys.exit(f"{case.name}: Kvasir refuses the file")
    tally.n_texts += n
    for (flags, text), a, b in zip(inputs, mine, theirs):
        a = vocabularies.list_ids(a)
        tally.add(case, [flags, text], a, b, None if a == b else case.explain(text, a, b))
    rows = [(FROM_IDS | flags & PARSE_SPECIAL, case.drop(ids)) for (flags, _), ids in zip(inputs, theirs)]
    packed = [(flags, b"".join(i.to_bytes(4, "little") for i in ids)) for flags, ids in rows]
    mine = vocabularies.ask([command, path], packed)
    tally.n_back += n
    for (flags, ids), a in zip(rows, mine):
        a, b = a.decode(errors="replace"), case.decode(ids, flags)
        is_blank = case.name.startswith("UGM") and a.lstrip(" ") == b.lstrip(" ")
        tally.add(case, [flags, ids], a, b, "blanks in front" if is_blank else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=200000, help="texts for each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--kind", help="one kind alone")
    args = parser.parse_args()
    command = os.path.join(args.build, "tests", "differ", "tokenize")
    texts, n_differ = Texts(args.seed), 0
    corpus = read_corpus(texts)
    with tempfile.TemporaryDirectory() as folder:
        for kind, makers in list_cases(corpus).items():
            tally = Tally()
            if args.kind not in (None, kind):
                continue
            for make in makers:
                compare(make(), folder, texts, -(-args.n // len(makers)), command, tally)
            print(f"{kind}: {tally.n_texts} texts and {tally.n_back} rows of tokens with {len(makers)} vocabularies, "
                  f"{sum(tally.explained.values())} differ as explained {tally.explained}, {tally.n_differ} differ, "
                  f"seed {args.seed}", flush=True)
            n_differ += tally.n_differ
    sys.exit(n_differ > 0)


if __name__ == "__main__":
    main()
