#!/usr/bin/env python3
"""Writes rows.vec, the values that test-rows compares with.

Needs the PyPI packages gguf and numpy. For each type: a record of random blocks and what gguf's
own dequantiser makes of them; and for the types that gguf can write, random rows and gguf's
blocks of them. Record: i32 type, i32 direction (0: blocks to floats, 1: floats to blocks),
i32 elements, i32 bytes, then the floats, then the blocks.
"""
import struct
import sys

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T

# Offsets of the halves inside a block, which random bytes must not turn into NaN or huge values.
HALVES = {
    T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82],
    T.Q3_K: [108], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0],
}
WRITABLE = [T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]


def record(out, type_, direction, floats, blocks):
    floats = np.ascontiguousarray(floats, dtype=np.float32).tobytes()
    blocks = np.ascontiguousarray(blocks).tobytes()
    out.write(struct.pack("<4i", type_, direction, len(floats) // 4, len(blocks)))
    out.write(floats + blocks)


def random_blocks(rng, type_, n):
    _, size = GGML_QUANT_SIZES[type_]
    blocks = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for offset in HALVES[type_]:
        halves = rng.normal(0, 0.02, n).astype(np.float16)
        blocks[:, offset:offset + 2] = halves.view(np.uint8).reshape(n, 2)
    return blocks


def main():
    rng = np.random.default_rng(1)
    with open(sys.argv[1], "wb") as out:
        for type_ in HALVES:
            length, _ = GGML_QUANT_SIZES[type_]
            blocks = random_blocks(rng, type_, 512 // length)
            row = blocks.reshape(1, -1)
            record(out, type_, 0, gguf.dequantize(row, type_), blocks)
        bf16 = rng.normal(0, 1, 64).astype(np.float32).view(np.uint32) >> 16
        bf16 = bf16.astype(np.uint16)
        record(out, T.BF16, 0, gguf.dequantize(bf16.view(np.uint8).reshape(1, -1), T.BF16), bf16)
        f16 = np.arange(0, 65536, 37, dtype=np.uint16)
        f16 = f16[np.isfinite(f16.view(np.float16))]
        record(out, T.F16, 0, f16.view(np.float16).astype(np.float32), f16)
        for type_ in WRITABLE:
            row = rng.normal(0, 1, (1, 512)).astype(np.float32)
            row[0, 32:64] = 0
            row[0, 64:96] *= 1e-6
            row[0, 96:128] = np.abs(row[0, 96:128])
            if type_ == T.F16:
                blocks = row.astype(np.float16)
            else:
                blocks = gguf.quantize(row, type_)
            record(out, type_, 1, row, blocks)
        # The first byte of a block is an exponent: the smallest two, and usual ones.
        blocks = rng.integers(0, 256, (16, 17), dtype=np.uint8)
        blocks[:, 0] = np.concatenate([[0, 1, 2, 200], rng.integers(110, 130, 12)])
        record(out, T.MXFP4, 0, gguf.dequantize(blocks.reshape(1, -1), T.MXFP4), blocks)


main()
