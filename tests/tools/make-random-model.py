#!/usr/bin/env python3
"""Writes a model with the shapes and types of a Q4_K_M file and random weights.

    make-random-model.py llama-3.2-1b|qwen3-0.6b FILE.gguf

Speed depends on shapes and types alone, so that such a file measures what the real one would, and
needs no download. What it writes is noise.
"""

import random
import struct
import sys

SHAPES = {
    "llama-3.2-1b": {
        "arch": "llama", "pre": "llama-bpe", "layers": 16, "width": 2048, "inner": 8192, "heads": 32,
        "kv_heads": 8, "head": 64, "vocab": 128256, "base": 500000.0, "head_norms": False,
    },
    "qwen3-0.6b": {
        "arch": "qwen3", "pre": "qwen2", "layers": 28, "width": 1024, "inner": 3072, "heads": 16,
        "kv_heads": 8, "head": 128, "vocab": 151936, "base": 1000000.0, "head_norms": True,
    },
}
F32, Q4_K, Q6_K = 0, 12, 14
BLOCK_BYTES = {Q4_K: 144, Q6_K: 210}
ALIGNMENT = 32
DRAWN_BLOCKS = 4096


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(v):
    if isinstance(v, str):
        return struct.pack("<I", 8) + string(v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    if isinstance(v, int):
        return struct.pack("<II", 4, v)
    if isinstance(v[0], str):
        return struct.pack("<IIQ", 9, 8, len(v)) + b"".join(map(string, v))
    return struct.pack(f"<IIQ{len(v)}i", 9, 5, len(v), *v)


def byte_names():
    """How byte-level vocabularies write each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + other.index(b)) for b in range(256)]


def metadata(s):
    a = s["arch"]
    tokens = byte_names()
    tokens += [f"w{i}" for i in range(s["vocab"] - len(tokens) - 1)] + ["<|end|>"]
    return {
        "general.architecture": a,
        "general.name": "random",
        f"{a}.block_count": s["layers"],
        f"{a}.context_length": 32768,
        f"{a}.embedding_length": s["width"],
        f"{a}.feed_forward_length": s["inner"],
        f"{a}.attention.head_count": s["heads"],
        f"{a}.attention.head_count_kv": s["kv_heads"],
        f"{a}.attention.key_length": s["head"],
        f"{a}.attention.value_length": s["head"],
        f"{a}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{a}.rope.dimension_count": s["head"],
        f"{a}.rope.freq_base": s["base"],
        f"{a}.vocab_size": s["vocab"],
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": s["pre"],
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * (s["vocab"] - 1) + [3],
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.bos_token_id": s["vocab"] - 1,
        "tokenizer.ggml.eos_token_id": s["vocab"] - 1,
    }


def has_more_bits(layer, n):
    """The layers whose values and second matrices a Q4_K_M file keeps as Q6_K."""
    return layer < n // 8 or layer >= 7 * n // 8 or (layer - n // 8) % 3 == 2


def tensors(s):
    """(name, type, elements of a row, rows)"""
    w, q, kv = s["width"], s["heads"] * s["head"], s["kv_heads"] * s["head"]
    yield "token_embd.weight", Q6_K, w, s["vocab"]
    yield "output_norm.weight", F32, w, 1
    for i in range(s["layers"]):
        wide = Q6_K if has_more_bits(i, s["layers"]) else Q4_K
        yield f"blk.{i}.attn_norm.weight", F32, w, 1
        yield f"blk.{i}.attn_q.weight", Q4_K, w, q
        yield f"blk.{i}.attn_k.weight", Q4_K, w, kv
        yield f"blk.{i}.attn_v.weight", wide, w, kv
        yield f"blk.{i}.attn_output.weight", Q4_K, q, w
        if s["head_norms"]:
            yield f"blk.{i}.attn_q_norm.weight", F32, s["head"], 1
            yield f"blk.{i}.attn_k_norm.weight", F32, s["head"], 1
        yield f"blk.{i}.ffn_norm.weight", F32, w, 1
        yield f"blk.{i}.ffn_gate.weight", Q4_K, w, s["inner"]
        yield f"blk.{i}.ffn_up.weight", Q4_K, w, s["inner"]
        yield f"blk.{i}.ffn_down.weight", wide, s["inner"], w


def draw_blocks(type_):
    """Weights of about 0.02 around 0."""
    blocks = bytearray()
    for _ in range(DRAWN_BLOCKS):
        if type_ == Q4_K:
            blocks += struct.pack("<ee", 1e-4, 7.5e-4) + random.randbytes(140)
        else:
            blocks += random.randbytes(208) + struct.pack("<e", 2e-5)
    return bytes(blocks)


def contents(type_, k, rows, drawn):
    if type_ == F32:
        return struct.pack(f"<{k * rows}f", *[1.0] * (k * rows))
    n_bytes = k * rows // 256 * BLOCK_BYTES[type_]
    return (drawn[type_] * (n_bytes // len(drawn[type_]) + 1))[:n_bytes]


def get_size(type_, k, rows):
    return 4 * k * rows if type_ == F32 else k * rows // 256 * BLOCK_BYTES[type_]


def pad(n):
    return -n % ALIGNMENT


def write(s, path):
    drawn = {t: draw_blocks(t) for t in (Q4_K, Q6_K)}
    keys, listed = metadata(s), list(tensors(s))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(keys))
    head += b"".join(string(k) + value(v) for k, v in keys.items())
    at = 0
    for name, type_, k, rows in listed:
        extents = [k] if type_ == F32 else [k, rows]
        head += string(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, type_, at)
        size = get_size(type_, k, rows)
        at += size + pad(size)
    with open(path, "wb") as f:
        f.write(head + bytes(pad(len(head))))
        for _, type_, k, rows in listed:
            data = contents(type_, k, rows, drawn)
            f.write(data + bytes(pad(len(data))))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit(__doc__)
    random.seed(1)
    write(SHAPES[sys.argv[1]], sys.argv[2])


if __name__ == "__main__":
    main()
