#!/usr/bin/env python3
"""Random blocks of every quantised type, read by Kvasir with each instruction set and by the PyPI
package gguf. Prints a line for each type; exits with 1 where something differs.

Packages: gguf==0.19.0
"""

import argparse
import os
import random
import subprocess
import sys

import numpy as np
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES

EXTENT = 1024
# The two multiply scales in another order.
TOLERANCE = 2e-6
LARGE = 1e36


def make_blocks(generator, type_, n_rows):
    """Bytes without any sense: scales may be infinite or none, as in a broken file."""
    extent, n_bytes = GGML_QUANT_SIZES[type_]
    return generator.integers(0, 256, size=(n_rows, EXTENT // extent * n_bytes), dtype=np.uint8)


def find_overflows(expected):
    """Values of blocks that come near the largest float, or are none. The vector paths add what a
    block's offset takes away afterwards, which is more than a float holds there."""
    with np.errstate(invalid="ignore"):
        large = ~(np.abs(expected) < LARGE)
    return np.repeat(large.reshape(len(expected), -1, 256).any(axis=2), 256, axis=1)


def count_differences(expected, found):
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(expected - found) <= TOLERANCE * np.maximum(np.abs(expected), 1e-30)
    differ = ~((expected == found) | (np.isnan(expected) & np.isnan(found)) | near)
    explained = differ & find_overflows(expected)
    return int((differ & ~explained).sum()), int(explained.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=2000, help="rows of each type")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    args = parser.parse_args()
    generator = np.random.default_rng(args.seed)
    program = os.path.join(args.build, "tests", "differ", "dequantise")
    n_failed = 0
    for type_ in sorted(quants._type_traits, key=lambda t: t.name):
        blocks = make_blocks(generator, type_, args.n)
        with np.errstate(all="ignore"):
            expected = quants.dequantize(blocks, type_).astype(np.float32)
        out = subprocess.run([program, type_.name.lower(), str(EXTENT), str(args.n)], input=blocks.tobytes(),
                             stdout=subprocess.PIPE, check=True).stdout
        found = np.frombuffer(out, dtype=np.float32).reshape(-1, *expected.shape)
        n_differ, n_explained = (sum(counts) for counts in zip(*(count_differences(expected, rows) for rows in found)))
        n_failed += n_differ > 0
        print(f"quantisations: {type_.name}: {args.n} rows of {EXTENT}, {len(found)} instruction sets, "
              f"{n_explained} values differ as explained, {n_differ} differ")
    print(f"quantisations: {n_failed} types differ, seed {args.seed}")
    sys.exit(n_failed > 0)


if __name__ == "__main__":
    main()
