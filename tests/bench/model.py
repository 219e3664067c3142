#!/usr/bin/env python3
"""Speed of one model file: reading a prompt, writing at depths and with types of the cache, and steps of
a few tokens, as when guesses are checked or several chats are written at once."""

import argparse
import json
import os
import sys

from legs import Leg

DEPTHS = (0, 4096, 16384)
TYPES = ("f16", "q8_0")
PREFILL = 512
STEPS = (1, 2, 4, 8, 16)


def list_tests():
    yield f"prefill {PREFILL}", ["--prefill", str(PREFILL)]
    for type_ in TYPES:
        for depth in DEPTHS:
            yield f"decode at {depth}, {type_} cache", ["--decode", "--depth", str(depth), "--type", type_]


def list_steps():
    for n in STEPS:
        yield n, f"step of {n}", ["--step", str(n)]


def measure(args, options):
    command = [os.path.join(args.build, "tests", "bench", "bench-leg"), args.model, *options,
               "--threads", str(args.threads)]
    try:
        leg = Leg(command, args.threads)
        rate = leg.ask(args.seconds)["rate"]
        leg.close()
        return rate
    except RuntimeError as error:
        sys.exit(str(error))
    finally:
        Leg.close_all()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder of Kvasir")
    parser.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 16))
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("model")
    args = parser.parse_args()

    rates = {}
    for name, options in list_tests():
        rates[name] = measure(args, options)
        if not args.json:
            print(f"{name:28} {rates[name]:10.1f} tokens/s", flush=True)
    for n, name, options in list_steps():
        rates[name] = measure(args, options)
        if not args.json:
            times = rates[f"step of {STEPS[0]}"] * n / rates[name]
            print(f"{name:28} {1e3 * n / rates[name]:10.3f} ms, {times:5.2f} times one token", flush=True)
    if args.json:
        print(json.dumps(rates))


if __name__ == "__main__":
    main()
