#!/usr/bin/env python3
"""Writes rows.vec, the values that test-rows compares with.

Needs the PyPI packages gguf and numpy. For each type: a record of random blocks and what gguf's
own dequantiser makes of them; and for the types that gguf can write, random rows and gguf's
blocks of them. Record: i32 type, i32 direction (0: blocks to floats, 1: floats to blocks,
2: blocks to the SHA-256 of their floats), i32 elements, i32 bytes, then the floats or their
digest, then the blocks.
"""
import hashlib
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
# The types whose elements are points of a lattice: how many points, and how many in a block.
LATTICES = {
    T.IQ2_XXS: (256, 32), T.IQ2_XS: (512, 32), T.IQ2_S: (1024, 32), T.IQ3_XXS: (256, 64),
    T.IQ3_S: (512, 64), T.IQ1_S: (2048, 32), T.IQ1_M: (2048, 32),
}
# Where a block of the other new types has its half; NVFP4 has none.
PLAIN = {T.TQ1_0: 52, T.TQ2_0: 64, T.NVFP4: None, T.Q1_0: 0, 42: 0}
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


def set_scale(type_, blocks, halves):
    """Writes the scale of each block."""
    at = PLAIN.get(type_, 0)
    if type_ == T.IQ1_M:
        # Its four nibbles lie in the highest of four words.
        for i in range(4):
            blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | (halves >> 4 * i & 15) << 4
    elif at is not None:
        blocks[:, at:at + 2] = halves.astype("<u2").view(np.uint8).reshape(-1, 2)


def set_points(type_, blocks, points):
    """Writes the numbers of the points of each block."""
    low, high = (points & 255).astype(np.uint8), points >> 8
    if type_ == T.IQ2_XXS:
        blocks[:, 2:66].reshape(-1, 8, 8)[:, :, :4] = low.reshape(-1, 8, 4)
    elif type_ == T.IQ2_XS:
        words = blocks[:, 2:66].copy().view("<u2") & 0xFE00 | points
        blocks[:, 2:66] = words.astype("<u2").view(np.uint8)
    elif type_ == T.IQ2_S:
        blocks[:, 2:34] = low
        blocks[:, 66:74] = (high.reshape(-1, 8, 4) << [0, 2, 4, 6]).sum(axis=2)
    elif type_ == T.IQ3_XXS:
        blocks[:, 2:66] = low
    elif type_ == T.IQ3_S:
        blocks[:, 2:66] = low
        blocks[:, 66:74] = (high.reshape(-1, 8, 8) << np.arange(8)).sum(axis=2)
    elif type_ == T.IQ1_S:
        words = blocks[:, 34:50].copy().view("<u2") & 0xF000
        words = words | (high.reshape(-1, 8, 4) << [0, 3, 6, 9]).sum(axis=2)
        blocks[:, 2:34] = low
        blocks[:, 34:50] = words.astype("<u2").view(np.uint8)
    elif type_ == T.IQ1_M:
        blocks[:, 0:32] = low
        blocks[:, 32:48] = blocks[:, 32:48] & 0x88 | (high.reshape(-1, 16, 2) << [0, 4]).sum(axis=2)


def get_size(type_):
    return GGML_QUANT_SIZES.get(type_, (64, 18))


def dequantize(type_, blocks):
    """The package knows only the size of Q1_0, and not Q2_0: they are spelled out here."""
    if type_ not in (T.Q1_0, 42):
        return gguf.dequantize(blocks.reshape(1, -1), type_)
    bits = 1 if type_ == T.Q1_0 else 2
    d = blocks[:, :2].copy().view("<f2").astype(np.float32)
    codes = blocks[:, 2:, None] >> np.arange(0, 8, bits) & (1 << bits) - 1
    values = np.array([-1, 1] if bits == 1 else [-1, 0, 1, 2], dtype=np.float32)
    return values[codes.reshape(len(blocks), -1)] * d


def record_digest(out, type_, blocks):
    floats = np.ascontiguousarray(dequantize(type_, blocks), dtype=np.float32)
    out.write(struct.pack("<4i", type_, 2, floats.size, blocks.size))
    out.write(hashlib.sha256(floats.tobytes()).digest() + blocks.tobytes())


def write_small_types(out, rng):
    """One block with its floats; every point of a lattice, and edges, with their digest."""
    for type_ in [*LATTICES, *PLAIN]:
        length, size = get_size(type_)
        n_points, in_block = LATTICES.get(type_, (256, 16))
        n = n_points // in_block
        blocks = rng.integers(0, 256, (n + 4, size), dtype=np.uint8)
        blocks[n], blocks[n + 1], blocks[n + 2] = 0, 255, 0xA5
        if type_ in LATTICES:
            set_points(type_, blocks[:n], np.arange(n_points).reshape(n, in_block))
        halves = rng.normal(0, 0.02, n + 4).astype(np.float16).view(np.uint16)
        # Zero of both signs, the smallest and the largest half.
        halves[[0, n, n + 2, n + 3]] = [0x8000, 0, 1, 0xFBFF]
        set_scale(type_, blocks, halves)
        if type_ == T.NVFP4:
            # Every byte of a scale, which is far from random in files.
            blocks = np.concatenate([blocks, rng.integers(0, 256, (64, size), dtype=np.uint8)])
            blocks[-64:, :4] = np.arange(256).reshape(64, 4)
        record(out, type_, 0, dequantize(type_, blocks[1:2]), blocks[1:2])
        record_digest(out, type_, blocks)


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
        write_small_types(out, rng)


main()
