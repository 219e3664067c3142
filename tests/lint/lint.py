#!/usr/bin/env python3
"""The house rules, checked over the whole tree. Every line printed as "fail" is a fault.

A1 engine and backends know no toolkit     C1 length of functions      D1 no printing below app/
A2 no include points upward                C2 functions over 100 lines I1 format
A3 concrete backends are named in          C3 parameters               I3 no environment below app/
   backends/ and app/ alone                C4 nesting and branches     I4 left-overs and dead code
A4 viz takes no lock and no toolkit        C6 length of files
"""

import argparse
import collections
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = ("app", "ui", "viz", "engine", "backends")
failures = []


def report(rule, ok, text):
    print(f"{'ok  ' if ok else 'fail'} {rule}: {text}")
    if not ok:
        failures.append(rule)


def files(*folders, suffixes=(".c", ".h", ".cu", ".cuh")):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
                            check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [name for name in listed if name.endswith(suffixes) and os.path.exists(name)]


def read(name):
    with open(name, encoding="utf-8") as handle:
        return handle.read()


def grep(pattern, names, skip=()):
    expression = re.compile(pattern)
    hits = []
    for name in names:
        for number, line in enumerate(read(name).splitlines(), 1):
            if expression.search(line) and not any(word in line for word in skip):
                hits.append(f"{name}:{number}: {line.strip()}")
    return hits


def no_hits(rule, text, hits):
    for hit in hits[:40]:
        print("     ", hit)
    report(rule, not hits, f"{text}: {len(hits)} hits")


