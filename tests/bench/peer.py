#!/usr/bin/env python3
"""Runs llama.cpp (from PyPI, through its Python binding) and Kvasir side by side on one model.

Legs alternate ours, peer, peer, ours; each block gives one ratio of sums, and the table shows the
median with the smallest and largest block. Only ratios within one run mean anything.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

PACKAGE = "llama-cpp-python==0.3.36"
# The paths for these instruction sets crash or crawl in the peer on some processors; without them it
# runs at its best.
FLAGS = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16 -mno-avx512fp16"


def make_venv(venv):
    python = os.path.join(venv, "bin", "python")
    probe = [python, "-c", "import llama_cpp"]
    if os.path.exists(python) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return python
    print(f"Building {PACKAGE} in {venv}; this takes about five minutes.", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    env = dict(os.environ)
    env["CMAKE_ARGS"] = (
        f"-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF -DCMAKE_C_FLAGS='{FLAGS}' -DCMAKE_CXX_FLAGS='{FLAGS}'"
    )
    subprocess.run(
        [python, "-m", "pip", "install", "--no-binary", "llama-cpp-python",
         "--disable-pip-version-check", PACKAGE],
        env=env, check=True)
    return python


def leg(command):
    """One measurement: {"prefill": tokens/s, "decode": tokens/s}."""
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(out.stdout.decode().strip().splitlines()[-1])


def run_blocks(ours, peer, n_blocks):
    blocks = []
    for i in range(n_blocks):
        a, b, c, d = leg(ours), leg(peer), leg(peer), leg(ours)
        blocks.append({key: (a[key] + d[key], b[key] + c[key]) for key in ("prefill", "decode")})
        print(f"block {i + 1} of {n_blocks}: " + ", ".join(
            f"{key} {block[0] / 2:.1f} against {block[1] / 2:.1f}"
            for key, block in blocks[-1].items()), file=sys.stderr)
    return blocks


def summarise(blocks, key):
    ratios = [block[key][0] / block[key][1] for block in blocks]
    return {
        "kvasir": statistics.median(block[key][0] / 2 for block in blocks),
        "llama.cpp": statistics.median(block[key][1] / 2 for block in blocks),
        "ratio": statistics.median(ratios),
        "min": min(ratios),
        "max": max(ratios),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--venv", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 16))
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--decode", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    python = make_venv(args.venv)
    sizes = ["--threads", str(args.threads), "--prefill", str(args.prefill), "--decode", str(args.decode)]
    ours = [args.cli, "bench", args.model, "--json", *sizes]
    here = os.path.dirname(os.path.abspath(__file__))
    # The peer's attention path is chosen by a try of each: it gets its best setting.
    peers = [[python, os.path.join(here, "peer-leg.py"), args.model, *sizes, "--flash-attn", str(fa)]
             for fa in (0, 1)]
    tries = [leg(peer) for peer in peers]
    peer = peers[tries[1]["prefill"] + tries[1]["decode"] > tries[0]["prefill"] + tries[0]["decode"]]

    blocks = run_blocks(ours, peer, args.blocks)
    result = {key: summarise(blocks, key) for key in ("prefill", "decode")}
    if args.json:
        print(json.dumps(result))
        return
    print(f"{os.path.basename(args.model)}, {args.threads} threads, {args.blocks} blocks, tokens per second")
    print(f"{'':14}{'kvasir':>10}{'llama.cpp':>12}{'ratio':>9}{'min':>8}{'max':>8}")
    for key, n in (("prefill", args.prefill), ("decode", args.decode)):
        row = result[key]
        print(f"{key + ' ' + str(n):14}{row['kvasir']:10.1f}{row['llama.cpp']:12.1f}"
              f"{row['ratio']:9.2f}{row['min']:8.2f}{row['max']:8.2f}")


if __name__ == "__main__":
    main()
