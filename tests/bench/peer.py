#!/usr/bin/env python3
"""Kvasir beside llama.cpp and ik_llama.cpp, driven through their Python packages.

In each block every program measures twice, in the order and then in the reverse order; roofs of the
machine are probed before and after it, and disturbed blocks are repeated. Peers run with the settings
that a try of each found best. Every case is kept as a file of its own, so that a run that was
interrupted goes on where it was; a full run writes RESULTS.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import report
from cases import MODELS, RANDOM, make_cases
from legs import BusyLoop, Leg, Watch
from peers import list_builds, list_settings, read_cpu

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OURS = "kvasir"
TRY_SECONDS = 1.0
# Disturbed blocks are repeated, but not without end.
MAX_REPEATS = 3


class Bench:
    def __init__(self, args):
        self.args = args
        self.tools = os.path.join(args.build, "tests", "bench")
        self.results = os.path.join(args.work, "bench")
        self.probe = None
        self.builds = None

    def get_tool(self, name):
        return os.path.join(self.tools, name)

    def find_model(self, key):
        """The file; those with random weights are made when first needed."""
        if key not in RANDOM:
            return os.path.join(self.args.models, MODELS[key])
        path = os.path.join(self.args.work, "models", MODELS[key])
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            script = os.path.join(ROOT, "tests", "tools", "make-random-model.py")
            subprocess.run([sys.executable, script, RANDOM[key], path + ".part"], check=True)
            os.rename(path + ".part", path)
        return path

    def get_builds(self):
        if self.builds is None:
            only = self.args.only
            self.builds = [b for b in list_builds(self.args.work) if not only or b.label in only]
            for build in self.builds:
                if not build.is_there():
                    build.make()
        return self.builds

    # ---- legs

    def open_ours(self, case, threads=None):
        threads = threads or self.args.threads
        command = [self.get_tool("bench-leg"), self.find_model(case.model), *case.make_options(threads)]
        return Leg(command, threads)

    def make_peer_command(self, case, setting):
        build = next(b for b in self.get_builds() if os.path.basename(b.venv) == setting["build"])
        options = case.make_options(self.args.threads)
        for key in ("flash-attn", "repack"):
            options += [f"--{key}", str(setting[key])]
        return build.make_command(self.find_model(case.model), options)

    def open_best(self, case, label):
        """The peer with its best setting, and the rates of all."""
        best, best_rate, tried = None, 0, []
        for build in self.get_builds():
            if build.label != label:
                continue
            for setting in list_settings(build, case.type):
                try:
                    leg = Leg(self.make_peer_command(case, setting), self.args.threads)
                    rate = leg.ask(min(TRY_SECONDS, self.args.seconds))["rate"]
                except RuntimeError as error:
                    tried.append({**setting, "failed": str(error)[-60:]})
                    continue
                tried.append({**setting, "rate": rate})
                if rate > best_rate:
                    best, best_rate, leg = leg, rate, best
                if leg is not None:
                    leg.close()
        if best is None:
            raise RuntimeError(f"{label} did not run: {tried}")
        return best, tried

    def list_labels(self):
        return list(dict.fromkeys(build.label for build in self.get_builds()))

    # ---- kinds of cases; each gives {"settings", "legs": {name: function that measures once}}

    def open_speed(self, case):
        ours = self.open_ours(case)
        result = {"card": ours.card, "settings": {}, "greedy": {OURS: ours.card["greedy"]}}
        legs = {OURS: lambda: ours.ask(self.args.seconds)["rate"]}
        for label in self.list_labels():
            leg, tried = self.open_best(case, label)
            result["settings"][label] = tried
            result["greedy"][label] = leg.card["greedy"]
            legs[label] = lambda leg=leg: leg.ask(self.args.seconds)["rate"]
        return result, legs

    def open_load(self, case):
        """A rate here is one by milliseconds, so that more is better as everywhere."""
        def load_ours():
            leg = self.open_ours(case)
            leg.close()
            return 1 / leg.card["load_ms"]

        def load_peer(label):
            build = next(b for b in self.get_builds() if b.label == label)
            leg = Leg(self.make_peer_command(case, list_settings(build, "q8_0")[0]), self.args.threads)
            leg.close()
            return 1 / leg.card["load_ms"]

        legs = {OURS: load_ours}
        for label in self.list_labels():
            legs[label] = lambda label=label: load_peer(label)
        for leg in legs.values():
            leg()
        return {}, legs

    def open_busy(self, case):
        beside, alone = self.open_ours(case), self.open_ours(case, threads=1)

        def run_beside():
            busy = BusyLoop(self.args.threads)
            try:
                return beside.ask(self.args.seconds)["rate"]
            finally:
                busy.close()

        return {"card": beside.card}, {OURS: run_beside,
                                       "one thread": lambda: alone.ask(self.args.seconds)["rate"]}

    def open_window(self, case):
        command = [self.get_tool("bench-window"), self.find_model(case.model)]
        leg = Leg(["dbus-run-session", "--", "xvfb-run", "-a", "-s", "-screen 0 1700x1100x24",
                   "env", "GSK_RENDERER=cairo", *command], self.args.threads)
        # The views, Xvfb and the bus are no strangers; their time is not of legs that are waited for.
        return {"card": leg.card}, {OURS: lambda: leg.ask("window")["rate"],
                                    "headless": lambda: leg.ask("headless")["rate"]}

    def measure_memory(self, case):
        leg = self.open_ours(case)
        peak = leg.ask(self.args.seconds)["peak"]
        planned = leg.card["weights"] + leg.card["buffers"]
        return {"card": leg.card, "peak": peak, "planned": planned, "ratio": peak / planned}

    # ---- blocks

    def run_block(self, legs):
        watch = Watch(self.probe)
        rates = {name: [] for name in legs}
        for name in [*legs, *reversed(legs)]:
            rates[name].append(legs[name]())
        return {"rates": rates, **watch.end()}

    def run_blocks(self, case, legs):
        blocks = []
        while len(blocks) < self.args.blocks + MAX_REPEATS:
            blocks.append(self.run_block(legs))
            block = blocks[-1]
            print(f"  block {len(blocks)}: " + report.format_block(case, block), file=sys.stderr)
            # The helpers of a window count as strangers, and a busy loop or a load moves the roofs.
            if sum(case.kind != "speed" or not b["disturbed"] for b in blocks) >= self.args.blocks:
                break
        return blocks

    def run_case(self, case):
        if case.kind == "memory":
            return self.measure_memory(case)
        opened = {"speed": self.open_speed, "load": self.open_load, "busy": self.open_busy,
                  "window": self.open_window}
        result, legs = opened[case.kind](case)
        result["blocks"] = self.run_blocks(case, legs)
        return result

    def run_and_keep(self, case):
        begin = time.monotonic()
        if self.probe is None:
            self.probe = Leg([self.get_tool("bench-probe"), str(self.args.threads)], self.args.threads,
                             has_card=False)
        try:
            result = self.run_case(case)
        finally:
            for leg in list(Leg.running):
                if leg is not self.probe:
                    leg.close()
        result.update(case=case.name, machine=describe_machine(self.args), seconds=time.monotonic() - begin)
        os.makedirs(self.results, exist_ok=True)
        path = self.get_path(case)
        with open(path + ".part", "w", encoding="utf-8") as kept:
            json.dump(result, kept, indent=1)
        os.rename(path + ".part", path)
        return result

    def get_path(self, case):
        return os.path.join(self.results, f"{case.name}.json")

    def read_kept(self, case):
        """What an earlier run of this program on this machine found, or None."""
        try:
            with open(self.get_path(case), encoding="utf-8") as kept:
                result = json.load(kept)
        except (OSError, ValueError):
            return None
        return result if result["machine"] == describe_machine(self.args) else None


def describe_machine(args):
    name, flags = read_cpu()
    with open("/proc/meminfo", encoding="ascii") as info:
        gib = round(int(info.readline().split()[1]) / 2**20)
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    wanted = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8")
    return {"processor": name, "sets": [flag for flag in wanted if flag in flags],
            "threads": args.threads, "processors": os.cpu_count(), "memory_gib": gib,
            "kernel": os.uname().release.split("-")[0], "blocks": args.blocks,
            "leg_seconds": args.seconds, "version": git.stdout.strip()}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder of Kvasir")
    parser.add_argument("--work", required=True, help="folder for environments, models and results")
    parser.add_argument("--models", required=True, help="folder of downloaded models")
    parser.add_argument("--case", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--only", action="append", default=[], help="only this peer; may be repeated")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of one measurement")
    parser.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 16))
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    parser.add_argument("--dry-run", action="store_true", help="print the cases as JSON and end")
    parser.add_argument("--prepare", action="store_true", help="make environments and models and end")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    args = parser.parse_args()
    unknown = set(args.case) - {case.name for case in make_cases()}
    if unknown:
        parser.error(f"no case is called {', '.join(sorted(unknown))}; --dry-run names them")
    return args


def choose_cases(bench):
    """(cases to measure, kept results)"""
    args = bench.args
    cases = [case for case in make_cases() if not args.case or case.name in args.case]
    kept = {} if args.fresh else {case.name: bench.read_kept(case) for case in cases}
    return cases, {name: result for name, result in kept.items() if result is not None}


def print_plan(cases, kept):
    plan = [{"case": case.name, "title": case.title, "claim": case.claim, "kept": case.name in kept,
             "estimate": 0 if case.name in kept else case.estimate} for case in cases]
    print(json.dumps({"cases": plan, "estimate": sum(entry["estimate"] for entry in plan)}, indent=1))


def run_cases(bench, cases, results):
    for case in cases:
        if case.name in results:
            continue
        if case.kind == "window" and shutil.which("xvfb-run") is None:
            print(f"{case.name}: left out, xvfb-run is missing", file=sys.stderr)
            continue
        if case.model not in RANDOM and not os.path.exists(bench.find_model(case.model)):
            print(f"{case.name}: left out, {bench.find_model(case.model)} is missing", file=sys.stderr)
            continue
        print(f"{case.name} (about {case.estimate} s)", file=sys.stderr)
        results[case.name] = bench.run_and_keep(case)


def main():
    args = parse_args()
    bench = Bench(args)
    cases, results = choose_cases(bench)
    if args.dry_run:
        print_plan(cases, results)
        return
    if args.prepare:
        bench.get_builds()
        for key in RANDOM:
            bench.find_model(key)
        return
    try:
        run_cases(bench, cases, results)
    except KeyboardInterrupt:
        print("Stopped; the next run goes on from here.", file=sys.stderr)
    finally:
        Leg.close_all()
    rows = [report.make_row(case, results[case.name]) for case in cases if case.name in results]
    print(json.dumps(rows, indent=1) if args.json else report.format_table(rows))
    # What one machine found at one commit, all cases looked at, is worth keeping.
    if not args.case and not args.only and rows:
        report.write_results(os.path.join(HERE, "RESULTS.md"), cases, results)


if __name__ == "__main__":
    main()