def share(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0


def check_layers():
    no_hits("A1", "toolkit in engine and backends",
            grep(r"#\s*include <(gtk|gdk|adwaita|gio|glib-object|cairo|pango)", files("engine", "backends")))
    upward = grep(r'#\s*include "(app|ui)/', files("engine", "backends", "viz"))
    upward += grep(r'#\s*include "viz/', files("engine", "backends"))
    upward += grep(r'#\s*include "engine/', files("backends"))
    upward += grep(r'#\s*include "app/', files("ui"))
    upward += grep(r"glib", [f for f in files("backends") if "#include" in read(f)], skip=("/*", " * "))
    no_hits("A2", "includes that point upward", upward)
    no_hits("A4", "locks or toolkit in viz", grep(r"mutex|<gtk/|<gdk/", files("viz")))


def symbols(build, folder, kind):
    """Names that the objects of a folder define (kind T) or ask for (kind U)."""
    found = collections.defaultdict(set)
    for where, _, names in os.walk(os.path.join(build, folder)):
        for name in names:
            if not name.endswith(".o"):
                continue
            out = subprocess.run(["nm", os.path.join(where, name)], stdout=subprocess.PIPE, text=True).stdout
            for line in out.splitlines():
                parts = line.split()
                if len(parts) >= 2 and parts[-2] == kind:
                    found[parts[-1]].add(name)
    return found


def check_concrete_backends(build):
    names = files("engine", "ui", "viz")
    hits = grep(r'#\s*include [<"](backends/(cpu|cuda|blas|shim)|cblas|openblas|cuda)', names)
    for folder in ("engine", "ui", "viz"):
        for symbol, where in symbols(build, folder, "U").items():
            if re.match(r"(kvasir_(cpu|cuda|blas)_|cblas_|openblas_|cuda|cublas)", symbol):
                hits.append(f"{folder}: {', '.join(sorted(where))} asks for {symbol}")
    no_hits("A3", "concrete backends in engine, ui, viz (includes and symbols)", hits)


def functions(name):
    """(lines, first line) of each function: in the house format braces of bodies stand alone."""
    start = None
    for number, line in enumerate(read(name).splitlines(), 1):
        if line == "{":
            start = number
        elif line.startswith("}"):
            if start is not None and line == "}":
                yield number - start - 1, start
            start = None


def check_sizes():
    lengths = []
    long = {}
    for name in files(*SOURCE, suffixes=(".c", ".cu")):
        for lines, first in functions(name):
            lengths.append(lines)
            if lines > 100:
                long[f"{name}:{enclosing(name, first)}"] = lines
    median, p90, p95 = (share(lengths, part) for part in (0.5, 0.9, 0.95))
    report("C1", median <= 12 and p90 <= 40 and p95 <= 60,
           f"{len(lengths)} functions, lines median {median}, p90 {p90}, p95 {p95} (12, 40, 60 at most)")
    allowed = dict(line.split(None, 1) for line in read(os.path.join(HERE, "long-functions.txt")).splitlines()
                   if line and not line.startswith("#"))
    for name in sorted(set(long) - set(allowed)):
        print(f"      {name}: {long[name]} lines, not in tests/lint/long-functions.txt")
    for name in sorted(set(allowed) - set(long)):
        print(f"      {name} is listed as long but is not")
    report("C2", set(long) == set(allowed), f"{len(long)} functions over 100 lines, {len(allowed)} named and justified")
    sizes = [(len(read(name).splitlines()), name) for name in files(*SOURCE)]
    largest = max(sizes)
    middle = share([lines for lines, _ in sizes], 0.5)
    report("C6", middle <= 350 and largest[0] <= 1000,
           f"{len(sizes)} files, lines median {middle}, largest {largest[0]} ({largest[1]}) (350, 1000 at most)")
    return len(lengths)


def enclosing(name, first):
    """The name of the function whose body opens at line @first."""
    lines = read(name).splitlines()
    for number in range(first - 2, max(first - 14, -1), -1):
        match = re.match(r"([A-Za-z_]\w*) \(", lines[number])
        if match:
            return match.group(1)
    return str(first)


NOTE = re.compile(r"^(\S+?):(\d+):\d+: (warning|note): (.*)$")


def tidy(build, name):
    config = ("{Checks: '-*,readability-function-size', CheckOptions: ["
              "{key: readability-function-size.LineThreshold, value: '100000'},"
              "{key: readability-function-size.StatementThreshold, value: '100000'},"
              "{key: readability-function-size.ParameterThreshold, value: '6'},"
              "{key: readability-function-size.NestingThreshold, value: '2'},"
              "{key: readability-function-size.BranchThreshold, value: '7'}]}")
    # The insides of g_return_if_fail() and g_assert() are no branches of ours.
    out = subprocess.run(["clang-tidy", "-p", build, f"--config={config}", "--quiet",
                          "--extra-arg=-DG_DISABLE_CHECKS", "--extra-arg=-DG_DISABLE_ASSERT", name],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = []
    for line in out.splitlines():
        match = NOTE.match(line)
        if not match:
            continue
        text = match.group(4)
        if match.group(3) == "warning" and "exceeds recommended size" in text:
            found.append([f"{os.path.relpath(match.group(1))}:{match.group(2)}", set()])
        elif found and "parameters" in text:
            found[-1][1].add("parameters")
        elif found and "nesting level" in text:
            found[-1][1].add("nesting")
        elif found and "branches" in text:
            found[-1][1].add("branches")
    return found


def check_shapes(build, n_functions):
    names = files(*SOURCE, suffixes=(".c",))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [hit for hits in pool.map(lambda name: tidy(build, name), names) for hit in hits]
    wide = [where for where, what in found if "parameters" in what and not where.startswith("backends/")]
    deep = [where for where, what in found if "nesting" in what]
    branchy = [where for where, what in found if "branches" in what]
    for where in wide[:10]:
        print("      over six parameters:", where)
    report("C3", len(wide) <= n_functions * 0.01,
           f"{len(wide)} of {n_functions} functions outside kernels take more than six parameters (1 % at most)")
    report("C4", len(deep) <= n_functions * 0.05 and len(branchy) <= n_functions * 0.10,
           f"{len(deep)} nest deeper than 2 (5 % at most), {len(branchy)} have more than 7 branches (10 % at most)")


def check_words():
    below = files("engine", "backends", "viz")
    no_hits("D1", "printing or exiting below app/",
            grep(r"(?<![\w.>])(exit|abort|printf|puts|perror|g_print|g_printerr|g_error|g_warning|g_message|g_log) \(",
                 below))
    no_hits("I3", "environment read below app/", grep(r"\b(g_)?(secure_)?(getenv|setenv|g_environ)\b", files("engine", "backends", "viz", "ui")))
    no_hits("I4", "left-overs", grep(r"\b(TODO|FIXME|XXX)\b|^\s*#\s*if 0\b", files(*SOURCE, "tests")))


def check_dead_code():
    """Functions that are not static and that nothing calls, tests apart."""
    counts = collections.Counter()
    declared = set()
    defined = set()
    for name in files(*SOURCE, suffixes=(".c", ".h", ".cu", ".ui")) + files("data", suffixes=(".ui",)):
        body = re.sub(r"/\*.*?\*/", "", read(name), flags=re.S)
        counts.update(re.findall(r"\bkvasir_\w+\b", body))
        if name.endswith(".h"):
            declared.update(re.findall(r"\b(kvasir_\w+) \(", body))
        else:
            defined.update(re.findall(r"^(kvasir_\w+) \(", body, flags=re.M))
    for_tests = [line.split()[0] for line in read(os.path.join(HERE, "for-tests.txt")).splitlines()
                 if line and not line.startswith("#")]
    # A declaration and a definition, or an inline function alone, are no use.
    dead = sorted(name for name in declared
                  if counts[name] < (3 if name in defined else 2)
                  and not name.endswith("_get_type") and name not in for_tests)
    no_hits("I4", "functions that only tests or nobody calls", dead)


def check_format():
    names = files(*SOURCE, "tests")
    out = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1", *names],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    bad = sorted({line.split(":")[0] for line in out.splitlines() if "[-Wclang-format-violations]" in line})
    no_hits("I1", "files that clang-format would change (warnings are errors in the build)", bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="a build folder that is up to date")
    parser.add_argument("--quick", action="store_true", help="without clang-tidy (C3, C4)")
    args = parser.parse_args()
    check_layers()
    check_concrete_backends(args.build)
    n_functions = check_sizes()
    if not args.quick:
        check_shapes(args.build, n_functions)
    check_words()
    check_dead_code()
    check_format()
    if failures:
        print("Broken rules:", ", ".join(sorted(set(failures))))
        return 1
    print("All rules hold.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
