#!/usr/bin/env python3
"""Instructions per cell of the bookkeeping, counted by callgrind.

    count-cells.py BENCH-CELLS
"""

import re
import subprocess
import sys
import tempfile

# What is printed, what the program does, which function is counted, and how many instructions a cell are wanted.
ROWS = (("place (append)", "append", "kvasir_cells_place", 60), ("search", "append", "kvasir_slots_find", None),
        ("shift", "shift", "bench_count_shift", 6), ("place, cells as ordered sets", "set", "bench_count_set_append", None))


def count(program, operation, function):
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--collect-atstart=no",
                   f"--toggle-collect={function}", program, "count", operation]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", result.stderr)
    return int(collected.group(1)) / int(result.stdout.split()[-1])


def main():
    for name, operation, function, target in ROWS:
        wanted = f" (target {target})" if target else ""
        print(f"{name:34} {count(sys.argv[1], operation, function):12.1f} instructions a cell{wanted}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
