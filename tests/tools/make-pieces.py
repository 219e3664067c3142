#!/usr/bin/env python3
"""Prints random texts cut by the regular expressions of pre-tokenizers, for tests/data/vocab/pieces.jsonl.

Needs the PyPI package regex. The expressions are applied in order; text between matches stays a piece.
make-pieces.py [COUNT] prints COUNT texts for each expression of the table below.
"""

import json
import random
import sys

import regex

# Ranges of letters, as DeepSeek LLM lists them.
CASED = "A-Za-z" + "".join("-".join(chr(int(end, 16)) for end in part.split("-")) for part in (
    "00B5 00C0-00D6 00D8-00F6 00F8-01BA 01BC-01BF 01C4-0293 0295-02AF 0370-0373 0376 0377 037B-037D 037F 0386 "
    "0388-038A 038C 038E-03A1 03A3-03F5 03F7-0481 048A-052F 0531-0556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA "
    "1CBD-1CBF 1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D "
    "1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 "
    "2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139 213C-213F 2145-2149 214E 2183 2184 "
    "2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 "
    "FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF "
    "1E900-1E943 "
).split())
CON = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
U, W = r"(?:(?=\p{L})[^a-z])", r"(?:(?=\p{L})[^A-Z])"
LOWER, UPPER = r"(?:(?=[\p{L}\p{M}])[^A-Z])", r"(?:(?=[\p{L}\p{M}])[^a-z])"
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
# White space outside ASCII is in no list of characters: where the ids come from it only counts as \\s.
HAN = r"(?:(?!\s)[一-龥ࠀ-一가-\ud7ff])+"

TABLE = {
    "tekken": [rf"[^\r\n\p{{L}}\p{{N}}]?{U}*{W}+|[^\r\n\p{{L}}\p{{N}}]?{U}+{W}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*" + TAIL],
    "qwen35": [CON + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + TAIL],
    "seed-coder": [CON + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + TAIL],
    "bailingmoe": [CON + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "gemma4": [r"[^\n]+|[\n]+"],
    "deepseek-llm": [r"[\r\n]", rf"\s?[{CASED}]+", r"\s?[!-/:-~！-／：-～‘-‟、-。]+", r"\s+$", HAN, r"\p{N}+"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", HAN, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                    r"| ?[\p{P}\p{S}]+[\r\n]*" + TAIL],
}

YOUTU = "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+"
ASIAN = ("[一-鿿㐀-䶿\u8c48-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-ᇿ]+")


def words(letters, digits, tail="[\\r\\n/]*"):
    return rf"[^\r\n\p{{L}}\p{{N}}]?{letters}+{CON}?|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+{tail}" + TAIL


def llama3(digits):
    return CON + rf"|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*" + TAIL


def group_ends(piece):
    """Cuts behind groups of three digits; what is before a number stays with its first group."""
    cuts = {len(piece)}
    for number in regex.finditer(r"\p{N}+", piece):
        cuts |= {cut for cut in range(number.end(), number.start(), -3)}
    parts, start = [], 0
    for cut in sorted(cuts):
        parts.append(piece[start:cut])
        start = cut
    return parts


TABLE |= {
    "ufakzeka": [r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL],
    "kimi-k2": [r"\p{Han}+|" + words(r"[\p{L}--\p{Han}]", "{1,3}", r"[\r\n]*")],
    "exaone-moe": [CON + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
                   r"|\s*[\r\n]|\s+(?!\S)|\s+"],
    "jais-2": [llama3("{1,3}").removesuffix(r"|\s+(?!\S)|\s+")
               + "".join(rf"|\s{{{1 << i}}}(?!\S)" for i in range(9, 1, -1)) + r"|\s{1,2}(?!\S)|\s{1}"],
    "laguna": [r"[^\n]+|[\n]+", llama3("")],
    "minicpm5": [r"\p{N}{1,3}", llama3("{1,3}")],
    "superbpe": [r"\p{N}+", r"(?=([0-9]{3})+(?![0-9]))"],
    "afmoe": [group_ends, ASIAN, TABLE["deepseek-v3"][2]],
    "tiny_aya": [group_ends, words(r"[\p{L}\p{M}]", "{1,3}")],
    "youtu": [YOUTU, words(r"[\p{L}\p{M}]", "")],
    "chameleon": [r"<sentinel:[0-9]+>", r"(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}",
                  r"[\p{P}!-/:-@\[-`{-~]",
                  r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"],
    "granite-embed-multi-97m": [
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CON}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CON}?|\p{{N}}{{1,3}}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + TAIL],
}

LETTERS = list("abdelmrstvzABDELMSTVZ0123456789   \t\n\r\v'''.,:;!?-_/\\()[]{}<>|@#$%^&*+=~`\"") + list(
    "éßÉǅªʰΩωДдעا中五のカ한ㄱ½²Ⅳ٣…—“”‘。，、।۔،　\u00a0\u2003\u200b\u200d\u0301\u0903\u20dd€©😀𐐀ሀ") + ["<sentinel:7>", "IMGIMGABZ"]


def cut(text, expressions):
    pieces = [text]
    for expression in expressions:
        if callable(expression):
            pieces = [part for piece in pieces for part in expression(piece)]
            continue
        parts = []
        for piece in pieces:
            start = 0
            for match in regex.finditer(expression, piece, flags=regex.V1):
                parts += [piece[start : match.start()], match.group()]
                start = match.end()
            parts.append(piece[start:])
        pieces = [part for part in parts if part]
    return pieces


def main():
    rng = random.Random(17)
    for name, expressions in TABLE.items():
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 150):
            text = "".join(rng.choice(LETTERS) * rng.choice((1, 1, 1, 1, 2, 5)) for _ in range(rng.randint(1, 16)))
            print(json.dumps({"pre": name, "pieces": cut(text, expressions)}, ensure_ascii=False))


main()
